"""JavaScript's own functions, as far as they shape names, commands and code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.javascript.libraries import SPECIAL_LIBRARIES
from runner.risk.javascript.methods import Args, first, mapped
from runner.risk.javascript.mocking import GIVES_BACK, MOCKING
from runner.risk.javascript.paths import (
    address,
    file_address,
    folder_of,
    home,
    installed_path,
    joined_path,
    resolved_path,
    temporary,
)
from runner.risk.javascript.properties import OF_FUNCTIONS, PROXY
from runner.risk.model import fold
from runner.risk.model.acts import Source
from runner.risk.model.temporary import TEMPORARY
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, each, labels_of, reference, text
from runner.risk.trace.conditions import time_between, written_moment
from runner.risk.trace.members import members, module_of
from runner.risk.trace.shown import note_shown
from runner.risk.trace.standing import STANDING

if TYPE_CHECKING:
    from runner.risk.model.acts import Place
    from runner.risk.trace.machine import Machine, Special

Named = dict[str, Value]


def run_text(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """eval, vm.runInThisContext, setTimeout with a text: code of this program."""
    code = first(args)
    if code.function is not None or code.kind is not None:
        return None
    if called.name in ("setTimeout", "setInterval", "setImmediate") and not code.texts:
        return None
    context = Value(labels=labels_of(args[1:]))
    fields = {"code": code, "language": text("javascript"), "context": context, "how": text(called.name), "text": code}
    done = machine.trail.add("execute", "eval", fields, place, called.labels)
    done.name = called.name if called.name == "eval" else "eval"
    return machine.nested.executed(machine.walker, done, code)


def new_function(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Function("a", "return a"): the last argument is code."""
    code = args[-1] if args else UNKNOWN
    done = machine.trail.add(
        "execute", "Function", {"code": code, "language": text("javascript"), "text": code}, place, called.labels
    )
    machine.nested.executed(machine.walker, done, code)
    return Value(name="Function()", labels=code.labels)


def characters(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return fold.characters(args)


def buffer(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Buffer.from(data, encoding)."""
    data, encoding = first(args), (args[1].text if len(args) > 1 else "utf8").lower()
    if data.items is not None:
        made = fold.octets(data.items)
        return Value(made.texts, "Buffer", made.labels, binary=True)
    if encoding in ("base64", "base64url"):
        made = each(data, fold.base64_text, labels=fold.DECODED, binary=True)
    elif encoding == "hex":
        made = each(data, fold.hex_text, labels=fold.DECODED, binary=True)
    else:
        made = data
    return Value(made.texts, "Buffer", labels_of((made,)), binary=True, fields={"encoding": text(encoding)})


def decoder(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return fold.decoded(called.name, first(args))


def integer(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    if value.number is not None:
        return Value(number=int(value.number)) if abs(value.number) < 1 << 62 else UNKNOWN
    radix = args[1].number if len(args) > 1 else None
    known = value.exact
    if known is not None and len(known) < 40:
        try:
            base = int(radix or (16 if known.lower().startswith("0x") else 10))
            return Value(number=int(known, base))
        except (ValueError, OverflowError):
            return UNKNOWN
    return Value(labels=value.labels)


def string(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    return text(str(value.number)) if value.number is not None else Value(value.texts, labels=labels_of((value,)))


def from_json(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    known = fold.parsed_json(value.exact) if value.exact is not None and len(value.exact) < 20_000 else None
    return known.labelled(value.labels) if known is not None else same(machine, called, args, named, place)


def stringified(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """JSON.stringify(value): its text, as far as that is known, beside what it is made of."""
    value = first(args)
    made = same(machine, called, args, named, place)
    if made is None or value.texts or not value.fields or value.function is not None:
        return made
    written = fold.written_json(value)
    made.texts, made.labels = written.texts, made.labels | written.labels
    return machine.weighed(made)


def worker(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """new Worker(code, {eval: true}): the text is a program."""
    if len(args) > 1 and (args[1].fields or {}).get("eval", UNKNOWN).name == "True" and args[0].texts:
        return run_text(machine, called, args, named, place)
    return None


def raw_text(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """String.raw`...`: the text itself, which a template's caller gets as a list of its pieces."""
    return Value(first(args).texts, labels=labels_of(args))


def mapping(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """new Map([[key, value], ...])."""
    pairs = [item.items for item in first(args).items or [] if item.items and len(item.items) == 2]
    return Value(fields={pair[0].text: pair[1] for pair in pairs}, labels=labels_of(args)) if pairs else None


def octets(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return (
        fold.octets(args[0].items) if args and args[0].items is not None else same(machine, called, args, named, place)
    )


def listed(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Array.from(values, change)."""
    values = Value(items=fold.spread(first(args)), labels=first(args).labels)
    if values.items is None:
        return same(machine, called, args, named, place)
    return mapped(machine, values, args[1:], place) if len(args) > 1 else values


def put_together(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Buffer.concat([...])."""
    return concatenate(args[0].items) if args and args[0].items is not None else None


def same(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    return Value(value.texts, value.name, labels_of(args), value.items, value.fields, value.number)


def opened(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """fs.openSync(path, flags): it is read, and written unless its flags are known to read only."""
    path, flags = first(args), args[1] if len(args) > 1 else text("r")
    done = machine.trail.add("read", called.name, {"path": path}, place, called.labels)
    labels = machine.nested.done(done)
    if flags.function is None and flags.exact not in ("r", "rs") and not flags.name.endswith("O_RDONLY"):
        fields = {"path": path, "mode": flags if flags.exact else text("r+")}
        machine.trail.add("open", called.name, fields, place, called.labels)
    return Value(name=f"{called.name}()", labels=labels, fields={"path": path})


def temporary_name(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """fs.mkdtempSync(prefix): a folder of its own, wherever the prefix is."""
    prefix = first(args) if first(args).texts else text(f"{HOLE}/")
    return machine.trail.own.named(f"{TEMPORARY}{place[0]}:{place[1]}", concatenate((prefix, text(HOLE))))


def mocked(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """jest.mock("axios"): only the runner of tests has this function, and it replaces the module."""
    if (module := first(args).exact) and GIVES_BACK.search(machine.walker.written) is None:  # type: ignore[attr-defined]
        machine.mocked += (f"{module.removeprefix('node:')}.",)
    return None


def mocked_client(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """mockClient(DynamoDBClient): of a class all clients; of one client others may be real."""
    name = first(args).name
    if name.startswith("@aws-sdk/") and "(" not in name:
        machine.mocked += (f"{name.rpartition('.')[0]}.",)
    return reference("mockClient()")


def restored(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """mock.restore(): clients are real again."""
    machine.mocked = ()
    return None


def last_part(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return each(first(args), lambda known: known.rpartition("/")[2])


def _put(machine: Machine, owner: Value, fields: dict[str, Value]) -> None:
    """Store properties of what is only known by its name, such as `console`."""
    if owner.fields is None and owner.name.isidentifier():
        machine.assign(owner.name, Value(owner.texts, owner.name, owner.labels, fields=dict(fields)))


def assigned(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    fields: dict[str, Value] = {}
    name = ""
    for arg in args:
        name = arg.name if arg.fields is None and arg.name else name
        fields.update(arg.fields or {"?": Value(labels=arg.labels, name=arg.name)})
    if args:
        _put(machine, args[0], fields)
    return Value(name=name, fields=fields, labels=labels_of(args))


def keys(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    if value.fields is not None and "?" in value.fields and (found := members(machine.vocabulary, value)):
        return Value(labels=value.labels | found, name=value.name)
    if value.fields is None and value.name == "process.env":
        return Value(labels=value.labels | {Source.ENVIRONMENT})
    if value.fields is None:
        return Value(labels=value.labels | members(machine.vocabulary, value), name=value.name)
    names = list(value.fields.items())
    match called.name:
        case "Object.keys":
            items = [text(key) for key, _ in names]
        case "Object.values":
            items = [inner for _, inner in names]
        case _:
            items = [Value(items=[text(key), inner]) for key, inner in names]
    return Value(items=items, labels=value.labels)


def from_entries(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Object.fromEntries(pairs): a module again, where the pairs are what is in one."""
    if module := module_of(first(args)):
        return reference(module)
    return mapping(machine, called, args, named, place)


def described(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Object.getOwnPropertyDescriptor(owner, name)."""
    found = got(machine, called, args, named, place)
    return None if found is None else Value(fields={"value": found})


def all_names(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Object.getOwnPropertyNames(module) and its kin."""
    found = members(machine.vocabulary, first(args))
    return Value(labels=first(args).labels | found) if found else None


def promisified(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return first(args)


def got(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Reflect.get(owner, name)."""
    if len(args) < 2 or not args[1].texts:
        return None
    return machine.attribute(args[0], args[1].text, fold.ASSEMBLED)


def proxy(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """new Proxy(target, handler)."""
    target, handler = first(args), args[1] if len(args) > 1 else UNKNOWN
    if not handler.fields:
        return target if target.name or target.function is not None or target.fields is not None else None
    return Value(name=PROXY, fields={"target": target, "handler": handler}, labels=labels_of((target,)))


def defined(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Object.defineProperty(owner, name, {value} or {get})."""
    if len(args) > 2 and args[1].exact and (value := (args[2].fields or {}).get("value")) is not None:
        _put(machine, args[0], {args[1].exact: value})
    if len(args) < 3 or args[0].fields is None or not args[1].texts or not args[2].fields:
        return None
    getter = args[2].fields.get("get")
    if (value := args[2].fields.get("value")) is not None:
        args[0].fields[args[1].text] = value
    elif getter is not None and getter.function is not None:
        getter.function.getter = True
        args[0].fields[args[1].text] = getter
    return args[0]


def inflated(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """zlib.inflateSync(data)."""
    made = each(first(args), fold.inflated, labels=fold.DECODED, binary=True)
    return Value(made.texts, "Buffer", made.labels, binary=True)


def prototype(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Object.getPrototypeOf(function () {}): what all functions of its kind have, their constructor among it."""
    return reference(OF_FUNCTIONS) if first(args).function is not None else None


def create_require(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return reference("require")


def yaml_loaded(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """yaml.load(text, {schema}) of js-yaml: only some schemas make functions of what they read."""
    schema = (args[1].fields or {}).get("schema", UNKNOWN) if len(args) > 1 else UNKNOWN
    types = (schema.fields or {}).get("types", UNKNOWN)
    if schema.name.endswith("FULL_SCHEMA") or types.name.startswith("js-yaml-js-types"):
        machine.trail.add("unpickle", called.name, {"data": args[0], "how": text("yaml")}, place, called.labels)
    return None


def printed(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """console.log and its kin."""
    note_shown(machine.trail, called.name, labels_of(args), place)
    if args and called.name in TO_OUTPUT:
        machine.nested.printed(concatenate(args, " "))
    return None


UNITS = ("Milliseconds", "Seconds", "Minutes", "Hours", "Days", "CalendarDays", "Weeks", "Months", "Years")
TO_OUTPUT = ("console.log", "console.info", "process.stdout.write")
"""What prints a text as it is on standard output, which may be handed to an interpreter."""
SPECIALS: dict[str, Special] = {
    **dict.fromkeys(("console.log", "console.info", "console.error", "console.warn", "console.table"), printed),
    **dict.fromkeys(("console.dir", "console.debug", "process.stdout.write", "process.stderr.write"), printed),
    "eval": run_text,
    "setTimeout": run_text,
    "setInterval": run_text,
    "vm.runInThisContext": run_text,
    "vm.runInNewContext": run_text,
    "vm.runInContext": run_text,
    "vm.compileFunction": run_text,
    "vm.Script": run_text,
    "execScript": run_text,
    "module._compile": run_text,
    "module.prototype._compile": run_text,
    "Function": new_function,
    "AsyncFunction": new_function,
    "GeneratorFunction": new_function,
    "String.fromCharCode": characters,
    "String.fromCodePoint": characters,
    "Buffer.from": buffer,
    "Buffer": buffer,
    "buffer.Buffer.from": buffer,
    "atob": decoder,
    "btoa": decoder,
    "unescape": decoder,
    "decodeURIComponent": decoder,
    "decodeURI": decoder,
    "encodeURIComponent": decoder,
    "encodeURI": decoder,
    "parseInt": integer,
    "Number": integer,
    "String": string,
    "path.join": joined_path,
    "path.resolve": resolved_path,
    "url.pathToFileURL": file_address,
    "URL": address,
    "url.URL": address,
    "require.resolve": installed_path,
    "path.dirname": folder_of,
    "path.normalize": same,
    "path.basename": last_part,
    **STANDING,
    "JSON.stringify": stringified,
    "JSON.parse": from_json,
    "worker_threads.Worker": worker,
    "Worker": worker,
    "String.raw": raw_text,
    "Proxy": proxy,
    "js-yaml.load": yaml_loaded,
    "Object.create": same,
    "Object.defineProperty": defined,
    **dict.fromkeys((f"zlib.{name}Sync" for name in ("inflate", "gunzip", "unzip", "inflateRaw")), inflated),
    "querystring.stringify": same,
    "qs.stringify": same,
    "URLSearchParams": same,
    "Promise.resolve": same,
    "Promise.all": same,
    "Array.from": listed,
    "Array.of": lambda machine, called, args, named, place: Value(items=args),
    "Map": mapping,
    "Uint8Array": octets,
    "Uint8Array.from": octets,
    "TextDecoder.decode": same,
    "Buffer.concat": put_together,
    "Object.assign": assigned,
    "Object.keys": keys,
    "Object.values": keys,
    "Object.entries": keys,
    "Object.fromEntries": from_entries,
    **dict.fromkeys(("Object.getOwnPropertyDescriptor", "Reflect.getOwnPropertyDescriptor"), described),
    **dict.fromkeys(("Object.getOwnPropertyNames", "Reflect.ownKeys", "Object.getOwnPropertyDescriptors"), all_names),
    "Reflect.get": got,
    **dict.fromkeys(("Object.getPrototypeOf", "Reflect.getPrototypeOf"), prototype),
    "util.promisify": promisified,
    "bluebird.promisify": promisified,
    "module.createRequire": create_require,
    **dict.fromkeys(("Date", "Date.parse", "Date.UTC"), written_moment),
    **dict.fromkeys((f"date-fns.differenceIn{unit}" for unit in UNITS), time_between),
    "os.homedir": home,
    "os.tmpdir": temporary,
    **dict.fromkeys(("fs.open", "fs.openSync", "fs.promises.open"), opened),
    **dict.fromkeys(("fs.mkdtempSync", "fs.promises.mkdtemp", "fs.mkdtemp"), temporary_name),
    **dict.fromkeys(("jest.mock", "vi.mock", "vitest.vi.mock", "@jest/globals.jest.mock"), mocked),
    **MOCKING,
    "aws-sdk-client-mock.mockClient": mocked_client,
    "mockClient.restore": restored,
    **SPECIAL_LIBRARIES,
}
