"""The configuration that a person pastes into an agent's client, for each client and for the stdio bridge."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from typing import TYPE_CHECKING, NamedTuple

from runner.system import installed

if TYPE_CHECKING:
    from collections.abc import Mapping

LONG_WAIT = 200
"""Seconds a call may take in clients whose limit can be set."""
LONG_HOLD = 180
"""Seconds of them that Assent may use: the answer has to arrive before the client times out."""
SHORT_HOLD = 50
"""Seconds for clients with a fixed limit of 60 s."""


class Snippet(NamedTuple):
    """A piece of configuration: `text` goes into `file`, or is run as a command where `file` is empty."""

    client: str
    file: str
    text: str


def configurations(
    agent: str, token: str, url: str, command: str = "assent", variables: Mapping[str, str] | None = None
) -> tuple[Snippet, ...]:
    """Return the configurations for `agent`. Every text holds the token: show it once, store it nowhere.

    Where a client's own time limit is raised, the same text sets how long Assent may hold a call.
    `command` starts the stdio bridge, followed by `mcp`. `variables` are what the bridge needs to find a console
    whose folders are not the usual ones: clients start it without those of the session.
    """
    bridge = {"ASSENT_TOKEN": token, **(variables or {})}
    return (
        _claude_code(token, url),
        _codex(token, url),
        _gemini(token, url),
        _cursor(token, url),
        _vs_code(token, url),
        _bridge(bridge, command),
        _bridge_codex(bridge, command),
    )


def own_command() -> str:
    """Return `own_program` as a shell takes it."""
    return shlex.quote(own_program())


def own_program() -> str:
    """Return the full path of the `assent` that is running, for clients have a shorter PATH or know no checkout."""
    if packaged := installed.command():
        return packaged
    beside = os.path.join(os.path.dirname(sys.executable), "assent")
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("assent")
    return os.path.abspath(found) if found else "assent"


def _headers(token: str, hold: int) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Assent-Hold": str(hold)}


def _claude_code(token: str, url: str) -> Snippet:
    server = {"type": "http", "url": url, "headers": _headers(token, LONG_HOLD), "timeout": LONG_WAIT * 1000}
    return Snippet("Claude Code", ".mcp.json", _json({"mcpServers": {"assent": server}}))


def _codex(token: str, url: str) -> Snippet:
    headers = _headers(token, LONG_HOLD)
    text = (
        "[mcp_servers.assent]\n"
        f"url = {_toml(url)}\n"
        "http_headers = { " + ", ".join(f"{_toml(name)} = {_toml(value)}" for name, value in headers.items()) + " }\n"
        f"tool_timeout_sec = {LONG_WAIT}\n"
        'default_tools_approval_mode = "approve"\n'
    )
    return Snippet("Codex", "~/.codex/config.toml", text)


def _gemini(token: str, url: str) -> Snippet:
    server = {"httpUrl": url, "headers": _headers(token, LONG_HOLD), "timeout": LONG_WAIT * 1000, "trust": True}
    return Snippet("Gemini CLI", "~/.gemini/settings.json", _json({"mcpServers": {"assent": server}}))


def _cursor(token: str, url: str) -> Snippet:
    server = {"url": url, "headers": _headers(token, SHORT_HOLD)}
    return Snippet("Cursor", "~/.cursor/mcp.json", _json({"mcpServers": {"assent": server}}))


def _vs_code(token: str, url: str) -> Snippet:
    server = {"type": "http", "url": url, "headers": _headers(token, SHORT_HOLD)}
    return Snippet("VS Code", ".vscode/mcp.json", _json({"servers": {"assent": server}}))


def _bridge(variables: Mapping[str, str], command: str) -> Snippet:
    program, *arguments = shlex.split(command)
    environment = {**variables, "ASSENT_HOLD": str(SHORT_HOLD)}
    server = {"command": program, "args": [*arguments, "mcp"], "env": environment}
    return Snippet("Any client that starts a command", "its mcpServers", _json({"mcpServers": {"assent": server}}))


def _bridge_codex(variables: Mapping[str, str], command: str) -> Snippet:
    program, *arguments = shlex.split(command)
    environment = {**variables, "ASSENT_HOLD": str(LONG_HOLD)}
    text = (
        "[mcp_servers.assent]\n"
        f"command = {_toml(program)}\n"
        f"args = [{', '.join(_toml(part) for part in (*arguments, 'mcp'))}]\n"
        "env = { " + ", ".join(f"{_toml(name)} = {_toml(value)}" for name, value in environment.items()) + " }\n"
        f"tool_timeout_sec = {LONG_WAIT}\n"
        'default_tools_approval_mode = "approve"\n'
    )
    return Snippet("Codex, starting a command", "~/.codex/config.toml", text)


def _json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _toml(text: str) -> str:
    """Return a TOML basic string; JSON's escapes are a subset of TOML's for all text that can occur here."""
    return json.dumps(text)
