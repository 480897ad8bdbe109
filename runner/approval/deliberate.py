"""The act by which a person approves: a key, the mouse only, a word that is typed, or a PIN."""

from __future__ import annotations

import secrets
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.model.assessment import Level

if TYPE_CHECKING:
    from runner.settings.declared import Settings

WORDS = (
    "amber apron birch bison brick cedar cello chalk cliff cobra comet coral crane daisy delta eagle ember fjord flint"
    " ginger grape hazel heron honey ivory jelly kayak lemon lilac maple melon mango nylon oasis olive onyx otter panda"
    " pearl piano plaza polar quartz raven river robin salmon sable sugar tango tiger topaz tulip umber velvet violet"
    " walnut willow zebra"
)
"""Short words that look like nothing else, parted by blanks; one is asked for at random."""
NEEDS_PIN = "Not approved: this needs the PIN (setting window.approve_by)."


class ApproveBy(StrEnum):
    """What a person approves a request with (`window.approve_by`)."""

    KEY = "key"
    MOUSE = "mouse"
    WORD = "word"
    PIN = "pin"

    @classmethod
    def of(cls, settings: Settings) -> ApproveBy:
        """Return what `settings` ask for."""
        return cls(settings.approve_by)

    def asks_word(self, level: Level | None) -> bool:
        """Return whether a request of `level` is approved with a word only; one that was not assessed is."""
        return self is ApproveBy.WORD and _deserves_proof(level)

    def asks_pin(self, level: Level | None) -> bool:
        """Return whether a request of `level` is approved with the PIN only; one that was not assessed is."""
        return self is ApproveBy.PIN and _deserves_proof(level)


def _deserves_proof(level: Level | None) -> bool:
    return level is None or level >= Level.HIGH


def unproven(settings: Settings, level: Level | None, *, proven: bool) -> str:
    """Return why an approval of `level` is not taken; empty where the right PIN came with it or none is asked for.

    Without a level it stands for something that lets code run unasked.
    """
    return NEEDS_PIN if not proven and ApproveBy.of(settings).asks_pin(level) else ""


def new_word() -> str:
    """Return the word that approves the question on screen, another one each time."""
    return secrets.choice(WORDS.split())
