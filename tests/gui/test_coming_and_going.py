"""What changes without the window: agents that are added and connect, requests that are used or withdrawn meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt

from app.agents.watch import FolderWatch
from app.notify.notices import Notices
from app.review.deciding import WITHDRAWN
from runner.engine.request.membership import Membership
from runner.identity.agents import Agents
from runner.model.decision import Decider, Verdict
from runner.model.events import AgentsChanged, ApprovalArmed, ApprovalSpent
from runner.settings.loading import Settings
from runner.system.clock import since_boot
from tests.doubles import SilentRecord
from tests.gui import feed
from tests.gui.notify.test_notices import Heard
from tests.patience import HANGS

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot

    from runner.model.events import Event
    from runner.model.request import Request
    from runner.system.places import Places
    from tests.gui.conftest import Desk


def test_a_folder_says_that_another_process_has_added_an_agent(qtbot: QtBot, places: Places) -> None:
    console = Agents(places)
    watch = FolderWatch(places.agents.parent)
    changed: list[int] = []
    console.listen(lambda _: None, lambda _: None, changed=lambda: changed.append(1))
    watch.changed.connect(console.refresh)
    with qtbot.waitSignal(watch.changed):
        Agents(places).add("codex")
    assert [agent.name for agent in console.all()] == ["codex"] and changed == [1]
    console.add("cursor")
    console.refresh()
    assert changed == [1], "what this process adds it reports itself"


def test_a_folder_is_watched_that_a_first_start_makes_later(qtbot: QtBot, tmp_path: Path) -> None:
    folder = tmp_path / "config"
    watch = FolderWatch(folder)
    watch.look_for_folder()
    folder.mkdir()
    for step in (watch.look_for_folder, (folder / "agents.json").touch):
        with qtbot.waitSignal(watch.changed, timeout=int(HANGS * 1000)):
            step()


class Published(SilentRecord):
    """A record that keeps what is published."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Event] = []

    def publish(self, event: Event) -> None:
        self.events.append(event)


async def _nothing(_agent: str, _how: str) -> None:
    pass


def test_the_first_call_ever_is_told_from_the_first_since_the_start(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.engine.request.membership.spawn", lambda _name, work: work.close())
    token = Agents(places).add("codex")
    for connected in ("codex", ""):
        record = Published()
        agents = Agents(places)
        Membership(agents, record, Settings, lambda *_: None, _nothing, lambda _agent: None)
        agents.recognize(token)
        agents.recognize(token)
        assert record.events == [AgentsChanged(connected)]


def test_the_window_says_that_an_agent_has_connected_where_nothing_moves(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    toolbar, heard = desk.window.toolbar, Heard()
    monkeypatch.setattr("app.notify.notices.in_front", lambda: False)
    notices = Notices(desk.cases, desk.window, heard, lambda: False)  # type: ignore[arg-type]
    desk.hear((AgentsChanged(),))
    assert not heard.said
    desk.hear((AgentsChanged("claude-code"),))
    assert toolbar.state.text() == "claude-code has connected." and not desk.window.banners.isVisible()
    assert [said.text for said in heard.said] == ["claude-code has connected."]
    toolbar._silence.timeout.emit()
    assert "connected" not in toolbar.state.text()
    notices.deleteLater()


def expire(desk: Desk, one: Request) -> None:
    desk.hear(feed.decided(one, Verdict.EXPIRED, Decider.ENGINE))


def test_what_was_approved_for_later_and_used_is_not_offered_again(desk: Desk) -> None:
    one = desk.ask()
    desk.rested()
    desk.window.deciding._giving_way.touch()
    expire(desk, one)
    other = desk.ask(replace(feed.request(), code="print(3)"))
    expire(desk, other)
    desk.hear((ApprovalArmed(one.id, since_boot() + 600, 600.0),), (ApprovalSpent(one.id, used=True),))
    desk.rest_passes()
    assert desk.review.card is not None and desk.review.card.id == one.id
    assert not desk.page.foot.approve.isVisible()
    assert "used" in desk.page.foot.sentence.text()
    desk.qtbot.keyClick(desk.page.reading.subject, Qt.Key.Key_A)
    assert not [call for call in desk.bridge.calls if call[0] == "arm"]


def withdraw(desk: Desk, one: Request) -> None:
    desk.hear(feed.decided(one, Verdict.WITHDRAWN, Decider.AGENT))


def on_screen(desk: Desk) -> Any:
    return desk.review.card.id if desk.review.card is not None else ""


def test_a_withdrawn_request_makes_room_for_those_that_wait(desk: Desk) -> None:
    one, other = desk.ask(), desk.ask()
    assert on_screen(desk) == one.id
    withdraw(desk, one)
    assert on_screen(desk) == other.id
    desk.rested()
    assert desk.page.foot.sentence.text().startswith(WITHDRAWN)
    # Whoever comes back later would take it for something about the request that is on screen.
    passing = desk.review.answering.passing
    assert passing.isActive()
    passing.timeout.emit()
    assert WITHDRAWN not in desk.page.foot.sentence.text()
    desk.review.answering.hint("Too quick: press A again.")
    assert not passing.isActive(), "what to do stays until it is done"


def test_a_withdrawn_request_stays_until_another_comes(desk: Desk) -> None:
    one = desk.ask()
    withdraw(desk, one)
    assert on_screen(desk) == one.id
    later = desk.ask()
    assert on_screen(desk) == later.id


def test_a_request_that_is_asked_stays_whatever_else_is_withdrawn(desk: Desk) -> None:
    one, other = desk.ask(), desk.ask()
    withdraw(desk, other)
    assert on_screen(desk) == one.id


def test_an_a_that_was_meant_for_the_withdrawn_one_approves_nothing(desk: Desk) -> None:
    one, _other = desk.ask(), desk.ask()
    desk.rested()
    withdraw(desk, one)
    desk.qtbot.keyClick(desk.page.reading.subject, Qt.Key.Key_A)
    assert desk.answers == []
