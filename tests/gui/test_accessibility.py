"""The window for those who hear it, use it by keyboard, need large text, or get ill from what moves."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from jeepney import MessageType
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAccessible, QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QWidget,
)

from app.chrome.announcing import Announcing
from app.link.background import Errands
from app.look import motion
from app.look.look import Look, Motion, Theme
from app.look.tokens import contrast
from app.parts.elide import ElidedLabel
from app.parts.fold import Room, in_sight, reveal, reveal_end
from app.parts.roles import SpokenNews, announce
from app.parts.text.code import CodeView
from app.start.console import _scale
from runner.model.assessment import Level
from runner.model.events import ModeChanged
from runner.model.verdict import RiskVerdict
from runner.sandbox.output import Stream, Transcript
from runner.system.clock import since_boot
from tests.gui import feed, record
from tests.gui.conftest import scaled
from tests.gui.scenes import shots
from tests.gui.seeing import to_the_end

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from runner.system.places import Places
    from tests.gui.conftest import Desk

Role = QAccessible.Role
SPEAKING = frozenset(
    {
        Role.Button, Role.ButtonMenu, Role.CheckBox, Role.RadioButton, Role.ComboBox, Role.EditableText, Role.SpinBox,
        Role.PageTabList, Role.PageTab, Role.Link, Role.List, Role.ListItem, Role.Table, Role.Document, Role.Terminal,
        Role.Chart, Role.ProgressBar, Role.AlertMessage, Role.Dialog,
    }
)  # fmt: skip
"""Roles that mean nothing without a name."""
SEEN = 20
"""Pixels that must change by 3 to 1 for the focus to be seen."""


class Stage:
    """A window with three agents, requests of every level, a run, a history and rules, and a way through all of it."""

    def __init__(self, qtbot: QtBot, look: Look, places: Places) -> None:
        self.qtbot = qtbot
        record.ledger(places.ledger, record.many(5))
        self.scene = shots.Scene(look, places)
        self.window = self.scene.window
        self.frame = self.window.frame
        qtbot.addWidget(self.frame)
        self.frame.resize(960, 600)
        with qtbot.waitActive(self.frame):
            self.frame.show()
        shots.waiting(self.scene)
        self._run()
        shots.remembered(self.scene)
        self.window.show_page("Queue")

    def _run(self) -> None:
        one = feed.request("for n in range(9): print(n)", title="Count")
        transcript = Transcript(1 << 20)
        transcript.append(Stream.OUT, b"a line of output\n" * 60)
        self.scene.bridge.transcripts[one.id] = transcript
        self.scene.hear(feed.asked(one), feed.decided(one), feed.started(one), feed.measured(one, 1.0))

    def show(self, level: Level) -> None:
        """Put a request of `level` under review."""
        card = next(card for card in self.scene.cases.waiting() if card.level is level)
        self.window.deciding.show_request(card.id)

    def open(self, name: str) -> Any:
        """The page `name`, when everything is on it."""
        self.window.show_page(name)
        page: Any = self.window.page(name)
        if name == "Settings":
            self.qtbot.waitUntil(lambda: page.form is not None)
        elif name == "History":
            self.qtbot.waitUntil(lambda: page.detail.record is not None)
        return page

    def dialog(self, act: Callable[[], None]) -> Any:
        """What `act` opens."""
        act()
        found = next(one for one in self.window.findChildren(QDialog) if one.isVisible())
        self.qtbot.waitUntil(found.isActiveWindow)
        return found

    def tour(self) -> Iterator[tuple[str, QWidget]]:
        """Every page and dialog in turn, by name, with the window that shows it."""
        for level in Level:
            self.show(level)
            QApplication.processEvents()
            yield level.name, self.frame
        review = self.window.deciding.review
        review.answering.ask_reason()
        yield "reason", self.frame
        review.page.foot.denial.back.emit()
        for name in ("Running", "History", "Agents", "Rules", "Settings", "Doctor", "Help"):
            self.open(name)
            QApplication.processEvents()
            yield name, self.frame
        self.window.show_page("Queue")
        self.show(Level.LOW)
        for name, act in self._dialogs().items():
            dialog = self.dialog(act)
            QApplication.processEvents()
            yield name, dialog
            dialog.reject()
            self.frame.activateWindow()
            self.qtbot.waitUntil(self.frame.isActiveWindow)

    def _dialogs(self) -> dict[str, Callable[[], None]]:
        ids = tuple(card.id for card in self.scene.cases.waiting())
        return {
            "palette": self.window.commands.open_palette,
            "keys": self.window.commands.open_keys,
            "question": self.window.overall.stop_all,
            "remember": self.window._remember_shown,
            "batch": lambda: self.window.deciding._ask_batch(ids),
        }

    def close(self) -> None:
        built: Any = self.window.pages._pages
        readers = [built["Rules"].trial.reader] if "Rules" in built else []
        if "History" in built:
            readers += [built["History"]._reader, built["History"].list._reader]
        for worker in (*self.window.findChildren(Errands), *readers):
            worker.close()


@pytest.fixture
def stage(qtbot: QtBot, look: Look, places: Places) -> Iterator[Stage]:
    made = Stage(qtbot, look, places)
    yield made
    made.close()


# A look is changed while there is no window: changing every page of one takes seconds. So `qtbot`, which closes the
# windows, comes after what changes the look, and goes before it.


@pytest.fixture(params=[Theme.LIGHT, Theme.DARK], ids=str)
def theme(request: pytest.FixtureRequest, look: Look) -> Iterator[Theme]:
    look.choose(request.param)
    yield request.param
    _windows_gone()
    look.choose(Theme.LIGHT)


@pytest.fixture
def double(look: Look) -> Iterator[Look]:
    """A look with 200 % text."""
    with scaled(look, 2.0) as double:
        yield double


def _windows_gone() -> None:
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def large(double: Look, qtbot: QtBot, places: Places) -> Iterator[Stage]:
    """The stage at 200 % text."""
    made = Stage(qtbot, double, places)
    yield made
    made.close()


# ---- for those who hear it ----


def spoken(interface: Any) -> Iterator[Any]:
    """Everything inside that a screen reader would come to."""
    for number in range(interface.childCount()):
        child = interface.child(number)
        if child is None or not child.isValid() or child.state().invisible:
            continue
        yield child
        if child.role() not in (Role.Table, Role.List):
            yield from spoken(child)


def wrong_with(child: Any) -> str:
    widget, state, name = child.object(), child.state(), child.text(QAccessible.Text.Name).strip()
    if child.role() in SPEAKING and not name:
        return "no name"
    if "<span" in child.text(QAccessible.Text.Description):
        return "its description is markup"
    if not isinstance(widget, QWidget) or widget.focusProxy() is not None:
        return ""
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus and not name:
        return "takes the focus without a name"
    if bool(state.disabled) is widget.isEnabled():
        return "the state does not say whether it can be used"
    if isinstance(widget, QAbstractButton) and widget.isCheckable() and bool(state.checked) is not widget.isChecked():
        return "the state does not say whether it is checked"
    return ""


def test_everything_has_name_role_and_state_and_no_words_are_cut_off(stage: Stage) -> None:
    wrong: set[tuple[str, ...]] = set()
    seen = 0
    for name, top in stage.tour():
        for child in spoken(QAccessible.queryAccessibleInterface(top)):
            seen += 1
            if why := wrong_with(child):
                wrong.add((name, type(child.object()).__name__, why))
        wrong |= {(name, *what) for what in lost(top)}
        assert not any(room.verticalScrollBar().maximum() for room in top.findChildren(Room)), name
    assert wrong == set()
    assert seen > 500


def test_what_paints_itself_says_what_it_shows(stage: Stage) -> None:
    def said(widget: QWidget) -> tuple[str, Role]:
        interface = QAccessible.queryAccessibleInterface(widget)
        return interface.text(QAccessible.Text.Name), interface.role()

    stage.show(Level.CRITICAL)
    review = stage.window.deciding.review
    assert said(review.page.header.badge) == ("Risk CRITICAL", Role.StaticText)
    ring, role = said(review.page.header.ring)
    assert ring.endswith(" s left") and role == Role.StaticText
    assert said(review.page.reading.code) == ("Code, shell, 1 line, 1 finding", Role.Document)
    assert "rm -rf" in QAccessible.queryAccessibleInterface(review.page.reading.code).text(QAccessible.Text.Description)
    name, role = said(review.page.foot.approve)
    assert name and role == Role.Button
    running = stage.open("Running")
    assert said(running.meters.memory) == ("Memory: 60 MB of 512 MB, peak 60 MB", Role.Chart)
    assert said(running.output.pane)[1] == Role.Terminal


def test_rows_are_read_as_sentences(stage: Stage) -> None:
    table = QAccessible.queryAccessibleInterface(stage.window.deciding.queue.view)
    rows = [table.child(number).text(QAccessible.Text.Name) for number in range(table.childCount())]
    row = next(row for row in rows if "CRITICAL" in row)
    assert row.startswith("CRITICAL, ")
    title = "\N{LEFT DOUBLE QUOTATION MARK}rm -rf ~/build ~/ && make deploy\N{RIGHT DOUBLE QUOTATION MARK}"
    assert f", {title}, codex, Bash, " in row, "what the agent calls it comes after what it would do, and in quotes"
    assert row.endswith(" s left")


def test_a_request_that_is_the_only_one_or_critical_is_announced_and_others_are_not(desk: Desk) -> None:
    said: list[str] = []
    announcing = Announcing(desk.cases, desk.window, lambda _window, words: said.append(words))
    desk.ask(feed.request("print(1)"), feed.assessment(Level.HIGH))
    announcing._settled.timeout.emit()
    assert len(said) == 1
    assert said[0].startswith("Request by claude-code: No findings, Code is run, "), "it has opened on the screen"
    focus = QApplication.focusWidget()
    desk.ask(feed.request("print(2)"), feed.assessment(Level.HIGH))
    announcing._settled.timeout.emit()
    assert len(said) == 1, "it waits behind the other"
    desk.ask(feed.request("rm -rf /", "codex", title="Remove all"), feed.assessment(Level.CRITICAL))
    assert len(said) == 1 and announcing._settled.isActive(), "what comes in a flood is not spoken"
    announcing._settled.timeout.emit()
    assert len(said) == 2
    assert said[1].startswith("CRITICAL request by codex: Code is run, ")
    gone = desk.ask(feed.request("rm -rf /", "codex"), feed.assessment(Level.CRITICAL))
    desk.hear(feed.decided(gone))
    announcing._settled.timeout.emit()
    assert len(said) == 2, "it waits no more"
    assert QApplication.focusWidget() is focus
    assert desk.answers == []
    announcing.deleteLater()


def test_what_only_holds_pages_has_no_role_to_be_spoken(desk: Desk) -> None:
    stack = desk.page.foot
    interface = QAccessible.queryAccessibleInterface(stack)
    assert interface.role() is Role.Client
    shown = [one for number in range(interface.childCount()) if not (one := interface.child(number)).state().invisible]
    assert [one.object() for one in shown] == [stack.currentWidget()] or not desk.page.isVisible()


def test_news_is_a_notification_that_comes_on_the_screen_each_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """What Orca 43 speaks: it knows no other event for news."""
    announce(desk.page.foot, "Nothing listens")
    assert desk.window.window().findChild(SpokenNews) is None or QAccessible.isActive()
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    focus = QApplication.focusWidget()
    shown: list[tuple[str, bool]] = []
    for words in ("One request", "One request"):
        announce(desk.page.foot, words)
        news = desk.window.window().findChild(SpokenNews)
        assert news is not None
        spoken = QAccessible.queryAccessibleInterface(news)
        shown.append((spoken.text(QAccessible.Text.Name), news.isVisible()))
        assert spoken.role() is Role.Notification
    assert shown == [("One request", True)] * 2
    assert len(desk.window.window().findChildren(SpokenNews)) == 1
    assert news.size() == QSize(1, 1) and QApplication.focusWidget() is focus


def read_aloud(top: QWidget) -> list[str]:
    """What a screen reader says of all that is to be seen, in the order of the tree: name, then what describes it."""
    said: list[str] = []
    todo = [QAccessible.queryAccessibleInterface(top)]
    while todo:
        one = todo.pop()
        if one is None or not one.isValid() or one.state().invisible:
            continue
        texts = [one.text(kind) for kind in (QAccessible.Text.Name, QAccessible.Text.Value)]
        if isinstance(one.object(), CodeView) or one.role() is Role.Terminal:
            texts.append(one.text(QAccessible.Text.Description))
        said += [text for text in dict.fromkeys(texts) if text]
        todo += [one.child(number) for number in reversed(range(one.childCount()))]
    return said


def test_the_path_from_request_to_result_is_read_as_it_is(desk: Desk) -> None:
    """Names and values are those of the request and the run at hand, before and after the decision."""
    code = "total = 3\nprint(total)"
    verdict = RiskVerdict("Computes and prints; touches no files, no network.")
    one = desk.ask(feed.request(code, title="Add up"), replace(feed.assessment(Level.HIGH), verdict=verdict))
    desk.rested()
    before = read_aloud(desk.review)
    for wanted in (
        "Request: Add up",
        verdict.sentence,
        "Code, python, 2 lines",
        "Line 1: total = 3",
    ):
        assert any(wanted in text for text in before), "\n".join((wanted, "---", *before))
    whole = read_aloud(desk.window)
    order = ["Mode: ", "Queue", "Waiting", "Request: ", verdict.sentence, "Code, python", "Deny", "Approve once"]
    places = [next(n for n, text in enumerate(whole) if text.startswith(one)) for one in order]
    assert places == sorted(places), [whole[place] for place in places]
    assert any(text.startswith("Deny") for text in before) and any(text.startswith("Approve once") for text in before)
    assert any(one.digest[:8] in text for text in before)
    desk.qtbot.mouseClick(desk.page.foot.approve, Qt.MouseButton.LeftButton)
    assert desk.answers == [("approve", one.id, one.digest)]
    desk.hear(feed.decided(one), feed.started(one), feed.finished(one, feed.result(stdout="3\n")))
    desk.window.show_page("Running")
    after = read_aloud(desk.window.page("Running"))
    assert any(verdict.sentence.partition(";")[0] in text for text in after), after
    assert any(line == "3" for text in after for line in text.split("\n")), "\n".join(after)
    assert not any(text.startswith("Approve once") for text in read_aloud(desk.window))


# ---- by keyboard ----


def pressed(key: Qt.Key) -> list[QWidget]:
    """Where the focus goes until it is where it began."""
    first = QApplication.focusWidget()
    assert first is not None
    found = [first]
    for _ in range(150):
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, key, Qt.KeyboardModifier.NoModifier)
        now = QApplication.focusWidget()
        assert now is not None
        assert in_sight(now.viewport() if isinstance(now, QAbstractScrollArea) else now), now
        if now is first:
            return found
        if now is not found[-1]:
            found.append(now)
    raise AssertionError("The focus never comes back.")


@pytest.mark.parametrize("name", ["Queue", "Agents", "History"])
def test_tab_goes_as_one_reads_and_back_again(stage: Stage, name: str) -> None:
    page = stage.open(name)
    stage.frame.resize(1280, 800)
    stage.window.toolbar.mode.setFocus(Qt.FocusReason.TabFocusReason)
    # Once through first: a list that gets the focus chooses a row, and buttons come to be of use.
    pressed(Qt.Key.Key_Tab)
    forth = pressed(Qt.Key.Key_Tab)
    back = pressed(Qt.Key.Key_Backtab)
    assert [*forth[:1], *reversed(forth[1:])] == back
    # The toolbar, the page on the rail, the page.
    inside = [widget for widget in forth if page.isAncestorOf(widget)]
    assert forth[-len(inside) :] == inside
    assert forth[-len(inside) - 1].accessibleName().startswith(name)
    for column in columns(page, inside):
        tops = [widget.mapTo(stage.frame, QPoint()).y() for widget in column]
        assert all(after >= before - 6 for before, after in pairwise(tops)), column


def columns(page: Any, inside: list[QWidget]) -> list[list[QWidget]]:
    """What stands below each other: parts that stand side by side are read one after the other."""
    if hasattr(page, "queue"):
        parts = [page.queue]
        reading = page.review.page.reading
        assert inside.index(reading.tabs) < inside.index(reading.code) < inside.index(page.review.page.foot.edit)
    elif hasattr(page, "detail"):
        parts = [page.list, *page.detail.results.cards, page.detail]
    else:
        parts = []
    found: list[list[QWidget]] = []
    for part in parts:
        found.append([one for one in inside if part.isAncestorOf(one) and not any(one in column for column in found)])
    rest = [widget for widget in inside if widget not in parts and not any(widget in column for column in found)]
    return [*found, rest]


def test_reason_and_dialogs_are_gone_through_as_they_are_read(stage: Stage) -> None:
    review = stage.window.deciding.review
    review.answering.ask_reason()
    names = [widget.accessibleName() for widget in pressed(Qt.Key.Key_Tab)]
    chips = [place for place, name in enumerate(names) if name.startswith("Reason: ")]
    # It begins in the field, and the reasons that can be chosen stand right before it.
    assert chips == list(range(len(names) - 4, len(names)))
    review.page.foot.denial.back.emit()
    stage.show(Level.LOW)
    dialog = stage.dialog(stage.window._remember_shown)
    found = pressed(Qt.Key.Key_Tab)
    assert found[0] is dialog.cancel
    assert found[-1] is dialog.view
    dialog.reject()


def test_the_focus_can_be_seen_in_both_themes(theme: Theme, look: Look, stage: Stage) -> None:
    assert look.dark is (theme is Theme.DARK)
    unseen = set()
    known: set[tuple[object, ...]] = set()
    for name, top in stage.tour():
        for widget in top.findChildren(QWidget):
            kind = (type(widget).__name__, widget.property("kind"), widget.property("checked"))
            if kind not in known and reachable(widget):
                known.add(kind)
                if changed(top, widget) < SEEN:
                    unseen.add((name, *kind))
    assert len(known) > 20
    assert unseen == set()


def reachable(widget: QWidget) -> bool:
    tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.focusProxy() is None
    return tab and widget.isVisible() and widget.isEnabled() and in_sight(widget)


def changed(top: QWidget, widget: QWidget) -> int:
    """Pixels in and around `widget` that stand out by 3 to 1 from what they were before it had the focus."""
    if (focus := QApplication.focusWidget()) is not None:
        focus.clearFocus()
    reveal(widget)
    corner = widget.mapTo(top, QPoint()) - QPoint(3, 3)
    room = QRect(corner, (widget.size() + QSize(6, 6)).boundedTo(QSize(130, 80)))
    if isinstance(widget, QAbstractItemView) and widget.currentIndex().isValid():
        widget.scrollTo(widget.currentIndex())
        row = widget.visualRect(widget.currentIndex())
        room = QRect(widget.viewport().mapTo(top, row.topLeft()), row.size().boundedTo(QSize(130, 80)))
    before = pixels(top, room)
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    after = pixels(top, room)
    pairs = Counter(zip(before, after, strict=True))
    changes = {pair: count for pair, count in pairs.items() if pair[0] != pair[1]}
    return sum(count for pair, count in changes.items() if contrast(*(QColor(one).name() for one in pair)) >= 3)


def pixels(top: QWidget, room: QRect) -> list[int]:
    image = top.grab(room).toImage().convertToFormat(QImage.Format.Format_RGB32)
    return memoryview(image.constBits()).cast("I").tolist()  # type: ignore[arg-type]


# ---- at 200 % text ----


def cut_off(widget: QWidget) -> bool:
    """Whether words on it have less room than they need and nothing says the rest."""
    need, has = widget.sizeHint(), widget.size()
    if isinstance(widget, (ElidedLabel, QComboBox)):
        return has.height() < need.height() - 2
    if isinstance(widget, QLabel):
        if widget.wordWrap():
            need = QSize(0, widget.heightForWidth(widget.width()))
        small = has.width() < need.width() - 2 or has.height() < need.height() - 2
        return bool(widget.text()) and not widget.toolTip() and small
    if isinstance(widget, QLineEdit):
        return has.height() < widget.minimumSizeHint().height() - 2
    if isinstance(widget, QAbstractButton) and widget.text():
        # The rail of pages shows icons alone where it is low; the tool tip has the name.
        bare = widget.property("kind") == "page"
        return not bare and (has.height() < need.height() - 2 or has.width() < need.width() - 2)
    return False


def lost(top: QWidget) -> Iterator[tuple[str, str]]:
    for widget in top.findChildren(QWidget):
        parent = widget.parentWidget()
        if not widget.isVisible() or parent is None or isinstance(parent, (QComboBox, QLineEdit)):
            continue
        if cut_off(widget):
            yield type(widget).__name__, widget.property("text") or widget.accessibleName()
        inside = parent.rect().adjusted(-2, -2, 2, 2).contains(widget.geometry())
        scrolled = parent.objectName() == "qt_scrollarea_viewport" or isinstance(parent, QAbstractScrollArea)
        if not inside and not scrolled and not widget.isWindow():
            yield type(widget).__name__, "stands outside"


def test_large_text_is_not_cut_off_at_960x600(large: Stage) -> None:
    found = set()
    for name, top in large.tour():
        assert large.frame.size() == QSize(960, 600)
        assert top.width() <= 960 and top.height() <= 600, name
        found |= {(name, *what) for what in lost(top)}
        assert all(room.horizontalScrollBar().maximum() <= 2 for room in top.findChildren(Room)), name
    assert found == set()


def test_large_text_keeps_what_decides_in_sight(large: Stage) -> None:
    """Class, clock, sentence and answers, without scrolling and beside what is about to expire; the code scrolls."""
    deciding, room = large.window.deciding, large.window.findChild(Room)
    card = large.scene.cases.card(asked(large, "print(1)\n" * 7))
    assert card is not None and room is not None
    deciding.show_request(card.id)
    page, overlay = deciding.review.page, large.window._overlay
    large.qtbot.waitUntil(large.window.hurry.isVisible)
    large.qtbot.waitUntil(lambda: room.verticalScrollBar().maximum() == 0)
    covered = overlay.geometry()
    for part in (page.header.badge, page.header.ring, page.band.sentence, page.foot.deny, page.foot.approve):
        place = QRect(part.mapTo(large.window._whole, QPoint()), part.size())
        assert part.isVisible() and part.visibleRegion().boundingRect() == part.rect(), part
        assert not covered.intersects(place), part
    code = page.reading.code
    assert not code.is_seen_to_end
    QTest.keyClick(code, Qt.Key.Key_A)
    assert approved(large) == []
    reveal_end(code)
    to_the_end(large.qtbot, code, lambda: code.is_seen_to_end)
    large.qtbot.waitUntil(page.foot.approve.isEnabled)
    QTest.keyClick(code, Qt.Key.Key_A)
    assert approved(large) == [card.id]


def test_large_text_leaves_the_mode_and_its_clock_whole(large: Stage) -> None:
    """An agent of a long name is trusted: its name gives way, and not the mode and how long."""
    large.scene.hear((ModeChanged("trust", "a" * 40, since_boot() + 899),))
    toolbar = large.window.toolbar
    for _ in range(3):
        QApplication.processEvents()
    assert toolbar.mode.width() >= toolbar.mode.sizeHint().width()
    assert toolbar.mode.text().startswith("Trust: a") and toolbar.mode.text()[-5:] in ("14:59", "14:58", "14:57")
    assert "a" * 40 in toolbar.mode.toolTip()
    assert toolbar.stop.width() >= toolbar.stop.sizeHint().width()


def asked(stage: Stage, code: str) -> str:
    """The id of a new question."""
    one = feed.request(code)
    stage.scene.hear(feed.asked(one, feed.assessment(Level.LOW)))
    return one.id


def approved(stage: Stage) -> list[str]:
    return [call[1] for call in stage.scene.bridge.calls if call[0] == "approve"]


# ---- without motion ----


def test_reduced_motion_stills_what_need_not_move(stage: Stage, look: Look, qapp: QApplication) -> None:
    blinks = qapp.cursorFlashTime()
    ring = stage.window.deciding.review.page.header.ring

    def drawn(left: float) -> QImage:
        ring.set_deadline(since_boot() + left, 6000)
        ring._timer.stop()
        return ring.grab().toImage().copy(ring.width() - 20, 0, 20, ring.height())

    assert not look.still
    assert drawn(5200) != drawn(4600)
    look.choose_motion(Motion.REDUCED)
    assert look.still
    assert qapp.cursorFlashTime() == 0
    assert not any(qapp.isEffectEnabled(effect) for effect in look._effects)
    # The clock goes on; the ring stands for an eighth of the time.
    assert drawn(5200) == drawn(4600)
    assert [look.step(share) for share in (0.99, 0.9, 0.87)] == [1.0, 1.0, 0.875]
    look.choose_motion(Motion.SYSTEM)
    assert not look.still
    look.know_system_motion(True)
    assert look.still
    look.know_system_motion(False)
    assert qapp.cursorFlashTime() == blinks


class Portal:
    """A desktop that answers with one value."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __enter__(self) -> Portal:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def send_and_get_reply(self, message: Any, timeout: float) -> Any:
        asked = message.body[1]
        known = asked == "reduced-motion" if isinstance(self.value, int) and self.value is not False else asked != ""
        kind = MessageType.method_return if known else MessageType.error
        return SimpleNamespace(header=SimpleNamespace(message_type=kind), body=(("v", ("x", self.value)),))


@pytest.mark.parametrize(("value", "still"), [(1, True), (0, False), (False, True)])
def test_the_wish_of_the_desktop_is_asked_for(value: object, still: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jeepney.io.blocking.open_dbus_connection", lambda: Portal(value))
    assert motion.wanted_still() is still


def test_without_a_desktop_to_ask_things_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    assert motion.wanted_still() is False


def test_the_size_of_text_is_taken_up_at_the_next_start() -> None:
    assert [_scale(text) for text in ("2.00", "1.25", "", "nan", "40")] == [2.0, 1.25, 1.0, 1.0, 1.0]
