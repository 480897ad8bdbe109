"""The answers of the tools that list and read the files of a kept sandbox."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.model.request import Request
    from runner.sandbox.contract import FileSlice, FolderListing

CONTENT = "content"
"""Name of the field for the agent alone: the history holds its size and hash instead."""


def listed(request: Request, found: FolderListing) -> dict[str, object]:
    entries = [{"name": one.name, "kind": one.kind.value, "size": one.size} for one in found.entries]
    facts: dict[str, object] = {"path": request.files[0], "entries": entries}
    return {**facts, "left_out": found.left_out} if found.left_out else facts


def read_piece(request: Request, piece: FileSlice) -> dict[str, object]:
    """Return a piece of a file as text where it is UTF-8, else as base64; a character cut at the end is still text."""
    facts: dict[str, object] = {
        "path": request.files[0],
        "size": piece.size,
        "offset": request.offset,
        "bytes": len(piece.data),
        "sha256": hashlib.sha256(piece.data).hexdigest(),
    }
    try:
        text = piece.data.decode("utf-8")
    except UnicodeDecodeError as error:
        cut = len(piece.data) - error.start < 4 and request.offset + len(piece.data) < piece.size
        if not cut or "\0" in piece.data[: error.start].decode("utf-8"):
            return {**facts, "encoding": "base64", "content": base64.b64encode(piece.data).decode("ascii")}
        whole = piece.data[: error.start]
        facts |= {"bytes": len(whole), "sha256": hashlib.sha256(whole).hexdigest()}
        text = whole.decode("utf-8")
    return {**facts, "encoding": "utf-8", "content": text}
