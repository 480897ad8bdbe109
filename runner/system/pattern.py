"""Patterns that people write in rules: regular expressions that take linear time whatever the text.

Python's own `re` needs exponential time for some pairs of pattern and text, and the text here is an agent's. RE2 has
no such pairs; in return it knows neither look-around nor back-references.
"""

from __future__ import annotations

from typing import Any

MOST_CHARACTERS = 2000
MOST_MEMORY = 8 << 20
"""Bytes that one compiled pattern may use."""


class Pattern:
    """One pattern, searched anywhere in a text."""

    def __init__(self, text: str) -> None:
        """Raise ValueError with half a sentence for a pattern that is too long or cannot be compiled."""
        if len(text) > MOST_CHARACTERS:
            raise ValueError(f"the pattern has more than {MOST_CHARACTERS:,} characters")
        # Imported here: most people have no rule with a pattern.
        import re2

        options = re2.Options()
        options.log_errors = False
        options.max_mem = MOST_MEMORY
        self.text = text
        try:
            self._compiled: Any = re2.compile(_bytes(text), options)
        except re2.error as error:
            reason = error.args[0] if error.args else "not valid"
            why = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
            raise ValueError(f"the pattern cannot be used: {why} (RE2 syntax: no look-around, no \\1)") from error

    def found_in(self, text: str) -> bool:
        return self._compiled.search(_bytes(text)) is not None


def _bytes(text: str) -> bytes:
    # A lone surrogate has no bytes. Replaced by a question mark it is still a character that `.` matches, so it
    # hides nothing; and a character outside the pattern stays outside.
    return text.encode("utf-8", "replace")
