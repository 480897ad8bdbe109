"""The one way in which the reader leaves something out for its size: that it did is noted, where it is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Sized

CUT = "cut"
"""The label of a value of which alternatives were dropped."""
CUT_OFF = frozenset({CUT})
T = TypeVar("T")


class Notes(Protocol):
    """Keeps what was left out: the trail of an assessment."""

    def cut_off(self, what: str, *, grave: bool = True) -> None:
        """Note that something was left out; `grave` says that it may have been anything."""


@overload
def bounded(noted: Notes | set[str], values: str, most: int, what: str, *, grave: bool = True) -> str: ...


@overload
def bounded(noted: Notes | set[str], values: list[T], most: int, what: str, *, grave: bool = True) -> list[T]: ...


@overload
def bounded(
    noted: Notes | set[str], values: tuple[T, ...], most: int, what: str, *, grave: bool = True
) -> tuple[T, ...]: ...


def bounded(noted: Notes | set[str], values: Any, most: int, what: str, *, grave: bool = True) -> Any:
    """Return the first `most` of `values`; note where there are more, on a trail or as a label of a value."""
    if is_beyond(noted, values, most, what, grave=grave):
        return values[:most]
    return values


def is_beyond(noted: Notes | set[str], values: Sized, most: int, what: str, *, grave: bool = True) -> bool:
    """Return whether there are more than `most` of what is looked at, and note it if so."""
    if len(values) <= most:
        return False
    if isinstance(noted, set):
        noted.add(CUT)
    else:
        noted.cut_off(f"Looks at no more than {most:,} {what}.", grave=grave)
    return True


def excerpt(text: str, longest: int) -> str:
    """Return as much of a text as is shown or named; nothing is decided by the rest."""
    return text[:longest]
