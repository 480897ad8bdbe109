"""Functions of Python that do harm and are handed on, where nobody sees with what they are called."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.model.assessment import Capability, Finding, Level
from runner.model.expression import expression
from runner.risk.outline_data import words
from runner.risk.python.syntax import Unparsed, parse, place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.risk.model.acts import Trail
    from runner.risk.model.lines import Lines

GRAVE = words(
    "shutil.rmtree shutil.move os.remove os.unlink os.rmdir os.removedirs os.system os.popen os.truncate os.rename "
    "os.replace os.chmod os.execv os.execvp subprocess.run subprocess.call subprocess.check_call "
    "subprocess.check_output subprocess.Popen eval exec"
)
"""Functions that delete, replace or start whatever they are given."""
NAMES = expression(rf"\b(?:{'|'.join(sorted({name.rpartition('.')[2] for name in GRAVE}))})\b(?!\s*\()")
"""One of them in a text, where it is not called at once."""


def handed_on(code: str, trail: Trail, lines: Lines) -> Iterator[Finding]:
    """Yield a finding for each of them that a program hands on, and that no act of the trail is of."""
    if NAMES.search(code) is None:
        return
    try:
        tree, _ = parse(code)
    except Unparsed:
        return
    nodes = list(ast.walk(tree))
    modules = _modules(nodes)
    called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
    parts = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    seen = {act.name for act in trail.acts}
    for node in nodes:
        if isinstance(node, ast.Name | ast.Attribute) and id(node) not in called and id(node) not in parts:
            name = _dotted(node, modules)
            own = isinstance(node, ast.Name) and node.id in bound
            if name in GRAVE and name not in seen and not own and isinstance(node.ctx, ast.Load):
                reason = f"Hands on {name}; with what it is called could not be read."
                span = lines.place(place(node))
                yield Finding(
                    "hidden.handed-on", Level.HIGH, Capability.UNREADABLE, span, lines.evidence(span), reason, "CWE-470"
                )


def _modules(nodes: list[ast.AST]) -> dict[str, str]:
    """Return what the names of a program stand for that it has imported."""
    found: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.Import(names):
                found.update((one.asname or one.name, one.name) for one in names)
            case ast.ImportFrom(str(module), names):
                found.update((one.asname or one.name, f"{module}.{one.name}") for one in names)
            case _:
                pass
    return found


def _dotted(node: ast.expr, modules: dict[str, str]) -> str:
    match node:
        case ast.Name(name):
            return modules.get(name, name)
        case ast.Attribute(value=ast.Name(name), attr=attribute):
            return f"{modules.get(name, name)}.{attribute}"
        case _:
            return ""
