"""The input and output of clients' hooks. Standard library only: a hook runs before each tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

HOOK_FAILED = "Assent did not answer; nothing was run."
"""What the command of a hook says where `assent hook` did not end well; a hook with it is ours."""
PERMISSION = "PermissionRequest"


class BadHookInput(Exception):
    """What the client has sent is not what its hooks get; the text says how."""


class ToolUse(NamedTuple):
    """A tool that a client is about to use."""

    event: str
    tool: str
    given: dict[str, Any]
    folder: str
    use_id: str


class Members(NamedTuple):
    """The names by which a client tells its hooks what it is about."""

    event: str = "hook_event_name"
    tool: str = "tool_name"
    given: str = "tool_input"
    folder: str = "cwd"
    use_id: str = "tool_use_id"


def parse(members: Members, data: bytes) -> ToolUse:
    """Return what a client has written to the hook's standard input. Raises BadHookInput."""
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        raise BadHookInput("The client did not send JSON.") from None
    if not isinstance(whole, dict):
        raise BadHookInput("The client did not send an object.")
    texts = {name: whole.get(name, "") for name in (members.event, members.tool, members.folder, members.use_id)}
    given = whole.get(members.given)
    if not all(isinstance(text, str) for text in texts.values()) or not texts[members.tool]:
        raise BadHookInput("The client did not say which tool it would use.")
    if not isinstance(given, dict):
        raise BadHookInput("The client did not say what its tool would be called with.")
    return ToolUse(texts[members.event], texts[members.tool], given, texts[members.folder], texts[members.use_id])


Form = Callable[[str, bool, str, dict[str, Any]], str]
"""How a client wants its answer: yes, or no with the reason for the model. Gets event, answer, reason and input."""


def specific(event: str, allow: bool, reason: str, given: dict[str, Any]) -> str:
    """Return the answer for Claude Code, Codex and Qwen Code.

    A yes names again what it is for, `given`: a hook of the project may have changed that meanwhile. Claude Code takes
    the words of the hook that ends last, so one that waits longer than the person still wins. Qwen Code lets no hook
    change anything.
    """
    if event == PERMISSION:
        decision = {"behavior": "allow"} if allow else {"behavior": "deny", "message": reason}
        return json.dumps({"hookSpecificOutput": {"hookEventName": event, "decision": decision}})
    output: dict[str, object] = {
        "hookEventName": event or "PreToolUse",
        "permissionDecision": "allow" if allow else "deny",
        "permissionDecisionReason": reason,
    }
    if allow:
        output["updatedInput"] = given
    return json.dumps({"hookSpecificOutput": output})


def decision(_event: str, allow: bool, reason: str, _given: dict[str, Any]) -> str:
    """Return the answer for Gemini CLI, and for the plugin of opencode."""
    return json.dumps({"decision": "allow"} if allow else {"decision": "deny", "reason": reason})


def block(_event: str, allow: bool, reason: str, _given: dict[str, Any]) -> str:
    """Return the answer for Goose."""
    return json.dumps({"decision": "allow"} if allow else {"decision": "block", "reason": reason})


def permission(_event: str, allow: bool, reason: str, _given: dict[str, Any]) -> str:
    """Return the answer for GitHub Copilot CLI."""
    if allow:
        return json.dumps({"permissionDecision": "allow"})
    return json.dumps({"permissionDecision": "deny", "permissionDecisionReason": reason})
