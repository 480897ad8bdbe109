"""The clients that `assent connect` knows, each with the values that were tried with the program itself."""

from __future__ import annotations

import hashlib
import json
from functools import partial
from typing import TYPE_CHECKING, cast

from runner.clients import whole_text
from runner.clients.client import HOOK_SECONDS, Client, ConfigScope, Setup, entry_of
from runner.clients.entries import SERVER
from runner.clients.hooks import FOLDER, HOOKS
from runner.clients.settings_change import Edit, FileEdits, is_hook
from runner.gateway.snippets import LONG_WAIT, SHORT_HOLD

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CLAUDE, CODEX, GEMINI, QWEN, COPILOT, OPENCODE, GOOSE = (
    "claude-code",
    "codex",
    "gemini-cli",
    "qwen-code",
    "copilot-cli",
    "opencode",
    "goose",
)
RESTART = "Start {} again: it reads its configuration when it starts."


def _constant(*edits: Edit) -> partial[Sequence[Edit]]:
    return partial(_same, edits)


def _same(edits: Sequence[Edit], _values: dict[str, object]) -> Sequence[Edit]:
    return edits


def _server(setup: Setup, client: str, entry: dict[str, object], *more: Edit) -> FileEdits:
    file, path = entry_of(setup, client)
    return FileEdits(file, _constant(Edit(path, entry), *more), private=True)


def _group(setup: Setup, client: str, **more: object) -> Edit:
    """Return the edit for a hook as most clients write it: in a group, for all tools."""
    hook = HOOKS[client]
    limit = int(HOOK_SECONDS / hook.unit)
    command = {**more, "type": "command", "command": setup.hook_command(client), hook.says_limit: limit}
    return Edit(("hooks", hook.event), {"matcher": "*", "hooks": [command]}, listed=True)


def _hook_file(setup: Setup, client: str) -> Path:
    hook = HOOKS[client]
    if setup.scope is ConfigScope.PROJECT:
        return setup.folder / hook.in_project[-1]
    return hook.settings.path(setup.environment, setup.home)


# ---- Claude Code ----


def _claude(setup: Setup) -> tuple[FileEdits, ...]:
    # Loaded at once, as a model that has to search for the tools takes its own shell instead.
    more = {"timeout": LONG_WAIT * 1000, "alwaysLoad": True}
    # Without it Claude Code asks before each tool, and Assent then asks once more.
    settings = [Edit(("permissions", "allow"), f"mcp__{SERVER}", listed=True)]
    if setup.hook:
        settings.append(_group(setup, CLAUDE))
    return (
        _server(setup, CLAUDE, {"type": "stdio", **setup.bridge(), **more}),
        FileEdits(_hook_file(setup, CLAUDE), _constant(*settings)),
    )


# ---- Codex ----


def _codex(setup: Setup) -> tuple[FileEdits, ...]:
    file, path = entry_of(setup, CODEX)
    more = {"tool_timeout_sec": LONG_WAIT, "default_tools_approval_mode": "approve"}
    server = Edit(path, {**setup.bridge(), **more})

    def edits(values: dict[str, object]) -> Sequence[Edit]:
        if not setup.hook:
            return [server]
        hook = _group(setup, CODEX)
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


def _gemini(setup: Setup) -> tuple[FileEdits, ...]:
    # Without trust its headless mode hides the tools.
    entry = {**setup.bridge(), "timeout": LONG_WAIT * 1000, "trust": True}
    return (_server(setup, GEMINI, entry, *([_group(setup, GEMINI, name=SERVER)] if setup.hook else ())),)


def _cursor(setup: Setup) -> tuple[FileEdits, ...]:
    return (_server(setup, "cursor", setup.bridge(SHORT_HOLD)),)


def _vs_code(setup: Setup) -> tuple[FileEdits, ...]:
    return (_server(setup, "vscode", {"type": "stdio", **setup.bridge(SHORT_HOLD)}),)


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
    if not setup.hook:
        return (_server(setup, GOOSE, entry),)
    # Without a matcher it is for all tools; with one that is no expression Goose would skip it without a word.
    command = {
        "type": "command",
        "command": setup.hook_command(GOOSE),
        "timeout": HOOK_SECONDS,
        "on_failure": "block",
    }
    hook = Edit(("hooks", HOOKS[GOOSE].event), {"hooks": [command]}, listed=True)
    return (_server(setup, GOOSE, entry), FileEdits(_hook_file(setup, GOOSE), _constant(hook)))


def _zed(setup: Setup) -> tuple[FileEdits, ...]:
    return (_server(setup, "zed", {"source": "custom", **setup.bridge(SHORT_HOLD)}),)


def _qwen(setup: Setup) -> tuple[FileEdits, ...]:
    # Loaded at once, and trusted: otherwise its model has to search for the tools, and its headless mode refuses them.
    more = {"timeout": LONG_WAIT * 1000, "trust": True, "alwaysLoadTools": True}
    hook = [_group(setup, QWEN, name=SERVER)] if setup.hook else ()
    return (_server(setup, QWEN, {**setup.bridge(), **more}, *hook),)


def _copilot(setup: Setup) -> tuple[FileEdits, ...]:
    more = {"tools": ["*"], "timeout": LONG_WAIT * 1000}
    server = _server(setup, COPILOT, {"type": "local", **setup.bridge(), **more})
    if not setup.hook:
        return (server,)
    hook = HOOKS[COPILOT]
    command = {"type": "command", "bash": setup.hook_command(COPILOT), hook.says_limit: HOOK_SECONDS}
    edits = _constant(Edit(("version",), 1), Edit(("hooks", hook.event), command, listed=True))
    return (server, FileEdits(_hook_file(setup, COPILOT), edits))


def _opencode(setup: Setup) -> tuple[FileEdits, ...]:
    bridge = setup.bridge()
    entry = {
        "type": "local",
        "command": [bridge["command"], *cast("list[str]", bridge["args"])],
        "environment": bridge["env"],
        "enabled": True,
        "timeout": LONG_WAIT * 1000,
    }
    if not setup.hook:
        return (_server(setup, OPENCODE, entry),)
    plugin = (FOLDER / "opencode.js").read_text("ascii").replace("COMMAND", json.dumps(setup.hook_command(OPENCODE)))
    file = FileEdits(_hook_file(setup, OPENCODE), _constant(Edit(whole_text.PATH, plugin)))
    return (_server(setup, OPENCODE, entry), file)


def _cline(setup: Setup) -> tuple[FileEdits, ...]:
    return (_server(setup, "cline", {**setup.bridge(), "timeout": LONG_WAIT}),)


SEARCHES = "Before its version 0.24 it does not know alwaysLoadTools, so that its model has to search for the tools."
ONCE_MORE = "It asks before each tool of Assent until you choose to allow them always."
CLIENTS: tuple[Client, ...] = (
    Client(CLAUDE, "Claude Code", _claude, after=RESTART.format("claude")),
    Client(CODEX, "Codex", _codex, after=RESTART.format("codex")),
    Client(GEMINI, "Gemini CLI", _gemini, after=RESTART.format("gemini")),
    Client(
        "cursor",
        "Cursor",
        _cursor,
        after=f"Switch assent on in Cursor's settings, under MCP. {ONCE_MORE}",
    ),
    Client(
        "vscode",
        "VS Code",
        _vs_code,
        after=f"Run MCP: List Servers in VS Code and start assent. {ONCE_MORE}",
    ),
    Client(
        GOOSE,
        "Goose",
        _goose,
        after=RESTART.format("Goose"),
    ),
    Client(QWEN, "Qwen Code", _qwen, after=f"{RESTART.format('qwen')} {SEARCHES}"),
    Client(
        COPILOT,
        "GitHub Copilot CLI",
        _copilot,
        after=f"{RESTART.format('copilot')} {ONCE_MORE}",
    ),
    Client(
        OPENCODE,
        "opencode",
        _opencode,
        after=RESTART.format("opencode"),
    ),
    Client("cline", "Cline", _cline, after=RESTART.format("cline")),
    Client("zed", "Zed", _zed, after=ONCE_MORE),
)
BY_ID = {client.id: client for client in CLIENTS}
