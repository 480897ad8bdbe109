"""The token of a client, as `connect` has put it into the client's own configuration. Standard library only."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from runner.clients import json_text
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


def _token(path: Path, keys: list[str]) -> str:
    load: Callable[[str], object] = tomllib.loads if path.suffix == ".toml" else _json
    try:
        found = load(read_file(path).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError, KnownError):
        return ""
    for key in (*keys, "assent", "env", "ASSENT_TOKEN"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        # With comments, which some clients take.
        return json_text.read(text)
