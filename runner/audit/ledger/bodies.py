"""Reads the bodies of entries."""

from __future__ import annotations

import json
from typing import Any

_decode = json.JSONDecoder().raw_decode
_BEFORE_CURVE = '{"contacts":[],"contacts_left_out":0,"curve":['
_AFTER_CURVE = '],"duration":'


def parsed(data: str) -> Any:
    """Return a body as JSON data, without the readings of a curve, which are most of it. Raises ValueError."""
    if data.startswith(_BEFORE_CURVE):
        begin = len(_BEFORE_CURVE)
        finish = data.find("]", begin)
        # A nested list, or a bracket in a text, is no curve: that is read as it stands.
        if data.find("[", begin, finish) < 0 and data.startswith(_AFTER_CURVE, finish):
            data = _BEFORE_CURVE + data[finish:]
    body, end = _decode(data)
    if end != len(data):
        raise ValueError("more than JSON")
    return body


def values(data: str) -> dict[str, Any]:
    """Return the values of an entry; none where the text was damaged: Verify says so."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
