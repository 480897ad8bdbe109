"""The engine of Assent, without a window: `from runner import execute, run_python_code, Engine`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.assembly import open_engine
    from runner.engine.engine import Engine
    from runner.library.direct import execute, execute_async, run_python_code
    from runner.library.kept import SandboxManager
    from runner.library.runners import SandboxConfig, SandboxedRunner, SandboxResult, SecurityLevel, create_runner
    from runner.model.assessment import Assessment, Capability, Finding, Level
    from runner.model.decision import Decision, Verdict
    from runner.model.errors import KnownError, Refused
    from runner.model.request import Isolation, Language, Limits, Request
    from runner.model.result import Outcome, Result, Usage

__all__ = [
    "Assessment",
    "Capability",
    "Decision",
    "Engine",
    "Finding",
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
    "Usage",
    "Verdict",
    "create_runner",
    "execute",
    "execute_async",
    "open_engine",
    "run_python_code",
]

_HOME = {
    "Assessment": "model.assessment",
    "Capability": "model.assessment",
    "Decision": "model.decision",
    "Engine": "engine.engine",
    "Finding": "model.assessment",
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
    "Usage": "model.result",
    "Verdict": "model.decision",
    "create_runner": "library.runners",
    "execute": "library.direct",
    "execute_async": "library.direct",
    "open_engine": "assembly",
    "run_python_code": "library.direct",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: the bridge imports this package and must start in milliseconds."""
    if (home := _HOME.get(name)) is None:
        raise AttributeError(f"module 'runner' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"runner.{home}"), name)
