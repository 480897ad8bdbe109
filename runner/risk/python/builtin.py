"""Python's own functions, as far as they shape names, commands and code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model import fold
from runner.risk.model.acts import Source
from runner.risk.model.value import UNKNOWN, Value, labels_of, reference, text
from runner.risk.python.arguments import first
from runner.risk.python.calling import (
    call_method,
    call_partial,
    caller,
    mapped,
    method_caller,
    ordered,
    partial,
    reduced,
    run_text,
)
from runner.risk.python.command_line import COMMAND_LINE
from runner.risk.python.derived_paths import DERIVED
from runner.risk.python.files import (
    below_owner,
    edited,
    home,
    last_part,
    logged,
    opened,
    opened_by_flags,
    opened_for_more,
    packages_folder,
    parent,
    path,
    path_joined,
    printed,
    same_path,
    temporary,
    temporary_folder,
    temporary_name,
    temporary_pair,
    truncated,
    variable,
)
from runner.risk.python.inherited import parent_object
from runner.risk.python.libraries import SPECIAL_LIBRARIES
from runner.risk.python.records import RECORDS
from runner.risk.python.replaced_in_tests import replaces
from runner.risk.python.sequences import (
    backwards,
    buffer,
    dictionary,
    listed,
    next_of,
    nothing_new,
    numbered,
    ranged,
    zipped,
)
from runner.risk.python.statements_run import RUN_STATEMENTS
from runner.risk.python.texts import call_coder, codec, coder, decoder, from_json, shell_words, substituted, template
from runner.risk.python.transfers import TRANSFERS
from runner.risk.trace.members import members
from runner.risk.trace.standing import STANDING

if TYPE_CHECKING:
    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine, Special


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


def namespace(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """vars(x) is x by names; globals() and locals() stand for the program's own."""
    if called.name not in ("globals", "locals") and args:
        found = members(machine.vocabulary, args[0])
        return args[0].labelled(found) if found or called.name == "vars" else None
    return None if called.name.startswith("inspect.") else reference(f"{called.name}()")


def names_in(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """dir(x)."""
    return Value(name="dir()", labels=members(machine.vocabulary, first(args)))


def set_attribute(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """setattr(owner, name, value)."""
    if len(args) == 3 and args[1].exact is not None:
        owner = args[0]
        held = owner.fields if owner.fields is not None else owner.kind.members if owner.kind is not None else {}
        held[args[1].exact] = args[2]
    return UNKNOWN


def same_owner(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Return the object that a method is called on: its result is equivalent here."""
    return called.owner


def loaded(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """sys.modules.get("os") is that module."""
    known = first(args).exact
    return reference(known, first(args).labels) if known else None


def nothing_changed(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return first(args)


PROGRESS = (
    *("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm", "tqdm.asyncio.tqdm", "tqdm.tqdm_notebook"),
    *("rich.progress.track", "alive_progress.alive_it", "progressbar.progressbar", "click.progressbar"),
)
"""Functions that show how far a loop is, and give what it goes through."""


def shown_going(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return args[0] if args and not args[0].unknown else None


def of_default(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Return a mapping of which each value begins as what its first argument makes: `defaultdict(list)`."""
    made = {"list": Value(items=[]), "set": Value(items=[]), "dict": Value(fields={})}.get(first(args).name)
    return None if made is None else Value(fields={"?": made}, name="collections.defaultdict()")


def copied(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Return a copy: a list of its own, which may become another one."""
    value = first(args)
    return value if value.items is None else Value(value.texts, value.name, value.labels, items=[*value.items])


def second(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return args[1] if len(args) > 1 else None


def new_type(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return Value(labels=labels_of(args), name=first(args).name)


NAMES = Value(labels=frozenset({Source.ENVIRONMENT_NAMES}))


def names_of(special: Special) -> Special:
    """Return `special` for everything but the environment, of which only the names are taken."""

    def call(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
        return NAMES if first(args).name == "os.environ" else special(machine, called, args, named, place)

    return call


def environment_names(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return NAMES


def counted(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Return what `len`, `bool` and the like give, which reveals nothing of the value itself."""
    return UNKNOWN


SAME_THING = (
    "staticmethod",
    "importlib.reload",
    "functools.cache",
    "functools.singledispatch",
    "typing.no_type_check",
    "weakref.proxy",
)
"""Functions whose result is what they are given, or behaves like that."""


SPECIALS: dict[str, Special] = {
    **SPECIAL_LIBRARIES,
    **TRANSFERS,
    "pytest.MonkeyPatch.setattr": replaces,
    **COMMAND_LINE,
    **RECORDS,
    **RUN_STATEMENTS,
    **DERIVED,
    "fileinput.input": edited,
    "fileinput.FileInput": edited,
    "~tmp_path_factory.mktemp": temporary_name,
    "len": counted,
    "bool": counted,
    "os.environ.keys": environment_names,
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
    "list": names_of(listed),
    "tuple": names_of(listed),
    "set": names_of(listed),
    "sorted": names_of(ordered),
    "iter": nothing_new,
    **dict.fromkeys(PROGRESS, shown_going),
    "collections.defaultdict": of_default,
    "dict": dictionary,
    "reversed": backwards,
    "map": mapped,
    "range": ranged,
    "xrange": ranged,
    "enumerate": numbered,
    "zip": zipped,
    **dict.fromkeys(("vars", "inspect.getmembers", "inspect.getmembers_static"), namespace),
    "dir": names_in,
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
    **dict.fromkeys(("pathlib.Path.joinpath", "pathlib.Path.home.joinpath"), below_owner),
    **dict.fromkeys((f"pathlib.Path.{name}" for name in ("expanduser", "resolve", "absolute", "as_posix")), same_owner),
    "os.path.expanduser": same_path,
    "os.path.expandvars": same_path,
    "os.path.abspath": same_path,
    "os.path.realpath": same_path,
    "os.path.normpath": same_path,
    "os.fspath": same_path,
    "os.path.dirname": parent,
    "os.path.basename": last_part,
    **STANDING,
    "tempfile.NamedTemporaryFile": temporary,
    "tempfile.TemporaryFile": temporary,
    "tempfile.mktemp": temporary_name,
    "tempfile.mkstemp": temporary_pair,
    "tempfile.mkdtemp": temporary_name,
    "tempfile.TemporaryDirectory": temporary_name,
    "tempfile.gettempdir": temporary_folder,
    **dict.fromkeys(("site.getsitepackages", "site.getusersitepackages"), packages_folder),
    **dict.fromkeys(("sysconfig.get_path", "sysconfig.get_paths"), packages_folder),
    "super": parent_object,
    "ast.parse": nothing_new,
    "ast.fix_missing_locations": nothing_new,
    "open": opened,
    "file": opened,
    "pathlib.Path.open": opened,
    "io.FileIO": opened,
    "wave.open": opened,
    "os.open": opened_by_flags,
    "logging.basicConfig": logged,
    "logging.FileHandler": opened_for_more,
    "sys.modules.get": loaded,
    "sys.modules.pop": loaded,
    "open.truncate": truncated,
    "os.truncate": truncated,
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
    **dict.fromkeys(SAME_THING, nothing_changed),
    "copy.copy": copied,
    "copy.deepcopy": copied,
    "typing.cast": second,
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
    "io.BytesIO": buffer,
    "io.StringIO": buffer,
    "BytesIO": buffer,
    "memoryview": nothing_new,
    "type": new_type,
}
