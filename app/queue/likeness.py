"""Which requests are near-identical: the same in everything that decides but for numbers and quoted texts."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.cards import Card

LONGEST = 50_000
"""Characters above which only the same code is alike."""
_LITERALS = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|\b\d[\w.]*')


def likeness(card: Card) -> str:
    """Return one value for all requests of a group. The level counts: a worse request never hides behind others."""
    request = card.request
    code = request.code if len(request.code) > LONGEST else _LITERALS.sub("\N{BULLET}", request.code)
    parts = (
        request.agent,
        request.tool,
        request.language,
        card.level,
        card.blocked,
        request.network,
        request.domains,
        request.granted,
        request.packages,
        request.files,
        request.stdin,
        request.known,
        request.limits,
        code,
    )
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()
