"""What a hook reads in its client's own configuration, where `connect` has put it: its token and its time limit.

Standard library only.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.clients import json_text
from runner.clients.hook_protocol import HOOK_FAILED
from runner.model.errors import KnownError
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


def token_of(client: str, environment: Mapping[str, str], home: Path, folder: str) -> str:
    """Return the token for the hook of `client`, which works in `folder`; '' where there is none."""
    for path, keys in _places(client, environment, home, folder):
        if token := _token(path, keys):
            return token
    return ""


UNSAID = 60.0
"""Seconds that the quickest of the clients gives a hook whose entry says nothing."""
HOOKS = {"claude-code": ("PreToolUse", 1.0), "codex": ("PreToolUse", 1.0), "gemini-cli": ("BeforeTool", 0.001)}
"""Event, and what one of the client's units of time is in seconds."""
UNITS = dict(HOOKS.values())


def seconds_of(client: str, environment: Mapping[str, str], home: Path, folder: str) -> float:
    """Return the shortest time limit that any configuration gives the hook of `client`."""
    event, unit = HOOKS[client]
    found = [limit * unit for path in _settings(client, environment, home, folder) for limit in _limits(path, event)]
    return min(found, default=UNSAID)


def limits_in(values: object, event: str) -> Iterator[float]:
    """Yield the time limit of each of our hooks in a client's configuration, in the client's units."""
    for hook in _own(values, event):
        limit = hook.get("timeout")
        given = isinstance(limit, int | float) and not isinstance(limit, bool) and limit > 0
        yield float(limit) if given and limit is not None else UNSAID / UNITS[event]


def commands_in(values: object, event: str) -> Iterator[str]:
    """Yield the command of each of our hooks in a client's configuration."""
    return (str(hook.get("command")) for hook in _own(values, event))


def _own(values: object, event: str) -> Iterator[dict[str, Any]]:
    for key in ("hooks", event):
        values = values.get(key) if isinstance(values, dict) else None
    for group in values if isinstance(values, list) else []:
        hooks = group.get("hooks") if isinstance(group, dict) else None
        yield from (
            one
            for one in (hooks if isinstance(hooks, list) else [])
            if isinstance(one, dict) and HOOK_FAILED in str(one.get("command"))
        )


def _limits(path: Path, event: str) -> list[float]:
    return list(limits_in(_values(path), event))


def _settings(client: str, environment: Mapping[str, str], home: Path, folder: str) -> Iterator[Path]:
    """Yield the files that may hold the hook."""
    if client != "claude-code":
        yield from dict.fromkeys(path for path, _keys in _places(client, environment, home, folder))
        return
    chosen = environment.get("CLAUDE_CONFIG_DIR", "")
    yield Path("/etc/claude-code/managed-settings.json")
    yield (Path(chosen) if chosen.startswith("/") else home / ".claude") / "settings.json"
    project = Path(folder) if folder.startswith("/") else None
    for above in [] if project is None else (project, *project.parents):
        yield above / ".claude/settings.json"
        yield above / ".claude/settings.local.json"


def _places(client: str, environment: Mapping[str, str], home: Path, folder: str) -> Iterator[tuple[Path, list[str]]]:
    """Yield files and the names on the way to the server, those of the account first."""
    named = {"claude-code": ("CLAUDE_CONFIG_DIR", ""), "codex": ("CODEX_HOME", ".codex"), "gemini-cli": ("", ".gemini")}
    variable, usual = named[client]
    chosen = environment.get(variable, "")
    base = home / usual if not chosen.startswith("/") else Path(chosen)
    project = Path(folder) if folder.startswith("/") else None
    match client:
        case "claude-code":
            yield base / ".claude.json", ["mcpServers"]
            for above in [] if project is None else (project, *project.parents):
                yield base / ".claude.json", ["projects", str(above), "mcpServers"]
        case "codex":
            yield base / "config.toml", ["mcp_servers"]
            for above in [] if project is None else (project, *project.parents):
                yield above / ".codex/config.toml", ["mcp_servers"]
        case _:
            yield base / "settings.json", ["mcpServers"]
            for above in [] if project is None else (project, *project.parents):
                yield above / ".gemini/settings.json", ["mcpServers"]


def _values(path: Path) -> object:
    """Return the values in a file; None where it is not there or cannot be read."""
    load: Callable[[str], object] = tomllib.loads if path.suffix == ".toml" else _json
    try:
        return load(read_file(path).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError, KnownError):
        return None


def _token(path: Path, keys: list[str]) -> str:
    found = _values(path)
    for key in (*keys, "assent", "env", "ASSENT_TOKEN"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        # With comments, which some clients take.
        return json_text.read(text)
