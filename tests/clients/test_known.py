"""What is written for clients that tests cannot run, or not everywhere: held against the fields that they document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import pytest

from runner.clients.client import ConfigScope
from runner.clients.connection import ClientConnections
from runner.clients.known import BY_ID
from runner.clients.settings_change import SYNTAXES
from runner.identity.agents import Agents
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path


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
