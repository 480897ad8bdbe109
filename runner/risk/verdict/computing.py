"""Tells programs that only compute from those that call what is not known here."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from runner.model.language_support import LANGUAGES
from runner.model.modules import is_standard
from runner.model.request import Language
from runner.risk.model.outline_data import words
from runner.risk.verdict.naming import identifier, quoted

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
JS_PRINTS = words("console.log console.info console.error console.warn console.dir process.stdout.write")
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


def printed_in_words(language: Language | None, trail: Trail) -> str:
    """Return what a program prints, in a word; '' where it prints nothing, or where nobody knows."""
    if language is Language.PYTHON:
        return "results" if not trail.called.isdisjoint(PRINTS) else ""
    if language is Language.JAVASCRIPT:
        return "a table" if "console.table" in trail.called else "" if trail.called.isdisjoint(JS_PRINTS) else "text"
    return ""


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
        plain = plain_name(name)
        parts = plain.split(".")
        prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
        module = next((prefix for prefix in prefixes if prefix in loaded), "")
        if module and not plain.startswith("unittest.") and module.partition(".")[0] not in COMPUTES:
            found[_named(module, plain, language)] = None
        if len(found) == MOST_NAMED:
            break
    yield from found


def _named(module: str, plain: str, language: Language | None) -> str:
    """Return the library, quoted; of one that is the language's own the function."""
    top = module.lstrip(".").partition(".")[0] if language is Language.PYTHON else module
    own = is_standard(top) if language is Language.PYTHON else module in _modules_of_javascript()
    return identifier(plain) if own and "." in plain else quoted(top, 30)


def is_known_call(name: str, *, javascript: bool = False) -> bool:
    """Return whether a function that is called has no meaning here because it is the language's own and computes."""
    return _is_known_javascript(name) if javascript else _is_known_python(name)


def plain_name(name: str) -> str:
    """Return the name of a function without the marks of what is called, and of what is an item."""
    return name.lstrip("~").replace("()", "").replace("[]", "").rstrip("*")


@lru_cache(4096)
def _is_known_python(name: str) -> bool:
    plain, python = plain_name(name), _python()
    if not plain or plain in python.builtins or plain in PRINTS or plain in DATACLASSES:
        return bool(plain)
    parts = plain.split(".")
    for length in range(len(parts) - 1, 0, -1):
        if (module := ".".join(parts[:length])) in python.modules and module not in WITH_FILES:
            return parts[length] in python.modules[module] and python.attributes.issuperset(parts[length + 1 :])
    return parts[-1] in python.attributes and parts[0] not in python.modules


@lru_cache(4096)
def _is_known_javascript(name: str) -> bool:
    parts = plain_name(name).split(".")
    return parts[0] in JS_ROOTS or (len(parts) > 1 and parts[-1] in JS_METHODS)


def _only_text(act: Act) -> bool:
    return act.kind != "command" or act.name in TEXT_COMMANDS
