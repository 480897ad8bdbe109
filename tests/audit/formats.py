"""One ledger of each format as SQL text, and how to make a file of it; run as a program, writes that of the newest.

A format that was released is never written again: what its own version wrote is what later ones have to open.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from runner.audit.ledger import formats
from tests.audit.story import KEY, approved, denied, opening, remove, request, write

FOLDER = Path(__file__).parent / "ledgers"
TOLD = [
    ("opened", "", {"process": 1}),
    *approved(request("r1")),
    *denied(request("r2")),
    *opening(request("r3")),
]


def file_of(number: int) -> Path:
    return FOLDER / f"format-{number}.sql"


def restore(number: int, path: Path) -> Path:
    """Make a ledger of format `number` at `path`."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(file_of(number).read_text("utf-8"))
    return path


def dump(path: Path) -> str:
    """Return the ledger at `path` as SQL text."""
    with closing(sqlite3.connect(path)) as connection:
        marks = [
            f"PRAGMA {name} = {connection.execute(f'PRAGMA {name}').fetchone()[0]};"
            for name in ("application_id", "user_version")
        ]
        return "\n".join([*marks, *connection.iterdump()]) + "\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite3"
        write(path, TOLD, KEY)
        remove(path, "r2")
        file_of(formats.NEWEST).write_text(dump(path), "utf-8")


if __name__ == "__main__":
    main()
