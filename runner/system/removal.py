"""Removes a folder that was filled by a program that may be hostile."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
GONE = (FileNotFoundError, NotADirectoryError)
"""Somebody else removes the same tree at this moment."""


def remove_tree(top: Path, report: Callable[[int], object] = lambda _done: None) -> None:
    """Remove a folder with all that is in it, or what stands in its place; no link is followed. Raises OSError.

    Permissions count for nothing, nor does how deep it is: each folder of the second level is moved up to the first
    before the one that it was in is removed, so that no path and no call gets longer with the depth. `report` is called
    with the number of files and folders that are removed.
    """
    if top.is_symlink() or not top.is_dir():
        top.unlink(missing_ok=True)
        return
    with contextlib.suppress(*GONE):
        os.chmod(top, 0o700)
        descriptor = os.open(top, FOLDER_FLAGS)
        try:
            _empty(descriptor, report)
        finally:
            os.close(descriptor)
        os.rmdir(top)


def _empty(top: int, report: Callable[[int], object]) -> None:
    moved, number, done = secrets.token_hex(16), 0, 0
    while names := os.listdir(top):
        for name in names:
            if not _is_opened_up(top, name):
                done += 1
                report(done)
                continue
            with contextlib.suppress(*GONE):
                inner = os.open(name, FOLDER_FLAGS, dir_fd=top)
                try:
                    for each in os.listdir(inner):
                        if not _is_opened_up(inner, each):
                            done += 1
                            report(done)
                        else:
                            number += 1
                            with contextlib.suppress(*GONE):
                                os.rename(each, f"{moved}-{number}", src_dir_fd=inner, dst_dir_fd=top)
                finally:
                    os.close(inner)
                os.rmdir(name, dir_fd=top)
                done += 1
                report(done)


def _is_opened_up(folder: int, name: str) -> bool:
    """Give this account every right to a folder; return False for anything else, which is removed."""
    with contextlib.suppress(*GONE):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            os.chmod(name, 0o700, dir_fd=folder)
            return True
        os.unlink(name, dir_fd=folder)
    return False
