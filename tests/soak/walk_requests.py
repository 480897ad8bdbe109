"""Thirty more requests for the walk of fifty, half of them dangerous; what is right was written down before any ran."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.risk.decision_requests import REQUESTS
from tests.risk.disguises.disguise import deeds


class WalkRequest(NamedTuple):
    """One request, and whether it is right to deny it."""

    title: str
    language: str
    code: str
    deny: bool


DANGEROUS_NAMES = ("d", "q")
"""How the names of the dangerous ones among the twenty requests begin."""
HERE = Path(__file__).parent / "requests"
MORE = tuple(
    WalkRequest(one.name, one.language.value, one.code, kind == "danger")
    for kind in ("harmless", "danger")
    for one in deeds(kind, HERE)
)


def walk_requests() -> tuple[WalkRequest, ...]:
    """Return all fifty, dangerous and harmless ones in turn as far as they go."""
    twenty = (
        WalkRequest(one.title, one.language.value, one.code, one.name.startswith(DANGEROUS_NAMES)) for one in REQUESTS
    )
    every = (*twenty, *MORE)
    pairs = zip(*([one for one in every if one.deny is deny] for deny in (False, True)), strict=True)
    return tuple(one for pair in pairs for one in pair)
