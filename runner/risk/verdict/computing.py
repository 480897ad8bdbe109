"""Tells programs that only compute from those that call what is not known here."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.model.language_support import LANGUAGES
from runner.model.modules import is_standard
from runner.model.request import Language
from runner.risk.model.outline_data import words
from runner.risk.verdict.naming import identifier, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from runner.risk.model.acts import Act, Trail

OF_FILES = words(
    "absolute anchor buffer close closed cwd exists expanduser flush getvalue glob home is_dir is_file is_symlink "
    "iterdir read read_bytes read_text readable readline readlines resolve rglob samefile seek stat tell write "
    "writeheader writelines writerow writerows writable path"
)
"""Attributes that may be of a file."""
WITH_FILES = words("os os.path glob io csv pathlib")
"""Modules of which functions look at files."""
PRINTS = words("print pprint.pprint pprint.pp sys.stdout.write sys.stderr.write")
JS_ROOTS = words(
    "console Math JSON Object Number String Array Boolean Date Map Set WeakMap WeakSet RegExp Symbol Intl BigInt "
    "Promise Error TypeError RangeError parseInt parseFloat isNaN isFinite structuredClone performance setTimeout "
    "clearTimeout queueMicrotask Uint8Array Int32Array Float64Array Float32Array TextEncoder TextDecoder URL "
    "URLSearchParams assert"
)
JS_METHODS = words(
    "push pop map filter reduce reduceRight forEach join split slice splice sort toSorted reverse concat includes "
    "indexOf lastIndexOf find findIndex findLast some every flat flatMap fill keys values entries has get set add "
    "delete clear toFixed toPrecision toString toLocaleString toLowerCase toUpperCase test exec match matchAll "
    "replace replaceAll trim trimStart trimEnd padStart padEnd repeat charAt charCodeAt codePointAt startsWith "
    "endsWith localeCompare normalize getTime getFullYear getMonth getDate getDay getHours getMinutes getSeconds "
    "toISOString toJSON valueOf next shift unshift at substring substr search toLocaleDateString"
)
HARMLESS = words("import variable compare forever crumbs mention command variable written-secret")
"""Kinds of acts that change and touch nothing."""
TEXT_COMMANDS = words(
    "echo printf true false : test [ seq expr bc date sleep cal export local declare set unset shift return exit let "
    "basename dirname tr rev sort uniq wc cut fold head tail cat grep awk sed if then do break continue"
)
DATACLASSES = words(
    "dataclasses.dataclass dataclasses.field dataclasses.asdict dataclasses.astuple dataclasses.replace "
    "dataclasses.fields dataclasses.is_dataclass dataclasses.KW_ONLY"
)
"""Functions that compute, of a module that outlines do not know."""
MOST_NAMED = 4
COMPUTES = words(
    "dataclasses collections itertools math statistics datetime re json textwrap decimal fractions random string time "
    "typing enum uuid hashlib base64 bisect heapq copy pprint functools operator secrets abc types numbers"
)
"""Modules of Python whose functions are not named: they only compute."""


class _Python(NamedTuple):
    """What is known of Python's own names; loaded where the first program of it is judged."""

    builtins: frozenset[str]
    modules: Mapping[str, frozenset[str]]
    attributes: frozenset[str]
    """But for those that may be of a file."""


@cache
def _python() -> _Python:
    from runner.risk.literals.outline_python import ATTRIBUTES, BUILTINS, MODULES

    return _Python(BUILTINS, MODULES, ATTRIBUTES - OF_FILES)


@cache
def _modules_of_javascript() -> frozenset[str]:
    from runner.risk.literals.outline_javascript import MODULES

    return frozenset(MODULES)


def only_computes(language: Language | None, trail: Trail) -> bool:
    """Return whether all that the program does is known, and none of it reaches outside."""
    if not all(act.kind in HARMLESS for act in trail.acts):
        return False
    match language:
        case Language.PYTHON:
            loaded = {act.name for act in trail.acts if act.kind == "import"}
            return loaded <= {*_python().modules, "dataclasses"} and all(map(_is_known_python, trail.called))
        case Language.JAVASCRIPT:
            loads = any(act.kind == "import" for act in trail.acts)
            return not loads and all(map(_is_known_javascript, trail.called))
        case Language.SHELL:
            return not trail.called and all(_only_text(act) for act in trail.acts)
        case _:
            return False  # what is read by its calls alone is never known to that degree


def only_known(language: Language | None, trail: Trail, called: Collection[str]) -> bool:
    """Return whether every function that is `called` is of the language itself, and every module as well."""
    match language:
        case Language.PYTHON:
            modules = (act.name.partition(".")[0] for act in trail.acts if act.kind == "import")
            return all(map(is_standard, modules)) and all(map(_is_known_python, called))
        case Language.JAVASCRIPT:
            return all(map(_is_known_javascript, called))
        case Language.SHELL | None:
            return not called
        case _:
            return False


def prints(language: Language | None, trail: Trail, code: str) -> bool:
    """Return whether the program seems to print something."""
    if language is Language.PYTHON:
        return not trail.called.isdisjoint(PRINTS)
    return "console." in code or "process.stdout" in code if language is Language.JAVASCRIPT else True


def libraries(language: Language | None, trail: Trail) -> Iterator[str]:
    """Yield what is called and not known here, at most MOST_NAMED: libraries, and functions of Python's own."""
    if language is Language.SHELL:
        return
    if language is not None and LANGUAGES[language].toolchain is not None:
        yield from map(identifier, sorted(trail.called)[:MOST_NAMED])
        return
    loaded = {act.name for act in trail.acts if act.kind == "import" and act.name.strip(".")}
    if not loaded:
        return
    is_known = _is_known_python if language is Language.PYTHON else _is_known_javascript
    found: dict[str, None] = {}
    for name in sorted(name for name in trail.called if not is_known(name)):
        plain = _plain(name)
        parts = plain.split(".")
        prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
        module = next((prefix for prefix in prefixes if prefix in loaded), "")
        if module and not plain.startswith("unittest.") and module.partition(".")[0] not in COMPUTES:
            found[_named(module, plain, language)] = None
        if len(found) == MOST_NAMED:
            break
    yield from found


def calls_of(library: str, language: Language | None, trail: Trail) -> str:
    """Return which functions of a library are called, for its quoted name; '' where none of their names tells."""
    found: dict[str, None] = {}
    for name, last in called_of(library, language, trail):
        giver = name.rpartition("().")[0]
        if last in OF_ANSWERS and giver in trail.called and _tells(giver.rpartition(".")[2]):
            continue  # of what another one gave: `client.list_objects().get`
        if _tells(last):
            found[last] = None
    return listed([identifier(one) for one in found]) if 0 < len(found) <= MOST_NAMED else ""


def called_of(library: str, language: Language | None, trail: Trail) -> Iterator[tuple[str, str]]:
    """Yield the functions of a library that are called, and the last part of their names."""
    for name in sorted(trail.called):
        parts = _plain(name).split(".")
        top = parts[0] if language is Language.PYTHON else _plain(name).rpartition(".")[0]
        if len(parts) > 1 and quoted(top.split(".")[0], 30) == library:
            yield name, parts[-1]


TELLING = words("query select find search list get fetch read load send run")
"""Functions that say what is done in one word; others say it in two, as `list_buckets`."""


OF_ANSWERS = words("get items keys values")
"""What is called of the answer of a service, which is a table of values."""
BEGINS = words(
    "client resource Client connect close end cursor session Session Config setup disconnect quit send auth config "
    "bucket loadFromDefault loadFromFile makeApiClient db collection then catch finally toArray"
)
"""What is called before and after the work, by the names that it has nearly everywhere."""
NAMED_BY_VERBS = words("boto3 botocore googleapiclient azure kubernetes stripe github gitlab octokit twilio slack_sdk")
"""Libraries for services whose functions are named after what the service does."""
SERVICES = ("@aws-sdk/", "@azure/", "@google-cloud/", "@kubernetes/", "@octokit/", "dockerode", "aws-sdk", "mongodb")
"""What the names of libraries of JavaScript for services begin with that name functions so."""
LOOKS = words("get list describe head count exists has show find search read fetch lookup retrieve")
"""Words that names of functions begin with which change nothing, if they do what they are called."""


def only_look(library: str, language: Language | None, trail: Trail) -> bool:
    """Return whether all that is called of a library, by its quoted name, is of a service and named after looking."""
    called = {last for _, last in called_of(library, language, trail)} - BEGINS - OF_ANSWERS
    name = library.strip("“”")
    if language is Language.JAVASCRIPT:
        called = {last for last in called if last[:1].islower() or last.endswith("Command")}  # others make objects
    known = name in NAMED_BY_VERBS or (language is Language.JAVASCRIPT and name.startswith(SERVICES))
    return known and bool(called) and all(WORD.split(one, maxsplit=1)[0].lower() in LOOKS for one in called)


def is_said(library: str, language: Language | None, trail: Trail) -> bool:
    """Return whether nothing is called of a library but what begins and ends what the acts say, or looks."""
    acts = {act.name for act in trail.acts}
    rest = [
        last
        for name, last in called_of(library, language, trail)
        if last not in BEGINS and not any(act.startswith(f"{name}()") for act in acts)
    ]
    return not rest or only_look(library, language, trail)


WORD = expression(r"_|(?<=[a-z0-9])(?=[A-Z])")


def _tells(function: str) -> bool:
    return (function[:1].islower() or function.endswith("Command")) and (
        "_" in function or not function.islower() or function in TELLING
    )


def _named(module: str, plain: str, language: Language | None) -> str:
    """Return the library, quoted; of one that is the language's own the function."""
    top = module.lstrip(".").partition(".")[0] if language is Language.PYTHON else module
    own = is_standard(top) if language is Language.PYTHON else module in _modules_of_javascript()
    return identifier(plain) if own and "." in plain else quoted(top, 30)


def is_known_call(name: str, *, javascript: bool = False) -> bool:
    """Return whether a function that is called has no meaning here because it is the language's own and computes."""
    return _is_known_javascript(name) if javascript else _is_known_python(name)


def _plain(name: str) -> str:
    return name.lstrip("~").replace("()", "").replace("[]", "").rstrip("*")


@lru_cache(4096)
def _is_known_python(name: str) -> bool:
    plain, python = _plain(name), _python()
    if not plain or plain in python.builtins or plain in PRINTS or plain in DATACLASSES:
        return bool(plain)
    parts = plain.split(".")
    for length in range(len(parts) - 1, 0, -1):
        if (module := ".".join(parts[:length])) in python.modules and module not in WITH_FILES:
            return parts[length] in python.modules[module] and python.attributes.issuperset(parts[length + 1 :])
    return parts[-1] in python.attributes and parts[0] not in python.modules


@lru_cache(4096)
def _is_known_javascript(name: str) -> bool:
    parts = _plain(name).split(".")
    return parts[0] in JS_ROOTS or (len(parts) > 1 and parts[-1] in JS_METHODS)


def _only_text(act: Act) -> bool:
    return act.kind != "command" or act.name in TEXT_COMMANDS
