"""Programs at work and their working copies, as awaitable engine calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Mapping, Sequence

    from app.link.decisions import EngineCaller
    from runner.engine.engine import Engine
    from runner.model.work import WorkSession, WorkUsage
    from runner.work.added import AddedFindings
    from runner.work.project_hosts import ProjectHost
    from runner.workspace.apply import Applied
    from runner.workspace.change import ProjectChange, ProjectChanges
    from runner.workspace.difference import LineDifference
    from runner.workspace.progress import WriteProgress
    from runner.workspace.undo import WayBack


class WorkControl:
    """What the window asks about working copies, and what it has done with them."""

    def __init__(self, link: EngineCaller) -> None:
        self._link = link

    def sessions(self) -> tuple[WorkSession, ...]:
        """Return all working copies as they stand now; none before the engine is there."""
        engine = self._link.engine
        return engine.work.sessions() if engine is not None else ()

    def changes(self, name: str) -> Future[ProjectChanges]:
        """Ask what a working copy changes in its project as that is now."""
        return self._link.call(lambda engine: engine.work.changes(name))

    def lines(self, name: str, change: ProjectChange) -> Future[LineDifference]:
        """Ask for the lines of a file that differ."""
        return self._link.call(lambda engine: engine.work.lines(name, change))

    def findings(self, name: str, change: ProjectChange) -> Future[AddedFindings]:
        """Ask what the classifier finds in what a change adds."""
        return self._link.call(lambda engine: engine.work.findings(name, change))

    def content(self, name: str, change: ProjectChange, *, new: bool) -> Future[bytes]:
        """Ask for the content of a file, in the working copy or in the project."""
        return self._link.call(lambda engine: engine.work.content(name, change, new=new))

    def part(self, name: str, change: ProjectChange, numbers: frozenset[int]) -> Future[ProjectChange]:
        """Ask for a change that has only some of the places in which a text differs."""
        return self._link.call(lambda engine: engine.work.part(name, change, numbers))

    def apply(
        self,
        name: str,
        wanted: Sequence[ProjectChange],
        digest: str,
        in_part: Mapping[bytes, frozenset[int]],
        pin: str = "",
    ) -> Future[Applied]:
        """Write exactly these changes, which `digest` stands for, into the project; those `in_part` as `part` says."""

        async def work(engine: Engine) -> Applied:
            return await engine.work.apply(name, wanted, digest, in_part, proven=await engine.proven(pin))

        return self._link.call(work)

    def progress(self, name: str) -> WriteProgress | None:
        """Return how far Apply, Undo or Discard is; None where none is under way."""
        engine = self._link.engine
        return engine.work.progress(name) if engine is not None else None

    def cancel(self, name: str) -> None:
        """End Apply or Undo as long as nothing was written."""
        self._link.post(lambda engine: engine.work.cancel(name))

    def undo_plan(self, name: str) -> Future[WayBack]:
        """Ask what can be taken back of what was applied last, and what cannot."""
        return self._link.call(lambda engine: engine.work.undo_plan(name))

    def undo(self, name: str, wanted: str, pin: str = "") -> Future[Applied]:
        """Take back exactly what the digest `wanted` is of."""

        async def work(engine: Engine) -> Applied:
            return await engine.work.undo(name, wanted, proven=await engine.proven(pin))

        return self._link.call(work)

    def discard(self, name: str) -> Future[None]:
        """Remove a working copy with its changes."""
        return self._link.call(lambda engine: engine.work.discard(name))

    def open_host(self, name: str, host: str, port: int, *, always: bool, private: str, pin: str = "") -> Future[None]:
        """Let a program reach a host that it was refused; `always`: its next sessions over this project as well.

        `private` is the address inside the own network that was shown. The future raises PrivateAddress without it.
        """

        async def work(engine: Engine) -> None:
            proven = await engine.proven(pin)
            await engine.work.open_host(name, host, port, always=always, private=private, proven=proven)

        return self._link.call(work)

    def hosts(self) -> Future[tuple[ProjectHost, ...]]:
        """Ask for the hosts that are open for all sessions of a project."""
        return self._link.call(lambda engine: engine.work.hosts())

    def forget_host(self, old: ProjectHost) -> Future[None]:
        """Let later sessions of its project not reach a host any more."""
        return self._link.call(lambda engine: engine.work.forget_host(old))

    def answer(self, name: str, number: int, *, run: bool, why: str, pin: str = "") -> Future[None]:
        """Answer a held command."""

        async def work(engine: Engine) -> None:
            await engine.work.answer(name, number, run=run, why=why, proven=await engine.proven(pin))

        return self._link.call(work)

    def as_it_goes(self, name: str, *, on: bool, pin: str = "") -> Future[None]:
        """Have what a program changes applied by itself from now on, or no longer."""

        async def work(engine: Engine) -> None:
            await engine.work.as_it_goes(name, on=on, proven=await engine.proven(pin))

        return self._link.call(work)

    def carry(self, name: str, port: int) -> Future[str]:
        """Make a port inside reachable from outside. The future gives its address, host and port."""
        return self._link.call(lambda engine: engine.work.carry(name, port))

    def end(self, name: str, why: str) -> Future[None]:
        """End a program and everything that it started."""
        return self._link.call(lambda engine: engine.work.end(name, why))

    def usage(self, name: str) -> Future[WorkUsage]:
        """Ask what a program and all that it started use now."""
        return self._link.call(lambda engine: engine.work.usage(name))
