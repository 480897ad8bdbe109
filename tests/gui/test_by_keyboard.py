"""The path from request to result by keyboard alone, as it is read aloud where the focus is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QApplication, QWidget

from runner.model.assessment import Level
from runner.model.result import CapturedFile
from runner.model.verdict import RiskVerdict
from tests.gui import feed

if TYPE_CHECKING:
    from tests.gui.conftest import Desk

CODE = "total = 3\nprint(total)"
SENTENCE = "Computes and prints; touches no files, no network."
NONE = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier


def here() -> QWidget:
    focus = QApplication.focusWidget()
    assert focus is not None, "no key would reach anything"
    return focus


def press(key: Qt.Key, with_: Qt.KeyboardModifier = NONE) -> str:
    """Press a key where the focus is, and return what is read where it is then."""
    QTest.keyClick(here(), key, with_)
    feed.turn()
    return read()


def read() -> str:
    """Return what a screen reader says of what has the focus: a row in a list, else the widget."""
    focus = here()
    interface = QAccessible.queryAccessibleInterface(focus)
    if isinstance(focus, QAbstractItemView) and focus.currentIndex().isValid():
        interface = interface.focusChild() or interface
    texts = [
        interface.text(kind) for kind in (QAccessible.Text.Name, QAccessible.Text.Value, QAccessible.Text.Description)
    ]
    return "\n".join(text for text in texts if text)


def tab_until(wanted: str) -> str:
    """Go on by Tab until what is read has `wanted` in it."""
    heard = []
    for _ in range(60):
        if wanted in (said := press(Qt.Key.Key_Tab)):
            return said
        heard.append(said)
    raise AssertionError("\n---\n".join((wanted, *heard)))


def test_a_request_is_read_decided_and_its_result_read_by_keys_alone(desk: Desk) -> None:
    desk.window.show_page("Help")
    verdict = RiskVerdict(SENTENCE)
    found = feed.assessment(Level.HIGH, feed.finding(2, "Prints a number.", Level.HIGH))
    one = desk.ask(feed.request(CODE, title="Add up"), replace(found, verdict=verdict))
    press(Qt.Key.Key_1, CONTROL)
    row = tab_until("“Add up”")
    assert row.startswith(f"HIGH, {SENTENCE.partition(';')[0]}"), (
        "what it would do stands before what the agent calls it"
    )
    assert "Empty sandbox" in tab_until("to claude-code")
    assert "total = 3" in tab_until("2 lines, 1 finding")
    assert "Line 2: print(total). High: Prints a number." in press(Qt.Key.Key_N)
    assert "Edit" in tab_until("before approving")
    desk.rested()
    press(Qt.Key.Key_A)
    assert desk.answers == [("approve", one.id, one.digest)]
    done = replace(feed.result(stdout="3\n"), files=(CapturedFile("sum.csv", 40, "0" * 64, 1.0),), value={"total": 3})
    desk.hear(feed.decided(one), feed.started(one), feed.finished(one, done))
    feed.turn()
    heard = read()
    for wanted in ("What became of the request", "Computes and prints.", "“Add up”", "Ended after", "It left 1 file."):
        assert wanted in heard, heard
    assert tab_until("Output, 1 line").endswith("\n3")
    row = press(Qt.Key.Key_2, CONTROL)
    assert row.startswith("Computes and prints, “Add up”") and row.endswith("1 file"), row
    assert "sum.csv under Files" in tab_until("sum.csv")
    assert tab_until("Output, 1 line").endswith("\n3")
