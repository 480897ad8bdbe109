"""The part of a working copy that is sent to another machine: what git would take, without what is secret by its name.

git says which files those are: those of the index that was kept when the layer was made, and those that no `.gitignore`
names. It reads no setting of the project's repository, whose programs it could otherwise run. `.git` is never sent.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.expression import expression
from runner.model.file_changes import FileKind
from runner.risk.rules import knowledge
from runner.sandbox.file_names import shown
from runner.sandbox.workspace_copy import CopiedEntry, CopyEntries, NotCopied, WorkspaceCopy, contents, entry_of
from runner.system.plain_file import read_file
from runner.workspace import entry, git, originals

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from runner.workspace.working_copy import WorkingCopy

GIT = "sent"
"""A folder of git's in that of the working copy."""
SECRET = frozenset({"secret", "key-file", "environment-file"})
"""Kinds of files of the classifier whose names say that they hold secrets."""
ALSO_SECRET = expression(
    r"(?i)(?:^|/)(?:\.envrc|[^/]{0,200}\.env~?|[^/]{0,200}\.(?:key|tfstate|tfstate\.backup|tfvars|tfvars\.json|p8|agekey)"
    r"|kubeconfig|[^/]{0,200}-adminsdk[^/]{0,200}\.json|gcp[-_]key\.json|local\.settings\.json|(?:ansible[-_])?vault\.ya?ml"
    r"|[^/]{0,200}\.kubeconfig)$"
)
"""Others, which no rule finds grave where code reads them here, but which nobody expects to be sent to a service."""
BY_NAME = "its name says that it holds secrets"
MOST_NAMED = 5
"""Of secrets, in a sentence."""
MOST_IGNORED = 1 << 16
"""Bytes of a file that says what git ignores."""
REMEDY = "Nothing was sent. Choose a sandbox of this machine, or a smaller folder."


@dataclass(frozen=True, slots=True)
class Sending:
    """What would be sent, and what would not."""

    paths: tuple[bytes, ...]
    """Files and links, sorted."""
    size: int
    """Bytes."""
    secrets: tuple[bytes, ...]
    """Left out for their names, and named by nobody."""
    left_out: tuple[tuple[bytes, str], ...]
    """Left out whatever anybody says, and why."""

    @property
    def words(self) -> str:
        """Return it in a few words, which differ where other files would be sent."""
        number = len(self.paths)
        names = hashlib.sha256(b"\0".join(self.paths)).hexdigest()[:16]
        without = f", without {named(self.secrets, MOST_NAMED)}" if self.secrets else ""
        return f"{number:,} {'file' if number == 1 else 'files'} that git would take (list {names}){without}"


def planned(copy: WorkingCopy, secrets: Collection[bytes] = ()) -> Sending:
    """Return what would be sent of a working copy that is a folder; of secrets only those named. Blocks.

    Raises KnownError and OSError.
    """
    kinds = knowledge.bundled().targets
    paths, held, left, size = [], [], [], 0
    with entry.folder_open(copy.shown) as top:
        for path in _listed(copy):
            # What is in the index and is gone, or is behind a link now, is not there.
            with contextlib.suppress(FileNotFoundError, NotADirectoryError), entry.parent(top, path) as (folder, name):
                found = os.stat(name or b".", dir_fd=folder, follow_symlinks=False)
                if stat.S_ISDIR(found.st_mode):
                    left.append((path.rstrip(b"/"), "a repository of its own"))
                elif not stat.S_ISREG(found.st_mode) and not stat.S_ISLNK(found.st_mode):
                    left.append((path, "neither a file nor a link"))
                elif path not in secrets and (kinds.among(shown(path), SECRET) or ALSO_SECRET.search(shown(path))):
                    held.append(path)
                else:
                    paths.append(path)
                    size += found.st_size
    for one in secrets:
        if one not in paths:
            raise KnownError(f"{shown(one)} is none of the files that git would take.", REMEDY)
    return Sending(tuple(paths), size, tuple(held), tuple(left))


def packed(copy: WorkingCopy, sending: Sending, folder: Path) -> WorkspaceCopy:
    """Return these files with their hashes; contents go to the disk of `folder`. Blocks. Raises KnownError."""
    file = None
    try:
        file = contents(folder)
        found = CopyEntries()
        with entry.folder_open(copy.shown) as top:
            for path in sending.paths:
                # What is gone since it was listed, as whoever is at work may do, is not sent.
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    for above in _above(path):
                        if above not in found.entries:
                            _add_folder(found, top, above)
                    _add(found, top, path, file)
        file.flush()
        return WorkspaceCopy(found.entries, file, 0, ())
    except BaseException as error:
        if file is not None:
            file.close()
        if isinstance(error, NotCopied):
            raise KnownError(f"The project cannot be sent: {error.what}.", REMEDY) from error
        if isinstance(error, OSError):
            raise KnownError(f"The project cannot be sent: {error}.", REMEDY) from error
        raise


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


def _above(path: bytes) -> Iterator[bytes]:
    """Yield the folders that `path` is in, from the top."""
    for at, one in enumerate(path):
        if one == ord("/"):
            yield path[:at]


def _add_folder(found: CopyEntries, top: int, path: bytes) -> None:
    with entry.parent(top, path) as (folder, name):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    found.add(path, CopiedEntry(FileKind.FOLDER, stat.S_IMODE(mode) & 0o1777, 0))


def _add(found: CopyEntries, top: int, path: bytes, file: BinaryIO) -> None:
    with entry.parent(top, path) as (folder, name):
        seen = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(seen.st_mode):
            target = os.readlink(name, dir_fd=folder)
            found.add(path, CopiedEntry(FileKind.LINK, 0, seen.st_mtime_ns, target=target))
            return
        with open(os.open(name, entry.READ_FLAGS, dir_fd=folder), "rb", buffering=0) as source:
            now = os.fstat(source.fileno())
            found.make_room(now.st_size)
            digest, size, offset = hashlib.sha256(), 0, file.tell()
            while size <= now.st_size and (piece := source.read(entry.CHUNK)):
                size += len(piece)
                digest.update(piece)
                file.write(piece)
    if size != now.st_size or not stat.S_ISREG(now.st_mode):
        raise NotCopied(f"{shown(path[:100])} changed while it was read")
    found.add(path, entry_of(now.st_mode, now.st_mtime_ns, size=size, sha256=digest.hexdigest(), offset=offset))


def named(paths: Sequence[bytes], most: int) -> str:
    """Return the first `most` of the paths, and how many more there are."""
    first = ", ".join(shown(one) for one in paths[:most])
    return first if len(paths) <= most else f"{first} and {len(paths) - most:,} more"
