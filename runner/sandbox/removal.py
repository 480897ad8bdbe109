"""Removes a folder that code has filled, however deep, long-named or closed the folders in it are.

No recursion and no path: every folder is moved up into the topmost one and emptied there, so at most three
descriptors are open, and links are never followed.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import stat
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a folder is opened that code may have put in place: never through a link."""
UNREAD = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


def remove(folder: Path) -> str:
    """Remove `folder`, whatever its permissions are; return why not all of it could be, '' when it is gone.

    Nothing that could still change it may be alive.
    """
    problem = ""
    try:
        with _closing(os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as above:
            if not stat.S_ISDIR(os.stat(folder.name, dir_fd=above, follow_symlinks=False).st_mode):
                os.unlink(folder.name, dir_fd=above)
                return ""
            with _closing(_opened(folder.name, above)) as top:
                problem = _Emptying(top).run()
            os.rmdir(folder.name, dir_fd=above)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return problem or _words(error)
    return ""


class _Emptying:
    """The removal of all that is in one open folder."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._numbers = itertools.count()
        self._prefix = f".removed-{secrets.token_hex(8)}-"
        self._folders: deque[str] = deque()
        self._problem = ""

    def run(self) -> str:
        """Remove what can be removed; return why the first of the rest could not be removed."""
        self._empty(self._top)
        while self._folders:
            name = self._folders.popleft()
            try:
                with _closing(_opened(name, self._top)) as folder:
                    self._empty(folder)
                os.rmdir(name, dir_fd=self._top)
            except OSError as error:
                self._note(error)
        return self._problem

    def _empty(self, folder: int) -> None:
        """Remove the files of a folder, and move its folders into the topmost one."""
        with os.scandir(folder) as found:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
        for name, is_folder in entries:
            try:
                if not is_folder:
                    os.unlink(name, dir_fd=folder)
                elif folder == self._top:
                    self._folders.append(name)
                else:
                    self._move_up(name, folder)
            except OSError as error:
                self._note(error)

    def _move_up(self, name: str, folder: int) -> None:
        _unlock(name, folder)  # a folder is written to when it gets another one above it
        new = f"{self._prefix}{next(self._numbers)}"
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=self._top)
        self._folders.append(new)

    def _note(self, error: OSError) -> None:
        self._problem = self._problem or _words(error)


def _opened(name: str, above: int) -> int:
    _unlock(name, above)
    return os.open(name, FOLDER, dir_fd=above)


def _unlock(name: str, above: int) -> None:
    """Give this user all rights to the folder `name`; nothing where that is not allowed."""
    with _closing(os.open(name, UNREAD, dir_fd=above)) as fd, contextlib.suppress(PermissionError):
        os.chmod(f"/proc/self/fd/{fd}", 0o700)


@contextlib.contextmanager
def _closing(fd: int) -> Iterator[int]:
    try:
        yield fd
    finally:
        os.close(fd)


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
