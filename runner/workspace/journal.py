"""The journal of an Apply: every step by name, so that whoever finds it can do the rest."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.system.durable import replace_file
from runner.workspace import entry
from runner.workspace.entry import TreeEntry, TreeKind

NAME = "apply.json"
OLD = ".old"
"""Ending of the name of what was taken away, where the file system cannot exchange two names."""


@dataclass(frozen=True, slots=True)
class ApplyStep:
    """One path of the journal."""

    path: bytes
    name: str
    """In the hidden folder: of what is to come, and afterwards of what was taken away."""
    inode: int
    """Of what is to come; 0 where nothing comes, or a folder."""
    before: TreeEntry | None
    after: TreeEntry | None
    merged: str = ""
    """As of a `ProjectChange`."""
    partial: bool = False
    """Whether what comes is not what the layer has, or not all of it."""

    @property
    def taken_in(self) -> str:
        """SHA-256 of the layer's content that the project has with this; '' for none, or not all of it."""
        if self.merged or self.partial or self.after is None:
            return self.merged
        return self.after.sha256

    def is_done(self, staged: int) -> bool:
        """Return whether the hidden folder shows that it was done."""
        found = entry.stat_of(staged, self.name.encode())
        if self.inode:
            return found is None or found.st_ino != self.inode
        return found is not None and self.after is None

    def taken(self, staged: int) -> str:
        """Return the name of what was taken away, in the hidden folder; '' for nothing."""
        for name in (f"{self.name}{OLD}", self.name):
            found = entry.stat_of(staged, name.encode())
            if found is not None and found.st_ino != self.inode:
                return name
        return ""


@dataclass(frozen=True, slots=True)
class Journal:
    """What is being written into which project, and the hidden folder there."""

    project: Path
    stage: str
    steps: tuple[ApplyStep, ...]
    own: bool = False
    """Whether this is Undo: what comes is what Assent took away before."""
    undoes: str = ""
    """Name of the folder with what comes, in that case; '' for that of the last Apply."""

    @classmethod
    def read(cls, record: Path) -> Journal | None:
        """Return the one in the folder `record`; None for none. Raises OSError and ValueError."""
        try:
            said = json.loads((record / NAME).read_text("utf-8"))
        except FileNotFoundError:
            return None
        steps = (
            ApplyStep(bytes.fromhex(path), name, inode, entry_of(before), entry_of(after), *rest)
            for path, name, inode, before, after, *rest in said["steps"]
        )
        return cls(Path(said["project"]), said["stage"], tuple(steps), said["own"], said.get("undoes", ""))

    def write(self, record: Path) -> None:
        """Write it, durably. Raises OSError."""
        steps = [
            [one.path.hex(), one.name, one.inode, plain(one.before), plain(one.after), one.merged, one.partial]
            for one in self.steps
        ]
        said = {"project": str(self.project), "stage": self.stage, "own": self.own, "undoes": self.undoes}
        said["steps"] = steps
        replace_file(record / NAME, json.dumps(said))


def plain(one: TreeEntry | None) -> dict[str, Any] | None:
    """Return an entry as JSON takes it."""
    if one is None:
        return None
    return {
        "kind": one.kind.value,
        "mode": one.mode,
        "size": one.size,
        "sha256": one.sha256,
        "target": one.target.hex(),
        "attributes": [[name, value.hex()] for name, value in one.attributes],
        "modified": one.modified,
        "inode": one.inode,
        "changed": one.changed,
        "folder_modified": one.folder_modified,
        "names": one.names,
    }


def entry_of(plain: dict[str, Any] | None) -> TreeEntry | None:
    """Return the entry that `plain` made JSON of. Raises KeyError and ValueError."""
    if plain is None:
        return None
    attributes = tuple((name, bytes.fromhex(value)) for name, value in plain["attributes"])
    rest = {key: value for key, value in plain.items() if key not in ("kind", "target", "attributes")}
    return TreeEntry(kind=TreeKind(plain["kind"]), target=bytes.fromhex(plain["target"]), attributes=attributes, **rest)
