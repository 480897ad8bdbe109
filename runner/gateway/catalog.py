"""What agents are told about the tools, as plain data: the server and the stdio bridge both read it."""

from __future__ import annotations

from typing import Any

SERVER_NAME = "assent"
SERVER_TITLE = "Assent"

CODE_EXECUTE = "code_execute"
CODE_RESULT = "code_result"
CODE_SANDBOX_INFO = "code_sandbox_info"

LANGUAGES = ("python", "javascript", "shell")

INSTRUCTIONS = (
    "Code sent to code_execute is shown to a person, who approves or denies it; approved code runs in a sandbox. "
    "Send one complete script per call and give it a title that says what it is for. "
    "A call may come back as `pending` with an id: ask for the answer with code_result. "
    "After a denial, read the reason before you try again. Call code_sandbox_info to learn what the sandbox has."
)

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
                "max_disk_mb": {"type": "integer", "minimum": 1, "description": "Disk limit in MiB."},
                "max_output_bytes": {
                    "type": "integer",
                    "minimum": 1,
                    "description": "Bytes kept of each output stream: its beginning and its end.",
                },
                "context": {
                    "type": "object",
                    "description": "JSON data handed to the code as variables, by name (Python only).",
                },
                "stdin": {"type": "string", "description": "Text the code can read from standard input."},
                "network_enabled": {
                    "type": "boolean",
                    "default": False,
                    "description": "Ask for network access. Raises the risk shown to the person.",
                },
                "allowed_domains": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "The only domains to be reachable; needs network_enabled.",
                },
            },
            "required": ["language", "code"],
            "additionalProperties": False,
        },
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": True,
            "idempotentHint": False,
            "openWorldHint": False,
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
]

SCHEMAS: dict[str, dict[str, Any]] = {tool["name"]: tool["inputSchema"] for tool in TOOLS}
