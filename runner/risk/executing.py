"""Finds whether code can run what it reads: whatever runs text, starts programs, or is not understood.

Each answer is the part of the code that can, in a few words; '' where nothing can. In doubt it can.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.model.modules import is_standard
from runner.model.request import Language
from runner.risk.executing_fed import MODULE, fed_calls
from runner.risk.executing_javascript import of_javascript
from runner.risk.executing_shell import of_shell
from runner.risk.model.bounds import excerpt
from runner.risk.model.value import HOLE
from runner.risk.outline_data import words
from runner.risk.python.syntax import Unparsed, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from runner.risk.model.acts import Act

ACTS = words(
    "execute run start starts shell command module native unpickle reduce worker evaluates remote-run container "
    "connect-shell listen-shell builtins-by-class install package-setup schedule"
)
"""What the classifier has found that ends in another program or in more code."""
PUTS = frozenset({"write", "append", "copy", "move", "link", "extract"})
LOADED = expression(r"\.(?:py\w?|pth|so|sh|bash|js|cjs|mjs|node|wasm|pl|rb|php|egg|whl|zip)\Z|\A[^.]*\Z")
"""Files that interpreters load or start by themselves, or that have no ending to tell."""


def executes(language: Language | None, code: str, acts: Iterable[Act], *, writes: bool = True) -> str:
    """Return what in `code` can run a text that it gets; `acts` are those that following it has found. Never raises.

    With `writes`, writing a file that may be a program counts as well.
    """
    try:
        match language:
            case Language.SHELL:
                return of_shell(code)
            case Language.PYTHON:
                return _python(code, acts, writes)
            case Language.JAVASCRIPT:
                return _of_acts(acts, writes) or of_javascript(code)
            case _:
                return "its language is not known"
    except RecursionError:
        return "it is nested too deeply"


def _of_acts(acts: Iterable[Act], writes: bool) -> str:
    for act in acts:
        if act.kind in ACTS:
            return excerpt(act.name, 60) or act.kind
        if writes and act.kind in PUTS:
            path = act.get("path").text.rpartition(HOLE)[2] if act.get("path").texts else ""
            if LOADED.search(path.rpartition("/")[2]):
                return f"{excerpt(act.name, 60)} to a file that may be a program"
    return ""


PYTHON_NAMES = words(
    "exec eval compile __import__ execfile reload globals locals vars breakpoint __builtins__ __annotations__ help"
)
PYTHON_MODULES = words(
    "subprocess commands pty popen2 runpy code codeop pdb bdb importlib imp pkgutil zipimport pickle _pickle cPickle "
    "cloudpickle dill joblib shelve marshal ctypes _ctypes cffi multiprocessing timeit doctest trace profile cProfile "
    "builtins __builtin__ types gc site venv ensurepip pexpect sh plumbum fabric invoke jinja2 mako numexpr sympy "
    "torch IPython pip setuptools distutils antigravity xmlrpc rlcompleter _posixsubprocess posix nt pydoc test"
)
PYTHON_DATA_MODULES = words(
    "__future__ abc argparse array ast asyncio atexit base64 binascii bisect bz2 calendar cmath codecs collections "
    "colorsys concurrent configparser contextlib contextvars copy csv dataclasses datetime decimal difflib email "
    "encodings enum errno fcntl filecmp fileinput fnmatch fractions ftplib functools getopt getpass gettext glob "
    "graphlib grp gzip hashlib heapq hmac html http io ipaddress itertools json keyword linecache locale logging lzma "
    "mailbox math mimetypes mmap ntpath numbers operator os pathlib platform plistlib poplib posixpath pprint pwd "
    "queue quopri random re reprlib resource sched secrets select selectors shlex shutil signal smtplib socket sqlite3 "
    "ssl stat statistics string stringprep struct sys tarfile tempfile textwrap threading time token tokenize tomllib "
    "traceback tracemalloc typing unicodedata urllib uuid warnings wave weakref xml zipfile zlib zoneinfo"
)
"""Modules of Python's library that run nothing they get, except by what the lists here name."""
PYTHON_ATTRIBUTES = words(
    "system popen startfile posix_spawn posix_spawnp create_subprocess_exec create_subprocess_shell subprocess_exec "
    "subprocess_shell eval query exec compile modules meta_path path_hooks exec_module load_module run_path run_module "
    "import_module __import__ __builtins__ __globals__ __code__ __subclasses__ __getattribute__ __dict__ __reduce__ "
    "__reduce_ex__ __setstate__ __loader__ __spec__ __mro__ __base__ __bases__ methodcaller attrgetter unsafe_load "
    "full_load read_pickle enable_load_extension load_extension settrace setprofile displayhook excepthook f_globals "
    "f_builtins gi_frame tb_frame dictConfig fileConfig listen runeval runctx runcode runsource interact "
    "get_type_hints _getframe allow_pickle ForwardRef _evaluate __annotations__ singledispatch singledispatchmethod "
    "get_field make_parser CGIHTTPRequestHandler runstring rundocs"
)
BY_NAME = frozenset({"getattr", "setattr", "delattr"})
PYTHON_PREFIXES = ("exec", "spawn", "fork", "_posix")


def _python(code: str, acts: Iterable[Act], writes: bool) -> str:
    try:
        tree, repaired = parse(code)
    except Unparsed:
        return _of_acts(acts, writes) or "it cannot be parsed"
    fed = frozenset() if repaired else fed_calls(tree)
    if found := _of_acts((one for one in acts if one.kind not in ("run", "command") or one.place not in fed), writes):
        return found
    if repaired:
        return "it is not Python 3"
    asked, called, fixed, modules = 0, 0, _fixed_texts(tree), _imported_names(tree)
    for node in ast.walk(tree):
        if (
            fed
            and isinstance(node, ast.Import)
            and all(one.name == MODULE or not _may_run(one.name) for one in node.names)
        ):
            continue
        if found := _of_python(node) or _private(node, modules) or (_writes(node, fixed) if writes else ""):
            return found
        asked += isinstance(node, ast.Name) and node.id in BY_NAME
        called += isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BY_NAME
    return "getattr" if asked > called else ""


def _of_python(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name) if name in PYTHON_NAMES:
            return name
        case ast.Attribute(value=ast.Name(id="re" | "regex"), attr="compile"):
            return ""
        case ast.Attribute(attr=name) if name in PYTHON_ATTRIBUTES or name.startswith(PYTHON_PREFIXES):
            return name
        case ast.Call(func=ast.Name(id=by), args=[_, ast.Constant(value=str(name)), *_]) if by in BY_NAME:
            return name if name in PYTHON_ATTRIBUTES or name.startswith(("__", *PYTHON_PREFIXES)) else ""
        case ast.Call(func=ast.Name(id=by)) if by in BY_NAME:
            return f"{by} with a name that is not fixed"
        case ast.Call(func=ast.Attribute(value=ast.Name(id="yaml"), attr="load" | "load_all")):
            return "yaml.load"
        case ast.keyword(arg="allow_pickle"):
            return "allow_pickle"
        case ast.Import(names=names):
            return next((one.name for one in names if _may_run(one.name)), "")
        case ast.ImportFrom(module=module, names=names):
            if _may_run(module or ""):
                return module or ""
            forbidden = PYTHON_ATTRIBUTES | PYTHON_MODULES | {"*"}
            if module in ("re", "regex"):
                return ""
            bad = (one.name for one in names if one.name in forbidden or one.name.startswith(("_", *PYTHON_PREFIXES)))
            return "" if module == "__future__" else next(bad, "")
        case _:
            return ""


def _may_run(module: str) -> bool:
    """Return whether something in a module may run a text; of Python's library only few are known not to."""
    name = module.partition(".")[0]
    if name in PYTHON_DATA_MODULES:
        return False
    return name in PYTHON_MODULES or is_standard(name) or name.startswith("_")


def _imported_names(tree: ast.Module) -> frozenset[str]:
    """Return the names under which the code has modules."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return frozenset(one.asname or one.name.partition(".")[0] for node in imports for one in node.names)


def _private(node: ast.AST, modules: frozenset[str]) -> str:
    """Return what the code takes of a module that is not meant for others: many a helper there starts programs."""
    if not isinstance(node, ast.Attribute) or not node.attr.startswith("_"):
        return ""
    value = node.value
    while isinstance(value, ast.Attribute):
        value = value.value
    named = isinstance(value, ast.Name) and value.id in modules
    return node.attr if named and node.attr not in ("__name__", "__version__", "__doc__", "__file__") else ""


def _fixed_texts(tree: ast.Module) -> dict[str, str]:
    """Return the names that stand for one text all the time."""
    stored: Counter[str] = Counter()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                stored[name] += 1
            case _:
                pass
    found = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(known))) if stored[name] == 1:
                found[name] = known
            case _:
                pass
    return found


def _writes(node: ast.AST, fixed: Mapping[str, str]) -> str:
    """Return a file opened for writing that may be one that a later import loads."""
    match node:
        case ast.Call(func=ast.Name(id="open") | ast.Attribute(attr="open"), args=[path, *more], keywords=named):
            modes = [*more[:1], *(one.value for one in named if one.arg == "mode")]
            reads = all(isinstance(mode, ast.Constant) and not set(str(mode.value)) & set("wax+") for mode in modes)
            ending = _ending(path, fixed)
            if not reads and (ending is None or LOADED.search(ending.rpartition("/")[2])):
                return "open for writing a file that may be a program"
        case _:
            pass
    return ""


def _ending(path: ast.expr, fixed: Mapping[str, str]) -> str | None:
    """Return how a path ends for sure; None where that is not known."""
    match path:
        case ast.Constant(value=str(known)):
            return known
        case ast.Name(id=name):
            return fixed.get(name)
        case ast.JoinedStr(values=[*_, last]) | ast.BinOp(op=ast.Add() | ast.Div(), right=last):
            return _ending(last, fixed)
        case ast.Call(func=ast.Name(id="str" | "Path") | ast.Attribute(attr="join" | "Path"), args=[*_, last]):
            return _ending(last, fixed)
        case _:
            return None
