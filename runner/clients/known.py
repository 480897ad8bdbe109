"""The clients that `assent connect` knows, each with the values that were tried with the program itself."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from typing import TYPE_CHECKING

from runner.clients.client import HOOK_SECONDS, SERVER, Client, ConfigScope, Setup
from runner.clients.settings_change import Edit, FileEdits, is_hook
from runner.gateway.snippets import LONG_WAIT, SHORT_HOLD

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Place = tuple["Path", tuple[str, ...]]
CLAUDE, CODEX, GEMINI = "claude-code", "codex", "gemini-cli"
RESTART = "Start {} again: it reads its configuration when it starts."


def _constant(*edits: Edit) -> partial[Sequence[Edit]]:
    return partial(_same, edits)


def _same(edits: Sequence[Edit], _values: dict[str, object]) -> Sequence[Edit]:
    return edits


def _server(place: Place, entry: dict[str, object]) -> FileEdits:
    return FileEdits(place[0], _constant(Edit(place[1], entry)), private=True)


# ---- Claude Code ----


def _claude_server(setup: Setup) -> Place:
    """User and project scope share a file that is never part of a project: Claude Code calls the second `local`."""
    folder = setup.place("CLAUDE_CONFIG_DIR", ".")
    project = () if setup.scope is ConfigScope.USER else ("projects", str(setup.folder))
    return folder / ".claude.json", (*project, "mcpServers", SERVER)


def _claude(setup: Setup) -> tuple[FileEdits, ...]:
    # Loaded at once, as a model that has to search for the tools takes its own shell instead.
    more = {"timeout": LONG_WAIT * 1000, "alwaysLoad": True}
    folder, name = setup.place("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"
    if setup.scope is ConfigScope.PROJECT:
        folder, name = setup.folder / ".claude", "settings.local.json"
    # Without it Claude Code asks before each tool, and Assent then asks once more.
    settings = [Edit(("permissions", "allow"), f"mcp__{SERVER}", listed=True)]
    if setup.hook:
        settings.append(_hook(setup, CLAUDE, "PreToolUse", HOOK_SECONDS))
    return (
        _server(_claude_server(setup), {"type": "stdio", **setup.bridge(), **more}),
        FileEdits(folder / name, _constant(*settings)),
    )


def _hook(setup: Setup, client: str, event: str, limit: int, **more: object) -> Edit:
    command = {**more, "type": "command", "command": setup.hook_command(client), "timeout": limit}
    return Edit(("hooks", event), {"matcher": "*", "hooks": [command]}, listed=True)


# ---- Codex ----


def _codex_server(setup: Setup) -> Place:
    folder = setup.place("CODEX_HOME", ".codex") if setup.scope is ConfigScope.USER else setup.folder / ".codex"
    return folder / "config.toml", ("mcp_servers", SERVER)


def _codex(setup: Setup) -> tuple[FileEdits, ...]:
    file, path = _codex_server(setup)
    more = {"tool_timeout_sec": LONG_WAIT, "default_tools_approval_mode": "approve"}
    server = Edit(path, {**setup.bridge(), **more})

    def edits(values: dict[str, object]) -> Sequence[Edit]:
        if not setup.hook:
            return [server]
        hook = _hook(setup, CODEX, "PreToolUse", HOOK_SECONDS)
        trust = Edit(("hooks", "state", f"{file}:pre_tool_use:{_place_of_hook(values)}:0"), {"trusted_hash": ""})
        hooked = [server, hook, Edit(trust.path, {"trusted_hash": codex_trust(setup.hook_command(CODEX))})]
        features = values.get("features")
        if isinstance(features, dict) and features.get("hooks") is False:
            hooked.append(Edit(("features", "hooks"), True))
        return hooked

    return (FileEdits(file, edits, private=True),)


def codex_trust(command: str) -> str:
    """Return what Codex stores of a hook that its person trusts; it skips others without a word."""
    handler = {"async": False, "command": command, "timeout": HOOK_SECONDS, "type": "command"}
    event = {"event_name": "pre_tool_use", "hooks": [handler], "matcher": "*"}
    text = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _place_of_hook(values: dict[str, object]) -> int:
    """Return the number of our hook among those that are there, or will be."""
    hooks = values.get("hooks")
    groups = hooks.get("PreToolUse") if isinstance(hooks, dict) else None
    listed = groups if isinstance(groups, list) else []
    return next((at for at, group in enumerate(listed) if is_hook(group)), len(listed))


# ---- the others ----


def _gemini_server(setup: Setup) -> Place:
    base = setup.home if setup.scope is ConfigScope.USER else setup.folder
    return base / ".gemini/settings.json", ("mcpServers", SERVER)


def _gemini(setup: Setup) -> tuple[FileEdits, ...]:
    file, path = _gemini_server(setup)
    # Without trust its headless mode hides the tools.
    edits = [Edit(path, {**setup.bridge(), "timeout": LONG_WAIT * 1000, "trust": True})]
    if setup.hook:
        edits.append(_hook(setup, GEMINI, "BeforeTool", HOOK_SECONDS * 1000, name=SERVER))
    return (FileEdits(file, _constant(*edits), private=True),)


def _cursor_server(setup: Setup) -> Place:
    base = setup.home if setup.scope is ConfigScope.USER else setup.folder
    return base / ".cursor/mcp.json", ("mcpServers", SERVER)


def _cursor(setup: Setup) -> tuple[FileEdits, ...]:
    return (_server(_cursor_server(setup), setup.bridge(SHORT_HOLD)),)


def _vs_code_server(setup: Setup) -> Place:
    user = setup.place("XDG_CONFIG_HOME", ".config") / "Code/User/mcp.json"
    return user if setup.scope is ConfigScope.USER else setup.folder / ".vscode/mcp.json", ("servers", SERVER)


def _vs_code(setup: Setup) -> tuple[FileEdits, ...]:
    return (_server(_vs_code_server(setup), {"type": "stdio", **setup.bridge(SHORT_HOLD)}),)


def _goose_server(setup: Setup) -> Place:
    return setup.place("XDG_CONFIG_HOME", ".config") / "goose/config.yaml", ("extensions", SERVER)


def _goose(setup: Setup) -> tuple[FileEdits, ...]:
    bridge = setup.bridge()
    entry = {
        "enabled": True,
        "type": "stdio",
        "name": SERVER,
        "description": "Runs code in a sandbox once a person has approved it",
        "cmd": bridge["command"],
        "args": bridge["args"],
        "envs": bridge["env"],
        "timeout": LONG_WAIT,
    }
    return (_server(_goose_server(setup), entry),)


def _zed_server(setup: Setup) -> Place:
    user = setup.place("XDG_CONFIG_HOME", ".config") / "zed/settings.json"
    return user if setup.scope is ConfigScope.USER else setup.folder / ".zed/settings.json", ("context_servers", SERVER)


def _zed(setup: Setup) -> tuple[FileEdits, ...]:
    return (_server(_zed_server(setup), {"source": "custom", **setup.bridge(SHORT_HOLD)}),)


def _qwen_server(setup: Setup) -> Place:
    base = setup.home if setup.scope is ConfigScope.USER else setup.folder
    return base / ".qwen/settings.json", ("mcpServers", SERVER)


def _qwen(setup: Setup) -> tuple[FileEdits, ...]:
    # Loaded at once, and trusted: otherwise its model has to search for the tools, and its headless mode refuses them.
    more = {"timeout": LONG_WAIT * 1000, "trust": True, "alwaysLoadTools": True}
    return (_server(_qwen_server(setup), {**setup.bridge(), **more}),)


def _copilot_server(setup: Setup) -> Place:
    return setup.place("COPILOT_HOME", ".copilot") / "mcp-config.json", ("mcpServers", SERVER)


def _copilot(setup: Setup) -> tuple[FileEdits, ...]:
    more = {"tools": ["*"], "timeout": LONG_WAIT * 1000}
    return (_server(_copilot_server(setup), {"type": "local", **setup.bridge(), **more}),)


def _opencode_server(setup: Setup) -> Place:
    user = setup.place("XDG_CONFIG_HOME", ".config") / "opencode"
    return (user if setup.scope is ConfigScope.USER else setup.folder) / "opencode.json", ("mcp", SERVER)


def _opencode(setup: Setup) -> tuple[FileEdits, ...]:
    bridge = setup.bridge()
    entry = {
        "type": "local",
        "command": [bridge["command"], "mcp"],
        "environment": bridge["env"],
        "enabled": True,
        "timeout": LONG_WAIT * 1000,
    }
    return (_server(_opencode_server(setup), entry),)


def _cline_server(setup: Setup) -> Place:
    return setup.home / ".cline/data/settings/cline_mcp_settings.json", ("mcpServers", SERVER)


def _cline(setup: Setup) -> tuple[FileEdits, ...]:
    return (_server(_cline_server(setup), {**setup.bridge(), "timeout": LONG_WAIT}),)


SEARCHES = "Before its version 0.24 it does not know alwaysLoadTools, so that its model has to search for the tools."
ONCE_MORE = "It asks before each tool of Assent until you choose to allow them always."
CLIENTS: tuple[Client, ...] = (
    Client(CLAUDE, "Claude Code", ("claude",), _claude, _claude_server, after=RESTART.format("claude"), hook=True),
    Client(CODEX, "Codex", ("codex",), _codex, _codex_server, after=RESTART.format("codex"), hook=True),
    Client(GEMINI, "Gemini CLI", ("gemini",), _gemini, _gemini_server, after=RESTART.format("gemini"), hook=True),
    Client(
        "cursor",
        "Cursor",
        ("cursor", "cursor-agent"),
        _cursor,
        _cursor_server,
        after=f"Switch assent on in Cursor's settings, under MCP. {ONCE_MORE}",
    ),
    Client(
        "vscode",
        "VS Code",
        ("code", "codium", "code-insiders"),
        _vs_code,
        _vs_code_server,
        after=f"Run MCP: List Servers in VS Code and start assent. {ONCE_MORE}",
    ),
    Client(
        "goose",
        "Goose",
        ("goose",),
        _goose,
        _goose_server,
        variables="envs",
        after=RESTART.format("Goose"),
        projects=False,
    ),
    Client("qwen-code", "Qwen Code", ("qwen",), _qwen, _qwen_server, after=f"{RESTART.format('qwen')} {SEARCHES}"),
    Client(
        "copilot-cli",
        "GitHub Copilot CLI",
        ("copilot",),
        _copilot,
        _copilot_server,
        after=f"{RESTART.format('copilot')} {ONCE_MORE}",
        projects=False,
    ),
    Client(
        "opencode",
        "opencode",
        ("opencode",),
        _opencode,
        _opencode_server,
        variables="environment",
        after=RESTART.format("opencode"),
    ),
    Client("cline", "Cline", ("cline",), _cline, _cline_server, after=RESTART.format("cline"), projects=False),
    Client("zed", "Zed", ("zed", "zeditor"), _zed, _zed_server, after=ONCE_MORE),
)
BY_ID = {client.id: client for client in CLIENTS}
