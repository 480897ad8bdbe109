"""Distinguishes the requests of several sessions of one agent."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.model.request import Request


class SentRequest(Protocol):
    """A request as the window shows it."""

    request: Request
    several: bool
    """Another session of the agent has a request open."""


def tell_apart(cards: Iterable[SentRequest]) -> None:
    """Mark the requests of agents that have one open in another session or from another program."""
    cards = tuple(cards)
    sessions: defaultdict[str, set[object]] = defaultdict(set)
    programs: defaultdict[str, set[object]] = defaultdict(set)
    for card in cards:
        request = card.request
        sessions[request.agent].add(request.session or None)
        programs[request.agent].add(request.program or None)
    several = {agent for known in (sessions, programs) for agent, ones in known.items() if len(ones - {None}) > 1}
    for card in cards:
        card.several = card.request.agent in several
