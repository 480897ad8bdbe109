"""The page of a first start: by keyboard, in any order, closed at any point; it asks, and approves nothing."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest

from app.chrome.frame import Frame
from app.chrome.keyring_notice import UNASKED as ASKS
from app.chrome.window_state import Remembered
from app.first_start.isolation import WORDS
from app.first_start.keyring import KeyringStep
from app.first_start.panel import FirstSteps
from app.link.background import Errands
from app.parts.gauges.state_ring import RingState
from app.phrases import YOU
from app.start.console import Console
from app.start.crash import Faults
from runner.commands.check import Check, State, stronger
from runner.commands.doctor import UNUSED_KEY
from runner.identity.agents import Agent
from runner.identity.allowance import Allowance
from runner.identity.keyring_answer import KeyringAnswer, read_answer
from runner.model.decision import Decider, Verdict
from runner.model.errors import KnownError
from runner.model.events import GatewayOpened
from runner.model.request import ALL_LIMITS, Isolation
from tests.gui import feed
from tests.gui.client_files import ClientFiles
from tests.gui.conftest import scaled
from tests.gui.scenes.first_scenes import ABSENT, CHECKS, KEPT, LOCKED, REFUSED, UNASKED, examined
from tests.gui.scenes.shots import SANDBOX
from tests.gui.scenes.work_scenes import session
from tests.gui.test_accessibility import SEEN, changed, lost, spoken, wrong_with

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from PySide6.QtWidgets import QApplication
    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.identity.secrets import Where
    from runner.system.places import Places
    from tests.gui.conftest import Desk


@pytest.fixture
def files(tmp_path: Path) -> ClientFiles:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text("# mine\n")
    return ClientFiles(tmp_path)


@pytest.fixture
def page(desk: Desk, look: Look, places: Places, files: ClientFiles) -> FirstSteps:
    desk.bridge.known = ()
    desk.cases.know_agents(())
    bridge: Any = desk.bridge
    page = FirstSteps(desk.cases, bridge, files, look, places, examined)
    desk.window.pages.add("First steps", page)
    desk.window.show_page("First steps")
    return page


def engine_is_there(desk: Desk, where: Where = UNASKED) -> None:
    """The engine has started; it says where secrets are when it is asked."""
    desk.hear((GatewayOpened("http://127.0.0.1:1/mcp"),))
    feed.turn()
    desk.give("secrets_where", where)


def press(page: FirstSteps, *keys: Qt.Key) -> None:
    """Press keys where the focus is."""
    for key in keys:
        target = page.window().focusWidget()
        assert target is not None
        QTest.keyClick(target, key)
        feed.turn()


def tab_to(page: FirstSteps, name: str) -> None:
    """Press Tab until a button with this text has the focus."""
    for _ in range(40):
        focused: Any = page.window().focusWidget()
        if hasattr(focused, "text") and callable(focused.text) and focused.text().split("\n")[0] == name:
            return
        press(page, Qt.Key.Key_Tab)
    pytest.fail(f"Tab does not come to {name}")


def test_it_waits_for_the_engine_and_then_puts_the_focus_on_the_first_program(desk: Desk, page: FirstSteps) -> None:
    assert not page.connecting.tiles and not page.connecting.go.isVisible()
    engine_is_there(desk)
    assert page.window().focusWidget() is page.connecting.tiles[0]
    assert page.connecting.tiles[0].text() == "Codex\ninstalled"


def test_a_program_is_connected_and_taken_back_by_keyboard(desk: Desk, page: FirstSteps, files: ClientFiles) -> None:
    config = files.home / ".codex/config.toml"
    engine_is_there(desk)
    press(page, Qt.Key.Key_Space)
    assert "+[mcp_servers.assent]" in page.connecting.text.toPlainText() and config.read_text() == "# mine\n"
    tab_to(page, "Connect")
    press(page, Qt.Key.Key_Space)
    assert "mcp_servers.assent" in config.read_text()
    assert page.connecting.ring.state is RingState.WAITING and page.connecting.ring.isVisible()
    (agent,) = files.agents.all()
    desk.bridge.known = (agent,)
    desk.cases.know_agents((agent,))
    assert page.connect_step.ring.state is RingState.WAITING
    desk.cases.know_agents((replace(agent, last_seen=time.time() + 1),))
    assert (page.connecting.ring.state, page.connect_step.ring.state) == (RingState.DONE, RingState.DONE)
    assert page.window().focusWidget() is page.connecting.go
    # No room is left for the tiles and the text that are not shown any more.
    feed.turn()
    assert page.connecting.sizeHint().height() < page.connecting.text.minimumHeight()
    tab_to(page, "Undo")
    press(page, Qt.Key.Key_Space)
    tab_to(page, "Disconnect")
    press(page, Qt.Key.Key_Space)
    assert config.read_text() == "# mine\n"
    assert not desk.answers


def test_left_half_way_it_shows_what_is_done_and_still_waits(desk: Desk, page: FirstSteps, files: ClientFiles) -> None:
    engine_is_there(desk)
    press(page, Qt.Key.Key_Space)
    page.connecting.go.click()
    feed.turn()
    desk.bridge.known = files.agents.all()
    bridge: Any = desk.bridge
    # As after a start: nothing of the first page is there any more.
    again = FirstSteps(desk.cases, bridge, files, page._look, page.isolation_step._places, examined)
    desk.window.pages.add("First steps", again)
    desk.cases.know_agents(desk.bridge.known)
    desk.window.show_page("Queue")
    desk.window.show_page("First steps")
    feed.turn()
    assert again.calls[0].ring.state is RingState.WAITING and "codex" in again.calls[0].words.text()
    assert again.connecting.tiles[0].text() == "Codex\nno call yet"
    desk.cases.know_agents(tuple(replace(one, last_seen=1.0) for one in desk.bridge.known))
    assert again.connecting.tiles[0].text() == "Codex\nconnected"
    desk.cases.know_agents(desk.bridge.known)
    again.connecting.tiles[0].click()
    feed.turn()
    assert again.connecting.title.text() == "Codex: waiting for its first call"


def test_everything_has_a_name_no_words_are_cut_off_and_the_focus_is_seen(desk: Desk, page: FirstSteps) -> None:
    frame = desk.window.frame
    frame.resize(960, 600)
    engine_is_there(desk)
    for step in range(2):
        desk.qtbot.waitUntil(lambda: set(lost(frame)) == set())
        found = spoken(QAccessible.queryAccessibleInterface(frame))
        assert {why for child in found if (why := wrong_with(child))} == set()
        button = (page.connecting.tiles[0], page.connecting.go)[step]
        assert changed(frame, button) >= SEEN
        page.connecting.tiles[0].click()
        feed.turn()


# ---- the test request ----


def test_the_test_request_is_decided_in_the_queue_and_its_end_is_shown(
    desk: Desk, page: FirstSteps, qtbot: QtBot
) -> None:
    page.queue_wanted.connect(lambda: desk.window.show_page("Queue"))
    told: list[str] = []
    page.test_decided.connect(told.append)
    engine_is_there(desk)
    page.try_step.send.click()
    assert ("send_test", YOU) in desk.bridge.calls
    one = desk.ask(feed.request(agent=YOU))
    desk.give("send_test", one.id)
    assert desk.window.shown_page == "Queue" and page.try_step.ring.state is RingState.WAITING
    assert not desk.answers
    desk.hear(feed.decided(feed.request()), feed.decided(one))
    assert page.try_step.ring.state is RingState.DONE and told == ["The test request was approved."]


@pytest.mark.parametrize(
    ("verdict", "state"),
    [(Verdict.DENIED, RingState.DONE), (Verdict.EXPIRED, RingState.TODO), (Verdict.WITHDRAWN, RingState.TODO)],
)
def test_one_that_nobody_answered_can_be_sent_again(
    desk: Desk, page: FirstSteps, verdict: Verdict, state: RingState
) -> None:
    engine_is_there(desk)
    page.try_step.send.click()
    one = desk.ask()
    # Decided before its number comes, as in Lockdown.
    desk.hear(feed.decided(one, verdict, Decider.ENGINE))
    desk.give("send_test", one.id)
    assert page.try_step.ring.state is state and "nothing ran" in page.try_step.message.text()
    assert page.try_step.send.isEnabled()


def test_it_is_in_nobodys_name_and_says_why_it_could_not(desk: Desk, page: FirstSteps) -> None:
    engine_is_there(desk)
    desk.cases.know_agents(tuple(Agent(name, "0" * 64, 0.0) for name in ("a", "b")))
    page.try_step.send.click()
    assert ("send_test", YOU) in desk.bridge.calls
    desk.give("send_test", KnownError("There is no sandbox.", "Nothing was run."))
    assert "There is no sandbox." in page.try_step.message.text()
    assert page.try_step.send.isEnabled() and page.try_step.ring.state is RingState.TODO


def test_what_became_of_it_moves_no_button_of_a_request_that_waits(desk: Desk) -> None:
    desk.window.pages.test_decided.emit("The test request was approved.")
    assert desk.window.banners.text("first steps")
    desk.window.banners.unsay("first steps")
    desk.ask()
    desk.window.pages.test_decided.emit("The test request was approved.")
    assert not desk.window.banners.text("first steps")


# ---- the keyring ----


def test_only_the_answer_opens_the_keyring(desk: Desk, page: FirstSteps) -> None:
    engine_is_there(desk)
    step = page.keyring_step
    assert (step.allow.isVisible(), step.refuse.isVisible(), step.file.isVisible()) == (True, True, False)
    assert not any(call[0] == "answer_keyring" for call in desk.bridge.calls)
    step.allow.click()
    assert ("answer_keyring", KeyringAnswer.ALLOWED) in desk.bridge.calls
    assert not step.allow.isEnabled() and "may" not in step.heading.text() and "password" in step.message.text()
    desk.give("answer_keyring", KEPT)
    assert step.ring.state is RingState.DONE and not step.allow.isVisible()
    assert "SecretService" in step.message.text()


@pytest.mark.parametrize("where", [LOCKED, ABSENT])
def test_a_keyring_that_does_not_open_is_explained_and_not_asked_again(
    desk: Desk, page: FirstSteps, where: Where
) -> None:
    engine_is_there(desk)
    page.keyring_step.allow.click()
    desk.give("answer_keyring", where)
    step = page.keyring_step
    assert where.explanation in step.message.text() and where.remedy in step.message.text()
    assert (step.allow.isVisible(), step.file.isVisible()) == (False, True)
    assert step.ring.state is RingState.TODO


def test_a_refusal_can_be_changed(desk: Desk, page: FirstSteps) -> None:
    engine_is_there(desk)
    page.keyring_step.refuse.click()
    assert ("answer_keyring", KeyringAnswer.REFUSED) in desk.bridge.calls
    desk.give("answer_keyring", REFUSED)
    step = page.keyring_step
    assert (step.allow.isVisible(), step.refuse.isVisible(), step.file.isVisible()) == (True, False, True)


def test_an_answer_that_could_not_be_kept_can_be_given_again(desk: Desk, page: FirstSteps) -> None:
    engine_is_there(desk)
    page.keyring_step.allow.click()
    desk.give("answer_keyring", KnownError("Your answer could not be written.", "Free disk space."))
    assert "Free disk space." in page.keyring_step.message.text() and page.keyring_step.allow.isEnabled()


# ---- where code runs ----


def test_the_sandbox_is_named_with_the_command_for_a_stronger_one(desk: Desk, page: FirstSteps, qtbot: QtBot) -> None:
    engine_is_there(desk)
    desk.cases.know_sandbox(SANDBOX)
    assert "local sandbox" in page.isolation_step.sentence.text()
    qtbot.waitUntil(page.isolation_step.command.isVisible)
    assert page.isolation_step.command.text() == "sudo apt-get install docker.io"
    desk.cases.know_sandbox({"isolation": "none", "problem": "There is no sandbox to run in."})
    assert "refused" in page.isolation_step.sentence.text()
    assert page.isolation_step.ring.state is RingState.TODO


def test_a_key_for_e2b_is_named_with_what_it_takes_to_use_it(desk: Desk, page: FirstSteps, qtbot: QtBot) -> None:
    step = page.isolation_step
    assert not step.elsewhere.isVisible(), "nothing is said where there is none"
    step._examine = lambda _: (*CHECKS, Check("E2B", State.OK, UNUSED_KEY))
    engine_is_there(desk)
    desk.cases.know_sandbox(SANDBOX)
    qtbot.waitUntil(step.elsewhere.isVisible)
    assert step.elsewhere.text() == UNUSED_KEY
    desk.cases.know_sandbox({"isolation": "e2b"})
    qtbot.waitUntil(lambda: not step.elsewhere.isVisible())
    assert "leaves this machine" in step.sentence.text()


def test_a_sandbox_below_the_minimum_for_critical_is_no_green_tick(desk: Desk, page: FirstSteps) -> None:
    desk.bridge.minimum = "docker"
    engine_is_there(desk)
    desk.cases.know_sandbox(SANDBOX)
    step = page.isolation_step
    assert step.ring.state is RingState.TODO and "allow each of them" in step.sentence.text()
    desk.bridge.minimum = "local"
    step.refresh()
    assert step.ring.state is RingState.DONE and "allow each of them" not in step.sentence.text()


def test_the_one_step_that_is_worth_most_is_named(desk: Desk, page: FirstSteps) -> None:
    engine_is_there(desk)
    desk.cases.know_sandbox({"isolation": "none", "problem": "There is no sandbox to run in."})
    assert "step 5" in page.worth.text(), "without a sandbox nothing runs"
    desk.cases.know_sandbox(SANDBOX)
    assert "step 1" in page.worth.text(), "nobody works, and nobody is connected"
    desk.bridge.at_work = (session(at_work=False),)
    page.look_again()
    assert "step 1" not in page.worth.text() and page.work_step.ring.state is RingState.DONE
    desk.bridge.at_work = ()
    page.look_again()


def test_the_strongest_sandbox_that_does_not_work_yet_is_named() -> None:
    def fix(*checks: Check) -> str:
        found = stronger(checks)
        return "" if found is None else found.fix

    assert fix(*CHECKS) == "sudo apt-get install docker.io"
    works = Check("gVisor", State.OK, "Active.")
    assert fix(works, Check("Local sandbox", State.WARN, "x", "sudo y")) == "sudo y"
    assert fix(works, Check("Docker", State.OK, "Active.", "no fix")) == ""
    assert fix(*CHECKS, Check("Images", State.WARN, "x", "assent images", ("python",))) == "assent images"


def test_gvisor_is_installed_from_the_first_steps_where_assent_can_fetch_it(desk: Desk, page: FirstSteps) -> None:
    engine_is_there(desk)
    desk.cases.know_sandbox(SANDBOX)
    step = page.isolation_step
    step._show(CHECKS)
    assert not step.install.isVisible() and "let Assent install" not in step.advice.text()
    step._show((Check("gVisor without Docker", State.WARN, "x", "sudo z", gvisor=True),))
    assert step.install.isVisible() and "let Assent install" in step.advice.text()
    wanted: list[bool] = []
    page.gvisor_wanted.connect(lambda: wanted.append(True))
    step.install.click()
    assert wanted and step.command.text() == "sudo z", "who would rather type it can"


# ---- how it is reached ----


def test_it_is_reached_from_the_palette_the_help_and_the_empty_queue(desk: Desk) -> None:
    window = desk.window
    way = next(way for way in window.commands.ways() if way.name == "First steps")
    way.go()
    assert window.shown_page == "First steps"
    window.show_page("Help")
    help_page: Any = window.page("Help")
    help_page.begin.click()
    assert window.shown_page == "First steps"
    window.show_page("Queue")
    desk.cases.know_agents(())
    window.deciding.queue.nobody.pressed.emit()
    assert window.shown_page == "First steps"
    window.show_page("Today")
    assert window.shown_page == "Today"


def test_the_narrow_column_leads_to_it_in_the_whole_window(desk: Desk) -> None:
    desk.cases.know_agents(())
    desk.window.turn_docked()
    desk.qtbot.waitUntil(lambda: desk.window.docked and desk.window.dock.nobody.isVisible())
    assert desk.window.dock.none.isHidden()
    desk.window.dock.nobody.pressed.emit()
    desk.qtbot.waitUntil(lambda: not desk.window.docked)
    assert desk.window.shown_page == "First steps"


# ---- the first start and the second ----


@pytest.fixture
def opened(qtbot: QtBot, qapp: QApplication, look: Look, places: Places, monkeypatch: Any) -> Iterator[Any]:
    """Consoles without an engine."""
    monkeypatch.setattr("app.start.console.Look", lambda *_: look)
    icon, consoles = qapp.windowIcon(), []

    def open_console() -> Console:
        remembered = Remembered(places.state / "window.json")
        frame = Frame(remembered)
        qtbot.addWidget(frame)
        console = Console(qapp, places, Faults(places), frame, remembered)
        consoles.append(console)
        return console

    yield open_console
    for console in consoles:
        for errands in (*console.findChildren(Errands), *console.window.findChildren(Errands)):
            errands.close()
    qapp.setWindowIcon(icon)


def test_the_page_opens_at_the_first_start_alone(opened: Any, places: Places) -> None:
    first = opened()
    assert first.window.shown_page == "First steps" and read_answer(places) is KeyringAnswer.UNASKED
    assert first.window.vault.asking
    places.ledger.write_bytes(b"")
    second = opened()
    assert second.window.shown_page == "Queue"
    assert read_answer(places) is KeyringAnswer.UNASKED, "nobody has answered yet"


def test_an_earlier_installation_is_asked_nothing(opened: Any, places: Places) -> None:
    places.ledger.write_bytes(b"")
    assert opened().window.shown_page == "Queue" and read_answer(places) is KeyringAnswer.ALLOWED


def test_agents_that_are_there_already_open_the_queue_and_the_keyring_is_asked_for(opened: Any, places: Places) -> None:
    places.agents.write_text("{}")
    console = opened()
    assert console.window.shown_page == "Queue" and read_answer(places) is KeyringAnswer.UNASKED
    console.window.vault._tell(UNASKED)
    assert "not signed yet" in console.window.banners.text(ASKS)
    console.window.banners.unsay(ASKS)  # closed
    console.window.vault._tell(UNASKED)
    assert not console.window.banners.text(ASKS), "who has closed it has read it"
    console.window._act(ASKS)
    assert console.window.shown_page == "First steps"
    assert not console.window.banners.text(ASKS)


def test_every_kind_of_sandbox_has_its_sentence() -> None:
    assert set(WORDS) == set(Isolation)


IN_GVISOR = {"isolation": "gvisor-direct", "protections": [ALL_LIMITS]}


@pytest.mark.parametrize(
    ("sandbox", "offered"),
    [
        (IN_GVISOR, True),
        ({"isolation": "gvisor", "protections": []}, True),
        ({"isolation": "gvisor-direct", "protections": []}, False),
        ({"isolation": "local", "protections": [ALL_LIMITS]}, False),
        ({"isolation": "docker", "protections": [ALL_LIMITS]}, False),
        ({"isolation": "none", "problem": "There is no sandbox to run in."}, False),
    ],
)
def test_trials_are_offered_where_they_would_happen_in_gvisor(
    desk: Desk, page: FirstSteps, sandbox: dict[str, object], offered: bool
) -> None:
    engine_is_there(desk)
    desk.cases.know_sandbox(sandbox)
    assert page.trial_step.isVisible() is offered


def test_a_trial_is_switched_on_for_one_agent_and_its_state_is_true(desk: Desk, page: FirstSteps) -> None:
    engine_is_there(desk)
    desk.cases.know_sandbox(IN_GVISOR)
    step = page.trial_step
    assert step.ring.state is RingState.TODO and step.nobody.isVisible()
    codex = Agent("codex", "1", 1.0, 1.0, allowance=Allowance(5, rehearse="any"))
    claude = Agent("claude", "2", 2.0, 2.0)
    desk.bridge.known = (codex, claude)
    desk.cases.know_agents((codex, claude))
    assert step.ring.state is RingState.DONE and not step.nobody.isVisible()
    first, second = step.rows
    assert "codex is tried before" in first.words.text() and "claude does not run" in second.words.text()
    second.button.click()
    first.button.click()
    assert [call[1:] for call in desk.bridge.calls if call[0] == "allow_agent"] == [
        ("claude", Allowance(rehearse="gvisor")),
        ("codex", Allowance(5)),
    ]
    assert "claude does not run" in second.words.text()  # not before it is so
    desk.give("allow_agent", KnownError("The disk is full."))
    desk.qtbot.waitUntil(lambda: "The disk is full." in step.message.text())
    desk.cases.know_agents((replace(claude, allowance=Allowance()),))
    assert step.ring.state is RingState.TODO and not first.isHidden() and second.isHidden()


def test_the_steps_are_no_wider_than_a_small_window_with_large_text(qtbot: QtBot, look: Look) -> None:
    with scaled(look, 2.0) as large:
        step = KeyringStep(feed.RecordingBridge(), large)  # type: ignore[arg-type]
        qtbot.addWidget(step)
        for button in (step.allow, step.refuse, step.file):
            button.show()
        assert step.minimumSizeHint().width() <= 500
