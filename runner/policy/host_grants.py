"""Makes grants for hosts: what a person allows one agent's networked runs to reach from now on (spec N3, A6)."""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING

from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.model.request import Tool
from runner.policy.grants import Grant, Subject, forbidden, most_uses

if TYPE_CHECKING:
    from runner.model.network import Destination

MONTH = 30 * 86_400.0
"""Seconds for which a host is granted unless the person chooses otherwise."""


def for_host(
    agent: str,
    destination: Destination,
    title: str,
    now: float,
    *,
    private: str,
    seconds: float = MONTH,
    uses: int = most_uses(Level.LOW),
) -> Grant:
    """Return the grant of `destination` to `agent` for `seconds`. Raises KnownError where it is not allowed.

    `title` is that of the request in which the host was refused, `now` seconds since the epoch. `private` also lets it
    lead to an address inside the own network.
    """
    grant = Grant(
        name=f"{re.sub(r'[^A-Za-z0-9._-]', '-', agent)[:40]}-{Subject.HOST}-{secrets.token_hex(4)}",
        made_at=now,
        subject=Subject.HOST,
        tool=Tool.CODE_EXECUTE,
        title=title,
        uses=uses,
        level=Level.LOW,
        agent=agent,
        pattern=str(destination),
        private=private,
        expires_at=now + seconds,
    )
    if why := forbidden(grant):
        raise KnownError(why, "Choose less, or allow the host for each run.")
    return grant
