"""The engine of Assent, without a window: `from runner import execute, run_python_code, Engine`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.assembly import open_engine
    from runner.engine.engine import Engine
    from runner.library.direct import execute, execute_async, run_code, run_python_code
    from runner.library.kept import SandboxManager
    from runner.library.names import (
        CodeSandbox,
        DockerRunner,
        ExecutionResult,
        InProcessRunner,
        SubprocessRunner,
        get_sandbox,
    )
    from runner.library.runners import SandboxConfig, SandboxedRunner, SandboxResult, SecurityLevel, create_runner
    from runner.model.assessment import Assessment, Capability, Finding, Level
    from runner.model.decision import Decision, Verdict
    from runner.model.errors import KnownError, Refused
    from runner.model.request import Isolation, Language, Limits, Request
    from runner.model.result import Outcome, Result, Usage

__all__ = [
    "Assessment",
    "Capability",
    "CodeSandbox",
    "Decision",
    "DockerRunner",
    "Engine",
    "ExecutionResult",
    "Finding",
    "InProcessRunner",
    "Isolation",
    "KnownError",
    "Language",
    "Level",
    "Limits",
    "Outcome",
    "Refused",
    "Request",
    "Result",
    "SandboxConfig",
    "SandboxManager",
    "SandboxResult",
    "SandboxedRunner",
    "SecurityLevel",
    "SubprocessRunner",
    "Usage",
    "Verdict",
    "create_runner",
    "execute",
    "execute_async",
    "get_sandbox",
    "open_engine",
    "run_code",
    "run_python_code",
]

_HOME = {
    "Assessment": "model.assessment",
    "Capability": "model.assessment",
    "CodeSandbox": "library.names",
    "Decision": "model.decision",
    "DockerRunner": "library.names",
    "Engine": "engine.engine",
    "ExecutionResult": "library.names",
    "Finding": "model.assessment",
    "InProcessRunner": "library.names",
    "Isolation": "model.request",
    "KnownError": "model.errors",
    "Language": "model.request",
    "Level": "model.assessment",
    "Limits": "model.request",
    "Outcome": "model.result",
    "Refused": "model.errors",
    "Request": "model.request",
    "Result": "model.result",
    "SandboxConfig": "library.runners",
    "SandboxManager": "library.kept",
    "SandboxResult": "library.runners",
    "SandboxedRunner": "library.runners",
    "SecurityLevel": "library.runners",
    "SubprocessRunner": "library.names",
    "Usage": "model.result",
    "Verdict": "model.decision",
    "create_runner": "library.runners",
    "execute": "library.direct",
    "execute_async": "library.direct",
    "get_sandbox": "library.names",
    "open_engine": "assembly",
    "run_code": "library.direct",
    "run_python_code": "library.direct",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: the bridge imports this package and must start in milliseconds."""
    if (home := _HOME.get(name)) is None:
        raise AttributeError(f"module 'runner' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"runner.{home}"), name)
