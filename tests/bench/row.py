"""One line of the bench: a figure, the floor it is held against, and whether the goal is met."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """`ratio` is `value / floor` where there is a floor. All figures are of the same run on the same machine."""

    name: str
    value: float
    unit: str
    floor: float | None = None
    goal: str = ""
    met: bool | None = None

    @property
    def ratio(self) -> float | None:
        return None if not self.floor else self.value / self.floor


def percentile(values: list[float], share: float) -> float:
    """The value below which `share` (0 to 1) of all lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
