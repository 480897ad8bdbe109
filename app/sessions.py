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
    known: defaultdict[tuple[str, str], set[object]] = defaultdict(set)
    for card in cards:
        for name in ("session", "program"):
            known[card.request.agent, name].add(getattr(card.request, name) or None)
    for card in cards:
        card.several = any(len(known[card.request.agent, name] - {None}) > 1 for name in ("session", "program"))
