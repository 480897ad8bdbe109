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
    from collections.abc import Callable, Iterator
    from pathlib import Path

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""How a folder is opened that code may have put in place: never through a link."""
UNREAD = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
GONE = (FileNotFoundError, NotADirectoryError)
"""Somebody else removes the same folder at this moment."""


def remove(folder: Path) -> str:
    """Remove `folder` as `remove_tree` does; return why not all of it could be, '' when it is gone."""
    try:
        remove_tree(folder)
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""


def remove_tree(folder: Path, report: Callable[[int], object] = lambda _done: None) -> None:
    """Remove `folder`, or what stands in its place, whatever its permissions are. Nothing in it may be written to.

    `report` gets the number of files and folders that are removed. Raises OSError, the first one, where not all of it
    could be removed; the rest is.
    """
    with (
        contextlib.suppress(*GONE),
        _closing(os.open(folder.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as up,
    ):
        if not stat.S_ISDIR(os.stat(folder.name, dir_fd=up, follow_symlinks=False).st_mode):
            os.unlink(folder.name, dir_fd=up)
            return
        with _closing(_opened(folder.name, up)) as top:
            _Emptying(top, report).run()
        os.rmdir(folder.name, dir_fd=up)


class _Emptying:
    """The removal of all that is in one open folder."""

    def __init__(self, top: int, report: Callable[[int], object]) -> None:
        self._top = top
        self._report = report
        self._done = 0
        self._numbers = itertools.count()
        self._prefix = f".removed-{secrets.token_hex(8)}-"
        self._folders: deque[str] = deque()
        self._failed: OSError | None = None

    def run(self) -> None:
        """Remove what can be removed; raise why the first of the rest could not be removed."""
        # Again where somebody else who removes it has moved a folder up meanwhile.
        while self._failed is None and os.listdir(self._top):
            self._empty(self._top)
            while self._folders:
                name = self._folders.popleft()
                with self._noted():
                    with _closing(_opened(name, self._top)) as folder:
                        self._empty(folder)
                    os.rmdir(name, dir_fd=self._top)
                    self._count()
        if self._failed is not None:
            raise self._failed

    def _empty(self, folder: int) -> None:
        """Remove the files of a folder, and move its folders into the topmost one."""
        with os.scandir(folder) as found:
            entries = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
        for name, is_folder in entries:
            with self._noted():
                if not is_folder:
                    os.unlink(name, dir_fd=folder)
                    self._count()
                elif folder == self._top:
                    self._folders.append(name)
                else:
                    self._move_up(name, folder)

    def _move_up(self, name: str, folder: int) -> None:
        _unlock(name, folder)  # a folder is written to when it gets another one above it
        new = f"{self._prefix}{next(self._numbers)}"
        os.rename(name, new, src_dir_fd=folder, dst_dir_fd=self._top)
        self._folders.append(new)

    def _count(self) -> None:
        self._done += 1
        self._report(self._done)

    @contextlib.contextmanager
    def _noted(self) -> Iterator[None]:
        """Note the first failure, and go on with the rest."""
        try:
            yield
        except GONE:
            pass
        except OSError as error:
            self._failed = self._failed or error


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
