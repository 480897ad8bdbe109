"""A value by which a later look at a working copy knows that nothing changed: no file is opened for it.

It is made of inode and time (`ctime`, which no program can set) of everything that the layer has, and of what the
project has at the same paths; where the layer has no folder, of everything below.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from typing import TYPE_CHECKING

from runner.workspace import apply, entry
from runner.workspace.reading import DEEPEST

if TYPE_CHECKING:
    from pathlib import Path

MOMENT = 50_000_000
"""Nanoseconds in which a further change may get the same time."""


class Stamp:
    """One look."""

    def __init__(self, folder: Path, content: Path, project: int, *, whole: bool) -> None:
        """`folder` is the working copy's own, `content` has what the layer has by path.

        `whole` says that what it has not is deleted: then everything of the project counts. Raises OSError.
        """
        self._whole = whole
        self._hash = hashlib.sha256()
        self._newest = 0
        began = time.time_ns()
        with contextlib.suppress(FileNotFoundError):
            self._note(b"", (folder / apply.UNDO_LIST).stat())
        self._note(b"", os.fstat(project))
        with entry.folder_open(content) as layer:
            self._note(b"", os.fstat(layer))
            self._walk(layer, project, 0)
        self.text = "" if self._newest > began - MOMENT else self._hash.hexdigest()

    def _walk(self, layer: int | None, low: int | None, depth: int) -> None:
        """Note what two folders have, of which one may be missing: then the whole of the other."""
        if depth > DEEPEST:
            return
        names = [] if layer is None else os.listdir(layer)
        if low is not None and (layer is None or self._whole):
            names = [*{*names, *os.listdir(low)}]
        for name in sorted(map(os.fsencode, names)):
            above = self._seen(layer, name)
            below = self._seen(low, name)
            if above is not None and stat.S_ISDIR(above.st_mode):
                self._within(layer, low, name, depth)
                # A folder may stand in place of what the project has, all of which is deleted then.
                if below is not None and stat.S_ISDIR(below.st_mode) and self._is_opaque(layer, name):
                    self._within(None, low, name, depth)
            elif below is not None and stat.S_ISDIR(below.st_mode):
                self._within(None, low, name, depth)

    def _within(self, layer: int | None, low: int | None, name: bytes, depth: int) -> None:
        with contextlib.ExitStack() as opened:
            above, below = (self._opened(opened, folder, name) for folder in (layer, low))
            if above is not None or (layer is None and below is not None):
                self._walk(above, below, depth + 1)

    def _opened(self, opened: contextlib.ExitStack, folder: int | None, name: bytes) -> int | None:
        """Return a folder of an open folder, open; None where there is none that can be read."""
        if folder is None:
            return None
        try:
            return opened.enter_context(entry.opened(folder, name, entry.FOLDER_FLAGS))
        except (OSError, entry.UnreadableEntry):
            return None

    def _is_opaque(self, layer: int | None, name: bytes) -> bool:
        assert layer is not None
        try:
            with entry.opened(layer, name, entry.FOLDER_FLAGS) as inner:
                return bool([one for one in os.listxattr(inner) if one.startswith(entry.OWN_ATTRIBUTE)])
        except (OSError, entry.UnreadableEntry):
            return True

    def _seen(self, folder: int | None, name: bytes) -> os.stat_result | None:
        found = None if folder is None else entry.stat_of(folder, name)
        self._note(name, found)
        return found

    def _note(self, name: bytes, found: os.stat_result | None) -> None:
        if found is None:
            self._hash.update(b"%d:%s-\n" % (len(name), name))
            return
        self._hash.update(b"%d:%s %d %d\n" % (len(name), name, found.st_ino, found.st_ctime_ns))
        self._newest = max(self._newest, found.st_ctime_ns)
