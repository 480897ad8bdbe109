"""Takes the sandbox that the settings ask for, or the strongest that works here (spec X1, X9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.errors import KnownError
from runner.request import Isolation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.sandbox.contract import Sandbox

AUTO = "auto"
UNAVAILABLE = {
    "docker": ("Docker daemon not available.", "Set SANDBOX_TYPE=local or start the Docker daemon."),
    "gvisor": (
        "gVisor is not available here.",
        "Set SANDBOX_TYPE=local, or install runsc and start the Docker daemon.",
    ),
    "e2b": ("The E2B cloud sandbox is not available here.", "Set SANDBOX_TYPE=local."),
}
"""What to say of a sandbox that was asked for and is not there (source document 1, scenario 7)."""
NAMES = {"local": Isolation.LOCAL, "docker": Isolation.DOCKER, "gvisor": Isolation.GVISOR, "e2b": Isolation.CLOUD}


async def choose(wanted: str, sandboxes: Sequence[Sandbox], *, fall_back: bool = False) -> Sandbox:
    """The sandbox that `wanted` (`SANDBOX_TYPE`) names; for `auto` the strongest of `sandboxes` that works.

    `fall_back` allows the strongest one that works in place of a named one that does not: the policy's to
    decide. Raises KnownError, in one message with what to do, where there is none.
    """
    if wanted != AUTO and wanted not in NAMES:
        raise KnownError(f"{wanted!r} is no kind of sandbox.", f"Set SANDBOX_TYPE to {AUTO}, {', '.join(NAMES)}.")
    problem = KnownError("There is no sandbox here.", "Set SANDBOX_TYPE=local.")
    for sandbox in sorted(sandboxes, key=lambda one: one.isolation.strength, reverse=True):
        if wanted != AUTO and NAMES[wanted] is not sandbox.isolation:
            continue
        readiness = await sandbox.check()
        if readiness.ready:
            return sandbox
        problem = KnownError(readiness.problem, readiness.remedy)
    if fall_back and wanted != AUTO:
        return await choose(AUTO, sandboxes)
    if wanted in UNAVAILABLE and not any(NAMES[wanted] is one.isolation for one in sandboxes):
        problem = KnownError(*UNAVAILABLE[wanted])
    raise problem
