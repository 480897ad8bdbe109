"""Unpacks packages in a sandbox before code starts, in a process of its own that executes nothing of them.

What goes where was decided outside; here each archive is held against its hash, and nothing is written over.
"""

import hashlib
import io
import os
import shutil
import sys
import zipfile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STEP = 1 << 18
NO_SPACE = (27, 28, 122)  # EFBIG, ENOSPC, EDQUOT
FULL = 3
"""Status where there is no room."""


def unpack(spec: "dict[str, Any]", workspace: str, source: int) -> None:
    """Unpack the archives that can be read from `source`, one after the other. Raises OSError and ValueError."""
    folder = os.path.join(workspace, spec["folder"])
    if spec["clean"]:
        _remove(folder)
    for size, sha256, members in spec["archives"]:
        data = _exactly(source, size)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ValueError("a file has another hash than the one that was approved")
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name, place, executable in members:
                _write(folder, place, archive.read(name), executable)
    for place, text in spec["commands"]:
        _write(folder, place, text.encode(), True)


def _remove(folder: str) -> None:
    """Remove what code has left under the name of the folder, which is no folder of Assent's."""
    if os.path.islink(folder) or os.path.isfile(folder):
        os.unlink(folder)
    elif os.path.isdir(folder):
        shutil.rmtree(folder)
    os.mkdir(folder)


def _write(folder: str, place: str, data: bytes, executable: bool) -> None:
    parts = place.split("/")
    if not {"", ".", ".."}.isdisjoint(parts):
        raise ValueError(f"a file would be outside the folder of the packages: {place[:100]!r}")
    path = os.path.join(folder, *parts)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o755 if executable else 0o644), "wb") as file:
        file.write(data)


def _exactly(source: int, size: int) -> bytearray:
    data = bytearray(size)
    view, have = memoryview(data), 0
    while have < size:
        piece = os.read(source, min(STEP, size - have))
        if not piece:
            raise ValueError("the packages did not arrive")
        view[have : have + len(piece)] = piece
        have += len(piece)
    return data


def main(spec: "dict[str, Any]", workspace: str, source: int) -> int:
    """Unpack, and return the status for the process; what went wrong is said on standard error."""
    try:
        unpack(spec, workspace, source)
    except Exception as error:
        sys.stderr.write(f"The packages could not be installed: {error}\n")
        sys.stderr.flush()
        return FULL if isinstance(error, OSError) and error.errno in NO_SPACE else 1
    return 0
