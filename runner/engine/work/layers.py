"""Approved code over the working copy of a program at work: the session is asked where it is, and outlasts every run.

An approval is for a working copy by its name and project. Whether its program is still at work is asked when the call
comes and again when the run begins; from then on the end of the program ends the run. The session itself waits for that
before its changes are looked at (`runner/work/session.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.model.request import Isolation, WorkPlace
from runner.sandbox.contract import NotPermitted, OverProject, ProjectLayer
from runner.sandbox.file_names import shown
from runner.work import control
from runner.workspace import copied, overlay, sending
from runner.workspace.working_copy import named

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from runner.model.sent_files import SentFiles
    from runner.model.submission import SessionDoor
    from runner.sandbox.contract import Sandbox
    from runner.sandbox.workspace_copy import WorkspaceCopy
    from runner.system.places import Places
    from runner.workspace.working_copy import WorkingCopy

ENDED = "The program at work has ended, so nothing runs over its working copy any more."
MOST_NAMED = 5
"""Paths that a sentence names."""
ELSEWHERE = "Run it in the program's own shell, which is contained as well, or choose the local sandbox in Settings."


@dataclass(frozen=True, slots=True)
class OpenLayer:
    """A layer for the time of one run."""

    layer: ProjectLayer
    session: int
    """Descriptor of the first process of the rings."""

    def require(self) -> None:
        """Raise NotPermitted where the program at work has ended."""
        if _has_ended(self.session):
            raise NotPermitted(ENDED, "Nothing was run.")


class SessionLayers:
    """Every method is called on the engine's loop."""

    def __init__(self, places: Places) -> None:
        self._places = places

    async def known(self, door: SessionDoor) -> WorkPlace:
        """Return the working copy of the program at work that a call comes from. Raises KnownError."""

        def ask() -> WorkPlace:
            copy = named(self._places.work, door.name)
            said = control.order(self._places.runtime, door.name, "asked", key=door.key)
            if said.get("project") != str(copy.project):
                raise KnownError("This call does not come from that program at work.")
            return WorkPlace(copy.name, str(copy.project))

        return await asyncio.to_thread(ask)

    async def protections(self, sandbox: Sandbox, work: WorkPlace) -> tuple[str, ...]:
        """Return what protects the machine from code of this sandbox over a working copy.

        Raises KnownError where the program at work has ended, or where this sandbox cannot be shown its project.
        """
        copy = await asyncio.to_thread(self._copy, work)
        return await able(sandbox).protections_over(mounted=copy.way == overlay.NAME)

    async def sends(self, isolation: Isolation, work: WorkPlace) -> SentFiles | None:
        """Return what a run over a working copy would send to another machine; None for a sandbox of this one.

        Takes as long as all of it takes to be read. Raises KnownError.
        """
        if isolation is not Isolation.E2B:
            return None
        return await asyncio.to_thread(lambda: _planned(self._copy(work)))

    @contextlib.asynccontextmanager
    async def entered(
        self, work: WorkPlace, ended: Callable[[], object], sends: SentFiles | None = None
    ) -> AsyncIterator[OpenLayer]:
        """Hold the working copy for one run; `ended` is called when its program ends meanwhile. Raises KnownError.

        `sends` is what was approved to leave this machine.
        """
        opened = await asyncio.to_thread(self._open, work, sends)
        loop = asyncio.get_running_loop()

        def tell() -> None:
            loop.remove_reader(opened.layer.session)
            ended()

        try:
            loop.add_reader(opened.layer.session, tell)
            yield opened.layer
        finally:
            loop.remove_reader(opened.layer.session)
            opened.kept.close()

    def _open(self, work: WorkPlace, sends: SentFiles | None) -> _Opened:
        with contextlib.ExitStack() as kept:
            copy = self._copy(work)
            try:
                # Before it is asked: the session waits for whoever holds this, and says nothing more once it waits.
                kept.enter_context(copy.run_over())
                said = control.order(self._places.runtime, work.name, "layer")
                session = os.pidfd_open(int(said["root"]))
                kept.callback(os.close, session)
                layer = _opened(copy, said, kept, sends)
                # Numbers of processes are used again: whoever says the same now was there all the time.
                if control.order(self._places.runtime, work.name, "layer") != said or _has_ended(session):
                    raise KnownError(ENDED)
            except (OSError, KeyError, TypeError, ValueError) as error:
                raise KnownError(f"This working copy cannot be shown to a sandbox: {error}.", ELSEWHERE) from error
            return _Opened(OpenLayer(layer, session), kept.pop_all())

    def _copy(self, work: WorkPlace) -> WorkingCopy:
        try:
            copy = named(self._places.work, work.name)
        except KnownError as error:  # with nothing changed it goes with its program
            raise KnownError(ENDED, "Nothing was run.") from error
        if str(copy.project) != work.project or not copy.is_in_use:
            raise KnownError(ENDED, "Nothing was run.")
        return copy


class CopyJourney:
    """Implements `runner.sandbox.contract.Journey` for a working copy that is a folder."""

    def __init__(self, copy: WorkingCopy, sends: SentFiles) -> None:
        """`sends` is what was approved."""
        self.folder = copy.folder
        self._copy = copy
        self._sends = sends

    def pack(self) -> WorkspaceCopy:
        # The program is at work meanwhile: what it has put there since was in no list that anybody has seen.
        return sending.packed(self._copy, self._sends, self.folder)

    def take_in(self, before: WorkspaceCopy, after: WorkspaceCopy) -> str:
        try:
            stays = self._copy.take_in(before.entries, after)
        except (OSError, ValueError) as error:
            raise KnownError(f"What came back could not be written: {error}.", "") from error
        named = "; ".join(f"{shown(path)} {why}" for path, why in stays[:MOST_NAMED])
        return f"{named}; and {len(stays) - MOST_NAMED} more" if len(stays) > MOST_NAMED else named


def _planned(copy: WorkingCopy) -> SentFiles:
    try:
        return sending.planned(copy)
    except OSError as error:
        raise KnownError(f"The files of {copy.project} cannot be listed: {error}.", "Nothing was sent.") from error


@dataclass(frozen=True, slots=True)
class _Opened:
    layer: OpenLayer
    kept: contextlib.ExitStack = field(repr=False)


def able(sandbox: Sandbox) -> OverProject:
    """Return a sandbox that can be shown a working copy. Raises KnownError for any other."""
    if isinstance(sandbox, OverProject):
        return sandbox
    raise KnownError(
        f"Code runs in {sandbox.isolation.label} here, which cannot be shown a working copy: its layer is for the "
        "program at work alone. Nothing was run.",
        ELSEWHERE,
    )


def _opened(
    copy: WorkingCopy, said: dict[str, Any], kept: contextlib.ExitStack, sends: SentFiles | None
) -> ProjectLayer:
    """Return the layer that a session has said, with what it needs open in `kept`. Raises OSError."""

    def opened(path: str, flags: int) -> int:
        descriptor = os.open(path, flags | os.O_CLOEXEC)
        kept.callback(os.close, descriptor)
        return descriptor

    def namespace(kind: str, number: int) -> int | None:
        if not number:
            return None
        descriptor = opened(f"/proc/{int(said['holder'])}/ns/{kind}", os.O_RDONLY)
        if os.fstat(descriptor).st_ino != number:
            raise KnownError(ENDED)
        return descriptor

    path, holder = str(copy.shown), int(said["holder"])
    journey = CopyJourney(copy, sends) if sends is not None and copy.way == copied.NAME else None
    mounts, users = namespace("mnt", int(said["mounts"])), namespace("user", int(said["users"]))
    if (mounts is None) is (copy.way == overlay.NAME):
        raise KnownError("The session does not say where its layer is mounted.")
    folder = opened(f"/proc/{holder}/root{path}" if holder else path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW)
    found = os.fstat(folder)
    if (found.st_dev, found.st_ino) != (int(said["device"]), int(said["inode"])):
        raise KnownError("Another folder stands where the project was, as the program at work sees it.")
    return ProjectLayer(path, found.st_dev, found.st_ino, folder, mounts, users, journey)


def _has_ended(process: int) -> bool:
    ready, _, _ = select.select((process,), (), (), 0)
    return bool(ready)
