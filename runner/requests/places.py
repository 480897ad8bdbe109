"""The real paths of files that a client's tool names: links followed, by the console and not the agent.

What the console and a client see differs below /proc and /dev/fd, of which each program has its own; a path that leads
through them is refused. Between the look and what the client does lies the time that a person takes, so that the same
is looked up again before the client gets its yes.
"""

from __future__ import annotations

import asyncio
import os
import posixpath
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError, Refused
from runner.model.request import Place
from runner.system.tasks import in_daemon

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.model.request import ClientTool
    from runner.model.submission import Submission

PATIENCE = 5.0
"""Seconds for which a disk may think about it: a file system of the agent's own may never answer."""
MOST_AT_ONCE = 8
MOST_LINKS = 40
"""As Linux has it."""
OWN_TO_EACH = ("/proc", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr")
SLOW = "The disk does not say where this file is."
_turns = threading.BoundedSemaphore(MOST_AT_ONCE)


async def on_disk(wanted: Submission) -> Submission:
    """Return a submission whose files are where the disk has them. Raises KnownError and Refused."""
    tool = wanted.client
    if tool is None or not wanted.files:
        return wanted
    root, places = await _asked(tool, wanted.files)
    files = tuple(dict.fromkeys(place.real for place in places))
    return replace(wanted, files=files, client=replace(tool, root=root, places=places))


async def require_unmoved(tool: ClientTool) -> None:
    """Raise KnownError where a file is no longer where it was when the question was asked."""
    if not tool.places:
        return
    named = tuple(dict.fromkeys(place.named for place in tool.places))
    if await _asked(tool, named) != (tool.root, tool.places):
        raise KnownError("A file has become a link, or leads elsewhere, since the question was asked.", "Ask again.")


async def _asked(tool: ClientTool, named: Sequence[str]) -> tuple[str, tuple[Place, ...]]:
    if not _turns.acquire(blocking=False):
        raise KnownError(SLOW, "Nothing was run. Call again later.")

    def work() -> tuple[str, tuple[Place, ...]]:
        try:
            return look(tool, named)
        finally:
            _turns.release()

    try:
        return await asyncio.wait_for(in_daemon("look for files", work), PATIENCE)
    except TimeoutError:
        raise KnownError(SLOW, "Nothing was run. Name a file on a disk that answers.") from None


def look(tool: ClientTool, named: Sequence[str]) -> tuple[str, tuple[Place, ...]]:
    """Return the folder without links, and where each of the files is. Raises Refused."""
    folder = posixpath.normpath(posixpath.join("/", tool.folder))
    root = real_path(folder) if tool.folder else ""
    found = []
    for name in named:
        whole = posixpath.join("/", tool.base or tool.folder, name)
        plain = posixpath.normpath(whole)
        expected = plain if not plain.startswith(folder + "/") or not root else root.rstrip("/") + plain[len(folder) :]
        meant = {plain: expected}
        # Each may be meant: `link/..` is another place in the text than on the disk, and some clients know `~`.
        if ".." in whole.split("/"):
            meant[whole] = expected
        if name.startswith("~"):
            home = posixpath.normpath(posixpath.expanduser(name))
            meant[home] = home
        reals = {real_path(path): wanted for path, wanted in meant.items() if path.startswith("/")}
        found += [Place(name, real, real != wanted) for real, wanted in reals.items()]
    return root, tuple(found)


def real_path(path: str) -> str:
    """Return an absolute path with all links followed, whether or not there is anything. Raises Refused."""
    rest = path.split("/")[::-1]
    at, links = "/", 0
    while rest:
        part = rest.pop()
        if part in ("", "."):
            continue
        if part == "..":
            at = posixpath.dirname(at)
            continue
        here = posixpath.join(at, part)
        if here in OWN_TO_EACH:
            raise Refused(f"A file leads through {here}, of which each program has its own.", "Name it directly.")
        try:
            target = os.readlink(here)
        except (OSError, ValueError):
            at = here
            continue
        links += 1
        if links > MOST_LINKS:
            raise Refused("A file is a link that leads in a circle.", "Name the file itself.")
        rest += target.split("/")[::-1]
        at = "/" if target.startswith("/") else at
    return at
