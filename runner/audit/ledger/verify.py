"""Verifies the whole ledger and names the first entry that is not as it was written."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from time import monotonic, sleep
from typing import TYPE_CHECKING

from runner.audit.ledger.entry import DamagedEntry
from runner.audit.ledger.following import Broken, Following
from runner.audit.ledger.formats import altered
from runner.audit.ledger.row import PHASE_KINDS
from runner.audit.ledger.tables import DAMAGE, connect_to_read, explained
from runner.audit.ledger.walk import Walk

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from pathlib import Path

    from runner.audit.files.evidence import Evidence
    from runner.audit.ledger.anchor import Anchor

PROGRESS_EVERY = 1000
READ_SECONDS = 2.0
"""Longest look at one state of the ledger: while it lasts, SQLite cannot begin its journal again, which grows."""
PAUSE_SECONDS = 0.05
"""Between two looks; after two commits in it the journal begins again."""
CACHE_KIB = 32 * 1024
"""Memory for pages of the file, so that the integrity check does not read each many times."""
FORGED = (TypeError, AttributeError, ValueError, OverflowError, RecursionError)
"""Errors that damaged or forged content may raise in the checks."""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of `verify`."""

    ok: bool
    entries: int
    """Number of valid entries, from the first on without a gap."""
    first_broken: int | None
    """Number of the first entry that is wrong or missing; None where no single entry is to blame."""
    what: str
    """The result in one sentence."""
    seals: int = 0
    signed_to: int = 0
    """Entries up to this number are covered by a signature; 0 where nothing is signed."""
    keys: tuple[str, ...] = ()
    """Public keys (hex) that signed, in order."""
    unsure: str = ""
    """What could not be verified, in one or two sentences; empty where all was checked against the key."""
    altered: str = ""
    """Files beside the ledger that are not as they were stored, in a sentence."""
    outside: tuple[str, ...] = ()
    """What places outside of the ledger confirm, a sentence for each."""
    removed: int = 0
    """Requests whose content was removed, as signed entries say; only hashes are left of it."""


def verify(
    path: Path,
    public_key: str = "",
    progress: Callable[[int], None] = lambda entries: None,
    *,
    anchor: Anchor | None = None,
    evidence: Evidence | None = None,
) -> Verification:
    """Check every entry, body, seal, the list of requests and the guards of the ledger at `path`.

    Others may write meanwhile: entries are only ever added, and what is compared with the last one is read in one state
    with it. Memory does not grow with the ledger, nor does its journal for as long as this takes. With `public_key`
    (hex, from the keyring) the last key must be that one, and only its signatures and `anchor`, read before, vouch
    for anything. `evidence` looks at the files of finished runs. `progress` gets the number of entries checked, now
    and then; it may raise to stop. Raises KnownError where there is no ledger to be read at all.
    """
    connection = connect_to_read(path)
    # Damaged text is an error here, whose entry is known: it is the next one.
    connection.text_factory = str
    walk = Walk(own=public_key, anchor=anchor, evidence=evidence)
    following = Following(connection)
    try:
        connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        _follow(connection, walk, following, progress)
        walk.check_end(connection)
        walk.check_rest(connection, following)
        walk.check_removed()
        walk.check_signed()
    except Broken as broken:
        return _verdict(walk, broken)
    except DamagedEntry as damaged:
        return _verdict(walk, Broken(walk.last_seq + 1, damaged.what))
    except DAMAGE as error:
        return _verdict(walk, Broken(walk.last_seq + 1, explained(error, path).what))
    except FORGED as error:
        first = walk.last_seq + 1
        return _verdict(walk, Broken(first, f"Entry {first} cannot be read ({type(error).__name__}): it was altered."))
    finally:
        connection.close()
    return _verdict(walk, None)


def _follow(connection: sqlite3.Connection, walk: Walk, following: Following, progress: Callable[[int], None]) -> None:
    """Check all entries, in several looks; the last of them is open on return. Raises Broken and DamagedEntry."""
    (last,) = connection.execute("SELECT coalesce(max(seq), 0) FROM entries").fetchone()
    while True:
        connection.execute("BEGIN")
        if difference := altered(connection):
            raise Broken(None, f"The ledger's tables were altered: {difference}.")
        # The last look takes in whatever has come since: else a busy writer would keep this from its end.
        ends = inf if walk.last_seq >= last else monotonic() + READ_SECONDS
        for seq, at, kind, request_id, data in walk.chain(connection, ends):
            if data is None:
                following.pass_over(kind, seq, request_id)
            elif kind in PHASE_KINDS:
                following.step(kind, seq, at, request_id, data)
            walk.take_in(connection, seq, kind, data)
            if seq % PROGRESS_EVERY == 0:
                progress(seq)
        if walk.at_end:
            return
        connection.execute("ROLLBACK")
        sleep(PAUSE_SECONDS)


def broken_tail(connection: sqlite3.Connection, path: Path, count: int) -> str:
    """Return what is wrong with the last `count` entries, in words; empty when they form a chain to the end."""
    try:
        (first,) = connection.execute("SELECT coalesce(max(seq), 0) - ? FROM entries", (count,)).fetchone()
        walk = Walk()
        if first > 0:
            before = connection.execute("SELECT hash FROM entries WHERE seq = ?", (first,)).fetchone()
            if before is None:
                return f"Entry {first} is missing."
            walk = Walk(first, before[0])
        for _ in walk.chain(connection):
            pass
        walk.check_end(connection)
    except (Broken, DamagedEntry) as broken:
        return broken.what
    except FORGED as error:
        return f"Entry {walk.last_seq + 1} is damaged ({type(error).__name__})."
    except DAMAGE as error:
        return explained(error, path).what
    return ""


def _verdict(walk: Walk, broken: Broken | None) -> Verification:
    good = walk.last_seq
    if broken and broken.seq is not None:
        good = min(good, broken.seq - 1)
    return Verification(
        ok=broken is None and not walk.altered,
        entries=good,
        first_broken=broken.seq if broken else None,
        what=broken.what if broken else walk.what,
        seals=walk.seals,
        signed_to=min(good, walk.signed_to),
        keys=tuple(walk.keys),
        unsure="" if broken else walk.unsure,
        altered=walk.altered,
        removed=walk.removed,
    )
