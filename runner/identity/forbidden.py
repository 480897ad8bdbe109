"""Parts of a request that the person does not let its agent have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.identity.allowance import Allowance
from runner.model.request import NetworkMode, Tool
from runner.model.tool_facts import CLIENT_TOOLS, NEW_PLACE
from runner.settings.default_packages import default_packages

if TYPE_CHECKING:
    from runner.model.request import Request
    from runner.settings.loading import Settings


def forbidden(request: Request, allowance: Allowance, settings: Settings) -> str:
    """Return why `allowance` forbids a request, in a sentence for agent and person; empty where it does not.

    Packages that the settings put into every sandbox are not asked for by the agent.
    """
    if allowance == Allowance():
        return ""
    if not allowance.network and (request.network is not NetworkMode.NONE or request.tool is Tool.CLIENT_FETCH):
        return "The person does not let this agent ask for network."
    if request.tool in CLIENT_TOOLS:
        return ""
    language = request.language.value if request.language is not None and request.tool in NEW_PLACE else ""
    if allowance.languages and language and language not in allowance.languages:
        return f"The person lets this agent use {' and '.join(allowance.languages)} only, not {language}."
    if not allowance.packages and _asked_for(request, settings):
        return "The person does not let this agent ask for packages."
    if request.tool in NEW_PLACE and allowance.memory_mb and request.limits.memory_mb > allowance.memory_mb:
        what = "A sandbox" if request.sandbox else "A run"
        return f"{what} of this agent may have at most {allowance.memory_mb:,} MB of memory."
    if request.tool is Tool.CODE_EXECUTE and allowance.seconds and request.limits.seconds > allowance.seconds:
        return f"A run of this agent may take at most {allowance.seconds:g} s."
    return ""


def _asked_for(request: Request, settings: Settings) -> bool:
    """Return whether the agent asks for packages besides those of every sandbox."""
    if request.tool is Tool.CODE_INSTALL_PACKAGE:
        return True
    return not {*request.packages} <= {*default_packages(request.language, settings)}
