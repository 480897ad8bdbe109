"""Tells a log-in that its client has renewed from anything else that may stand in the file now.

What a session wrote is not believed: only the values of the keys that a renewal changes may differ, and each has to be
of the kind that it was. So neither an address nor a command can come back with a log-in.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_BYTES = 1 << 20
LONGEST = 1 << 16
"""Characters of a token."""
NUMBERS = (int, float)


def is_renewed(before: bytes, after: bytes, renewed: Sequence[str]) -> bool:
    """Return whether `after` is the log-in `before` with other tokens."""
    try:
        old, new = json.loads(before), json.loads(after)
        after.decode("utf-8")
    except (ValueError, RecursionError):
        return False
    return old != new and _same(old, new, renewed)


def _same(old: object, new: object, renewed: Sequence[str], key: str = "") -> bool:
    """Return whether two values are the same, but for those of `renewed`."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(_same(old[one], new[one], renewed, one) for one in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(lambda a, b: _same(a, b, renewed), old, new))
    if type(old) is not type(new) and not (_is_number(old) and _is_number(new)):
        return False
    if key in renewed:
        return not isinstance(new, str) or (len(new) <= LONGEST and new.isascii() and new.isprintable())
    return old == new


def _is_number(value: object) -> bool:
    return isinstance(value, NUMBERS) and not isinstance(value, bool)
