"""A layer that the kernel lays over the project (overlayfs): ready at once, whatever the size of the project.

Mounted by an ordinary account in a user namespace of its own, which needs Linux 5.11 and `userxattr`. The kernel writes
into the folder `up` what differs: whole files, and three kinds of marks. A name that was removed is a character device
0/0, or an empty file with the attribute `user.overlay.whiteout`; a folder that stands in place of what was there has
`user.overlay.opaque`. Worked example: `rm -r d; mkdir d; touch d/new` leaves `up/d` with that attribute, and
`up/d/new`; everything else that the project has below `d` is deleted.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.workspace import entry
from runner.workspace.entry import SpecialEntry, TreeKind
from runner.workspace.reading import LayerReading

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from runner.workspace.change import ProjectChanges

NAME = "overlay"
UP, WORK, LOWER, MERGED = "up", "work", "lower", "merged"
WHITEOUT, OPAQUE, ORIGIN = "user.overlay.whiteout", "user.overlay.opaque", "user.overlay.origin"
STRANGE = frozenset(["user.overlay.redirect", "user.overlay.metacopy"])
"""Marks that `userxattr` switches off: where one is found nothing can be said about the layer."""
TRY_SECONDS = 20
MOUNT = (
    'cd "$1" && mount --bind "$2" lower'
    " && mount -t overlay assent -o lowerdir=lower,upperdir=up,workdir=work,userxattr merged"
    ' && shift 2 && exec "$@"'
)
"""Relative names: a colon or comma in a path would divide the options."""


def prepare(folder: Path, project: Path) -> None:
    """Make the folders of a layer in `folder`, and try to mount it once. Raises KnownError where that is refused."""
    for name in (UP, WORK, LOWER, MERGED):
        (folder / name).mkdir(mode=0o700)
    # The mode of the top is the project's as seen in the layer.
    os.chmod(folder / UP, stat.S_IMODE(project.stat().st_mode))
    try:
        tried = subprocess.run(
            command(folder, project, ("true",)), capture_output=True, timeout=TRY_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KnownError(f"The project cannot be overlaid here: {error}") from error
    if tried.returncode:
        said = tried.stderr.decode("utf-8", "replace").strip()
        raise KnownError(f"The project cannot be overlaid here: {said}")


def command(folder: Path, project: Path, program: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that starts `program` where the project with its layer is at `shown(folder)`."""
    unshare = ("unshare", "--mount", "--propagation", "private")
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return (*unshare, *user, "--", "/bin/sh", "-c", MOUNT, "assent", str(folder), str(project), *program)


def shown(folder: Path) -> Path:
    """Return where the project with its layer is, in the namespace of `command`."""
    return folder / MERGED


def changes(folder: Path, project: int, since: int, ours: Collection[tuple[int, int]]) -> ProjectChanges:
    """Return what the layer changes in the open folder `project`. Raises KnownError and OSError."""
    reading = LayerReading(project, since, ours)
    top = os.open(folder / UP, entry.FOLDER_FLAGS)
    try:
        reading.of_tops(top)
        _walk(reading, top, os.dup(project), b"", moved=False)
    finally:
        os.close(top)
    return reading.changes()


def content(folder: Path) -> Path:
    """Return the folder that has what the layer writes, by path."""
    return folder / UP


def remove(folder: Path) -> None:
    """Remove what the layer consists of. Raises OSError."""
    for name in (UP, WORK):
        _remove_tree(folder / name)


def _walk(reading: LayerReading, up: int, low: int | None, prefix: bytes, *, moved: bool) -> None:
    """Note what the folder `up` of the layer says about the same folder of the project, which is closed at the end."""
    try:
        with os.scandir(up) as listed:
            names = sorted([(os.fsencode(one.name), one.is_file(follow_symlinks=False)) for one in listed])
        for name, is_file in names:
            path = prefix + b"/" + name if prefix else name
            if is_file and _file_at_once(reading, up, low, name, path, moved=moved):
                continue
            found = entry.stat_of(up, name)
            if found is None:
                continue
            try:
                _of(reading, up, low, name, found, path, moved=moved)
            except OSError:
                if not reading.is_moving(up, name, found, path):
                    raise
    finally:
        if low is not None:
            os.close(low)


def _of(
    reading: LayerReading, up: int, low: int | None, name: bytes, found: os.stat_result, path: bytes, *, moved: bool
) -> None:
    """Note what the layer says about one name of a folder, and about everything below it."""
    with entry.readable(up, name, found):
        if stat.S_ISREG(found.st_mode):
            _file(reading, up, low, name, found, path, moved=moved)
            return
        marks = _marks(up, name, found)
        _check(marks)
        removed = _is_removed(found)
        opaque = marks.get(OPAQUE) == b"y" or not stat.S_ISDIR(found.st_mode) or removed
        if low is not None:
            reading.of_project(low, name, path, below=opaque, moved=moved)
        if removed:
            return
        one = reading.of_layer(up, name, found, path, expected=ORIGIN in marks)
        if one is not None and one.kind is TreeKind.FOLDER:
            with entry.opened(up, name, entry.FOLDER_FLAGS) as inner:
                below, put = (None, moved) if opaque else _below(reading, low, name, moved=moved)
                _walk(reading, inner, below, path, moved=put)


def _file_at_once(reading: LayerReading, up: int, low: int | None, name: bytes, path: bytes, *, moved: bool) -> bool:
    """Note what a file of the layer says; return whether that is done.

    False where it cannot be opened, or is no file any more: then it is to be looked at closely.
    """
    try:
        _file(reading, up, low, name, None, path, moved=moved)
    except (SpecialEntry, OSError):
        return False
    return True


def _file(
    reading: LayerReading,
    up: int,
    low: int | None,
    name: bytes,
    found: os.stat_result | None,
    path: bytes,
    *,
    moved: bool,
) -> None:
    """Note what a file of the layer says, which is opened once."""
    marks: set[str] = set()
    one = reading.read_layer(up, name, found, path, marks)
    if marks:
        _check(marks)
    size = entry.NO_SIZE if one is None else one.size
    if low is not None and ORIGIN in marks:
        reading.of_project_file(low, name, path, moved=moved, size=size)
    elif low is not None:
        reading.of_project(low, name, path, below=True, moved=moved, size=size)
    if one is not None and WHITEOUT not in marks:
        reading.note_layer(path, one, expected=ORIGIN in marks)


def _check(marks: Collection[str]) -> None:
    if not STRANGE.isdisjoint(marks):
        raise KnownError("The layer has marks that Assent does not understand; nothing of it is applied.")


def _below(reading: LayerReading, low: int | None, name: bytes, *, moved: bool) -> tuple[int | None, bool]:
    """Return the folder of the project, open, and whether it was put there meanwhile; None where it has none."""
    if low is None:
        return None, moved
    try:
        inner = os.open(name, entry.FOLDER_FLAGS, dir_fd=low)
    except OSError:
        return None, moved
    return inner, moved or reading.is_moved(entry.folder_entry(inner))


def _is_removed(found: os.stat_result) -> bool:
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == 0


def _marks(up: int, name: bytes, found: os.stat_result) -> dict[str, bytes]:
    """Return the attributes by which the kernel marked a folder."""
    if not stat.S_ISDIR(found.st_mode):
        return {}
    try:
        with entry.opened(up, name, entry.READ_FLAGS) as descriptor:
            names = [one for one in os.listxattr(descriptor) if one.startswith(entry.OWN_ATTRIBUTE)]
            return {one: os.getxattr(descriptor, one) for one in names}
    except entry.UnreadableEntry:
        return {}


def _remove_tree(top: Path) -> None:
    """Remove a folder whatever the permissions of what is in it; the kernel leaves one of mode 000."""
    if not top.is_symlink() and top.is_dir():
        for folder, names, _ in os.walk(top):
            os.chmod(folder, 0o700)
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
        shutil.rmtree(top)
