"""The counters: each closed request once, whatever happens meanwhile, and the same after they were made again."""

from __future__ import annotations

import math
import shutil
import sqlite3
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.audit.history import indexing
from runner.audit.history.counting import (
    HOST,
    LAST_BUCKET,
    MODULE,
    MOST_NAMES,
    CountedKind,
    StoppedTry,
    Tally,
    Tries,
    Unit,
    bucket,
    edge,
    percentile,
    periods,
)
from runner.audit.history.index import discard, path_of
from runner.audit.history.indexing import Indexing
from runner.audit.history.search import History
from runner.audit.history.statistics import Figures, totals
from runner.model.codec import encode
from runner.model.decision import Decider, Decision, Verdict
from runner.model.network import NOT_LISTED, Contact
from runner.model.result import Meta
from runner.system.clock import LAST_TIME
from tests.audit.story import RESULT, approved, denied, opening, request, tamper, write

if TYPE_CHECKING:
    from pathlib import Path

ENDLESS = 4_000_000
TRIED = replace(
    RESULT,
    contacts=(Contact("Stats.example.net", 443, False, NOT_LISTED, 3), Contact("ok.example.net", 443, True)),
    meta=Meta(blocked_imports=("ctypes",)),
)


def told() -> list[tuple[str, str, dict[str, object]]]:
    by_rule = request("c2", "codex")
    passed = encode(Decision(Verdict.APPROVED, Decider.RULE, "Allowed.", "tests", 0.0, by_rule.digest))
    life = [(kind, name, passed if kind == "approved" else body) for kind, name, body in approved(by_rule)]
    return [*approved(request("c1"), TRIED), *life, *denied(request("c3")), *opening(request("c4"))]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("counted") / "ledger.sqlite3"
    write(path, told())
    return path


@pytest.fixture
def path(original: Path, tmp_path: Path) -> Path:
    shutil.copy(original, tmp_path / original.name)
    return tmp_path / original.name


def finish(path: Path, batch: int = indexing.BATCH) -> None:
    with closing(Indexing(path)) as writer:
        while writer.advance(batch):
            pass


def figures(path: Path, unit: Unit = Unit.DAY) -> Figures:
    with closing(History(path)) as history:
        return history.figures(unit, 0, ENDLESS)


@pytest.mark.parametrize("unit", list(Unit))
def test_closed_requests_are_counted_by_what_became_of_them(path: Path, unit: Unit) -> None:
    finish(path)
    found = figures(path, unit)
    assert found.complete
    assert totals(found.tally, "agent") == {"claude": 2, "codex": 1}
    assert totals(found.tally, "verdict") == {"approved": 2, "denied": 1}
    assert totals(found.tally, "outcome") == {"ok": 2, "": 1}
    today = next(periods(time.time(), (unit,)))
    assert {period for period, _ in found.tally.requests} == {today}
    assert found.tally.answers == {
        (today, ("person", "", "approved")): 1,
        (today, ("person", "", "denied")): 1,
        (today, ("rule", "tests", "approved")): 1,
    }
    assert found.tally.waits == {(today, bucket(2.5)): 1, (today, bucket(1.0)): 1}
    tries = {one: (tries.tries, tries.runs) for (_, one), tries in found.tally.stopped.items()}
    assert tries == {
        StoppedTry("claude", HOST, "stats.example.net"): (3, 1),
        StoppedTry("claude", MODULE, "ctypes"): (1, 1),
    }


def test_what_the_index_has_not_come_to_is_counted_at_the_look(path: Path) -> None:
    expected = None
    for batch in (1, 3, 7, 1000):
        discard(path)
        with closing(Indexing(path)) as writer:
            for _ in range(3):
                writer.advance(batch)
        found = figures(path)
        assert found.complete
        expected = expected or found
        assert found.tally == expected.tally, batch
    discard(path)
    assert figures(path).tally == expected.tally


def test_nothing_is_counted_twice_or_lost_by_a_batch_that_fails(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(path)
    expected = figures(path).tally
    discard(path)
    put_down = Tally.put_down

    def and_fails(tally: Tally, index: sqlite3.Connection) -> None:
        put_down(tally, index)
        raise sqlite3.OperationalError("disk I/O error")

    with closing(Indexing(path)) as writer:
        writer.advance(3)
        with monkeypatch.context() as patch:
            patch.setattr(Tally, "put_down", and_fails)
            for _ in range(3):
                with pytest.raises(sqlite3.OperationalError):
                    writer.advance(9)
        writer.advance(9)
    finish(path, 4)
    with closing(sqlite3.connect(path_of(path))) as bare:
        assert bare.execute("SELECT sum(requests) FROM counts WHERE unit = 0").fetchone() == (3,)
    assert figures(path).tally == expected


def test_damaged_counters_are_made_again(path: Path) -> None:
    finish(path)
    expected = figures(path).tally
    with closing(sqlite3.connect(path_of(path), isolation_level=None)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'counts'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with path_of(path).open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    assert figures(path).tally == expected, "counted from the ledger itself"
    assert not path_of(path).exists()
    finish(path)
    assert figures(path).tally == expected


def test_what_cannot_be_read_is_not_counted_and_stops_nothing(path: Path) -> None:
    tamper(path, "UPDATE requests SET level = 77 WHERE id = 'c1'")
    finish(path)
    assert totals(figures(path).tally, "agent") == {"claude": 1, "codex": 1}


def test_a_time_at_the_edge_of_the_calendar_stops_nothing(path: Path) -> None:
    tamper(path, f"UPDATE requests SET arrived_at = {LAST_TIME} WHERE id = 'c1'")
    finish(path)
    assert figures(path).tally.requests.total() == 3


def test_names_that_an_agent_chooses_are_bounded(path: Path) -> None:
    finish(path)
    tally = Tally()
    day = next(periods(time.time(), (Unit.DAY,)))
    for number in range(3 * MOST_NAMES):
        tally.add_tries(day, StoppedTry("mallory", HOST, f"x{number}.example.net"), Tries(2, 1, 5.0))
    with closing(sqlite3.connect(path_of(path), isolation_level=None)) as connection:
        tally.put_down(connection)
        tally.put_down(connection)
        (names,) = connection.execute("SELECT count(*) FROM stopped WHERE agent = 'mallory'").fetchone()
        (tries,) = connection.execute("SELECT sum(tries) FROM stopped WHERE agent = 'mallory'").fetchone()
    assert names == MOST_NAMES + 1
    assert tries == 2 * 2 * 3 * MOST_NAMES, "none of the tries is lost"


def test_a_result_that_lies_about_its_tries_counts_as_one() -> None:
    from runner.audit.history.filter import stopped_in

    contacts = [{"host": "a.example", "allowed": False, "times": times} for times in (-5, 1 << 62, "7", True, 2.5)]
    assert [times for _, _, times in stopped_in({"contacts": [*contacts, 7, {"allowed": False}]})] == [1] * 5
    assert list(stopped_in({"contacts": "x", "meta": {"blocked_imports": ["", 3, "os"]}})) == [(MODULE, "os", 1)]


@pytest.mark.parametrize("seconds", [0.0, -3.0, 0.125, 0.2, 1.0, 4.1, 60.0, 86_400.0, math.inf, math.nan])
def test_a_bucket_holds_its_seconds(seconds: float) -> None:
    place = bucket(seconds)
    assert 0 <= place <= LAST_BUCKET
    if 0 < seconds < math.inf:
        assert edge(place) <= seconds * 1.000_001 and (place == LAST_BUCKET or seconds <= edge(place + 1) * 1.000_001)


def test_a_percentile_is_exact_to_a_bucket() -> None:
    seconds = [1.2 * 1.013**number for number in range(300)]
    found = Counter(map(bucket, seconds))
    for share in (0.1, 0.5, 0.9):
        assert percentile(found, share) == pytest.approx(seconds[int(share * 300)], rel=0.1)
    assert percentile(Counter(), 0.5) is None


def test_a_kind_has_its_fields_in_the_order_of_the_table() -> None:
    assert CountedKind._fields == ("agent", "level", "verdict", "decider", "outcome")
