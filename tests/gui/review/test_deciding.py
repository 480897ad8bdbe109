"""Looking closer before deciding: a person's version, what has changed, pauses, and what was missed."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor

from app.history.detail import VERSION, Detail
from app.review.answering import LATER_WORDS
from app.review.batch import Batch
from app.review.deciding import OVER
from app.review.editor import can_edit
from app.review.giving_way import TOUCHED_SECONDS
from app.review.joined import grouped, joined
from app.state.cards import Card
from runner.approval.deliberate import ApproveBy
from runner.approval.draft import Draft
from runner.approval.editing import Earlier, Version
from runner.approval.pattern import pattern
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.difference import difference
from runner.model.events import ApprovalArmed, ApprovalSpent, QuestionPaused, QuestionsMoved, RequestEdited
from runner.model.request import Tool
from runner.system.clock import since_boot
from tests.audit import story
from tests.gui import feed, record
from tests.gui.elapse import rest
from tests.gui.seeing import to_the_end
from tests.recorded import record_in

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.model.request import Request
    from runner.system.places import Places
    from tests.gui.conftest import Desk

LEFT = Qt.MouseButton.LeftButton
CONTROL = Qt.KeyboardModifier.ControlModifier


def key(desk: Desk, which: Qt.Key) -> None:
    desk.qtbot.keyClick(desk.window, which)


def drafts(desk: Desk) -> list[tuple[Any, ...]]:
    return [call for call in desk.bridge.calls if call[0] == "draft"]


def write(desk: Desk, text: str) -> None:
    """Replace the code in the editor as a person would: select, type."""
    desk.page.reading.editor.selectAll()
    desk.qtbot.keyClicks(desk.page.reading.editor, text)


def assessed(desk: Desk, one: Request, level: Level = Level.HIGH, blocked: str = "", *findings: Any) -> Draft:
    """The engine has assessed what was asked last."""
    desk.qtbot.waitUntil(lambda: bool(drafts(desk)))
    _, _, version = drafts(desk)[-1]
    request = replace(one, code=version.code, limits=version.limits)
    draft = Draft(request, feed.assessment(level, *findings), blocked)
    desk.give("draft", draft)
    return draft


# ---- a person's version ----


def test_a_version_is_assessed_seen_as_a_whole_and_approved_with_both_digests(desk: Desk) -> None:
    one = desk.ask(feed.request("print(1)"))
    desk.rested()
    desk.review.focus_neutral()
    key(desk, Qt.Key.Key_E)
    assert desk.page.reading.editing and desk.page.reading.editor.hasFocus()
    assert not desk.page.foot.approve.isVisible()
    write(desk, "print(2)")
    draft = assessed(desk, one)
    desk.qtbot.keyClick(desk.page.reading.editor, Qt.Key.Key_Return, CONTROL)
    assert not desk.page.reading.editing and desk.answers == []
    assert desk.page.reading.code.selected_text() == "print(2)"
    desk.rested()
    assert desk.page.foot.approve.text() == "Approve your version once  A"
    assert desk.answers == []
    desk.qtbot.mouseClick(desk.page.foot.approve, LEFT)
    assert desk.bridge.calls[-1] == (
        "approve_edited",
        one.id,
        one.digest,
        Version("print(2)", one.limits),
        draft.request.digest,
    )


def test_header_badge_and_digest_follow_the_version(desk: Desk) -> None:
    """Regression 14: the header shows the original after an edit."""
    one = desk.ask(feed.request("print(1)"))
    desk.rested()
    key(desk, Qt.Key.Key_E)
    write(desk, "rm()")
    draft = assessed(desk, one, Level.CRITICAL, "", feed.finding(1, "Deletes everything.", Level.CRITICAL))
    header = desk.page.header
    assert header._digest == draft.request.digest != one.digest
    assert "edited by you" in header.below.text() and draft.request.digest[:8] in header.below.text()
    assert header.badge.accessibleName().startswith("CRITICAL") or "CRITICAL" in header.badge.accessibleName().upper()
    desk.page.foot.done.click()
    desk.rested()
    assert desk.page.foot.approve.text().startswith("Hold to approve")
    desk.qtbot.mouseClick(desk.page.foot.approve, LEFT)
    assert not [call for call in desk.bridge.calls if call[0] == "approve_edited"]


def test_one_version_is_assessed_at_a_time_and_the_newest_counts(desk: Desk) -> None:
    one = desk.ask(feed.request("print(1)"))
    desk.rested()
    key(desk, Qt.Key.Key_E)
    write(desk, "print(2)")
    desk.qtbot.waitUntil(lambda: len(drafts(desk)) == 1)
    desk.qtbot.keyClicks(desk.page.reading.editor, " ")
    desk.qtbot.keyClick(desk.page.reading.editor, Qt.Key.Key_Return, CONTROL)
    assert len(drafts(desk)) == 1 and desk.page.reading.editing
    assessed(desk, one)
    assert len(drafts(desk)) == 2 and desk.page.reading.editing, "a version that is not on screen any more was taken"
    assessed(desk, one)
    assert not desk.page.reading.editing
    assert desk.review.shown is not None and desk.review.shown.request.code == "print(2) "


def test_leaving_the_editor_brings_the_request_back_as_it_was(desk: Desk) -> None:
    one = desk.ask(feed.request("print(1)"))
    desk.rested()
    key(desk, Qt.Key.Key_E)
    write(desk, "print(2)")
    assessed(desk, one)
    desk.qtbot.keyClick(desk.page.reading.editor, Qt.Key.Key_Escape)
    assert desk.page.reading.code.selected_text() == "print(1)"
    desk.rested()
    desk.qtbot.mouseClick(desk.page.foot.approve, LEFT)
    assert desk.answers == [("approve", one.id, one.digest)]


def test_a_version_that_may_not_run_here_cannot_be_approved(desk: Desk) -> None:
    one = desk.ask(feed.request("print(1)"))
    desk.rested()
    key(desk, Qt.Key.Key_E)
    write(desk, "rm()")
    assessed(desk, one, Level.CRITICAL, "Not on the local sandbox.")
    desk.page.foot.done.click()
    desk.rest_passes()
    assert not desk.page.foot.approve.isEnabled()
    assert desk.page.foot.sentence.text() == "Not on the local sandbox."


def test_the_letters_of_decisions_are_typed_in_the_editor(desk: Desk) -> None:
    desk.ask(feed.request("print(1)"))
    desk.rested()
    key(desk, Qt.Key.Key_E)
    desk.page.reading.editor.moveCursor(QTextCursor.MoveOperation.End)
    desk.qtbot.keyClicks(desk.page.reading.editor, "adejkr")
    assert desk.page.reading.editor.code == "print(1)adejkr"
    assert desk.answers == []


def test_a_request_that_is_withdrawn_leaves_the_editor(desk: Desk) -> None:
    one = desk.ask(feed.request("print(1)"))
    desk.rested()
    key(desk, Qt.Key.Key_E)
    write(desk, "print(2)")
    desk.hear(feed.decided(one, Verdict.WITHDRAWN, Decider.AGENT))
    assert not desk.page.reading.editing
    assert desk.page.foot.sentence.text().startswith("The agent withdrew this request.")
    desk.page.foot.approve.decided.emit()
    assert not [call for call in desk.bridge.calls if call[0].startswith("approve")]


def test_what_was_approved_is_what_the_window_knows_from_then_on(desk: Desk) -> None:
    one = desk.ask(feed.request("print(1)"))
    mine = replace(one, code="print(2)")
    desk.hear((RequestEdited(one.id, mine, feed.assessment()),))
    card = desk.cases.card(one.id)
    assert card is not None and card.digest == mine.digest and card.original == one


@pytest.mark.parametrize("code", ["x = 1\r\ny = 2", "x\u2028y", "a\u00a0b", "x" * 5000])
def test_code_that_an_editor_would_change_silently_is_not_edited(desk: Desk, code: str) -> None:
    assert can_edit(code)
    desk.ask(feed.request(code))
    desk.rested()
    desk.page.foot.edit.click()
    assert not desk.page.reading.editing and desk.page.notice.isVisible()


# ---- what has changed ----


def test_changes_show_what_is_new_with_its_findings(desk: Desk) -> None:
    old = "\n".join(f"line_{number}()" for number in range(30))
    one = desk.ask(
        feed.request(old.replace("line_20()", "send()")), feed.assessment(Level.HIGH, feed.finding(21, "Sends it."))
    )
    desk.qtbot.waitUntil(lambda: ("earlier", one.id) in desk.bridge.asides)
    desk.give("earlier", Earlier(time.time() - 5, difference(old, one.code)))
    assert desk.page.reading.tabs.tabText(1) == "Changes +1 \N{MINUS SIGN}1"
    desk.page.reading.tabs.setCurrentIndex(1)
    text = desk.page.reading.changes.toPlainText()
    assert "+   21  send()\n        \N{BOX DRAWINGS LIGHT UP AND RIGHT} High: Sends it." in text
    assert "-   21  line_20()" in text
    assert "17 unchanged lines" in text and "line_3()" not in text


def test_changes_of_another_request_are_not_shown(desk: Desk) -> None:
    desk.ask(feed.request("print(1)"))
    other = desk.ask(feed.request("print(2)"))
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("earlier"))
    desk.window.deciding.show_request(other.id)
    desk.give("earlier", Earlier(time.time(), difference("a", "b")))
    assert desk.page.reading.tabs.tabText(1) == "Changes"


def test_hidden_characters_are_visible_in_changes(desk: Desk) -> None:
    one = desk.ask(feed.request("print(1)\u202e"))
    desk.give("earlier", Earlier(time.time(), difference("print(1)", one.code)))
    assert "\u202e" not in desk.page.reading.changes.toPlainText()


def test_the_whole_code_has_to_be_seen_even_where_only_little_changed(desk: Desk) -> None:
    desk.ask(feed.request("\n".join(f"step_{number}()" for number in range(400))))
    desk.give("earlier", Earlier(time.time(), ()))
    desk.page.reading.tabs.setCurrentIndex(1)
    desk.rest_passes()
    assert not desk.page.foot.approve.isEnabled()


def test_after_an_edit_the_changes_are_ones_own(desk: Desk) -> None:
    one = desk.ask(feed.request("print(1)\nprint(2)"))
    desk.rested()
    key(desk, Qt.Key.Key_E)
    desk.page.reading.editor.setPlainText("print(1)\nprint(3)")
    assessed(desk, one)
    desk.page.foot.done.click()
    tabs, changes = desk.page.reading.tabs, desk.page.reading.changes
    desk.qtbot.waitUntil(lambda: tabs.tabText(1) == "Changes +1 \N{MINUS SIGN}1")
    assert changes.toPlainText().startswith("What you changed:") and "+    2  print(3)" in changes.toPlainText()
    if desk.bridge.waits("earlier"):
        desk.give("earlier", Earlier(time.time(), difference("a", "b")))
    assert changes.toPlainText().startswith("What you changed:"), "it was asked for before the edit"
    key(desk, Qt.Key.Key_E)
    desk.page.foot.discard.click()
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("earlier"))
    desk.give("earlier", Earlier(time.time(), ()))
    assert changes.toPlainText().startswith("The same code was approved")


def test_the_editor_has_the_colors_of_code_and_leaves_its_text_alone(desk: Desk) -> None:
    code = "# \U0001f600 note\nprint('a')"
    desk.ask(feed.request(code))
    desk.rested()
    key(desk, Qt.Key.Key_E)
    editor = desk.page.reading.editor
    told: list[str] = []
    editor.changed.connect(told.append)

    def colors(line: int) -> list[tuple[int, int]]:
        layout = editor.document().findBlockByNumber(line).layout()
        return [(one.start, one.length) for one in layout.formats()]

    desk.qtbot.waitUntil(lambda: colors(0) == [(0, 9)] and (6, 3) in colors(1))
    assert editor.code == code and told == [] and not drafts(desk), "colors are no change"


# ---- pauses ----


def test_that_a_request_came_on_screen_pauses_nothing_and_the_first_touch_does_once(desk: Desk) -> None:
    one = desk.ask()
    desk.rested()
    looks = [aside for aside in desk.bridge.asides if aside[0] == "look_at"]
    assert looks == []
    for _ in range(3):
        desk.qtbot.mouseClick(desk.page.reading.code.viewport(), LEFT, pos=QPoint(60, 10))
    assert [aside for aside in desk.bridge.asides if aside[0] == "look_at"] == [("look_at", one.id)]


def test_a_pause_is_shown(desk: Desk) -> None:
    one = desk.ask()
    desk.hear((QuestionPaused(one.id, since_boot() + 540, 600),))
    assert "Paused, asks until " in desk.page.header.below.text()
    assert desk.page.header.ring.left > 500


def test_a_deadline_that_moves_with_others_is_on_the_card_too(desk: Desk) -> None:
    one = desk.ask()
    desk.hear((QuestionsMoved(((one.id, since_boot() + 4000, 4060.0),)),))
    assert desk.page.header.ring.left > 3000


# ---- missed ----


def missed(desk: Desk) -> Request:
    one = desk.ask()
    desk.rested()
    desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    return one


def test_what_expired_can_be_approved_for_later_and_that_runs_nothing(desk: Desk) -> None:
    one = missed(desk)
    later = desk.page.foot.later
    assert desk.page.foot.sentence.text() in ("", LATER_WORDS)
    desk.qtbot.mouseClick(later, LEFT)
    assert desk.bridge.calls == [], "a click meant for the question was taken for its late approval"
    desk.rest_passes()
    assert later.isEnabled() and not desk.page.foot.approve.isVisible()
    assert desk.page.foot.sentence.text() == LATER_WORDS
    assert later.text() == "Approve for later"
    desk.qtbot.mouseClick(later, LEFT)
    assert desk.bridge.calls == [("arm", one.id, one.digest)]
    desk.hear((ApprovalArmed(one.id, since_boot() + 600, 600.0),))
    assert not later.isVisible()
    assert desk.page.foot.sentence.text().startswith("Approved for later: it runs once")
    desk.hear((ApprovalSpent(one.id, used=False),))
    assert later.isVisible()


HELD = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.mark.parametrize("level", [Level.HIGH, Level.CRITICAL])
def test_no_key_approves_what_is_over(desk: Desk, level: Level) -> None:
    """A letter that was meant for the request that waits armed the one that had expired."""
    one = desk.ask(None, feed.assessment(level))
    desk.rested()
    desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    desk.rest_passes()
    desk.review.focus_neutral()
    for which in (Qt.Key.Key_A, Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_D, Qt.Key.Key_E):
        key(desk, which)
    desk.page.foot.approve.press_key()
    desk.page.foot.approve.decided.emit()
    desk.qtbot.keyPress(desk.page.reading.code, Qt.Key.Key_A, HELD)
    assert not desk.page.foot.later._frames.isActive() and not desk.page.foot.approve._frames.isActive()
    assert desk.bridge.calls == []


def test_a_for_what_is_over_only_brings_the_next_question_on_screen(desk: Desk) -> None:
    gone = desk.ask(feed.request("print(1)"))
    desk.rested()
    desk.window.deciding._giving_way.touch()
    desk.hear(feed.decided(gone, Verdict.EXPIRED, Decider.ENGINE))
    other = desk.ask(feed.request("print(2)"))
    assert desk.review.card is not None and desk.review.card.id == gone.id
    desk.rest_passes()
    desk.review.focus_neutral()
    key(desk, Qt.Key.Key_A)
    assert desk.review.card is not None and desk.review.card.id == other.id
    assert desk.bridge.calls == []


def test_a_pin_that_was_asked_for_in_time_arms_nothing_after_the_time(desk: Desk) -> None:
    desk.bridge.approve_by = ApproveBy.PIN
    one = desk.ask()
    desk.rested()
    desk.qtbot.mouseClick(desk.page.foot.approve, LEFT)
    desk.page.foot.pin.field.insert("4711")
    desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    desk.page.foot.pin.approved.emit("4711")
    desk.rest_passes()
    desk.page.foot.pin.approved.emit("4711")
    assert desk.bridge.calls == []


def test_an_approval_for_later_can_be_taken_back(desk: Desk) -> None:
    one = missed(desk)
    assert not desk.page.foot.take_back.isVisible()
    desk.hear((ApprovalArmed(one.id, since_boot() + 600, 600.0),))
    desk.qtbot.mouseClick(desk.page.foot.take_back, LEFT)
    desk.qtbot.mouseClick(desk.page.foot.take_back, LEFT)
    assert desk.bridge.calls == [("take_back", one.id)]
    desk.give("take_back", "There is nothing to take back.")
    assert desk.page.notice.text == "There is nothing to take back." and desk.page.foot.take_back.isEnabled()
    desk.qtbot.mouseClick(desk.page.foot.take_back, LEFT)
    desk.hear((ApprovalSpent(one.id, used=False),))
    assert not desk.page.foot.take_back.isVisible() and desk.page.foot.later.isVisible()


def test_what_is_over_gives_way_once_nobody_touches_it(desk: Desk) -> None:
    now = 1000.0
    giving_way = desk.window.deciding._giving_way
    giving_way._clock = lambda: now
    gone = desk.ask(feed.request("print(1)"))
    late, soon = (desk.ask(feed.request(f"print({left})"), left=left) for left in (50.0, 20.0))
    giving_way.touch()
    desk.hear(feed.decided(gone, Verdict.EXPIRED, Decider.ENGINE))
    now += TOUCHED_SECONDS - 1
    giving_way.look()
    assert desk.review.card is not None and desk.review.card.id == gone.id
    now += 1
    giving_way.look()
    assert desk.review.card.id == soon.id != late.id
    assert desk.page.foot.sentence.text().startswith(OVER) and not desk.page.foot.approve.isEnabled()
    key(desk, Qt.Key.Key_A)
    assert desk.answers == []


def test_a_question_gives_way_to_nothing(desk: Desk) -> None:
    one = desk.ask(feed.request("print(1)"), left=50.0)
    desk.ask(feed.request("print(2)"), feed.assessment(Level.CRITICAL), left=5.0)
    desk.window.deciding._giving_way.look()
    assert desk.review.card is not None and desk.review.card.id == one.id


def test_missed_requests_are_listed_until_dismissed(desk: Desk) -> None:
    one = missed(desk)
    queue = desk.window.deciding.queue
    rows = [queue.model.text(row) for row in range(queue.model.rowCount())]
    assert rows[0] == "Missed" and "missed" in rows[1]
    assert desk.window.navigation._buttons["Queue"]._count == 0
    desk.page.foot.next.click()
    assert desk.cases.card(one.id) is None
    assert queue.model.rowCount() == 0


def test_denying_is_not_offered_for_what_is_over(desk: Desk) -> None:
    missed(desk)
    desk.rest_passes()
    assert desk.page.foot.later.isEnabled()
    assert not desk.page.foot.deny.isVisible() and not desk.page.foot.edit.isVisible()


# ---- a key for what is not on screen ----


@pytest.mark.parametrize("which", [Qt.Key.Key_A, Qt.Key.Key_D, Qt.Key.Key_E])
def test_a_key_for_a_request_that_is_not_on_screen_only_brings_it_there(desk: Desk, which: Qt.Key) -> None:
    """Regression 2."""
    gone = desk.ask(feed.request("print(1)"))
    other = desk.ask(feed.request("print(2)"))
    desk.rested()
    desk.hear(feed.decided(gone, Verdict.WITHDRAWN, Decider.AGENT))
    desk.review.focus_neutral()
    key(desk, which)
    assert desk.review.card is not None and desk.review.card.id == other.id
    desk.rested()
    assert desk.page.foot.sentence.text().endswith("Approve?")
    assert desk.answers == [] and not desk.page.reading.editing and not desk.page.foot.denial.isVisible()


# ---- several at once ----


def alike(desk: Desk, count: int, agent: str = "claude-code") -> list[Request]:
    return [desk.ask(feed.request(f"print({number}, 'x{number}')", agent)) for number in range(count)]


def batch(desk: Desk) -> Batch:
    desk.window.deciding.queue.bar.batch.click()
    found = desk.window.deciding.findChild(Batch)
    assert found is not None
    desk.qtbot.waitUntil(found.isActiveWindow)
    return found


def rest_passes(desk: Desk, found: Batch) -> None:
    desk.qtbot.waitUntil(lambda: rest(found.guard, found._rest))


def test_near_identical_requests_stand_behind_one_and_can_be_listed(desk: Desk) -> None:
    alike(desk, 4)
    desk.ask(feed.request("print(1, 'x')", "codex"))
    desk.ask(feed.request("open('x')"))
    queue = desk.window.deciding.queue
    assert queue.model.rowCount() == 5, "two lanes, a group, and two requests of which no other is like"
    assert queue.model.text(1).endswith("3 more alike")
    assert desk.window.navigation._buttons["Queue"]._count == 6
    assert queue.bar.isVisible()
    queue.bar.list.click()
    assert queue.model.rowCount() == 8


def test_a_worse_request_never_hides_behind_others(desk: Desk) -> None:
    alike(desk, 2)
    desk.ask(feed.request("print(7, 'x7')"), feed.assessment(Level.CRITICAL))
    assert desk.window.deciding.queue.model.rowCount() == 3


def test_a_batch_approves_exactly_what_it_lists_once_and_never_what_is_critical(desk: Desk) -> None:
    requests = alike(desk, 3)
    worst = desk.ask(feed.request("rm()"), feed.assessment(Level.CRITICAL))
    desk.window.deciding.queue.bar.mark.click()
    desk.window.deciding.queue.model.marked.add(worst.id)
    found = batch(desk)
    assert [card.id for card in found.listed] == [one.id for one in requests]
    assert [card.id for card, _ in found.skipped] == [worst.id]
    for one in requests:
        assert one.digest[:8] in found.what.text()
    assert "CRITICAL is approved one by one." in found.left_out.text()
    assert found.heading.text() == "Answer 3 requests, each once; 1 more can only be denied here"
    assert found.deny.text() == "Deny 4", "the heading says why these are more"
    desk.qtbot.mouseClick(found.yes, LEFT)
    assert desk.answers == [], "a click at once was taken"
    desk.qtbot.keyClick(found, Qt.Key.Key_Return)
    assert desk.answers == []
    desk.window.deciding.queue.bar.batch.click()
    found = [one for one in desk.window.deciding.findChildren(Batch) if one.isVisible()][-1]
    rest_passes(desk, found)
    desk.qtbot.mouseClick(found.yes, LEFT)
    assert desk.answers == [("approve", one.id, one.digest) for one in requests]


def test_a_batch_shows_every_part_that_decides_and_waits_for_its_end(desk: Desk) -> None:
    requests = [
        desk.ask(feed.request(f"print({number})", context='{"a": 1}', stdin="last\n" * 300)) for number in (1, 2)
    ]
    desk.window.deciding.queue.bar.mark.click()
    desk.window.deciding.queue.model.marked.update(one.id for one in requests)
    found = batch(desk)
    assert len(found.listed) == 2
    found.code.select_all()
    shown = found.code.selected_text()
    for part in requests[0].parts:
        assert part.text in shown
    assert "\n   1   \N{CIRCLED DIGIT ONE} 1\n   2   \N{CIRCLED DIGIT ONE} 2" in shown
    rest_passes(desk, found)
    assert not found.yes.isEnabled()
    to_the_end(desk.qtbot, found.code, found.yes.isEnabled)


def test_a_batch_names_the_file_that_would_be_written(desk: Desk) -> None:
    plain = feed.request("x", title="Notes", language=None, sandbox="3f9c", files=("tools/run.sh",), executable=True)
    written = [desk.ask(replace(plain, id=f"w{n}", code=f"a{n}", tool=Tool.CODE_WRITE_FILE)) for n in range(2)]
    desk.window.deciding.queue.bar.mark.click()
    desk.window.deciding.queue.model.marked.update(one.id for one in written)
    found = batch(desk)
    found.code.select_all()
    shown = found.code.selected_text()
    assert shown.count("File: tools/run.sh\nMay be started as a program: yes\nKept sandbox: 3f9c\na") == 2


def test_what_changes_while_the_batch_is_open_leaves_it(desk: Desk) -> None:
    first, second = alike(desk, 2)
    desk.window.deciding.queue.bar.mark.click()
    found = batch(desk)
    rest_passes(desk, found)
    assert found.yes.isEnabled()
    desk.hear(feed.decided(first, Verdict.WITHDRAWN, Decider.AGENT))
    assert not found.yes.isEnabled()
    assert found.heading.text() == "Answer 1 request, each once", "what is over can not be denied either"
    rest_passes(desk, found)
    desk.qtbot.mouseClick(found.yes, LEFT)
    assert desk.answers == [("approve", second.id, second.digest)]


def test_a_batch_counts_down_to_the_first_of_all_it_answers_until_nothing_is_left(desk: Desk) -> None:
    waiting = [*alike(desk, 2), desk.ask(feed.request("rm()"), feed.assessment(Level.CRITICAL))]
    desk.window.deciding.queue.bar.mark.click()
    desk.window.deciding.queue.model.marked.add(waiting[-1].id)
    found = batch(desk)
    assert found.ring.left > 0
    for one, heading in zip(
        waiting,
        (
            "Answer 1 request, each once; 1 more can only be denied here",
            "1 request can only be denied here",
            "Nothing is left to answer",
        ),
        strict=True,
    ):
        desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
        assert found.heading.text() == heading
    assert not found.ring.left and not found.deny.isEnabled() and found.deny.text() == "Deny 0"


def test_a_batch_denies_everything_that_was_selected_with_its_reason(desk: Desk) -> None:
    requests = alike(desk, 2)
    worst = desk.ask(feed.request("rm()"), feed.assessment(Level.CRITICAL))
    desk.window.deciding.queue.bar.mark.click()
    desk.window.deciding.queue.model.marked.add(worst.id)
    found = batch(desk)
    found.reason.setText("  not\u202e now ")
    for which in (Qt.Key.Key_Return, Qt.Key.Key_Space):
        desk.qtbot.keyClick(found.reason, which)
    desk.qtbot.mouseClick(found.deny, LEFT)
    assert desk.answers == [], "a click at once was taken"
    gone = requests.pop()
    desk.hear(feed.decided(gone, Verdict.WITHDRAWN, Decider.AGENT))
    rest_passes(desk, found)
    assert found.deny.text() == "Deny 2"
    desk.qtbot.mouseClick(found.deny, LEFT)
    assert desk.answers == [("deny", one.id, one.digest, "not now") for one in (*requests, worst)]


def test_a_batch_shows_all_of_the_code_before_it_approves(desk: Desk) -> None:
    for number in range(2):
        desk.ask(feed.request("\n".join(f"step_{step}({number})" for step in range(200))))
    desk.window.deciding.queue.bar.mark.click()
    found = batch(desk)
    rest_passes(desk, found)
    assert not found.yes.isEnabled() and ("attend",) not in desk.bridge.asides
    found.code.setFocus()
    desk.qtbot.keyClick(found.windowHandle(), Qt.Key.Key_End)
    assert ("attend",) in desk.bridge.asides, "what is read in a batch does not expire meanwhile"
    desk.qtbot.waitUntil(found.yes.isEnabled)


# ---- afterwards ----


def test_the_history_shows_both_versions(look: Look, places: Places, qtbot: QtBot) -> None:
    one = story.request("e1", "codex", "print(1)", "Print")
    told = story.approved(one)
    at = next(number for number, (kind, _, _) in enumerate(told) if kind == "approved")
    told.insert(at, ("edited", one.id, {"code": "print(2)", "from": one.digest, "digest": "0" * 64}))
    record.ledger(places.ledger, told)
    found = record_in(places.ledger, one.id)
    detail = Detail(look, lambda _folder: True, lambda _file: b"")
    qtbot.addWidget(detail)
    detail.show_record(found)
    assert detail.code.selected_text() == "print(1)"
    assert detail.extras[VERSION].selected_text() == "print(2)"
    assert "see Your version" in detail.outcome.text()


# ---- a batch of what is alike ----

TEN = """\
import csv
rows = list(csv.reader(open('part-{n}.csv')))
total = 0
for row in rows:
    total += 1
print(total)"""


def card_of(code: str, *findings: Any, **others: Any) -> Card:
    one = feed.request(code, **others)
    return Card(one, 0.0, one.digest, feed.assessment(Level.HIGH, *findings))


def test_what_is_alike_stands_in_a_batch_once_with_its_values_in_rows() -> None:
    found = feed.finding(2, "Reads a file.")
    cards = [card_of(TEN.format(n=n), found) for n in (0, 3, 6)]
    shown = joined(cards)
    assert shown.text.count("total += 1") == 1
    (place,) = shown.places
    lines = shown.text.split("\n")
    assert lines[place.line][place.start : place.end] == "'part-0.csv'" and place.sign == "\N{CIRCLED DIGIT ONE}"
    for number, n in enumerate((0, 3, 6), 1):
        assert f"{number:>4}   \N{CIRCLED DIGIT ONE} 'part-{n}.csv'" in lines
    assert [shown.numbers[one.span.line - 1] for one in shown.findings] == ["2"]
    code = [line for line, number in zip(lines, shown.numbers, strict=True) if number]
    assert "\n".join(code) == cards[0].request.code.removesuffix("\n")


def test_the_rows_put_into_the_places_give_each_code_to_the_letter() -> None:
    codes = [f"a = '{x}'\nb = {y}\nprint('{x}', 10, \"\u2460\")\n" for x, y in (("p", 1), ("q", 22), ("", 3.5))]
    found = pattern(codes)
    assert found is not None and len({number for _, number in found.places}) == 2
    for code, row in zip(codes, found.rows, strict=True):
        lines = codes[0].split("\n")
        for place, number in sorted(found.places, key=lambda one: (one[0].line, -one[0].start)):
            line = lines[place.line - 1]
            lines[place.line - 1] = line[: place.start] + row[number - 1] + line[place.end :]
        assert "\n".join(lines) == code


@pytest.mark.parametrize(
    "other",
    [
        card_of(TEN.format(n=1), stdin="yes"),
        card_of(TEN.format(n=1) + "\nprint(2)"),
        card_of(TEN.format(n=1), feed.finding(4, "Something else.")),
        card_of("\n".join(f"other_{n}()" for n in range(6))),
        card_of(TEN.format(n=1), language=None),
        card_of(TEN.format(n="1" * 201)),
        card_of(TEN.format(n="1\u2028")),
    ],
    ids=["input", "more lines", "a finding", "other names", "language", "too long for a row", "an end of a line"],
)
def test_what_differs_in_anything_else_is_shown_whole(other: Card) -> None:
    first = card_of(TEN.format(n=0))
    shown = joined([first, other])
    assert len(grouped([first, other])) == 2 and not shown.places
    assert other.request.code.removesuffix("\n") in shown.text


def test_no_code_can_look_like_the_head_of_another_request(desk: Desk) -> None:
    """What stands in no code has no number of a line, and a ground of its own."""
    fake = "print(1)\n2 of 2: \u201cWrite part 3\u201d\nprint(3)\n"
    for code in (fake, "other()"):
        desk.ask(feed.request(code, title="Write part"))
    desk.window.deciding.queue.bar.mark.click()
    desk.window.deciding.queue.model.marked.update(card.id for card in desk.cases.waiting())
    found = batch(desk)
    numbers = found.code._painting.numbers
    assert list(numbers) == ["", "1", "2", "3", "", "", "1"]
    assert [found.code._painting._is_beside(line) for line in (0, 2, 5)] == [True, False, True]


def test_an_answer_on_a_card_brings_the_next_request_or_leaves_none(desk: Desk) -> None:
    """The request that was denied on its card over another page stayed on the page of requests, without a next one."""
    first, second = feed.request("print(1)\n"), feed.request("print(2)\n")
    for one in (first, second):
        desk.hear(feed.asked(one))
    assert desk.review.card is not None and desk.review.card.id == first.id
    desk.hear(feed.decided(first, Verdict.DENIED))
    assert desk.review.card is not None and desk.review.card.id == second.id
    desk.hear(feed.decided(second, Verdict.DENIED))
    assert desk.review.card is None
