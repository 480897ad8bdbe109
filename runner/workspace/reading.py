"""The changes of a layer: two trees compared where they may differ, with what somebody else did meanwhile."""

from __future__ import annotations

import os
import stat
from collections import Counter
from typing import TYPE_CHECKING

from runner.workspace import entry
from runner.workspace.change import ProjectChange, ProjectChanges
from runner.workspace.entry import SpecialEntry, TreeKind, UnreadableEntry
from runner.workspace.marks import as_one, mark

if TYPE_CHECKING:
    from collections.abc import Collection

    from runner.workspace.entry import TreeEntry

CHANGED_MEANWHILE = "It was changed in the project meanwhile."
DELETED_MEANWHILE = "It was deleted in the project meanwhile."
MOVED_MEANWHILE = "Its folder was replaced in the project meanwhile."
MOVING = "The program is changing it at this moment. Look again."
SPECIAL = "It is a socket or device; these are not applied."
MOST_HOLES = 16 << 30
"""Bytes of all files together that take no disk, and half a minute to read. What is on the disk bounds itself."""
HOLES = "It has holes that take too long to read; copy it yourself."
DEEPEST = 200
"""Folders within each other that are read."""


class LayerReading:
    """The entries of both trees at the paths that may differ."""

    def __init__(self, project: int, since: int, ours: Collection[tuple[int, int]] = ()) -> None:
        """`project` is the open folder. What changed in it after `since` (nanoseconds) was done by somebody else,
        unless its inode and time are among `ours`."""
        self._project = project
        self._since = since
        self._ours = frozenset(ours)
        self._before: dict[bytes, TreeEntry] = {}
        self._after: dict[bytes, TreeEntry] = {}
        self._left_out: dict[bytes, str] = {}
        self._conflicts: dict[bytes, str] = {}
        self._moving: set[bytes] = set()
        self._holes = 0
        self._copies: set[bytes] = set()
        """Files of the layer that the kernel has copied from the project, which has nothing at their path."""
        self._new: set[bytes] = set()
        """What else the layer has."""

    def of_project(
        self,
        folder: int,
        name: bytes,
        path: bytes,
        *,
        below: bool = False,
        moved: bool = False,
        size: int = entry.NO_SIZE,
    ) -> None:
        """Note what the project has at `path`, and with `below` everything in it.

        `size` is that of the layer's file there, in bytes: only a file of the same size can have the same content, and
        is read.
        """
        found = entry.stat_of(folder, name)
        if found is None or (one := self._read(folder, name, found, path, content=found.st_size == size)) is None:
            return
        self._note_project(path, one, moved=moved)
        if below and one.kind is TreeKind.FOLDER and path.count(b"/") < DEEPEST:
            moved = moved or self.is_moved(one)
            try:
                with entry.opened(folder, name, entry.FOLDER_FLAGS) as inner:
                    for each in sorted(os.listdir(inner)):
                        self.of_project(inner, os.fsencode(each), _join(path, each), below=True, moved=moved)
            except (UnreadableEntry, OSError) as error:
                self._left_out[path] = f"It cannot be read: {error}."

    def of_project_file(self, folder: int, name: bytes, path: bytes, *, moved: bool, size: int) -> None:
        """Note what the project has at `path` where that is most likely a file, as `of_project` does."""
        try:
            one = entry.read_file(folder, name, size=size)
        except (SpecialEntry, OSError):
            self.of_project(folder, name, path, below=True, moved=moved, size=size)
        else:
            self._note_project(path, one, moved=moved)

    def _note_project(self, path: bytes, one: TreeEntry, *, moved: bool) -> None:
        self._before[path] = one
        if moved or self._is_newer(one):
            self._conflicts[path] = MOVED_MEANWHILE if moved else CHANGED_MEANWHILE

    def of_layer(
        self, folder: int, name: bytes, found: os.stat_result, path: bytes, *, expected: bool
    ) -> TreeEntry | None:
        """Note what the layer has at `path`, and return it. `expected` says that the project had something there."""
        one = self.read_layer(folder, name, found, path)
        if one is not None:
            self.note_layer(path, one, expected=expected)
        return one

    def read_layer(
        self, folder: int, name: bytes, found: os.stat_result | None, path: bytes, marks: set[str] | None = None
    ) -> TreeEntry | None:
        """Return what the layer has at `path`; `marks` gets the names by which the kernel marked a file.

        Without `found` it has to be a file that can be read. Raises SpecialEntry then, and OSError.
        """
        if path.count(b"/") >= DEEPEST:
            self._left_out[path] = f"It lies more than {DEEPEST} folders deep."
            return None
        if found is None:
            return entry.read_file(folder, name, marks=marks, sparse=False)
        holes = found.st_size - found.st_blocks * entry.BLOCK if stat.S_ISREG(found.st_mode) else 0
        if holes > 0 and self._holes + holes > MOST_HOLES:
            self._left_out[path] = HOLES
            return None
        self._holes += max(0, holes)
        return self._read(folder, name, found, path, content=True, marks=marks)

    def note_layer(self, path: bytes, one: TreeEntry, *, expected: bool) -> None:
        """Note what was read of the layer."""
        self._after[path] = one
        if not expected:
            self._new.add(path)
        elif path not in self._before:
            self._conflicts[path] = DELETED_MEANWHILE

    def note_copied(self, path: bytes, one: TreeEntry) -> None:
        """Note a file that the kernel has copied into the layer, from this path or from one that it had before."""
        self._after[path] = one
        if path not in self._before:
            self._copies.add(path)

    def is_moving(self, folder: int, name: bytes, found: os.stat_result, path: bytes) -> bool:
        """Return whether what was `found` at `path` is another entry by now; then that and all below is left out.

        For what cannot be read: a program that is still at work may have moved it.
        """
        now = entry.stat_of(folder, name)
        if now is not None and (now.st_ino, now.st_mode) == (found.st_ino, found.st_mode):
            return False
        self._moving.add(path)
        self._left_out[path] = MOVING
        return True

    def of_tops(self, layer: int) -> None:
        """Note the permissions of the project's own folder and of the layer's."""
        for folder, side in ((self._project, self._before), (layer, self._after)):
            side[b""] = entry.folder_entry(folder)

    def of_project_at(self, path: bytes, *, below: bool = False, size: int = entry.NO_SIZE) -> None:
        """Note what the project has at `path`, from its own folder on, as `of_project` does."""
        try:
            with entry.parent(self._project, path) as (folder, name):
                self.of_project(folder, name, path, below=below, size=size)
        except (FileNotFoundError, NotADirectoryError):
            return

    def is_moved(self, folder: TreeEntry) -> bool:
        """Return whether a folder of the project was put there meanwhile, or its permissions were changed.

        Adding or removing a name sets both of its times alike; a new name of its own sets one of them.
        """
        moved = folder.changed > self._since and folder.changed != folder.folder_modified
        return moved and (folder.inode, folder.modified) not in self._ours

    def changes(self) -> ProjectChanges:
        """Return where the two differ."""
        self._conflicts |= dict.fromkeys(self._deleted(), DELETED_MEANWHILE)
        found = []
        usual = self._before[b""].mode
        for path in sorted(self._before.keys() | self._after.keys()):
            if path in self._left_out or self._is_below_moving(path):
                continue
            before, after = self._before.get(path), self._after.get(path)
            if before is not None and after is not None and before.size == after.size and before.sha256 != after.sha256:
                before = self._hashed(path, before)
            if before != after:
                why = self._conflicts.get(path, "")
                found.append(ProjectChange(path, before, after, why, mark(path, before, after, usual)))
        return ProjectChanges(as_one(found), tuple(sorted(self._left_out.items())))

    def _deleted(self) -> list[bytes]:
        """Return the copied files whose original was deleted in the project; the others got a new name in the layer.

        Whatever got one has left another path of the project, where the layer has nothing now, or something new. It is
        known by size and time; where it was also written to, by its folder, in which nobody has removed a name since.
        """
        left = Counter(
            (one.size, one.modified)
            for path, one in self._before.items()
            if one.kind is TreeKind.FILE and (path not in self._after or path in self._new)
        )
        unsure = []
        for path in self._copies:
            one = self._after[path]
            if left[one.size, one.modified]:
                left[one.size, one.modified] -= 1
            elif not self._is_folder_as_it_was(path.rpartition(b"/")[0]):
                unsure.append(path)
        return unsure if len(unsure) > left.total() else []

    def _is_folder_as_it_was(self, path: bytes) -> bool:
        """Return whether nobody else has removed a name from a folder, if the project has it at all."""
        if path in self._new:
            return True
        found = entry.at(self._project, path) if path else entry.folder_entry(self._project)
        return found is not None and found.changed <= self._since

    def _hashed(self, path: bytes, before: TreeEntry) -> TreeEntry:
        """Return a file of the project with its hash, where it was read without: below a folder that was replaced."""
        if before.kind is not TreeKind.FILE or before.sha256:
            return before
        try:
            one = entry.at(self._project, path, content=True)
        except (UnreadableEntry, SpecialEntry, OSError):
            return before
        if one is None:
            return before
        self._note_project(path, one, moved=self._conflicts.get(path) == MOVED_MEANWHILE)
        return one

    def _is_below_moving(self, path: bytes) -> bool:
        return any(path.startswith(one + b"/") for one in self._moving)

    def _is_newer(self, one: TreeEntry) -> bool:
        # A folder's time changes with every name in it; what is new in it speaks for itself.
        newer = one.kind is not TreeKind.FOLDER and one.changed > self._since
        return newer and (one.inode, one.modified) not in self._ours

    def _read(
        self,
        folder: int,
        name: bytes,
        found: os.stat_result,
        path: bytes,
        *,
        content: bool = False,
        marks: set[str] | None = None,
    ) -> TreeEntry | None:
        try:
            return entry.read(folder, name, found, content=content, marks=marks)
        except SpecialEntry:
            self._left_out[path] = SPECIAL
        except UnreadableEntry as error:
            self._left_out[path] = f"It cannot be read: {error}."
        return None


def _join(path: bytes, name: str) -> bytes:
    return path + b"/" + os.fsencode(name) if path else os.fsencode(name)
