"""Regular expressions of the rules that come with Assent, each compiled when it is first needed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Expression:
    """One expression. Compiling all of them takes as long as loading every grammar; most programs need a few."""

    __slots__ = ("_compiled", "_flags", "_text")

    def __init__(self, text: str, flags: int = 0) -> None:
        self._text, self._flags = text, flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        """Raises re.error for a wrong expression; a test compiles all of them."""
        if self._compiled is None:
            self._compiled = re.compile(self._text, self._flags)
        return self._compiled

    def found_in(self, text: str) -> bool:
        return self.compiled.search(text) is not None

    def all_in(self, text: str) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text)
