"""The rules for what may be rehearsed, and where: narrow, as code starts there before anybody has decided.

A rehearsal has no network, none of the person's files and an empty workspace, and nobody gets what it produces before
a person hands it over. What remains is what code can do to the sandbox itself: use the machine, and attack the kernel.
So a person switches it on for an agent and chooses whether a kernel that is shared with the machine will do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.assessment import Level
from runner.model.language_support import LANGUAGES
from runner.model.rehearsal import RehearsalMode
from runner.model.request import ALL_LIMITS, Isolation, Tool
from runner.sandbox.local.group import GROUPED
from runner.sandbox.local.syscalls import FILTERED
from runner.sandbox.seccomp.own import WIDENED

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from runner.model.assessment import Assessment
    from runner.model.decision import Ask
    from runner.model.request import Request
    from runner.requests.case import Case

    class Rehearser(Protocol):
        """Rehearses requests while their question is open."""

        def begin(self, case: Case, ask: Ask) -> None:
            """Rehearse a request about which a person has just been asked, where that is switched on."""

        def end(self, case: Case) -> None:
            """End the rehearsal of a request whose question is over. Harmless where there is none."""


def kept_from_rehearsal(request: Request, assessment: Assessment, ask: Ask) -> str:
    """Return why a request cannot be rehearsed wherever code runs; empty where it can."""
    if request.tool is not Tool.CODE_EXECUTE:
        return "Only code is tried."
    if assessment.level is Level.CRITICAL:
        return "CRITICAL code is never started before you have decided."
    if ask.blocked:
        return "What cannot be approved is not tried."
    if request.sandbox:
        return "It uses a kept sandbox, which a trial would change."
    if request.work is not None:
        return "It is for a working copy, which a trial would change."
    if request.packages or request.plan is not None:
        return "It needs packages, which would be downloaded before you have decided."
    return ""


def kept_from_trial(request: Request) -> str:
    """Return why a request cannot be tried among decoys wherever code runs; empty where it can."""
    if request.tool is not Tool.CODE_EXECUTE or not request.code:
        return "Only code can be tried."
    if request.language is not None and (support := LANGUAGES[request.language]).toolchain is not None:
        return f"{support.title} is not tried among decoys: it is only read, or run."
    return ""


def too_weak(mode: RehearsalMode, isolation: Isolation, protections: Iterable[str], *, asked: bool = False) -> str:
    """Return why no code is run before an answer in a sandbox of this kind; empty where it may be.

    `protections` are those of the sandbox, in its words. `asked`: a person asks for this one, with the code on screen.
    """
    if isolation is Isolation.GVISOR:
        return ""
    if isolation is Isolation.GVISOR_DIRECT:
        # Without them its memory is watched: for what a person asks for that is more than the local sandbox has.
        return "" if asked or ALL_LIMITS in protections else f"{isolation.label} cannot bind memory and processor here."
    if mode is not RehearsalMode.ANY:
        return f"This agent's code is tried in gVisor only, and code runs in {_place(isolation)} here."
    protections = tuple(protections)
    if any(one.startswith(WIDENED) for one in protections):
        return f"Your seccomp profile allows more than Assent's own filter in {_place(isolation)}."
    if isolation is Isolation.DOCKER:
        return ""
    if isolation is not Isolation.LOCAL:
        return f"No code is tried in {_place(isolation)}."
    missing = [one for one in (FILTERED, *(() if asked else (GROUPED,))) if one not in protections]
    return f"The local sandbox is without this protection here: {missing[0]}." if missing else ""


def _place(isolation: Isolation) -> str:
    return {
        Isolation.PROCESS: "plain processes",
        Isolation.LOCAL: "the local sandbox",
        Isolation.DOCKER: "Docker",
        Isolation.E2B: "E2B",
        Isolation.PLUGIN: "a package's sandbox",
        Isolation.GVISOR_DIRECT: "gVisor without Docker",
        Isolation.GVISOR: "gVisor",
    }[isolation]
