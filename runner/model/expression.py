"""Regular expressions that are compiled when they are first used.

Compiling all that the classifier has takes longer than loading every grammar; one program needs a few of them.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

USES = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class _Later:
    """Stands for `re.compile(text, flags)`; from its first use on it has that one's own methods."""

    def __init__(self, text: str | bytes, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._text, self._flags)
        vars(self).update((use, getattr(compiled, use)) for use in USES)
        return getattr(compiled, name)


def expression(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return `re.compile(text, flags)`, to be compiled at the first use: a wrong one raises only then.

    For expressions of our own; a test compiles all of them.
    """
    return cast("re.Pattern[AnyStr]", _Later(text, flags))
