"""The project of a program at work as it sees it, for a console that runs approved code there.

An overlay is mounted in namespaces of the session alone: whoever wants to show it to a sandbox has to start that in
there. What the two rings see is looked at once, before the program starts: it cannot have changed anything by then.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.system.process_stat import PARENT, fields_of
from runner.workspace import copied

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.workspace.working_copy import WorkingCopy


class SessionLayer:
    """The facts of one session."""

    def __init__(self, copy: WorkingCopy) -> None:
        self._copy = copy
        self._said: dict[str, object] = {}

    def look(self, root: int, inner: int) -> None:
        """Note where it is; `root` and `inner` are the first processes of the two rings. Raises OSError."""
        seen = os.stat(f"/proc/{inner}/root{self._copy.project}")
        path = str(self._copy.shown)
        holder = 0 if self._copy.way == copied.NAME else _parent(root)
        there = os.stat(f"/proc/{holder}/root{path}" if holder else path)
        if (there.st_dev, there.st_ino) != (seen.st_dev, seen.st_ino):
            return
        mounts, users = (_namespace(holder, kind) if holder else 0 for kind in ("mnt", "user"))
        self._said = {
            "holder": holder,
            "mounts": mounts,
            "users": 0 if users == _namespace(os.getpid(), "user") else users,
            "path": path,
            "device": seen.st_dev,
            "inode": seen.st_ino,
        }

    def said(self) -> Mapping[str, object]:
        """Return the facts: numbers of the namespaces, 0 for those that all processes of this account are in.

        Raises KnownError where they are not known.
        """
        if not self._said:
            raise KnownError("Where this working copy is cannot be found out.")
        return self._said


def _parent(process: int) -> int:
    fields = fields_of(process)
    if not fields:
        raise ProcessLookupError(process)
    return int(fields[PARENT])


def _namespace(process: int, kind: str) -> int:
    return os.stat(f"/proc/{process}/ns/{kind}").st_ino
