"""The programs of clients, by which `assent work` knows what it starts."""

from __future__ import annotations

import os

PROGRAMS = {
    "claude-code": ("claude",),
    "codex": ("codex",),
    "gemini-cli": ("gemini",),
    "cursor": ("cursor", "cursor-agent"),
    "vscode": ("code", "codium", "code-insiders"),
    "goose": ("goose",),
    "qwen-code": ("qwen",),
    "copilot-cli": ("copilot",),
    "opencode": ("opencode",),
    "cline": ("cline",),
    "zed": ("zed", "zeditor"),
}
"""Id of a client -> the names of its programs."""


def client_of(program: str) -> str:
    """Return the id of the client that a program belongs to; '' for any other."""
    name = os.path.basename(program)
    return next((client for client, names in PROGRAMS.items() if name in names), "")
