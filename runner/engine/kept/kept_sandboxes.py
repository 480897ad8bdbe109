"""The sandboxes that agents keep: created, used by one call at a time, and removed when unused (spec X5)."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import secrets
import time
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, assert_never

from runner.engine.kept.lending import Lending, OpenSandbox
from runner.engine.kept.past_states import PastStates
from runner.engine.kept.undoing import Undoing
from runner.engine.shared import integrity
from runner.engine.shared.file_answers import listed, read_piece
from runner.model.errors import KnownError, Refused
from runner.model.events import SandboxesChanged
from runner.model.kept_sandbox import Kept
from runner.model.request import KnownFile, Tool
from runner.model.tool_facts import FACTS
from runner.model.workspace import WORKSPACE
from runner.requests.intake import UNNAMED_SANDBOX
from runner.sandbox.contract import Lasting, NotPermitted, Rented
from runner.system.clock import since_boot
from runner.system.expiry import Expiry
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
    from pathlib import Path

    from runner.engine.foundation.sandbox_choice import SandboxChoice
    from runner.engine.supply.installing import Installing
    from runner.model.record import Record
    from runner.model.request import Request
    from runner.packages.installing import PackageSet
    from runner.sandbox.contract import Session
    from runner.settings.loading import Settings

UNUSED = "It was not used for too long."
TOO_OLD = "Its time was over."
ASKED = "Its agent removed it."
ENDED = "It ended by itself."
MOST_WRITTEN = 200
LONGEST_WRITTEN = 1_000_000
"""Files, and characters of all of them, that are remembered of one sandbox."""
PUT_BACK = "A person has put the files of this sandbox back since you asked."
CLOSING_SECONDS = 1.0
"""For sandboxes that are removed or being made when the console closes."""
MADE, GONE = "sandbox-made", "sandbox-gone"
"""Kinds of ledger entries."""


class KeptSandboxes:
    """The kept sandboxes of all agents. Every method is called on the engine's loop."""

    def __init__(
        self,
        record: Record,
        chosen: SandboxChoice,
        settings: Callable[[], Settings],
        installing: Installing,
        removed: Callable[[str], Awaitable[None]],
        withdraw: Callable[[str, str], Iterable[str]],
        folder: Path,
        clock: Callable[[], float] = since_boot,
    ) -> None:
        """`removed(id)` revokes what was approved for a sandbox that was removed; it may raise KnownError.

        `withdraw(id, why)` denies what is asked and takes back what was approved for one; the ids of those requests.
        Copies of files go to the disk of `folder`.
        """
        self._folder = folder
        self._record = record
        self._chosen = chosen
        self._settings = settings
        self._installing = installing
        self._removed = removed
        self._clock = clock
        self._open: dict[str, OpenSandbox] = {}
        self.lending = Lending(record, self._open, self._publish)
        self.undoing = Undoing(self.lending, record, folder, withdraw)
        self._making: Counter[str] = Counter()
        """Number of sandboxes being created, by agent: they count against the limits already."""
        self._made = asyncio.Condition()

    def listed(self) -> tuple[Kept, ...]:
        """Return the kept sandboxes, oldest first."""
        return tuple(one.kept for one in self._open.values())

    def holds(self, id: str) -> bool:
        """Return whether there is a sandbox of that id."""
        return id in self._open

    def find(self, agent: str, id: str) -> Kept:
        """Return the sandbox `id` of `agent`. Raises Refused where this agent has none with that id."""
        one = self._open.get(id)
        if one is None or one.kept.agent != agent:
            raise Refused(
                f"You have no sandbox {id[:64]!a}: the id is wrong, or it was removed.",
                "Create a new one.",
            )
        return one.kept

    def written(self, id: str) -> tuple[KnownFile, ...]:
        """Return what was written into a sandbox by `code_write_file`; a run may have changed it since."""
        one = self._open.get(id)
        return () if one is None else tuple(one.written.values())

    def packages(self, id: str) -> PackageSet | None:
        """Return what was installed in a sandbox; a run may have changed files of it, which are not imported then."""
        one = self._open.get(id)
        return None if one is None else one.packages

    async def verify(self, request: Request, session: Session) -> None:
        """Raise NotPermitted where a file that `request` relies on has another content; call it inside `used`."""
        packages = self.packages(request.sandbox)
        if (None if packages is None else packages.seen) != request.installed:
            raise NotPermitted("The sandbox has other packages by now.", "Nothing was run. Ask again.")
        if packages is not None and await asyncio.to_thread(integrity.mentions, request, packages):
            await self._require_intact(request, session, packages)
        for file in request.known:
            data = file.text.encode()
            try:
                found = await session.read(file.path, 0, len(data) + 1)
                why = "" if found.data == data else f"{file.path} was changed since you wrote it."
            except KnownError as error:
                why = str(error)
            if why:
                if request.sandbox in self._open:
                    self._open[request.sandbox].written.pop(file.path, None)
                raise NotPermitted(why, "Nothing was run. Write the file again, then ask again.")

    async def _require_intact(self, request: Request, session: Session, packages: PackageSet) -> None:
        """Raise NotPermitted where a file of the packages was changed: then none of them counts any more."""
        try:
            await integrity.require(session, request, packages)
        except integrity.Altered:
            if (one := self._open.get(request.sandbox)) is not None and one.packages is packages:
                one.packages = None
            raise

    def check_capacity(self, agent: str) -> None:
        """Raise Refused where `agent`, or all agents together, keep as many as the settings allow."""
        settings = self._settings()
        own = sum(one.kept.agent == agent for one in self._open.values()) + self._making[agent]
        total = len(self._open) + self._making.total()
        if not settings.sandboxes_per_agent or not settings.sandboxes:
            raise Refused("Keeping sandboxes is switched off in the settings of Assent.", "Run code without one.")
        if own >= settings.sandboxes_per_agent:
            raise Refused(f"You keep {own} sandboxes already.", "Remove one of them first.")
        if total >= settings.sandboxes:
            raise Refused(f"{total} sandboxes are kept already.", "Try again later.")

    @contextlib.asynccontextmanager
    async def used(self, request: Request) -> AsyncIterator[Session]:
        """Lend the sandbox of `request` to one call at a time. Raises KnownError where it was removed.

        NotPermitted where a person has put its files back since that was asked.
        """
        one = self.lending.held(request.sandbox)
        async with self.lending.hold(one):
            if request.id in one.past.stale:
                raise NotPermitted(PUT_BACK, "Nothing was done. Look at the files, then ask again.")
            one.kept = replace(one.kept, uses=one.kept.uses + 1, put_back_to=0)
            self._wind(one, in_use=True)
            if FACTS[request.tool].changes:
                one.past.touched()
            try:
                yield one.session
            except BaseException:
                one.past.never_ran()
                raise
            finally:
                if not one.session.alive:
                    await self.remove(request.sandbox, ENDED)
                elif request.sandbox in self._open:
                    self._wind(one, in_use=False)

    async def do(self, request: Request, permit: Callable[[], None]) -> dict[str, object]:
        """Do what a tool other than `code_execute` is asked for; return the agent's answer. Raises KnownError.

        `permit` raises NotPermitted where the approval counts no more; called when nothing is left to wait for.
        """
        match request.tool:
            case Tool.CODE_CREATE_SANDBOX:
                with self._installing.stoppable(request):
                    return await self._create(request, permit)
            case Tool.CODE_DESTROY_SANDBOX:
                if not await self.remove(request.sandbox, ASKED):
                    raise KnownError("The sandbox is gone already.", "Nothing is left to do.")
                return {"sandbox_id": request.sandbox, "removed": True}
            case Tool.CODE_LIST_FILES:
                async with self.used(request) as session:
                    permit()
                    return listed(request, await session.files(request.files[0]))
            case Tool.CODE_READ_FILE:
                async with self.used(request) as session:
                    permit()
                    return read_piece(request, await session.read(request.files[0], request.offset, request.most_bytes))
            case Tool.CODE_WRITE_FILE:
                data = request.code.encode()
                async with self.used(request) as session:
                    permit()
                    await session.write(request.files[0], data, executable=request.executable)
                    self._remember(request)
                return {"path": request.files[0], "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            case Tool.CODE_INSTALL_PACKAGE:
                with self._installing.stoppable(request):
                    return await self._install(request, permit)
            case (
                Tool.CODE_EXECUTE
                | Tool.CODE_SANDBOX_INFO
                | Tool.CLIENT_SHELL
                | Tool.CLIENT_EDIT
                | Tool.CLIENT_FETCH
                | Tool.CLIENT_TOOL
            ):
                raise AssertionError(request.tool)  # done elsewhere
            case _:
                assert_never(request.tool)

    async def remove(self, id: str, why: str) -> bool:
        """Stop its run, remove it and return whether it existed. A later call of its agent is answered with `why`."""
        if (one := self._open.pop(id, None)) is None:
            return False
        one.expiry.cancel()
        one.past.close()
        one.answered.set()
        await one.session.close()
        cost = one.session.rented_seconds if isinstance(one.session, Rented) else 0.0
        lasted = {"rented_seconds": round(cost, 3)} if cost else {}
        await self._record.note(GONE, "", {"sandbox": id, "agent": one.kept.agent, "why": why, **lasted})
        with contextlib.suppress(KnownError):  # reported already; no request can use the grants of a removed sandbox
            await self._removed(id)
        self._publish()
        return True

    async def remove_of(self, agent: str, why: str) -> None:
        """Remove all sandboxes of `agent`."""
        mine = [id for id, one in self._open.items() if one.kept.agent == agent]
        await asyncio.gather(*(self.remove(id, why) for id in mine))

    def awoke(self) -> None:
        """Remove what is over after the machine has slept."""
        for one in self._open.values():
            one.expiry.awoke()

    async def close(self, why: str) -> None:
        """Remove all; one that is being created is removed once it is open, as the console is closing."""
        # One whose engine hangs is left to its sandbox, which closes next: the ledger must be sealed all the same.
        if removing := [spawn("remove a sandbox", self.remove(id, why)) for id in self._open]:
            await asyncio.wait(removing, timeout=CLOSING_SECONDS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSING_SECONDS), self._made:
                await self._made.wait_for(lambda: not self._making.total())

    def _remember(self, request: Request) -> None:
        """Remember a file that was written, and forget the oldest where they are too many or too large."""
        if (one := self._open.get(request.sandbox)) is None:
            return
        path = request.files[0]
        one.written.pop(path, None)
        one.written[path] = KnownFile(path, request.code)
        while len(one.written) > MOST_WRITTEN or sum(len(file.text) for file in one.written.values()) > LONGEST_WRITTEN:
            del one.written[next(iter(one.written))]

    async def _install(self, request: Request, permit: Callable[[], None]) -> dict[str, object]:
        """Install what was approved and return the agent's answer. Raises KnownError."""
        prepared = await self._installing.prepared(request, self.packages(request.sandbox), permit)
        async with self.used(request) as session:
            one = self._open[request.sandbox]
            if (() if one.packages is None else one.packages.titles) != prepared.before:
                raise NotPermitted("The sandbox has other packages by now.", "Nothing was installed. Ask again.")
            permit()

            def begins() -> None:
                # What is unpacked only in part is not imported, and removed with the next installation.
                one.packages = None

            await self._installing.unpack(session, one.kept.language, request, prepared, permit, begins)
            one.packages = prepared.after
        return self._installing.facts(request, prepared)

    # ---- creating ----

    async def _create(self, request: Request, permit: Callable[[], None]) -> dict[str, object]:
        """Create a sandbox and return its answer for the agent. Raises KnownError."""
        # Counted before the first await: however many requests run at once, the limits hold.
        self.check_capacity(request.agent)
        self._making[request.agent] += 1
        try:
            one = await self._opened(request, permit)
        finally:
            self._making[request.agent] -= 1
            async with self._made:
                self._made.notify_all()
        self._wind(one, in_use=False)
        await self._record.note(MADE, request.id, {"sandbox": one.kept.id, "agent": one.kept.agent})
        kept, settings = one.kept, self._settings()
        return {
            "sandbox_id": kept.id,
            "language": kept.language.value,
            "isolation": kept.isolation.value,
            "workspace": WORKSPACE,
            "network": kept.network.value,
            "allowed_domains": list(kept.domains),
            "limits": asdict(kept.limits),
            "unused_seconds": settings.sandbox_unused_seconds,
            "lifetime_seconds": settings.sandbox_lifetime_seconds,
            **({} if one.packages is None else {"installed": list(one.packages.titles)}),
        }

    async def _opened(self, request: Request, permit: Callable[[], None]) -> OpenSandbox:
        """Open a sandbox and add it to the open ones. Raises KnownError."""
        sandbox = self._chosen.sandbox
        if not isinstance(sandbox, Lasting) or sandbox.isolation is not request.isolation:
            raise KnownError("No sandbox can be kept here.", "Run code without one.")
        assert request.language is not None
        prepared = None if request.plan is None else await self._installing.prepared(request, None, permit)
        session = await sandbox.open(request.language, request.limits, request.image, request.agent)
        # Checked again: since the await there may have been a lockdown or a Stop all, the agent may have been revoked
        # or have disconnected, or the console be closing.
        try:
            permit()
            if prepared is not None:
                await self._installing.unpack(session, request.language, request, prepared, permit)
                permit()
        except KnownError:
            await session.close()
            raise
        kept = Kept(
            id=secrets.token_hex(6),
            agent=request.agent,
            language=request.language,
            isolation=request.isolation,
            made_at=time.time(),
            image=request.image,
            limits=request.limits,
            network=request.network,
            domains=request.domains,
            title="" if request.title == UNNAMED_SANDBOX else request.title,
        )
        ends = self._clock() + self._settings().sandbox_lifetime_seconds
        one = OpenSandbox(kept, session, ends, Expiry(lambda: self._expire(kept.id), self._clock))
        one.past = PastStates(kept.id, self._folder)
        one.packages = None if prepared is None else prepared.after
        self._open[kept.id] = one
        return one

    def _wind(self, one: OpenSandbox, *, in_use: bool) -> None:
        """Restart the timer that removes it; while it is in use only its longest lifetime counts."""
        unused = self._clock() + self._settings().sandbox_unused_seconds
        ends, one.why = one.ends_for_good, TOO_OLD
        if not in_use and unused < one.ends_for_good:
            ends, one.why = unused, UNUSED
        one.expiry.set(ends)
        one.kept = replace(one.kept, ends_at=time.time() + one.expiry.left)
        self._publish()

    def _expire(self, id: str) -> None:
        if (one := self._open.get(id)) is not None:
            spawn("remove a sandbox", self.remove(id, one.why))

    def _publish(self) -> None:
        self._record.publish(SandboxesChanged(self.listed()))
