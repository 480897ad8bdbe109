"""Failures between us and a service, and the words for them."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from runner.sandbox.container.failures import Denied, EngineGone, EngineHangs

if TYPE_CHECKING:
    from collections.abc import Mapping

REMEDY = (
    "Look at the network and at e2b.* in the settings. Nothing was run anywhere else; a sandbox that runs there ends "
    "by itself within five minutes."
)
"""The minutes are `calls.LIFE_SECONDS`."""
LONGEST = 300
"""Characters that are shown of what a service says."""


def unreachable(host: str, why: str) -> EngineGone:
    return EngineGone(f"E2B at {host} cannot be reached: {why.strip().rstrip('.') or 'it hangs up'}.", REMEDY)


def silent(host: str) -> EngineHangs:
    return EngineHangs(f"E2B at {host} does not answer.", REMEDY)


def rubbish(host: str, what: str) -> EngineGone:
    """Return what to say of an answer that is none of E2B's API."""
    return EngineGone(f"{host} does not speak E2B's API: {what}.", "Look at e2b.domain and e2b.api_url in Settings.")


def refused(host: str, status: int, message: str, headers: Mapping[str, str]) -> EngineGone | Denied:
    """Return what to say of a status that is no success; `Denied` where the service has understood and says no."""
    said = " ".join(message.split())[:LONGEST].rstrip(".")
    match status:
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return EngineGone(f"E2B at {host} does not accept the key.", "Store another with: assent e2b-key")
        case HTTPStatus.TOO_MANY_REQUESTS:
            wait = headers.get("retry-after", "")
            when = f" in {wait} s" if wait.isdigit() else " later"
            quota = f": {said}" if said else ""
            what = f"your quota at {host} is spent{quota}. Ask again{when}, or end other sandboxes there"
            return Denied(status, what)
        case _ if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            what = f": {said}" if said else ""
            return EngineGone(f"E2B at {host} fails with {status}{what}.", REMEDY)
        case _:
            return Denied(status, said or f"{host} answers {status}")


GONE = "The sandbox at {} is gone: its time was up, or somebody else has ended it"
"""Of a sandbox that the service does not know any more."""
