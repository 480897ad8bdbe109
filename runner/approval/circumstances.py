"""The facts of this moment that decide whether an approval counts: asked for at each use, never remembered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.model.request import Isolation, Request
    from runner.policy.decide import Policy
    from runner.settings.loading import Settings


@dataclass(frozen=True, slots=True)
class Circumstances:
    """The functions that tell it. Those that return a reason return '' where there is none."""

    policy: Callable[[], Policy]
    """Returns the policy in force."""
    settings: Callable[[], Settings]
    """Returns the settings in force."""
    registered: Callable[[str], float]
    """`registered(agent)` returns when it was added, in seconds since the epoch."""
    barred: Callable[[str, float], str]
    """`barred(agent, since)` returns why an agent's request of that time may not continue."""
    forbids: Callable[[Request, bool], str]
    """`forbids(request, unasked)` returns why what a person has set for its agent forbids it; `unasked` where it would
    start without a person's answer to it."""
    moved: Callable[[Request], str]
    """Returns why a request cannot start in the sandbox that it was shown for."""
    unready: Callable[[Request], str]
    """Returns why nothing can start for a request at present, although it may later."""
    held: Callable[[str], str]
    """`held(request_id)` returns why an open question is not approved yet."""
    keeps: Callable[[str], bool]
    """Returns whether a kept sandbox of that id is there."""
    where: Callable[[], Awaitable[tuple[Isolation, tuple[str, ...]]]]
    """Returns the kind and the protections of the sandbox in which code would run now."""
    unwritable: Callable[[], str]
    """Returns why the ledger cannot be written."""
    closing: Callable[[], str]
    """Returns why the console is closing."""
