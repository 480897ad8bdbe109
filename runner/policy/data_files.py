"""Which files only hold data, by their paths: all others may be read by a tool as what it is to do."""

from __future__ import annotations

import re

ENDINGS = frozenset(
    ("csv", "tsv", "txt", "json", "jsonl", "ndjson", "md", "log", "png", "jpg", "jpeg", "gif", "webp", "pdf", "parquet")
)
FOLDERS_OF_TOOLS = frozenset(("hooks", "node_modules", "site-packages", "bin", "sbin"))
NAMES_OF_TOOLS = re.compile(
    r"package(-lock)?\.json|npm-shrinkwrap\.json|composer\.json|bower\.json|[tj]sconfig(\..*)?\.json"
    r"|deno\.json|project\.json|workspace\.json|lerna\.json|nx\.json|turbo\.json|vercel\.json|now\.json|angular\.json"
    r"|manifest\.json|(tasks|launch|settings|extensions|keybindings|mcp|hooks)(\..*)?\.json|devcontainer\.json"
    r"|cmake\w*\.(txt|json)|(requirements|constraints)\b.*\.txt|runtime\.txt"
    r"|(claude|agents|gemini|codex|cursor|skill|copilot-instructions)(\..*)?\.md|.*\.instructions\.md|.*\.prompt\.md"
)
"""Names with the ending of data by which tools, and agents, find what they are to run or to follow."""


def is_data_file(path: str) -> bool:
    """Return whether no tool is known that runs, or takes orders from, a file of this path."""
    *folders, name = path.lower().split("/")
    if any(folder.startswith(".") or folder in FOLDERS_OF_TOOLS for folder in folders):
        return False
    return name.rpartition(".")[2] in ENDINGS and not NAMES_OF_TOOLS.fullmatch(name)
