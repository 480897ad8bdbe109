"""Runners by security level, in given words (spec E2): a configuration, a runner, a result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from runner.library import direct
from runner.model.errors import KnownError
from runner.model.request import Isolation, Language, Tool
from runner.model.result import Outcome
from runner.model.submission import Submission
from runner.settings.levels import level_values
from runner.settings.module_lists import LEVELS
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from runner.model.result import Result
    from runner.settings.loading import Settings

_MB = 1 << 20


class SecurityLevel(StrEnum):
    PERMISSIVE = "permissive"
    STANDARD = "standard"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class SandboxConfig:
    """What a runner allows. Values above what the settings of Assent allow are refused when it runs."""

    security_level: SecurityLevel = SecurityLevel.STANDARD
    timeout_seconds: float = 30.0
    max_memory_mb: int = 512
    allowed_modules: tuple[str, ...] = LEVELS["standard"]
    """Modules that the code may import itself; always enforced here."""

    @classmethod
    def for_level(cls, level: SecurityLevel) -> SandboxConfig:
        """Return the configuration of a level. Raises ValueError for what is no level."""
        level = SecurityLevel(level)
        values: dict[str, Any] = {"timeout_seconds": 30.0, "memory_mb": 512, **level_values(level)}
        return cls(level, float(values["timeout_seconds"]), int(values["memory_mb"]), LEVELS[level])


@dataclass(frozen=True, slots=True)
class SandboxResult:
    """What a run produced."""

    success: bool
    result: object
    """What the code left in `result`, as JSON data, or a DataFrame where one went in."""
    stdout: str
    stderr: str
    error: str | None
    execution_time_ms: float
    memory_used_mb: float | None


class SandboxedRunner:
    """Runs Python code at one level. Every run has a sandbox of its own, so nothing is held between two."""

    def __init__(self, config: SandboxConfig, *, fall_back: bool = False, isolation: str = "") -> None:
        """`isolation` names the sandbox, by default the settings do."""
        self.config = config
        self._isolation = isolation
        self._fall_back = fall_back

    def execute(self, code: str, context: Mapping[str, object] | None = None) -> SandboxResult:
        """Run `code` with the variables of `context`, and wait for its end.

        Raises KnownError where there is no sandbox that the level asks for, and Refused for arguments out of bounds;
        never for a failure of the code.
        """
        config = self.config
        settings = _for(config, direct.usable_settings(Places.standard()))
        submission = Submission(
            direct.CALLER,
            Tool.CODE_EXECUTE,
            Language.PYTHON,
            code,
            timeout=config.timeout_seconds,
            memory_mb=config.max_memory_mb,
            context=context,
            network_enabled=False,  # at every level, whatever the settings give other runs
        )
        found = direct.waited(direct.run(submission, settings, self._isolation, fall_back=self._fall_back))
        return SandboxResult(
            success=found.outcome is Outcome.OK,
            result=found.value,
            stdout=found.stdout,
            stderr=found.stderr,
            error=None if found.outcome is Outcome.OK else _error(found),
            execution_time_ms=found.duration * 1000,
            memory_used_mb=None if found.peak_memory is None else found.peak_memory / _MB,
        )

    def cleanup(self) -> None:
        """Release what is held: nothing, as each run has released its sandbox."""

    def __enter__(self) -> SandboxedRunner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cleanup()


def create_runner(
    level: SecurityLevel | None = None, config: SandboxConfig | None = None, *, fall_back: bool = False
) -> SandboxedRunner:
    """Return a runner for a level, by default that of `config`, else standard; a level that is named must be its own.

    `fall_back` lets `strict` run without a container engine; without it nothing runs then.
    Raises KnownError for what is no level.
    """
    if level is None:
        level = SecurityLevel.STANDARD if config is None else config.security_level
    try:
        level = SecurityLevel(level)
    except ValueError:
        raise KnownError(f"{level!r} is no security level.", f"Use one of {', '.join(SecurityLevel)}.") from None
    if config is not None and config.security_level is not level:
        raise KnownError(
            f"The configuration is for {config.security_level.value}, not for {level.value}.", "Name one level."
        )
    return SandboxedRunner(config or SandboxConfig.for_level(level), fall_back=fall_back)


def _error(result: Result) -> str:
    """Return how a run failed; want of memory by the name of Python's exception."""
    error = result.error or result.outcome.value
    return f"{MemoryError.__name__}: {error}" if result.outcome is Outcome.OUT_OF_MEMORY else error


def _for(config: SandboxConfig, settings: Settings) -> Settings:
    """Return the settings with the level of a runner; where they ask for stronger sandboxes, that stays."""
    asked = str(level_values(config.security_level).get("weakest_isolation_high", settings.weakest_isolation_high))
    weakest = max(Isolation(asked), Isolation(settings.weakest_isolation_high), key=lambda one: one.strength)
    return replace(
        settings,
        security_level=config.security_level.value,
        allowed_modules=config.allowed_modules,
        enforce_allowed_modules=True,
        weakest_isolation_high=weakest.value,
    )
