"""`assent e2b-key`: stores the key for E2B, or takes it away."""

from __future__ import annotations

import getpass
import os
import sys
from typing import TYPE_CHECKING

from runner.identity.secrets import Secrets, Vault
from runner.model.errors import KnownError
from runner.sandbox.remote.keys import NAME, VARIABLE
from runner.settings.loading import load

if TYPE_CHECKING:
    import argparse

    from runner.system.places import Places

LONGEST = 1000
"""Characters of a key."""


def store(arguments: argparse.Namespace, places: Places) -> int:
    """Ask for the key, or read it from standard input where that is no terminal. Raises KnownError."""
    secrets = Secrets(places, load(places, os.environ).settings)
    if arguments.remove:
        secrets.delete(NAME)
        print("The key for E2B was removed.")
        return 0
    key = getpass.getpass("Key for E2B: ") if sys.stdin.isatty() else sys.stdin.readline(LONGEST + 1)
    key = key.strip()
    if not key or len(key) > LONGEST or not key.isascii() or not key.isprintable() or " " in key:
        raise KnownError("That is no key.", "It is one word of letters, digits and signs, as E2B shows it.")
    where = secrets.where
    if where.kind is Vault.MEMORY:
        raise KnownError(f"It cannot be kept: {where.explanation}", f"{where.remedy} Or set {VARIABLE}.")
    print(f"{secrets.set(NAME, key).explanation} Code is sent to E2B only where e2b is the sandbox in Settings.")
    return 0
