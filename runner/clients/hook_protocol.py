"""What clients hand to their hooks and take from them. Standard library only: a hook runs before each tool."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from runner.gateway import catalog

HOOK_FAILED = "Assent did not answer; nothing was run."
"""What the command of a hook says where `assent hook` did not end well; a hook with it is ours."""
GEMINI = "gemini-cli"
PERMISSION = "PermissionRequest"
HARMLESS = {
    "claude-code": frozenset(
        (
            "Read",
            "Glob",
            "Grep",
            "LS",
            "NotebookRead",
            "TodoWrite",
            "TodoRead",
            "Task",
            "Agent",
            "TaskOutput",
            "AgentOutputTool",
            "BashOutput",
            "KillShell",
            "KillBash",
            "TaskStop",
            "TaskCreate",
            "TaskGet",
            "TaskUpdate",
            "TaskList",
            "ToolSearch",
            "AskUserQuestion",
            "EnterPlanMode",
            "ExitPlanMode",
            "ListMcpResourcesTool",
            "StructuredOutput",
        )
    ),
    "codex": frozenset(("update_plan", "view_image", "request_user_input", "tool_search")),
    GEMINI: frozenset(
        (
            "read_file",
            "read_many_files",
            "list_directory",
            "glob",
            "search_file_content",
            "grep_search",
            "write_todos",
            "ask_user",
            "enter_plan_mode",
            "exit_plan_mode",
            "get_internal_docs",
            "complete_task",
        )
    ),
}
"""Tools that change, fetch and run nothing: about these the client decides as it would without Assent."""


CALLED = {("codex", "Bash"): "exec_command"}
"""Tools that a client calls otherwise in its hooks. Codex tells the command and the folder of its call, and no more."""
SEARCHED = frozenset(("replace", "write_file"))
"""Tools of Gemini CLI that look for a file of that name in the whole project where a path is not absolute."""
ABSOLUTE = "Send the absolute path of the file: for another one {} would look in the whole project. Nothing was run."


class BadHookInput(Exception):
    """What the client has sent is not what its hooks get; the text says how."""


class ToolUse(NamedTuple):
    """A tool that a client is about to use."""

    event: str
    tool: str
    given: dict[str, Any]
    folder: str
    use_id: str

    @property
    def is_of_assent(self) -> bool:
        """Whether it is a tool of Assent, which asks for itself."""
        return self.tool in catalog.OWN_NAMES


def ambiguous(client: str, asked: ToolUse) -> str:
    """Return why a tool is refused without asking: the client may change another file; '' where it would not."""
    path = asked.given.get("file_path")
    if client != GEMINI or asked.tool not in SEARCHED or (isinstance(path, str) and path.startswith("/")):
        return ""
    return ABSOLUTE.format(asked.tool)


def parse(data: bytes) -> ToolUse:
    """Return what a client has written to the hook's standard input. Raises BadHookInput."""
    try:
        whole = json.loads(data)
    except (ValueError, RecursionError):
        raise BadHookInput("The client did not send JSON.") from None
    if not isinstance(whole, dict):
        raise BadHookInput("The client did not send an object.")
    texts = {name: whole.get(name, "") for name in ("hook_event_name", "tool_name", "cwd", "tool_use_id")}
    given = whole.get("tool_input")
    if not all(isinstance(text, str) for text in texts.values()) or not texts["tool_name"]:
        raise BadHookInput("The client did not say which tool it would use.")
    if not isinstance(given, dict):
        raise BadHookInput("The client did not say what its tool would be called with.")
    return ToolUse(texts["hook_event_name"], texts["tool_name"], given, texts["cwd"], texts["tool_use_id"])


def answer(client: str, event: str, allow: bool, reason: str, given: dict[str, Any] | None = None) -> str:
    """Return what the hook prints: yes, or no with the reason for the model.

    A yes names again what it is for, `given`: a hook of the project may have changed that meanwhile. Claude Code takes
    the words of the hook that ends last, so one that waits longer than the person still wins.
    """
    if event == PERMISSION:
        decision = {"behavior": "allow"} if allow else {"behavior": "deny", "message": reason}
        return json.dumps({"hookSpecificOutput": {"hookEventName": event, "decision": decision}})
    if client == GEMINI:
        return json.dumps({"decision": "allow"} if allow else {"decision": "deny", "reason": reason})
    if client == "codex" and allow:
        # Codex takes no `allow` and continues where a hook ends well and says nothing.
        return ""
    output: dict[str, object] = {
        "hookEventName": event or "PreToolUse",
        "permissionDecision": "allow" if allow else "deny",
        "permissionDecisionReason": reason,
    }
    if allow and given is not None:
        output["updatedInput"] = given
    return json.dumps({"hookSpecificOutput": output})
