"""What the top of the window says: troubles, refusals, and where secrets are kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QMenu

from app.parts.notice import Tone
from runner.model.events import CallsRefused, EngineTroubled, SandboxChosen, TroubleCleared
from runner.model.request import Isolation
from tests.gui import feed
from tests.gui.elapse import elapse

if TYPE_CHECKING:
    from app.chrome.resting_notice import RestingNotice
    from runner.system.places import Places
    from tests.gui.conftest import Desk


def test_a_trouble_stays_until_it_is_over(desk: Desk) -> None:
    desk.hear((EngineTroubled("ledger", "The disk is full.", "Make room."),))
    assert desk.window.banners.text("ledger") == "The disk is full. Make room."
    assert desk.window.banners.isVisible()
    desk.hear((TroubleCleared("ledger"),))
    assert desk.window.banners.text("ledger") == ""
    assert not desk.window.banners.isVisible()


def test_a_long_path_is_short_on_screen_and_whole_for_who_wants_it(desk: Desk) -> None:
    path = Path.home() / ".local" / "share" / "assent" / "ledger.sqlite3"
    desk.hear((EngineTroubled("ledger", f"Another program is using {path}.", ""),))
    notice = desk.window.banners._notices["ledger"]
    assert notice._text.text() == "Another program is using ~/\N{HORIZONTAL ELLIPSIS}/assent/ledger.sqlite3."
    assert str(path) in notice._text.toolTip() and str(path) in notice.accessibleName() and str(path) in notice.text
    notice._offer_copy(QPoint())
    (menu,) = notice.findChildren(QMenu)
    menu.actions()[0].trigger()
    assert QGuiApplication.clipboard().text() == notice.text
    menu.close()


def test_a_start_that_failed_is_said_first_and_cannot_be_closed(desk: Desk) -> None:
    banners = desk.window.banners
    banners.say("one", Tone.WARN, "one")
    desk.hear((EngineTroubled("start", "Assent has not started completely.", "See the fault log."),))
    assert banners.text("start") == "Assent has not started completely. See the fault log."
    assert [name for name, one in banners._notices.items() if one.isVisible()] == ["start"]


def test_a_console_that_listens_elsewhere_says_so(desk: Desk) -> None:
    desk.hear((EngineTroubled("port", "Port 1 is taken by x.", "It is at port 2."),))
    assert desk.window.banners.text("port") == "Port 1 is taken by x. It is at port 2."
    desk.window.banners.wanted.emit("port")
    assert desk.window.shown_page == "Settings"


def test_which_sandbox_there_is_does_not_hang_on_the_port(desk: Desk) -> None:
    """The toolbar said that it was starting, for ever."""
    desk.hear((EngineTroubled("gateway", "Assent cannot listen.", "Choose another port."),))
    assert ("sandbox_facts",) in desk.bridge.calls


def test_one_banner_at_a_time_the_grave_one_first(desk: Desk) -> None:
    """Four of them leave no room to work in a window of 600 lines."""
    banners = desk.window.banners
    for name in ("one", "two", "three"):
        banners.say(name, Tone.WARN, name)
    desk.hear((EngineTroubled("ledger", "The disk is full.", ""),))
    assert [name for name, one in banners._notices.items() if one.isVisible()] == ["ledger"]
    assert banners._more.isVisible() and banners._more.text() == "and 3 more"
    banners._more.click()
    assert all(one.isVisible() for one in banners._notices.values())
    banners._more.click()
    banners.unsay("ledger")
    assert [name for name, one in banners._notices.items() if one.isVisible()] == ["three"], "the newest"
    for name in ("two", "three", "one"):
        banners.unsay(name)
    assert not banners.isVisible() and not banners._more.isVisible()


def test_a_long_one_takes_one_line_until_all_of_it_is_wanted(desk: Desk) -> None:
    """What is grave is read at once; of the others the buttons of a request must not move by four lines."""
    banners, words = desk.window.banners, "The usual port is taken by another program. " * 8
    banners.say("port", Tone.WARN, "Short.")
    one = banners._notices["port"]
    feed.turn()
    low = one.height()
    assert not banners._more.isVisible()
    banners.say("port", Tone.WARN, words)
    feed.turn()
    assert one.height() <= low + 4 and one._line.isVisible() and not one._text.isVisible()
    assert one.text == words and words in one.accessibleName() and words.strip() in one._line.toolTip()
    assert banners._more.isVisible() and banners._more.text() == "More"
    banners._more.click()
    feed.turn()
    assert one._text.isVisible() and not one._line.isVisible() and one.height() > low + 20
    assert banners._more.text() == "Show less"
    banners._more.click()
    assert one._line.isVisible()
    banners.unsay("port")
    desk.hear((EngineTroubled("ledger", words, ""),))
    assert banners._notices["ledger"]._text.isVisible() and not banners._more.isVisible()


def test_the_button_of_a_trouble_leads_to_its_page(desk: Desk) -> None:
    desk.hear((EngineTroubled("settings", "Line 3 is wrong.", "Correct it."),))
    desk.window.banners._notices["settings"].action.click()
    assert desk.window.shown_page == "Settings"


def test_a_press_meant_for_something_else_does_nothing_to_a_banner_that_came_under_it(desk: Desk) -> None:
    pressed = []
    banners = desk.window.banners
    banners.wanted.connect(pressed.append)
    desk.hear((EngineTroubled("settings", "Line 3 is wrong.", "Correct it."),))
    feed.turn()
    notice = banners._notices["settings"]
    notice.action.setFocus()
    _click(notice.action)
    desk.qtbot.keyClick(notice.action, Qt.Key.Key_Space)
    _click(notice.cross)
    assert pressed == [] and notice.isVisible()
    _rest(notice)
    desk.qtbot.mousePress(notice.action, Qt.MouseButton.LeftButton)
    banners.say("settings", Tone.WARN, "Line 3 is wrong.", "Doctor")
    desk.qtbot.mouseRelease(notice.action, Qt.MouseButton.LeftButton)
    assert pressed == [] and not notice.action.isDown(), "it means something else by now"
    _rest(notice)
    banners.say("settings", Tone.WARN, "Line 4 is wrong.", "Doctor")
    _click(notice.action)
    assert pressed == ["settings"], "other words alone do not put it off"
    _click(notice.cross)
    assert not banners.text("settings")


def test_a_banner_that_moved_rests_again(desk: Desk) -> None:
    pressed = []
    banners = desk.window.banners
    banners.wanted.connect(pressed.append)
    banners.say("failed", Tone.WARN, "It failed.", "Doctor")
    feed.turn()
    _rest(banners._notices["failed"])
    desk.hear((EngineTroubled("ledger", "The disk is full.", "Make room."),))
    banners._more.click()
    feed.turn()
    _click(banners._notices["failed"].action)
    assert pressed == []


def _click(button: QAbstractButton) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def _rest(notice: RestingNotice) -> None:
    feed.turn()
    for guard in notice.guards.values():
        guard._until = float("-inf")


def test_a_new_history_is_begun_only_after_a_yes(desk: Desk) -> None:
    from app.parts.confirm import ConfirmDialog

    desk.hear((EngineTroubled("ledger", "It cannot be read.", "", damaged=True),))
    assert desk.window.banners._notices["ledger"].action.text() == "Begin a new history"
    desk.window.banners._notices["ledger"].action.click()
    assert desk.bridge.calls == []
    question = desk.window.findChild(ConfirmDialog)
    assert question is not None
    question.yes.click()
    assert desk.bridge.calls == [("renew_ledger",)]


def test_a_weaker_sandbox_is_accepted_only_after_a_yes(desk: Desk) -> None:
    from app.parts.confirm import ConfirmDialog

    desk.hear((EngineTroubled("isolation", "Weaker than last time: local instead of gVisor.", "You are asked."),))
    desk.window.overall._cases.know_sandbox({"isolation": "local"})
    desk.window.banners._notices["isolation"].action.click()
    question = desk.window.findChild(ConfirmDialog)
    assert question is not None
    assert not [call for call in desk.bridge.calls if call[0] == "accept_sandbox"]
    question.yes.click()
    assert desk.bridge.calls[-1] == ("accept_sandbox", Isolation.LOCAL)
    desk.hear((TroubleCleared("isolation"),))
    assert desk.window.banners.text("isolation") == ""


def test_another_sandbox_is_a_word_that_can_be_closed_and_is_looked_at(desk: Desk) -> None:
    before = len(desk.bridge.calls)
    desk.hear((SandboxChosen(Isolation.GVISOR, "gVisor is there again: new runs start in it."),))
    assert desk.window.banners.text("sandbox chosen") == "gVisor is there again: new runs start in it."
    assert desk.bridge.calls[before:] == [("sandbox_facts",)]


@pytest.mark.parametrize("what", ["The disk is full.", "Another Assent has the ledger open."])
def test_a_history_that_may_work_later_is_only_tried_again(desk: Desk, what: str) -> None:
    """A new one would give up a good one."""
    desk.hear(
        (
            EngineTroubled("ledger", "It is damaged.", "", damaged=True),
            EngineTroubled("ledger", what, ""),
        )
    )
    button = desk.window.banners._notices["ledger"].action
    assert button.text() == "Try again"
    button.click()
    assert desk.bridge.calls == [("try_history_again",)]


def test_a_flood_of_refusals_is_one_line_that_counts(desk: Desk) -> None:
    for _ in range(100):
        desk.hear((CallsRefused("codex", 12, "too many\u202e calls"),))
    assert len(desk.window.banners._notices) == 1
    said = desk.window.banners.text("refused codex")
    assert re.match(r"1,200 calls by codex refused since \d\d:\d\d:\d\d, the last one because: too many", said)
    assert "\u202e" not in said


def test_a_mistake_of_a_model_now_and_then_is_nothing_to_look_at(desk: Desk) -> None:
    desk.hear((CallsRefused("codex", 4, "code_execute has no argument 'codes'"),))
    assert desk.window.banners._notices == {}
    desk.hear((CallsRefused("", 1, "Missing, wrong or revoked token."),))
    assert "somebody without a valid token" in desk.window.banners.text("refused ")
    desk.hear((CallsRefused("codex", 1, "code_execute has no argument 'codes'"),))
    assert desk.window.banners.text("refused codex").startswith("5 calls by codex refused")


def test_a_late_answer_is_reported_where_the_person_is(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    desk.page.foot.approve.click()
    desk.window.show_page("Agents")
    desk.give("approve", "The agent withdrew this request.")
    assert desk.window.banners.text("declined") == "The agent withdrew this request."


def test_secrets_in_memory_are_said_with_a_way_to_change_it(desk: Desk) -> None:
    """The tests' keyring always fails."""
    desk.window.vault.look_again()
    desk.qtbot.waitUntil(lambda: bool(desk.window.banners.text("vault")))
    assert desk.window.banners.text("vault").startswith(
        "The history cannot be verified after a restart, and a PIN is forgotten"
    )
    assert desk.window.banners._notices["vault"].property("tone") == str(Tone.WARN)
    desk.window.banners._notices["vault"].action.click()
    assert desk.window.shown_page == "Settings"
    page = desk.window.page("Settings")
    desk.qtbot.waitUntil(lambda: "secrets_file" in page.rows)  # type: ignore[attr-defined]
    box = page.rows["secrets_file"].editor.box  # type: ignore[attr-defined]
    desk.qtbot.waitUntil(box.hasFocus)


def test_secrets_in_a_file_are_said_with_its_path(desk: Desk, places: Places) -> None:
    places.settings.write_text("secrets: {file: true}\n")
    desk.window.vault.look_again()
    desk.qtbot.waitUntil(lambda: str(places.secrets) in desk.window.banners.text("vault"))
    assert desk.window.banners._notices["vault"].property("tone") == str(Tone.INFO)
    assert not desk.window.banners._notices["vault"].action.isVisible()


def test_secrets_in_the_keyring_need_no_word(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from runner.identity.secrets import Secrets, Vault, Where

    monkeypatch.setattr(Secrets, "where", property(lambda self: Where(Vault.MEMORY, "In memory.")))
    desk.window.vault.look_again()
    desk.qtbot.waitUntil(lambda: bool(desk.window.banners.text("vault")))
    monkeypatch.setattr(Secrets, "where", property(lambda self: Where(Vault.KEYRING, "In the keyring.")))
    desk.window.vault.look_again()
    desk.qtbot.waitUntil(lambda: not desk.window.banners.text("vault"))


def test_an_engine_that_does_not_answer_is_said_with_what_to_do(desk: Desk) -> None:
    banners = desk.window.banners
    for seconds in (5.2, 6.2):
        desk.bridge.silent.emit(seconds)
    assert "has not answered for 6 s" in banners.text("silent")
    assert banners._notices["silent"].isVisible()
    banners._notices["silent"].action.click()
    assert desk.bridge.calls == [("end_runs",)]
    desk.bridge.silent.emit(0.0)
    assert banners.text("silent") == ""


def test_a_banner_moves_nothing_and_the_row_under_the_pointer_is_pressed(desk: Desk) -> None:
    """It pushed the list down by its height just as somebody pressed, and another request was chosen."""
    first, second = (feed.request(code, agent="codex") for code in ("print(1)\n", "import os\nos.listdir()\n"))
    for one in (first, second):
        desk.hear(feed.asked(one))
    for size in ((960, 600), (1280, 800)):
        desk.window.frame.resize(*size)
        feed.turn()
        view = desk.window.deciding.queue.view
        row = view.model().index(desk.window.deciding.queue.model.row_of(second.id), 0)
        desk.window.deciding.show_request(first.id)
        feed.turn()
        view.scrollTo(row)
        place = view.viewport().mapTo(desk.window, view.visualRect(row).center())
        desk.window.banners.say("failed", Tone.WARN, "Something could not be done. " * 9, "Doctor")
        desk.hear((EngineTroubled("ledger", "The disk is full. " * 9, "Make room."),))
        feed.turn()
        assert desk.window.banners.isVisible()
        pressed = desk.window.childAt(place)
        assert pressed is view.viewport(), "no banner lies there"
        desk.qtbot.mouseClick(pressed, Qt.MouseButton.LeftButton, pos=pressed.mapFrom(desk.window, place))
        assert desk.review.card is not None and desk.review.card.id == second.id
        stop = desk.window.toolbar.stop
        assert desk.window.childAt(stop.mapTo(desk.window, stop.rect().center())) is stop
        desk.hear((TroubleCleared("ledger"),))
        desk.window.banners.unsay("failed")
        assert not desk.window.banners.isVisible()


def test_one_that_does_not_fit_beside_the_buttons_is_one_line_with_all_of_it_behind_a_press(desk: Desk) -> None:
    desk.window.frame.resize(960, 600)
    feed.turn()
    words = "Assent is still starting. Try again in a moment, and look at Doctor."
    desk.window.banners.say("failed", Tone.WARN, words, "Doctor")
    feed.turn()
    notice = desk.window.banners._notices["failed"]
    low = notice.height()
    assert notice._line.isVisible() and desk.window.banners._more.isVisible()
    desk.window.banners._more.click()
    feed.turn()
    assert notice._text.isVisible() and notice.height() > low


def test_what_the_toolbar_says_for_a_moment_comes_before_a_banner(desk: Desk) -> None:
    desk.window.banners.say("one", Tone.WARN, "Something to know.")
    desk.window.toolbar.say("Remembered, see Rules.")
    assert not desk.window.banners.isVisible()
    elapse(desk.window.toolbar._silence)
    assert desk.window.banners.isVisible()
    desk.window.toolbar.say("Remembered, see Rules.")
    desk.hear((EngineTroubled("ledger", "The disk is full.", "Make room."),))
    desk.window.toolbar.say("Remembered, see Rules.")
    assert desk.window.banners.isVisible(), "what is grave stays"
