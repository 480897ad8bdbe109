"""Trees of the last programs that were read: kept until the answer is there, as they are needed more than once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

_GIVE_UP: list[Callable[[], None]] = []


def until_forgotten(give_up: Callable[[], None]) -> None:
    """Have `forget` call `give_up`, which clears something that is held."""
    _GIVE_UP.append(give_up)


def forget() -> None:
    """Give up all that is held."""
    for give_up in _GIVE_UP:
        give_up()


@lru_cache(maxsize=8)
def found_in(code: str, pattern: re.Pattern[str]) -> bool:
    """Return whether a program has `pattern` in it: looked for once, however many of its calls ask."""
    return pattern.search(code) is not None


until_forgotten(found_in.cache_clear)
