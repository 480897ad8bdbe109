"""A project with its layer as the workspace of a container: a folder of this machine that the engine binds.

An engine can bind what it sees itself: a copy of the project, and no layer that is mounted for one session alone. Whose
folder it has bound is found out before the code is sent: an engine elsewhere has folders of the same name.
"""

from __future__ import annotations

import base64
import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.model.language_support import LANGUAGES
from runner.model.request import Isolation, Language
from runner.model.workspace import WORKSPACE
from runner.sandbox import files
from runner.sandbox.container.shape import BoundProject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.sandbox.container.engine import Calls, ContainerEngine
    from runner.sandbox.contract import Job, ProjectLayer

IN_MEMORY = "workspace in memory, limited in size"
NO_HOST, SYSTEM = "read-only system, nothing of the host's", "read-only system, of the host the working copy alone"
ORDINARY, UNPRIVILEGED = "ordinary user, no privileges to gain", "no privileges, and none to gain"
OVER_PROJECT = "writes land in the working copy's own copy, never in the project"
OWN_SHELL = "Run it in the program's own shell, which is contained as well, or choose the local sandbox in Settings"
COPY = f"{OWN_SHELL}; a program that is started with `assent work --copy` works over a copy, which can be shown."
STAT = "X-Docker-Container-Path-Stat"
LOOKS = 5
"""At a folder that whoever is at work changes meanwhile."""


def protections(
    isolation: Isolation, client: ContainerEngine, ready: Sequence[str], *, mounted: bool
) -> tuple[str, ...]:
    """Return those of a run over a project, of those that all runs have. Raises KnownError where there is none."""
    if mounted:
        what = f"{isolation.label} cannot be shown this working copy: its layer is mounted for the program alone."
        raise KnownError(f"{what} Nothing was run.", COPY)
    if why := client.unshown:
        raise KnownError(f"{isolation.label} cannot be shown a working copy: {why}. Nothing was run.", f"{OWN_SHELL}.")
    # The folder is root's where the console is: the code takes the files as their owner.
    said = {NO_HOST: SYSTEM} | ({ORDINARY: UNPRIVILEGED} if os.geteuid() == 0 else {})
    return (*(said.get(one, one) for one in ready if one != IN_MEMORY), OVER_PROJECT)


def bound(layer: ProjectLayer) -> BoundProject:
    """Return how a container gets it: as whoever owns it, since the code takes the files as the session does."""
    found = os.fstat(layer.folder)
    return BoundProject(layer.path, found.st_uid, found.st_gid)


def main(job: Job) -> str:
    """Return where the code of a run is put: beside the project, but for JavaScript, which finds modules from there."""
    return f"{WORKSPACE}/.{job.id}" if job.language is Language.JAVASCRIPT else "/tmp/.main"


def tidy(layer: ProjectLayer, job: Job) -> None:
    """Take the code of a run out of the project again."""
    if job.language is Language.JAVASCRIPT:
        files.remove(f"/proc/self/fd/{layer.folder}/.", f".{job.id}.{LANGUAGES[job.language].suffix}")


async def require_shown(client: ContainerEngine, container: str, layer: ProjectLayer) -> None:
    """Raise KnownError unless the workspace of a container is this very folder. Raises EngineGone and Denied."""
    for _ in range(LOOKS):
        before = os.fstat(layer.folder).st_mtime_ns
        seen = await client.call(lambda api: _changed(api, container))
        if seen == before:
            return
    raise KnownError(
        "The container does not show the project as the program at work sees it, so nothing was run in it.",
        f"{OWN_SHELL}.",
    )


def _changed(api: Calls, container: str) -> int:
    """Return when the workspace of a container was changed last, in ns since the epoch; 0 where that is not said."""
    sdk: Any = api
    answer = sdk.head(sdk._url("/containers/{0}/archive", container), params={"path": WORKSPACE})
    try:
        text = str(json.loads(base64.b64decode(answer.headers[STAT]))["mtime"])
        moment, _, fraction = text.removesuffix("Z").partition(".")
        zone = "+00:00" if text.endswith("Z") else text[-6:]
        seconds = datetime.fromisoformat(moment.removesuffix(zone) + zone).astimezone(UTC).timestamp()
        return int(seconds) * 10**9 + int(fraction.removesuffix(zone).ljust(9, "0") or "0")
    except (KeyError, ValueError):
        return 0
