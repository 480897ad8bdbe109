"""`assent history`: removes old content, and follows what is recorded."""

from __future__ import annotations

import argparse
import asyncio
import getpass
import os
import re
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from runner.approval.deliberate import ApproveBy
from runner.audit.ledger import anchor
from runner.audit.ledger.anchor import AnchorKeeper
from runner.audit.ledger.ledger import Ledger
from runner.audit.ledger.opening import Lock, give_space_back
from runner.audit.ledger.tables import DAMAGE, connect_to_read, explained
from runner.audit.retention.retention import Pruning, RetentionRule, chosen, planned, size_words
from runner.commands.follow import follow
from runner.identity import signer
from runner.identity.pin import PinLock
from runner.identity.secrets import Secrets, Vault
from runner.model.errors import KnownError
from runner.model.shown import visible
from runner.settings.loading import load

if TYPE_CHECKING:
    from runner.audit.retention.retention import RetentionPlan
    from runner.system.places import Places

_AGE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)\s*(h|d|w|y)", re.IGNORECASE | re.ASCII)
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*([kmgt]?)i?b?", re.IGNORECASE | re.ASCII)
_IN_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "y": 365.0}
_BYTES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
ANCHOR_SECONDS = 30.0
"""Time for the keyring to take the last signed head."""
NO_RULE = KnownError("Say what to remove.", "Add --older-than 90d, --keep-size 2G or --request ID.")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("-h", "--help", action="help", help="show this help message and exit")
    parser.add_argument("--follow", action="store_true", help="print each entry as JSON as soon as it is recorded")
    parser.add_argument("--since", type=int, metavar="NUMBER", help="with --follow: begin after this entry")
    parser.set_defaults(command=history)
    actions = parser.add_subparsers(metavar="ACTION")
    prune = actions.add_parser(
        "prune",
        help="remove the content of old requests",
        description="Removes code, output and files of closed requests. Every entry stays, with the hash of what"
        " it said; a signed entry says what was removed. The console has to be closed: its page History does the same.",
    )
    prune.add_argument("--older-than", type=_age, metavar="AGE", help="content older than this: 90d, 12w, 1y")
    prune.add_argument("--keep-size", type=_size, metavar="SIZE", help="all but the newest content: 500M, 2G")
    prune.add_argument("--request", metavar="ID", help="the content of this request")
    prune.add_argument("--dry-run", action="store_true", help="say what would be removed, and remove nothing")
    prune.add_argument("--yes", action="store_true", help="do not ask")
    prune.add_argument("--compact", action="store_true", help="make the file as small as it can be; needs free space")
    prune.set_defaults(command=prune_history)


def history(arguments: argparse.Namespace, places: Places) -> int:
    """Follow the history. Raises KnownError."""
    if not arguments.follow:
        raise KnownError("Say what to do.", "Add --follow, or use: assent history prune --dry-run --older-than 90d")
    return follow(places.ledger, arguments.since)


def prune_history(arguments: argparse.Namespace, places: Places) -> int:
    """Return the exit code: 0 done, 1 something was left. Raises KnownError."""
    rule = RetentionRule(arguments.older_than, arguments.keep_size, chosen=bool(arguments.request))
    if not rule and not arguments.compact:
        raise NO_RULE
    if arguments.request and (arguments.older_than is not None or arguments.keep_size is not None):
        raise KnownError("--request names one request; it cannot be given with --older-than or --keep-size.")
    plan = _plan(arguments.request or "", rule, places) if rule else None
    if plan is not None:
        _say(plan.sentence)
    if arguments.dry_run:
        if plan is not None and plan.count:
            _require_key(Secrets(places, load(places, os.environ).settings), "Nothing would be removed")
        return 0
    if plan is not None and plan.count and not arguments.yes and not agreed():
        return 1
    left = asyncio.run(_carry_out(plan, places)) if plan is not None and plan.count else ""
    if arguments.compact:
        _compact(places)
    return 1 if left else 0


def _plan(request_id: str, rule: RetentionRule, places: Places) -> RetentionPlan:
    if request_id:
        return chosen(places.ledger, request_id, rule)
    return planned(places.ledger, rule, places)


def _require_key(secrets: Secrets, outcome: str) -> None:
    """Raise KnownError where nobody could sign what was removed."""
    if (where := secrets.where).kind is Vault.MEMORY:
        raise KnownError(f"{outcome}: the key that signs the history is kept nowhere.", where.remedy)


async def _carry_out(plan: RetentionPlan, places: Places) -> str:
    """Remove what the plan says; return what was left to do, in words. Raises KnownError."""
    settings = load(places, os.environ).settings
    secrets = Secrets(places, settings)
    _require_key(secrets, "Nothing was removed")
    if ApproveBy.of(settings).asks_pin(None):
        # What the window asks for before it removes anything.
        await PinLock(secrets).check(_pin())
    ledger = await asyncio.to_thread(Ledger.open, places.ledger)
    anchors: AnchorKeeper | None = None
    try:
        known = signer.anchor(secrets)
        if known is not None and (doubt := anchor.difference(places.ledger, known)) is not None:
            raise doubt
        key = signer.signing_key(secrets)
        anchors = AnchorKeeper(lambda head: signer.set_anchor(secrets, head))
        await ledger.append("opened", "", {"process": os.getpid()})
        await ledger.seal_with(key, anchors.signed)
        pruned = await Pruning(ledger, places).remove(plan, _progress)
    finally:
        await ledger.close()
        if anchors is not None:
            anchors.close(ANCHOR_SECONDS)
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    _say(pruned.sentence)
    return pruned.unfinished


def _compact(places: Places) -> None:
    """Make the file of the history smaller. Raises KnownError."""
    lock = Lock(places.ledger)
    try:
        before = places.ledger.stat().st_size
        with closing(connect_to_read(places.ledger)):
            pass
        give_space_back(places.ledger)
        after = places.ledger.stat().st_size
    except DAMAGE as error:
        raise explained(error, places.ledger) from error
    finally:
        lock.release()
    _say(f"The file of the history has {size_words(after)} now; it had {size_words(before)}.")


def _progress(done: int) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{done:,} requests are done.")
        sys.stderr.flush()


def _pin() -> str:
    """Return the PIN that is typed at the terminal; nobody else may give it."""
    if not sys.stdin.isatty():
        raise KnownError("Nothing was removed: this needs the PIN (setting window.approve_by).", "Use a terminal.")
    return getpass.getpass("Your PIN: ")


def agreed() -> bool:
    """Return whether the person at the terminal wants it; nobody else is asked."""
    if not sys.stdin.isatty():
        raise KnownError("Nothing was removed: nobody can be asked here.", "Add --yes.")
    sys.stdout.write("This cannot be undone. Remove it? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _age(text: str) -> float:
    """Return days."""
    found = _AGE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no age such as 12h, 90d, 12w or 1y")
    return float(found[1]) * _IN_DAYS[found[2].lower()]


def _size(text: str) -> int:
    """Return bytes."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size such as 500M or 2G")
    return int(float(found[1]) * _BYTES[found[2].lower()])


def _say(words: str) -> None:
    sys.stdout.write(visible(words) + "\n")
