"""The key that signs the history: where it is stored, and its public half for verification (spec H1)."""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.audit.files.evidence import Evidence
from runner.audit.ledger.anchor import MISMATCH, Anchor, parsed
from runner.audit.ledger.seal import Seal, new_key
from runner.audit.ledger.verify import Verification, verify
from runner.audit.outside.outside import compare
from runner.identity.outside import outside_anchors
from runner.identity.secrets import Secrets
from runner.model.errors import KnownError
from runner.settings.loading import load
from runner.system.durable import replace_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.audit.outside.outside import OutsideVerdict
    from runner.system.places import Places

NAME = "ledger-seal"
"""Name of the key among the secrets."""
ANCHOR = "ledger-head"
"""Name of the last signed head among the secrets."""


@dataclass(frozen=True, slots=True)
class Vouching:
    """What this installation knows about its ledger from outside of it: public key and anchor."""

    public_key: str = ""
    """Public key in hex; empty where no key is available."""
    anchor: Anchor | None = None
    problem: str = ""
    """Why a key or an anchor cannot be used, in one or two sentences."""


def signing_key(secrets: Secrets) -> bytes:
    """Return the private key, made at the first call. May wait for the keyring. Raises KnownError."""
    if stored := secrets.get(NAME):
        return _key(stored)
    key = new_key()
    secrets.set(NAME, key.hex())
    return key


def vouching(places: Places, secrets: Secrets | None = None) -> Vouching:
    """Return key and anchor of this installation as they are now. May wait for the keyring.

    `secrets` are those in use, whose keyring is not asked again after it has failed; by default those of a new start.
    """
    try:
        secrets = secrets or Secrets(places, load(places, os.environ).settings)
        key = secrets.get(NAME)
        return Vouching(Seal(_key(key)).public, anchor(secrets)) if key else Vouching()
    except KnownError as error:
        return Vouching(problem=str(error))


def check_ledger(
    places: Places, known: Vouching, progress: Callable[[int], None] = lambda entries: None
) -> Verification:
    """Verify the ledger of this installation and the files of its runs, with what is `known` from outside, and what
    was noted in the places that the settings name.

    Raises KnownError where it cannot be read.
    """
    if known.anchor is not None and not places.ledger.exists():
        raise KnownError(
            f"The history {places.ledger} was removed: entries up to {known.anchor.seq:,} were signed.", MISMATCH
        )
    verdict = verify(places.ledger, known.public_key, progress, anchor=known.anchor, evidence=Evidence(places))
    anchors = outside_anchors(load(places, os.environ).settings, places)
    return _with_outside(verdict, compare(places.ledger, anchors, known.public_key)) if anchors else verdict


def _with_outside(verdict: Verification, compared: list[OutsideVerdict]) -> Verification:
    """Return the verdict with what places outside of the ledger say; the first one that contradicts it decides."""
    if verdict.first_broken is not None:
        return verdict
    for one in compared:
        if one.broken is not None:
            good = min(verdict.entries, one.broken - 1)
            return replace(verdict, ok=False, first_broken=one.broken, entries=good, what=one.words, unsure="")
    doubts = " ".join(filter(None, (verdict.unsure, *(one.what for one in compared))))
    agreed = tuple(one.words for one in compared if not one.what)
    return replace(verdict, unsure=doubts, outside=agreed)


def anchor(secrets: Secrets) -> Anchor | None:
    """Return the last signed head that was noted; None before the first. Raises KnownError."""
    return parsed(secrets.get(ANCHOR))


def set_anchor(secrets: Secrets, head: Anchor) -> None:
    """Note the last signed head. Raises KnownError."""
    secrets.set(ANCHOR, head.text())


def forget_anchor(secrets: Secrets) -> None:
    """Delete the noted head, as the next ledger is another one. Raises KnownError."""
    secrets.delete(ANCHOR)


def _key(stored: str) -> bytes:
    try:
        return bytes.fromhex(stored)
    except ValueError as error:
        raise KnownError(
            "The key that signs the history is damaged where secrets are kept.",
            f"Remove the entry {NAME} of Assent there; a new one is made at the next start.",
        ) from error


def note_verified(places: Places) -> None:
    """Note that the whole ledger was found unbroken just now, so that nobody is reminded of it."""
    # Where it cannot be written, it is only asked for again.
    with contextlib.suppress(OSError):
        replace_file(places.verified, json.dumps({"at": time.time()}))
