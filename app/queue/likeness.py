"""Which requests are near-identical: the same in everything that decides but for numbers and quoted texts."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from app.attention import rank

if TYPE_CHECKING:
    from app.cards import Card

LONGEST = 50_000
"""Characters above which only the same code is alike."""
_LITERALS = re.compile(r'"[^"\n]*"|\'[^\'\n]*\'|\b\d[\w.]*')


def likeness(card: Card) -> str:
    """Return one value for all requests of a group. Class and attention count: none hides behind less bad ones."""
    request = card.request
    code = request.code if len(request.code) > LONGEST else _LITERALS.sub("\N{BULLET}", request.code)
    # All that the digest covers: what is added to it some day keeps requests apart at once.
    parts = (card.level, rank(card), card.blocked, {**request.deciding(), "code": code})
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()
