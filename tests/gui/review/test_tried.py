"""Try it: a key and a button that answer nothing, and a line on the band that only ever adds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt

from app.chrome.keys import KEYS
from app.history import words
from app.state import attention
from app.state.trials import BLOCKED, HELD, PROVES, TRIED, TRYING
from runner.audit.history.search import CaseRecord, CaseStep
from runner.audit.ledger.entry import Entry
from runner.audit.ledger.row import Row
from runner.model.assessment import Level
from runner.model.codec import encode
from runner.model.events import TrialMoved
from runner.model.lifecycle import Phase
from runner.model.rehearsal import RehearsalPhase
from runner.model.request import Tool
from runner.model.tried import TRIED as TRIED_ENTRY
from runner.model.tried import Tried, TriedAct, TriedKind
from tests.gui import feed
from tests.gui.review.test_keystrokes import Hands

if TYPE_CHECKING:
    from runner.model.request import Request
    from tests.gui.conftest import Desk

QUIET = TriedAct(TriedKind.READ, "notes.txt", "", 1)
GRAVE = TriedAct(TriedKind.DELETE_FOLDER, "~/Documents", "", 3, Level.CRITICAL, unsaid=True)


def moved(one: Request, phase: RehearsalPhase, found: Tried | None = None, why: str = "") -> tuple[TrialMoved]:
    return (TrialMoved(one.id, phase, why, found),)


def tabs(desk: Desk) -> list[str]:
    bar = desk.page.reading.tabs
    return [bar.tabText(tab) for tab in range(bar.count())]


def tries(desk: Desk) -> list[str]:
    return [call[1] for call in desk.bridge.calls if call[0] == "try_it"]


def test_the_key_and_the_button_have_the_code_tried_and_answer_nothing(desk: Desk) -> None:
    one = desk.ask()
    desk.rested()
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_T)
    desk.qtbot.mouseClick(desk.page.foot.try_it, Qt.MouseButton.LeftButton)
    desk.qtbot.waitUntil(lambda: tries(desk) == [one.id, one.id])
    assert not [call for call in desk.bridge.calls if call[0] in ("approve", "deny", "hand_over")]
    assert any(key == "T" for _, rows in KEYS for key, _ in rows)


def test_the_letter_in_a_typed_text_tries_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    pressed: list[str] = []
    monkeypatch.setattr(desk.review.answering, "press_try", lambda: pressed.append("t"))
    desk.ask()
    desk.rested()
    hands = Hands(desk)
    hands.type("ut")
    assert not pressed
    hands.press("t", after=60.0)
    assert pressed == ["t"]


def test_approve_does_not_wait_for_it(desk: Desk) -> None:
    one = desk.ask()
    for phase in (RehearsalPhase.QUEUED, RehearsalPhase.RUNNING):
        desk.hear(moved(one, phase))
        desk.rested()
        assert desk.page.band.tried.text() == TRYING
        assert not desk.page.foot.try_it.isEnabled()
        desk.qtbot.waitUntil(desk.page.foot.approve.isEnabled)


def test_approve_waits_where_that_is_wanted_and_says_so(desk: Desk) -> None:
    one = desk.ask()
    (event,) = moved(one, RehearsalPhase.RUNNING)
    desk.hear((replace(event, holds=True),))
    desk.rested()
    assert not desk.page.foot.approve.isEnabled() and HELD in desk.page.foot.sentence.text()
    assert desk.page.foot.deny.isEnabled() and not desk.page.foot.remember.isEnabled()
    desk.hear((event,))
    desk.qtbot.waitUntil(desk.page.foot.approve.isEnabled)


def test_the_line_appears_with_all_of_it_in_a_tab_and_lowers_nothing(desk: Desk) -> None:
    one = desk.ask()
    before = desk.page.band.level
    assert desk.page.band.tried.isHidden()
    found = Tried((QUIET,))
    desk.hear(moved(one, RehearsalPhase.SHOWN, found))
    desk.rested()
    assert desk.page.band.tried.text() == found.sentence and desk.page.band.tried.isVisible()
    assert desk.page.band.level is before and desk.page.band.tried.property("role") == ""
    bar = desk.page.reading.tabs
    bar.setCurrentIndex(next(tab for tab, name in enumerate(tabs(desk)) if name.startswith(TRIED)))
    desk.page.reading.extra.select_all()
    assert PROVES in desk.page.reading.extra.selected_text() and "line 1: read notes.txt" in PROVES.join(
        [desk.page.reading.extra.selected_text()]
    )


def test_what_reading_had_not_said_is_high_everywhere_and_decides_nothing(desk: Desk) -> None:
    one = desk.ask()
    desk.hear(moved(one, RehearsalPhase.SHOWN, Tried((GRAVE, QUIET))))
    desk.rested()
    card = desk.review.card
    assert card is not None and attention.attention(card) is Level.HIGH and attention.words(card) == "HIGH"
    assert desk.page.band.level is Level.HIGH and desk.page.band.tried.property("role") == "bad"
    assert "which reading had not said" in desk.page.band.tried.text()
    assert not [call for call in desk.bridge.calls if call[0] in ("approve", "deny")]
    critical = desk.ask(feed.request("print(1)"), feed.assessment(Level.CRITICAL))
    desk.hear(moved(critical, RehearsalPhase.SHOWN, Tried((QUIET,))))
    assert (shown := desk.cases.card(critical.id)) is not None and attention.attention(shown) is Level.CRITICAL


def test_why_it_was_not_tried_is_said_and_it_may_be_tried_again(desk: Desk) -> None:
    one = desk.ask()
    desk.hear(moved(one, RehearsalPhase.NONE, why="The sandbox was lost."))
    desk.rested()
    assert desk.page.band.tried.text() == "Not tried: The sandbox was lost."
    assert desk.page.foot.try_it.isEnabled()
    desk.page.foot.try_it.click()
    desk.give("try_it", "Only code can be tried.")
    assert "Not tried: Only code can be tried." in desk.page.foot.sentence.text()


def test_what_may_not_be_approved_is_not_tried_and_its_reason_stands_there_once(desk: Desk) -> None:
    why = "CRITICAL may not run on the local sandbox."
    one = desk.ask(blocked=why)
    desk.rested()
    assert not desk.page.foot.try_it.isEnabled() and desk.page.foot.try_it.toolTip().startswith(BLOCKED)
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_T)
    assert one.id not in tries(desk)
    assert desk.page.foot.sentence.text().count(why) == 1


def test_the_history_shows_of_it_what_would_hide() -> None:
    one = feed.request("print(1)")
    row = Row(1, one.id, one.agent, one.tool, one.language, "", one.digest, Phase.DENIED, 1.0)
    found = Tried((TriedAct(TriedKind.READ, "a\u202eb\x1b[31m"),))
    step = CaseStep(Entry(2, 0, TRIED_ENTRY, one.id, "", "", ""), encode(found))
    assert "“a‹U+202E›b‹U+001B›[31m”" in words.rehearsal(CaseRecord(row, one, None, None, None, (step,)))


@pytest.mark.parametrize("tool", [Tool.CODE_WRITE_FILE, Tool.CODE_READ_FILE])
def test_what_is_no_code_is_not_offered(desk: Desk, tool: Tool) -> None:
    desk.ask(replace(feed.request("x"), tool=tool))
    desk.rested()
    assert not desk.page.foot.try_it.isVisible()
