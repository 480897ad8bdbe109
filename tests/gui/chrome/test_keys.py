"""Everything can be reached by keyboard, and everything that takes the focus has a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLineEdit, QWidget

from app.chrome.pages import PAGES
from app.parts.notice import Tone
from runner.model.events import EngineTroubled, RunHeld, RunStarted
from runner.model.request import Isolation
from tests.gui import feed

if TYPE_CHECKING:
    from tests.gui.conftest import Desk

READY = ("Today", "Queue", "Agents", "Settings", "Doctor", "Help")
CONTROLS = (QAbstractButton, QComboBox, QLineEdit)
CONTROL = Qt.KeyboardModifier.ControlModifier


def key(desk: Desk, which: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    desk.qtbot.keyClick(QApplication.focusWidget() or desk.window, which, modifiers)


def shown(desk: Desk) -> str:
    card = desk.review.card
    return card.request.code if card else ""


def test_j_and_k_go_through_the_queue_past_headings(desk: Desk) -> None:
    for code, agent, left in (("a()", "one", 10.0), ("b()", "one", 20.0), ("c()", "two", 30.0)):
        desk.ask(feed.request(code, agent), left=left)
    desk.review.focus_neutral()
    seen = [shown(desk)]
    for which in (Qt.Key.Key_J, Qt.Key.Key_J, Qt.Key.Key_J, Qt.Key.Key_K, Qt.Key.Key_K, Qt.Key.Key_K):
        key(desk, which)
        seen.append(shown(desk))
    assert seen == ["a()", "b()", "c()", "c()", "b()", "a()", "a()"]


def test_d_asks_for_the_reason_and_a_approves(desk: Desk) -> None:
    one = desk.ask()
    desk.rested()
    desk.review.focus_neutral()
    key(desk, Qt.Key.Key_D)
    assert desk.page.foot.denial.field.hasFocus()
    key(desk, Qt.Key.Key_Escape)
    key(desk, Qt.Key.Key_A)
    assert desk.answers == [("approve", one.id, one.digest)]


def test_letters_decide_only_on_the_page_that_shows_the_request(desk: Desk) -> None:
    """A key for what is not on screen must not answer it (regression 2)."""
    desk.ask()
    desk.rested()
    desk.window.show_page("Agents")
    desk.window.setFocus()
    for which in (Qt.Key.Key_A, Qt.Key.Key_D):
        key(desk, which)
    assert desk.answers == []


def test_coming_back_to_the_queue_rests_again(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    desk.window.show_page("Agents")
    desk.window.show_page("Queue")
    desk.review.focus_neutral()
    key(desk, Qt.Key.Key_A)
    assert desk.answers == []


@pytest.mark.parametrize("name", READY)
def test_pages_have_keys(desk: Desk, name: str) -> None:
    (number,) = [page.key for page in PAGES if page.name == name]
    desk.window.show_page("Agents" if name == "Queue" else "Queue")
    key(desk, Qt.Key(Qt.Key.Key_0 + (number or 0)), CONTROL)
    assert desk.window.shown_page == name
    assert desk.window.navigation._buttons[name].isChecked()


def test_pause_all_becomes_resume_all_and_says_what_continues(desk: Desk) -> None:
    assert not desk.window.toolbar.hold.isEnabled()
    inside = [feed.request("one()", isolation=Isolation.GVISOR), feed.request("two()", isolation=Isolation.DOCKER)]
    local = feed.request("three()")
    for one in (*inside, local):
        desk.ask(one)
        desk.hear(feed.decided(one), feed.started(one))
    hold = desk.window.toolbar.hold
    assert hold.isEnabled() and hold.text().strip() == "Pause all"
    key(desk, Qt.Key.Key_H, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    desk.hear((RunHeld(inside[0].id, True),))
    assert hold.text().strip() == "Pause all", "one still runs that could be paused"
    desk.hear((RunHeld(inside[1].id, True),))
    assert hold.text().strip() == "Resume all" and desk.window.toolbar.state.text().startswith("2 runs paused")
    desk.give("hold_all", (local.id,))
    assert "1 run in the local sandbox can't be paused. Stop instead?" in desk.window.toolbar.state.text()
    hold.click()
    assert desk.bridge.calls == [("hold_all", True), ("hold_all", False)]


def test_stop_all_asks_once_and_only_its_button_means_yes(desk: Desk) -> None:
    one = desk.ask()
    desk.hear((RunStarted(one.id, ()),))
    key(desk, Qt.Key.Key_S, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    from app.parts.confirm import ConfirmDialog

    question = desk.window.findChild(ConfirmDialog)
    assert question is not None
    desk.qtbot.waitUntil(question.no.hasFocus)
    desk.qtbot.keyClick(question.no, Qt.Key.Key_Return)
    assert desk.bridge.calls == []
    desk.window.overall.stop_all()
    asked = [found for found in desk.window.findChildren(ConfirmDialog) if found.isVisible()]
    assert asked[-1].what == "1 run will be stopped. 1 request will be denied."
    desk.ask()
    assert asked[-1].what == "1 run will be stopped. 2 requests will be denied.", "what the answer means by now"
    asked[-1].yes.click()
    assert desk.bridge.calls == [("stop_all",)]


def test_escape_closes_a_question_without_a_yes(desk: Desk) -> None:
    from app.parts.confirm import ConfirmDialog

    told: list[bool] = []
    desk.window.overall.ask("Sure?", "Something would go.", "Yes", told.append)
    question = desk.window.findChild(ConfirmDialog)
    assert question is not None
    desk.qtbot.keyClick(question, Qt.Key.Key_Escape)
    assert told == [False]


def test_stop_all_with_nothing_to_stop_asks_nothing(desk: Desk) -> None:
    from app.parts.confirm import ConfirmDialog

    desk.window.overall.stop_all()
    assert desk.window.findChild(ConfirmDialog) is None
    assert not desk.window.toolbar.stop.isEnabled()


def test_what_appears_takes_neither_focus_nor_activation(desk: Desk) -> None:
    """A part shown before it has a parent is a window of its own for a moment."""
    desk.review.focus_neutral()
    before = QApplication.focusWidget()
    windows: set[QWidget] = set(QApplication.topLevelWidgets())
    desk.window.banners.say("failed", Tone.WARN, "Something could not be done.", "Doctor")
    desk.hear((EngineTroubled("sandbox", "It is broken.", "Mend it."),))
    for name in READY:
        desk.window.page(name)
    desk.qtbot.wait(50)
    assert QApplication.focusWidget() is before
    assert {one for one in QApplication.topLevelWidgets() if one.isVisible()} <= windows


# ---- names ----


def settled(desk: Desk, name: str) -> None:
    desk.window.show_page(name)
    page = desk.window.page(name)
    if name == "Settings":
        desk.qtbot.waitUntil(lambda: page.form is not None)  # type: ignore[attr-defined]
    QApplication.processEvents()


def focusable(window: QWidget) -> list[QWidget]:
    return [
        widget
        for widget in window.findChildren(QWidget)
        if widget.isVisible()
        and (widget.focusPolicy() & Qt.FocusPolicy.TabFocus or isinstance(widget, CONTROLS))
        # Parts of a control that speaks for them.
        and not widget.objectName().startswith("qt_")
        and not isinstance(widget.parent(), (QComboBox, QLineEdit))
    ]


@pytest.mark.parametrize("name", READY)
def test_every_control_has_a_name(desk: Desk, name: str) -> None:
    desk.ask(feed.request("print(rows)", context='{"rows": 3}'))
    settled(desk, name)
    found = focusable(desk.window)
    assert len(found) > 8
    nameless = []
    for widget in found:
        spoken = QAccessible.queryAccessibleInterface(widget)
        if not spoken.text(QAccessible.Text.Name).strip():
            nameless.append(f"{type(widget).__name__} in {type(widget.parent()).__name__}")
    assert nameless == []


@pytest.mark.parametrize("name", READY)
def test_tab_reaches_every_control(desk: Desk, name: str) -> None:
    desk.ask()
    desk.rested()
    settled(desk, name)
    page = desk.window.page(name)
    wanted = {
        widget
        for widget in focusable(page)
        if widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None
    }
    reached: set[QWidget] = set()
    last = None
    for _ in range(200):
        focus = QApplication.focusWidget()
        assert focus is not None
        # A text keeps the focus while it goes from link to link.
        if focus in reached and focus is not last and len(reached) > 1:
            break
        reached.add(focus)
        last = focus
        desk.qtbot.keyClick(focus, Qt.Key.Key_Tab)
    assert {f"{type(one).__name__} {one.accessibleName()}" for one in wanted - reached} == set()
