"""The page of agents: what a person sets for one of them, and how it says whether that one ever connected."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt

from app import phrases
from app.agents.model import COLUMNS
from app.agents.settings import renaming
from app.agents.welcome import suggested_name
from app.history.changes import change_line
from app.parts.agent import agent_ink, ink_color
from app.parts.confirm import ConfirmDialog
from app.state.allowances import allowed
from runner.audit.history.changes import RecordedChange
from runner.identity.agents import Agent
from runner.identity.allowance import Allowance
from runner.model.errors import KnownError
from runner.policy.rules import Rule, Rules
from tests.gui import feed

if TYPE_CHECKING:
    from tests.gui.conftest import Desk

CODEX = Agent("codex", "c" * 64, time.time() - 9000, 0.0, ink=3)


def opened(desk: Desk, agent: Agent = CODEX) -> Any:
    """The panel with the settings of `agent`."""
    know(desk, agent)
    desk.window.show_page("Agents")
    panel: Any = desk.window.page("Agents")
    panel.view.setCurrentIndex(panel.model.index(0, 0))
    panel.open_settings()
    assert panel.form.isVisible()
    return panel


def know(desk: Desk, *agents: Agent) -> None:
    desk.bridge.known = agents
    desk.cases.know_agents(agents)


def calls(desk: Desk) -> list[tuple[Any, ...]]:
    return [call for call in desk.bridge.calls if call[0].endswith("_agent")]


def test_the_agent_that_the_buttons_mean_is_marked_however_it_was_chosen(desk: Desk) -> None:
    know(desk, CODEX, replace(CODEX, name="other"))
    desk.window.show_page("Agents")
    panel: Any = desk.window.page("Agents")
    assert not panel.revoke.isEnabled()
    panel.view.setFocus()
    assert panel.revoke.isEnabled()
    assert {index.row() for index in panel.view.selectedIndexes()} == {panel.view.currentIndex().row()}


def test_what_is_set_is_sent_as_a_whole_and_only_once_it_differs(desk: Desk) -> None:
    form = opened(desk, replace(CODEX, allowance=Allowance(seconds=10))).form
    assert not form.save.isEnabled() and form.limits["seconds"].value() == 10
    assert form.limits["rate_per_minute"].text() == "As in Settings (60)"
    form.limits["rate_per_minute"].setValue(5)
    form.network.setChecked(False)
    for box in form.languages.values():
        box.setChecked(box.text() == "Python")
    form.save.click()
    assert calls(desk) == [("allow_agent", "codex", Allowance(5, 0, 10.0, 0, ("python",), network=False))]
    desk.give("allow_agent")
    desk.qtbot.waitUntil(lambda: form.message.text() == "Saved.")


def test_an_agent_without_a_language_cannot_be_saved_and_failures_are_said(desk: Desk) -> None:
    form = opened(desk).form
    for box in form.languages.values():
        box.setChecked(False)
    assert not form.save.isEnabled() and "at least one language" in form.message.text()
    form.languages["shell"].setChecked(True)
    assert form.message.isHidden()
    form.save.click()
    desk.give("allow_agent", KnownError("The disk is full.", "Free some."))
    desk.qtbot.waitUntil(lambda: "The disk is full." in form.message.text())


def test_a_limit_is_never_above_that_of_the_settings(desk: Desk) -> None:
    form = opened(desk).form
    form.limits["rate_per_minute"].setValue(10_000)
    assert form.limits["rate_per_minute"].value() == desk.bridge.agents.most()["rate_per_minute"]


def test_pause_and_color_take_effect_at_once(desk: Desk) -> None:
    form = opened(desk).form
    form.pause.click()
    form.inks.button(7).click()
    assert calls(desk) == [("pause_agent", "codex"), ("paint_agent", "codex", 7)]
    know(desk, replace(CODEX, paused_at=5.0, ink=7))
    assert form.pause.text() == "Resume" and form.state.isVisible() and form.inks.checkedId() == 7
    assert agent_ink(form._look, "codex") == ink_color(form._look, 7)
    form.pause.click()
    assert calls(desk)[-1] == ("resume_agent", "codex")


def test_the_agent_of_a_row_is_paused_and_resumed_from_the_list(desk: Desk) -> None:
    panel = opened(desk)
    know(desk, CODEX)
    panel.view.setCurrentIndex(panel.model.index(0, 0))
    panel.pause.click()
    assert calls(desk)[-1] == ("pause_agent", "codex")
    know(desk, replace(CODEX, paused_at=5.0))
    assert panel.pause.text() == "Resume"
    panel.pause.click()
    assert calls(desk)[-1] == ("resume_agent", "codex")
    know(desk, replace(CODEX, revoked_at=6.0))
    assert not panel.pause.isEnabled() and panel.pause.text() == "Pause"


def test_what_is_typed_stays_when_something_else_changes(desk: Desk) -> None:
    form = opened(desk).form
    form.limits["seconds"].setValue(7)
    know(desk, replace(CODEX, last_seen=time.time()))
    assert form.limits["seconds"].value() == 7 and "last call" in form.facts.text()
    know(desk, replace(CODEX, revoked_at=9.0))
    assert not form.isVisible(), "nothing can be set for a revoked agent"


def test_renaming_says_what_ends_and_asks_first(desk: Desk) -> None:
    panel = opened(desk)
    form = panel.form
    desk.ask(replace(feed.request(), agent="codex"))
    desk.bridge.written = Rules((Rule("no-net", agents=("codex",)), Rule("others", agents=("claude",))))
    what = renaming("codex", desk.cases, desk.bridge)  # type: ignore[arg-type]
    assert "1 open request will be withdrawn" in what and "no-net" in what and "others" not in what
    form.name.setText("not a name")
    assert not form.rename.isEnabled() and "Up to 40" in form.message.text()
    form.name.setText("codex-work")
    form.rename.click()
    assert form.rename.isEnabled()
    dialog = panel.window().findChild(ConfirmDialog)
    assert dialog is not None and not calls(desk)
    dialog.yes.click()
    assert calls(desk) == [("rename_agent", "codex", "codex-work")]
    left = Agent("codex", "d" * 64, 1.0, 0.0, 5.0, renamed_to="codex-work")
    know(desk, replace(CODEX, name="codex-work", former="codex"), left)
    assert form.title.text() == "codex-work" and "called codex before" in form.facts.text()
    panel._done()
    states = [panel.model.index(row, COLUMNS.index("State")).data() for row in range(2)]
    tips = [
        panel.model.headerData(COLUMNS.index(name), Qt.Orientation.Horizontal, Qt.ItemDataRole.ToolTipRole)
        for name in ("Name", "Today", "Refused")
    ]
    assert tips[0] is None and "today" in tips[1] and "since Assent was started" in tips[2]
    assert states == ["active", "now codex-work"]


def test_the_list_says_who_never_connected_is_paused_or_limited(desk: Desk) -> None:
    panel = opened(desk)
    know(
        desk,
        replace(CODEX, name="a", paused_at=1.0),
        replace(CODEX, name="b", allowance=Allowance(network=False), last_seen=time.time()),
    )
    texts = [[panel.model.index(row, COLUMNS.index(one)).data() for one in ("Last seen", "State")] for row in range(2)]
    assert texts == [["never connected", "paused"], ["now", "limited"]]


def test_the_page_of_a_new_agent_says_whether_it_has_connected(desk: Desk) -> None:
    desk.window.show_page("Agents")
    panel: Any = desk.window.page("Agents")
    panel._show_token("codex", "as_1")
    assert panel.welcome._title.text() == "Connect codex"
    assert "Waiting for its first call" in panel.welcome.connected.text()
    know(desk, replace(CODEX, last_seen=time.time()))
    assert panel.welcome.connected.text() == "codex has connected."
    panel.welcome.close_button.click()
    assert not panel.welcome.isVisible() and not panel.welcome.token.text()


@pytest.mark.parametrize("copied", [False, True])
def test_a_new_agent_is_closed_without_a_ritual_and_its_token_is_not_lost_unasked(desk: Desk, copied: bool) -> None:
    desk.window.show_page("Agents")
    panel: Any = desk.window.page("Agents")
    panel._show_token("codex", "as_1")
    if copied:
        panel.welcome.token.selectAll()
        panel.welcome.token.copy()
    panel.welcome.close_button.click()
    asked = [one for one in desk.window.window().findChildren(ConfirmDialog) if one.isVisible()]
    assert bool(asked) is not copied
    assert bool(panel.welcome.token.text()) is not copied
    for one in asked:
        one.reject()
        assert panel.welcome.token.text() == "as_1"
        panel.welcome.close_button.click()
        desk.window.window().findChildren(ConfirmDialog)[-1].yes.click()
    assert not panel.welcome.token.text()


def test_a_free_name_is_suggested() -> None:
    names: list[Agent] = []
    for _ in range(20):
        names.append(replace(CODEX, name=suggested_name(names)))
    assert names[0].name == "claude-code" and len({one.name for one in names}) == 20
    assert names[-1].name.startswith("agent-")
    assert suggested_name([replace(one, revoked_at=1.0) for one in names]) == "claude-code"


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [
        ("agent-renamed", {"agent": "a", "to": "b"}, "Agent a renamed to b"),
        ("agent-paused", {"agent": "a"}, "Agent a paused"),
        (
            "agent-changed",
            {"agent": "a", "now": {"seconds": 5, "network": False, "languages": [], "ink": 3, "memory_mb": 0}},
            "Agent a changed \N{MIDDLE DOT} longest run: 5 s \N{MIDDLE DOT} no network \N{MIDDLE DOT} languages: all "
            "\N{MIDDLE DOT} another color \N{MIDDLE DOT} most memory as in Settings",
        ),
        ("agent-changed", {"agent": "a", "now": {"x\u202e": "<b>\u202e"}}, None),
        ("agent-changed", {"agent": "a", "now": [1]}, "Agent a changed"),
        ("agent-paused", {"agent": "a", "by": "command", "made": 1e300}, "Agent a paused"),
        ("agent-added", {"agent": "a", "by": "window", "made": 5.0}, "Agent a added"),
        ("agent-seen", {"agent": "a", "now": {"packages": False}}, None),
    ],
)
def test_changes_of_agents_are_told_in_the_history(kind: str, body: dict[str, Any], words: str | None) -> None:
    title = change_line(RecordedChange(1, 0.0, kind, body)).title
    assert "\u202e" not in title
    assert words is None or title == words
    if kind == "agent-seen":
        assert title.endswith("no packages")


def test_a_setting_that_is_not_known_is_said_as_it_is() -> None:
    assert allowed("new", 3) == "new: 3"
    assert allowed("max_pending", 0) == "requests at once as in Settings"


def test_a_change_by_a_command_says_when_it_was_made() -> None:
    at = 86_400.0 * 400
    line = change_line(RecordedChange(1, time.time(), "agent-paused", {"agent": "a", "by": "command", "made": at}))
    assert line.title == f"Agent a paused \N{MIDDLE DOT} made {phrases.when(at)}"
    assert "by a command" in line.spoken
