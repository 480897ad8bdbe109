"""Collects what a run left in a workspace that this machine can look into: nothing in there is followed or trusted.

Every step goes through a descriptor of the folder before it and follows no link, so there is no moment at which a
path could be turned into another one, also where something of the run should still be alive.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.language_support import LANGUAGES
from runner.sandbox.file_collector import LeftOut, order
from runner.system.removal import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.sandbox.file_collector import FileCollector

FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
CHUNK = 1 << 18
MOST_ENTRIES = 20_000
"""Entries that are looked at."""
DEEPEST = 40
"""Folders within each other."""
SECONDS = 3.0
PACKAGES = tuple(one.packages.folder.encode() for one in LANGUAGES.values() if one.packages)
"""Folders at the top of a workspace whose files are not collected."""
"""For all of it."""


@dataclass(frozen=True, slots=True)
class _Found:
    path: bytes
    size: int
    place: tuple[int, int]
    """Device and number of the file."""
    links: int


@dataclass(frozen=True, slots=True)
class Left:
    """What a run will leave: held from before its start, as a workspace in memory goes with its last process."""

    workspace: int
    """Descriptor of the folder."""
    main: str
    """Path of the program itself, which is no file that it created."""
    since: float
    """Seconds since the epoch: what has not changed since then was there before."""

    @classmethod
    def of(cls, folder: str, main: str, since: float = 0.0) -> Left:
        """Raises OSError."""
        return cls(os.open(folder, FOLDER), main, since)

    def collect(self, collector: FileCollector) -> None:
        """Fill `collector`. What cannot be read or stored is noted in it."""
        try:
            _Pass(self.workspace, collector, os.fsencode(self.main), self.since).run()
        except OSError as error:
            collector.fail(error)

    def close(self) -> None:
        os.close(self.workspace)


class _Pass:
    """One pass over a workspace."""

    def __init__(self, workspace: int, collector: FileCollector, without: bytes, since: float) -> None:
        self._workspace = workspace
        self._collector = collector
        self._without = without
        self._since = since
        self._device = os.fstat(workspace).st_dev
        self._deadline = time.monotonic() + SECONDS
        self._seen = 0
        self._found: list[_Found] = []

    def run(self) -> None:
        """Collect the files. Raises OSError where nothing can be written."""
        self._look(self._workspace, b"", 1)
        names: dict[tuple[int, int], int] = {}
        for one in self._found:
            names[one.place] = names.get(one.place, 0) + 1
        for one in sorted(self._found, key=lambda found: order(found.path)):
            if one.links > names[one.place]:
                self._collector.leave(one.path, LeftOut.HARD_LINK)
            elif time.monotonic() > self._deadline:
                self._collector.leave(one.path, LeftOut.REST)
            elif not self._collector.refuses(one.path, one.size):
                self._take(one)

    # ---- finding files ----

    def _look(self, folder: int, above: bytes, depth: int) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                path = above + os.fsencode(entry.name)
                self._seen += 1
                if self._seen > MOST_ENTRIES or time.monotonic() > self._deadline:
                    self._collector.leave(path, LeftOut.REST)
                    return
                self._sort(folder, entry, path, depth)

    def _sort(self, folder: int, entry: os.DirEntry[str], path: bytes, depth: int) -> None:
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            return
        if stat.S_ISDIR(found.st_mode):
            self._go_into(folder, entry.name, path, depth)
        elif path == self._without or found.st_ctime < self._since:
            return
        elif stat.S_ISLNK(found.st_mode):
            self._collector.leave(path, LeftOut.LINK)
        elif not stat.S_ISREG(found.st_mode) or found.st_dev != self._device:
            self._collector.leave(path, LeftOut.SPECIAL)
        else:
            self._found.append(_Found(path, found.st_size, (found.st_dev, found.st_ino), found.st_nlink))

    def _go_into(self, folder: int, name: str, path: bytes, depth: int) -> None:
        if path in PACKAGES:
            self._collector.leave(path, LeftOut.PACKAGES)
            return
        if depth > DEEPEST:
            self._collector.leave(path, LeftOut.DEEP)
            return
        try:
            below = os.open(name, FOLDER, dir_fd=folder)
        except OSError:
            self._collector.leave(path, LeftOut.CLOSED)
            return
        try:
            self._look(below, path + b"/", depth + 1)
        finally:
            os.close(below)

    # ---- collecting files ----

    def _take(self, one: _Found) -> None:
        try:
            fd = self._opened(one.path)
        except OSError:
            self._collector.leave(one.path, LeftOut.CLOSED)
            return
        try:
            found = os.fstat(fd)
            if (found.st_dev, found.st_ino) == one.place and stat.S_ISREG(found.st_mode):
                # Not the time of modification, which code can set as it likes.
                self._collector.put(one.path, _pieces(fd), found.st_ctime)
            else:
                self._collector.leave(one.path, LeftOut.CHANGED)
        finally:
            os.close(fd)

    def _opened(self, path: bytes) -> int:
        """Raises OSError."""
        *above, name = path.split(b"/")
        folder = os.dup(self._workspace)
        try:
            for step in above:
                below = os.open(step, FOLDER, dir_fd=folder)
                os.close(folder)
                folder = below
            return os.open(name, FILE, dir_fd=folder)
        finally:
            os.close(folder)


def _pieces(fd: int) -> Iterator[bytes]:
    while piece := os.read(fd, CHUNK):
        yield piece
