"""The common part of every start of bubblewrap: the system as it shows it, what it is handed, its first process."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.sandbox.local.group import NOT_ENTERED
from runner.system import installed

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

AGAIN = "Press Run again under Doctor: it looks whether groups can still be made."
REMEDY = "Install bubblewrap (package `bubblewrap`) and allow unprivileged user namespaces."
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
"""Folders that every sandbox shows read-only."""
ALL_ENTER = stat.S_IROTH | stat.S_IXOTH


def closed_to_others(top: str) -> list[str]:
    """Return the options that hide what only root may read, from a program that is started by root."""
    options: list[str] = []
    folders = [top] if os.geteuid() == 0 else []
    while folders:
        for path, mode in _folders_and_files(folders.pop()):
            if not stat.S_ISDIR(mode):
                options += () if mode & stat.S_IROTH else ("--ro-bind", "/dev/null", path)
            elif mode & ALL_ENTER == ALL_ENTER:
                folders.append(path)
            else:
                options += ["--tmpfs", path, "--remount-ro", path]
    return options


def _folders_and_files(folder: str) -> Iterator[tuple[str, int]]:
    """Yield path and mode of each folder and regular file in `folder`; none where it cannot be read, as by os.walk."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for one in entries:
            if one.is_dir(follow_symlinks=False) or one.is_file(follow_symlinks=False):  # without looking at links
                with contextlib.suppress(FileNotFoundError):
                    yield one.path, one.stat(follow_symlinks=False).st_mode


def pipe(reader: contextlib.ExitStack, writer: contextlib.ExitStack) -> tuple[int, int]:
    """Return a pipe whose ends are closed with the two stacks."""
    ends = os.pipe()
    reader.callback(os.close, ends[0])
    writer.callback(os.close, ends[1])
    return ends


def in_memory(data: bytes, opened: contextlib.ExitStack) -> int:
    fd = os.memfd_create("file")
    opened.callback(os.close, fd)
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def first_process(reader: int, process: subprocess.Popen[bytes]) -> int:
    """Return the id of the first process inside, as bubblewrap reports it.

    Raises KnownError when it fails before that.
    """
    text = b""
    while b"}" not in text:
        if not (piece := os.read(reader, 4096)):
            _, complaint = process.communicate()
            said = complaint.decode("utf-8", "replace").strip() if complaint else "it says why above"
            if process.returncode == NOT_ENTERED:
                raise KnownError(f"The run could not be put into its control group: {said}", AGAIN)
            raise KnownError(f"bubblewrap failed: {said}", REMEDY)
        text += piece
    return int(json.loads(text)["child-pid"])


def system_folders() -> list[str]:
    """Return the system's folders, read-only; with links in the places that are links where /usr is merged."""
    options: list[str] = []
    for path in SYSTEM:
        if os.path.islink(path):
            options += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            options += ["--ro-bind", path, path]
    own = installed.modules()
    if own is not None and own.is_relative_to("/usr"):
        # What Assent carries for itself is not the system's: code must not come to depend on it.
        options += ["--perms", "0755", "--tmpfs", str(own), "--remount-ro", str(own)]
    return options
