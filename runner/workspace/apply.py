"""Writes changes into a project so that it is afterwards the old one or the new one, whatever is ended when.

How it goes, for `write(...)` as for the Undo that follows it:

1. Each path must still be what the changes say it was (inode, size and time); else nothing is done.
2. Everything new is copied into one hidden folder of the project (`.assent-...`), checked against its hash, and made
   durable. Up to here only this folder is there in addition: a failure, a full disk or a kill leaves the project as it
   was.
3. The journal is written. It names every step; from here on the way leads forward only.
4. The steps: a new file changes places with the old one in one call of the kernel (RENAME_EXCHANGE), what goes is moved
   into the hidden folder. What came out is looked at: where it is not what the changes are about, because somebody
   saved it in this moment, it goes back. Each step can be repeated: the hidden folder shows what has been done.
5. What was taken away is kept for Undo, and the hidden folder and the journal are removed.

`finish` does the rest of 4 and 5 where 4 was interrupted; every command that looks at a project calls it first.

Folders are opened one below the other and never through a link: a link that a program planted leads nowhere.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import json
import os
import re
import secrets
import shutil
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from runner.model.errors import KnownError
from runner.sandbox.file_names import shown
from runner.system.durable import replace_file
from runner.workspace import entry, journal, staging
from runner.workspace.change import ProjectChange
from runner.workspace.entry import SpecialEntry, TreeKind, UnreadableEntry
from runner.workspace.journal import ApplyStep, Journal
from runner.workspace.progress import WriteProgress, unheard

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from runner.workspace.entry import TreeEntry
    from runner.workspace.progress import Report

STAGE_PREFIX = ".assent-"
STAGE = re.compile(r"\.assent-[0-9a-f]{16}")
NO_REPLACE, EXCHANGE = 1, 2
"""Flags of renameat2(2)."""
UNDO, UNDO_LIST = "undo", "undo.json"
MOST_UNDO = 20
"""Calls of `write` that can be taken back, the last one first."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What was done."""

    paths: int
    passed_over: tuple[bytes, ...] = ()
    """Paths that somebody else changed in the very moment; they are as that left them."""


class WrittenPath(NamedTuple):
    """One path that was written from a layer."""

    inode: int
    modified: int
    """With the inode: what stands there is what Assent wrote. Both 0 where that has what somebody else did as well."""
    taken_in: str
    """SHA-256 of what the layer had there and the project has now; '' where it has not, or not all of it."""


@dataclass(frozen=True, slots=True)
class Undo:
    """What Undo would write."""

    project: Path
    changes: tuple[ProjectChange, ...]
    content: Path
    """The folder with the files that come back, by path."""
    taken_back: bool
    """Whether it was done already: then it would apply once more."""
    done: tuple[str, ...] = ()
    """The numbers of all calls of `write` that have written something, the last one last."""
    written: dict[str, WrittenPath] = field(default_factory=dict)
    """What Assent wrote into the project, by the hexadecimal digits of the path, of all that was applied from here."""
    last: int = 0
    """How many paths the last of these calls has written."""
    passed_over: tuple[bytes, ...] = ()
    """Those that it left, because somebody changed them in that moment."""
    in_part: bool = False
    """Whether some of what was applied was taken back, and some was not."""
    earlier: tuple[dict[str, Any], ...] = ()
    """What could be taken back after this, the newest first, as the list has it."""

    @property
    def plain(self) -> dict[str, Any]:
        """The part of the list that is about this alone."""
        return {"content": self.content.name, "changes": [_plain(one) for one in self.changes]}

    def all(self, record: Path) -> Iterator[tuple[tuple[ProjectChange, ...], Path]]:
        """Yield what can be taken back, with the folder of what comes back, the last Apply first."""
        for one in (self.plain, *self.earlier):
            yield _changes(one["changes"]), record / one["content"]


def write(
    project: Path,
    changes: Sequence[ProjectChange],
    content: Path,
    record: Path,
    report: Report = unheard,
    *,
    own: bool = False,
    number: str = "",
) -> Applied:
    """Write `changes` into `project`, taking new content from the folder `content`, by path.

    `record` is the folder for the journal and for Undo; what an earlier Undo needs is replaced. `own` says that the
    content is what was taken away by an earlier call. `report` is called after each piece and each path that was
    copied, and may raise to end it; then, with `sure`, after each path that was written, and may not. `number`, of
    `new_number`, is what `outcome` asks for.
    Raises KnownError and OSError; where the journal was written before, `finish` does the rest.
    """
    with entry.folder_open(project) as top:
        _check(top, changes)
        stage = STAGE_PREFIX + (number or new_number())
        os.mkdir(stage, 0o700, dir_fd=top)
        try:
            steps = staging.staged(top, stage, changes, content, report, own=own)
            _sync(top)
            Journal(project, stage, tuple(steps), own, content.name if own else "").write(record)
        except BaseException:
            _remove_stage(top, stage)
            raise
    done = finish(record, report)
    assert done is not None
    return done


def new_number() -> str:
    """Return a number for one call of `write`: 16 hexadecimal digits."""
    return secrets.token_hex(8)


def is_begun(record: Path) -> bool:
    """Return whether something was begun that `finish` has yet to end."""
    return (record / journal.NAME).exists()


def outcome(record: Path, number: str) -> Applied | None:
    """Return what the call of `write` with this number has done; None where it has written nothing.

    `finish` comes first. Of a call with others after it only that it was done is known.
    """
    if (back := undo_of(record)) is None or number not in back.done:
        return None
    return Applied(back.last, back.passed_over) if back.done[-1] == number else Applied(0)


def finish(record: Path, report: Report = unheard) -> Applied | None:
    """Do the rest of what was begun; None where nothing was. Raises KnownError and OSError, `report` nothing."""
    if (begun := Journal.read(record)) is None:
        return None
    passed_over: list[bytes] = []
    with entry.folder_open(begun.project) as top:
        # Without the hidden folder everything was done but the last step.
        if entry.stat_of(top, begun.stage.encode()) is not None:
            with entry.folder_below(begun.stage, top) as staged:
                for number, step in enumerate(begun.steps):
                    report(WriteProgress(number, len(begun.steps), sure=True))
                    if not _do(top, staged, step):
                        passed_over.append(step.path)
                _folders(top, begun.steps)
                _sync(top)
                _note_undo(top, staged, record, begun, frozenset(passed_over))
            _remove_stage(top, begun.stage)
        (record / journal.NAME).unlink()
    return Applied(len(begun.steps) - len(passed_over), tuple(passed_over))


def remove_remains(top: int) -> None:
    """Remove hidden folders that a killed command left before it changed anything. Raises OSError."""
    for name in os.listdir(top):
        if STAGE.fullmatch(name):
            _remove_stage(top, name)


def undo_of(record: Path) -> Undo | None:
    """Return what Undo would write; None where there is nothing to undo."""
    try:
        said = json.loads((record / UNDO_LIST).read_text("utf-8"))
    except FileNotFoundError:
        return None
    changes = _changes(said["changes"])
    written = {path: WrittenPath(*one) for path, one in said["written"].items()}
    done = tuple(said.get("done", ()))
    earlier = tuple(said.get("earlier", ()))
    last = said.get("last", len(changes))
    passed_over = tuple(map(bytes.fromhex, said.get("passed_over", ())))
    in_part = said.get("in_part", False)
    project, content = Path(said["project"]), record / said["content"]
    return Undo(project, changes, content, said["taken_back"], done, written, last, passed_over, in_part, earlier)


def _changes(plain: Iterable[Sequence[Any]]) -> tuple[ProjectChange, ...]:
    return tuple(
        ProjectChange(bytes.fromhex(path), journal.entry_of(before), journal.entry_of(after), merged=merged)
        for path, before, after, merged in plain
    )


def _plain(one: ProjectChange) -> list[object]:
    return [one.path.hex(), journal.plain(one.before), journal.plain(one.after), one.merged]


def _check(top: int, changes: Iterable[ProjectChange]) -> None:
    """Raise KnownError unless the project has at each path what the change says."""
    for change in changes:
        if not change.path:
            continue
        try:
            now = entry.at(top, change.path)
        except (UnreadableEntry, SpecialEntry, OSError) as error:
            raise KnownError(f"“{shown(change.path)}” cannot be read: {error}.", staging.AGAIN) from error
        if not is_same(now, change.before):
            raise KnownError(f"“{shown(change.path)}” was changed in the project meanwhile.", staging.AGAIN)


def is_same(now: TreeEntry | None, expected: TreeEntry | None) -> bool:
    """Return whether what stands at a path is what a change says; of a folder, whether it is the same one."""
    if now is None or expected is None:
        return now is expected
    if now.kind is not expected.kind or now.inode != expected.inode:
        return False
    return now.kind is TreeKind.FOLDER or (now.size, now.modified) == (expected.size, expected.modified)


def _do(top: int, staged: int, step: ApplyStep) -> bool:
    """Do one step, which may have been done already; False where somebody else changed the path meanwhile."""
    if not step.path or step.is_done(staged):
        return True
    try:
        with entry.parent(top, step.path) as (folder, last), _writable(folder):
            now = entry.stat_of(folder, last)
            is_folder = now is not None and stat.S_ISDIR(now.st_mode)
            if step.after is None and now is None:
                return True
            if step.after is not None and step.after.kind is TreeKind.FOLDER:
                return is_folder or _make_folder(folder, last, staged, step, now)
            if is_folder:
                os.rmdir(last, dir_fd=folder)
                now = None
            elif step.after is None:
                return _take(folder, last, staged, step.name, step.before)
            return step.after is None or _bring(folder, last, staged, step, now)
    except (NotADirectoryError, FileNotFoundError):
        return step.after is None  # with its folder it is gone as well
    except (FileExistsError, IsADirectoryError):
        return False
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.ELOOP, errno.EACCES):
            return False
        raise


def _make_folder(folder: int, last: bytes, staged: int, step: ApplyStep, now: os.stat_result | None) -> bool:
    """Make a folder, in place of what is no folder."""
    if now is not None and not _take(folder, last, staged, step.name, step.before):
        return False
    os.mkdir(last, 0o700, dir_fd=folder)
    return True


def _bring(folder: int, last: bytes, staged: int, step: ApplyStep, now: os.stat_result | None) -> bool:
    """Put what is new in its place, in one go with taking away what stands there. Raises OSError."""
    if now is None:
        _rename(staged, step.name.encode(), folder, last, NO_REPLACE)
        return True
    if not _rename(staged, step.name.encode(), folder, last, EXCHANGE):
        # This file system cannot do both at once.
        return _take(folder, last, staged, f"{step.name}{journal.OLD}", step.before) and _bring(
            folder, last, staged, step, None
        )
    taken = entry.stat_of(staged, step.name.encode())
    if taken is not None and _stands(taken, step.before):
        return True
    _rename(staged, step.name.encode(), folder, last, EXCHANGE)
    return False


def _take(folder: int, last: bytes, staged: int, name: str, before: TreeEntry | None) -> bool:
    """Move what is to go into the hidden folder; move it back where it is not what it was. Raises OSError."""
    _rename(folder, last, staged, name.encode(), NO_REPLACE)
    taken = entry.stat_of(staged, name.encode())
    if taken is not None and _stands(taken, before):
        return True
    _rename(staged, name.encode(), folder, last, NO_REPLACE)
    return False


def _rename(source: int, name: bytes, target: int, other: bytes, how: int) -> bool:
    """Rename by renameat2(2); False where the file system does not know `how`, which for NO_REPLACE is then made up.

    Raises OSError.
    """
    if _libc().renameat2(source, name, target, other, how) == 0:
        return True
    number = ctypes.get_errno()
    if number not in (errno.EINVAL, errno.ENOSYS):
        raise OSError(number, os.strerror(number), other)
    if how == EXCHANGE:
        return False
    if entry.stat_of(target, other) is not None:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), other)
    os.rename(name, other, src_dir_fd=source, dst_dir_fd=target)
    return True


@functools.cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def _writable(folder: int) -> Iterator[None]:
    """Let names be changed in a folder of this account's that is closed to that, as long as needed."""
    found = os.fstat(folder)
    if found.st_mode & 0o300 == 0o300 or found.st_uid != os.geteuid():
        yield
        return
    os.fchmod(folder, stat.S_IMODE(found.st_mode) | 0o300)
    try:
        yield
    finally:
        os.fchmod(folder, stat.S_IMODE(found.st_mode))


def _stands(now: os.stat_result, before: TreeEntry | None) -> bool:
    """Return whether the entry is the one that the changes are about."""
    return before is not None and (now.st_ino, now.st_mtime_ns) == (before.inode, before.modified)


def _folders(top: int, steps: Iterable[ApplyStep]) -> None:
    """Set permissions, attributes and times of folders, the inner ones first."""
    for step in sorted(steps, key=lambda one: one.path, reverse=True):
        if step.after is None or step.after.kind is not TreeKind.FOLDER:
            continue
        closed = (NotADirectoryError, FileNotFoundError, PermissionError)
        with contextlib.suppress(*closed), _folder_at(top, step.path) as descriptor:
            for key, value in step.after.attributes:
                with contextlib.suppress(OSError):
                    os.setxattr(descriptor, key, value)
            os.fchmod(descriptor, step.after.mode)
            if step.path:
                os.utime(descriptor, ns=(step.after.folder_modified, step.after.folder_modified))


def _note_undo(top: int, staged: int, record: Path, begun: Journal, passed_over: Collection[bytes]) -> None:
    """Keep what Undo needs: back from what stands there now to what was there, with the files that were taken away.

    What could be taken back before comes after it, up to `MOST_UNDO` altogether.
    """
    number = begun.stage.removeprefix(STAGE_PREFIX)
    old = undo_of(record)
    if old is not None and old.done[-1:] == (number,):
        return  # a kill came between this and the end
    content = f"{UNDO}-{number}"
    tree = record / content
    tree.mkdir(mode=0o700, exist_ok=True)
    written = {} if old is None else old.written
    back = []
    for step in begun.steps:
        if step.path in passed_over:
            continue
        if (taken := step.taken(staged)) and step.before is not None and step.before.kind is TreeKind.FILE:
            _move_out(staged, taken, tree, step.path)
        try:
            now = entry.at(top, step.path) if step.path else entry.folder_entry(top)
        except (UnreadableEntry, SpecialEntry, OSError):
            continue
        back.append([step.path.hex(), journal.plain(now), journal.plain(step.before), step.merged])
        written.pop(step.path.hex(), None)
        if now is not None and not step.merged:
            written[step.path.hex()] = WrittenPath(now.inode, now.modified, "" if begun.own else step.taken_in)
        elif now is not None and not begun.own:
            written[step.path.hex()] = WrittenPath(0, 0, step.taken_in)
    known = [] if old is None or old.taken_back else [old.plain, *old.earlier]
    # After Undo what is left of it, or what was applied before, is the last.
    known = _without(known, begun, passed_over) if begun.own else [{"content": content, "changes": back}, *known]
    this, *earlier = known[:MOST_UNDO] or [{"content": content, "changes": back}]
    taken_back = begun.own and not known
    said = {
        **this,
        "project": str(begun.project),
        "taken_back": taken_back,
        "done": [*(one for one in (old.done if old else ()) if one != number), number],
        "written": written,
        "last": len(back),
        "passed_over": [path.hex() for path in sorted(passed_over)],
        "in_part": not taken_back and (begun.own or (old is not None and not old.taken_back and old.in_part)),
        "earlier": earlier,
    }
    replace_file(record / UNDO_LIST, json.dumps(said))
    needed = {one["content"] for one in (this, *earlier)}
    for other in record.glob(f"{UNDO}-*"):
        if other.name not in needed:
            shutil.rmtree(other, ignore_errors=True)


def _without(known: Sequence[dict[str, Any]], begun: Journal, passed_over: Collection[bytes]) -> list[dict[str, Any]]:
    """Return what can still be taken back after the Undo `begun`: what it left stays, where it stood."""
    undone = {step.path.hex() for step in begun.steps} - {path.hex() for path in passed_over}
    place = next((number for number, one in enumerate(known) if one["content"] == begun.undoes), 0)
    left = []
    for number, one in enumerate(known):
        changes = [row for row in one["changes"] if row[0] not in undone] if number == place else one["changes"]
        if changes:
            left.append({**one, "changes": changes})
    return left


def _move_out(staged: int, name: str, tree: Path, path: bytes) -> None:
    """Move a file that was taken away to its path below `tree`. Raises OSError."""
    # By descriptors: a path that a project has need not be one that can be said as a whole.
    with entry.folder_open(tree) as top, entry.parent(top, path, make=True) as (folder, last):
        try:
            os.rename(name, last, src_dir_fd=staged, dst_dir_fd=folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            with entry.readable(staged, name.encode()), entry.opened(staged, name.encode(), entry.READ_FLAGS) as source:
                target = os.open(last, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600, dir_fd=folder)
                try:
                    staging.copy(source, target, os.fstat(source).st_size)
                finally:
                    os.close(target)
            os.unlink(name, dir_fd=staged)


@contextlib.contextmanager
def _folder_at(top: int, path: bytes) -> Iterator[int]:
    if not path:
        descriptor = os.dup(top)
    else:
        with entry.parent(top, path) as (folder, name):
            descriptor = os.open(name, entry.FOLDER_FLAGS, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _remove_stage(top: int, stage: str) -> None:
    with contextlib.suppress(FileNotFoundError), entry.folder_below(stage, top) as staged:
        for name in os.listdir(staged):
            os.unlink(name, dir_fd=staged)
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(stage, dir_fd=top)


def _sync(folder: int) -> None:
    """Make everything on the file system of an open folder durable."""
    _libc().syncfs(folder)
