"""A sandbox of this machine that outlives its runs: one folder, one user, and no process between two runs (spec X5)."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.workspace import WORKSPACE
from runner.sandbox import files
from runner.sandbox.local import copying, leftovers
from runner.sandbox.local.occupied import Uncounted, occupied
from runner.sandbox.local.run import LastingWorkspace
from runner.sandbox.room import most_files
from runner.system.removal import remove

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from runner.model.request import Limits
    from runner.model.result import Usage
    from runner.sandbox.contract import FileSlice, FolderListing, Job
    from runner.sandbox.local.run import LocalRun
    from runner.sandbox.workspace_copy import WorkspaceCopy

    Begin = Callable[[Job, Callable[[Usage], None], LastingWorkspace], Awaitable[LocalRun]]

TEMPORARY = "private /tmp in memory, limited in size"
WORKSPACE_FOLDER = "workspace"
KEPT = "own /workspace on disk, kept between runs, its size looked at every second"


class LocalSession:
    """A kept sandbox: its folder and the run in it."""

    def __init__(
        self, root: Path, limits: Limits, identity: int | None, begin: Begin, protections: tuple[str, ...]
    ) -> None:
        """Create the folder; `begin` starts a job in it. Raises OSError."""
        self.protections = protections
        self._limits = limits
        self._begin = begin
        self._folder = root / leftovers.new_name()
        self._run: LocalRun | None = None
        self._closed = False
        self._copying = asyncio.Lock()
        """Held while the folder is copied, put back or removed."""
        # Nobody but Assent gets to the workspace from outside, whatever the code makes of its permissions.
        self._folder.mkdir(mode=0o700)
        workspace = self._folder / WORKSPACE_FOLDER
        workspace.mkdir(mode=0o755)
        if identity is not None:
            os.chown(workspace, identity, identity)
        self._place = LastingWorkspace(str(workspace), identity)

    @property
    def alive(self) -> bool:
        return not self._closed

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> LocalRun:
        self._check()
        job = replace(job, limits=within(job.limits, self._limits))
        self._run = await self._begin(job, measured, self._place)
        return self._run

    async def write(self, path: str, data: bytes, *, executable: bool) -> None:
        self._check()
        await asyncio.to_thread(self._write, path, data, executable)

    async def read(self, path: str, offset: int, most: int) -> FileSlice:
        self._check()
        return await asyncio.to_thread(files.read, self._place.workspace, path, offset, most)

    async def files(self, path: str) -> FolderListing:
        self._check()
        return await asyncio.to_thread(files.listing, self._place.workspace, path)

    async def copy(self, folder: Path, left: tuple[str, ...]) -> WorkspaceCopy:
        async with self._copying:
            self._check()
            return await asyncio.to_thread(copying.copy, self._place.workspace, folder, left, lambda: self._closed)

    async def put_back(self, copy: WorkspaceCopy, folder: Path, left: tuple[str, ...]) -> None:
        async with self._copying:
            self._check()
            workspace = self._folder / WORKSPACE_FOLDER
            await asyncio.to_thread(copying.put_back, workspace, copy, left, self._place.identity)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._run is not None:
            self._run.stop("The sandbox was destroyed.")
            await self._run.ended()
        # What cannot be removed is tried again, and reported, when Assent starts the next time.
        async with self._copying:
            await asyncio.to_thread(remove, self._folder)

    def _check(self) -> None:
        """Raise KnownError where the sandbox was removed."""
        if self._closed:
            raise gone()

    def _write(self, path: str, data: bytes, executable: bool) -> None:
        try:
            taken = occupied(self._place.workspace, most_files(self._limits)).size
        except (Uncounted, OSError) as why:
            raise KnownError(
                f"There is no room for {path}: what the sandbox holds cannot be counted. {why}.",
                "Remove such folders by running code, or create a new sandbox.",
            ) from why
        if taken + len(data) > self._limits.disk_mb << 20:
            raise KnownError(
                f"There is no room for {path}: the sandbox may hold {self._limits.disk_mb} MB.", "Remove files first."
            )
        files.write(self._place.workspace, path, data, executable=executable, owner=self._place.identity)


def kept(protections: tuple[str, ...]) -> tuple[str, ...]:
    """Return what protects a run in a workspace that is kept, of all that protects one that goes with its run."""
    return (*(one for one in protections if WORKSPACE not in one), TEMPORARY, KEPT)


def gone() -> KnownError:
    return KnownError("This sandbox is gone.", "Create a new one.")


def within(limits: Limits, session: Limits) -> Limits:
    """Return the limits of one run: time and output are its own, all others those of the session."""
    return replace(session, seconds=limits.seconds, output_bytes=limits.output_bytes)
