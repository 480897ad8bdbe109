"""Near-identical requests: the same in everything that decides but for numbers and quoted texts."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from app.state.attention import rank
from runner.approval.pattern import LITERALS, LONGEST

if TYPE_CHECKING:
    from app.state.cards import Card


def likeness(card: Card) -> str:
    """Return one value for all requests of a group. Class and attention count: none hides behind less bad ones."""
    request = card.request
    code = request.code if len(request.code) > LONGEST else LITERALS.sub("\N{BULLET}", request.code)
    # All that the digest covers: what is added to it some day keeps requests apart at once.
    parts = (card.level, rank(card), card.blocked, {**request.deciding(), "code": code})
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()
