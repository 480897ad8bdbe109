"""A ledger of every earlier format is opened by steps that keep its chain valid, also where one is interrupted."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from runner.audit.history.search import History
from runner.audit.ledger import formats
from runner.audit.ledger.anchor import Anchor, difference
from runner.audit.ledger.ledger import Ledger
from runner.audit.ledger.seal import Seal
from runner.audit.ledger.tables import LedgerDamaged
from runner.audit.ledger.verify import verify
from runner.model.errors import KnownError
from tests.audit.formats import file_of, restore
from tests.audit.story import KEY, denied, request, tamper, tell

if TYPE_CHECKING:
    from pathlib import Path

PUBLIC = Seal(KEY).public
EARLIER = range(1, formats.NEWEST)


def opened(path: Path, *, key: bytes | None = KEY, name: str = "r9") -> None:
    """One session of today's Assent."""

    async def work() -> None:
        ledger = Ledger.open(path)
        try:
            await ledger.append("opened", "", {"process": 2})
            if key:
                await ledger.seal_with(key)
                await tell(ledger, denied(request(name)))
        finally:
            await ledger.close()

    asyncio.run(work())


def steps_of(path: Path) -> list[dict[str, int]]:
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT data FROM entries JOIN bodies USING (seq) WHERE kind = 'upgraded'")
        return [json.loads(data) for (data,) in found]


def head_of(path: Path) -> Anchor:
    with closing(sqlite3.connect(path)) as connection:
        (first,) = connection.execute("SELECT hash FROM entries WHERE seq = 1").fetchone()
        return Anchor(first, *connection.execute("SELECT seq, hash FROM head").fetchone())


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return formats.version_of(connection)


def test_there_is_a_ledger_of_every_format() -> None:
    assert [number for number in range(1, formats.NEWEST + 1) if not file_of(number).exists()] == []


@pytest.mark.parametrize("number", EARLIER)
def test_an_earlier_ledger_is_opened_and_stays_whole(tmp_path: Path, number: int) -> None:
    path = restore(number, tmp_path / "ledger.sqlite3")
    anchor = head_of(path)
    opened(path)
    assert version_of(path) == formats.NEWEST
    assert steps_of(path) == [{"from": before, "to": before + 1} for before in range(number, formats.NEWEST)]
    found = verify(path, PUBLIC, anchor=anchor)
    assert (found.ok, found.unsure, found.what) == (True, "", f"All {found.entries} entries are as they were written.")
    assert difference(path, anchor) is None, "what was signed before is still there"
    with closing(History(path)) as history:
        assert [row.id for row in history.page()] == ["r9", "r3", "r2", "r1"]
        assert [left.request.id for left in history.open_cases().cases] == ["r3"]
    opened(path, name="r10")
    assert len(steps_of(path)) == formats.NEWEST - number, "once"


@pytest.mark.parametrize("number", EARLIER)
def test_an_earlier_ledger_is_read_as_it_is(tmp_path: Path, number: int) -> None:
    """As `assent verify PATH` does with one that was set aside."""
    path = restore(number, tmp_path / "ledger.sqlite3")
    assert verify(path, PUBLIC, anchor=head_of(path)).ok
    with closing(History(path)) as history:
        assert [row.id for row in history.page()] == ["r3", "r2", "r1"]
        assert history.case("r1") is not None
    assert version_of(path) == number


def test_a_format_that_no_key_has_signed_yet_is_no_alarm(tmp_path: Path) -> None:
    path = restore(1, tmp_path / "ledger.sqlite3")
    anchor = head_of(path)
    opened(path, key=None)
    found = verify(path, PUBLIC, anchor=anchor)
    assert (found.ok, "first that cannot be vouched for" in found.unsure) == (True, True)


@pytest.mark.parametrize("lost", ["index requests_by_agent", "trigger bodies_stay"])
def test_an_earlier_ledger_is_held_to_its_own_tables(tmp_path: Path, lost: str) -> None:
    path = restore(1, tmp_path / "ledger.sqlite3")
    tamper(path, *([f"DROP {lost}"] if lost.startswith("index") else []))
    if lost.startswith("trigger"):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"DROP {lost}")
    with pytest.raises(LedgerDamaged, match=f"{lost} is missing"):
        Ledger.open(path)
    assert version_of(path) == 1


def test_a_ledger_that_is_broken_is_not_upgraded(tmp_path: Path) -> None:
    path = restore(1, tmp_path / "ledger.sqlite3")
    tamper(path, "UPDATE entries SET kind = 'changed' WHERE seq = 5")
    with pytest.raises(LedgerDamaged, match="is broken"):
        Ledger.open(path)
    assert version_of(path) == 1


@pytest.mark.parametrize(("version", "words"), [(99, "newer Assent"), (0, "names no format"), (-3, "names no format")])
def test_a_format_that_is_none_of_ours_is_refused_in_words(tmp_path: Path, version: int, words: str) -> None:
    path = restore(1, tmp_path / "ledger.sqlite3")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(KnownError, match=words) as caught:
        Ledger.open(path)
    assert isinstance(caught.value, LedgerDamaged) is (version < 1), "a newer one is whole"
    assert version_of(path) == version


INTERRUPTED = """
import os, sys
from pathlib import Path
from runner.audit.ledger import chain
from runner.audit.ledger.ledger import Ledger

whole = chain._Page.put_down

def put_down(page, seal):
    whole(page, seal)
    os._exit(7)

chain._Page.put_down = put_down
Ledger.open(Path(sys.argv[1]))
"""


def test_a_crash_in_the_middle_leaves_the_earlier_format(tmp_path: Path) -> None:
    path = restore(1, tmp_path / "ledger.sqlite3")
    anchor = head_of(path)
    assert subprocess.run([sys.executable, "-c", INTERRUPTED, str(path)], check=False).returncode == 7
    assert version_of(path) == 1
    assert verify(path, PUBLIC, anchor=anchor).ok
    opened(path)
    assert verify(path, PUBLIC, anchor=anchor).ok


def test_a_step_that_cannot_be_written_leaves_the_earlier_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = restore(1, tmp_path / "ledger.sqlite3")
    steps = formats.STEPS
    monkeypatch.setattr(formats, "STEPS", ((*steps[0], "CREATE INDEX twice ON nowhere (seq)"), *steps[1:]))
    with pytest.raises(KnownError, match="cannot be read"):
        Ledger.open(path)
    monkeypatch.undo()
    assert version_of(path) == 1
    assert verify(path).ok
    opened(path)
    assert verify(path, PUBLIC).ok
