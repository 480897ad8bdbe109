"""Hosts that a run was refused: seen at once, without a jump, and allowed by a deliberate press only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QDialog, QLabel

from app.host_access.buttons import ALWAYS, FOR_RUN
from app.host_access.dialog import AllowDialog
from app.host_access.host_row import SHORT
from app.host_access.strip import ROWS
from app.parts.text.lines import SUMMARY
from app.review.guard import REST_SECONDS
from app.running.panel import RunningPanel
from runner.approval.deliberate import ApproveBy
from runner.approval.private_addresses import PrivateAddress
from runner.model.errors import KnownError
from runner.model.events import RunFinished
from runner.model.network import Contact, Destination
from tests.gui import feed
from tests.gui.scenes.network_scenes import REACHED, contacted, networked, refused

if TYPE_CHECKING:
    from app.host_access.run_hosts import RunHosts
    from app.host_access.strip import RefusedRow
    from app.review.guard import ClickGuard
    from runner.model.request import Request
    from tests.gui.conftest import Desk

LEFT = Qt.MouseButton.LeftButton


def passes(guard: ClickGuard) -> None:
    """Let the rest of `guard` pass, once nothing moves any more."""
    turn = 0
    while turn != guard._turn:
        turn = guard._turn
        for _ in range(3):
            QApplication.processEvents()
    guard._until -= REST_SECONDS


class Run:
    """The page of runs with one networked run on it."""

    def __init__(self, desk: Desk, **others: Any) -> None:
        self.desk = desk
        self.request: Request = networked(domains=("api.example.com",), granted=(), **others)
        desk.window.show_page("Running")
        desk.hear(feed.asked(self.request), feed.decided(self.request), feed.started(self.request))
        page = desk.window.page("Running")
        assert isinstance(page, RunningPanel)
        self.page = page
        hosts: Any = page.hosts
        self.hosts: RunHosts = hosts

    @property
    def rows(self) -> list[RefusedRow]:
        return self.hosts.strip.rows

    def contacted(self, *contacts: Contact) -> None:
        self.desk.hear(contacted(self.request, *contacts))
        self.hosts.refresh()
        for row in self.rows:
            passes(row.guard)

    @property
    def calls(self) -> list[tuple[Any, ...]]:
        return [call for call in self.desk.bridge.calls if call[0] in ("allow_host", "always_allow_host")]

    @property
    def dialog(self) -> AllowDialog | None:
        return next((one for one in self.page.findChildren(AllowDialog) if one.isVisible()), None)

    def opened(self) -> AllowDialog:
        self.desk.qtbot.waitUntil(lambda: self.dialog is not None)
        dialog = self.dialog
        assert dialog is not None

        def active() -> bool:
            dialog.activateWindow()  # what a test before this one has left may come to the front
            return dialog.isActiveWindow()

        self.desk.qtbot.waitUntil(active)
        passes(dialog.guard)
        dialog._rested()
        return dialog


@pytest.fixture
def run(desk: Desk) -> Run:
    return Run(desk)


def test_a_refused_host_appears_at_once_and_nothing_jumps(run: Run) -> None:
    before = run.page.tabs.mapTo(run.page, QPoint())
    run.desk.hear(contacted(run.request, refused("blocked.example", 3)))
    run.desk.qtbot.waitUntil(lambda: run.rows[0].place.text() == "blocked.example:443")
    assert run.rows[0].became.text().startswith("refused, 3 times")
    run.desk.hear(contacted(run.request, *(refused(f"n{number}.example") for number in range(9))))
    run.desk.qtbot.waitUntil(lambda: run.hosts.strip.more.isVisible())
    assert run.hosts.strip.more.text() == f"Show {10 - ROWS} more"
    assert run.page.tabs.mapTo(run.page, QPoint()) == before


def test_in_a_narrow_window_the_buttons_say_less_and_the_host_stays(run: Run) -> None:
    run.contacted(refused("blocked.example"))
    row = run.rows[0]
    row.resize(400, row.height())
    assert (row.allow.text(), row.allow.toolTip()) == SHORT[:1] + (FOR_RUN,)
    row.resize(900, row.height())
    assert (row.allow.text(), row.always.text()) == (FOR_RUN, ALWAYS)


def test_a_run_without_network_has_no_strip(desk: Desk) -> None:
    run = Run(desk)
    assert run.hosts.strip.isVisible() and run.page.meters.network.isVisible()
    other = feed.request()
    desk.hear(feed.asked(other), feed.decided(other), feed.started(other))
    card = desk.cases.card(other.id)
    assert card is not None
    run.page.show_run(card)
    assert not run.hosts.strip.isVisible() and not run.page.meters.network.isVisible()


def test_a_click_allows_for_this_run(run: Run) -> None:
    run.contacted(REACHED, refused("blocked.example"))
    run.desk.qtbot.mouseClick(run.rows[0].allow, LEFT)
    assert run.calls == [("allow_host", run.request.id, "blocked.example", 443, "")]
    assert not run.rows[0].allow.isVisible()
    run.desk.give("allow_host", "")
    assert run.rows[0].became.text() == "allowed for this run"
    assert not run.rows[0].allow.isVisible()


def test_the_hosts_that_may_be_reached_are_those_of_now(run: Run) -> None:
    run.contacted(REACHED, refused("blocked.example"))
    assert run.hosts.strip.said.text() == "1 host refused. May reach api.example.com."
    run.desk.bridge.reachable[run.request.id] = ("blocked.example", "api.example.com")
    run.desk.qtbot.mouseClick(run.rows[0].allow, LEFT)
    run.desk.give("allow_host", "")
    assert run.hosts.strip.said.text().endswith("May reach api.example.com, blocked.example.")
    run.desk.bridge.reachable[run.request.id] = ("api.example.com",)
    run.page._tick()
    assert run.hosts.strip.said.text().endswith("May reach api.example.com."), "it was withdrawn"
    # What the run reached is known afterwards, too.
    del run.desk.bridge.reachable[run.request.id]
    later = Contact("blocked.example", 443, allowed=True)
    ended = replace(feed.result(), contacts=(refused("blocked.example"), REACHED, later))
    run.desk.hear((RunFinished(run.request.id, ended),))
    assert run.hosts.strip.said.text().endswith("May reach api.example.com, blocked.example.")


def test_a_click_for_what_was_there_before_allows_nothing(run: Run) -> None:
    run.contacted(refused("blocked.example"))
    run.rows[0].guard.rearm()
    run.desk.qtbot.mouseClick(run.rows[0].allow, LEFT)
    assert run.calls == []


def test_a_row_keeps_its_host_until_it_was_answered(run: Run) -> None:
    names = [f"n{number}.example" for number in range(ROWS + 1)]
    run.contacted(*map(refused, names))
    assert [row.place.text() for row in run.rows] == [f"{name}:443" for name in names[:ROWS]]
    run.desk.hear(contacted(run.request, refused(names[0], 40), refused("another.example")))
    run.hosts.refresh()
    assert [row.place.text() for row in run.rows] == [f"{name}:443" for name in names[:ROWS]]
    passes(run.rows[0].guard)
    run.desk.qtbot.mouseClick(run.rows[0].allow, LEFT)
    run.desk.give("allow_host", "")
    assert run.rows[0].place.text() == f"{names[ROWS]}:443"
    run.desk.qtbot.mouseClick(run.rows[0].allow, LEFT)  # a second click, meant for the host before
    assert len(run.calls) == 1


def test_why_it_was_not_allowed_is_said_in_place(run: Run) -> None:
    run.contacted(refused("blocked.example"))
    run.desk.qtbot.mouseClick(run.rows[0].allow, LEFT)
    run.desk.give("allow_host", "Everything is denied now: Lockdown is on.")
    assert "Not allowed: Everything is denied now" in run.rows[0].became.text()
    assert run.rows[0].allow.isVisible()
    passes(run.rows[0].guard)
    run.desk.qtbot.mouseClick(run.rows[0].allow, LEFT)
    run.desk.give("allow_host", KnownError("The history cannot be written.", "Free disk space."))
    assert "The history cannot be written." in run.rows[0].became.text()


def test_only_space_on_the_button_allows_and_no_letter_or_enter(run: Run) -> None:
    run.contacted(refused("blocked.example"))
    button = run.rows[0].allow
    button.setFocus(Qt.FocusReason.TabFocusReason)
    assert button.hasFocus()
    for key in (Qt.Key.Key_A, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Y, Qt.Key.Key_Escape):
        run.desk.qtbot.keyClick(button, key)
    assert run.calls == []
    run.desk.qtbot.keyClick(button, Qt.Key.Key_Space)
    assert len(run.calls) == 1


def test_space_that_is_held_counts_once_it_is_let_go_and_never_as_a_repetition(run: Run) -> None:
    """On X11 a repetition that Qt did not recognize is a release and a press of one time."""
    run.contacted(refused("blocked.example"))
    button = run.rows[0].allow
    button.setFocus(Qt.FocusReason.TabFocusReason)
    for kind, time in ((QEvent.Type.KeyRelease, 700), (QEvent.Type.KeyPress, 700), (QEvent.Type.KeyRelease, 740)):
        event = QKeyEvent(kind, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier)
        event.setTimestamp(time)
        QApplication.sendEvent(button, event)
    assert run.calls == [], "it was pressed before the button had the focus"


def test_the_mouse_alone_counts_where_a_person_has_chosen_so(run: Run) -> None:
    run.desk.bridge.approve_by = ApproveBy.MOUSE
    run.contacted(refused("blocked.example"))
    button = run.rows[0].allow
    button.setFocus(Qt.FocusReason.TabFocusReason)
    run.desk.qtbot.keyClick(button, Qt.Key.Key_Space)
    button.click()
    assert run.calls == []
    run.desk.qtbot.mouseClick(button, LEFT)
    assert len(run.calls) == 1


def test_a_word_is_asked_for_where_a_person_has_chosen_so(run: Run) -> None:
    run.desk.bridge.approve_by = ApproveBy.WORD
    run.contacted(refused("blocked.example"))
    run.desk.qtbot.mouseClick(run.rows[0].allow, LEFT)
    dialog = run.opened()
    assert run.calls == [] and not dialog.yes.isVisible()
    dialog.proof.field.setText(dialog.proof._proof._word)
    run.desk.qtbot.mouseClick(dialog.proof.button, LEFT)
    assert len(run.calls) == 1


def test_a_private_address_asks_a_second_time_and_names_it(run: Run) -> None:
    run.contacted(refused("wiki.example"))
    run.desk.qtbot.mouseClick(run.rows[0].allow, LEFT)
    run.desk.give("allow_host", PrivateAddress(Destination("wiki.example"), "10.20.0.7"))
    dialog = run.opened()
    assert "10.20.0.7" in dialog.texts[0].text() and "10.20.0.7" in dialog.yes.text()
    assert dialog.no.hasFocus()
    run.desk.qtbot.mouseClick(dialog.yes, LEFT)
    assert run.calls[-1] == ("allow_host", run.request.id, "wiki.example", 443, "10.20.0.7")
    run.desk.give("allow_host", "")
    assert run.rows[0].became.text() == "allowed for this run"


def test_the_second_click_of_a_double_click_does_not_answer_the_dialog(run: Run) -> None:
    run.contacted(refused("wiki.example", private="10.20.0.7"))
    run.desk.qtbot.mouseClick(run.rows[0].allow, LEFT)
    run.desk.qtbot.waitUntil(lambda: run.dialog is not None)
    dialog = run.dialog
    assert dialog is not None
    run.desk.qtbot.mouseClick(dialog.yes, LEFT)
    run.desk.qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert run.calls == []


def test_always_asks_for_its_end_and_makes_a_grant(run: Run) -> None:
    run.contacted(refused("blocked.example"))
    run.desk.qtbot.mouseClick(run.rows[0].always, LEFT)
    dialog = run.opened()
    assert "claude-code" in dialog.texts[0].text()
    dialog.end.setCurrentText("For 8 hours")
    run.desk.qtbot.mouseClick(dialog.yes, LEFT)
    assert run.calls == [("always_allow_host", run.request.id, "blocked.example", 443, 8 * 3600.0, "")]


def test_always_for_a_private_address_asks_a_second_time(run: Run) -> None:
    run.contacted(refused("wiki.example"))
    run.desk.qtbot.mouseClick(run.rows[0].always, LEFT)
    run.desk.qtbot.mouseClick(run.opened().yes, LEFT)
    run.desk.give("always_allow_host", PrivateAddress(Destination("wiki.example"), "10.20.0.7"))
    dialog = run.opened()
    assert any("10.20.0.7" in text.text() for text in dialog.texts)
    run.desk.qtbot.mouseClick(dialog.yes, LEFT)
    assert run.calls[-1][-1] == "10.20.0.7"


def test_the_end_of_a_long_name_is_on_screen_where_it_is_allowed(run: Run) -> None:
    """A name may begin like a well-known one; only its end says whose it is."""
    long = f"files.good.example.{'a' * 60}.{'b' * 63}.evil.example"
    run.contacted(refused(long, private="10.20.0.7"))
    for button in (run.rows[0].allow, run.rows[0].always):
        passes(run.rows[0].guard)
        run.desk.qtbot.mouseClick(button, LEFT)
        dialog = run.opened()
        shown = [one for one in dialog.findChildren(QLabel) if "evil" in one.text()]
        assert len(shown) >= 2
        for label in shown:
            whole = label.fontMetrics().boundingRect(label.rect(), int(Qt.TextFlag.TextWordWrap), label.text())
            assert whole.width() <= label.width() and whole.height() <= label.height(), label.text()
        dialog.reject()
    row = run.hosts.tab.view.model.index(0, 0).data(SUMMARY)
    assert row.title == f"{long}:443" and row.elide is Qt.TextElideMode.ElideMiddle


def test_what_no_word_opens_has_no_buttons(run: Run) -> None:
    run.contacted(Contact("GET / HTTP\u202e", 0, allowed=False, why="is not a request"))
    assert not run.rows[0].allow.isVisible() and not run.rows[0].always.isVisible()
    assert "\u202e" not in run.rows[0].place.text()


def test_every_host_is_in_the_tab_with_its_buttons(run: Run) -> None:
    run.contacted(REACHED, *(refused(f"n{number}.example") for number in range(9)))
    run.desk.qtbot.mouseClick(run.hosts.strip.more, LEFT)
    tab = run.hosts.tab
    assert run.page.tabs.currentWidget() is tab
    assert run.page.tabs.tabText(run.page.tabs.currentIndex()) == "Network (9 refused)"
    tab.view.view.setCurrentIndex(tab.view.model.index(5, 0))
    passes(tab.guard)
    run.desk.qtbot.mouseClick(tab.allow, LEFT)
    assert run.calls == [("allow_host", run.request.id, "n4.example", 443, "")]


def test_the_choice_stays_while_hosts_come(run: Run) -> None:
    run.contacted(refused("a.example"), refused("b.example"))
    view = run.hosts.tab.view
    view.view.setCurrentIndex(view.model.index(1, 0))
    run.contacted(refused("a.example", 2), refused("c.example"))
    assert view.current is not None and view.current.host == "b.example"
    ended = feed.result(contacts=(refused("c.example"), refused("a.example", 2), refused("b.example")))
    run.desk.hear(feed.finished(run.request, ended))
    assert view.current is not None and view.current.host == "b.example"


def test_a_flood_of_names_is_taken_up_in_few_steps(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    refresh = run.hosts.strip.refresh
    monkeypatch.setattr(run.hosts.strip, "refresh", lambda *given: (steps.append(1), refresh(*given)))
    for number in range(1000):
        run.desk.hear(contacted(run.request, refused(f"n{number % 100}.example", 1 + number // 100)))
    run.desk.qtbot.waitUntil(lambda: run.hosts.tab.view.model.rowCount() == 100)
    assert len(steps) < 100


def test_after_the_end_only_the_agent_can_be_allowed(run: Run) -> None:
    run.contacted(refused("blocked.example"))
    ended = feed.result(contacts=(refused("blocked.example", 3), REACHED), contacts_left_out=12)
    run.desk.hear(feed.finished(run.request, ended))
    assert not run.rows[0].allow.isVisible() and run.rows[0].always.isVisible()
    assert run.rows[0].became.text().startswith("refused, 3 times")
    assert run.hosts.tab.view.left_out.text() == "and 12 more hosts"


def test_a_run_that_ends_under_the_open_dialog_gets_the_engine_s_reason(run: Run) -> None:
    run.contacted(refused("wiki.example", private="10.20.0.7"))
    run.desk.qtbot.mouseClick(run.rows[0].allow, LEFT)
    dialog = run.opened()
    run.desk.hear(feed.finished(run.request, feed.result(contacts=(refused("wiki.example", private="10.20.0.7"),))))
    run.desk.qtbot.mouseClick(dialog.yes, LEFT)
    run.desk.give("allow_host", "This run is over.")
    assert "This run is over." in run.rows[0].became.text()
    assert not [one for one in run.page.findChildren(QDialog) if one.isVisible()]


def test_a_refusal_stays_on_top_of_a_failure_to_reach_the_same_host(run: Run) -> None:
    run.contacted(refused("a.example", 2), Contact("a.example", 443, allowed=None, why="does not answer"), REACHED)
    assert run.rows[0].became.text().startswith("refused, 2 times")
    assert run.rows[0].allow.isVisible() and not run.rows[1].place.isVisible()
    assert run.hosts.tab.view.model.rowCount() == 3


def test_why_a_network_could_not_be_set_up_is_said(run: Run) -> None:
    from runner.model.result import Outcome

    why = "The network of this run could not be set up: it does not answer."
    run.desk.hear(feed.finished(run.request, feed.result(Outcome.ENGINE_LOST, error=why)))
    assert why in run.page.state.text()
    assert "Nothing refused." in run.hosts.strip.said.text()
