"""The part of a working copy that is sent to another machine: what git would take, without what may hold a secret.

git says which files those are: those of the index that was kept when the layer was made, and those that no `.gitignore`
names. It reads no setting of the project's repository, whose programs it could otherwise run. `.git` is never sent.
What may hold a secret, by its name or by its contents, stays behind until a person has included it.

The answer has the hash of each file, and a person's yes is for those. What is sent is compared with it as it is read:
programs may be at work in the copy meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import stat
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.audit.files.credential_search import credential_kind
from runner.model.errors import KnownError
from runner.model.file_changes import FileKind
from runner.model.sent_files import LINK, HeldFile, LeftFile, SentFile, SentFiles, file_name, listing
from runner.sandbox.workspace_copy import (
    MOST_BYTES,
    PERMISSIONS,
    CopiedEntry,
    CopyEntries,
    NotCopied,
    WorkspaceCopy,
    contents,
    entry_of,
)
from runner.system.plain_file import read_file
from runner.workspace import entry, git, originals
from runner.workspace.secret_names import may_be_secret

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path
    from typing import BinaryIO

    from runner.workspace.working_copy import WorkingCopy

GIT = "sent"
"""A folder of git's in that of the working copy."""
BY_NAME, BY_CONTENTS = "by its name", "{} in it"
"""Why a file may hold a secret."""
NEITHER = "neither a file nor a link"
MOST_HELD = 500
"""Files that stay behind and may be included; further ones are left out."""
SECONDS_AGAIN = 20.0
"""For all contents to be looked through for credentials; then whatever looks like one counts as one."""
MOST_LEFT_OUT = 50
"""Of what is left out, named one by one."""
MOST_IGNORED = 1 << 16
"""Bytes of a file that says what git ignores."""
REMEDY = "Nothing was sent. Choose a sandbox of this machine, or a smaller folder."
AGAIN = "Nothing was sent. Ask again."


def planned(copy: WorkingCopy, included: Collection[str] = ()) -> SentFiles:
    """Return what would be sent of a working copy that is a folder, with those `included` that may hold a secret.

    Reads all of it, some 15 MB a second. Raises KnownError, also where it is too much, and OSError.
    """
    plan = _Plan()
    try:
        with entry.folder_open(copy.shown) as top:
            for path in _listed(copy):
                # What is in the index and is gone, or is behind a link now, is not there.
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    plan.look(top, path)
        return plan.result().including(included)
    except NotCopied as error:
        raise _refused(error.what, REMEDY) from error


def packed(copy: WorkingCopy, approved: SentFiles, folder: Path) -> WorkspaceCopy:
    """Return the files that were approved, as they are read now; contents go to the disk of `folder`. Blocks.

    Raises KnownError where anything is not as it was approved: another name, content or permission, or no file.
    """
    file = None
    try:
        file = contents(folder)
        found = _pack(copy, approved, file)
        file.flush()
        return WorkspaceCopy(found.entries, file, 0, ())
    except BaseException as error:
        if file is not None:
            file.close()
        if isinstance(error, NotCopied):
            raise _refused(error.what, REMEDY) from error
        if isinstance(error, OSError):
            raise _refused(str(error), REMEDY) from error
        raise


def _pack(copy: WorkingCopy, approved: SentFiles, file: BinaryIO) -> CopyEntries:
    """Return what was approved, with its contents in `file`. Raises KnownError and OSError."""
    found = CopyEntries()
    sent: list[SentFile] = []
    wanted = {one.name for one in approved.files}
    others = {one.file.name for one in approved.behind} | {one.name for one in approved.left_out}
    with entry.folder_open(copy.shown) as top:
        for path in _listed(copy):
            name = file_name(path.rstrip(b"/"))
            if name not in wanted:
                if name not in others and not approved.further_left_out and _can_be_sent(top, path):
                    raise _refused(f"{name} came since this was asked", AGAIN)
                continue
            # What is gone, or is no file any more, is found by comparing.
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, _NoFile):
                one, read = _read(top, path, found.make_room, file)
                _add_folders(found, top, path)
                found.add(path, read)
                sent.append(one)
    now = replace(approved, listed=listing(sent))
    if difference := approved.difference(now):
        raise _refused(f"since this was asked, {difference}", AGAIN)
    return found


def _refused(why: str, remedy: str) -> KnownError:
    return KnownError(f"The project cannot be sent: {why}.", remedy)


class _NoFile(Exception):
    """Nothing that can be sent; the text says why."""


class _Plan:
    """Takes in what git would take, in its order."""

    def __init__(self) -> None:
        self._entries = CopyEntries()
        self._sent: list[SentFile] = []
        self._held: list[HeldFile] = []
        self._left: list[LeftFile] = []
        self._held_size = 0
        self._seconds = SECONDS_AGAIN

    def look(self, top: int, path: bytes) -> None:
        """Take one path in. Raises NotCopied where all of it is too much, and FileNotFoundError."""
        content = io.BytesIO()
        try:
            secret = BY_NAME if may_be_secret(path.rstrip(b"/")) else ""
            one, read = _read(top, path, self._make_room_held if secret else self._entries.make_room, content)
        except _NoFile as error:
            self._leave(path, str(error))
            return
        except (FileNotFoundError, NotADirectoryError):
            raise
        except OSError as error:
            self._leave(path, (error.strerror or str(error)).lower())
            return
        if not secret and (kind := self._credential(content.getvalue())):
            secret = BY_CONTENTS.format(kind)
        if not secret:
            _add_folders(self._entries, top, path)
            self._entries.add(path, read)
            self._sent.append(one)
        elif len(self._held) < MOST_HELD:
            self._held_size += one.size
            self._held.append(HeldFile(one.line, secret))
        else:
            self._leave(path, f"may hold a secret, {secret}, as {MOST_HELD} others")

    def result(self) -> SentFiles:
        more = max(0, len(self._left) - MOST_LEFT_OUT)
        return SentFiles(listing(self._sent), tuple(self._held), (), tuple(self._left[:MOST_LEFT_OUT]), more)

    def _credential(self, data: bytes) -> str:
        begun = time.monotonic()
        kind = credential_kind(data, self._seconds)
        self._seconds = max(0.0, self._seconds - (time.monotonic() - begun))
        return kind

    def _make_room_held(self, size: int) -> None:
        if self._held_size + size > MOST_BYTES:
            raise _NoFile("may hold a secret by its name, and is too large")

    def _leave(self, path: bytes, why: str) -> None:
        self._left.append(LeftFile(file_name(path.rstrip(b"/")), why))


def _read(top: int, path: bytes, make_room: Callable[[int], None], file: BinaryIO) -> tuple[SentFile, CopiedEntry]:
    """Return what stands at `path` now, whose content goes to `file`. Raises _NoFile, NotCopied and OSError."""
    with entry.parent(top, path) as (folder, name):
        seen = os.stat(name or b".", dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(seen.st_mode):
            target = os.readlink(name, dir_fd=folder)
            link = SentFile(file_name(path), len(target), LINK, hashlib.sha256(target).hexdigest())
            return link, CopiedEntry(FileKind.LINK, 0, seen.st_mtime_ns, target=target)
        if stat.S_ISDIR(seen.st_mode):
            raise _NoFile("a repository of its own")
        if not stat.S_ISREG(seen.st_mode):
            raise _NoFile(NEITHER)
        with open(os.open(name, entry.READ_FLAGS, dir_fd=folder), "rb", buffering=0) as source:
            now = os.fstat(source.fileno())
            if not stat.S_ISREG(now.st_mode):
                raise _NoFile(NEITHER)
            make_room(now.st_size)
            digest, size, offset = hashlib.sha256(), 0, file.tell()
            # No further than it was long: a program may write to it faster than it is read.
            while size <= now.st_size and (piece := source.read(entry.CHUNK)):
                size += len(piece)
                digest.update(piece)
                file.write(piece)
            after = os.fstat(source.fileno())
    if size != now.st_size or _stamp(after) != _stamp(now):
        raise _NoFile("it changes while it is read")
    read = entry_of(now.st_mode, now.st_mtime_ns, size=size, sha256=digest.hexdigest(), offset=offset)
    return SentFile(file_name(path), size, f"{read.mode:o}", read.sha256), read


def _stamp(found: os.stat_result) -> tuple[int, ...]:
    """Return what changes with every change of a file, its permissions included."""
    return found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _can_be_sent(top: int, path: bytes) -> bool:
    """Return whether a file or a link stands at `path`."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), entry.parent(top, path) as (folder, name):
        mode = os.stat(name or b".", dir_fd=folder, follow_symlinks=False).st_mode
        return stat.S_ISREG(mode) or stat.S_ISLNK(mode)
    return False


def _listed(copy: WorkingCopy) -> list[bytes]:
    """Return the paths that git would take. Raises KnownError and OSError."""
    folder = copy.folder / GIT
    git.make_folder_of_git(folder)
    with contextlib.suppress(OSError):
        _, common = originals.repository(copy.project)
        (folder / "info" / "exclude").write_bytes(read_file(common / "info" / "exclude", MOST_IGNORED))
    words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    if ignoring := _own_ignored():
        words = ["-c", f"core.excludesFile={ignoring}", *words]
    index = copy.folder / originals.GIT / originals.INDEX
    at = copy.shown
    more = {"GIT_WORK_TREE": str(at)}
    code, said = -1, b""
    if index.exists():
        code, said = git.run(folder, words, at=at, more={**more, "GIT_INDEX_FILE": str(index)})
    if code:
        code, said = git.run(folder, words, at=at, more=more)
    if code:
        raise KnownError("git cannot say which files of this project it would take.", REMEDY)
    return sorted(set(said.split(b"\0")) - {b""})


def _own_ignored() -> str:
    """Return the file of this account that says what git ignores everywhere; '' for none."""
    configured = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    own = os.path.join(configured, "git", "ignore")
    return own if os.path.isfile(own) else ""


def _add_folders(found: CopyEntries, top: int, path: bytes) -> None:
    """Add the folders that `path` is in, from the top."""
    for at, one in enumerate(path):
        if one == ord("/") and (above := path[:at]) not in found.entries:
            with entry.parent(top, above) as (folder, name):
                mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            found.add(above, CopiedEntry(FileKind.FOLDER, stat.S_IMODE(mode) & PERMISSIONS, 0))
