"""Calls of Python's `subprocess` that only feed a text to a fixed command which runs nothing of what it reads."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.risk.executing.running import takes_data
from runner.risk.model.outline_data import words
from runner.risk.python.syntax import Unparsed, parse

if TYPE_CHECKING:
    from runner.risk.model.acts import Place

MODULE = "subprocess"
STARTS = words("run call check_call check_output")
FACTS = words("PIPE DEVNULL STDOUT CalledProcessError TimeoutExpired CompletedProcess SubprocessError")
OPTIONS = words(
    "input stdin stdout stderr text encoding errors capture_output check timeout universal_newlines bufsize"
)
"""Arguments that change neither which program is started nor what it obeys."""
STEERING = words("environ environb putenv chdir fchdir chroot")
"""Names of what changes which program a name stands for, or what it obeys."""
FOLDERS = ("/usr/bin/", "/bin/")


def fed_calls(code: str) -> frozenset[Place]:
    """Return the places of such calls in Python; nothing where the module is used in any other way, or unreadable."""
    try:
        tree, repaired = parse(code)
    except Unparsed:
        return frozenset()
    if repaired:
        return frozenset()
    plain: set[ast.AST] = set()
    calls = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name) as used)) if name == MODULE and _is_fed(node):
                plain.add(used)
                calls.append(node)
            case ast.Attribute(value=ast.Name(id=name) as used, attr=attr) if name == MODULE and attr in FACTS:
                plain.add(used)
            case ast.ImportFrom(module=module) if (module or "").partition(".")[0] == MODULE:
                return frozenset()
            case ast.Attribute(attr=attr) | ast.alias(name=attr) if attr in STEERING:
                return frozenset()
            case ast.Import(names=names) if any(one.name == MODULE and one.asname for one in names):
                return frozenset()
    if any(isinstance(node, ast.Name) and node.id == MODULE and node not in plain for node in ast.walk(tree)):
        return frozenset()
    return frozenset((one.lineno, one.col_offset, one.end_lineno or 0, one.end_col_offset or 0) for one in calls)


def _is_fed(call: ast.Call) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr=attr), args=[ast.List(elts=parts) | ast.Tuple(elts=parts)]):
            pass
        case _:
            return False
    given = [one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if attr not in STARTS or not given or len(given) != len(parts):
        return False
    if any(one.arg not in OPTIONS for one in call.keywords):
        return False
    folder = next((one for one in FOLDERS if given[0].startswith(one)), "")
    program = given[0].removeprefix(folder)
    return "/" not in program and takes_data(program, given[1:])
