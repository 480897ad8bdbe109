"""Notes where exports are being written, so that what a killed one left goes with the next start of the console."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import secrets
import time
from pathlib import Path
from typing import TYPE_CHECKING

from runner.system.plain_file import open_file
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

DRAFT = ".assent-export-"
_OF_DRAFTS = re.compile(r"\.assent-export-([0-9a-f]{16})\.part")
_LONGEST = 16_384
"""Bytes of a note: the system takes no longer path."""
FORGOTTEN_SECONDS = 90 * 86_400.0
"""Age of a note that is dropped although its folder is not there: a disk may be mounted again until then."""


def new_draft(path: Path) -> Path:
    """Return a name beside `path` that only a draft of ours has."""
    return path.with_name(f"{DRAFT}{secrets.token_hex(8)}.part")


@contextlib.contextmanager
def noted(draft: Path, notes: Path | None) -> Iterator[None]:
    """Keep a note of `draft` in the folder `notes` while the block runs.

    Where it cannot be written, only the next start does not find what a killed export left.
    """
    name = _OF_DRAFTS.fullmatch(draft.name)
    if notes is None or name is None or not draft.parent.is_dir():
        yield
        return
    note, descriptor = notes / name[1], -1
    with contextlib.suppress(OSError):
        make_folder(notes)
        descriptor = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(descriptor, os.fsencode(draft))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if not os.path.lexists(draft):
                note.unlink(missing_ok=True)
        if descriptor >= 0:
            os.close(descriptor)


def sweep_folder(folder: Path) -> None:
    """Remove what exports into `folder` left that were killed. What cannot be removed stays."""
    with contextlib.suppress(OSError):
        for left in [file for file in folder.iterdir() if _OF_DRAFTS.fullmatch(file.name)]:
            _remove(left)


def sweep_noted(notes: Path) -> int:
    """Remove what noted exports left that were killed, and return how many. Blocks, perhaps long: a disk may hang.

    Only a plain file of this account that has the very name in its note, and that nobody writes.
    """
    removed = 0
    with contextlib.suppress(OSError):
        for note in sorted(notes.iterdir()):
            with contextlib.suppress(OSError, ValueError):
                removed += _settle(note)
    return removed


def _settle(note: Path) -> bool:
    """Remove what a note names, and the note where nothing is left to do. Raises OSError while its export lives."""
    descriptor = open_file(note, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        draft = Path(os.fsdecode(os.read(descriptor, _LONGEST)))
        removed = False
        if draft.is_absolute() and draft.name == f"{DRAFT}{note.name}.part":
            removed = _remove(draft)
            old = time.time() - os.fstat(descriptor).st_mtime > FORGOTTEN_SECONDS
            if not old and (os.path.lexists(draft) or not draft.parent.is_dir()):
                return removed
        note.unlink()
        return removed
    finally:
        os.close(descriptor)


def _remove(draft: Path) -> bool:
    """Remove a draft and return whether that was possible: not while it is written, and nothing but a file of ours."""
    with contextlib.suppress(OSError):
        descriptor = open_file(draft, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            if os.fstat(descriptor).st_uid == os.geteuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.unlink()
                return True
        finally:
            os.close(descriptor)
    return False
