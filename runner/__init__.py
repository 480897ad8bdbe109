"""The engine of Assent, without any window: `from runner import execute, run_python_code, Engine`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runner.assessment import Assessment, Capability, Finding, Level
    from runner.decision import Decision, Verdict
    from runner.direct import execute, execute_async, run_python_code
    from runner.engine import Engine
    from runner.errors import KnownError, Refused
    from runner.request import Isolation, Language, Limits, Request
    from runner.result import Outcome, Result, Usage
    from runner.rooms import open_engine

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
    "Usage",
    "Verdict",
    "execute",
    "execute_async",
    "open_engine",
    "run_python_code",
]

_HOME = {
    "Assessment": "assessment",
    "Capability": "assessment",
    "Decision": "decision",
    "Engine": "engine",
    "Finding": "assessment",
    "Isolation": "request",
    "KnownError": "errors",
    "Language": "request",
    "Level": "assessment",
    "Limits": "request",
    "Outcome": "result",
    "Refused": "errors",
    "Request": "request",
    "Result": "result",
    "Usage": "result",
    "Verdict": "decision",
    "execute": "direct",
    "execute_async": "direct",
    "open_engine": "rooms",
    "run_python_code": "direct",
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used: the bridge imports this package and must start in milliseconds."""
    if (home := _HOME.get(name)) is None:
        raise AttributeError(f"module 'runner' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"runner.{home}"), name)
