"""Reads what the ledger says of programs at work: entries that are about no request."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.audit.ledger.tables import DAMAGE, connect_to_read, explained
from runner.model.work_entries import AS_IT_GOES, ENDED, ON_TERMINALS, OUTCOMES, SEEN, STARTED, WANTED, WorkDeed

if TYPE_CHECKING:
    from pathlib import Path

MOST_DEEDS = 200
"""Deeds among which one without an outcome is looked for, the newest: at each start all of them get one."""
_TEXT = "CASE WHEN json_valid(data) THEN coalesce(data ->> '$.{}', '') ELSE '' END"
_WANTED = (
    f"SELECT kind, {_TEXT.format('number')}, {_TEXT.format('name')} FROM entries JOIN bodies USING (seq)"
    f" WHERE request_id = '' AND kind IN ({', '.join('?' * len(WANTED))}) ORDER BY seq DESC LIMIT ?"
)
_OUTCOMES = (
    f"SELECT {_TEXT.format('number')} FROM entries JOIN bodies USING (seq)"
    f" WHERE request_id = '' AND kind IN ({', '.join('?' * len(OUTCOMES))}) ORDER BY seq DESC LIMIT ?"
)
TERMINAL = ".terminal"
"""Name of the log of what was done on terminals."""
_TERMINAL = (
    f"SELECT {_TEXT.format('terminal_upto')} FROM entries JOIN bodies USING (seq)"
    " WHERE request_id = '' AND kind = ? ORDER BY seq DESC"
)
_PLACES = (
    f"SELECT {_TEXT.format('name')}, {_TEXT.format('upto')} FROM entries JOIN bodies USING (seq)"
    " WHERE request_id = '' AND kind = ? ORDER BY seq DESC"
)


@dataclass(frozen=True, slots=True)
class OpenDeed:
    """A deed that was begun, and of which no outcome is recorded."""

    deed: WorkDeed
    number: str
    name: str
    """Of the working copy."""


def open_deeds(path: Path) -> tuple[OpenDeed, ...]:
    """Return them, oldest first. Blocks. Raises KnownError."""
    try:
        with closing(connect_to_read(path)) as connection:
            wanted = connection.execute(_WANTED, (*WANTED, MOST_DEEDS)).fetchall()
            known = {number for (number,) in connection.execute(_OUTCOMES, (*OUTCOMES, MOST_DEEDS * 2))}
    except (*DAMAGE, sqlite3.ProgrammingError) as error:
        raise explained(error, path) from error
    deeds = {deed.wanted: deed for deed in WorkDeed}
    found = [OpenDeed(deeds[kind], number, name) for kind, number, name in wanted if number and number not in known]
    return tuple(reversed(found))


def recorded_places(path: Path, names: frozenset[str]) -> dict[str, int]:
    """Return up to which place the log of each of these working copies is recorded. Blocks. Raises KnownError."""
    found = dict.fromkeys(names, 0)
    try:
        with closing(connect_to_read(path)) as connection:
            for kind in (STARTED, SEEN, ENDED, AS_IT_GOES):
                missing = set(names)
                for name, upto in connection.execute(_PLACES, (kind,)):
                    if name in missing and isinstance(upto, int):
                        found[name] = max(found[name], upto)
                        missing.discard(name)
                    if not missing:
                        break
            for kind in ON_TERMINALS:
                newest = (upto for (upto,) in connection.execute(_TERMINAL, (kind,)) if isinstance(upto, int))
                found[TERMINAL] = max(found.get(TERMINAL, 0), next(newest, 0))
    except (*DAMAGE, sqlite3.ProgrammingError) as error:
        raise explained(error, path) from error
    return found
