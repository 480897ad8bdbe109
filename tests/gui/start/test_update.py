"""An update of the files while the console is open."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from app.link.background import Errands
from app.look import drawings
from app.start.update import LATER, Update, load_all
from runner.system.places import resources

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest
    from pytestqt.qtbot import QtBot

ROOT = Path(__file__).resolve().parents[3]
ONLY_AT_START = {
    "app.demo.show",
    "app.start.console",
    "app.start.loop",
    "app.start.opening",
    "app.start.selftest",
    "runner.audit.telemetry.otlp",
    "runner.system.log",
}
"""Imported before the window is there, or by another command."""
BY_OTHERS = {"app.files.pixels", "app.files.vector", "runner.commands.cli", "runner.library.packages"}
"""Imported by the process that reads files of runs, by a command, and by programs that use the Python API."""


def statements(body: list[ast.stmt], later: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """Every statement below, and whether it is in a function. No expression holds an import: they are not walked."""
    for node in body:
        yield node, later
        inner = later or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for name in ("body", "orelse", "finalbody"):
            yield from statements(getattr(node, name, []), inner)
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from statements(part.body, inner)


def imported_later() -> set[str]:
    """Modules that the console imports inside functions only."""
    found, early = set(), set()
    for top in ("app", "runner"):
        for file in (ROOT / top).rglob("*.py"):
            if {"commands", "demo", "inside"} & set(file.parts) or file.name == "__main__.py":
                continue
            for node, later in statements(ast.parse(file.read_text("utf-8")).body):
                if isinstance(node, ast.ImportFrom) and node.module:
                    (found if later else early).add(node.module)
    return {name for name in found if name.startswith(("app.", "runner."))} - early


def test_what_is_imported_later_is_loaded_before_an_update_can_come() -> None:
    assert imported_later() - ONLY_AT_START - BY_OTHERS <= set(LATER)


def test_everything_in_the_list_is_there() -> None:
    for name in LATER:
        importlib.import_module(name)


def test_every_drawing_and_the_style_sheet_are_read_before_an_update_can_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    icons = sorted(file.stem for file in (resources() / "icons").glob("*.svg"))
    drawings.drawing.cache_clear()
    drawings.sheet.cache_clear()
    load_all()
    monkeypatch.setattr(drawings, "resources", lambda: tmp_path)
    assert len(icons) > 20
    assert all("<svg" in drawings.drawing(name) for name in icons)
    assert "QWidget" in drawings.sheet()


def test_an_update_is_reported_once(qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "VERSION"
    file.write_text("1.0\n")
    update = Update(Errands("test"), file)
    said: list[str] = []
    update.replaced.connect(said.append)
    update.look()
    assert said == []
    file.unlink()
    update.look()
    assert said == [], "while an update is under way the file is not there"
    (tmp_path / "new").write_text("1.1\n")
    (tmp_path / "new").rename(file)
    update.look()
    update.look()
    assert said == ["1.1"]


def test_the_same_version_installed_again_is_an_update_too(qtbot: QtBot, tmp_path: Path) -> None:
    file = tmp_path / "VERSION"
    file.write_text("1.0\n")
    update = Update(Errands("test"), file)
    said: list[str] = []
    update.replaced.connect(said.append)
    (tmp_path / "new").write_text("1.0\n")
    (tmp_path / "new").rename(file)
    update.look()
    assert said == ["1.0"]


def test_a_checkout_is_not_looked_at(qtbot: QtBot) -> None:
    update = Update(Errands("test"))
    update.begin()
    update.look()
    assert not update._timer.isActive()
