"""The progress of writing changes, or of removing a working copy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Report = Callable[["WriteProgress"], None]
    """Called in the thread that writes. While that is not `sure` it may raise, which ends it with nothing changed."""


@dataclass(frozen=True, slots=True)
class WriteProgress:
    """How much is done of how much."""

    done: int
    """Paths."""
    total: int
    size: int = 0
    """Bytes that were copied."""
    whole: int = 0
    """Bytes that are to be copied altogether."""
    sure: bool = False
    """Whether it is completed from here on, whatever happens: nothing can end it with the old state any more."""

    @property
    def words(self) -> str:
        """Return it in numbers; bytes only where there are many."""
        amount = f"{self.done:,} of {self.total:,}"
        if not self.sure and self.whole >= MANY_BYTES:
            return f"{amount}, {self.size / 1e6:,.0f} of {self.whole / 1e6:,.0f} MB"
        return amount


MANY_BYTES = 20_000_000


def unheard(_progress: WriteProgress) -> None:
    """Nobody looks."""
