"""Notices: only while the window is not in front, only with actions that work, and none of them answers anything."""

from __future__ import annotations

import os
import queue
import subprocess
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from jeepney import HeaderFields, MessageType, new_error, new_method_return, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.threading import DBusConnection, ReceiveStopped, open_dbus_connection
from jeepney.wrappers import DBusAddress
from PySide6.QtCore import QObject, Signal

from app.notify.desktop import NAME, PATH, SOUND, Desktop, Said
from app.notify.notices import Notices, telling
from app.notify.tray import NO_TRAY, Tray
from app.prompt.stack import urgency
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.events import AwayChanged, CallsRefused, ModeChanged, QuestionPaused, RequestArrived
from runner.model.result import Outcome
from runner.model.verdict import RiskVerdict
from runner.system.clock import since_boot
from tests.components import require
from tests.gui import feed
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.gui.conftest import Desk


class Heard(QObject):
    """A desktop that only notes what is said to it."""

    clicked = Signal(str)
    silent = Signal()
    missing = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.said: list[Said] = []
        self.unsaid: list[str] = []

    def say(self, said: Said) -> None:
        self.said.append(said)

    def unsay(self, about: str) -> None:
        self.unsaid.append(about)


@pytest.fixture
def heard(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    """The window is not in front."""
    monkeypatch.setattr("app.notify.notices.in_front", lambda: False)
    heard = Heard()
    notices = Notices(desk.cases, desk.window, heard, lambda: False)  # type: ignore[arg-type]
    yield heard
    notices.deleteLater()


# ---- what is told ----


def test_nothing_is_announced_while_the_window_is_in_front(desk: Desk) -> None:
    heard = Heard()
    notices = Notices(desk.cases, desk.window, heard, lambda: True)  # type: ignore[arg-type]
    one = desk.ask()
    desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    assert heard.said == []
    notices.deleteLater()


def test_a_question_is_reported_without_words_of_the_agent_and_taken_back(desk: Desk, heard: Heard) -> None:
    one = desk.ask(feed.request("print(1)", title="<b>Approve me</b>"), feed.assessment(Level.CRITICAL))
    (said,) = heard.said
    assert said == Said(one.id, "CRITICAL request by claude-code, 60 s left", "Code is run.")
    desk.hear(feed.decided(one, Verdict.WITHDRAWN, Decider.AGENT))
    assert one.id in heard.unsaid


def test_a_burst_is_one_notice(desk: Desk, heard: Heard) -> None:
    for number in range(20):
        desk.ask(feed.request(f"step_{number}()"))
    assert len(heard.said) == 1


def test_it_stays_when_half_of_the_time_has_passed(desk: Desk, heard: Heard) -> None:
    desk.ask(window=0.2)
    desk.qtbot.waitUntil(lambda: len(heard.said) == 2)
    assert heard.said[1].stays and "Half of the time" in heard.said[1].text
    assert not heard.said[1].sounds, "a sound that nobody switched on"


def test_later_questions_put_no_reminder_off_and_what_is_looked_at_needs_none(desk: Desk, heard: Heard) -> None:
    first = desk.ask(window=0.6)
    looked_at = desk.ask(feed.request("two()"), window=0.6)
    desk.hear((QuestionPaused(looked_at.id, since_boot() + 600, 600),))
    later = desk.ask(feed.request("three()"), window=3600)
    desk.qtbot.waitUntil(lambda: any(said.stays for said in heard.said))
    assert [said.about for said in heard.said if said.stays] == [first.id]
    desk.hear(feed.decided(later, Verdict.WITHDRAWN, Decider.AGENT))
    assert [said.about for said in heard.said if said.stays] == [first.id], "the same was said again"


def test_what_was_missed_what_hit_a_limit_and_many_refusals_are_reported(desk: Desk, heard: Heard) -> None:
    gone, ran = desk.ask(feed.request("one()")), desk.ask(feed.request("two()"))
    heard.said.clear()
    desk.hear(feed.decided(gone, Verdict.EXPIRED, Decider.ENGINE))
    desk.hear(feed.decided(ran), feed.started(ran), feed.finished(ran, feed.result(Outcome.TIMED_OUT)))
    desk.hear((CallsRefused("codex", 15, "too many"),), (CallsRefused("codex", 15, "too many"),))
    desk.hear((CallsRefused("codex", 15, "too many"),))
    assert [said.title for said in heard.said] == ["A request expired", "A run hit a limit", "Many refused calls"]


def test_several_expiries_are_one_notice(desk: Desk, heard: Heard) -> None:
    gone = [desk.ask(feed.request(f"step_{number}()")) for number in range(3)]
    heard.said.clear()
    for one in gone:
        desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))
    assert {said.about for said in heard.said} == {gone[0].id}, "each replaces the one before"
    assert heard.said[-1].title == "3 requests expired"


def test_nothing_is_said_while_a_dialog_is_in_front_or_somebody_wants_quiet(
    desk: Desk, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.window.presence.begin(15)
    desk.ask(feed.request("one()"))
    desk.window.presence.end()
    monkeypatch.setattr("app.notify.notices.in_front", lambda: True)
    gone = desk.ask(feed.request("two()"))
    desk.hear(feed.decided(gone, Verdict.EXPIRED, Decider.ENGINE))
    desk.hear((AwayChanged(True),))
    monkeypatch.setattr("app.notify.notices.in_front", lambda: False)
    desk.ask(feed.request("three()"))
    assert heard.said == []


def test_a_notice_says_what_would_happen_but_nothing_that_could_be_markup(desk: Desk, heard: Heard) -> None:
    told = RiskVerdict("Sends data to stats.example.")
    desk.ask(None, replace(feed.assessment(Level.HIGH, feed.finding(1, "Sends data.")), verdict=told), left=30.0)
    assert heard.said[0].title == "HIGH request by claude-code, 30 s left"
    assert heard.said[0].text == "Sends data to stats.example."
    hostile = replace(feed.assessment(), verdict=RiskVerdict("Writes <a href='x'>here</a>."))
    card = desk.cases.card(desk.ask(feed.request("two()"), hostile).id)
    assert card is not None and telling(card) == "Open it to review."


@pytest.mark.qt_log_ignore("does not support raise", extend=True)
def test_a_click_on_a_notice_brings_the_request_and_answers_nothing(desk: Desk, heard: Heard) -> None:
    """Regression 10 and 15."""
    desk.ask(feed.request("one()"))
    other = desk.ask(feed.request("two()"), feed.assessment(Level.LOW))
    desk.window.show_page("Agents")
    heard.clicked.emit(other.id)
    assert desk.window.shown_page == "Queue"
    assert desk.review.card is not None and desk.review.card.id == other.id
    assert desk.bridge.calls == []


# ---- the desktop ----


class Bus:
    """A bus of its own with somebody on it who shows notices."""

    def __init__(self, actions: bool = True) -> None:
        command = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address=1"]
        self._daemon = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._daemon.stdout is not None
        self.address = self._daemon.stdout.readline().strip()
        self.calls: queue.SimpleQueue[tuple[str, tuple[Any, ...]]] = queue.SimpleQueue()
        self._abilities = ["body", "actions"] if actions else ["body"]
        before = os.environ.get("DBUS_SESSION_BUS_ADDRESS")
        os.environ["DBUS_SESSION_BUS_ADDRESS"] = self.address
        try:
            self._connection: DBusConnection = open_dbus_connection("SESSION")
        finally:
            os.environ.pop("DBUS_SESSION_BUS_ADDRESS")
            if before is not None:
                os.environ["DBUS_SESSION_BUS_ADDRESS"] = before
        self._connection.send(message_bus.RequestName(NAME))
        self._thread = threading.Thread(target=self._serve, name="fake-notices")
        self._thread.start()

    def emit(self, name: str, signature: str, *values: Any) -> None:
        self._connection.send(new_signal(DBusAddress(PATH, interface=NAME), name, signature, values))

    def close(self) -> None:
        self._connection.interrupt()
        self._thread.join()
        self._connection.close()
        for end in (self._connection._stop_r, self._connection._stop_w):
            os.close(end)
        self._daemon.terminate()
        self._daemon.wait()
        assert self._daemon.stdout is not None
        self._daemon.stdout.close()

    def _serve(self) -> None:
        answers: dict[str, tuple[str, tuple[Any, ...]]] = {
            "GetCapabilities": ("as", (self._abilities,)),
            "Notify": ("u", (7,)),
            "CloseNotification": ("", ()),
        }
        while True:
            try:
                message = self._connection.receive()
            except ReceiveStopped:
                return
            if message.header.message_type is not MessageType.method_call:
                continue
            name = message.header.fields[HeaderFields.member]
            if name in answers:
                self._connection.send(new_method_return(message, *answers[name]))
                self.calls.put((name, tuple(message.body)))
            else:
                self._connection.send(new_error(message, "org.example.Unknown"))


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Bus]:
    require("keyring")
    bus = Bus(getattr(request, "param", True))
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus.address)
    yield bus
    bus.close()


@pytest.fixture
def desktop() -> Iterator[Desktop]:
    desktop = Desktop()
    yield desktop
    desktop.close()


def test_a_notice_is_shown_its_action_works_and_it_is_taken_back(bus: Bus, desktop: Desktop, qtbot: Any) -> None:
    """Regression 15."""
    desktop.say(Said("r1", "HIGH request", "claude asks", stays=True))
    assert bus.calls.get(timeout=HANGS)[0] == "GetCapabilities"
    name, (program, replaces, _, title, text, actions, hints, lasting) = bus.calls.get(timeout=HANGS)
    assert (name, program, replaces, title, text) == ("Notify", "Assent", 0, "HIGH request", "claude asks")
    assert actions == ["default", "Review", "review", "Review"]
    assert hints["urgency"] == ("y", 2) and lasting == 0
    with qtbot.waitSignal(desktop.clicked) as clicked:
        bus.emit("ActionInvoked", "us", 7, "review")
    assert clicked.args == ["r1"]
    desktop.say(Said("r1", "HIGH request", "again"))
    assert bus.calls.get(timeout=HANGS)[1][1] == 7, "a later notice about the same request did not replace the first"
    desktop.unsay("r2")
    desktop.unsay("r1")
    desktop.unsay("r1")
    assert bus.calls.get(timeout=HANGS) == ("CloseNotification", (7,))
    assert desktop._box.empty(), "every answer was passed on, of which no notice was shown"


@pytest.mark.parametrize("bus", [False], indirect=True)
def test_no_action_is_offered_where_the_desktop_has_none(bus: Bus, desktop: Desktop) -> None:
    desktop.say(Said("r1", "HIGH request", "claude asks"))
    bus.calls.get(timeout=HANGS)
    assert bus.calls.get(timeout=HANGS)[1][5] == []


def test_clicks_on_notices_of_others_are_nothing(bus: Bus, desktop: Desktop, qtbot: Any) -> None:
    desktop.say(Said("r1", "HIGH request", "claude asks"))
    bus.calls.get(timeout=HANGS)
    bus.calls.get(timeout=HANGS)
    with qtbot.assertNotEmitted(desktop.clicked, wait=50):
        bus.emit("ActionInvoked", "us", 8, "review")
        bus.emit("ActionInvoked", "us", 7, "approve")


def test_without_a_desktop_for_notices_it_is_said_and_can_be_announced_another_way(
    desktop: Desktop, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
    with qtbot.waitSignal(desktop.missing):
        desktop.say(Said("r1", "HIGH request", "claude asks"))
    asked = desktop._thread
    assert asked is not None
    asked.join(HANGS)
    desktop.unsay("r1")
    desktop.unsay("r2")
    assert desktop._thread is asked, "it was looked for again, to take back what nobody has shown"


# ---- from an event to the bus ----


def notified(bus: Bus) -> dict[str, Any]:
    """What is shown next."""
    while (call := bus.calls.get(timeout=HANGS))[0] != "Notify":
        pass
    _, about, _, title, text, actions, hints, lasting = call[1]
    return {"about": about, "title": title, "text": text, "actions": actions, "hints": hints, "lasting": lasting}


@pytest.fixture
def told(desk: Desk, bus: Bus, desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Notices on a real bus, with sounds; the window is not in front. What rang here."""
    monkeypatch.setattr("app.notify.notices.in_front", lambda: False)
    monkeypatch.setattr("app.notify.notices.LONG_RUN_MS", 20)
    rang: list[str] = []
    notices = Notices(desk.cases, desk.window, desktop, lambda: True, lambda: rang.append("rang"))
    yield rang
    notices.deleteLater()


def test_a_question_is_shown_and_stays_and_sounds_when_half_of_its_time_has_passed(
    desk: Desk, bus: Bus, told: list[str]
) -> None:
    desk.ask(window=0.4)
    first = notified(bus)
    # Of a window of 0.4 s: a machine that is busy needs some of it until it says so.
    assert first["title"] in ("A request by claude-code, 1 s left", "A request by claude-code, 0 s left")
    assert first["lasting"] == 8000
    assert first["hints"]["suppress-sound"] == ("b", True) and "sound-name" not in first["hints"]
    desk.qtbot.waitUntil(lambda: not bus.calls.empty())
    again = notified(bus)
    assert "Half of the time to answer has passed." in again["text"]
    assert (again["lasting"], again["hints"]["urgency"], again["about"]) == (0, ("y", 2), 7)
    assert again["hints"]["sound-name"][1] == SOUND and again["actions"] == ["default", "Review", "review", "Review"]
    desk.qtbot.waitUntil(lambda: told == ["rang"])  # this bus has nobody with sounds


def test_expired_long_limit_and_refused_are_shown(desk: Desk, bus: Bus, told: list[str]) -> None:
    gone, ran = desk.ask(feed.request("one()")), feed.request("two()")
    notified(bus)
    desk.hear(feed.decided(gone, Verdict.EXPIRED, Decider.ENGINE))
    expired = notified(bus)
    assert (expired["title"], expired["lasting"]) == ("A request expired", 0)
    assert "got no answer in time" in expired["text"]
    desk.hear((RequestArrived(ran), *feed.decided(ran, by=Decider.RULE), *feed.started(ran)))
    desk.qtbot.waitUntil(lambda: not bus.calls.empty())
    assert "was approved without asking has taken over 30 s" in notified(bus)["text"]
    desk.hear(feed.finished(ran, feed.result(Outcome.OUT_OF_MEMORY)))
    limit = notified(bus)
    assert limit["title"] == "A run hit a limit" and "512 MB of memory (limit)" in limit["text"]
    desk.hear((CallsRefused("codex", 25, "too many"),))
    refused = notified(bus)
    assert refused["title"] == "Many refused calls" and "codex was refused 25 calls" in refused["text"]
    assert told == []


# ---- the tray ----


def test_without_a_tray_it_is_said_once_and_everything_continues(desk: Desk) -> None:
    tray = Tray(desk.cases, desk.window._look, desk.window)
    assert desk.window.toolbar.state.text() == NO_TRAY
    desk.ask()
    tray.say("title", "text")
    desk.hear((ModeChanged("lockdown"),))
    assert tray.words() == "Assent, Lockdown: 1 waiting"
    desk.window.presence.begin(15)
    assert tray.words().startswith("Assent, Lockdown, quiet until ")
    tray.deleteLater()


def test_the_tray_lists_what_waits_the_worst_first_and_leads_there(desk: Desk) -> None:
    desk.ask(feed.request("one()", title="Tom & Jerry\tCtrl+X"))
    worst = desk.ask(feed.request("two()", title="x" * 200), feed.assessment(Level.CRITICAL))
    tray = Tray(desk.cases, desk.window._look, desk.window)
    tray.fill(sorted(desk.cases.waiting(), key=urgency))
    first, second, *_ = tray._menu.actions()
    said = "\N{LEFT DOUBLE QUOTATION MARK}"
    assert first.text().startswith(f"CRITICAL: Code is run \N{EN DASH} {said}xxx") and len(first.text()) < 100
    assert f"{said}Tom && Jerry Ctrl+X" in second.text(), "an ampersand or a tab would be taken for a key"
    desk.window.show_page("Help")
    first.trigger()
    assert desk.window.shown_page == "Queue" and desk.answers == []
    assert desk.review.card is not None and desk.review.card.id == worst.id
    tray.deleteLater()
