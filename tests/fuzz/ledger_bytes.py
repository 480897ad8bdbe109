"""Bytes of a ledger that were changed: what shows is noticed by `verify`, and reading it fails in words only."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

from runner.audit.history.search import History
from runner.audit.ledger.ledger import Ledger
from runner.audit.ledger.seal import Seal
from runner.audit.ledger.verify import verify
from runner.model.errors import KnownError
from tests.audit.story import KEY, approved, denied, entries, opening, request, write
from tests.fuzz.mutation import fuzz

PUBLIC = Seal(KEY).public
PATCH = 4
"""Bytes of one change: where (three), and what is there then."""
MOST_PATCHES = 40
SEEDS = (bytes(PATCH), bytes(range(64)), b"\0\x20\0\xff" * 3, b"\x01\x00\x10\x00\0\0\x64\x0d")


@cache
def good() -> tuple[bytes, list[tuple[Any, ...]]]:
    """A signed ledger of three requests as a file, and all there is to see in it."""
    with tempfile.TemporaryDirectory(prefix="assent-fuzz-") as folder:
        path = Path(folder) / "ledger.sqlite3"
        write(path, [*approved(request("r1")), *denied(request("r2")), *opening(request("r3"))], KEY)
        return path.read_bytes(), entries(path)


def check(data: bytes) -> None:
    """Fail where the ledger with the changes in `data` passes and shows something else, or cannot be read in words."""
    content, shown = bytearray(good()[0]), good()[1]
    for at in range(0, min(len(data), PATCH * MOST_PATCHES) - PATCH + 1, PATCH):
        content[int.from_bytes(data[at : at + 3], "big") % len(content)] = data[at + 3]
    with tempfile.TemporaryDirectory(prefix="assent-fuzz-") as folder:
        path = Path(folder) / "ledger.sqlite3"
        path.write_bytes(content)
        if _passes(path):
            assert entries(path) == shown, "it passes, and shows something else"
        _read(path)
        shutil.copy(path, path.with_name("other.sqlite3"))
        _open(path.with_name("other.sqlite3"))


def _passes(path: Path) -> bool:
    try:
        return verify(path, PUBLIC).ok
    except KnownError:
        return False


def _read(path: Path) -> None:
    with suppress(KnownError), closing(History(path)) as history:
        for row in history.page():
            history.case(row.id)
        history.open_cases()


def _open(path: Path) -> None:
    async def work() -> None:
        ledger = Ledger.open(path)
        try:
            await ledger.append("opened", "", {})
        finally:
            await ledger.close()

    with suppress(KnownError):
        asyncio.run(work())


def run(seconds: float, seed: int) -> int:
    return fuzz("ledger_bytes", check, SEEDS, seconds, seed)
