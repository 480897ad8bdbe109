"""What goes to the clipboard: nothing in it commands the terminal that it is pasted into."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QGuiApplication

import app
from app.parts.text.code import CodeView
from app.parts.text.copying import CopyButton
from app.parts.text.pane import OutputPane
from app.parts.text.scrollback import Scrollback
from app.parts.text.to_clipboard import to_clipboard
from runner.sandbox.output import Stream

if TYPE_CHECKING:
    from tests.gui.conftest import Desk

ENDS_PASTING = "print(1)\x1b[201~\u009b201~\nrm -rf ~\n"
SHOWN = "print(1)\u2039U+001B\u203a[201~\u2039U+009B\u203a201~\nrm -rf ~\n"


def clipboard() -> str:
    return QGuiApplication.clipboard().text()


@pytest.mark.parametrize("one", ["\x00", "\x08", "\x1b", "\x7f", "\x80", "\x9b", "\x9f", "\u202e", "\u2066", "\u2028"])
def test_what_commands_a_terminal_is_copied_as_it_is_shown(desk: Desk, one: str) -> None:
    to_clipboard(f"a{one}b")
    assert clipboard() == f"a\u2039U+{ord(one):04X}\u203ab"


def test_a_lone_return_would_enter_a_line_and_line_ends_stay(desk: Desk) -> None:
    to_clipboard("a\rb\r\nc\n\td\u00a0e\u200df")
    assert clipboard() == "a\u2039U+000D\u203ab\r\nc\n\td\u00a0e\u200df"


def test_code_and_its_button_copy_it_so(desk: Desk) -> None:
    code = CodeView(desk.window._look)
    desk.qtbot.addWidget(code)
    code.set_code(ENDS_PASTING, "python")
    code.select_all()
    code.copy()
    assert clipboard() == SHOWN
    button = CopyButton("Copy", "Copy the code")
    desk.qtbot.addWidget(button)
    to_clipboard("")
    button.set_text_to_copy(ENDS_PASTING)
    button.click()
    assert clipboard() == SHOWN


def test_output_copies_it_so(desk: Desk) -> None:
    pane = OutputPane(desk.window._look)
    desk.qtbot.addWidget(pane)
    lines = Scrollback()
    lines.add(Stream.OUT, "a\u009b201~\u202eb\n".encode())
    pane.set_lines(lines)
    pane.select_all()
    pane.copy()
    assert clipboard() == "a\u2039U+009B\u203a201~\u2039U+202E\u203ab"


def test_nothing_else_writes_to_the_clipboard() -> None:
    written = re.compile(r"clipboard\(\)\s*\.\s*set")
    found = {file.name for file in Path(app.__path__[0]).rglob("*.py") if written.search(file.read_text("utf-8"))}
    assert found == {"to_clipboard.py"}
