"""The editor of the code of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtTest import QTest

from app.review.editor import CodeEditor

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look


def test_what_is_typed_into_long_code_is_passed_on(look: Look, qtbot: QtBot) -> None:
    """Its colors come in several steps, and Qt says of each that the text was changed."""
    editor = CodeEditor(look)
    qtbot.addWidget(editor)
    editor.resize(600, 400)
    editor.show()
    editor.open(
        "\n".join(f"value_{number} = [str({number}), 'text', None]  # note" for number in range(1500)), "python"
    )
    with qtbot.waitSignal(editor.changed) as passed_on:
        QTest.keyClicks(editor, "x")
    assert passed_on.args[0].startswith("xvalue_0")
    qtbot.waitUntil(lambda: editor._colors._lexing._work is None)
