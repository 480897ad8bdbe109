"""The sandbox for runs: chosen at the start, chosen again on request, with warm containers."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.request import Isolation, Language, Tool
from runner.model.submission import Submission
from runner.requests import intake
from runner.sandbox.choose import choose
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.sandbox.choose import ChosenSandbox
    from runner.sandbox.contract import Bounds, Sandbox
    from runner.settings.loading import Settings


class SandboxChoice:
    """The choice of one sandbox among those that this machine may have."""

    def __init__(
        self,
        sandboxes: tuple[Sandbox, ...],
        settings: Callable[[], Settings],
        bounds: Callable[[], Bounds | None],
    ) -> None:
        """`bounds` returns the bounds for files collected from runs; None where none are collected."""
        self._sandboxes = sandboxes
        self._settings = settings
        self._bounds = bounds
        self._choice: ChosenSandbox | None = None
        self._looking: asyncio.Event | None = None
        """Set once the sandbox is known; None before `open`."""

    @property
    def isolation(self) -> Isolation:
        return Isolation.LOCAL if self._choice is None else self._choice.sandbox.isolation

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

    async def open(self) -> None:
        """Remove leftovers of earlier consoles, and choose. A container engine that hangs takes some seconds here."""
        self._looking = asyncio.Event()
        try:
            settings = self._settings()
            wanted = choose(settings.sandbox_type, self._sandboxes, fall_back=settings.sandbox_fallback)
            sweeping = asyncio.gather(*(sandbox.sweep() for sandbox in self._sandboxes))
            self._choice, _ = await asyncio.gather(wanted, sweeping)
            await self._warm()
        finally:
            self._looking.set()

    async def look_again(self) -> None:
        """Choose again, as images may have been built since; present runs stay where they are."""
        before = self._choice
        for sandbox in self._sandboxes:
            if isinstance(sandbox, ContainerSandbox):
                sandbox.examine_again()
        await self.open()
        if before and isinstance(before.sandbox, ContainerSandbox) and before.sandbox is not self.sandbox:
            before.sandbox.cool()

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

    async def known(self) -> None:
        """Wait until a sandbox is chosen, or none was found."""
        if self._looking is not None:
            await self._looking.wait()

    async def image(self, language: Language | None) -> str:
        """Return the id of the image for code in `language`; '' without one."""
        if self._choice is None or language is None:
            return ""
        return (await self._choice.sandbox.check()).images.get(language, "")

    async def facts(self) -> dict[str, object]:
        """Return the answer of `code_sandbox_info`."""
        await self.known()
        if self._choice is None:
            return {"isolation": "none", "problem": "There is no sandbox to run in."}
        sandbox, settings = self._choice.sandbox, self._settings()
        ready = await sandbox.check()
        warmth = sandbox.warmth if isinstance(sandbox, ContainerSandbox) else None
        return {
            "isolation": sandbox.isolation.value,
            "chosen": self.why,
            "warm": None if warmth is None else asdict(warmth),
            "protections": list(ready.protections),
            "missing": list(ready.missing),
            "versions": ready.versions,
            "languages": list(settings.supported_languages),
            "network": "none",
            "limits": {
                "timeout": settings.timeout_seconds,
                "max_memory_mb": settings.memory_mb,
                "max_disk_mb": settings.disk_mb,
                "max_output_bytes": settings.max_output_bytes,
            },
        }

    async def close(self) -> None:
        await asyncio.gather(*(sandbox.close() for sandbox in self._sandboxes))
