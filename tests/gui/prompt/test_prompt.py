"""The compact card: what may be approved on it, and that no click counts that was meant for something else."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QEnterEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QWidget

from app.prompt import words
from app.prompt.toast import Toast
from app.prompt.window import PromptWindow
from app.state.cards import Card
from runner.approval.deliberate import ApproveBy
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.model.events import EngineTroubled, RequestAssessed, SandboxesChanged, TroubleCleared
from runner.model.kept_sandbox import Kept
from runner.model.request import (
    ALL_LIMITS,
    MOST_HOSTS_BESIDE,
    Claim,
    ClientTool,
    Isolation,
    Language,
    NetworkMode,
    Request,
    Tool,
)
from runner.model.verdict import RiskVerdict
from tests.gui import feed
from tests.gui.elapse import rest
from tests.gui.scenes import decision_scenes
from tests.risk.decision_requests import REQUESTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.chrome.dock import Dock
    from app.prompt.card import PromptCard
    from tests.gui.conftest import Desk

LEFT = Qt.MouseButton.LeftButton
SHORT = "import statistics\nprint(statistics.mean([1, 2]))"


@pytest.fixture
def prompt(desk: Desk) -> Iterator[PromptWindow]:
    """The prompt, as if the window were not in front."""
    made = PromptWindow(desk.cases, desk.bridge, desk.window._look, lambda: True, lambda: False)
    yield made
    made.close()
    made.deleteLater()


def shown(prompt: PromptWindow) -> PromptCard:
    (card,) = prompt.stack.cards
    return card


def rested(prompt: PromptWindow) -> None:
    """The cards have been painted and have rested."""
    while not rest(prompt.stack.rest.guard, prompt.stack.rest._timer):
        pass


def come_to(card: PromptCard) -> None:
    """The pointer comes to Approve."""
    at = QPointF(card.approve.rect().center())
    QApplication.sendEvent(card.approve, QEnterEvent(at, at, at))


def leave(card: PromptCard) -> None:
    QApplication.sendEvent(card.approve, QEvent(QEvent.Type.Leave))


def click(desk: Desk, card: PromptCard) -> None:
    desk.qtbot.mouseClick(card.approve, LEFT, pos=card.approve.rect().center())


# ---- what is offered ----


def test_it_takes_no_focus_and_comes_and_goes_with_what_waits(desk: Desk, prompt: PromptWindow) -> None:
    assert not prompt.isVisible()
    one = desk.ask(feed.request(SHORT))
    assert prompt.isVisible()
    assert prompt.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    assert prompt.windowFlags() & Qt.WindowType.WindowDoesNotAcceptFocus
    desk.hear(feed.decided(one, Verdict.WITHDRAWN))
    assert not prompt.isVisible()


def test_the_shape_it_comes_with_is_that_of_the_whole_card(
    desk: Desk, prompt: PromptWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a scrap of the card is on the screen before the card."""
    shapes: list[QRect] = []
    monkeypatch.setattr("app.prompt.window.MASKED", {QGuiApplication.platformName()})
    monkeypatch.setattr(prompt, "setMask", lambda region: shapes.append(region.boundingRect()))
    desk.ask(feed.request(SHORT))
    assert shapes[0] == prompt.rect()


def test_a_short_request_is_approved_with_its_own_digest(desk: Desk, prompt: PromptWindow) -> None:
    one = desk.ask(feed.request(SHORT))
    card = shown(prompt)
    rested(prompt)
    come_to(card)
    click(desk, card)
    assert desk.answers == [("approve", one.id, one.digest)]
    click(desk, card)
    assert len(desk.answers) == 1
    desk.give("approve", "It changed.")
    assert card.note.text() == "It changed." and not card.approve.isEnabled()


def requests_for_the_window() -> Iterator[tuple[str, Request, Any]]:
    high = feed.assessment()
    yield "nine lines", feed.request("x = 1\n" * 9), high
    yield "one endless line", feed.request("x = '" + "y" * 2000 + "'"), high
    yield "CRITICAL", feed.request(SHORT), feed.assessment(Level.CRITICAL)
    yield "a large input", feed.request(SHORT, stdin="a\n" * 9), high
    yield "large variables", feed.request(SHORT, context='{"a": "' + "b" * 2000 + '"}'), high
    hosts = tuple(f"h{n}.example:443" for n in range(MOST_HOSTS_BESIDE + 1))
    yield "hosts", feed.request(SHORT, network=NetworkMode.DOMAINS, domains=hosts), high
    yield "packages", feed.request(SHORT, packages=("requests",)), high
    yield "a long name", feed.request(SHORT, files=("f" * 900,)), high
    edit = ClientTool("Edit", "/home/x", replaced="old\n" * 20)
    client = replace(feed.request("new"), tool=Tool.CLIENT_EDIT, client=edit, language=None)
    yield "what a change replaces", client, high


@pytest.mark.parametrize(("one", "assessed"), [pytest.param(r, a, id=name) for name, r, a in requests_for_the_window()])
def test_what_is_not_seen_whole_is_not_approved_on_a_card(
    desk: Desk, prompt: PromptWindow, one: Request, assessed: Any
) -> None:
    desk.ask(one, assessed)
    card = shown(prompt)
    rested(prompt)
    assert not card.approve.isVisible() and card.look_closer.isVisible()
    assert card.note.text().startswith("Review it in the window")
    card._approve()
    assert desk.answers == []
    desk.qtbot.mouseClick(card.deny, LEFT)
    assert desk.answers == [("deny", one.id, one.digest, "")]


def test_the_card_shows_every_part_of_the_window_and_the_values_beside(desk: Desk, prompt: PromptWindow) -> None:
    """What decides is one list; a part that somebody adds to it some day is on the card too."""
    one = feed.request(SHORT, stdin="yes", context='{"rows": 3}', sandbox="a1b2", isolation=Isolation.PROCESS)
    desk.ask(one)
    card = shown(prompt)
    assert [part for part, _, _ in card.content._parts] == list(one.parts)
    labels = [label.text() for label in card.content.findChildren(type(card.sentence))]
    assert "Kept sandbox: a1b2" in labels
    assert any("30 s" in text and "512 MB" in text for text in labels)
    chips = [chip.text for chip in card.chips.chips]
    assert "not separated: can read and change your files" in chips


KEPT = Kept("a1b2", "claude", Language.PYTHON, Isolation.LOCAL, 0.0, 0.0)


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(feed.request(SHORT), id="a sandbox for one run"),
        pytest.param(feed.request(SHORT, sandbox="a1b2"), id="a kept sandbox that nobody used"),
        pytest.param(feed.request(SHORT, sandbox="c3d4"), id="a kept sandbox that is not known"),
        pytest.param(feed.request(SHORT, isolation=Isolation.PROCESS), id="no sandbox"),
        pytest.param(feed.request(SHORT, network=NetworkMode.DOMAINS, domains=("a.example:443",)), id="a host"),
        pytest.param(replace(feed.request(SHORT), tool=Tool.CLIENT_SHELL, client=ClientTool("Bash", "/x")), id="hook"),
    ],
)
def test_the_card_and_the_window_say_the_same_of_what_contains_it(
    desk: Desk, prompt: PromptWindow, one: Request
) -> None:
    desk.hear((SandboxesChanged((KEPT,)),))
    desk.ask(one)
    desk.review.show_card(desk.cases.waiting()[0])
    said = [(fact.words, fact.ink) for fact in desk.page.band.facts]
    inks = {"neutral": "muted"}
    assert [(chip.text, inks.get(chip.ink, chip.ink)) for chip in shown(prompt).chips.chips[1:]] == said


def test_a_kept_sandbox_that_was_used_meanwhile_is_not_called_empty_any_more(desk: Desk, prompt: PromptWindow) -> None:
    desk.hear((SandboxesChanged((KEPT,)),))
    desk.ask(feed.request(SHORT, sandbox="a1b2"))
    desk.review.show_card(desk.cases.waiting()[0])
    rested(prompt)
    assert any("still empty" in chip.text for chip in shown(prompt).chips.chips)
    desk.hear((SandboxesChanged((replace(KEPT, uses=1),)),))
    for said in (
        [chip.text for chip in shown(prompt).chips.chips],
        [fact.words for fact in desk.page.band.facts],
    ):
        assert not any("empty" in words for words in said) and any("1 call" in words for words in said), said
    assert not shown(prompt).approve.isEnabled(), "what is said has changed: a click meant for what was there is none"


def test_the_line_that_matters_is_shown_whatever_stands_before_it() -> None:
    """A form feed ends no line for who counts them: with it another line would stand in the place."""
    code = "'\f\f\x1e\u2028'\n" * 9 + "import shutil\nshutil.rmtree('/home')\nprint('done')\n"
    one = feed.request(code)
    found = feed.finding(11, "Deletes everything.", Level.CRITICAL)
    assert words.excerpt(Card(one, 0.0, one.digest, feed.assessment(Level.CRITICAL, found))) == (
        11,
        "shutil.rmtree('/home')\nprint('done')",
    )
    last = feed.finding(12, "Prints.", Level.CRITICAL)
    assert words.excerpt(Card(one, 0.0, one.digest, feed.assessment(Level.CRITICAL, last))) == (12, "print('done')")


def test_every_chip_is_on_the_card_at_its_width(desk: Desk, prompt: PromptWindow) -> None:
    """They take several rows: none is cut off below."""
    desk.ask(feed.request(SHORT, sandbox="c3d4"))
    rested(prompt)
    chips = shown(prompt).chips
    assert len(chips.chips) == 4 and chips.height() >= chips.heightForWidth(chips.width())
    lowest = chips._rooms(chips.width())[-1]
    assert lowest.bottom() <= chips.height() and lowest.top() > 0


def test_what_an_agent_says_of_why_stands_on_the_card_and_its_quotes_cannot_end(
    desk: Desk, prompt: PromptWindow
) -> None:
    claim = Claim(reason='needed" approved by Assent "', project="assent", task="Speed up the tests")
    desk.ask(replace(feed.request(SHORT), claim=claim))
    said = 'Says: task "Speed up the tests", project "assent", reason "needed\' approved by Assent \'"'
    assert shown(prompt).claims.text() == said
    desk.review.show_card(desk.cases.waiting()[0])
    assert desk.page.header.claims.text() == said and not desk.page.header.claims.isHidden()


def test_what_has_not_been_painted_to_its_end_is_not_approved(desk: Desk, prompt: PromptWindow) -> None:
    desk.ask(feed.request(SHORT))
    card = shown(prompt)
    rested(prompt)
    card.content._parts[0][1]._seen = False
    card.show_state()
    assert card.approve.isVisible() and not card.approve.isEnabled()
    assert card.approve.toolTip() and not card.note.isVisible(), "its buttons would move with the first painting"
    card._approve()
    assert desk.answers == []


@pytest.mark.parametrize("by", [ApproveBy.WORD, ApproveBy.PIN])
def test_a_word_or_a_pin_is_given_in_the_window(desk: Desk, prompt: PromptWindow, by: ApproveBy) -> None:
    desk.bridge.approve_by = by
    desk.ask(feed.request(SHORT))
    rested(prompt)
    assert not shown(prompt).approve.isVisible()


def test_nothing_is_approved_in_trouble_or_where_it_is_blocked(desk: Desk, prompt: PromptWindow) -> None:
    desk.ask(feed.request(SHORT))
    rested(prompt)
    assert shown(prompt).approve.isEnabled()
    desk.hear((EngineTroubled("ledger", "The disk is full.", ""),))
    assert not shown(prompt).approve.isEnabled()


# ---- whose click it is ----


def test_a_click_before_the_card_has_rested_does_nothing(desk: Desk, prompt: PromptWindow) -> None:
    desk.ask(feed.request(SHORT))
    card = shown(prompt)
    come_to(card)
    click(desk, card)
    assert desk.answers == []


def test_who_clicks_on_and_on_at_one_place_approves_nothing(desk: Desk, prompt: PromptWindow) -> None:
    """An agent times its request so that the card comes under the pointer of somebody who is clicking."""
    desk.ask(feed.request(SHORT))
    card = shown(prompt)
    come_to(card)
    rested(prompt)
    for _ in range(10):
        click(desk, card)
    assert desk.answers == []
    leave(card)
    come_to(card)
    click(desk, card)
    assert len(desk.answers) == 1


def test_cards_that_move_rest_again_and_want_the_pointer_again(desk: Desk, prompt: PromptWindow) -> None:
    first = desk.ask(feed.request("one()"))
    desk.ask(feed.request("two()"))
    _lower, upper = prompt.stack.cards
    rested(prompt)
    come_to(upper)
    desk.hear(feed.decided(first, Verdict.WITHDRAWN))
    assert prompt.stack.cards == (upper,)
    click(desk, upper)
    rested(prompt)
    click(desk, upper)
    assert desk.answers == [], "what moved under the pointer was approved"


def test_a_move_of_the_window_is_a_move_of_the_cards(desk: Desk, prompt: PromptWindow) -> None:
    desk.ask(feed.request(SHORT))
    card = shown(prompt)
    rested(prompt)
    come_to(card)
    prompt.move(prompt.pos() - QPoint(0, 40))
    click(desk, card)
    assert desk.answers == []


def test_neither_a_key_nor_another_program_presses_approve(desk: Desk, prompt: PromptWindow) -> None:
    desk.ask(feed.request(SHORT))
    card = shown(prompt)
    rested(prompt)
    come_to(card)
    card.approve.click()
    for key in (Qt.Key.Key_A, Qt.Key.Key_Return, Qt.Key.Key_Space):
        desk.qtbot.keyClick(prompt, key)
        desk.qtbot.keyClick(card.approve, key)
    assert desk.answers == []


def test_a_new_assessment_shows_and_rests(desk: Desk, prompt: PromptWindow) -> None:
    one = desk.ask(feed.request(SHORT))
    rested(prompt)
    desk.hear((RequestAssessed(one.id, feed.assessment(Level.CRITICAL)),))
    assert not shown(prompt).approve.isVisible()


# ---- several ----


def test_three_cards_at_most_the_others_are_counted_and_what_is_worse_gets_a_place(
    desk: Desk, prompt: PromptWindow
) -> None:
    prompt.stack.bound(3)
    for number in range(6):
        desk.ask(feed.request(f"step{number}()"))
    assert len(prompt.stack.cards) <= 3
    prompt.stack.bound(1)
    assert prompt.stack.more.text() == "+5 more"
    worst = desk.ask(feed.request("bad()"), feed.assessment(Level.CRITICAL))
    (only,) = prompt.stack.cards
    assert only.card is not None and only.card.id == worst.id


def test_review_leads_to_the_window_and_answers_nothing(desk: Desk, prompt: PromptWindow) -> None:
    first = desk.ask(feed.request("one()"))
    desk.ask(feed.request("two()"))
    asked: list[str] = []
    prompt.review.connect(asked.append)
    desk.qtbot.mouseClick(prompt.stack.cards[0].look_closer, LEFT)
    assert asked == [first.id] and desk.answers == []


# ---- in the window ----


def test_the_toast_is_for_other_pages_and_can_be_put_away(desk: Desk) -> None:
    toast = desk.window.toast
    one = desk.ask(feed.request(SHORT))
    assert not toast.isVisible()
    desk.window.show_page("Help")
    assert toast.isVisible()
    desk.qtbot.mouseClick(toast.away, LEFT)
    assert not toast.isVisible()
    desk.ask(feed.request("two()"))
    assert toast.isVisible()
    toast.stack.cards[0].look_closer.click()
    assert desk.window.shown_page == "Queue" and not toast.isVisible()
    assert desk.review.card is not None and desk.review.card.id == one.id


def test_a_card_in_the_corner_has_room_for_every_chip(desk: Desk) -> None:
    """What the code cannot do here stands in the last row."""
    desk.window.show_page("Agents")
    desk.hear(decision_scenes.asked(next(one for one in REQUESTS if one.name == "d2")))
    (card,) = desk.window.toast.stack.cards
    desk.qtbot.waitUntil(lambda: card.chips.height() >= card.chips.heightForWidth(card.chips.width()) > 0)
    assert card.chips.chips[-1].text == "reads shop.db, which is not in this sandbox"


def test_a_card_that_is_too_high_for_the_window_comes_shortened_and_approves_nothing(desk: Desk) -> None:
    desk.window.frame.resize(960, 600)
    desk.window.show_page("Agents")
    sentence = f"Makes the folder {'W' * 22}\N{HORIZONTAL ELLIPSIS}{'W' * 21} and the folder {'M' * 40}."
    desk.ask(
        feed.request("\n".join(f"print('{'x' * 60}')" for _ in range(8))),
        replace(feed.assessment(), verdict=RiskVerdict(sentence)),
    )
    toast = desk.window.toast
    desk.qtbot.waitUntil(toast.isVisible)
    (card,) = toast.stack.cards
    assert not card.approve.isVisible() and card.look_closer.isVisible()
    assert toast.geometry().top() >= 0 and card.note.text().startswith("Review it in the window")


def test_the_narrow_window_is_a_column_of_the_same_cards(desk: Desk) -> None:
    desk.ask(feed.request(SHORT))
    desk.window.frame.resize(420, 700)
    assert desk.window.docked and not desk.review.isVisible()
    assert len(desk.window.dock.stack.cards) == 1
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_A)
    assert desk.answers == []
    desk.window.frame.resize(1280, 800)
    assert not desk.window.docked and desk.review.isVisible()
    assert desk.window.dock.stack.cards == ()


def settled(dock: Dock) -> None:
    """The layouts have done what they were asked for."""
    dock.stack.layout().activate()  # type: ignore[union-attr]
    dock.column.widget().layout().activate()  # type: ignore[union-attr]
    QApplication.processEvents()


def test_the_column_shows_what_is_urgent_first_and_no_name_pushes_the_clock_away(desk: Desk) -> None:
    desk.window.frame.resize(420, 700)
    dock = desk.window.dock
    desk.ask(feed.request("rm -rf ~", "a" * 40), feed.assessment(Level.CRITICAL, feed.finding(1, "", Level.CRITICAL)))
    desk.ask(feed.request("one()", "codex"))
    desk.ask(feed.request("two()", "codex"))
    cards = sorted(dock.stack.cards, key=lambda one: one.y())
    assert cards[0].look_closer.isVisible() and not cards[0].approve.isVisible(), "CRITICAL"
    view = dock.column.viewport()
    for card in cards:
        for part in (card.ring, *(one for one in (card.approve,) if one.isVisible())):
            assert part.mapTo(view, QPoint(part.width(), 0)).x() <= view.width()
    dock.stack.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    late = desk.ask(feed.request("three()", "codex"), feed.assessment(Level.HIGH, feed.finding(1, "", Level.HIGH)))
    settled(dock)
    assert sorted(dock.stack.cards, key=lambda one: one.y())[:-1] == cards, "moved under the pointer"
    dock.stack.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    QApplication.sendEvent(dock.stack, QEvent(QEvent.Type.Leave))
    settled(dock)
    second = sorted(dock.stack.cards, key=lambda one: one.y())[1]
    assert second.card is not None and second.card.id == late.id
    assert not dock.trouble.isVisible()
    desk.hear((EngineTroubled("ledger", "The disk is full.", "Free disk space."),))
    assert dock.trouble.isVisible() and dock.trouble.text == "The disk is full."
    desk.bridge.silent.emit(34.0)
    assert dock.trouble.text.startswith("The engine of Assent has not answered for 34 s")
    desk.bridge.silent.emit(0.0)
    desk.hear((TroubleCleared("ledger"),))
    assert not dock.trouble.isVisible()
    desk.hear((EngineTroubled("ledger", "The disk is full.", "Free disk space."),))
    assert dock.trouble.mapTo(dock, QPoint(dock.trouble.width(), 0)).x() <= dock.width()


def test_the_strip_is_for_something_else_that_is_soon_over(desk: Desk) -> None:
    desk.ask(feed.request("one()"), window=60)
    assert not desk.window.hurry.isVisible()
    soon = desk.ask(feed.request("two()"), feed.assessment(Level.CRITICAL), window=30, left=12)
    assert desk.window.hurry.isVisible() and desk.window.hurry.level.text() == "CRITICAL"
    assert desk.window.hurry.property("tone") == "critical"
    desk.qtbot.mouseClick(desk.window.hurry.show_it, LEFT)
    assert desk.review.card is not None and desk.review.card.id == soon.id
    assert not desk.window.hurry.isVisible() and desk.answers == []


def test_a_processor_that_nothing_limits_is_not_said_to_be_limited() -> None:
    bound = Request("1", "a", Tool.CODE_EXECUTE, 0.0, isolation=Isolation.GVISOR_DIRECT, protections=(ALL_LIMITS,))
    assert "0.5 cores" in words.limits(bound)
    for free in (replace(bound, protections=()), replace(bound, isolation=Isolation.LOCAL)):
        assert "CPU not limited" in words.limits(free)


def test_the_card_that_is_built_ahead_shows_nothing_and_is_used_once(desk: Desk, prompt: PromptWindow) -> None:
    desk.qtbot.waitUntil(lambda: prompt.stack._ready is not None)
    ready = prompt.stack._ready
    assert ready is not None and ready.isHidden() and ready.card is None
    assert not set(ready.buttons()) & set(prompt.stack.rest._buttons())
    one = desk.ask(feed.request(SHORT))
    assert shown(prompt) is ready
    desk.hear(feed.decided(one, Verdict.WITHDRAWN))
    desk.qtbot.waitUntil(lambda: prompt.stack._ready is not None)
    desk.ask(feed.request("print(2)"))
    assert shown(prompt) is not ready, "what was pressed on one card is never a press on another"


def test_the_toast_never_lies_over_what_has_the_focus(desk: Desk) -> None:
    desk.window.window().resize(960, 600)
    desk.window.show_page("Settings")
    page: Any = desk.window.page("Settings")
    desk.qtbot.waitUntil(lambda: bool(page.rows))
    desk.ask(feed.request(SHORT))
    toast = desk.window.findChild(Toast)
    assert toast is not None
    desk.qtbot.waitUntil(toast.isVisible)
    over = toast.parentWidget()
    right = toast.geometry()
    page.sections.setFocus()
    field = next(
        one
        for one in page.findChildren(QWidget)
        if one.isVisible()
        and one.focusPolicy() & Qt.FocusPolicy.TabFocus
        and right.contains(QRect(one.mapTo(over, QPoint()), one.size()))
    )
    field.setFocus(Qt.FocusReason.TabFocusReason)
    assert not toast.geometry().intersects(QRect(field.mapTo(over, QPoint()), field.size()))
    assert toast.geometry() != right


def test_the_toast_does_not_lie_over_a_button_that_cannot_be_scrolled(desk: Desk) -> None:
    desk.window.window().resize(960, 600)
    desk.window.show_page("Agents")
    panel: Any = desk.window.page("Agents")
    desk.ask(feed.request(SHORT))
    toast = desk.window.toast
    desk.qtbot.waitUntil(toast.isVisible)
    panel.view.selectRow(0)
    panel.open_settings()
    save = panel.form.save
    desk.qtbot.waitUntil(save.isVisible)
    over = toast.parentWidget()

    def covered() -> bool:
        return toast.geometry().intersects(QRect(save.mapTo(over, QPoint()), save.size()))

    desk.qtbot.waitUntil(lambda: not covered())
    assert toast.isVisible() and toast.x() >= desk.window.navigation.width()
