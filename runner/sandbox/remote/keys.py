"""The key for E2B: in the environment, else in the keyring."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runner.identity.secrets import Secrets

if TYPE_CHECKING:
    from runner.settings.loading import Settings
    from runner.system.places import Places

VARIABLE = "E2B_API_KEY"
NAME = "e2b-key"
"""What the keyring calls it."""


def find(places: Places, settings: Settings, secrets: Secrets | None = None) -> str:
    """Return the key, '' where there is none. May take some seconds. Raises KnownError where it cannot be known."""
    if given := os.environ.get(VARIABLE, "").strip():
        return given
    return (secrets or Secrets(places, settings)).find(NAME) or ""
