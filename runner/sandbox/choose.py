"""Takes the sandbox that the settings ask for, or the strongest that works here (spec X1, X9)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.request import Isolation
from runner.sandbox.plugin import PluginSandbox
from runner.settings.declared import PREFIX

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from runner.sandbox.contract import Readiness, Sandbox

AUTO = "auto"
UNAVAILABLE = {
    "docker": ("Docker daemon not available.", "Set SANDBOX_TYPE=local or start the Docker daemon."),
    "gvisor": (
        "gVisor is not available here.",
        "Set SANDBOX_TYPE=local, or install runsc of 2024 or later and start the Docker daemon.",
    ),
    "gvisor-direct": (
        "gVisor without a container engine is not available here.",
        "Install the package runsc, build the images (assent images), or set SANDBOX_TYPE=local.",
    ),
    "e2b": (
        "E2B is not available here: the settings do not choose it.",
        "Set SANDBOX_TYPE=e2b to have code leave this machine, or SANDBOX_TYPE=local.",
    ),
    "plugin": (
        "Sandboxes of installed packages are not available here: the settings do not choose one.",
        "Set SANDBOX_TYPE=plugin: and the name of one, or SANDBOX_TYPE=local.",
    ),
}
"""What to say of a sandbox that was asked for and is not there (spec S7)."""
NAMES = {
    "local": frozenset({Isolation.LOCAL, Isolation.PROCESS}),
    "docker": frozenset({Isolation.DOCKER}),
    "gvisor-direct": frozenset({Isolation.GVISOR_DIRECT}),
    "gvisor": frozenset({Isolation.GVISOR}),
    "e2b": frozenset({Isolation.E2B}),
}
"""What the setting names. The local sandbox does without bubblewrap where there is none, as a weaker one."""


def named(wanted: str) -> frozenset[Isolation]:
    """Return the kinds that `wanted` may be, of which it names the first that works; none where it names nothing."""
    return frozenset({Isolation.PLUGIN}) if wanted.startswith(PREFIX) else NAMES.get(wanted, frozenset())


@dataclass(frozen=True, slots=True)
class ChosenSandbox:
    """The sandbox taken, and why it and no other."""

    sandbox: Sandbox
    why: str
    unanswered: Isolation | None = None
    """The weakest of the stronger ones whose engine is there and did not answer; None where every one did."""


async def choose(
    wanted: str,
    sandboxes: Sequence[Sandbox],
    *,
    fall_back: bool = False,
    check: Callable[[Sandbox], Awaitable[Readiness]] | None = None,
) -> ChosenSandbox:
    """Return the sandbox that `wanted` (`SANDBOX_TYPE`) names; for `auto` the strongest of `sandboxes` that works.

    `fall_back` allows the strongest one that works in place of a named one that does not: the policy's to
    decide. `check` examines one; by default its own `check`. Raises KnownError, in one message with what to do,
    where there is none.
    """
    if wanted != AUTO and not named(wanted):
        raise KnownError(f"{wanted!r} is no kind of sandbox.", f"Set SANDBOX_TYPE to {AUTO}, {', '.join(NAMES)}.")
    problem = KnownError("There is no sandbox here.", "Set SANDBOX_TYPE=local.")
    unanswered: Isolation | None = None
    passed_over: dict[str, list[str]] = {}
    for sandbox in sorted(sandboxes, key=lambda one: one.isolation.strength, reverse=True):
        if wanted != AUTO and sandbox.isolation not in named(wanted):
            continue
        if isinstance(sandbox, PluginSandbox) and wanted != f"{PREFIX}{sandbox.name}":
            continue
        if wanted == AUTO and sandbox.isolation.is_promised:  # nothing changes where code runs unless that was chosen
            continue
        readiness = await (sandbox.check() if check is None else check(sandbox))
        if readiness.ready:
            return ChosenSandbox(sandbox, _why(wanted, passed_over), unanswered)
        if readiness.unanswered:
            unanswered = sandbox.isolation
        problem = KnownError(readiness.problem, readiness.remedy)
        passed_over.setdefault(readiness.problem, []).append(sandbox.isolation.value)
    kind = wanted.partition(":")[0]
    if kind in UNAVAILABLE and not any(one.isolation in named(wanted) for one in sandboxes):
        problem = KnownError(*UNAVAILABLE[kind])
    if fall_back and wanted != AUTO:
        instead = await choose(AUTO, sandboxes, check=check)
        return replace(instead, why=f"In place of {wanted}, which the settings name: {problem.what}")
    raise problem


def _why(wanted: str, passed_over: dict[str, list[str]]) -> str:
    """Return why one was taken; `passed_over` are the stronger ones by what keeps them from working."""
    if wanted != AUTO:
        return "Named in the settings."
    problems = (f"{' and '.join(names)}: {problem}" for problem, names in passed_over.items())
    return " ".join(["Strongest available here.", *problems])
