"""Copies what is the person's into a layer, and moves what stays of an earlier one: the layer's links lead nowhere."""

from __future__ import annotations

import contextlib
import fnmatch
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from runner.system.plain_file import read_file
from runner.system.private_folder import make_folder
from runner.workspace import entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_COPIED = 64 << 20
"""Bytes of one folder or file outside; a larger one is shown in its place instead."""
MOST_ENTRIES = 20_000
"""The same in files: a link that leads in a circle ends here too."""
NO_LINK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def move(old: int, path: str, after: Path) -> None:
    """Move a folder or plain file of a layer to the same place of another, where nothing may stand."""
    try:
        with entry.parent(old, os.fsencode(path)) as (folder, name):
            found = entry.stat_of(folder, name)
            if found is None or not (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
                return
            target = after / path
            make_folder(target.parent)
            if os.path.lexists(target):
                return
            with entry.readable(folder, name, found), entry.folder_open(target.parent) as there:
                if stat.S_ISDIR(found.st_mode):
                    os.chmod(name, 0o700, dir_fd=folder)
                os.rename(name, name, src_dir_fd=folder, dst_dir_fd=there)
    except (FileNotFoundError, NotADirectoryError, PermissionError, entry.UnreadableEntry):
        return


def matching(real: Path, pattern: str) -> list[str]:
    """Return the paths below the folder `real` that a pattern names."""
    return [os.path.relpath(found, real) for found in real.glob(pattern)] if real.is_dir() else []


def matching_inside(top: int, pattern: str, before: str = "") -> Iterator[str]:
    """Give the paths below an open folder that a pattern names, following no link."""
    first, _, rest = pattern.partition("/")
    for name in sorted(os.listdir(top)) if re.search(r"[*?[]", first) else [first]:
        if not fnmatch.fnmatchcase(name, first):
            continue
        path = os.path.join(before, name)
        if not rest:
            if entry.stat_of(top, os.fsencode(name)) is not None:
                yield path
            continue
        with contextlib.suppress(OSError), entry.folder_below(name, top) as inner:
            yield from matching_inside(inner, rest, path)


def is_large(folder: Path) -> bool:
    size = count = 0
    for top, _, names in os.walk(folder, followlinks=True):
        count += 1
        for name in names:
            count += 1
            with contextlib.suppress(OSError):
                size += os.stat(os.path.join(top, name)).st_size
            if size > MOST_COPIED or count > MOST_ENTRIES:
                return True
        if count > MOST_ENTRIES:
            return True
    return False


def copy_tree(real: Path, target: Path, instead: Mapping[Path, bytes]) -> None:
    make_folder(target)
    for one in sorted(real.iterdir()):
        with contextlib.suppress(FileNotFoundError, PermissionError):
            if one.is_dir():
                copy_tree(one, target / one.name, instead)
            elif one.is_file():
                copy_file(one, target / one.name, instead)


def copy_file(real: Path, target: Path, instead: Mapping[Path, bytes]) -> None:
    make_folder(target.parent)
    data = instead.get(Path(os.path.realpath(real)))
    # Executable scripts stay so; the rest is the owner's alone.
    mode = 0o700 if real.stat().st_mode & stat.S_IXUSR else 0o600
    write(target, read_file(real, MOST_COPIED) if data is None else data, mode)


def write(target: Path, data: bytes, mode: int) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with os.fdopen(descriptor, "wb") as out:
        out.write(data)


def read_real(real: Path, most: int) -> bytes | None:
    """Return a file of the person's; None where there is none that can be read."""
    try:
        return read_file(real, most)
    except OSError:
        return None


def read_inside(top: Path, inside: str, most: int) -> bytes | None:
    """Return a plain file of a layer; None for anything else."""
    try:
        with (
            entry.folder_open(top) as folder,
            entry.parent(folder, os.fsencode(inside)) as (there, name),
            entry.readable(there, name),
            entry.opened(there, name, NO_LINK) as descriptor,
        ):
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > most:
                return None
            with os.fdopen(os.dup(descriptor), "rb") as file:
                return file.read(most)
    except (OSError, entry.UnreadableEntry):
        return None
