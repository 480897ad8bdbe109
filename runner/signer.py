"""The key that signs the history: where it is kept, and its public half for whoever checks (spec H1)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from runner.audit.seal import Seal, new_key
from runner.errors import KnownError
from runner.secrets import Secrets
from runner.settings import load

if TYPE_CHECKING:
    from runner.places import Places

NAME = "ledger-seal"
"""Name of the key among the secrets."""


def signing_key(secrets: Secrets) -> bytes:
    """The private key, made at the first call. May wait for the keyring. Raises KnownError."""
    if stored := secrets.get(NAME):
        return bytes.fromhex(stored)
    key = new_key()
    secrets.set(NAME, key.hex())
    return key


def public_key(places: Places) -> str:
    """The public key (hex) of this installation, '' where there is none. May wait for the keyring."""
    try:
        key = Secrets(places, load(places, os.environ).settings).get(NAME)
        return Seal(bytes.fromhex(key)).public if key else ""
    except (KnownError, ValueError):
        return ""
