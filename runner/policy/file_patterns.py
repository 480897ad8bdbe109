"""Patterns of grants for files in a kept sandbox: one folder, and one extension or one name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.request import Tool
from runner.risk.recipes.tool_files import is_data_file

if TYPE_CHECKING:
    from runner.model.request import Request


def pattern_of(request: Request) -> str:
    """Return the pattern for files of the same folder and extension as that of `request`; for a listing the folder."""
    path = "".join(request.files)
    if request.tool is Tool.CODE_LIST_FILES:
        return path
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    # Programs often read files whose names begin with a dot as they start: such a name matches itself only.
    if name.startswith(".") or (request.tool is Tool.CODE_WRITE_FILE and not is_data_file(path)):
        return path
    return f"{folder}{slash}*{dot}{ending}" if stem else f"{folder}{slash}*"


def fits(pattern: str, path: str) -> bool:
    """Return whether `path` matches `pattern`.

    `*` matches a name that does not begin with a dot, and no folder.
    """
    folder, _, name = path.rpartition("/")
    wanted_folder, _, wanted = pattern.rpartition("/")
    if not wanted.startswith("*"):
        return path == pattern
    if folder != wanted_folder or name.startswith("."):
        return False
    return name.endswith(wanted[1:]) and (wanted != "*" or "." not in name)
