"""Reads what people changed: entries of the ledger that are about no single request."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.audit.ledger.bodies import values
from runner.audit.ledger.tables import DAMAGE, connect_to_read, explained
from runner.model import work_entries

if TYPE_CHECKING:
    from pathlib import Path

KINDS = (
    *("pin-set", "pin-changed", "pin-removed", "pin-refused"),
    *("agent-added", "agent-seen", "agent-revoked"),
    *("agent-renamed", "agent-paused", "agent-resumed", "agent-changed"),
    *("grant-made", "grant-revoked"),
    *("settings-changed", "mode", "away", "isolation", "renewed", "recovered"),
    "removed",
    *work_entries.SINGLE,
    *work_entries.WANTED,
    *work_entries.OUTCOMES,
)
MOST = 2000
"""Changes that are read, the newest: years of a person's, and what is read at once stays small."""
LONGEST_BODY = 20_000
"""Characters; of a longer body nothing is read, or of one about work all but its lists."""
_LISTS = "json_remove(data, '$.paths', '$.hosts', '$.passed_over', '$.not_named')"
_QUERY = (
    "SELECT seq, at, kind, CASE WHEN length(data) <= ? THEN data"
    f" WHEN kind LIKE 'work-%' AND json_valid(data) THEN {_LISTS} ELSE '{{}}' END FROM entries JOIN bodies USING (seq)"
    f" WHERE request_id = '' AND +kind IN ({', '.join('?' * len(KINDS))}) ORDER BY seq DESC LIMIT ?"
)


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """One entry about settings, agents, what is remembered, the mode, the sandbox, the PIN, or a program at work."""

    seq: int
    at: float
    """Seconds since the epoch."""
    kind: str
    body: dict[str, Any]


def read_changes(path: Path) -> tuple[RecordedChange, ...]:
    """Return the newest changes in the ledger at `path`, newest first. Blocks. Raises KnownError."""
    try:
        with closing(connect_to_read(path)) as connection:
            rows = connection.execute(_QUERY, (LONGEST_BODY, *KINDS, MOST)).fetchall()
    except (*DAMAGE, sqlite3.ProgrammingError) as error:
        raise explained(error, path) from error
    return tuple(RecordedChange(seq, at / 1_000_000, kind, values(data)) for seq, at, kind, data in rows)
