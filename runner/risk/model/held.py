"""Trees of the last programs that were read: kept until the answer is there, as they are needed more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_GIVE_UP: list[Callable[[], None]] = []


def until_forgotten(give_up: Callable[[], None]) -> None:
    """Have `forget` call `give_up`, which clears something that is held."""
    _GIVE_UP.append(give_up)


def forget() -> None:
    """Give up all that is held."""
    for give_up in _GIVE_UP:
        give_up()
