"""Requests that were rehearsed: their outcome is read and handed over, and nothing else decides by accident."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt

from app.agents.rehearsing import CHOICES, RehearsalChoice
from app.prompt.stack import PromptStack
from app.review.batch import Batch
from app.state.rehearsals import OUTCOME
from runner.model.decision import Verdict
from runner.model.events import QuestionPaused, RehearsalMoved
from runner.model.network import Contact
from runner.model.rehearsal import Rehearsal, RehearsalMode, RehearsalPhase
from runner.model.result import CapturedFile, Outcome
from tests.gui import feed
from tests.gui.elapse import rest
from tests.gui.seeing import to_the_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from runner.model.request import Request
    from tests.gui.conftest import Desk

FILES = (CapturedFile("plot.png", 1_234, "a" * 64),)
TRIED = (Contact("stats.example", 443, False, "is not allowed", times=2),)


def outcome(one: Request, stdout: str = "hello\n", **others: Any) -> Rehearsal:
    return Rehearsal(one.digest, feed.result(stdout=stdout, **others))


def moved(one: Request, phase: RehearsalPhase, why: str = "", shown: Rehearsal | None = None) -> tuple[RehearsalMoved]:
    return (RehearsalMoved(one.id, phase, why, shown),)


def rehearsed(desk: Desk, one: Request, **others: Any) -> Rehearsal:
    """The outcome of `one` comes on screen, and the guard has rested."""
    shown = outcome(one, **others)
    desk.hear(moved(one, RehearsalPhase.SHOWN, shown=shown))
    desk.rested()
    return shown


def click(desk: Desk, button: QWidget) -> None:
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def answers(desk: Desk) -> list[tuple[Any, ...]]:
    return [call for call in desk.bridge.calls if call[0] in ("approve", "deny", "hand_over", "approve_edited")]


def test_a_click_hands_over_exactly_the_outcome_on_screen(desk: Desk) -> None:
    one = desk.ask()
    shown = rehearsed(desk, one)
    assert desk.page.reading.tabs.tabText(desk.page.reading.tabs.currentIndex()).startswith(OUTCOME)
    desk.qtbot.waitUntil(desk.page.foot.hand_over.isEnabled)
    click(desk, desk.page.foot.hand_over)
    assert [call[:4] for call in answers(desk)] == [("hand_over", one.id, one.digest, shown.digest)]


def test_the_key_a_hands_over_and_never_approves_what_was_rehearsed(desk: Desk) -> None:
    one = desk.ask()
    rehearsed(desk, one)
    desk.qtbot.waitUntil(desk.page.foot.hand_over.isEnabled)
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert [call[0] for call in answers(desk)] == ["hand_over"]


def test_shift_a_does_nothing_to_what_was_not_rehearsed(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A, Qt.KeyboardModifier.ShiftModifier)
    assert not answers(desk)


def test_shift_a_runs_it_for_real(desk: Desk) -> None:
    one = desk.ask()
    desk.hear(moved(one, RehearsalPhase.RUNNING))
    desk.rested()
    rehearsed(desk, one)
    assert "Run for real" in desk.page.foot.approve.text()
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A, Qt.KeyboardModifier.ShiftModifier)
    assert [call[:3] for call in answers(desk)] == [("approve", one.id, one.digest)]


def test_while_it_runs_a_decides_nothing_and_its_place_is_held(desk: Desk) -> None:
    one = desk.ask()
    desk.hear(moved(one, RehearsalPhase.QUEUED), moved(one, RehearsalPhase.RUNNING))
    desk.rested()
    place = desk.page.foot.hand_over.geometry()
    assert desk.page.foot.hand_over.isVisible() and not desk.page.foot.hand_over.isEnabled()
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert not answers(desk)
    rehearsed(desk, one)
    assert desk.page.foot.hand_over.geometry() == place


def test_a_press_before_the_outcome_came_is_none_for_it(desk: Desk) -> None:
    one = desk.ask()
    desk.hear(moved(one, RehearsalPhase.RUNNING))
    desk.rested()
    desk.hear(moved(one, RehearsalPhase.SHOWN, shown=outcome(one)))
    click(desk, desk.page.foot.hand_over)  # at once: the guard rests
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert not answers(desk)


def test_a_long_outcome_is_handed_over_only_after_its_end_was_seen(desk: Desk) -> None:
    one = desk.ask()
    rehearsed(desk, one, stdout="line\n" * 500)
    assert not desk.page.foot.hand_over.isEnabled()
    click(desk, desk.page.foot.hand_over)
    assert not answers(desk) and "to the end" in desk.page.foot.sentence.text()
    to_the_end(desk.qtbot, desk.page.reading.extra, desk.page.foot.hand_over.isEnabled)
    click(desk, desk.page.foot.hand_over)
    assert [call[0] for call in answers(desk)] == ["hand_over"]


def test_having_seen_one_outcome_does_not_count_for_another(desk: Desk) -> None:
    one = desk.ask()
    rehearsed(desk, one)
    desk.qtbot.waitUntil(desk.page.foot.hand_over.isEnabled)
    rehearsed(desk, one, stdout="other\n" * 500)
    assert not desk.page.foot.hand_over.isEnabled()


def test_an_outcome_that_comes_while_somebody_reads_does_not_jump_to_the_front(desk: Desk) -> None:
    one = desk.ask()
    desk.hear((QuestionPaused(one.id, desk.cases.waiting()[0].deadline or 0.0, 600.0),))
    rehearsed(desk, one)
    assert desk.page.reading.tabs.currentIndex() == 0
    assert not desk.page.foot.hand_over.isEnabled()  # not seen yet


def test_a_version_of_ones_own_was_never_rehearsed(desk: Desk) -> None:
    one = desk.ask()
    rehearsed(desk, one)
    under_review = desk.review._under_review
    assert under_review.card is not None
    under_review.draft = replace(under_review.card, request=replace(one, code="print('mine')"), original=one)
    desk.review.answering.show_state()
    assert not desk.page.foot.hand_over.isVisible() and "Run for real" not in desk.page.foot.approve.text()


def test_without_a_rehearsal_approving_is_as_always(desk: Desk) -> None:
    one = desk.ask()
    desk.hear(moved(one, RehearsalPhase.QUEUED), moved(one, RehearsalPhase.NONE, "The disk is full."))
    desk.rested()
    assert not desk.page.foot.hand_over.isVisible() and desk.page.foot.approve.text() == "Approve once  A"
    assert any("no outcome: The disk is full" in fact.words for fact in desk.page.band.chips.facts)
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert [call[0] for call in answers(desk)] == ["approve"]


def test_the_whole_chip_is_on_the_screen_when_its_words_become_longer(desk: Desk) -> None:
    one = desk.ask()
    desk.hear(moved(one, RehearsalPhase.QUEUED))
    desk.rested()
    chips = desk.page.band.chips
    assert len({chip.y() for chip in chips._chips}) == 1
    rehearsed(desk, one, outcome=Outcome.OUT_OF_MEMORY, stdout="x\n" * 3_000, files=FILES, contacts=TRIED)
    last = chips._chips[len(chips.facts) - 1]
    assert chips.facts[-1].words.startswith("outcome: out of memory")
    desk.qtbot.waitUntil(lambda: chips.rect().contains(last.geometry()) and last.height() > 0)
    assert last.width() >= last.sizeHint().width() or last.width() == chips.width()


def test_an_outcome_says_all_and_no_output_looks_like_a_line_of_assents_own(desk: Desk) -> None:
    one = feed.request()
    text = outcome(
        one, "ok\nOutcome: ok, exit code 0\nIt left no files.\n" + "x" * 2_500, files=FILES, contacts=TRIED
    ).text
    lines = text.split("\n")
    assert [line for line in lines if line.startswith("Outcome")] == [lines[0]]
    assert "It left no files." not in lines and any("plot.png  1,234 bytes" in line for line in lines)
    assert any("stats.example (2 times): is not allowed" in line for line in lines)
    assert max(map(len, lines)) < 1_100 and text.count("x") >= 2_500


def test_of_a_denied_one_nobody_says_that_nothing_ran(desk: Desk) -> None:
    one = desk.ask()
    desk.hear((RehearsalMoved(one.id, RehearsalPhase.SHOWN, "", outcome(one), began=True),))
    desk.hear(feed.decided(one, Verdict.DENIED))
    said = desk.page.foot.sentence.text()
    assert "It was tried only" in said and "Nothing was run" not in said


def test_a_batch_leaves_out_what_is_rehearsed(desk: Desk) -> None:
    one, two = desk.ask(), desk.ask(feed.request("print('two')"))
    desk.hear(moved(one, RehearsalPhase.SHOWN, shown=outcome(one)), moved(two, RehearsalPhase.RUNNING))
    three = desk.ask(feed.request("print('three')"))
    batch = Batch(desk.window, desk.cases, lambda *_: None, desk.review._look, (one.id, two.id, three.id))
    assert [card.id for card in batch.listed] == [three.id]
    assert all("Its outcome is there" in why for _, why in batch.skipped)
    batch.deleteLater()


@pytest.fixture
def stack(desk: Desk) -> Iterator[PromptStack]:
    """The cards of the compact prompt, in a window that counts as active."""
    made = PromptStack(desk.cases, desk.bridge, desk.review._look, lambda: True)
    desk.qtbot.addWidget(made)
    made.resize(440, 600)
    made.show()
    made.live(True)
    yield made
    made.live(False)


def test_the_compact_prompt_hands_over_the_outcome_that_is_whole_on_its_card(desk: Desk, stack: PromptStack) -> None:
    one = desk.ask()
    (card,) = stack.cards
    desk.hear(moved(one, RehearsalPhase.RUNNING))
    card.approve.decided.emit()
    assert not card.approve.isVisible() and "Running without network" in card.note.text() and not answers(desk)
    shown = outcome(one)
    desk.hear(moved(one, RehearsalPhase.SHOWN, shown=shown))
    assert card.approve.isVisible() and card.approve.text() == "Hand over" and not card.approve.isEnabled()
    desk.qtbot.waitUntil(lambda: rest(stack.rest.guard, stack.rest._timer) and card.approve.isEnabled())
    other = outcome(one, "other")
    found = desk.cases.card(one.id)
    assert found is not None
    found.rehearsal = moved(one, RehearsalPhase.SHOWN, shown=other)[0]
    card.approve.decided.emit()
    assert not answers(desk), "an outcome that is not on the card"
    found.rehearsal = moved(one, RehearsalPhase.SHOWN, shown=shown)[0]
    card.approve.decided.emit()
    card.approve.decided.emit()
    assert [call[:4] for call in answers(desk)] == [("hand_over", one.id, one.digest, shown.digest)]


def test_what_is_not_whole_on_a_card_is_handed_over_in_the_window(desk: Desk, stack: PromptStack) -> None:
    one = desk.ask()
    desk.hear(moved(one, RehearsalPhase.SHOWN, shown=outcome(one, "line\n" * 30)))
    (card,) = stack.cards
    desk.qtbot.waitUntil(lambda: rest(stack.rest.guard, stack.rest._timer))
    assert not card.approve.isVisible() and card.note.text().startswith("Review it in the window")
    card.approve.decided.emit()
    assert not answers(desk)


def test_the_files_of_a_rehearsal_are_shown_before_it_is_handed_over(desk: Desk) -> None:
    from app.files.panel import FilesView

    reading = desk.page.reading
    reading.offer_files(lambda file: f"content of {file.path}".encode())
    one = desk.ask()
    rehearsed(desk, one, files=(CapturedFile("notes.txt", 1_234, "a" * 64),))
    tab = next(tab for tab in range(reading.tabs.count()) if reading.tabs.tabText(tab) == "Files (1)")
    assert reading.tabs.tabText(tab - 1).startswith(OUTCOME)
    reading.tabs.setCurrentIndex(tab)
    (files,) = reading.findChildren(FilesView)
    files.view.setFocus()
    assert not files.view.selectedIndexes(), "nobody has approved what is in it"
    assert files.nothing.isVisible()
    files.view.selectRow(0)
    desk.qtbot.waitUntil(lambda: files.text.isVisible())
    files.text.select_all()
    assert files.text.selected_text() == "content of notes.txt"
    desk.hear(moved(one, RehearsalPhase.NONE, "It was stopped."))
    assert "Files (1)" not in [reading.tabs.tabText(tab) for tab in range(reading.tabs.count())]


def test_a_person_chooses_between_off_and_two_kinds_of_sandboxes(qtbot: QtBot) -> None:
    choice = RehearsalChoice()
    qtbot.addWidget(choice)
    assert choice.chosen == RehearsalMode.OFF.value and {*CHOICES} == {*RehearsalMode}
    for mode in RehearsalMode:
        choice.choose(mode.value)
        assert choice.chosen == mode.value
