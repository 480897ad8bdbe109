"""The walls of the house, as tests."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("sandbox", "risk", "audit", "policy")
VALUES = (
    "request",
    "decision",
    "assessment",
    "result",
    "events",
    "lifecycle",
    "errors",
    "places",
    "tasks",
    "submission",
    "kept",
    "workspace",
)
DUMPING_GROUNDS = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager", "managers"}


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of ours by its dotted name."""
    found = {}
    for top in ("runner", "app"):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = ast.parse(path.read_text("utf-8"))
    return found


def imports(name: str, *, typing: bool = True) -> set[str]:
    """What `name` imports, as dotted names; without those under TYPE_CHECKING where `typing` is False."""
    tree = modules()[name]
    if not typing:
        tree = _Untyped().visit(ast.parse(ast.unparse(tree)))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: relative import"
            assert node.module is not None
            inner = {f"{node.module}.{alias.name}" for alias in node.names} & modules().keys()
            found |= inner or {node.module}
    return found


class _Untyped(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.AST:
        under_typing = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return ast.Pass() if under_typing else node


def test_the_runner_knows_no_qt_and_no_window() -> None:
    for name in modules():
        if name.split(".")[0] == "runner":
            tops = {imported.split(".")[0] for imported in imports(name)}
            assert not tops & {"PySide6", "shiboken6", "qasync", "app"}, name


def test_rooms_do_not_know_each_other() -> None:
    for name in modules():
        parts = name.split(".")
        if parts[0] == "runner" and len(parts) > 1 and parts[1] in ROOMS:
            others = {f"runner.{room}" for room in (*ROOMS, "gateway") if room != parts[1]}
            for imported in imports(name):
                assert ".".join(imported.split(".")[:2]) not in others, f"{name} imports {imported}"


@pytest.mark.parametrize("value", VALUES)
def test_values_import_only_values(value: str) -> None:
    allowed = {f"runner.{name}" for name in VALUES}
    ours = {imported for imported in imports(f"runner.{value}") if imported.startswith(("runner", "app"))}
    assert ours <= allowed


def test_there_are_no_cycles() -> None:
    graph = {name: {i for i in imports(name, typing=False) if i in modules() and i != name} for name in modules()}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join((*path[path.index(name) :], name)) if name in path else ""
        if name not in done:
            for after in sorted(graph[name]):
                visit(after, (*path, name))
            done.add(name)

    for name in sorted(graph):
        visit(name, ())


def test_no_module_is_a_dumping_ground() -> None:
    for name in modules():
        assert not set(name.split(".")) & DUMPING_GROUNDS, name


def test_every_module_says_its_job() -> None:
    silent = [name for name, tree in modules().items() if tree.body and not ast.get_docstring(tree)]
    assert not silent


@pytest.mark.parametrize("name", ["runner.gateway.bridge", "runner.cli", "runner", "app.__main__"])
def test_what_must_start_fast_loads_neither_qt_nor_the_sdk(name: str) -> None:
    slow = "('PySide6', 'mcp', 'pydantic')"
    code = f"import {name}, sys; print(*sorted(m for m in sys.modules if m.split('.')[0] in {slow}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_bridge_needs_only_the_standard_library() -> None:
    code = "import runner.gateway.bridge, sys; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    foreign = set(done.stdout.split()) - set(sys.stdlib_module_names) - {"runner", "__main__"}
    assert not foreign


def test_labels_show_plain_text() -> None:
    """Untrusted text must never be taken for rich text (K4): labels are made in one place only."""
    for name, tree in modules().items():
        if name == "app.parts.plain":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"QLabel", "QTextEdit", "QTextBrowser"}, f"{name}:{node.lineno}"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="None is immortal since 3.12")
def test_this_qt_does_not_eat_references_to_none() -> None:
    """PySide6 6.12.0 takes one from None per call that returns it and aborts CPython 3.11; hence the pin."""
    from PySide6.QtCore import QObject

    one = QObject()
    before = sys.getrefcount(None)
    for _ in range(1000):
        one.setObjectName("x")
    assert abs(sys.getrefcount(None) - before) < 100
