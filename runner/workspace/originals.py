"""Originals of a project's files from when a layer was made, where certain: what a merge begins with.

It is known in two ways. A file that a look at the changes found as it was then is kept (`keep`). And of a file that git
follows its index has time, inode and size as they were when git last read it. So the index is kept before the layer is
made, and after it the names of the files that are no longer as it says (`note_differing`). For all others the blob of
the index is the file's content, where nothing changes content on its way (line ends, filters): the sizes tell, the
attributes, and the blob's own hash.

Worked example: `a` is committed, the layer is made, the program writes `a`, the person saves `a`. Whoever looks only
now finds two versions of it; `a` was as the index said when the layer was made, and the blob is what both began with.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.system.plain_file import read_file
from runner.system.private_folder import make_folder
from runner.workspace import entry, git
from runner.workspace.change import MOST_BYTES
from runner.workspace.entry import UnreadableEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from runner.workspace.change import ProjectChange

MOST_KEPT, MOST_KEPT_BYTES = 1000, 64 << 20
"""Files of one working copy that are kept, and their bytes altogether."""
MOST_INDEX = 64 << 20
MOST_ATTRIBUTES = 1 << 16
MOST_NAMED = 1 << 12
"""Bytes of a file that names a folder."""
GIT, INDEX, DIFFERING, OBJECTS = "git", "index", "differing", "objects-at"
KEPT = "originals"
END = b"."
"""Ends the names, so that a list that was not written to its end is none."""
LISTED = expression(rb"(\d{6}) ([0-9a-f]{40}) ([0-3])\t")
"""How `git ls-files --stage` begins an entry: mode, blob, stage."""
DETAILS = expression(rb"  size: (\d+)\tflags: ([0-9a-f]+)")
DETAIL_LINES = 5
"""Lines that `--debug` adds, the last of which has `DETAILS`."""
NOT_LOOKED_AT = 0x8000 | 0x2000_0000 | 0x4000_0000
"""Flags of entries whose file git passes over: assume-unchanged, intent-to-add, skip-worktree."""
CONVERTING = ("filter", "ident", "working-tree-encoding")
"""Attributes by which a file and its blob differ."""


def note_index(folder: Path, project: Path) -> None:
    """Keep the index of the project's repository in `folder`, where it has one. Raises OSError."""
    try:
        own, common = repository(project)
    except OSError:
        return  # none, or one that git could not read either
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        found = os.lstat(own / "index")
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_INDEX:
            return
        git.make_folder_of_git(folder / GIT)
        (folder / GIT / OBJECTS).write_bytes(os.fsencode(common / "objects"))
        with contextlib.suppress(OSError):
            (folder / GIT / "info" / "attributes").write_bytes(
                read_file(common / "info" / "attributes", MOST_ATTRIBUTES)
            )
        descriptor = os.open(own / "index", entry.READ_FLAGS)
        with open(descriptor, "rb") as source:
            found = os.fstat(source.fileno())
            (folder / GIT / INDEX).write_bytes(source.read(MOST_INDEX))
        # By this time git knows which files it has to read once more.
        os.utime(folder / GIT / INDEX, ns=(found.st_mtime_ns, found.st_mtime_ns))


def note_differing(folder: Path, project: Path) -> None:
    """Note which files of the project are not as the kept index says. Raises OSError."""
    if not (folder / GIT / INDEX).exists():
        return
    words = ["diff-files", "--name-only", "-z", "--no-ext-diff", "--ignore-submodules=all"]
    code, said = _git(folder, words, at=project, more={"GIT_WORK_TREE": str(project)})
    if code == 0:
        (folder / GIT / DIFFERING).write_bytes(said + END)


def keep(folder: Path, top: int, since: int, changes: Iterable[ProjectChange]) -> None:
    """Keep the project's files that changes are about and nobody else changed since, for a later merge."""
    kept = folder / KEPT
    have = dict(_kept_already(kept))
    size = sum(have.values())
    for one in changes:
        before = one.before
        if before is None or one.conflict or not one.is_of_text or before.changed > since or _name(one.path) in have:
            continue
        size += before.size
        if len(have) >= MOST_KEPT or size > MOST_KEPT_BYTES:
            return
        with contextlib.suppress(OSError, UnreadableEntry):
            content = read_exactly(top, one.path, before)
            make_folder(kept)
            (kept / _name(one.path)).write_bytes(hashlib.sha256(content).digest() + content)
            have[_name(one.path)] = before.size


def keep_applied(folder: Path, content: Path, changes: Iterable[ProjectChange]) -> None:
    """Keep what the layer has of these changes, which are to be applied: what is done later begins with it."""
    kept = folder / KEPT
    have = dict(_kept_already(kept))
    with entry.folder_open(content) as layer:
        for one in changes:
            hash = one.merged or (one.after.sha256 if one.after is not None and one.text is None else "")
            if not hash or hash in have:
                continue
            with contextlib.suppress(OSError, UnreadableEntry):
                text = _read(layer, one.path)[0]
                if len(have) >= MOST_KEPT or sum(have.values()) + len(text) > MOST_KEPT_BYTES:
                    return
                if len(text) <= MOST_BYTES and hashlib.sha256(text).hexdigest() == hash:
                    make_folder(kept)
                    (kept / hash).write_bytes(text)
                    have[hash] = len(text)


def applied(folder: Path, hash: str) -> bytes | None:
    """Return the content of that SHA-256 that was applied; None where it was not kept. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        text = (folder / KEPT / hash).read_bytes()
        if hashlib.sha256(text).hexdigest() == hash:
            return text
    return None


def texts(folder: Path, paths: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return what these files were when the layer was made, of those where it is known. Raises OSError."""
    found = {}
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            said = (folder / KEPT / _name(path)).read_bytes()
            if hashlib.sha256(said[32:]).digest() == said[:32]:
                found[path] = said[32:]
    return _of_git(folder, [path for path in paths if path not in found]) | found


def read_exactly(top: int, path: bytes, expected: entry.TreeEntry, most: int = MOST_BYTES) -> bytes:
    """Return the content of the very file that `expected` is about, which has at most so many bytes.

    Raises UnreadableEntry and OSError.
    """
    content, now = _read(top, path, most)
    if (now.st_ino, now.st_ctime_ns, now.st_size) != (expected.inode, expected.changed, len(content)):
        raise OSError(f"{path!r} was changed while it was read")
    return content


def read_beginning(top: int, path: bytes, most: int = MOST_BYTES) -> bytes:
    """Return what a file below an open folder begins with, somewhat more than `most` bytes at the most.

    Raises UnreadableEntry and OSError.
    """
    return _read(top, path, most)[0]


def _read(top: int, path: bytes, most: int = MOST_BYTES) -> tuple[bytes, os.stat_result]:
    """Return content and status of a file, of a large one the beginning. Raises UnreadableEntry and OSError."""
    with entry.parent(top, path) as (folder, name), entry.opened(folder, name, entry.READ_FLAGS) as descriptor:
        content = b""
        while len(content) <= most and (piece := os.read(descriptor, entry.CHUNK)):
            content += piece
        return content, os.fstat(descriptor)


def _of_git(folder: Path, paths: Sequence[bytes]) -> dict[bytes, bytes]:
    try:
        *names, end = (folder / GIT / DIFFERING).read_bytes().split(b"\0")
    except FileNotFoundError:
        return {}
    if end != END:
        return {}
    differing = frozenset(names)
    wanted = [os.fsdecode(path) for path in paths if path not in differing]
    if not wanted:
        return {}
    _, said = _git(folder, ["ls-files", "--stage", "-z", "--debug", "--", *wanted])
    blobs = {path: (blob, size) for path, blob, size in _listed(said) if size <= MOST_BYTES}
    converted = _converted(folder, [*blobs])
    found = {}
    for path, (blob, size) in blobs.items():
        if path in converted:
            continue
        code, content = _git(folder, ["cat-file", "blob", blob])
        if code == 0 and len(content) == size and _hash(content) == blob:
            found[path] = content
    return found


def _listed(said: bytes) -> Iterator[tuple[bytes, str, int]]:
    """Yield path, blob and size of each file that `git ls-files --stage -z --debug` lists and looks at."""
    head, *rest = said.split(b"\0")
    for piece in rest:
        *lines, following = piece.split(b"\n", DETAIL_LINES)
        begun, details = LISTED.match(head), DETAILS.fullmatch(lines[-1] if lines else b"")
        is_file = begun and begun[1].startswith(b"100") and begun[3] == b"0"
        if begun and details and is_file and not int(details[2], 16) & NOT_LOOKED_AT:
            yield head[begun.end() :], begun[2].decode(), int(details[1])
        head = following


def _converted(folder: Path, paths: Sequence[bytes]) -> frozenset[bytes]:
    """Return those of the paths whose files git keeps in another form; all of them where it does not say."""
    if not paths:
        return frozenset()
    given = b"".join(path + b"\0" for path in paths)
    code, said = _git(folder, ["check-attr", "--cached", "-z", "--stdin", *CONVERTING], given=given)
    parts = said.split(b"\0")[:-1]
    rows = [*zip(parts[::3], parts[2::3], strict=True)] if len(parts) % 3 == 0 else []
    if code or len(rows) != len(paths) * len(CONVERTING):
        return frozenset(paths)
    return frozenset(path for path, value in rows if value not in (b"unspecified", b"unset"))


def _git(
    folder: Path, words: list[str], *, given: bytes = b"", at: Path | None = None, more: dict[str, str] | None = None
) -> tuple[int, bytes]:
    """Run git on the kept index and the project's objects."""
    own = folder / GIT
    objects = os.fsdecode((own / OBJECTS).read_bytes())
    known = {"GIT_INDEX_FILE": str(own / INDEX), "GIT_OBJECT_DIRECTORY": objects}
    return git.run(own, words, given=given, at=at, more={**known, **(more or {})})


def repository(project: Path) -> tuple[Path, Path]:
    """Return the folder of git's that the project has, and the one that it shares with others. Raises OSError."""
    own = project / ".git"
    if own.is_file():
        said = read_file(own, MOST_NAMED)
        if not said.startswith(b"gitdir: "):
            raise FileNotFoundError(own)
        own = project / os.fsdecode(said.removeprefix(b"gitdir: ").rstrip(b"\n"))
    try:
        common = own / os.fsdecode(read_file(own / "commondir", MOST_NAMED).rstrip(b"\n"))
    except FileNotFoundError:
        common = own
    return own, common


def _kept_already(kept: Path) -> Iterable[tuple[str, int]]:
    with contextlib.suppress(FileNotFoundError), os.scandir(kept) as found:
        for one in found:
            yield one.name, one.stat().st_size


def _name(path: bytes) -> str:
    return hashlib.sha256(path).hexdigest()


def _hash(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
