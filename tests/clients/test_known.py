"""What is written for clients that tests cannot run, or not everywhere: held against the fields that they document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from runner.clients.client import ConfigScope
from runner.clients.connection import ClientConnections
from runner.clients.known import BY_ID
from runner.clients.settings_change import SYNTAXES
from runner.commands.hook import hold, within
from runner.identity.agents import Agents
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

    from runner.clients.client import Setup


class Documented(NamedTuple):
    """Where a client reads its servers, and the fields of one that starts a command. Others are an error to some."""

    user: str
    project: str
    servers: str
    required: frozenset[str]
    optional: frozenset[str]


def fields(text: str) -> frozenset[str]:
    return frozenset(text.split())


CLIENTS = {
    "vscode": Documented(
        ".config/Code/User/mcp.json", ".vscode/mcp.json", "servers", fields("type command"),
        fields("args env cwd envFile dev"),
    ),
    "cursor": Documented(
        ".cursor/mcp.json", ".cursor/mcp.json", "mcpServers", fields("command"), fields("type args env envFile")
    ),
    # An entry without `args` is not read at all.
    "zed": Documented(
        ".config/zed/settings.json", ".zed/settings.json", "context_servers", fields("command args"),
        fields("source enabled remote env timeout"),
    ),
    "goose": Documented(
        ".config/goose/config.yaml", "", "extensions", fields("name type cmd args"),
        fields("enabled description envs env_keys timeout bundled available_tools"),
    ),
    # Seen at work, but not by a test: no lock can be made for it where a registry lacks a platform.
    "qwen-code": Documented(
        ".qwen/settings.json", ".qwen/settings.json", "mcpServers", fields("command"),
        fields("args env cwd timeout trust alwaysLoadTools description includeTools excludeTools"),
    ),
}  # fmt: skip
TRIED: dict[str, dict[str, object]] = {
    "claude-code": {"type": "stdio", "alwaysLoad": True, "timeout": 200_000},
    "codex": {"default_tools_approval_mode": "approve", "tool_timeout_sec": 200},
    "gemini-cli": {"trust": True, "timeout": 200_000},
    "qwen-code": {"trust": True, "alwaysLoadTools": True, "timeout": 200_000},
    "copilot-cli": {"type": "local", "tools": ["*"], "timeout": 200_000},
    "opencode": {"type": "local", "enabled": True, "timeout": 200_000},
    "cline": {"timeout": 200},
    "goose": {"enabled": True, "timeout": 200},
}
"""What keeps each from asking a second time, loads the tools at once and waits for a person, as seen at work."""
HOOKS = {
    "claude-code": (".claude/settings.json", "PreToolUse", 1),
    "codex": (".codex/config.toml", "PreToolUse", 1),
    "gemini-cli": (".gemini/settings.json", "BeforeTool", 1000),
}
"""File, event, and the units of a second in which the client counts."""
KINDS: dict[str, type] = {
    "args": list,
    "env": dict,
    "envs": dict,
    "timeout": int,
    "enabled": bool,
    "trust": bool,
    "alwaysLoadTools": bool,
}
"""The others are texts."""


@pytest.mark.parametrize("scope", ConfigScope)
@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_written_has_the_documented_fields(client: str, scope: ConfigScope, tmp_path: Path) -> None:
    documented = CLIENTS[client]
    place = documented.user if scope is ConfigScope.USER else documented.project
    if not place:
        pytest.skip("it reads no configuration in a project")
    places = Places.under(tmp_path / "assent")
    agents = Agents(places)
    home, project = tmp_path / "home", tmp_path / "project"
    project.mkdir()
    connections = ClientConnections(places, agents, {}, home)
    connections.connect(connections.plan(BY_ID[client], connections.setup(scope, project)), agents.add)
    file = (home if scope is ConfigScope.USER else project) / place
    values = SYNTAXES[file.suffix].read(file.read_text())
    assert list(values) == [documented.servers], json.dumps(values)
    (entry,) = values[documented.servers].values()  # type: ignore[attr-defined]
    assert documented.required <= entry.keys() <= documented.required | documented.optional
    for name, value in entry.items():
        assert isinstance(value, KINDS.get(name, str)), name
    variables = entry.get("env") or entry.get("envs")
    assert all(isinstance(value, str) for value in variables.values())
    assert all(isinstance(word, str) for word in entry["args"])
    assert (entry.get("command") or entry["cmd"]).startswith("/"), "these clients have a shorter PATH"


def connected(client: str, home: Path, *, hook: bool = False) -> Setup:
    places = Places.under(home / "assent")
    agents = Agents(places)
    connections = ClientConnections(places, agents, {}, home)
    setup = connections.setup(hook=hook)
    connections.connect(connections.plan(BY_ID[client], setup), agents.add)
    return setup


def read(file: Path) -> Any:
    return SYNTAXES[file.suffix].read(file.read_text())


@pytest.mark.parametrize("client", TRIED)
def test_what_was_tried_with_a_client_is_what_is_written_for_it(client: str, tmp_path: Path) -> None:
    file, path = BY_ID[client].server(connected(client, tmp_path))
    entry = read(file)
    for name in path:
        entry = entry[name]
    assert {name: entry.get(name) for name in TRIED[client]} == TRIED[client]
    limits = [
        value / (1000 if value > 1000 else 1) for name, value in entry.items() if name.startswith(("time", "tool_t"))
    ]
    assert [limit > float(entry[BY_ID[client].entry.variables]["ASSENT_HOLD"]) for limit in limits] == [True]


@pytest.mark.parametrize("client", HOOKS)
def test_a_hook_says_no_before_its_client_stops_waiting_for_it(client: str, tmp_path: Path) -> None:
    """All of them run the tool where a hook takes too long."""
    connected(client, tmp_path, hook=True)
    name, event, unit = HOOKS[client]
    (group,) = read(tmp_path / name)["hooks"][event]
    (hook,) = group["hooks"]
    assert group["matcher"] == "*", "a tool that is not matched is not asked about"
    for seconds in (hook["timeout"] / unit, 60, 10):
        assert 0 < hold(within(seconds)) < within(seconds) <= seconds - 3
    assert within(1) > 0
    assert hook["command"].endswith("exit 2; }"), "a hook that is missing or killed says no too"
