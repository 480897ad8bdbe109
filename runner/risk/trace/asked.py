"""What a program asks of functions that are known by their names alone: where it calls them, with which constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.acts import NamedCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from runner.risk.model.acts import Place, Trail
    from runner.risk.model.value import Value

MOST_OF_ONE = 6
"""Calls of one function that are kept."""
MOST_CONSTANTS = 4
LONGEST = 60


def note_asked_of(trail: Trail, name: str, args: Sequence[Value], named: Mapping[str, Value], place: Place) -> None:
    """Note a call of the function `name`."""
    known = trail.asked.setdefault(name, [])
    if len(known) >= MOST_OF_ONE:
        return
    values = (*args, *named.values())
    constants = tuple(_constants(values))
    if all(one.place != place or one.constants != constants for one in known):
        known.append(NamedCall(place, constants, values))


def _constants(values: Iterable[Value]) -> Iterator[str]:
    left = MOST_CONSTANTS
    for value in values:
        for one in (value, *(value.items or ())):
            said = one.exact
            if said is not None and 0 < len(said) <= LONGEST:
                yield said
                left -= 1
            if not left:
                return
