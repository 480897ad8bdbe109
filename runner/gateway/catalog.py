"""Descriptions of the tools for agents, as plain data for the server and the stdio bridge."""

from __future__ import annotations

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

INSTRUCTIONS = (
    "Code sent to code_execute is shown to a person, who approves or denies it; approved code runs in a sandbox. "
    "Send one complete script per call and give it a title that says what it is for. "
    "Each run has an empty workspace of its own, unless you create a sandbox with code_create_sandbox and name it. "
    "A call may come back as `pending` with an id: ask for the answer with code_result. "
    "After a denial, read the reason before you try again. Call code_sandbox_info to learn what the sandbox has."
)

NETWORK: dict[str, Any] = {
    "network_enabled": {
        "type": "boolean",
        "description": (
            "Ask for network access: to allowed_domains, or without them to this machine's package registries only. "
            "Always CRITICAL. Default: false, or the network of the sandbox that sandbox_id names."
        ),
    },
    "allowed_domains": {
        "type": "array",
        "items": {"type": "string"},
        "description": (
            "The only hosts to be reachable, as name, name:port (default 443) or *.name; needs network_enabled. "
            "Every other host is refused; the answer lists those that were."
        ),
    },
}
TITLE = {"type": "string", "description": "What it is for, in a few words, for the person."}
SANDBOX_ID = {"type": "string", "description": "The id that code_create_sandbox returned."}


def _about_files(name: str, title: str, description: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the description of a tool for a kept sandbox. `more`: `required` names and `reads`."""
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": more["required"],
            "additionalProperties": False,
        },
        "annotations": {
            "readOnlyHint": more["reads"],
            "destructiveHint": name in (CODE_WRITE_FILE, CODE_DESTROY_SANDBOX),
            "idempotentHint": name != CODE_CREATE_SANDBOX,
            "openWorldHint": False,
        },
    }


TOOLS: list[dict[str, Any]] = [
    {
        "name": CODE_EXECUTE,
        "title": "Run code after approval",
        "description": (
            "Run Python, JavaScript (Node.js) or shell (Bash) code in a sandbox once a person has approved it. "
            "Returns the output, or the reason why it was not run. Waiting for the person does not count as run time. "
            "If the answer says `pending`, fetch it later with code_result."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "language": {"type": "string", "enum": list(LANGUAGES), "description": "Language of the code."},
                "code": {"type": "string", "minLength": 1, "description": "The complete code to run."},
                "title": {"type": "string", "description": "What the code is for, in a few words, for the person."},
                "timeout": {
                    "type": "number",
                    "exclusiveMinimum": 0,
                    "description": "Seconds the code may run. Default: as configured, usually 30.",
                },
                "max_memory_mb": {"type": "integer", "minimum": 1, "description": "Memory limit in MiB."},
                "max_disk_mb": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Disk limit in MiB. In a container no more than memory, which files count against.",
                },
                "max_output_bytes": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Bytes kept of each output stream: its beginning and end. Usually 4 MiB at most.",
                },
                "context": {
                    "type": "object",
                    "description": (
                        "JSON data handed to the code as variables, by name. For shell they are environment variables "
                        "with names in lower case, or in upper case after INPUT_."
                    ),
                },
                "stdin": {"type": "string", "description": "Text the code can read from standard input."},
                "sandbox_id": {
                    "type": "string",
                    "description": "Run in this sandbox of yours, with the files in it. Default: a new, empty one.",
                },
                "packages": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": (
                        "Packages that the code needs, by the names of the registry, e.g. `requests==2.32.5` for "
                        "Python or `lodash@4.17.21` for JavaScript. The person sees every file that would be installed "
                        "for this run. For a sandbox_id use code_install_package."
                    ),
                },
                **NETWORK,
            },
            "required": ["language", "code"],
            "additionalProperties": False,
        },
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": False,
            "openWorldHint": True,
        },
    },
    {
        "name": CODE_RESULT,
        "title": "Fetch a pending answer",
        "description": (
            "Fetch the answer of an earlier call that came back as `pending`. "
            "Waits up to `wait` seconds for it. An answer is kept for an hour."
        ),
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "The request_id of the pending call."},
                "wait": {
                    "type": "number",
                    "minimum": 0,
                    "description": "Seconds to wait for the answer. Default: as long as the console holds calls.",
                },
            },
            "required": ["id"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
    {
        "name": CODE_SANDBOX_INFO,
        "title": "Describe the sandbox",
        "description": "Tell which languages and versions the sandbox has, its limits, and what protects it.",
        "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
    _about_files(
        CODE_CREATE_SANDBOX,
        "Create a sandbox that is kept",
        "Create a sandbox whose files stay between runs, for code in one language and for shell code. Returns its "
        "sandbox_id. Processes do not stay. It is removed when it has not been used for a while. Code that starts or "
        "imports a file there is CRITICAL unless code_write_file wrote that file and it is unchanged: then the person "
        "sees it with the code. Python code may import such modules; a script started by `python3 FILE` may not.",
        {
            "language": {
                "type": "string",
                "enum": list(LANGUAGES),
                "description": "Language of the code to run in it.",
            },
            "title": TITLE,
            "max_memory_mb": {"type": "integer", "minimum": 1, "description": "Memory limit of runs in it, in MiB."},
            "max_disk_mb": {"type": "integer", "minimum": 1, "description": "Room for files, in MiB."},
            **NETWORK,
        },
        required=["language"],
        reads=False,
    ),
    _about_files(
        CODE_WRITE_FILE,
        "Write a file after approval",
        "Write a text file in a sandbox of yours, in place of one of the same name. Folders are made.",
        {
            "sandbox_id": SANDBOX_ID,
            "file_path": {"type": "string", "description": "Where, below /workspace."},
            "content": {"type": "string", "description": "The whole content."},
            "executable": {"type": "boolean", "default": False, "description": "Whether it may be started."},
            "title": TITLE,
        },
        required=["sandbox_id", "file_path", "content"],
        reads=False,
    ),
    _about_files(
        CODE_READ_FILE,
        "Read a file after approval",
        "Read a file in a sandbox of yours. What is not UTF-8 text comes as base64.",
        {
            "sandbox_id": SANDBOX_ID,
            "file_path": {"type": "string", "description": "Which, below /workspace."},
            "offset": {"type": "integer", "minimum": 0, "description": "Byte to begin at. Default: 0."},
            "max_bytes": {
                "type": "integer",
                "minimum": 1,
                "description": "Bytes to read at most. Default: as much as an answer usually holds.",
            },
            "title": TITLE,
        },
        required=["sandbox_id", "file_path"],
        reads=True,
    ),
    _about_files(
        CODE_LIST_FILES,
        "List files after approval",
        "List a folder of a sandbox of yours: names, kinds and sizes.",
        {
            "sandbox_id": SANDBOX_ID,
            "path": {"type": "string", "description": "The folder. Default: /workspace."},
            "title": TITLE,
        },
        required=["sandbox_id"],
        reads=True,
    ),
    _about_files(
        CODE_INSTALL_PACKAGE,
        "Install a package after approval",
        "Install a package of PyPI or npm, and what it needs, in a sandbox of yours. "
        "Only ready files are installed (wheels, npm tarballs); nothing is built and no install script runs. The "
        "sandbox needs no network. Import Python packages in Python code; their commands are in "
        "/workspace/.packages/bin, and shell code finds neither by itself.",
        {
            "sandbox_id": SANDBOX_ID,
            "package": {
                "type": "string",
                "description": "Name in the registry, with a version where it matters: `requests==2.32.5`.",
            },
            "registry": {
                "type": "string",
                "enum": ["pypi", "npm"],
                "description": "Default: that of the sandbox's language.",
            },
            "title": TITLE,
        },
        required=["sandbox_id", "package"],
        reads=False,
    ),
    _about_files(
        CODE_DESTROY_SANDBOX,
        "Remove a sandbox",
        "Remove a sandbox of yours with everything in it.",
        {"sandbox_id": SANDBOX_ID},
        required=["sandbox_id"],
        reads=False,
    ),
    {
        "name": APPROVE,
        "title": "Ask about a tool of the client",
        "description": (
            "For the client's permission prompt (--permission-prompt-tool), never for you: it runs nothing. "
            "Asks a person about a tool of the client itself and returns allow or deny."
        ),
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

SCHEMAS: dict[str, dict[str, Any]] = {tool["name"]: tool["inputSchema"] for tool in TOOLS}
OWN_NAMES = frozenset(f"{before}{name}" for name in SCHEMAS for before in ("mcp__assent__", "mcp_assent_"))
"""The names of these tools in clients that name the server with them."""
