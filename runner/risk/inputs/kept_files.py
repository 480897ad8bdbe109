"""Files of a kept sandbox that a run in it would start, and that nobody reads with the request."""

from __future__ import annotations

import ast
import itertools
import posixpath
from typing import TYPE_CHECKING

from runner.model.assessment import Capability, Finding, Level
from runner.model.expression import expression
from runner.model.language_support import packages_of
from runner.model.modules import is_standard
from runner.model.request import Language
from runner.risk.executing.executing import executes
from runner.risk.executing.executing_shell import calculates, steered
from runner.risk.executing.running import ANYTHING
from runner.risk.inputs.inputs import PLACE
from runner.risk.model.bounds import excerpt
from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE
from runner.risk.python.syntax import as_written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from runner.risk.inputs.used_files import Use
    from runner.risk.model.acts import Act, Place, Trail
    from runner.risk.model.lines import Lines

UNREAD = "kept.unread"
"""Id of the findings."""
MOST = 10
"""Findings of this kind in one request."""
LONGEST = 120
SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/opt/")
"""What an absolute path begins with that no run can write to."""
NODE_MODULES = words(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain "
    "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl "
    "stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib"
)
PACKAGES = words(
    "numpy pandas matplotlib scipy sklearn seaborn PIL cv2 skimage statsmodels sympy networkx requests httpx urllib3 "
    "aiohttp yaml toml tomli lxml bs4 html5lib openpyxl xlrd xlsxwriter docx pptx pypdf reportlab dateutil pytz tzdata "
    "pyarrow polars plotly bokeh altair tqdm rich tabulate click typer pydantic attr attrs psutil cryptography nltk "
    "spacy torch tensorflow keras jax xgboost lightgbm numba shapely geopandas pyproj sqlalchemy markdown chardet "
    "charset_normalizer certifi idna six regex orjson simplejson jsonschema faker humanize more_itertools "
    "sortedcontainers"
)
"""Packages whose modules are never those of the workspace: a run that imports nothing else does not look there."""
CHANGES = frozenset(("append", "copy", "move", "link", "extract", "fetch", "pipe-to", "run"))
"""Acts that may change a file in ways that are not followed."""
UNCHANGING = ANYTHING - {"cp", "mv", "dd"} | words(
    "printf set export unset chmod sh bash dash python python3 node env timeout time exec command"
)
"""Programs that change no file but as an act of its own says."""
SEARCHED = frozenset(("path", "meta_path", "path_hooks", "path_importer_cache", "modules", "*"))
WRITES = expression(r">(?!&[12])|\b(?:cp|mv|tee|rm|touch|mkdir|read|mapfile|readarray|sort|sed|awk|gawk|mawk)\b")
"""What shell code that `executes` takes for harmless may change files with."""


def unread(
    language: Language | None,
    trail: Trail,
    lines: Lines,
    use: Use,
    inner: Sequence[Act],
    installed: frozenset[str] = frozenset(),
    where: str = "kept sandbox",
) -> Iterator[Finding]:
    """Findings about what code of `language` starts of the files of its workspace that are not in `use`.

    `where` is what they lie in, a kept sandbox or a working copy.
    `inner` are the acts of the files in `use`, `installed` the names of installed packages: their files are loaded only
    as they were installed.
    Where no act shows it, Python and JavaScript that may run what they read count as doing so.
    """
    found = list(itertools.islice(_named(language, trail, use, installed), MOST))
    for kind, text, acts in ((language, use.rest, trail.acts), *((*one, inner) for one in use.texts)):
        if kind is Language.SHELL:
            found += [(name, PLACE) for name in steered(text)]
            if not found and (how := calculates(text)):
                found = [(how, PLACE)]
        elif not found and (how := executes(kind, text, acts, writes=False) or _searches(kind, text)):
            found = [(how, PLACE)]
    for kind, file in use.programs:
        # Bash reads a script piece by piece, so that one which writes anything may run something else in the end.
        if kind is Language.SHELL and (how := _rewrites(file.text)):
            found.append((f"{file.path}, which may change while it runs: {how}", PLACE))
    for name, place in found:
        shown = excerpt(name, LONGEST)
        reason = f"Runs, or may run, what lies in the {where} and was not read with this request: {shown}."
        span = lines.place(place)
        yield Finding(UNREAD, Level.CRITICAL, Capability.STARTS_PROCESSES, span, shown, reason, "T1059")


def _searches(language: Language | None, code: str) -> str:
    """Return what in Python code can change where modules are looked for; '' where nothing can."""
    tree = as_written(code) if language is Language.PYTHON else None
    known, plain = {"sys"}, 0
    nodes = list(ast.walk(tree)) if tree is not None else []
    for node in nodes:
        match node:
            case ast.alias("sys", str(name)):
                known.add(name)
            case ast.Attribute(attr="sys"):
                return "sys.path"
            case _:
                pass
    for node in nodes:
        match node:
            case ast.ImportFrom("sys", names) if any(one.name in SEARCHED for one in names):
                return "sys.path"
            case ast.Attribute(ast.Name(name), attr) if name in known and attr not in SEARCHED:
                plain += 1
            case _:
                pass
    return "sys.path" if sum(isinstance(node, ast.Name) and node.id in known for node in nodes) > plain else ""


def _rewrites(script: str) -> str:
    writes = WRITES.search(script)
    return writes[0] if writes is not None else executes(Language.SHELL, script, ())


def _named(language: Language | None, trail: Trail, use: Use, installed: frozenset[str]) -> Iterator[tuple[str, Place]]:
    for at, act in enumerate(trail.acts):
        if act.kind == "start" and act.get("followed").texts:
            trail.budget.spend(at)
            path = act.get("path").text
            name = "" if _wrote_whole(trail.acts[:at], path) else path
        elif act.kind == "import":
            name = "" if act.get("module").text in use.imports else _imported(act, act.language or (language or ""))
            # In the code itself alone: a Python or Node.js that it starts does not look whether they were changed.
            if name and packages_of(language) is not None and act.language in ("", language):
                name = "" if _package(name, language) in installed else name
        else:
            name = CHECKS[act.kind](act) if act.kind in CHECKS else ""
        if name:
            yield name, act.place


def _package(module: str, language: Language | None) -> str:
    """Return the name that a package with this module is known by."""
    if language is Language.PYTHON:
        return module.partition(".")[0]
    return "/".join(module.split("/")[: 2 if module.startswith("@") else 1])


def _started(act: Act) -> str:
    path = act.get("path").text
    if path.startswith(SYSTEM) and ".." not in path:
        return ""
    return path.replace(HOLE, "\N{HORIZONTAL ELLIPSIS}") or "a file whose name is not known"


def _wrote_whole(acts: Sequence[Act], path: str) -> bool:
    """Return whether all that the code did before can only have left the one text that it wrote to `path`."""
    wrote, path = False, posixpath.normpath(path)
    for act in acts:
        moved = wrote and act.name in ("cd", "pushd", "popd")
        itself = posixpath.normpath(act.get("name").text) == path
        changing = act.kind == "command" and act.name not in UNCHANGING and not itself
        if moved or changing or act.kind in CHANGES:
            return False
        if act.kind == "write":
            to = act.get("path").exact
            if to is None or act.get("data").exact is None or act.get("edit").texts:
                return False
            here = posixpath.normpath(to) == path
            if wrote and here:
                return False
            wrote = wrote or here
    return wrote


def _executed(act: Act) -> str:
    code = act.get("code")
    known = bool(code.texts) and not any(HOLE in one for one in code.texts)
    return "" if known else f"a text that {excerpt(act.name, 40)} gets"


def _module(act: Act) -> str:
    return "" if is_standard(act.get("name").text) else act.get("name").text or "a module"


def _imported(act: Act, language: str) -> str:
    name = act.get("module").text
    if language == Language.JAVASCRIPT:
        return "" if name.removeprefix("node:").partition("/")[0] in NODE_MODULES else name or "a module"
    return "" if is_standard(name) or name.partition(".")[0] in PACKAGES else name or "a module"


def _command(act: Act) -> str:
    return act.name if act.get("runs").texts else ""


def _shell(act: Act) -> str:
    return f"{act.name}, which runs what it is given"


CHECKS: dict[str, Callable[[Act], str]] = {
    "start": _started,
    "execute": _executed,
    "module": _module,
    "command": _command,
    "shell": _shell,
}
"""What of an act is not known, by its kind; '' where all of it is."""
