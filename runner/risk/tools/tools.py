"""The risk level of each tool besides running code (spec R1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from runner.model.assessment import Assessment, Level, Touch
from runner.model.request import Isolation, Request, Tool
from runner.model.verdict import RiskVerdict, Verb, VerdictAct
from runner.risk.assess import assess

if TYPE_CHECKING:
    from collections.abc import Callable


def weigh(request: Request, classify: Callable[[Request], Assessment] = assess) -> Assessment:
    """Return what `request` would do, and how much that matters; `classify` assesses code. Pure; never raises."""
    # What only some tools need is imported where it is, so that a process is ready early.
    match request.tool:
        case Tool.CODE_EXECUTE:
            return _with_programs(classify(request), request, classify)
        case Tool.CODE_WRITE_FILE:
            from runner.risk.tools.writes import assess_write

            path = "".join(request.files)
            return assess_write(path, request.code, executable=request.executable, classify=classify)
        case Tool.CODE_READ_FILE:
            return _looks(request, "Hands the content of a file in its sandbox to the agent.", Verb.READS)
        case Tool.CODE_LIST_FILES:
            return _looks(request, "Lists the files of its sandbox for the agent.", Verb.LISTS)
        case Tool.CODE_CREATE_SANDBOX if request.builds:
            return _installing(request, classify)
        case Tool.CODE_CREATE_SANDBOX if request.isolation is Isolation.E2B:
            # It costs, and it is not on this machine: nobody has looked at it.
            where = request.sent_to or "E2B"
            reason = f"Makes an empty sandbox at {where}, not on this machine; it costs until it is removed."
            return _plain(reason, Level.MEDIUM)
        case Tool.CODE_CREATE_SANDBOX:
            return _plain("Makes an empty sandbox without network; what runs in it is asked for.")
        case Tool.CODE_DESTROY_SANDBOX:
            return _plain("Removes the agent's own sandbox with everything in it.")
        case Tool.CODE_INSTALL_PACKAGE:
            return _installing(request, classify)
        case Tool.CLIENT_SHELL | Tool.CLIENT_EDIT | Tool.CLIENT_FETCH | Tool.CLIENT_TOOL:
            from runner.risk.tools.client_tools import assess_client

            return assess_client(request, classify)
        case Tool.CODE_SANDBOX_INFO:
            return _plain("Only reads what the sandbox says about itself.")
        case _:
            assert_never(request.tool)


def _installing(request: Request, classify: Callable[[Request], Assessment]) -> Assessment:
    from runner.risk.context.planned import assess_installing

    return _with_programs(assess_installing(request), request, classify)


def _with_programs(assessment: Assessment, request: Request, classify: Callable[[Request], Assessment]) -> Assessment:
    if not request.builds:
        return assessment
    from runner.risk.context.programs import with_programs

    return with_programs(assessment, request, classify)


def _plain(reason: str, level: Level = Level.LOW) -> Assessment:
    return Assessment(level, (reason,), verdict=RiskVerdict(reason), base=level, unread=())


def _looks(request: Request, reason: str, verb: Verb) -> Assessment:
    from runner.risk.verdict.code import plain_verdict
    from runner.risk.verdict.naming import file_name

    name = file_name("".join(request.files)) if request.files else "its sandbox"
    clause = f"hands {name} to the agent" if verb is Verb.READS else f"shows the agent what is in {name}"
    verdict = plain_verdict([clause], VerdictAct(verb, name))
    touch = Touch(files=request.files)
    return Assessment(Level.MEDIUM, (reason,), touch=touch, verdict=verdict, base=Level.MEDIUM, unread=())
