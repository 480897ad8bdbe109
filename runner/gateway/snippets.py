"""The configuration that a person pastes into an agent's client, for each client and for the stdio bridge."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

LONG_WAIT = 200
"""Seconds a call may take in clients whose limit can be set."""
LONG_HOLD = 180
"""Seconds of them that Assent may use: the answer has to arrive before the client times out."""
SHORT_HOLD = 50
"""Seconds for clients with a fixed limit of 60 s."""
MAY_CHANGE = (
    "The port may change: while another program has the usual one, Assent takes any that is free, and this would send "
    "the token to that program. The command finds the port by itself."
)
"""Note on configurations that name the port."""


class Snippet(NamedTuple):
    """A piece of configuration: `text` goes into `file`, or is run as a command where `file` is empty."""

    client: str
    file: str
    text: str
    note: str = ""
    """What else is to be known of it."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """The command that starts `assent mcp`, and what it needs to know."""

    program: str
    arguments: tuple[str, ...]
    environment: dict[str, str]

    def server(self, hold: int) -> dict[str, object]:
        """Return it as most clients have it, with the seconds that the client can wait."""
        environment = self.environment | {"ASSENT_HOLD": str(hold)}
        return {"command": self.program, "args": list(self.arguments), "env": environment}


def configurations(
    agent: str, token: str, url: str, command: str = "assent", variables: Mapping[str, str] | None = None
) -> tuple[Snippet, ...]:
    """Return the configurations for `agent`, those with the bridge first. Every text holds the token: store it nowhere.

    The bridge answers also while no console is open; with HTTP, clients that start before it work without Assent and
    say nothing. Where a client's own time limit is raised, the same text sets how long Assent may hold a call.
    `command` starts the bridge, followed by `mcp`. `variables` are what the bridge needs to find a console whose
    folders are not the usual ones: clients start it without those of the session.
    """
    program, *arguments = shlex.split(command)
    bridge = Bridge(program, (*arguments, "mcp"), {"ASSENT_TOKEN": token, **(variables or {})})
    return (
        _claude_code(bridge),
        _codex(bridge),
        _gemini(bridge),
        _cursor(bridge),
        _vs_code(bridge),
        Snippet("Any client that starts a command", "its mcpServers", _servers(bridge.server(SHORT_HOLD))),
        _claude_code_http(token, url),
        _codex_http(token, url),
        Snippet("Any client that speaks HTTP", "its mcpServers", _servers(_http(token, url, SHORT_HOLD)), MAY_CHANGE),
    )


def _claude_code(bridge: Bridge) -> Snippet:
    # Without alwaysLoad Claude Code hides the tools behind a search.
    server = {"type": "stdio", **bridge.server(LONG_HOLD), "timeout": LONG_WAIT * 1000, "alwaysLoad": True}
    return Snippet("Claude Code", "~/.claude.json", _servers(server))


def _codex(bridge: Bridge) -> Snippet:
    environment = bridge.environment | {"ASSENT_HOLD": str(LONG_HOLD)}
    text = (
        "[mcp_servers.assent]\n"
        f"command = {_toml(bridge.program)}\n"
        f"args = [{', '.join(map(_toml, bridge.arguments))}]\n"
        f"env = {_toml_table(environment)}\n"
        f"tool_timeout_sec = {LONG_WAIT}\n"
        'default_tools_approval_mode = "approve"\n'
    )
    return Snippet("Codex", "~/.codex/config.toml", text)


def _gemini(bridge: Bridge) -> Snippet:
    server = {**bridge.server(LONG_HOLD), "timeout": LONG_WAIT * 1000, "trust": True}
    return Snippet("Gemini CLI", "~/.gemini/settings.json", _servers(server))


def _cursor(bridge: Bridge) -> Snippet:
    return Snippet("Cursor", "~/.cursor/mcp.json", _servers(bridge.server(SHORT_HOLD)))


def _vs_code(bridge: Bridge) -> Snippet:
    server = {"type": "stdio", **bridge.server(SHORT_HOLD)}
    return Snippet("VS Code", ".vscode/mcp.json", _json({"servers": {"assent": server}}))


def _http(token: str, url: str, hold: int) -> dict[str, object]:
    return {"type": "http", "url": url, "headers": _headers(token, hold)}


def _headers(token: str, hold: int) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Assent-Hold": str(hold)}


def _claude_code_http(token: str, url: str) -> Snippet:
    server = {**_http(token, url, LONG_HOLD), "timeout": LONG_WAIT * 1000, "alwaysLoad": True}
    return Snippet("Claude Code by HTTP", "~/.claude.json", _servers(server), MAY_CHANGE)


def _codex_http(token: str, url: str) -> Snippet:
    text = (
        "[mcp_servers.assent]\n"
        f"url = {_toml(url)}\n"
        f"http_headers = {_toml_table(_headers(token, LONG_HOLD))}\n"
        f"tool_timeout_sec = {LONG_WAIT}\n"
        'default_tools_approval_mode = "approve"\n'
    )
    return Snippet("Codex by HTTP", "~/.codex/config.toml", text, MAY_CHANGE)


def _servers(server: Mapping[str, object]) -> str:
    return _json({"mcpServers": {"assent": server}})


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _toml_table(values: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{_toml(name)} = {_toml(value)}" for name, value in values.items()) + " }"


def _toml(text: str) -> str:
    """Return a TOML basic string; JSON's escapes are a subset of TOML's for all text that can occur here."""
    return json.dumps(text)
