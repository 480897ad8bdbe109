"""A project for tests, what programs do in it, and how a tree looks whole."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from runner.workspace.working_copy import WorkingCopy

PROJECT = """
mkdir -p d/sub e; echo a >a; echo b >b; echo 1 >d/1; echo 2 >d/2; echo 3 >d/sub/3; echo x >e/x; ln -s a l; ln -s d ld
ln a hard; mkfifo f; mkdir -m 755 empty; chmod 640 b; printf '#!/bin/sh\\n' >s; chmod 755 s
touch -d '2020-01-01 00:00:00.123456789' a b d/1 e l -h
python3 -c 'import os; os.setxattr("b", "user.k", b"v")'
"""
SET = "import os; os.setxattr('a', 'user.n', b'1'); os.removexattr('b', 'user.k')"
SOCKET = "import socket; socket.socket(socket.AF_UNIX).bind('so')"
NAMES = r"""open(b'n\nl', 'w'); open(b'\xff\xfe', 'w'); open('-rf', 'w'); open('\u202egnp.exe', 'w')"""
LOOK = """import pickle, sys
from tests.workspace.trees import look
sys.stdout.buffer.write(pickle.dumps(look(sys.argv[1])))"""
EXCHANGED = "import ctypes; ctypes.CDLL(None).renameat2(-100, b'a', -100, b'b', 2)"
CASES = {
    "write": "echo n >>a",
    "new": "echo n >n",
    "delete": "rm b",
    "rm -r": "rm -r d",
    "a folder made again": "rm -r d; mkdir d; touch d/new",
    "a folder made again, deeper": "rm -r d/sub; mkdir d/sub; touch d/sub/n",
    "a new folder made again": "mkdir z; touch z/1; rm -r z; mkdir z; touch z/2",
    "folder in place of a file": "rm a; mkdir a; echo 1 >a/1",
    "file in place of a folder": "rm -r d; echo f >d",
    "link in place of a file": "rm a; ln -s b a",
    "link in place of a folder": "rm -r d; ln -s e d",
    "folder in place of a link": "rm ld; mkdir ld; touch ld/1",
    "file in place of a link": "rm l; echo l >l",
    "link elsewhere": "ln -sfn b l",
    "dangling link": "ln -s /nonexistent/x out",
    "file renamed": "mv a c",
    "file with one name renamed": "mv b c",
    "file renamed and written to": "mv b c; echo q >>c",
    "file renamed by its case": "mv b B",
    "file renamed into another folder": "mkdir -p n/m; mv d/1 n/m; mv d/2 e",
    "file renamed, and its name used again": "mv b c; echo q >b",
    "files renamed in a ring": "mv b c; mv s b; mv c s",
    "folder renamed": "mv d g",
    "new folder renamed": "mkdir h; touch h/1; mv h i",
    "renamed over a file": "mv a b",
    "permissions": "chmod 600 a",
    "permissions of a folder": "chmod 700 d",
    "permissions of the top": "chmod 750 .",
    "file closed to all": "chmod 000 b",
    "folder closed to all": "echo q >d/q; chmod 000 d",
    "read-only folder with a new file": "touch d/n; chmod 555 d",
    "time of a file": "touch -d 2021-02-03 a",
    "attributes": f'python3 -c "{SET}"',
    "holes": "truncate -s 8M sp; printf z | dd of=sp bs=1 seek=3000000 conv=notrunc 2>/dev/null",
    "two new hard links": "echo h >h1; ln h1 h2",
    "written by one of two names": "echo w >>hard",
    "pipe": "mkfifo ff",
    "pipe in place of a file": "rm a; mkfifo a",
    "socket": f'python3 -c "{SOCKET}"; echo n >n',
    "rights of the owner": "cp s su; chmod 4755 su",
    "odd names": f'python3 -c "{NAMES}"',
    "empty folder removed": "rmdir empty",
    "deleted and written again": "rm b; echo q >b",
    "written and deleted": "echo q >>b; rm b",
    "exchanged": f'python3 -c "{EXCHANGED}"',
    "everything": "rm -rf ./* .[!.]*",
    "nothing": "true",
}


class Thing(NamedTuple):
    """One entry of a tree, all that a person could see of it."""

    kind: int
    mode: int
    body: bytes | None
    attributes: tuple[tuple[str, bytes], ...]
    modified: int
    holes: bool
    names: tuple[bytes, ...]
    """Of the same file, in the tree."""


def make(folder: Path) -> Path:
    """Make a project at `folder`."""
    folder.mkdir()
    subprocess.run(["bash", "-ec", PROJECT], cwd=folder, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    return folder


def work(copy: WorkingCopy, command: str) -> None:
    """Run a command of the shell in a working copy."""
    words = ("bash", "-c", f'cd "$1" && {{ {command}\n}}', "bash", str(copy.shown))
    subprocess.run(copy.command(words), check=True)


def look(top: Path | str) -> dict[bytes, Thing]:
    """Return everything below `top`, and `top` itself, except the times of folders."""
    found: dict[bytes, os.stat_result] = {}
    whole = os.fsencode(top)
    for folder, folders, files in os.walk(whole):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            found[os.path.relpath(path, whole)] = os.lstat(path)
    found[b"."] = os.lstat(whole)
    names: dict[int, list[bytes]] = {}
    for path, one in found.items():
        if stat.S_ISREG(one.st_mode):
            names.setdefault(one.st_ino, []).append(path)
    return {
        path: _thing(os.path.join(whole, path), one, tuple(sorted(names.get(one.st_ino, ()))))
        for path, one in found.items()
        if not stat.S_ISSOCK(one.st_mode)
    }


def looked_at(copy: WorkingCopy) -> dict[bytes, Thing]:
    """Return the same of a working copy, as a program in it sees it."""
    done = subprocess.run(
        copy.command((sys.executable, "-c", LOOK, str(copy.shown))), check=True, stdout=subprocess.PIPE
    )
    seen: dict[bytes, Thing] = pickle.loads(done.stdout)
    return seen


def _thing(path: bytes, one: os.stat_result, names: tuple[bytes, ...]) -> Thing:
    kind = stat.S_IFMT(one.st_mode)
    body = None
    attributes: list[tuple[str, bytes]] = []
    if stat.S_ISLNK(kind):
        body = os.readlink(path)
    elif stat.S_ISREG(kind) and os.access(path, os.R_OK):
        with open(path, "rb") as file:
            body = file.read()
    if stat.S_ISREG(kind) or (stat.S_ISDIR(kind) and os.access(path, os.R_OK)):
        mine = [name for name in os.listxattr(path) if name.startswith("user.") and "overlay" not in name]
        attributes = [(name, os.getxattr(path, name)) for name in sorted(mine)]
    mode = 0 if stat.S_ISLNK(kind) else stat.S_IMODE(one.st_mode)
    modified = 0 if stat.S_ISDIR(kind) else one.st_mtime_ns
    holes = one.st_size > 1 << 20 and one.st_blocks * 512 < one.st_size // 2
    return Thing(kind, mode, body, tuple(attributes), modified, holes, names)
