"""A working copy: the folder of Assent that holds a layer over a project, what it was made for, and its way back."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from runner.model.errors import KnownError
from runner.system.durable import replace_file
from runner.system.file_lock import held, is_held, shared
from runner.system.private_folder import make_folder
from runner.system.removal import remove_tree
from runner.workspace import (
    apply,
    commits,
    copied,
    entry,
    git_index,
    journal,
    merge,
    moment,
    originals,
    overlay,
    returning,
    staging,
    undo,
)
from runner.workspace.change import digest
from runner.workspace.progress import WriteProgress, unheard
from runner.workspace.stamp import Stamp

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from runner.sandbox.workspace_copy import CopiedEntry, WorkspaceCopy
    from runner.workspace.apply import Applied
    from runner.workspace.change import ProjectChange, ProjectChanges
    from runner.workspace.progress import Report
    from runner.workspace.undo import WayBack

ABOUT, USE, RUNS, RETURNS = "about.json", "use", "runs", "returns"
REMOVED = ".removed-"
"""Before the name of one that is being removed; no name of one begins so."""


class Layer(Protocol):
    """A way to lay changes over a project: the modules `overlay` and `copied`."""

    def command(self, folder: Path, project: Path, program: tuple[str, ...]) -> tuple[str, ...]: ...

    def shown(self, folder: Path) -> Path: ...

    def changes(self, folder: Path, project: int, since: int, ours: Collection[tuple[int, int]]) -> ProjectChanges: ...

    def content(self, folder: Path) -> Path: ...


WAYS: dict[str, Layer] = {overlay.NAME: overlay, copied.NAME: copied}
SYSTEM = (
    "/",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var",
)
KEPT_DAYS = 7
"""Days after the last apply in which Undo may still be wanted."""
APPLY_SECONDS = 5.0
"""Time for another command that applies to the same project to end."""
RUNS_SECONDS = 15.0
"""Time for runs of a console over a working copy to end with the program at work."""
RETURNS_SECONDS = 60.0
"""Time for what came back from another machine to be written, which is 64 MB at most."""
BEGIN_SECONDS = 0.2
"""Time for somebody to end who only looks whether a program is running."""


@dataclass(frozen=True, slots=True)
class WorkingCopy:
    """What is known of one."""

    folder: Path
    name: str
    project: Path
    program: tuple[str, ...]
    made: float
    """Seconds since the epoch."""
    way: str
    """`overlay` or `copy`."""
    device: int
    inode: int
    """Of the project's folder: another one at the same path is not the project any more."""
    sandbox: str = ""
    """Where its program runs, in a word for a person; '' for bubblewrap."""
    ended: float = 0.0
    """When a single command (`assent try`) ended, in seconds since the epoch; 0 for another program, and before."""
    code: int = 0
    """With which exit code it did."""

    @classmethod
    def make(
        cls, home: Path, project: Path, program: Sequence[str], *, way: str = "", sandbox: str = ""
    ) -> WorkingCopy:
        """Make a working copy of `project` below `home`. Raises KnownError, Refused among them, and OSError.

        Without `way` it is an overlay, and a copy where the kernel refuses one.
        """
        check_project(project, home)
        make_folder(home)
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", project.name).strip("-.")[:40] or "project"
        name = f"{plain}-{secrets.token_hex(3)}"
        folder = home / name
        folder.mkdir(mode=0o700)
        try:
            originals.note_index(folder, project)
            moment.note(folder)
            used = _prepared(folder, project, way)
            originals.note_differing(folder, project)
            (folder / "tmp").mkdir()
            (folder / "tmp").chmod(0o1777)  # as programs expect of /tmp; what it is in is this account's alone
            found = project.stat()
            copy = cls(folder, name, project, tuple(program), time.time(), used, found.st_dev, found.st_ino, sandbox)
            copy._write()
        except BaseException:
            _remove(folder)
            raise
        return copy

    @classmethod
    def read(cls, folder: Path) -> WorkingCopy:
        """Return the one in `folder`. Raises KnownError."""
        try:
            said: dict[str, Any] = json.loads((folder / ABOUT).read_text("utf-8"))
            return cls(
                folder,
                folder.name,
                Path(said["project"]),
                tuple(said["program"]),
                float(said["made"]),
                str(said["way"]),
                int(said["device"]),
                int(said["inode"]),
                str(said.get("sandbox", "")),
                float(said.get("ended", 0.0)),
                int(said.get("code", 0)),
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise KnownError(f"The working copy {folder.name} cannot be read: {error}.") from error

    def note_end(self, code: int) -> None:
        """Write down that its single command has ended. Raises OSError."""
        replace(self, ended=time.time(), code=code)._write()

    def note_sandbox(self, words: str) -> WorkingCopy:
        """Write down where its program runs, and return the copy that says so. Raises OSError."""
        said = replace(self, sandbox=words)
        said._write()
        return said

    def take_in(self, before: Mapping[bytes, CopiedEntry], after: WorkspaceCopy) -> tuple[tuple[bytes, str], ...]:
        """Write what came back from another machine into a copy that is a folder: all of it or nothing. Blocks.

        Return what stays as it is, and why. Raises OSError, BlockingIOError among them, and ValueError.
        """
        with held(self.folder / RETURNS, RETURNS_SECONDS), entry.folder_open(self.shown) as top:
            returning.finish(self.folder, top)
            return returning.take_in(self.folder, top, before, after)

    def _finish_taking_in(self) -> None:
        """Write the rest of what somebody who was killed began to take in. Raises KnownError and OSError."""
        if not (self.folder / returning.CAME_BACK).exists():
            return
        try:
            with held(self.folder / RETURNS, RETURNS_SECONDS), entry.folder_open(self.shown) as top:
                returning.finish(self.folder, top)
        except BlockingIOError as error:
            raise KnownError(f"What came back into {self.name} is being written.", "Wait for its end.") from error
        except ValueError as error:
            raise KnownError(f"What came back into {self.name} cannot be read: {error}.", "Discard it.") from error

    def command(self, program: tuple[str, ...]) -> tuple[str, ...]:
        """Return the command that starts `program` where the layer can be seen."""
        return WAYS[self.way].command(self.folder, self.project, program)

    @property
    def shown(self) -> Path:
        """Where the project with its layer is, for a program started by `command`."""
        return WAYS[self.way].shown(self.folder)

    @property
    def content(self) -> Path:
        """Folder with what the layer writes, by path."""
        return WAYS[self.way].content(self.folder)

    def changes(self, known: ProjectChanges | None = None) -> ProjectChanges:
        """Return what the layer changes in the project as it is now. Blocks. Raises KnownError and OSError.

        While a program is running over it this may be half of what the program is about to do. `known` is what an
        earlier such look found, an empty one at the first. Where nothing changed since that very object is returned,
        and no file is opened for it.
        """
        # Not with the project held: reading what a program has made may take long, and other copies need not wait.
        with self._alone(), self._top() as top:
            self._finish_taking_in()
            with self._finished():
                pass
            if known is None:
                return self._changes(top)
            stamp = Stamp(self.folder, self.content, top, whole=self.way == copied.NAME).text
            if known.stamp and known.stamp == stamp:
                return known
            return replace(self._changes(top), stamp=stamp)

    def keep_originals(self, found: ProjectChanges) -> None:
        """Keep what these changes are about, so that it can be merged with what a person does from now on. Blocks.

        Raises KnownError and OSError.
        """
        with self._top() as top:
            originals.keep(self.folder, top, self._since, found.changes)

    def apply(
        self,
        wanted: Sequence[ProjectChange],
        report: Report = unheard,
        *,
        number: str = "",
    ) -> Applied:
        """Write these changes into the project, as `apply.write` does. Blocks. Raises KnownError and OSError."""
        if any(one.conflict for one in wanted):
            raise KnownError("Changes that conflict with the project cannot be applied.", staging.AGAIN)
        with self._alone(), self._finished(), self._top():
            originals.keep_applied(self.folder, self.content, wanted)
            return apply.write(self.project, wanted, self.content, self.folder, report, number=number)

    def undo_plan(self) -> WayBack:
        """Return what can be taken back of what was applied last, and what was changed since. Blocks.

        Raises KnownError where nothing was applied, and OSError.
        """
        with self._alone(), self._finished(), self._top() as top:
            return self._undo_plan(top)

    def undo(self, report: Report = unheard, *, number: str = "", wanted: str = "") -> Applied:
        """Take back what can be of what was applied last; where `wanted` is given, exactly what that digest is of.

        What somebody changed since stays as that left it, and can be taken back later. Blocks. Raises KnownError, also
        where nothing can be, and OSError.
        """
        with self._alone(), self._finished(), self._top() as top:
            plan = self._undo_plan(top)
            if wanted and digest(plan.changes) != wanted:
                raise KnownError("What can be taken back is not what you looked at any more.", staging.AGAIN)
            plan.require_some()
            return apply.write(self.project, plan.changes, plan.content, self.folder, report, own=True, number=number)

    def _undo_plan(self, top: int) -> WayBack:
        plan = undo.planned(top, self.folder)
        if plan is None:
            raise KnownError("Nothing of this working copy was applied: there is nothing to undo.")
        return plan

    @property
    def can_undo(self) -> bool:
        back = apply.undo_of(self.folder)
        return back is not None and not back.taken_back

    def discard(self, report: Report = unheard) -> None:
        """Remove the working copy, with its changes and its way back. Raises KnownError and OSError."""
        with self.in_use(), self.without_runs(BEGIN_SECONDS), self._alone(), self._finished():
            _remove(self.folder, report)

    def discard_applied(self) -> bool:
        """Remove the working copy if nothing is in it that was not applied; return whether it was removed.

        Raises KnownError and OSError.
        """
        with self._alone(), self._finished():
            if not self._is_applied():
                return False
            _remove(self.folder)
            return True

    def is_done_with(self, now: float) -> bool:
        """Return whether all in it was applied, or nothing is in it, and that some days before `now`.

        Blocks. Raises KnownError and OSError.
        """
        used = self.made
        with contextlib.suppress(FileNotFoundError):
            used = max(used, (self.folder / apply.UNDO_LIST).stat().st_mtime)
        if now - used < KEPT_DAYS * 86_400:
            return False
        with self._alone(), self._finished():
            return self._is_applied()

    def _is_applied(self) -> bool:
        with self._top() as top:
            found = self._changes(top)
        return not found.changes and not found.left_out

    @property
    def size(self) -> int:
        """Bytes of disk that it takes, with its way back; what it has closed to this account left out. Blocks."""
        return _used(self.folder, "--block-size=1")

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Hold the working copy while a program runs over it. Raises KnownError where another one does."""
        try:
            with held(self.folder / USE, BEGIN_SECONDS):
                yield
        except BlockingIOError as error:
            raise KnownError(f"A program is still running in {self.name}.", "Wait for its end, or end it.") from error

    @contextlib.contextmanager
    def run_over(self) -> Iterator[None]:
        """Hold the working copy while a console runs code over it, several at once. Raises OSError, KnownError."""
        try:
            with shared(self.folder / RUNS):
                yield
        except BlockingIOError as error:
            raise KnownError(f"The program at work in {self.name} has ended.") from error

    @contextlib.contextmanager
    def without_runs(self, seconds: float) -> Iterator[None]:
        """Hold the working copy against runs of a console; those under way get `seconds` to end. Blocks.

        Raises KnownError where one goes on, and OSError.
        """
        try:
            with held(self.folder / RUNS, seconds):
                yield
        except BlockingIOError as error:
            what = f"Code that was approved in the console is still running over {self.name}."
            raise KnownError(what, "Stop it in the console, under Running, or quit the console.") from error

    @property
    def is_in_use(self) -> bool:
        """Whether a program is running over it now. Raises OSError."""
        return is_held(self.folder / USE)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the working copy's own record, before the project. Raises KnownError and OSError."""
        try:
            with held(self.folder.parent / f".{self.name}", APPLY_SECONDS):
                yield
        except BlockingIOError as error:
            what = f"Another command is reading or applying the changes of {self.name}."
            raise KnownError(what, "Wait for its end.") from error

    @contextlib.contextmanager
    def _finished(self) -> Iterator[None]:
        """Hold the project for changes, and finish what an earlier command could not. Raises KnownError and OSError."""
        try:
            with held(self.folder.parent / f".{self.device}-{self.inode}", APPLY_SECONDS):
                if not (self.folder / ABOUT).exists():
                    raise KnownError(f"The working copy {self.name} was discarded meanwhile.")
                for other in _folders(self.folder.parent):
                    # What cannot be read, or is about a folder that is not there, is no hindrance for the others.
                    with contextlib.suppress(KnownError):
                        if (other / journal.NAME).exists() and (one := WorkingCopy.read(other)).inode == self.inode:
                            with one._top():
                                apply.finish(other)
                with contextlib.suppress(OSError), entry.folder_open(self.project) as top:
                    apply.remove_remains(top)
                yield
        except BlockingIOError as error:
            raise KnownError("Another command is applying changes to this project.", "Wait for its end.") from error

    @contextlib.contextmanager
    def _top(self) -> Iterator[int]:
        try:
            top = os.open(self.project, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise KnownError(f"The project {self.project} cannot be opened: {error.strerror}.") from error
        try:
            found = os.fstat(top)
            if (found.st_dev, found.st_ino) != (self.device, self.inode):
                raise KnownError(f"{self.project} is another folder now than the one that was worked on.")
            yield top
        finally:
            os.close(top)

    def _changes(self, top: int) -> ProjectChanges:
        self._finish_taking_in()
        found = apply.undo_of(self.folder)
        written = {} if found is None else found.written
        ours = {(one.inode, one.modified) for one in written.values() if one.inode}
        changes = WAYS[self.way].changes(self.folder, top, self._since, ours)
        paths = {bytes.fromhex(path) for path in written}
        changes = git_index.without_refreshed(changes, top, self.content, self.folder, paths)
        changes = commits.with_commits(changes, top, self.content)
        taken = {bytes.fromhex(path): one.taken_in for path, one in written.items() if one.taken_in}
        return merge.with_merges(changes, self.folder, top, self.content, taken)

    @property
    def _since(self) -> int:
        """What changed in the project after this was changed by somebody else; nanoseconds since the epoch."""
        return moment.since(self.folder)

    def _write(self) -> None:
        said = {
            "project": str(self.project),
            "program": self.program,
            "made": self.made,
            "way": self.way,
            "device": self.device,
            "inode": self.inode,
            "sandbox": self.sandbox,
            "ended": self.ended,
            "code": self.code,
        }
        replace_file(self.folder / ABOUT, json.dumps(said))


def all_below(home: Path) -> list[WorkingCopy]:
    """Return the working copies that can be read, the newest first."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for folder in _folders(home):
            with contextlib.suppress(KnownError):
                found.append(WorkingCopy.read(folder))
    return sorted(found, key=lambda one: -one.made)


def named(home: Path, name: str) -> WorkingCopy:
    """Return the working copy of that name. Raises KnownError."""
    if "/" in name or not (home / name / ABOUT).exists():
        raise KnownError(f"There is no working copy “{name}”.", "assent work list names them.")
    return WorkingCopy.read(home / name)


def _folders(home: Path) -> list[Path]:
    """Return what may be working copies. Raises OSError."""
    return [one for one in home.iterdir() if not one.name.startswith(".")]


def check_project(project: Path, home: Path) -> None:
    """Raise KnownError where a folder is none that can be worked on."""
    if not project.is_dir():
        raise KnownError(f"{project} is not a folder.")
    if str(project) in SYSTEM or project == Path.home():
        raise KnownError(f"{project} is not a project: it holds more than that.", "Go into the folder of one.")
    if home == project or project in home.parents or home in project.parents:
        raise KnownError(f"{project} holds Assent's own files.", "Go into the folder of a project.")


def _prepared(folder: Path, project: Path, way: str) -> str:
    """Make the layer; return the way that worked. Raises KnownError and OSError."""
    if way != copied.NAME:
        try:
            overlay.prepare(folder, project)
        except KnownError:
            if way:
                raise
            overlay.remove(folder)
        else:
            return overlay.NAME
    copied.prepare(folder, project)
    return copied.NAME


def _remove(folder: Path, report: Report = unheard) -> None:
    """Remove a working copy, and what killed commands have left of others.

    From the list it is gone at once: a part of it would show other changes than the whole.
    """
    removed = folder.with_name(f"{REMOVED}{folder.name}")
    folder.rename(removed)
    folder.with_name(f".{folder.name}.lock").unlink(missing_ok=True)
    total = 0 if report is unheard else _used(removed, "--inodes")
    remove_tree(removed, lambda done: report(WriteProgress(min(done, total), total, sure=True)))
    for left in folder.parent.glob(f"{REMOVED}*"):
        with contextlib.suppress(OSError):
            remove_tree(left)


def _used(folder: Path, what: str) -> int:
    """Return what `du` says of a folder; what is closed to this account is left out."""
    # However deep it is: os.walk calls itself.
    done = subprocess.run(("du", "--summarize", what, "--", folder), capture_output=True, check=False)
    return int((done.stdout.split() or (0,))[0])
