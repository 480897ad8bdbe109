"""The order of waiting requests: a lane per agent, the soonest to expire first, nothing moves under the pointer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.cases import Card


@dataclass(frozen=True, slots=True)
class Lane:
    """The heading above an agent's requests. An empty name heads what came in while the order was held."""

    agent: str


@dataclass(frozen=True, slots=True)
class Place:
    """The line of one request."""

    request_id: str


Line = Lane | Place

NEW = Lane("")


class Order:
    """Turns the open questions into lines. Lanes keep the order in which their agents first asked."""

    def __init__(self) -> None:
        self._lanes: list[str] = []

    def settled(self, waiting: Iterable[Card]) -> list[Line]:
        """Lanes with their requests in order."""
        by_agent: dict[str, list[Card]] = {}
        for card in waiting:
            by_agent.setdefault(card.request.agent, []).append(card)
        self._lanes = [agent for agent in self._lanes if agent in by_agent]
        self._lanes += [agent for agent in by_agent if agent not in self._lanes]
        lines: list[Line] = []
        for agent in self._lanes:
            lines.append(Lane(agent))
            lines += [Place(card.id) for card in sorted(by_agent[agent], key=_urgency)]
        return lines

    def held(self, lines: list[Line], waiting: Iterable[Card]) -> list[Line]:
        """`lines` as they are, with what is not among them at the end under a heading of its own."""
        known = {line.request_id for line in lines if isinstance(line, Place)}
        fresh: list[Line] = [Place(card.id) for card in waiting if card.id not in known]
        if fresh and NEW not in lines:
            return [*lines, NEW, *fresh]
        return [*lines, *fresh]


def _urgency(card: Card) -> tuple[float, float]:
    return (card.deadline or 0.0, card.arrived)
