"""What each tool would do, besides running code: the levels of spec R1."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from runner.model.assessment import Assessment, Level, Touch
from runner.model.request import Request, Tool
from runner.risk.assess import assess
from runner.risk.client_tools import assess_client
from runner.risk.planned import assess_installing
from runner.risk.programs import with_programs
from runner.risk.writes import assess_write

if TYPE_CHECKING:
    from collections.abc import Callable


def weigh(request: Request, classify: Callable[[Request], Assessment] = assess) -> Assessment:
    """Return what `request` would do, and how much that matters; `classify` assesses code. Pure; never raises."""
    match request.tool:
        case Tool.CODE_EXECUTE:
            return with_programs(classify(request), request, classify)
        case Tool.CODE_WRITE_FILE:
            path = "".join(request.files)
            return assess_write(path, request.code, executable=request.executable, classify=classify)
        case Tool.CODE_READ_FILE:
            return _looks(request, "Hands the content of a file in its sandbox to the agent.")
        case Tool.CODE_LIST_FILES:
            return _looks(request, "Tells the agent which files are in its sandbox.")
        case Tool.CODE_CREATE_SANDBOX if request.builds:
            return with_programs(assess_installing(request), request, classify)
        case Tool.CODE_CREATE_SANDBOX:
            return Assessment(Level.LOW, ("Makes an empty sandbox without network; what runs in it is asked for.",))
        case Tool.CODE_DESTROY_SANDBOX:
            return Assessment(Level.LOW, ("Removes the agent's own sandbox with everything in it.",))
        case Tool.CODE_INSTALL_PACKAGE:
            return with_programs(assess_installing(request), request, classify)
        case Tool.CLIENT_SHELL | Tool.CLIENT_EDIT | Tool.CLIENT_FETCH | Tool.CLIENT_TOOL:
            return assess_client(request, classify)
        case Tool.CODE_SANDBOX_INFO:
            return Assessment(Level.LOW, ("Only reads what the sandbox says about itself.",))
        case _:
            assert_never(request.tool)


def _looks(request: Request, reason: str) -> Assessment:
    return Assessment(Level.MEDIUM, (reason,), touch=Touch(files=request.files))
