"""Python's functions for paths, files and the environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.acts import VALUE_OF, Source
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, each, is_absent, labels_of, text
from runner.risk.python.arguments import first
from runner.risk.rules.targets import VARIABLES, WHO
from runner.risk.trace.shown import from_outside, note_shown

if TYPE_CHECKING:
    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine


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
    labels = {f"${known}", f"{VALUE_OF}{known}"} if known else {Source.ENVIRONMENT}
    if known in WHO:
        labels |= {Source.HOST_INFO, Source.WHO}
    return Value(default.texts[:1] and (HOLE, *default.texts), f"os.environ[{known or ''}]", default.labels | labels)


def path_joined(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    parts = [*args]
    for i in range(len(parts) - 1, 0, -1):
        if parts[i].text.startswith(("/", "~")):
            parts = parts[i:]
            break
    whole = concatenate((below(parts[0]), *parts[1:]) if parts else (), "/")
    name = "pathlib.Path()" if called.name.startswith("pathlib") or called.attribute == "joinpath" else ""
    return Value(whole.texts, name, whole.labels)


def below_owner(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`folder.joinpath("a")`: a path below the one that it is called on."""
    owner = called.owner
    if owner is None or not owner.texts:
        return None
    joined = Value(name="pathlib.Path")
    joined.attribute = "joinpath"
    return path_joined(machine, joined, [owner, *args], named, place)


def below(folder: Value) -> Value:
    """Return the first part of a path that is put together: an empty one is the folder of the program."""
    if "" not in folder.texts:
        return folder
    return Value(tuple(known or "." for known in folder.texts), folder.name, folder.labels)


def upper_folder(known: str) -> str:
    """Return what `Path(known).parent` is."""
    if known in ("", ".", HOLE) or known.endswith(".."):
        return known or "."
    plain = known.rstrip("/")
    folder, slash, _ = plain.rpartition("/")
    return folder or ("/" if slash or not plain else "/home" if plain == "~" else ".")


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
    if called.name.replace("()", "").endswith("Path.open") and called.owner is not None:
        target, mode = called.owner, (first(args).text or named.get("mode", UNKNOWN).text or "r")
    writes = any(letter in mode for letter in "wax+") and not mode.startswith("rb+")
    act = machine.trail.add(
        "open" if writes else "read", called.name, {"path": target, "mode": text(mode)}, place, called.labels
    )
    labels = machine.nested.done(act) if not writes else frozenset[str]()
    return Value(name="open()", labels=labels, fields={"path": target, "mode": text(mode)})


def opened_by_flags(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """os.open: it may write unless its flags only read."""
    flags = args[1] if len(args) > 1 else named.get("flags", UNKNOWN)
    mode = text("r" if flags.name.endswith("O_RDONLY") or flags.number == 0 else "r+")
    target = args[0] if args else named.get("path", UNKNOWN)
    read = machine.trail.add("read", called.name, {"path": target}, place, called.labels)
    labels = machine.nested.done(read)
    if mode.text != "r":
        machine.trail.add("open", called.name, {"path": target, "mode": mode}, place, called.labels)
    return Value(target.texts, labels=target.labels | labels)


def opened_for_more(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """logging.FileHandler: a file that is written, at its end as a rule."""
    target = args[0] if args else named.get("filename", UNKNOWN)
    mode = args[1] if len(args) > 1 else named.get("mode", text("a"))
    machine.trail.add("open", called.name, {"path": target, "mode": mode}, place, called.labels)
    return None


def logged(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """logging.basicConfig(filename=...)."""
    if "filename" in named:
        opened_for_more(machine, called, [named["filename"], named.get("filemode", text("a"))], {}, place)
    return None


def temporary(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Return a temporary file: its name is not known, but it is the same wherever it turns up."""
    path = _made(machine, named, UNKNOWN, place)
    return Value(name="open()", fields={"path": path, "name": path, "mode": text("w")})


def temporary_name(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return _made(machine, named, args[2] if len(args) > 2 else UNKNOWN, place)


def _made(machine: Machine, named: Named, third: Value, place: Place) -> Value:
    """Return the path of a temporary file in the folder `dir`, or where those of the system are."""
    given = named.get("dir", third)
    folder = text("/tmp") if is_absent(given) or given.name == "None" else given
    return machine.trail.own.made(*place[:2], folder, named.get("suffix", UNKNOWN).text)


def temporary_pair(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    path = temporary_name(machine, called, args, named, place) or UNKNOWN
    return Value(items=[path, path])


def temporary_folder(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return text("/tmp")


def packages_folder(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """site.getsitepackages() and others: where packages are installed, wherever that is."""
    folder = text(f"{HOLE}/site-packages")
    if called.name.endswith("get_paths"):
        return Value(fields=dict.fromkeys(("purelib", "platlib"), folder))
    if called.name.endswith("get_path") and first(args).text not in ("purelib", "platlib"):
        return None
    return Value(items=[folder]) if called.name.endswith("getsitepackages") else folder


def printed(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """print(...) writes to the standard output; print(..., file=f) writes to the file."""
    if "file" not in named and args:
        machine.nested.printed(concatenate(args, " "))
    path = (named.get("file", UNKNOWN).fields or {}).get("path")
    if path is None:
        note_shown(machine.trail, called.name, from_outside(labels_of(args)), place)
        return None
    fields = {"path": path, "data": concatenate(args, " "), "mode": (named["file"].fields or {}).get("mode", UNKNOWN)}
    machine.nested.done(machine.trail.add("write", "print", fields, place, called.labels))
    return UNKNOWN


def truncated(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`f.truncate(0)` and `os.truncate(path, 0)` empty a file; another size only ends it there."""
    ours = called.owner.fields if called.owner is not None else None
    path, sizes = (ours["path"], args[:1]) if ours and "path" in ours else (first(args), args[1:2])
    if not sizes or sizes[0].number != 0:
        return None
    fields = {"path": path, "data": text(""), "empties": text("yes")}
    machine.nested.done(machine.trail.add("write", called.name, fields, place, called.labels))
    return UNKNOWN


def edited(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """fileinput.input(files, inplace=True): what is printed goes into the files."""
    files = args[0] if args else named.get("files", UNKNOWN)
    if (args[1] if len(args) > 1 else named.get("inplace", UNKNOWN)).name == "True":
        fields = {"path": files, "edit": text("yes")}
        machine.nested.done(machine.trail.add("write", called.name, fields, place, called.labels))
    return None
