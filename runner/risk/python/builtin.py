"""Python's own functions and the methods of its texts and lists, as far as they shape names, commands and code."""

from __future__ import annotations

import codecs
import re
import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from runner.risk.model import fold
from runner.risk.model.acts import Place, Source
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, each, either, labels_of, reference, text
from runner.risk.rules.targets import VARIABLES, WHO

if TYPE_CHECKING:
    from runner.risk.trace.machine import Machine, Special

Args = list[Value]
Named = dict[str, Value]


def first(args: Args) -> Value:
    return args[0] if args else UNKNOWN


# Functions.


def run_text(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """exec, eval, compile: the text is code of this program."""
    code = args[0] if args else named.get("source", UNKNOWN)
    if called.name == "compile":
        return Value(code.texts, "compiled", code.labels, binary=code.binary)
    name = "exec" if code.name == "compiled" else called.name
    fields = {"code": code, "language": text("python"), "how": text(called.name), "text": code}
    done = machine.trail.add("execute", name, fields, place, called.labels)
    return machine.nested.executed(machine, done, code)


def character(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return fold.characters(args[:1])


def number_of(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    known = first(args).exact
    return Value(number=ord(known)) if known is not None and len(known) == 1 else Value(labels=first(args).labels)


def integer(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    if value.number is not None:
        return Value(number=int(value.number)) if abs(value.number) < 1 << 62 else UNKNOWN
    radix = args[1].number if len(args) > 1 else 10
    if (
        value.exact is not None
        and len(value.exact) < 40
        and isinstance(radix, int)
        and (radix == 0 or 2 <= radix <= 36)
    ):
        try:
            return Value(number=int(value.exact, radix))
        except ValueError:
            return UNKNOWN
    return Value(labels=value.labels)


def string(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    if value.number is not None and value.name in ("", "True", "False"):
        return text(value.name or str(value.number))
    if value.texts:
        return Value(value.texts, labels=value.labels)
    return Value(name=value.name, labels=labels_of((value,)))


def octets(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    if value.items is not None:
        return fold.octets(value.items)
    return Value(value.texts, labels=labels_of((value,)), binary=True)


def listed(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    if value.items is not None:
        return Value(items=list(value.items), labels=value.labels)
    if value.exact is not None and len(value.exact) <= 20_000:
        if value.binary:
            return Value(items=[Value(number=ord(c)) for c in value.exact], labels=value.labels)
        return Value(items=[Value((c,), labels=value.labels) for c in value.exact], labels=value.labels)
    return None


def dictionary(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    given = first(args)
    if given.fields is None and not named:
        return Value(name=given.name, labels=labels_of(args))
    return Value(fields={**(given.fields or {}), **named}, labels=labels_of(args))


def backwards(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    if value.exact is not None:
        return Value(items=[text(c) for c in value.exact[::-1]], labels=value.labels | fold.ASSEMBLED)
    return fold.reversed_text(value)


def mapped(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    if len(args) < 2:
        return None
    function, values = args[0], args[1]
    if values.exact is not None:
        values = listed(machine, called, [values], {}, place) or values
    if values.items is not None and len(values.items) <= 4000:
        return Value(items=[machine.call(function, [item], {}, place) for item in values.items], labels=values.labels)
    return Value(labels=machine.call(function, [machine.each(values)], {}, place).labels | values.labels)


def ranged(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    ends = [arg.number for arg in args]
    if not ends or len(ends) > 3 or not all(isinstance(end, int) for end in ends):
        return None
    try:
        numbers = range(*(int(end or 0) for end in ends))
        return Value(items=[Value(number=n) for n in numbers]) if len(numbers) <= 1000 else None
    except (ValueError, OverflowError):
        return None


def numbered(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    values = listed(machine, called, args[:1], {}, place)
    if values is None or values.items is None or len(values.items) > 4000:
        return Value(items=None, labels=first(args).labels)
    return Value(
        items=[Value(items=[Value(number=i), item]) for i, item in enumerate(values.items)], labels=values.labels
    )


def zipped(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    lists = [(listed(machine, called, [arg], {}, place) or UNKNOWN).items for arg in args]
    if not lists or any(items is None for items in lists):
        return None
    known = [items for items in lists if items is not None]
    return Value(items=[Value(items=list(row)) for row in zip(*known, strict=False)][:4000], labels=labels_of(args))


def namespace(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """vars(x) is x by names; globals() and locals() stand for the program's own."""
    return args[0] if called.name == "vars" and args else reference(f"{called.name}()")


def partial(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    if not args:
        return None
    bound = args[0].labelled(())
    made = Value(name="partial", labels=bound.labels, items=[*args])
    made.fields = dict(named)
    return made


def call_partial(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    if not called.items:
        return None
    return machine.call(called.items[0], [*called.items[1:], *args], {**(called.fields or {}), **named}, place)


def caller(*names: str) -> Special:
    """A call that calls another function, handed over with its arguments: threads, executors, timers."""

    def call(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
        target = next((named[name] for name in names if name in named), None)
        given = named.get("args", UNKNOWN)
        rest = given.items or []
        if target is None and args:
            position = next((i for i, arg in enumerate(args) if arg.function or arg.name), None)
            if position is None:
                return None
            target = args[position]
            rest = rest or args[position + 1 :]
            if len(rest) == 1 and rest[0].items is not None:
                rest = rest[0].items
        if target is None:
            return None
        result = machine.call(target, rest, (named.get("kwargs", UNKNOWN).fields or {}), place)
        return Value(name=f"{called.name}()", labels=result.labels)

    return call


def variable(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """os.environ.get, os.getenv: folders become paths, the rest keeps its name."""
    key = first(args)
    known = key.exact
    folder = VARIABLES.get(known.lower()) if known else None
    if folder is not None:
        return text(folder)
    if known is not None and (put := machine.variables.get(known)) is not None:
        return put
    machine.trail.add("variable", called.name, {"key": key}, place, called.labels)
    default = args[1] if len(args) > 1 else UNKNOWN
    labels = {f"${known}" if known else Source.ENVIRONMENT}
    if known in WHO:
        labels.add(Source.HOST_INFO)
    return Value(default.texts[:1] and (HOLE, *default.texts), f"os.environ[{known or ''}]", default.labels | labels)


def path_joined(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    parts = [*args]
    for i in range(len(parts) - 1, 0, -1):
        if parts[i].text.startswith(("/", "~")):
            parts = parts[i:]
            break
    whole = concatenate(parts, "/")
    name = "pathlib.Path()" if called.name.startswith("pathlib") or called.attribute == "joinpath" else ""
    return Value(whole.texts, name, whole.labels)


def path(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    if not args:
        return Value((".",), "pathlib.Path()")
    return path_joined(machine, called, args, named, place)


def same_path(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    return Value(value.texts, value.name, value.labels)


def home(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return Value(("~",), "pathlib.Path()")


def parent(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return each(first(args), lambda known: known.rpartition("/")[0] or "/")


def last_part(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return each(first(args), lambda known: known.rpartition("/")[2])


def opened(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """open: reading or writing by its mode; the result remembers the path."""
    target = args[0] if args else named.get("file", UNKNOWN)
    mode = (args[1] if len(args) > 1 else named.get("mode", UNKNOWN)).text or "r"
    if called.name.endswith("Path.open") and called.owner is not None:
        target, mode = called.owner, (first(args).text or "r")
    writes = any(letter in mode for letter in "wax+") and not mode.startswith("rb+")
    act = machine.trail.add(
        "open" if writes else "read", called.name, {"path": target, "mode": text(mode)}, place, called.labels
    )
    labels = machine.nested.done(act) if not writes else frozenset[str]()
    return Value(name="open()", labels=labels, fields={"path": target, "mode": text(mode)})


def temporary(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """A temporary file: its name is not known, but it is the same wherever it turns up."""
    ending = named.get("suffix", UNKNOWN).text
    path = Value((f"/tmp/{HOLE}{ending}",), labels=frozenset({f"$temporary{place[0]}:{place[1]}"}))
    return Value(name="open()", fields={"path": path, "name": path, "mode": text("w")})


def temporary_name(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return Value(
        (f"/tmp/{HOLE}{named.get('suffix', UNKNOWN).text}",), labels=frozenset({f"$temporary{place[0]}:{place[1]}"})
    )


def temporary_pair(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    path = temporary_name(machine, called, args, named, place) or UNKNOWN
    return Value(items=[path, path])


def temporary_folder(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return text("/tmp")


def decoder(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return fold.decoded(called.name, args[0] if args else named.get("s", UNKNOWN))


def codec(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """codecs.decode(text, codec) and codecs.encode."""
    name = (args[1] if len(args) > 1 else UNKNOWN).text
    return _coded(first(args), name)


def coder(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """codecs.getdecoder(codec): a function, whose result is a pair."""
    made = Value(name="codec", items=None, labels=called.labels)
    made.fields = {"codec": first(args)}
    return made


def call_coder(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    name = (called.fields or {}).get("codec", UNKNOWN).text
    return Value(items=[_coded(first(args), name), UNKNOWN])


def _coded(value: Value, name: str) -> Value:
    try:
        codecs.lookup(name)
    except (LookupError, ValueError):
        return Value(value.texts, labels=value.labels)
    labels = fold.DECODED if fold.is_code(name) else ()
    return each(value, lambda known: fold.coded(known, name), labels=labels)


def nothing_new(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """A call whose result is, for what matters here, its argument."""
    value = first(args)
    return Value(value.texts, value.name, labels_of(args), value.items, value.fields, binary=value.binary)


def set_attribute(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """setattr(owner, name, value)."""
    if len(args) == 3 and args[0].fields is not None and args[1].exact is not None:
        args[0].fields[args[1].exact] = args[2]
    return UNKNOWN


def template(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return Value(first(args).texts, "string.Template()", first(args).labels)


def substituted(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """string.Template(...).substitute(a="x")."""
    owner = called.owner
    if owner is None or not owner.texts:
        return None
    values = {**(first(args).fields or {}), **named}
    parts = re.split(r"(\$\w+|\$\{\w+\})", owner.text)
    pieces = [values.get(part.strip("${}"), UNKNOWN) if part[:1] == "$" and part[1:] else text(part) for part in parts]
    return concatenate(pieces).labelled(owner.labels)


def same_owner(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """A method whose result is, for what matters here, what it is called on."""
    return called.owner


def printed(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """print(..., file=f) writes to the file."""
    path = (named.get("file", UNKNOWN).fields or {}).get("path")
    if path is None:
        return None
    fields = {"path": path, "data": concatenate(args, " "), "mode": (named["file"].fields or {}).get("mode", UNKNOWN)}
    machine.nested.done(machine.trail.add("write", "print", fields, place, called.labels))
    return UNKNOWN


def from_json(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    known = fold.parsed_json(value.exact) if value.exact is not None and len(value.exact) < 20_000 else None
    return known.labelled(value.labels) if known is not None else nothing_new(machine, called, args, named, place)


def shell_words(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    try:
        parts = shlex.split(value.exact or "")
    except ValueError:
        parts = []
    if not parts:
        return Value(labels=value.labels)
    return Value(items=[text(part, labels=value.labels) for part in parts[:1000]], labels=value.labels)


def next_of(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return machine.each(first(args))


def reduced(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """functools.reduce(function, values)."""
    items = args[1].items if len(args) > 1 else None
    if not items or len(items) > 200:
        return None
    value = items[0]
    for item in items[1:]:
        value = machine.call(args[0], [value, item], {}, place)
    return value


def ordered(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """sorted(values, key=function): the function gets each of them."""
    if (key := named.get("key")) is not None and (key.name or key.function):
        machine.call(key, [machine.each(first(args))], {}, place)
    return nothing_new(machine, called, args, named, place)


def method_caller(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return Value(name=called.name.replace("operator.", ""), items=[*args], fields=dict(named))


def call_method(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """What operator.methodcaller and operator.attrgetter make, called with an object."""
    if not called.items or not args or not called.items[0].texts:
        return None
    member = machine.attribute(args[0], called.items[0].text, fold.ASSEMBLED)
    if called.name == "attrgetter":
        return member
    return machine.call(member, called.items[1:], called.fields or {}, place)


def nothing_changed(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return first(args)


def new_type(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return Value(labels=labels_of(args), name=first(args).name)


SPECIALS: dict[str, Special] = {
    "exec": run_text,
    "eval": run_text,
    "execfile": run_text,
    "compile": run_text,
    "code.InteractiveInterpreter.runsource": run_text,
    "chr": character,
    "unichr": character,
    "ord": number_of,
    "int": integer,
    "str": string,
    "unicode": string,
    "repr": string,
    "bytes": octets,
    "bytearray": octets,
    "list": listed,
    "tuple": listed,
    "set": listed,
    "sorted": ordered,
    "iter": nothing_new,
    "dict": dictionary,
    "reversed": backwards,
    "map": mapped,
    "range": ranged,
    "xrange": ranged,
    "enumerate": numbered,
    "zip": zipped,
    "vars": namespace,
    "globals": namespace,
    "locals": namespace,
    "functools.partial": partial,
    "partial": call_partial,
    "threading.Thread": caller("target"),
    "multiprocessing.Process": caller("target"),
    "threading.Timer": caller("function"),
    "thread.start_new_thread": caller("function"),
    "_thread.start_new_thread": caller("function"),
    "atexit.register": caller("func"),
    "asyncio.to_thread": caller("func"),
    "os.getenv": variable,
    "os.environ.get": variable,
    "os.environ.setdefault": variable,
    "os.environ.pop": variable,
    "os.path.join": path_joined,
    "posixpath.join": path_joined,
    "ntpath.join": path_joined,
    "os.sep.join": path_joined,
    "pathlib.Path": path,
    "pathlib.PurePath": path,
    "pathlib.PosixPath": path,
    "pathlib.WindowsPath": path,
    "pathlib.Path.home": home,
    **dict.fromkeys((f"pathlib.Path.{name}" for name in ("expanduser", "resolve", "absolute", "as_posix")), same_owner),
    "os.path.expanduser": same_path,
    "os.path.expandvars": same_path,
    "os.path.abspath": same_path,
    "os.path.realpath": same_path,
    "os.path.normpath": same_path,
    "os.fspath": same_path,
    "os.path.dirname": parent,
    "os.path.basename": last_part,
    "tempfile.NamedTemporaryFile": temporary,
    "tempfile.TemporaryFile": temporary,
    "tempfile.mktemp": temporary_name,
    "tempfile.mkstemp": temporary_pair,
    "tempfile.mkdtemp": temporary_name,
    "tempfile.gettempdir": temporary_folder,
    "ast.parse": nothing_new,
    "ast.fix_missing_locations": nothing_new,
    "open": opened,
    "file": opened,
    "os.fdopen": opened,
    "gzip.open": opened,
    "bz2.open": opened,
    "lzma.open": opened,
    "aiofiles.open": opened,
    "codecs.decode": codec,
    "codecs.encode": codec,
    "codecs.getdecoder": coder,
    "codecs.getencoder": coder,
    "codecs.lookup": coder,
    "codec": call_coder,
    **dict.fromkeys((*fold.DECODERS, *fold.ENCODERS), decoder),
    "json.dumps": nothing_new,
    "json.loads": from_json,
    "ast.literal_eval": from_json,
    "shlex.split": shell_words,
    "print": printed,
    "setattr": set_attribute,
    "types.SimpleNamespace": dictionary,
    "pandas.DataFrame": nothing_new,
    "pandas.Series": nothing_new,
    "staticmethod": nothing_changed,
    "string.Template": template,
    "string.Template.substitute": substituted,
    "string.Template.safe_substitute": substituted,
    "next": next_of,
    "functools.reduce": reduced,
    "operator.methodcaller": method_caller,
    "operator.attrgetter": method_caller,
    "methodcaller": call_method,
    "attrgetter": call_method,
    "urllib.parse.urlencode": nothing_new,
    "urllib.urlencode": nothing_new,
    "io.BytesIO": nothing_new,
    "io.StringIO": nothing_new,
    "BytesIO": nothing_new,
    "memoryview": nothing_new,
    "type": new_type,
}

# Methods of texts, lists and mappings.

Method = Callable[["Machine", Value, Args], Value | None]


def m_join(machine: Machine, owner: Value, args: Args) -> Value | None:
    values = first(args)
    if not owner.texts:
        return None
    if values.items is not None:
        return fold.joined(owner, values.items).labelled(values.labels)
    if values.texts:
        return each(values, owner.text.join)
    return Value(labels=values.labels | owner.labels, name=values.name)


def m_replace(machine: Machine, owner: Value, args: Args) -> Value | None:
    return fold.replaced(owner, args[0], args[1]) if owner.texts and len(args) >= 2 else None


def m_decode(machine: Machine, owner: Value, args: Args) -> Value | None:
    if not owner.texts:
        return None
    name = first(args).text or "utf-8"
    if fold.is_code(name):
        return _coded(owner, name)
    return each(owner, lambda known: fold.coded(known, name) if owner.binary else known)


def m_encode(machine: Machine, owner: Value, args: Args) -> Value | None:
    if not owner.texts:
        return None
    name = first(args).text
    if fold.is_code(name):
        return each(owner, lambda known: fold.coded(known, name))
    return Value(
        tuple(known if HOLE in known else fold.latin(known.encode("utf-8", "surrogatepass")) for known in owner.texts),
        labels=owner.labels,
        binary=True,
    )


def m_format(machine: Machine, owner: Value, args: Args) -> Value | None:
    return fold.formatted(owner, args, {}) if owner.texts else None


def m_split(machine: Machine, owner: Value, args: Args) -> Value | None:
    return fold.split(owner, first(args)) if owner.texts else None


def m_lines(machine: Machine, owner: Value, args: Args) -> Value | None:
    return fold.split(owner, text("\n")) if owner.texts else None


def changed(change: Callable[[str], str]) -> Method:
    def method(machine: Machine, owner: Value, args: Args) -> Value | None:
        return each(owner, change, binary=owner.binary) if owner.texts else None

    return method


def m_strip(machine: Machine, owner: Value, args: Args) -> Value | None:
    cut = first(args).exact
    return each(owner, lambda known: known.strip(cut), binary=owner.binary) if owner.texts else None


def m_translate(machine: Machine, owner: Value, args: Args) -> Value | None:
    table = first(args).fields
    if not owner.texts or table is None:
        return Value(labels=owner.labels | fold.ASSEMBLED) if owner.texts else None
    try:
        change = {int(k): v.text or chr(int(v.number or 0)) for k, v in table.items() if k.isdecimal()}
    except (ValueError, OverflowError):  # it would raise there as well
        return Value(labels=owner.labels | fold.ASSEMBLED)
    return each(owner, lambda known: known.translate(change), labels=fold.ASSEMBLED)


def m_maketrans(machine: Machine, owner: Value, args: Args) -> Value | None:
    if len(args) >= 2 and args[0].exact is not None and args[1].exact is not None:
        pairs = zip(args[0].exact, args[1].exact, strict=False)
        return Value(fields={str(ord(a)): Value((b,), number=ord(b)) for a, b in pairs})
    return UNKNOWN


def m_append(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.items is None:
        return None
    if len(owner.items) < 20_000:
        owner.items.append(first(args))
    return UNKNOWN


def m_extend(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.items is None:
        return None
    more = first(args)
    if len(owner.items) < 20_000:
        owner.items.extend((more.items or [machine.each(more)])[:20_000])
    return UNKNOWN


def m_insert(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.items is None or len(args) < 2:
        return None
    place = args[0].number
    if isinstance(place, int | None):
        owner.items.insert(max(-len(owner.items), min(place or 0, len(owner.items))), args[1])
    return UNKNOWN


def m_reverse(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.items is None:
        return None
    owner.items.reverse()
    return UNKNOWN


def m_pop(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.items:
        return either(owner.items[:60])
    return machine.element(owner, first(args)) if owner.fields is not None else None


def m_get(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.fields is None:
        return None
    found = machine.element(owner, first(args))
    return either((found, args[1])) if len(args) > 1 else found


def m_items(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.fields is None or owner.kind is not None:
        return None
    return Value(
        items=[Value(items=[text(key), value]) for key, value in list(owner.fields.items())[:1000]], labels=owner.labels
    )


def m_values(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.fields is None or owner.kind is not None:
        return None
    return Value(items=list(owner.fields.values()), labels=owner.labels)


def m_keys(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.fields is None or owner.kind is not None:
        return None
    return Value(items=[text(key) for key in owner.fields], labels=owner.labels)


def m_update(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.fields is None or owner.kind is not None:
        return None
    owner.fields.update(first(args).fields or {"?": Value(labels=first(args).labels)})
    return UNKNOWN


def m_hex(machine: Machine, owner: Value, args: Args) -> Value | None:
    return each(owner, lambda known: fold.raw(known).hex()) if owner.texts else None


def m_fromhex(machine: Machine, owner: Value, args: Args) -> Value | None:
    return fold.decoded("bytes.fromhex", first(args)) if not owner.texts else None


def m_bytes(machine: Machine, owner: Value, args: Args) -> Value | None:
    """int.to_bytes: a text written as one long number."""
    length = first(args).number
    if not isinstance(owner.number, int) or not isinstance(length, int) or not 0 < length <= 4000 or owner.number < 0:
        return None
    order = "little" if len(args) > 1 and args[1].text == "little" else "big"
    try:
        data = owner.number.to_bytes(length, order)  # type: ignore[arg-type]
    except OverflowError:
        return None
    return Value((fold.latin(data),), labels=fold.DECODED, binary=True)


METHODS: dict[str, Method] = {
    "to_bytes": m_bytes,
    "join": m_join,
    "replace": m_replace,
    "decode": m_decode,
    "encode": m_encode,
    "format": m_format,
    "split": m_split,
    "rsplit": m_split,
    "splitlines": m_lines,
    "strip": m_strip,
    "rstrip": m_strip,
    "lstrip": m_strip,
    "lower": changed(str.lower),
    "upper": changed(str.upper),
    "swapcase": changed(str.swapcase),
    "title": changed(str.title),
    "capitalize": changed(str.capitalize),
    "casefold": changed(str.casefold),
    "expandtabs": changed(str.expandtabs),
    "translate": m_translate,
    "maketrans": m_maketrans,
    "append": m_append,
    "add": m_append,
    "appendleft": m_append,
    "extend": m_extend,
    "insert": m_insert,
    "reverse": m_reverse,
    "pop": m_pop,
    "get": m_get,
    "items": m_items,
    "values": m_values,
    "keys": m_keys,
    "update": m_update,
    "hex": m_hex,
    "fromhex": m_fromhex,
    "copy": lambda machine, owner, args: owner,
    "__getitem__": lambda machine, owner, args: machine.element(owner, first(args)),
}
