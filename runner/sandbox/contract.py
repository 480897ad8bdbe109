"""What every sandbox can do. One interface, one result type, one conformance suite (spec X1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from runner.request import Isolation, Language, Limits, NetworkMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.result import Result, Usage
    from runner.sandbox.output import Transcript


@dataclass(frozen=True, slots=True)
class Imports:
    """Which Python modules the code may import itself (spec R6).

    `allowed` None means every module that is not in `blocked`. What an allowed module imports is its own affair.
    """

    allowed: tuple[str, ...] | None = None
    blocked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """One run, as handed to a sandbox: exactly what was approved."""

    id: str
    language: Language
    code: str
    limits: Limits = field(default_factory=Limits)
    context: str = "{}"
    """JSON object: variables for the code."""
    stdin: str = ""
    imports: Imports = field(default_factory=Imports)
    network: NetworkMode = NetworkMode.NONE
    image: str = ""
    """Id of the container image that was approved; '' takes the one there is now."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether a sandbox works here, and what it gives."""

    ready: bool
    protections: tuple[str, ...] = ()
    """Active protections in words."""
    missing: tuple[str, ...] = ()
    """Protections that are not to be had here, each with why."""
    versions: dict[str, str] = field(default_factory=dict)
    """`python`, `node`, `bash` and the sandbox's own tools, where found."""
    problem: str = ""
    remedy: str = ""
    images: Mapping[Language, str] = field(default_factory=dict)
    """Ids of the container images that are there."""


class Run(Protocol):
    """A run that has been started."""

    @property
    def transcript(self) -> Transcript:
        """Live output; safe to read from any thread."""
        ...

    async def finished(self) -> Result:
        """Wait for the end and everything after it: processes gone, files removed. Never raises for what code does."""
        ...

    def stop(self, why: str) -> None:
        """Kill the whole process tree; the result says `killed` and `why`. Returns at once; harmless when over."""
        ...


@runtime_checkable
class Haltable(Run, Protocol):
    """A run that can be halted: nothing of it goes on, its time neither. Both return at once."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...


class Sandbox(Protocol):
    @property
    def isolation(self) -> Isolation: ...

    async def check(self) -> Readiness:
        """Try what this sandbox needs, once; the answer is remembered."""
        ...

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> Run:
        """Start `job`. `measured` is called on the loop, at 4 Hz or better.

        Raises KnownError when the sandbox itself does not work (not when the code fails).
        """
        ...

    async def sweep(self) -> tuple[str, ...]:
        """End and remove what a killed console left behind; the names of those runs."""
        ...

    async def close(self) -> None:
        """Stop every run and remove every trace."""
        ...
