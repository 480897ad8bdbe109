"""Looks whether the packages of a kept sandbox are as they were installed, before code that imports them runs there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.language_support import packages_of
from runner.model.request import Limits
from runner.model.result import Outcome
from runner.model.workspace import WORKSPACE
from runner.sandbox.contract import Job, NotPermitted
from runner.sandbox.file_names import shown
from runner.sandbox.programs import inside

if TYPE_CHECKING:
    from runner.model.request import Request
    from runner.model.result import Usage
    from runner.packages.installing import PackageSet
    from runner.sandbox.contract import Session

SECONDS = 60.0
"""For everything to be read: a large set has some 500 MB."""
AGAIN = "Nothing was run. Install the packages again, then ask again."


class Altered(NotPermitted):
    """A file of the packages is not as it was installed."""


def mentions(request: Request, packages: PackageSet) -> bool:
    """Return whether code of `request` may import any of `packages` by its name. Takes its time for long code."""
    if packages_of(request.language) is None:
        return False
    texts = (request.code, *(file.text for file in request.known))
    return any(name in text for text in texts for name in packages.names)


async def require(session: Session, request: Request, packages: PackageSet) -> None:
    """Raise Altered where a file of `packages` is another one than was installed, and KnownError where none can tell.

    Nothing else may run in the sandbox until the code does: what was looked at stays as it is.
    """
    support = packages_of(request.language)
    assert request.language is not None and support is not None
    orders = {"folder": f"{WORKSPACE}/{support.folder}", "files": dict(packages.files)}
    job = Job(
        id=f"{request.id} packages",
        language=request.language,
        code=inside(support.checker),
        limits=Limits(seconds=SECONDS),
        stdin=json.dumps(orders),
        own_modules=False,
        image=request.image,
    )
    run = await session.start(job, _unmeasured)
    try:
        result = await run.finished()
    finally:
        run.transcript.release()
    place = _said(result.stdout) if result.outcome is Outcome.OK else None
    if place is None:
        said = " ".join(result.stderr.split())[-300:] or result.error
        raise KnownError(f"The installed packages could not be looked at: {said}", AGAIN)
    if place:
        name = shown(place.encode("utf-8", "surrogateescape"))[:300]
        raise Altered(f"{WORKSPACE}/{support.folder}/{name} is not as it was installed.", AGAIN)


def _said(text: str) -> str | None:
    """Return the place that the program named; None where it said nothing of the kind."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, str) else None


def _unmeasured(_usage: Usage) -> None:
    """Take no notice of what it uses."""
