"""Steps that make an image: their effects on the image, and not on the machine on which it is made."""

from __future__ import annotations

from runner.model.assessment import Level
from runner.risk.model.outline_data import words

IN_AN_IMAGE = "in an image"
"""The label of acts that make an image."""
OWN = words(
    "files.destroy-logs files.destroy-system files.in-place files.overwrite-system noted.delete-outside noted.install "
    "noted.listen noted.write persistence.system-program privileges.account rights.outside"
)
"""Rules about places and accounts of a system, which are those of the image here."""
FETCHED = words("remote.drop-executable remote.drop-run remote.drop-system")
"""Rules about programs from elsewhere: most images hold some, and all the same a person should see from where."""


def milder(rule: str, level: Level) -> Level:
    """Return the level of a finding by `rule` about a step that makes an image."""
    if rule in OWN:
        return Level.LOW
    return min(level, Level.MEDIUM) if rule in FETCHED else level
