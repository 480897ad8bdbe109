"""The choice among the engine's runtimes for the containers of a sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.model.request import Isolation
from runner.sandbox.container.shape import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.sandbox.container.engine import ContainerEngine

REPORTS_TO = "--pod-init-config="
"""Argument of a runtime that reports what code does; a place follows."""
NO_RUNTIME = {
    Isolation.GVISOR: ("gVisor is not available here.", "Install runsc and register it: runsc install"),
    Isolation.DOCKER: ("The container engine has no runtime runc.", "Install runc."),
}


async def runtimes(client: ContainerEngine, isolation: Isolation, known: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of those that may carry it, the best first: one that reports what code does, and a plain one.

    `known` are the engine's. Raises KnownError where there is none.
    """
    plain = _plain(isolation, known)
    reporting = await client.reporting(known) if isolation is Isolation.GVISOR else ""
    return (reporting, plain) if reporting else (plain,)


def _plain(isolation: Isolation, known: Mapping[str, Any]) -> str:
    wanted = NAMES[isolation]
    alike = [name for name, one in known.items() if str(one.get("path", "")).rpartition("/")[2] == wanted]
    if wanted not in known and not alike:
        raise KnownError(*NO_RUNTIME[isolation])
    # One that reports may be another account's, which is not to learn of it.
    return wanted if wanted in known else min(alike, key=lambda name: REPORTS_TO in str(known[name]))
