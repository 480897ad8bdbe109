"""The reasons for which Python may run a text that it is handed, or start a program with it.

The names that do are in `resources/rules/running.yaml`.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from runner.model.modules import is_standard
from runner.risk.executing.executing_fed import MODULE
from runner.risk.model.outline_data import LOADED, words
from runner.risk.python.syntax import Unparsed, parse
from runner.risk.rules.knowledge import table

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_PYTHON = table()["running"]["python"]
PYTHON_NAMES = words(OF_PYTHON["names"])
PYTHON_MODULES = words(OF_PYTHON["modules"])
PYTHON_DATA_MODULES = words(OF_PYTHON["data-modules"])
"""Modules of Python's library that run nothing they get, except by what the lists here name."""
PYTHON_ATTRIBUTES = words(OF_PYTHON["attributes"])
BY_NAME = frozenset({"getattr", "setattr", "delattr"})
PYTHON_PREFIXES = ("exec", "spawn", "fork", "_posix")


def of_python(code: str, writes: bool, *, fed: bool) -> str:
    """Return why `code` may run what it is handed, or '' where it only reads it; with `writes`, or write a program.

    `fed` says that it uses the module of processes only to feed a text to a fixed command.
    """
    try:
        tree, repaired = parse(code)
    except Unparsed:
        return "it cannot be parsed"
    if repaired:
        return "it is not Python 3"
    asked, called, fixed, modules = 0, 0, _fixed_texts(tree), _imported_names(tree)
    for node in ast.walk(tree):
        if (
            fed
            and isinstance(node, ast.Import)
            and not any(one.name != MODULE and _may_run(one.name) for one in node.names)
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
