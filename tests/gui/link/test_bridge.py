"""What pages get for what they ask of the engine: values, expected failures, and nothing of a bug but a sentence."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future as EngineFuture
from typing import TYPE_CHECKING, Any, cast

import pytest
from PySide6.QtCore import QCoreApplication, QTimer

from app.link.bridge import ASKED, ENDED, MOST_A_TURN, STARTING, EngineLink, InternalFault
from app.start.crash import Faults
from runner.model.errors import KnownError
from runner.model.events import ModeChanged
from tests.gui import feed

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from runner.engine.thread import EngineThread
    from runner.system.places import Places
    from tests.gui.conftest import Desk


class Host:
    """An engine's thread whose answers come when the test says so."""

    def __init__(self) -> None:
        self.started, self.ended = True, False
        self.calls: list[EngineFuture[Any]] = []

    def call(self, _work: object) -> EngineFuture[Any]:
        self.calls.append(EngineFuture())
        return self.calls[-1]


class Linked:
    def __init__(self, places: Places) -> None:
        self.host = Host()
        self.faults = Faults(places)
        self.link = EngineLink(cast("EngineThread", self.host), self.faults.record)


@pytest.fixture
def linked(qtbot: QtBot, places: Places) -> Linked:
    return Linked(places)


def test_a_value_arrives_where_it_was_asked_for(linked: Linked, qtbot: QtBot) -> None:
    answer = linked.link.memory.learned()
    linked.host.calls[0].set_result(())
    qtbot.waitUntil(answer.done)
    assert answer.result() == ()


def test_an_expected_failure_is_raised_and_no_fault(linked: Linked, qtbot: QtBot, places: Places) -> None:
    answer = linked.link.guard()
    linked.host.calls[0].set_exception(KnownError("The disk is full.", "Free some."))
    qtbot.waitUntil(answer.done)
    assert str(answer.exception()) == "The disk is full. Free some."
    assert not places.faults.exists()


def test_a_bug_is_in_the_fault_log_and_only_a_sentence_arrives(linked: Linked, qtbot: QtBot, places: Places) -> None:
    answer = linked.link.guard()
    linked.host.calls[0].set_exception(KeyError("a bug in the engine"))
    with qtbot.waitSignal(linked.faults.happened):
        qtbot.waitUntil(answer.done)
    assert isinstance(answer.exception(), InternalFault)
    assert "a bug" not in str(answer.exception())
    text = places.faults.read_text()
    assert ASKED in text and "KeyError: 'a bug in the engine'" in text


def test_a_bug_is_recorded_also_where_nobody_waits_any_more(linked: Linked, qtbot: QtBot, places: Places) -> None:
    answer = linked.link.guard()
    answer.cancel()
    linked.host.calls[0].set_exception(KeyError("late"))
    feed.turn()
    assert places.faults.exists()
    assert not linked.host.calls[0].cancelled(), "the engine goes on"


def test_a_flood_of_events_lets_the_window_live_in_between_and_keeps_its_order(linked: Linked, qtbot: QtBot) -> None:
    """What calls gave stays between the events before and after it; everything else of the window has its turns."""
    events = [ModeChanged(str(number)) for number in range(3 * MOST_A_TURN)]
    order: list[object] = []
    linked.link.happened.connect(order.extend)
    turns: list[int] = []
    linked.link.happened.connect(lambda batch: QTimer.singleShot(0, linked.link, lambda: turns.append(len(order))))
    answers = [linked.link.guard(), linked.link.lock()]
    for answer, mark in zip(answers, ("first", "last"), strict=True):
        answer.add_done_callback(lambda _, mark=mark: order.append(mark))  # type: ignore[misc]
    linked.link.hear(events[0])
    linked.host.calls[0].set_result(None)
    for event in events[1:]:
        linked.link.hear(event)
    linked.host.calls[1].set_result(None)
    QCoreApplication.sendPostedEvents(linked.link)
    assert answers[0].done() and not answers[1].done()
    assert order == events[: MOST_A_TURN - 1]
    qtbot.waitUntil(lambda: "last" in order)
    assert [one for one in order if not isinstance(one, str)] == events
    assert order[-1] == "last"
    assert len(set(turns)) >= 3, "a timer had its turn between two parts of the flood"


@pytest.mark.parametrize(("ended", "words"), [(False, STARTING), (True, ENDED)])
def test_without_an_engine_it_is_said_why(linked: Linked, ended: bool, words: str) -> None:
    linked.host.started, linked.host.ended = False, ended
    assert str(linked.link.guard().exception()) == words


def test_no_banner_shows_the_raw_text_of_a_bug(desk: Desk) -> None:
    desk.window.overall.guard()
    desk.bridge.fail("guard", InternalFault())
    assert desk.window.banners.text("failed") == "This failed inside Assent. What happened was written down."


def test_tasks_of_a_page_end_with_it(desk: Desk) -> None:
    from app.remembering.dialog import RememberDialog

    desk.ask()
    desk.rested()
    desk.review.answering.press_remember()
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("preview"))
    # It was asked before the task that awaits it has begun.
    feed.turn()
    dialog = desk.window.findChild(RememberDialog)
    assert dialog is not None
    with desk.qtbot.waitSignal(dialog.destroyed):
        dialog.reject()
    feed.turn()
    assert not desk.bridge.waits("preview")
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("remember")]


def test_adding_twice_in_a_row_asks_once_and_no_token_is_lost(desk: Desk) -> None:
    desk.window.show_page("Agents")
    page: Any = desk.window.page("Agents")
    desk.qtbot.keyClicks(page.name, "codex")
    page.add.click()
    page.add.click()
    assert desk.bridge.calls.count(("add_agent", "codex")) == 1
    desk.give("add_agent", "as_" + "0" * 48)
    assert page.welcome.isVisible()


def test_answers_out_of_order_show_the_newest(desk: Desk) -> None:
    desk.window.overall.ask_sandbox()
    desk.window.overall.ask_sandbox()
    facts = {"isolation": "gvisor", "chosen": "", "protections": []}
    desk.bridge.give("sandbox_facts", facts, newest=True)
    desk.bridge.give("sandbox_facts", {**facts, "isolation": "local"})
    assert desk.cases.sandbox is not None and desk.cases.sandbox["isolation"] == "gvisor"


def test_a_late_refusal_of_an_earlier_answer_does_not_free_the_newer_one(desk: Desk) -> None:
    one = desk.ask()
    other = desk.ask(feed.request("print(2)"))
    desk.rested()
    desk.page.foot.approve.click()
    desk.window.deciding.show_request(other.id)
    desk.window.deciding.show_request(one.id)
    desk.rested()
    desk.page.foot.approve.click()
    desk.bridge.give("approve", "This request has changed.")
    assert desk.review._under_review.sent and not desk.page.notice.isVisible()
    desk.bridge.give("approve", "This request is over.")
    assert not desk.review._under_review.sent and desk.page.notice.text == "This request is over."
