"""A layer that is a copy of the project, for machines that refuse an overlay: slower to make, the same afterwards.

What the copy looked like when it was made is kept beside it: inode and time of each entry. No program can set that
time (`ctime`), so what has both as they were was not touched and is not read again. A further name that a program gave
to an old file (hard link) becomes a file of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.workspace import entry
from runner.workspace.reading import LayerReading

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from runner.workspace.change import ProjectChanges

NAME = "copy"
COPY, AS_MADE = "copy", "copy.json"

Made = dict[str, tuple[int, int]]
"""Path, as the hexadecimal digits of its bytes, -> inode and time."""


def prepare(folder: Path, project: Path) -> None:
    """Copy `project` into `folder`. Raises KnownError where that fails."""
    (folder / COPY).mkdir(mode=0o700)
    words = ["cp", "--archive", "--reflink=auto", "--", f"{project}/.", str(folder / COPY)]
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
        raise KnownError(f"The project could not be copied: {said}", "Free disk space, or choose a smaller folder.")
    made = {path.hex(): (found.st_ino, found.st_ctime_ns) for path, found in _walk(folder / COPY)}
    (folder / AS_MADE).write_text(json.dumps(made), "utf-8")


def command(folder: Path, project: Path, program: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that starts `program` where the copy is at `shown(folder)`: the same."""
    return program


def shown(folder: Path) -> Path:
    return folder / COPY


def changes(folder: Path, project: int, since: int, ours: Collection[tuple[int, int]]) -> ProjectChanges:
    """Return what the copy changes in the open folder `project`. Raises OSError and ValueError."""
    made: Made = {path: tuple(both) for path, both in json.loads((folder / AS_MADE).read_text("utf-8")).items()}
    reading = LayerReading(project, since, ours)
    top = os.open(folder / COPY, entry.FOLDER_FLAGS)
    try:
        reading.of_tops(top)
        for path, found in _walk(folder / COPY):
            was = made.pop(path.hex(), None)
            if was == (found.st_ino, found.st_ctime_ns):
                continue
            reading.of_project_at(path, size=found.st_size if stat.S_ISREG(found.st_mode) else entry.NO_SIZE)
            try:
                with entry.parent(top, path) as (inner, name):
                    reading.of_layer(inner, name, found, path, expected=was is not None)
            except OSError:
                if not reading.is_moving(top, path, found, path):
                    raise
        gone = {bytes.fromhex(path) for path in made}
        for path in gone:
            if path.rpartition(b"/")[0] not in gone:
                reading.of_project_at(path, below=True)
    finally:
        os.close(top)
    return reading.changes()


def content(folder: Path) -> Path:
    return folder / COPY


def remove(folder: Path) -> None:
    """Remove the copy. Raises OSError."""
    top = folder / COPY
    if top.is_dir():
        for path, _ in _walk(top):
            one = os.fsencode(top) + b"/" + path
            if os.path.isdir(one) and not os.path.islink(one):
                os.chmod(one, 0o700)
        shutil.rmtree(top)
    (folder / AS_MADE).unlink(missing_ok=True)


def _walk(top: Path) -> Iterator[tuple[bytes, os.stat_result]]:
    """Yield everything below `top`, folders before what is in them."""
    waiting = [b""]
    while waiting:
        prefix = waiting.pop()
        # A program that is still at work may take away what was there a moment ago.
        with (
            contextlib.suppress(FileNotFoundError, NotADirectoryError),
            os.scandir(os.path.join(os.fsencode(top), prefix)) as found,
        ):
            for one in found:
                path = prefix + b"/" + one.name if prefix else one.name
                with contextlib.suppress(FileNotFoundError):
                    yield path, one.stat(follow_symlinks=False)
                    if one.is_dir(follow_symlinks=False):
                        waiting.append(path)
