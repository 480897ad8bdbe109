"""The order of requests: a lane per agent, the most worth a look first and of those the soonest to expire.

What is alike stands behind one, the missed last. The lane with the request most worth a look comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.queue.likeness import likeness
from app.state.attention import rank

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.state.cards import Card


@dataclass(frozen=True, slots=True)
class Lane:
    """The heading above an agent's requests. Without a name: of what was missed, or came while the order was held."""

    agent: str
    missed: bool = False


@dataclass(frozen=True, slots=True)
class RequestLine:
    """The line of one request."""

    request_id: str


Line = Lane | RequestLine

NEW = Lane("")
MISSED = Lane("", missed=True)


class Order:
    """Turns the open questions into lines. Lanes of the same attention keep the order in which agents first asked."""

    def __init__(self) -> None:
        self._lanes: list[str] = []
        self._likeness: dict[str, tuple[object, str]] = {}
        self.behind: dict[str, tuple[str, ...]] = {}
        """Requests that stand behind another one, by that one."""
        self.groups: dict[str, tuple[str, ...]] = {}
        """Requests of a group, the most urgent first, as of the last time they were settled."""
        self.opened: set[str] = set()
        """Groups whose members are all listed."""

    def settled(self, waiting: Iterable[Card], missed: Iterable[Card] = ()) -> list[Line]:
        """Return lanes with their requests in order, then what was missed."""
        by_agent: dict[str, list[Card]] = {}
        self.behind, self.groups = {}, {}
        waiting = tuple(waiting)
        self._likeness = {card.id: self._likeness[card.id] for card in waiting if card.id in self._likeness}
        for card in waiting:
            by_agent.setdefault(card.request.agent, []).append(card)
        self._lanes = [agent for agent in self._lanes if agent in by_agent]
        self._lanes += [agent for agent in by_agent if agent not in self._lanes]
        lines: list[Line] = []
        for agent in sorted(self._lanes, key=lambda agent: -max(map(rank, by_agent[agent]))):
            lines.append(Lane(agent))
            lines += self._grouped(sorted(by_agent[agent], key=_urgency))
        over: list[Line] = [RequestLine(card.id) for card in missed]
        return [*lines, MISSED, *over] if over else lines

    def _grouped(self, cards: list[Card]) -> list[Line]:
        """Return requests with those alike put behind the most urgent of them."""
        groups: dict[str, list[Card]] = {}
        for card in cards:
            groups.setdefault(self._group(card), []).append(card)
        lines: list[Line] = []
        for name, (first, *others) in groups.items():
            lines.append(RequestLine(first.id))
            self.groups[name] = (first.id, *(card.id for card in others))
            if name in self.opened:
                lines += [RequestLine(card.id) for card in others]
            elif others:
                self.behind[first.id] = tuple(card.id for card in others)
        return lines

    def _group(self, card: Card) -> str:
        """Return the group of a request, computed once for each of its assessments."""
        known = self._likeness.get(card.id)
        if known is None or known[0] is not card.assessment:
            known = self._likeness[card.id] = (card.assessment, likeness(card))
        return known[1]

    def group_of(self, request_id: str) -> str:
        """Return the group of a request that has been listed."""
        return self._likeness[request_id][1] if request_id in self._likeness else ""

    def held(self, lines: list[Line], waiting: Iterable[Card]) -> list[Line]:
        """Return `lines` as they are, followed by what is not among them under its own heading."""
        known = {line.request_id for line in lines if isinstance(line, RequestLine)}
        known.update(hidden for group in self.behind.values() for hidden in group)
        fresh: list[Line] = [RequestLine(card.id) for card in waiting if card.id not in known]
        if fresh and NEW not in lines:
            return [*lines, NEW, *fresh]
        return [*lines, *fresh]


def _urgency(card: Card) -> tuple[int, float, float]:
    return (-rank(card), card.due, card.arrived)
