"""The places outside of the ledger that a person chose for its signed heads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from runner.audit.outside.git_anchor import GitAnchor
from runner.audit.outside.outside import FileAnchor
from runner.audit.outside.stamps import TimeStamps

if TYPE_CHECKING:
    from runner.audit.outside.outside import OutsideAnchor
    from runner.settings.declared import Settings
    from runner.system.places import Places

STAMPS = "stamps"


def outside_anchors(settings: Settings, places: Places) -> tuple[OutsideAnchor, ...]:
    """Return the places that the settings name; none by default."""
    found: list[OutsideAnchor] = []
    if settings.history_anchor_file:
        found.append(FileAnchor(Path(settings.history_anchor_file).expanduser()))
    if settings.history_anchor_git:
        found.append(GitAnchor(Path(settings.history_anchor_git).expanduser()))
    if settings.history_anchor_tsa:
        authorities = settings.history_anchor_tsa_ca
        trusted = Path(authorities).expanduser() if authorities else None
        found.append(TimeStamps(places.data / STAMPS, settings.history_anchor_tsa, trusted))
    return tuple(found)
