"""JavaScript's own functions and the methods of its texts and arrays, as far as they shape names, commands and code."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import re2

from runner.risk.model import fold
from runner.risk.model.acts import Place
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, each, either, labels_of, reference, text
from runner.risk.trace.machine import MOST_SIMPLE_CALLS

if TYPE_CHECKING:
    from runner.risk.trace.machine import Machine, Special

QUIET = re2.Options()
QUIET.log_errors = False
Args = list[Value]
Named = dict[str, Value]

# Packages that are another module with more around it.
SAME = {
    "fs-extra": "fs",
    "graceful-fs": "fs",
    "promise-fs": "fs",
    "fs/promises": "fs",
    "node-fetch": "fetch",
    "cross-fetch": "fetch",
    "isomorphic-fetch": "fetch",
    "undici": "undici",
    "cross-spawn": "child_process.spawn",
    "promisify-child-process": "child_process",
    "path/posix": "path",
    "timers/promises": "timers",
}


def module(name: str) -> str:
    """The module that a name in `require` stands for."""
    name = name.removeprefix("node:")
    return SAME.get(name, name)


def first(args: Args) -> Value:
    return args[0] if args else UNKNOWN


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
    return machine.nested.executed(machine, done, code)


def new_function(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Function("a", "return a"): the last argument is code."""
    code = args[-1] if args else UNKNOWN
    done = machine.trail.add(
        "execute", "Function", {"code": code, "language": text("javascript"), "text": code}, place, called.labels
    )
    machine.nested.executed(machine, done, code)
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
    return m_map(machine, values, args[1:], place) if len(args) > 1 else values


def put_together(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Buffer.concat([...])."""
    return concatenate(args[0].items) if args and args[0].items is not None else None


def joined_path(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return concatenate(args, "/")


def same(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    return Value(value.texts, value.name, labels_of(args), value.items, value.fields, value.number)


def home(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return text("~")


def temporary(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return text("/tmp")


def last_part(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return each(first(args), lambda known: known.rpartition("/")[2])


def assigned(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    fields: dict[str, Value] = {}
    name = ""
    for arg in args:
        name = arg.name if arg.fields is None and arg.name else name
        fields.update(arg.fields or {"?": Value(labels=arg.labels, name=arg.name)})
    return Value(name=name, fields=fields, labels=labels_of(args))


def keys(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    if value.fields is None:
        return Value(labels=value.labels, name=value.name)
    names = list(value.fields.items())[:1000]
    match called.name:
        case "Object.keys":
            items = [text(key) for key, _ in names]
        case "Object.values":
            items = [inner for _, inner in names]
        case _:
            items = [Value(items=[text(key), inner]) for key, inner in names]
    return Value(items=items, labels=value.labels)


def promisified(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return first(args)


def got(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Reflect.get(owner, name)."""
    if len(args) < 2 or not args[1].texts:
        return None
    return machine.attribute(args[0], args[1].text, fold.ASSEMBLED)


def create_require(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return reference("require")


SPECIALS: dict[str, Special] = {
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
    "path.resolve": joined_path,
    "path.normalize": same,
    "path.basename": last_part,
    "JSON.stringify": same,
    "JSON.parse": from_json,
    "worker_threads.Worker": worker,
    "Worker": worker,
    "String.raw": raw_text,
    "Proxy": lambda machine, called, args, named, place: first(args) if first(args).name else None,
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
    "Reflect.get": got,
    "util.promisify": promisified,
    "bluebird.promisify": promisified,
    "module.createRequire": create_require,
    "os.homedir": home,
    "os.tmpdir": temporary,
}

Method = Callable[["Machine", Value, Args, Place], Value | None]


def m_join(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if owner.items is None:
        return None
    separator = first(args) if args else text(",")
    return fold.joined(separator, owner.items)


def m_reverse(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if owner.items is None:
        return None
    return Value(items=owner.items[::-1], labels=owner.labels | fold.ASSEMBLED)


def m_split(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if not owner.texts:
        return None
    separator = first(args)
    if separator.exact == "" and owner.exact is not None and len(owner.exact) <= 20_000:
        return Value(items=[text(c, labels=owner.labels) for c in owner.exact], labels=owner.labels)
    return fold.split(owner, separator)


def m_replace(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if not owner.texts or len(args) < 2:
        return None
    if args[0].name == "regex" and args[1].exact is not None and (found := _regex(args[0])) is not None:
        into = re.sub(r"\$(\d)", r"\\\1", args[1].exact.replace("\\", "\\\\"))
        return each(owner, lambda known: found[0].sub(into, known, count=found[1]), labels=fold.ASSEMBLED)
    if args[0].name == "regex" or args[1].function is not None:
        return Value((HOLE,), labels=owner.labels)
    return fold.replaced(owner, args[0], args[1])


def _regex(value: Value) -> tuple[Any, int] | None:
    """A regular expression, and how many places it changes (0 for all). RE2 takes linear time, whatever it is."""
    source = (value.fields or {}).get("pattern", UNKNOWN).text
    body, _, flags = source[1:].rpartition("/")
    if len(body) > 200:
        return None
    try:
        return re2.compile(f"(?i){body}" if "i" in flags else body, QUIET), 0 if "g" in flags else 1
    except re2.error:
        return None


def m_match(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    """text.match(/../g) on a known text."""
    found = _regex(args[0]) if owner.exact is not None and args and args[0].name == "regex" else None
    if found is None or found[1]:
        return None
    matches = (match.group() for match in found[0].finditer(owner.exact))
    return Value(items=[text(one, labels=owner.labels) for one in itertools.islice(matches, 4000)])


def m_get(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    return machine.element(owner, first(args)) if owner.fields is not None and args else None


def m_slice(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    ends = [*args[:2], UNKNOWN, UNKNOWN][:2]
    return fold.sliced(owner, ends[0], ends[1], UNKNOWN) if owner.texts or owner.items is not None else None


def m_substr(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if len(args) > 1 and isinstance(args[0].number, int) and isinstance(args[1].number, int):
        return fold.sliced(owner, args[0], Value(number=args[0].number + args[1].number), UNKNOWN)
    return m_slice(machine, owner, args[:1], place)


def m_char(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    return machine.element(owner, first(args)) if owner.texts else None


def m_code(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    index = first(args).number if args else 0
    if owner.exact is not None and isinstance(index, int) and 0 <= index < len(owner.exact):
        return Value(number=ord(owner.exact[index]))
    return UNKNOWN


def m_concat(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if owner.items is not None:
        return Value(
            items=[*owner.items, *(item for arg in args for item in (arg.items or [arg]))], labels=owner.labels
        )
    return concatenate((owner, *args)).labelled(fold.ASSEMBLED) if owner.texts else None


def m_text(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    """buffer.toString(encoding), number.toString(radix)."""
    radix = first(args).number
    if isinstance(owner.number, int) and isinstance(radix, int) and 2 <= radix <= 36 and owner.number >= 0:
        return text(_in_base(owner.number, radix), labels=fold.ASSEMBLED)
    if not owner.texts and owner.name != "Buffer":
        return None
    encoding = first(args).text.lower()
    if encoding == "base64":
        return each(owner, fold.packed, labels={"encoded"})
    if encoding == "hex":
        return each(owner, lambda known: fold.raw(known).hex(), labels={"encoded"})
    return each(owner, fold.readable) if owner.texts else Value(labels=owner.labels)


def _in_base(number: int, radix: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, radix)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits or "0"


def m_push(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if owner.items is None:
        return None
    if len(owner.items) < 20_000:
        owner.items.extend(args)
    return UNKNOWN


def m_pop(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    return either(owner.items[:60]) if owner.items else None


def m_shift(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    """The first item, which is gone afterwards; in a branch nobody knows how often that happens."""
    if not owner.items or machine.branches:
        return m_pop(machine, owner, args, place)
    return owner.items.pop(0)


def m_reduce(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    function = first(args).function
    if function is None or owner.items is None or not 0 < len(owner.items) <= 200:
        return m_each(machine, owner, args, place)
    items = [*args[1:2], *owner.items]
    value = items[0]
    for at, item in enumerate(items[1:]):
        value = machine.follow(function, [value, item, Value(number=at)], {}, first(args).owner)
    return value.labelled(owner.labels)


def m_each(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    """map, forEach, filter, reduce over a known array."""
    function = first(args).function
    if function is None or owner.items is None:
        return None
    met = either(owner.items[:60])
    result = machine.follow(function, [met, UNKNOWN, owner], {}, first(args).owner)
    return Value(labels=result.labels | owner.labels, name=result.name)


def m_map(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if owner.items is None or not args:
        return None
    if args[0].function is None:
        if args[0].name:
            return Value(items=[machine.call(args[0], [item], {}, place) for item in owner.items[:4000]])
        return None
    if len(owner.items) > (MOST_SIMPLE_CALLS if args[0].function.simple else 7):
        return m_each(machine, owner, args, place)
    items = [machine.follow(args[0].function, [item, Value(number=i), owner], {}) for i, item in enumerate(owner.items)]
    return Value(items=items, labels=owner.labels)


def changed(change: Callable[[str], str]) -> Method:
    def method(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
        return each(owner, change) if owner.texts else None

    return method


METHODS: dict[str, Method] = {
    "join": m_join,
    "reverse": m_reverse,
    "toReversed": m_reverse,
    "split": m_split,
    "replace": m_replace,
    "replaceAll": m_replace,
    "match": m_match,
    "get": m_get,
    "slice": m_slice,
    "substring": m_slice,
    "subarray": m_slice,
    "substr": m_substr,
    "charAt": m_char,
    "at": m_char,
    "charCodeAt": m_code,
    "codePointAt": m_code,
    "concat": m_concat,
    "toString": m_text,
    "push": m_push,
    "unshift": m_push,
    "pop": m_pop,
    "shift": m_shift,
    "forEach": m_each,
    "filter": m_each,
    "find": m_each,
    "reduce": m_reduce,
    "some": m_each,
    "every": m_each,
    "flatMap": m_each,
    "map": m_map,
    "trim": changed(str.strip),
    "toLowerCase": changed(str.lower),
    "toUpperCase": changed(str.upper),
    "valueOf": lambda machine, owner, args, place: owner,
}
