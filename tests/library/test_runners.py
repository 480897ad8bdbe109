"""Runners by security level, by their given names (spec E2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner import KnownError, Outcome, Refused, Result, SandboxConfig, SandboxedRunner, SecurityLevel, create_runner
from runner.library import direct
from tests.patience import HANGS

if TYPE_CHECKING:
    from runner.model.submission import Submission


@pytest.mark.parametrize(
    ("level", "seconds", "memory", "modules"),
    [
        (SecurityLevel.PERMISSIVE, 60.0, 1024, ("pandas", "math", "statistics", "json", "numpy", "datetime")),
        (SecurityLevel.STANDARD, 30.0, 512, ("pandas", "math", "statistics", "json")),
        (SecurityLevel.STRICT, 10.0, 256, ("math", "statistics", "json")),
    ],
)
def test_the_levels_are_those_of_the_document(
    level: SecurityLevel, seconds: float, memory: int, modules: tuple[str, ...]
) -> None:
    assert SandboxConfig.for_level(level) == SandboxConfig(level, seconds, memory, modules)


def test_variables_go_in_and_a_result_comes_out() -> None:
    with create_runner() as runner:
        result = runner.execute("import math\nresult = math.floor(x)\nprint('hello')", {"x": 2.5})
    assert (result.success, result.result, result.stdout, result.error) == (True, 2, "hello\n", None)
    assert result.execution_time_ms > 0


def test_failures_of_the_code_are_results() -> None:
    runner = create_runner()
    assert "ValueError" in runner.execute("raise ValueError('x')").stderr
    refused = runner.execute("import socket")
    assert not refused.success and "Blocked import: socket" in refused.stderr
    slow = SandboxedRunner(SandboxConfig(timeout_seconds=1.0)).execute("while True: pass")
    assert not slow.success and slow.execution_time_ms < HANGS * 1000


def test_memory_limit_enforced() -> None:
    """Callers look for either word in the error."""
    runner = SandboxedRunner(SandboxConfig(max_memory_mb=50))
    result = runner.execute("x = 'a' * (100 * 1024 * 1024)", {})
    assert not result.success
    assert result.error is not None
    assert "MemoryError" in result.error or "killed" in result.error.lower()


def test_a_configuration_brings_its_level() -> None:
    for level in SecurityLevel:
        config = SandboxConfig.for_level(level)
        assert create_runner(config=config).config is config
    assert create_runner().config.security_level is SecurityLevel.STANDARD


def test_a_runner_has_no_network_whatever_other_runs_get(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_NETWORK_ENABLED", "true")
    asked: list[Submission] = []

    async def run(submission: Submission, *_: object, **__: object) -> Result:
        asked.append(submission)
        return Result(Outcome.OK, "", "", 0, 0.1)

    monkeypatch.setattr(direct, "run", run)
    create_runner().execute("print(1)")
    assert asked[0].network_enabled is False


def test_strict_runs_nowhere_weaker_unless_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_TYPE", "local")
    with pytest.raises(KnownError, match="or stronger"):
        create_runner(SecurityLevel.STRICT).execute("print(1)")
    assert create_runner(SecurityLevel.STRICT, fall_back=True).execute("import json\nprint(1)").stdout == "1\n"


def test_a_weak_level_does_not_weaken_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_TYPE", "local")
    monkeypatch.setenv("ASSENT_WEAKEST_ISOLATION_HIGH", "docker")
    with pytest.raises(KnownError, match="or stronger"):
        create_runner(SecurityLevel.PERMISSIVE).execute("print(1)")
    with pytest.raises(Refused, match="timeout"):
        SandboxedRunner(SandboxConfig(timeout_seconds=10**6), fall_back=True).execute("print(1)")


def test_what_is_no_level_makes_no_runner() -> None:
    with pytest.raises(KnownError, match="no security level"):
        create_runner("none")  # type: ignore[arg-type]
    with pytest.raises(KnownError, match="not for strict"):
        create_runner(SecurityLevel.STRICT, SandboxConfig())
