"""Descriptions of the tools for agents, as plain data for the server and the stdio bridge."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

SERVER_NAME = "assent"
SERVER_TITLE = "Assent"

CODE_EXECUTE = "code_execute"
CODE_RESULT = "code_result"
CODE_SANDBOX_INFO = "code_sandbox_info"
CODE_CREATE_SANDBOX = "code_create_sandbox"
CODE_WRITE_FILE = "code_write_file"
CODE_READ_FILE = "code_read_file"
CODE_LIST_FILES = "code_list_files"
CODE_DESTROY_SANDBOX = "code_destroy_sandbox"
CODE_INSTALL_PACKAGE = "code_install_package"
APPROVE = "approve"

LANGUAGES = ("python", "javascript", "shell")
"""Those that are on unless the settings say otherwise. Other names that models use for them are taken and not
advertised, as each costs tokens."""
BEGINNING = "Run Python, JavaScript (Node.js) or shell (Bash) code in a sandbox after a person approved it. "
ONE_FILE = "{} is one file with its standard library alone; context becomes environment variables. "
"""Follows the beginning where a language without packages is on."""

INSTRUCTIONS = (
    "code_execute runs code in a sandbox once a person has approved it: use it for code that you would not run on the "
    "user's machine unseen. Project files are in it only if the tool says so. Send one complete script per call, with "
    "a title that says what it is for. `pending` means that nobody has decided yet: call code_result, do not send the "
    "code again. After a denial read the reason; do not try the same by other means. What is CRITICAL gets the "
    "strictest look: avoid it, or say in the title why."
)
MOST_CHARACTERS = 7500
"""Of the names, descriptions and schemas as JSON, about 1,875 tokens: every conversation of an agent pays for them."""

NETWORK: dict[str, Any] = {
    "network_enabled": {
        "type": "boolean",
        "description": (
            "Ask for network: to allowed_domains, or without these to the package registries only. Always CRITICAL. "
            "Default: none."
        ),
    },
    "allowed_domains": {
        "type": "array",
        "items": {"type": "string"},
        "description": "Hosts to be reachable, as name, name:port (default 443) or *.name; needs network_enabled.",
    },
}
TITLE = {"type": "string", "description": "What it is for, in a few words, for the person."}
CLAIM: dict[str, dict[str, Any]] = {
    "reason": {"type": "string", "description": "Why you ask, in a sentence, for the person."},
    "project": {"type": "string", "description": "What you work on."},
    "task": {"type": "string", "description": "What you were asked to do."},
}
"""What an agent may say about why it asks; nothing depends on it. Described once, as each word costs tokens."""
CLAIM_ELSEWHERE = {name: {"type": "string"} for name in CLAIM}
SANDBOX_ID = {"type": "string", "description": "From code_create_sandbox."}
WHOLE: dict[str, Any] = {"type": "integer", "minimum": 1}
LOADED_AT_ONCE = {"anthropic/alwaysLoad": True}
"""Keeps Claude Code from hiding a tool behind a search that its model has to think of."""


def _tool(name: str, title: str, description: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the description of a tool. `more`: `required` names, `annotations`, `meta`."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if required := more.get("required"):
        schema["required"] = required
    tool = {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": schema,
        "annotations": more["annotations"],
    }
    return {**tool, "_meta": more["meta"]} if "meta" in more else tool


READS = {"readOnlyHint": True, "openWorldHint": False}
CHANGES = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False}
ADDS = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}

TOOLS: list[dict[str, Any]] = [
    _tool(
        CODE_EXECUTE,
        "Run code after approval",
        BEGINNING
        + "For one-off, generated or untrusted code. The user's project and machine are not there; hand data in "
        "by context or stdin. No network unless asked for. Print what you need: about 10 KB of output come "
        "back (beginning and end), in Python also the value of the variable `result`. Files are named in the "
        "answer, pictures come back. To keep "
        "files for later calls use code_create_sandbox.",
        {
            "language": {"type": "string", "enum": list(LANGUAGES)},
            "code": {"type": "string", "minLength": 1, "description": "The complete script."},
            "title": TITLE,
            **CLAIM,
            "timeout": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds to run; usually 30."},
            "max_memory_mb": WHOLE,
            "max_disk_mb": WHOLE,
            "max_output_bytes": {**WHOLE, "description": "Of each stream, kept for the person."},
            "context": {
                "type": "object",
                "description": (
                    "JSON data that becomes variables, by name. For shell: environment variables with names in lower "
                    "case, or in upper case after INPUT_."
                ),
            },
            "stdin": {"type": "string"},
            "sandbox_id": {"type": "string", "description": "Run in this kept sandbox. Default: a new, empty one."},
            "packages": {
                "type": "array",
                "items": {"type": "string"},
                "description": (
                    "From PyPI or npm, for this run, e.g. `requests==2.32.5`, `lodash@4.17.21`. With sandbox_id use "
                    "code_install_package."
                ),
            },
            **NETWORK,
        },
        required=["language", "code"],
        annotations={**CHANGES, "openWorldHint": True},
        meta=LOADED_AT_ONCE,
    ),
    _tool(
        CODE_RESULT,
        "Fetch a pending answer",
        "Wait for the answer of a call that came back as `pending`. Call it again while it says `pending`. Works after "
        "a lost connection and a restart, for an hour.",
        {
            "id": {"type": "string", "description": "The request_id of that call."},
            "wait": {"type": "number", "minimum": 0, "description": "Seconds. Default: as long as possible."},
        },
        required=["id"],
        annotations=READS,
        meta=LOADED_AT_ONCE,
    ),
    _tool(
        CODE_SANDBOX_INFO,
        "Describe the sandbox",
        "Versions, packages that are there, limits, network and protections of the sandbox. Once is enough.",
        {},
        annotations=READS,
    ),
    _tool(
        CODE_CREATE_SANDBOX,
        "Create a sandbox that is kept",
        "Create a sandbox whose files stay between calls (processes do not), for one language and shell. Returns its "
        "sandbox_id; removed when unused for a while. Put files that code imports there by code_write_file: code that "
        "imports or starts any other file of it is CRITICAL, and so is starting a script by `python3 FILE`.",
        {
            "language": {"type": "string", "enum": list(LANGUAGES)},
            "title": TITLE,
            **CLAIM_ELSEWHERE,
            "max_memory_mb": WHOLE,
            "max_disk_mb": WHOLE,
            **NETWORK,
        },
        required=["language"],
        annotations=ADDS,
    ),
    _tool(
        CODE_WRITE_FILE,
        "Write a file after approval",
        "Write a text file in a kept sandbox, replacing one of that name. Never writes the user's files.",
        {
            "sandbox_id": SANDBOX_ID,
            "file_path": {"type": "string", "description": "Below /workspace; folders are made."},
            "content": {"type": "string"},
            "executable": {"type": "boolean", "default": False},
            "title": TITLE,
            **CLAIM_ELSEWHERE,
        },
        required=["sandbox_id", "file_path", "content"],
        annotations={**CHANGES, "idempotentHint": True},
    ),
    _tool(
        CODE_READ_FILE,
        "Read a file after approval",
        "Read a file of a kept sandbox; base64 where it is no UTF-8 text.",
        {
            "sandbox_id": SANDBOX_ID,
            "file_path": {"type": "string", "description": "Below /workspace."},
            "offset": {"type": "integer", "minimum": 0, "description": "Byte to begin at."},
            "max_bytes": WHOLE,
            "title": TITLE,
            **CLAIM_ELSEWHERE,
        },
        required=["sandbox_id", "file_path"],
        annotations=READS,
    ),
    _tool(
        CODE_LIST_FILES,
        "List files after approval",
        "List a folder of a kept sandbox: names, kinds, sizes.",
        {
            "sandbox_id": SANDBOX_ID,
            "path": {"type": "string", "description": "Default: /workspace."},
            "title": TITLE,
            **CLAIM_ELSEWHERE,
        },
        required=["sandbox_id"],
        annotations=READS,
    ),
    _tool(
        CODE_INSTALL_PACKAGE,
        "Install a package after approval",
        "Install a package and what it needs in a kept sandbox, which needs no network for it. What has no wheel is "
        "built, and npm's install scripts run, in a sandbox of their own: CRITICAL, so prefer versions with wheels. "
        "Import Python packages in Python code; their commands are in /workspace/.packages/bin.",
        {
            "sandbox_id": SANDBOX_ID,
            "package": {"type": "string", "description": "e.g. `requests==2.32.5`"},
            "registry": {
                "type": "string",
                "enum": ["pypi", "npm"],
                "description": "Default: by the sandbox's language.",
            },
            "network_enabled": {
                "type": "boolean",
                "description": "For builds, as for code_execute.",
            },
            "allowed_domains": {"type": "array", "items": {"type": "string"}},
            "title": TITLE,
            **CLAIM_ELSEWHERE,
        },
        required=["sandbox_id", "package"],
        annotations=ADDS,
    ),
    _tool(
        CODE_DESTROY_SANDBOX,
        "Remove a sandbox",
        "Remove a kept sandbox with all its files.",
        {"sandbox_id": SANDBOX_ID},
        required=["sandbox_id"],
        annotations={**CHANGES, "idempotentHint": True},
    ),
    {
        "name": APPROVE,
        "title": "Ask about a tool of the client",
        "description": ("Not for you: the client asks by it whether its own tools may run (--permission-prompt-tool)."),
        "inputSchema": {
            "type": "object",
            "properties": {
                "tool_name": {"type": "string"},
                "input": {"type": "object"},
                "tool_use_id": {"type": "string"},
                "folder": {"type": "string"},
            },
            "required": ["tool_name", "input"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
]

ASKS_BY_TOOL = "claude"
"""How the name of the client begins that knows --permission-prompt-tool; it takes a tool that is listed alone."""


NOT_OVER_PROJECT = frozenset({"sandbox_id", "packages", "registry"})
"""Arguments of code_execute that mean nothing there."""
AT_WORK = frozenset({CODE_EXECUTE, CODE_RESULT, "code_sandbox_info"})
"""Tools for a program at work: the others are for sandboxes that are kept, and its project is."""


OVER_PROJECT = "Here /workspace is your project as you see it, and what the code writes there stays. "


def _over_project(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a tool as a program at work gets to see it."""
    if tool["name"] != CODE_EXECUTE:
        return tool
    schema = tool["inputSchema"]
    left = {name: about for name, about in schema["properties"].items() if name not in NOT_OVER_PROJECT}
    return {**tool, "description": OVER_PROJECT + tool["description"], "inputSchema": {**schema, "properties": left}}


def _in_languages(tool: dict[str, Any], languages: Sequence[str]) -> dict[str, Any]:
    """Return a tool for these languages."""
    properties = tool["inputSchema"]["properties"]
    if "language" not in properties or tuple(languages) == LANGUAGES:
        return tool
    # Imported here: the program that agents start needs neither unless other languages are on.
    from runner.model.language_support import LANGUAGES as SUPPORTED
    from runner.model.request import Language

    schema = {**tool["inputSchema"], "properties": {**properties, "language": {"type": "string", "enum": [*languages]}}}
    supports = [SUPPORTED[Language(name)] for name in languages]
    titles = [
        {"JavaScript": "JavaScript (Node.js)", "Bash": "shell (Bash)"}.get(one.title, one.title) for one in supports
    ]
    listed = f"{', '.join(titles[:-1])} or {titles[-1]}" if len(titles) > 1 else "".join(titles)
    alone = [one.title for one in supports if one.toolchain is not None]
    beginning = BEGINNING.replace("Python, JavaScript (Node.js) or shell (Bash)", listed)
    beginning += ONE_FILE.format("/".join(alone)) if alone else ""
    return {**tool, "description": tool["description"].replace(BEGINNING, beginning), "inputSchema": schema}


def offered(client: str, *, at_work: bool = False, languages: Sequence[str] = LANGUAGES) -> list[dict[str, Any]]:
    """Return the tools that a client gets to see by the name that it gives itself; every tool costs its model tokens.

    `at_work`: it is a program at work, over a working copy. `languages` are those that may run.

    One that gives none may be Claude Code: a session that was taken up after a restart has no name. What is not listed
    can be called all the same, as the hooks do.
    """
    tools = [_in_languages(tool, languages) for tool in TOOLS]
    if at_work:
        return [_over_project(tool) for tool in tools if tool["name"] in AT_WORK]
    asks = client in ("", "unknown") or client.startswith(ASKS_BY_TOOL)
    return [tool for tool in tools if asks or tool["name"] != APPROVE]


SCHEMAS: dict[str, dict[str, Any]] = {tool["name"]: tool["inputSchema"] for tool in TOOLS}
OWN_NAMES = frozenset(f"{before}{name}" for name in SCHEMAS for before in ("mcp__assent__", "mcp_assent_"))
"""The names of these tools in clients that name the server with them."""
