"""Names and content that attack the window: what is shown of them is text, bounded, and the window goes on."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QModelIndex, QPoint, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QLabel, QTabWidget, QWidget

from app.parts.text.glyphs import Glyphs
from app.parts.text.output import OutputView
from app.running.panel import RunningPanel
from runner.model.result import CapturedFile, Outcome
from runner.model.shown import hides
from runner.sandbox.output import Stream, Transcript
from tests.gui import feed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtGui import QPainter

    from runner.model.result import Result
    from runner.sandbox.output import OutputNews
    from tests.gui.conftest import Desk

MEGABYTE = 1 << 20
LONGEST = 4096
"""Characters of a line that may be drawn."""
LINK = "http://owned.example/"
PRINTED = {
    "\x1b]0;a title\x07one": "one",
    f"\x1b]8;;{LINK}\x1b\\two\x1b]8;;\x1b\\": "two",
    "\x1b[2J\x1b[H\x1b[1A\x1bcthree": "three",
    "\x1bP1$r0m\x1b\\four\x07\x08\x00": "four",
    f"<b>five</b> <a href='{LINK}'>x</a> <img src='{LINK}'>": f"<b>five</b> <a href='{LINK}'>x</a> <img src='{LINK}'>",
    f"[six]({LINK}) {LINK}": f"[six]({LINK}) {LINK}",
    "\u202enimda\u202c seven": "\u2039U+202E\u203animda\u2039U+202C\u203a seven",
    "ei\u200bg\u2066ht\u3164": "ei\u2039U+200B\u203ag\u2039U+2066\u203aht\u2039U+3164\u203a",
    "\x9b31mnine\u2028x": "\u2039U+009B\u203a31mnine\u2039U+2028\u203ax",
    "t" + "\u0301" * 4 + "en": "t\u0301\u0301\u2039U+0301\u203a\u2039U+0301\u203aen",
}
"""What a program prints, and what is drawn of it."""
TRICK = f"owned<b>owned</b><a href='{LINK}'>owned</a>\u202eowned\u200b\x1b]0;owned\x07&amp;owned"


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that the output pane draws, as they come."""
    lines: list[str] = []

    class Noted(Glyphs):
        def draw(self, painter: QPainter, left: float, baseline: float, room: float = 0.0) -> None:
            lines.append(self._text)
            super().draw(painter, left, baseline, room)

    monkeypatch.setattr("app.parts.text.output_painting.Glyphs", Noted)
    return lines


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[QUrl]:
    """What the desktop is asked to open."""
    urls: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", urls.append)
    return urls


def page_of(desk: Desk, transcript: Transcript | None = None, ended: Result | None = None) -> RunningPanel:
    """The page of runs with a run that prints into `transcript`, or has ended already."""
    desk.window.show_page("Running")
    one = feed.request()
    if transcript is not None:
        desk.bridge.transcripts[one.id] = transcript
    desk.hear(feed.asked(one), feed.decided(one), feed.started(one))
    if ended is not None:
        desk.hear(feed.finished(one, ended))
    page = desk.window.page("Running")
    assert isinstance(page, RunningPanel)
    return page


def test_what_a_program_prints_is_drawn_as_text(desk: Desk, drawn: list[str], opened: list[QUrl]) -> None:
    transcript = Transcript(MEGABYTE)
    transcript.append(Stream.OUT, "\n".join(PRINTED).encode() + b"\n")
    pane = page_of(desk, transcript).output.pane
    desk.qtbot.waitUntil(lambda: len(drawn) >= len(PRINTED))
    assert drawn[: len(PRINTED)] == list(PRINTED.values())
    for row in range(len(PRINTED)):
        at = QPoint(pane._painting.left + 10, row * pane._painting.row_height + 5)
        desk.qtbot.mouseMove(pane.viewport(), at)
        desk.qtbot.mouseClick(pane.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert pane.viewport().cursor().shape() is Qt.CursorShape.IBeamCursor
    assert not opened
    assert "a title" not in desk.window.window().windowTitle()


LINES = {
    "letters": ("#", "#" * LONGEST),
    "bidi controls": ("\u202e", "\u2039U+202E\u203a" * LONGEST),
    "stacked marks": ("a\u0301", "a\u0301" * (LONGEST // 2)),
    "sequences without an end": ("\x1b[38;5;1", ""),
    "colors": ("\x1b[31m#", "#" * (LONGEST // 6)),
}
"""What a line of a megabyte is made of, and what is drawn of it."""


@pytest.mark.parametrize("ended", [False, True])
@pytest.mark.parametrize("kind", LINES)
def test_a_line_of_a_megabyte_is_cut_and_says_so(desk: Desk, drawn: list[str], kind: str, ended: bool) -> None:
    part, expected = LINES[kind]
    line = part * (MEGABYTE // len(part.encode()))
    if ended:
        page_of(desk, ended=feed.result(stdout=line))
    else:
        transcript = Transcript(MEGABYTE)
        transcript.append(Stream.OUT, line.encode())
        page_of(desk, transcript)
    desk.qtbot.waitUntil(lambda: any(" of this line" in one for one in drawn))
    text, _, told = drawn[-1].partition("  \N{HORIZONTAL ELLIPSIS} ")
    assert text == expected
    assert told.endswith(" more bytes of this line")
    assert part != "#" or told.startswith(f"{MEGABYTE - LONGEST:,} ")


class Endless(Transcript):
    """Has more whenever somebody looks, three hundred times."""

    def __init__(self, happened: list[str]) -> None:
        super().__init__(MEGABYTE)
        self._happened = happened

    def since(self, position: int) -> OutputNews:
        self._happened.append("read")
        if self._happened.count("read") < 300:
            self.append(Stream.OUT, FLOOD)
            self.append(Stream.ERR, FLOOD)
        return super().since(position)


FLOOD = "\n".join([*PRINTED, "x" * 5000, "\x1b[31m<b>" * 500, *["y"] * 300]).encode() * 20


def test_the_window_reacts_while_a_program_floods_it(desk: Desk) -> None:
    """However much there is, the window turns to everything else between two looks at it."""
    happened: list[str] = []
    turns = QTimer()
    turns.timeout.connect(lambda: happened.append("turn"))
    turns.start(0)
    transcript = Endless(happened)
    page = page_of(desk, transcript)
    desk.qtbot.waitUntil(lambda: happened.count("read") >= 4)
    desk.qtbot.mouseClick(page.stop, Qt.MouseButton.LeftButton)
    desk.qtbot.keyClicks(page.reason, "enough")
    desk.qtbot.waitUntil(lambda: happened.count("read") >= 8)
    desk.qtbot.keyClick(page.reason, Qt.Key.Key_Return)
    turns.stop()
    assert ("stop", "enough") in {(call[0], call[-1]) for call in desk.bridge.calls}
    story = "".join(one[0] for one in happened)
    assert "rrr" not in story, "the window read on and on without turning to anything else"
    assert "rr" not in story.lstrip("r")
    lines = page.output.pane._lines
    assert lines.end > 20_000
    assert lines.end - lines.first <= 10_002


def test_names_that_attack_are_nothing_but_text(desk: Desk) -> None:
    """Every text of every widget: where a piece of the trick is, it is plain and nothing hides in it."""
    hostile = feed.request(
        f"# {TRICK}\nprint({TRICK!r})\n" + TRICK,
        title=TRICK,
        context=json.dumps({TRICK: TRICK}),
        stdin=TRICK,
        packages=(TRICK,),
    )
    found = feed.finding(1, f"reaches {TRICK}.")
    desk.ask(hostile, feed.assessment(feed.Level.HIGH, found))
    seen = sum(map(_checked, _texts(desk.window.window())))
    run = feed.request(TRICK, title=TRICK)
    files = (CapturedFile(TRICK, 1, "0" * 64), CapturedFile("x" * 4096 + TRICK, 1, "1" * 64))
    bad = feed.result(Outcome.FAILED, TRICK, stderr=TRICK, error=TRICK)
    desk.window.show_page("Running")
    desk.hear(feed.asked(run), feed.decided(run, reason=TRICK), feed.started(run))
    desk.hear(feed.finished(run, replace(bad, files=files, files_left_out=TRICK)))
    page = desk.window.page("Running")
    assert isinstance(page, RunningPanel)
    for tab in range(page.tabs.count()):
        page.tabs.setCurrentIndex(tab)
        desk.qtbot.waitUntil(lambda: not page.files.said.text().startswith("Reading"))
        seen += sum(map(_checked, _texts(desk.window.window())))
    assert seen > 12, "the trick was hardly to be seen"


def _texts(top: QWidget) -> Iterator[tuple[QWidget, str, str]]:
    """(widget, what kind of text, the text) of everything below `top`."""
    for widget in [top, *top.findChildren(QWidget)]:
        yield widget, "tip", widget.toolTip()
        yield widget, "name", widget.accessibleName()
        yield widget, "name", widget.windowTitle()
        if isinstance(widget, OutputView):
            continue
        if isinstance(widget, QLabel):
            yield widget, "label", widget.text()
        if isinstance(widget, QAbstractButton):
            yield widget, "button", widget.text()
        if isinstance(widget, QTabWidget):
            yield from ((widget, "tab", widget.tabText(place)) for place in range(widget.count()))
        if isinstance(widget, QAbstractItemView):
            yield from _cells(widget)


def _cells(view: QAbstractItemView) -> Iterator[tuple[QWidget, str, str]]:
    model = view.model()
    rows = [] if model is None else [(row, 0) for row in range(model.rowCount(QModelIndex()))]
    for row, column in rows:
        index = model.index(row, column)
        yield view, "row", str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        yield view, "row", str(index.data(Qt.ItemDataRole.AccessibleTextRole) or "")
        yield view, "tip", str(index.data(Qt.ItemDataRole.ToolTipRole) or "")


def _checked(found: tuple[QWidget, str, str]) -> bool:
    """Whether the trick is in it; fails where it is more than text."""
    widget, kind, text = found
    if "owned" not in text:
        return False
    where = f"{kind} of {type(widget).__name__} {widget.objectName()}: {text[:200]!r}"
    assert not [one for one in text if hides(one) and one != "\n"], where
    if kind == "tip":
        assert "<b>owned" not in text, where
        assert "<a " not in text, where
    if kind == "label":
        assert widget.textFormat() is Qt.TextFormat.PlainText, where
        assert not widget.openExternalLinks(), where
    return True
