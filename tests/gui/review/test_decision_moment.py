"""Twenty requests as they come on screen: the sentence, the colour, the line to look at and the chips of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.prompt import words as card_words
from app.prompt.words import CardChip
from app.review.again import SECONDS, USES
from app.state import attention
from runner.model.assessment import NO_FINDINGS, NOTHING_STANDS_OUT, Level
from runner.model.errors import KnownError
from runner.model.events import SandboxesChanged
from runner.model.kept_sandbox import Kept
from runner.model.request import ClientTool, Isolation, Language, NetworkMode, Tool, WorkPlace
from runner.model.span import Span
from runner.model.verdict import RiskVerdict
from runner.policy.grants import Choice, Subject, make
from tests.gui import feed
from tests.gui.elapse import rest
from tests.gui.scenes import decision_scenes
from tests.risk.decision_requests import REQUESTS

if TYPE_CHECKING:
    from app.review.again import ApproveAgain
    from tests.gui.conftest import Desk

EMPTY = ("Empty sandbox, none of your files", "no network", "ends after 30 s")


def show(desk: Desk, number: int) -> None:
    """Put one of the requests on screen, in place of the one before."""
    for card in desk.cases.waiting():
        desk.hear(feed.decided(card.request))
    desk.window.deciding.queue.choose("")
    desk.review.clear()
    desk.hear(decision_scenes.asked(REQUESTS[number]))


def chips(desk: Desk) -> dict[str, str]:
    """The words of the chips, with the token in which each is written."""
    return {fact.words: fact.ink for fact in desk.page.band.facts}


def test_each_of_twenty_requests_shows_what_decides_it(desk: Desk) -> None:
    for number, one in enumerate(REQUESTS):
        show(desk, number)
        band, header, tokens = desk.page.band, desk.page.header, desk.window._look.tokens
        found = decision_scenes.assessed(one.name)
        assert band.isVisible() and band.sentence.text() == found.verdict.sentence != "", one.name
        assert band.level is header.badge.level is one.attention, one.name
        assert header.title.text() == f"\N{LEFT DOUBLE QUOTATION MARK}{one.title}\N{RIGHT DOUBLE QUOTATION MARK}"
        assert band.grab().toImage().pixelColor(1, band.height() // 2).name() == tokens.ink(one.attention), one.name
        words = chips(desk)
        assert tuple(words)[:3] == EMPTY and {words[chip] for chip in EMPTY} == {"low"}, one.name
        line = found.verdict.look_at.line if found.verdict.look_at is not None else 0
        assert band.look_at.isVisible() is (line > 0), one.name
        if line:
            assert band.look_at.text().startswith(f"Look at line {line}: "), one.name
            band.look_at.click()
            assert desk.page.reading.code._selection.caret.line == line - 1, one.name


def test_most_of_an_ordinary_day_is_calm_and_what_is_not_stands_above_it(desk: Desk) -> None:
    desk.hear(tuple(event for one in REQUESTS for event in decision_scenes.asked(one)))
    queue = desk.window.deciding.queue.model
    cards = [card for row in range(queue.rowCount()) if (card := queue.card(row)) is not None]
    assert [attention.rank(card) for card in cards] == sorted(map(attention.rank, cards), reverse=True)
    assert cards[0].assessment is decision_scenes.assessed("d3")
    assert attention.worst_ink(cards) == "critical"


def test_what_runs_into_its_sandbox_is_said_and_is_not_red(desk: Desk) -> None:
    show(desk, [one.name for one in REQUESTS].index("h5"))
    assert chips(desk)["git finds no repository in this sandbox"] == "muted"
    assert desk.page.header.badge.accessibleName() == NO_FINDINGS


def test_findings_that_are_all_low_are_not_called_none(desk: Desk) -> None:
    low = feed.assessment(Level.HIGH, feed.finding(1, "Deletes files.", Level.LOW))
    for assessment, words in ((low, NOTHING_STANDS_OUT), (feed.assessment(), NO_FINDINGS)):
        card = desk.ask(feed.request(), assessment)
        desk.window.deciding.show_request(card.id)
        found = desk.cases.card(card.id)
        assert found is not None
        assert desk.page.header.badge.accessibleName() == words == attention.words(found)
        assert card_words.chips(found)[0] == CardChip(words, "low")
        assert attention.ink(found) == "neutral"


def test_what_does_not_contain_is_amber(desk: Desk) -> None:
    kept = Kept("3f9c", "claude-code", Language.PYTHON, Isolation.LOCAL, 1.0, uses=4)
    desk.hear((SandboxesChanged((kept,)),))
    one = feed.request("print(1)", sandbox="3f9c", network=NetworkMode.DOMAINS, domains=("files.example",))
    desk.ask(one)
    words = chips(desk)
    place = next(word for word in words if "kept sandbox" in word)
    assert place.startswith("claude-code's kept sandbox, 4 calls since ") and words[place] == "medium"
    assert words["may reach files.example"] == "medium" and words["ends after 30 s"] == "low"
    desk.hear((SandboxesChanged((replace(kept, uses=0),)), *feed.decided(one)))
    again = desk.ask(replace(one, id="again", network=NetworkMode.NONE, domains=()))
    desk.window.deciding.show_request(again.id)
    assert set(chips(desk).values()) == {"low"}, "a kept sandbox that nothing has used yet is empty"


def test_a_run_over_a_working_copy_is_not_called_empty(desk: Desk) -> None:
    desk.ask(feed.request("print(1)", work=WorkPlace("project-1", "/home/me/project")))
    words = chips(desk)
    place = next(word for word in words if "working copy" in word)
    assert "/home/me/project" in place and words[place] == "medium"
    assert not [word for word in words if "none of your files" in word]
    assert "over a working copy" in desk.page.header.below.text()


def test_no_name_pushes_the_end_of_the_sentence_out_of_sight(desk: Desk) -> None:
    desk.window.frame.resize(960, 600)
    names = [f"{sign * 22}\N{HORIZONTAL ELLIPSIS}{sign * 21}" for sign in "WM"]
    sentence = f"Makes the folder {names[0]} and the folder {names[1]} and deletes what it finds."
    desk.ask(feed.request(), replace(feed.assessment(), verdict=RiskVerdict(sentence)))
    label = desk.page.band.sentence
    desk.qtbot.waitUntil(lambda: label.height() >= label.heightForWidth(label.width()) > 4 * label.font().pointSize())


def test_names_of_hosts_push_nothing_out_of_the_window(desk: Desk) -> None:
    hosts = tuple(f"{sign * 60}.{sign * 60}.{sign * 60}.example:443" for sign in "ab")
    desk.ask(feed.request("print(1)", network=NetworkMode.DOMAINS, domains=hosts), feed.assessment(Level.CRITICAL))
    page = desk.page
    page.grab()
    assert page.minimumSizeHint().width() <= 900 and page.width() <= desk.review.width()
    place = page.foot.deny.mapTo(desk.window, page.foot.deny.rect().bottomRight())
    assert desk.window.rect().contains(place) and desk.window.rect().right() - place.x() < 400
    assert next(word for word in chips(desk) if "reach" in word).startswith("may reach 2 hosts: aaa")


@pytest.mark.parametrize("isolation", [Isolation.PROCESS, Isolation.LOCAL])
def test_without_a_sandbox_nothing_is_called_contained(desk: Desk, isolation: Isolation) -> None:
    tool = ClientTool("Bash", "/home/me/project", "", "") if isolation is Isolation.LOCAL else None
    one = feed.request("cat notes.txt", language=Language.SHELL, client=tool, isolation=isolation)
    desk.ask(replace(one, tool=Tool.CLIENT_SHELL) if tool else one)
    words = chips(desk)
    assert not any("none of your files" in word or word == "no network" for word in words)
    assert not any("not in this sandbox" in word for word in words), "nothing refuses it there"
    assert [ink for word, ink in words.items() if not word.startswith("ends after")].count("medium") >= 2


def test_what_an_agent_puts_into_the_sentence_stays_text(desk: Desk) -> None:
    found = feed.assessment(Level.HIGH, feed.finding(1, "<b>Bold</b> & \u202enamed."))
    hostile = RiskVerdict("Deletes <b>x</b>\u202e & more.", look_at=Span(1, 0, 1, 4))
    desk.ask(feed.request("print(1)"), replace(found, verdict=hostile))
    band = desk.page.band
    assert band.sentence.textFormat() is Qt.TextFormat.PlainText
    assert band.sentence.text().startswith("Deletes <b>x</b>") and "\u202e" not in band.sentence.text()
    assert band.look_at.text().startswith("Look at line 1: <b>Bold</b> && ") and "\u202e" not in band.look_at.text()


def test_at_1280_pixels_the_code_has_115_columns_and_on_a_wide_screen_its_details_beside_it(desk: Desk) -> None:
    desk.ask(feed.request("print(1)\n" * 20))
    page = desk.page
    desk.qtbot.waitUntil(lambda: page.reading.code._grid.columns == 115)
    assert not page.wide and not page.facts.isVisible()
    desk.window.frame.resize(1700, 900)
    desk.qtbot.waitUntil(lambda: page.wide)
    QApplication.processEvents()
    assert page.facts.isVisible() and page.facts.width() == 360 and page.reading.code.width() <= 960
    tabs = page.reading.tabs
    assert "Details" not in [tabs.tabText(number) for number in range(tabs.count())]
    desk.window.frame.resize(1280, 800)
    desk.qtbot.waitUntil(lambda: not page.wide)
    long = desk.ask(feed.request("print(1)\n" * 200))
    desk.window.deciding.show_request(long.id)
    page.reading.show_details()
    assert page.facts.isVisible()
    desk.rested()
    assert not page.foot.approve.isEnabled(), "the end of the code has not been on screen"


# ---- keys ----


def test_a_shows_more_of_what_is_unseen_and_never_approves_it(desk: Desk) -> None:
    one = desk.ask(feed.request("\n".join(f"step_{number}()" for number in range(60)), stdin="yes\n" * 12))
    desk.rested()
    deciding, code = desk.window.deciding, desk.page.reading.code
    before = code.verticalScrollBar().value()
    deciding._press_approve()
    assert code.verticalScrollBar().value() > before and desk.answers == []
    for _ in range(8):
        if not code.is_seen_to_end:
            deciding._press_approve()
            code.viewport().repaint()
    assert code.is_seen_to_end and desk.answers == []
    deciding._press_approve()
    desk.qtbot.waitUntil(lambda: desk.page.reading.unseen == [])
    assert desk.page.reading.tabs.currentIndex() == 2 and desk.answers == []
    desk.rested()
    deciding._press_approve()
    assert desk.answers == [("approve", one.id, one.digest)]


def test_keys_that_are_printed_on_the_page_work_wherever_the_focus_is(desk: Desk) -> None:
    desk.ask()
    desk.rested()
    desk.window.show_page("Agents")
    desk.qtbot.mouseClick(desk.window.navigation._buttons["Queue"], Qt.MouseButton.LeftButton)
    assert desk.page.reading.code.hasFocus(), "a click on the rail leaves the focus with the page"
    desk.window.toolbar.mode.setFocus()
    desk.rested()
    desk.qtbot.keyClick(desk.window.toolbar.mode, Qt.Key.Key_D)
    assert desk.page.foot.denial.field.hasFocus()


def test_a_key_that_can_do_nothing_points_at_the_words_that_say_why(desk: Desk) -> None:
    why = "A critical request needs at least Docker."
    desk.ask(None, feed.assessment(Level.LOW), blocked=why)
    desk.rested()
    desk.window.deciding._press_approve()
    assert desk.page.foot.sentence.property("flash") is True and desk.page.foot.sentence.text() == why
    desk.qtbot.waitUntil(lambda: desk.page.foot.sentence.property("flash") is False)


# ---- approving and not being asked again ----


def offered(desk: Desk) -> ApproveAgain:
    """The list of what may be remembered, once it takes a press."""
    desk.rested()
    desk.qtbot.mouseClick(desk.page.foot.remember, Qt.MouseButton.LeftButton)
    again = desk.page.foot.again
    desk.qtbot.waitUntil(again.isVisible)
    return again


def test_approve_and_remember_is_one_act_of_two_answers_of_the_engine(desk: Desk) -> None:
    one = desk.ask()
    again = offered(desk)
    button = again.buttons[Subject.EXACT]
    for which in (Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_A):
        desk.qtbot.keyClick(again, which)
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert [call for call in desk.bridge.calls if call[0] != "preview"] == [], "the second click of two was taken"
    desk.qtbot.waitUntil(lambda: rest(again.guard, again._rest) and button.isEnabled())
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    choice = Choice(Subject.EXACT, USES, SECONDS)
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("remember"))
    assert desk.bridge.calls[-1] == ("remember", one.id, one.digest, choice) and desk.answers == []
    grant = make(one, feed.assessment(), choice, 1.0, "s")
    desk.give("remember", grant)
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("approve"))
    assert desk.answers == [("approve", one.id, one.digest)]
    desk.give("approve", "The agent withdrew this request.")
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("revoke_grant"))
    assert desk.bridge.calls[-1] == ("revoke_grant", grant.name), "what was not approved is not remembered either"


def test_what_cannot_be_remembered_is_not_approved_either(desk: Desk) -> None:
    desk.ask()
    again = offered(desk)
    desk.give("preview", KnownError("Nothing in it could vary."))
    desk.qtbot.waitUntil(lambda: not again._possible[Subject.SHAPE])
    assert not again.buttons[Subject.SHAPE].isEnabled()
    desk.qtbot.waitUntil(lambda: rest(again.guard, again._rest) and again.buttons[Subject.EXACT].isEnabled())
    assert not again.buttons[Subject.SHAPE].isEnabled()
    desk.qtbot.mouseClick(again.buttons[Subject.EXACT], Qt.MouseButton.LeftButton)
    desk.give("remember", KnownError("The disk is full."))
    desk.qtbot.waitUntil(desk.page.notice.isVisible)
    assert desk.answers == [] and "The disk is full." in desk.page.notice.text


def test_critical_is_never_remembered_beside_its_approval(desk: Desk) -> None:
    desk.ask(None, feed.assessment(Level.CRITICAL))
    desk.rest_passes()
    desk.qtbot.mouseClick(desk.page.foot.remember, Qt.MouseButton.LeftButton)
    desk.page.foot.again.chosen.emit(Choice(Subject.EXACT, USES, SECONDS))
    assert not desk.page.foot.again.isVisible() and desk.bridge.calls == []
