"""The sandbox for runs: the one in use, compared with that of last time, with warm containers."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.model.request import Isolation, Language, Tool
from runner.model.submission import Submission
from runner.model.tool_facts import NEW_PLACE
from runner.model.workspace import WORKSPACE
from runner.requests import intake
from runner.requests.network import network_facts, through_gate, usual_mode
from runner.sandbox.choose import AUTO, choose, named
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Losable
from runner.sandbox.docker.endpoint import elsewhere
from runner.sandbox.room import TEMPORARY_MB
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine

    from runner.engine.foundation.last_isolation import LastIsolation
    from runner.model.network import Destination
    from runner.model.request import Request
    from runner.sandbox.choose import ChosenSandbox
    from runner.sandbox.contract import Bounds, Readiness, Sandbox
    from runner.settings.loading import Settings

log = logging.getLogger(__name__)

FRESH_SECONDS = 1.0
"""Age up to which what was found about the registries is given again: each look reads a dozen files, which takes the
interpreter 5 ms, and a hundred agents may ask at once."""
DOUBTED = "The container engine did not answer a moment ago. Assent is looking whether it works; try again then."


class SandboxChoice:
    """The choice of one sandbox among those that this machine may have.

    `open`, `look` and `look_closely` are called one at a time (`SandboxWatch`). What is under way stays where it is.
    """

    def __init__(
        self,
        sandboxes: tuple[Sandbox, ...],
        settings: Callable[[], Settings],
        bounds: Callable[[], Bounds | None],
        last: LastIsolation,
        registries: Callable[[], Coroutine[Any, Any, tuple[Destination, ...]]],
    ) -> None:
        """`bounds` returns the bounds for files collected from runs; None where none are collected.

        `registries` returns the hosts of the package registries of this machine.
        """
        self._sandboxes = sandboxes
        self._settings = settings
        self._bounds = bounds
        self._last = last
        self._registries = ToldRegistries(registries)
        first = settings()
        self._wanted, self._fall_back = first.sandbox_type, first.sandbox_fallback
        self._choice: ChosenSandbox | None = None
        self._problem: KnownError | None = None
        """Why there is none."""
        self.doubted = False
        """Whether a look is under way because a call to the chosen one had no answer."""
        self._known: asyncio.Event | None = None
        """Set once the sandbox is known; None before `open`."""
        self.left_behind: KnownError | None = None
        """Why leftovers of earlier consoles could not be removed; None where they could."""
        self._before: Isolation | None = None
        """The isolation of last time, or one that was accepted or chosen since."""
        self._unanswered: Isolation | None = None
        """What might have been chosen at the first start of all, had its engine answered; nothing is usual then."""
        self._remembered = False
        """Whether `_before` was written to the file by this session."""
        self._writing = asyncio.Lock()

    # ---- what is chosen ----

    @property
    def present(self) -> Isolation | None:
        """The isolation of the chosen sandbox; None where there is none."""
        return None if self._choice is None else self._choice.sandbox.isolation

    @property
    def isolation(self) -> Isolation:
        return self.present or Isolation.LOCAL

    @property
    def sandbox(self) -> Sandbox:
        """The chosen sandbox. Raises KnownError where none was found."""
        if self._choice is None:
            raise KnownError("There is no sandbox to run in.", "Open Doctor for what is missing.")
        return self._choice.sandbox

    @property
    def why(self) -> str:
        """Why this sandbox was chosen; empty before that."""
        return "" if self._choice is None else self._choice.why

    @property
    def usual(self) -> Isolation | None:
        """The isolation of last time, or one that was accepted or chosen since; None before the first choice."""
        return self._before

    @property
    def weaker_than(self) -> Isolation | None:
        """What the present one is weaker than, where nobody has accepted that; else None.

        That is the isolation of last time, or at the first start one whose engine did not answer.
        """
        present = self.present
        return (self._before or self._unanswered) if present is not None and self.weaker(present) else None

    @property
    def settled(self) -> bool:
        """Whether looking again cannot find anything better."""
        present = self.present
        if present is None or not self._remembered or self.weaker(present):
            return False
        if self._wanted != AUTO:
            return present in named(self._wanted)
        return all(one.isolation.strength <= present.strength for one in self._sandboxes)

    def weaker(self, isolation: Isolation) -> str:
        """Return in words that `isolation` is weaker than that of last time; empty where it is not, or accepted.

        At the first start of all: than one whose engine did not answer.
        """
        # Not only while the present one is: a sandbox that an agent keeps outlives the choice.
        expected = self._before or self._unanswered
        # What the settings name is what the person chose.
        if expected is None or isolation.strength >= expected.strength or isolation == self._wanted.partition(":")[0]:
            return ""
        if self._before is None:
            return f"Perhaps weaker than it need be: {isolation.label}, as the container engine did not answer."
        return f"Weaker than last time: {isolation.label} instead of {expected.label}."

    def uses(self, sandbox: Sandbox) -> bool:
        """Return whether `sandbox` is the chosen one."""
        return self._choice is not None and self._choice.sandbox is sandbox

    async def strongest_first(self) -> AsyncIterator[tuple[Sandbox, Readiness]]:
        """Yield the sandboxes that work: the one in use and, whatever the settings name, the others of this machine.

        Raises KnownError where none is in use.
        """
        used, near = self.sandbox, not elsewhere(self._settings().docker_context)
        for one in sorted(self._sandboxes, key=lambda one: one.isolation.strength, reverse=True):
            engine = one.isolation in (Isolation.DOCKER, Isolation.GVISOR)
            if one is used or (not one.isolation.is_promised and (near or not engine)):
                readiness = await one.check()
                if readiness.ready:
                    yield one, readiness

    def unready(self, request: Request) -> str:
        """Return why nothing can start at present, which may pass while `request` is open; empty where it can."""
        if request.tool not in NEW_PLACE:
            return ""
        if self.doubted:
            return DOUBTED
        return str(self._problem) if self._choice is None and self._problem is not None else ""

    def moved(self, request: Request) -> str:
        """Return why `request` cannot start in the sandbox that it was shown for; empty where it can."""
        if request.tool not in NEW_PLACE or request.sandbox or request.isolation is self.present:
            return ""
        now = f"in {self.present.label}" if self.present else "nowhere"
        return f"This was shown for {request.isolation.label}, and code runs {now} now. Ask again."

    # ---- choosing ----

    async def open(self) -> None:
        """Remove leftovers of earlier consoles, and choose. A container engine that hangs takes some seconds here."""
        self._known = asyncio.Event()
        try:
            self._before = await asyncio.to_thread(self._last.read)
            chosen, _ = await asyncio.gather(
                self._choose(_check), self._sweep(*self._sandboxes), return_exceptions=True
            )
            if isinstance(chosen, BaseException):
                raise chosen
            await self._warm()
        finally:
            self._known.set()

    async def look(self) -> None:
        """Look whether a stronger sandbox works now. The one in use is not examined: this is done often."""
        used = None if self._choice is None else self._choice.sandbox
        await self._look(lambda one: _check(one) if one is used else _examine(one))

    async def look_closely(self) -> None:
        """Examine every sandbox again, the one in use as well: images may have been built since."""
        await self._look(_examine)
        await self._warm()

    async def look_after_loss(self) -> None:
        """Examine every sandbox again, because a call to the one in use had no answer. Nothing is approved meanwhile.

        Where it works all the same, what it could not remove while it was away is removed.
        """
        self.doubted = True
        try:
            await self._look(_examine)
        finally:
            self.doubted = False
        await self._sweep(self.sandbox)
        await self._warm()

    def listen(self, lost: Callable[[Sandbox], None]) -> None:
        """Call `lost` with a sandbox whenever a run or a call in it ended without an answer."""
        for sandbox in self._sandboxes:
            if isinstance(sandbox, Losable):
                sandbox.listeners.add(partial(lost, sandbox))

    async def accept(self, isolation: Isolation) -> None:
        """Take the present sandbox for the usual one, although it is weaker than that of last time.

        Raises KnownError where `isolation`, which the person saw, is not the present one, or cannot be remembered.
        """
        self.require_weaker(isolation)
        try:
            async with self._writing:
                await asyncio.to_thread(self._last.write, isolation)
        except OSError as error:
            raise KnownError(f"This could not be remembered: {error}.", "Free disk space.") from error
        try:
            self.require_weaker(isolation)  # another sandbox may have been chosen since the await, which then counts
        except KnownError:
            await self._remember()
            raise
        self._before, self._remembered = isolation, True

    def require_weaker(self, isolation: Isolation) -> None:
        """Raise KnownError where `isolation` is not the present, weaker one."""
        if self.weaker_than is None or self.present is not isolation:
            raise KnownError("The sandbox has changed meanwhile.", "Look at what is in use now.")

    async def _look(self, check: Callable[[Sandbox], Awaitable[Readiness]]) -> None:
        before = None if self._choice is None else self._choice.sandbox
        try:
            await self._choose(check)
        finally:
            after = None if self._choice is None else self._choice.sandbox
            if isinstance(before, ContainerSandbox) and after is not before:
                before.cool()
        if after is not None and after is not before:
            await self._sweep(after)
            await self._warm()

    async def _choose(self, check: Callable[[Sandbox], Awaitable[Readiness]]) -> None:
        """Raises KnownError where none works; then there is none."""
        try:
            found = await choose(self._wanted, self._sandboxes, fall_back=self._fall_back, check=check)
        except KnownError as error:
            self._choice, self._problem = None, error
            raise
        isolation = found.sandbox.isolation
        self._choice = found
        # One that has gone meanwhile did not answer either: only a person says that the weaker one will do.
        self._unanswered = found.unanswered or self._unanswered
        if not self.weaker(isolation) and not (self._remembered and isolation is self._before):
            self._before, self._remembered = isolation, False
            await self._remember()

    async def _remember(self) -> None:
        """Write down the isolation of last time; where that fails it is tried again with the next look."""
        async with self._writing:
            before = self._before
            try:
                await asyncio.to_thread(self._last.forget if before is None else partial(self._last.write, before))
            except OSError as error:
                log.warning("the sandbox in use cannot be remembered: %s", error)
            else:
                self._remembered = before is not None and before is self._before

    async def _sweep(self, *sandboxes: Sandbox) -> None:
        """Remove what consoles that are gone left behind; what cannot be removed keeps nothing from running."""
        for found in await asyncio.gather(*(one.sweep() for one in sandboxes), return_exceptions=True):
            if isinstance(found, KnownError):
                self.left_behind = found
            elif isinstance(found, Exception):
                fault = {"message": "while removing what earlier consoles left behind", "exception": found}
                asyncio.get_running_loop().call_exception_handler(fault)
                self.left_behind = KnownError(
                    "What an earlier run left could not be removed.", "The fault log has more."
                )

    # ---- warm containers ----

    def warm_again(self) -> None:
        """Adapt the warm containers to changed settings."""
        if self._choice is not None:
            spawn("warm pool", self._warm())

    async def _warm(self) -> None:
        """Keep containers with the settings' limits ready, where the sandbox uses containers."""
        sandbox, settings = self.sandbox, self._settings()
        if isinstance(sandbox, ContainerSandbox):
            usual = intake.limits(Submission("", Tool.CODE_EXECUTE), settings, sandbox.isolation)
            await sandbox.warm(map(Language, settings.warm_languages), usual, settings.warm_containers, self._bounds())

    # ---- for requests and agents ----

    async def known(self) -> None:
        """Wait until a sandbox is chosen, or none was found."""
        if self._known is not None:
            await self._known.wait()

    async def place(self, language: Language | None) -> tuple[Isolation, str, tuple[str, ...]]:
        """Return where code in `language` would run, the id of its image ('' without one) and the protections there."""
        choice = self._choice
        if choice is None:
            return self.isolation, "", ()
        # All of one sandbox: another may be chosen after the await.
        readiness = await choice.sandbox.check()
        image = "" if language is None else readiness.images.get(language, "")
        return choice.sandbox.isolation, image, readiness.protections

    async def where(self) -> tuple[Isolation, tuple[str, ...]]:
        """Return the kind of the sandbox and its active protections."""
        isolation, _, protections = await self.place(None)
        return isolation, protections

    async def facts(self) -> dict[str, object]:
        """Return the answer of `code_sandbox_info`."""
        await self.known()
        if self._choice is None:
            return {"isolation": "none", "problem": "There is no sandbox to run in."}
        choice, settings = self._choice, self._settings()
        sandbox = choice.sandbox
        usual = intake.limits(Submission("", Tool.CODE_EXECUTE), settings, sandbox.isolation)
        ready = await sandbox.check()
        warmth = sandbox.warmth if isinstance(sandbox, ContainerSandbox) else None
        return {
            "isolation": sandbox.isolation.value,
            "chosen": choice.why,
            "warm": None if warmth is None else asdict(warmth),
            "protections": list(through_gate(ready.protections, usual_mode(sandbox.isolation, settings))),
            "missing": list(ready.missing),
            "versions": ready.versions,
            "packages": ready.packages,
            "more_packages": "For one run: packages of code_execute. In a kept sandbox: code_install_package.",
            "languages": list(settings.languages),
            **network_facts(sandbox.isolation, await self._registries.found(), settings),
            "limits": {
                "timeout": usual.seconds,
                "max_memory_mb": usual.memory_mb,
                "max_disk_mb": usual.disk_mb,
                "max_disk_mb_is_for": disk_words(sandbox.isolation),
                "max_output_bytes": usual.output_bytes,
                "output_in_answers_kb": settings.max_output_kb,
            },
            "kept_sandboxes": f"removed after {settings.sandbox_unused_seconds:g} s without use",
        }

    async def close(self) -> None:
        await asyncio.gather(*(sandbox.close() for sandbox in self._sandboxes))


class ToldRegistries:
    """The hosts of the registries as agents get to know them; what decides looks for them itself."""

    def __init__(self, look: Callable[[], Coroutine[Any, Any, tuple[Destination, ...]]]) -> None:
        self._look = look
        self._looking: asyncio.Task[tuple[Destination, ...]] | None = None
        self._begun = 0.0

    async def found(self) -> tuple[Destination, ...]:
        """Return what a look has found that began `FRESH_SECONDS` ago at most."""
        if self._looking is None or time.monotonic() - self._begun > FRESH_SECONDS:
            self._begun = time.monotonic()
            self._looking = spawn("look for registries", self._look())
        # Whoever goes away meanwhile takes nothing from the others.
        return await asyncio.shield(self._looking)


def disk_words(isolation: Isolation) -> str:
    """Return what the limit on disk space is for, in words for agents."""
    if isolation is Isolation.PROCESS:
        return WORKSPACE
    beside = f"{WORKSPACE}; /tmp and /dev/shm hold as much each beside it, up to {TEMPORARY_MB} MB"
    return f"{beside}. All files count as memory." if isolation.files_are_memory else f"{beside}."


async def _check(sandbox: Sandbox) -> Readiness:
    return await sandbox.check()


async def _examine(sandbox: Sandbox) -> Readiness:
    """Return its state now, where that may change while the console is open: that of a container engine."""
    return await (sandbox.examine() if isinstance(sandbox, ContainerSandbox) else sandbox.check())
