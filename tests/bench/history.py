"""The history: search, first page, append beside indexing, size of the index, verify, export, and removing content.

A ledger of `ASSENT_BENCH_ENTRIES` entries (100,000; a million takes some minutes to make) is written once into
`build/bench-history` and used again.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing, contextmanager
from datetime import date
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from app.today.reading import read_day, read_news
from app.today.spans import CURVE_DAYS, TimeSpan
from runner.audit.export.bundle import EntryBundle
from runner.audit.export.lines import json_lines
from runner.audit.export.ocsf import ocsf_events
from runner.audit.export.report import report
from runner.audit.export.source import ExportedRequests
from runner.audit.export.table import table
from runner.audit.history.index import path_of
from runner.audit.history.indexing import Indexer, Indexing
from runner.audit.history.search import Filter, History
from runner.audit.ledger.ledger import Ledger
from runner.audit.ledger.seal import Seal
from runner.audit.ledger.verify import verify
from runner.audit.retention.retention import DAY, Pruning, RetentionRule, planned
from runner.commands.follow import HistoryFeed
from runner.model.assessment import Level
from runner.model.request import Isolation, Language
from runner.model.result import Outcome
from runner.system.places import Places
from tests.audit.story import approved, request, tell
from tests.bench.long_history import KEY, RARE, write
from tests.bench.row import Row, percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.audit.retention.retention import RetentionPlan

ENTRIES = int(os.environ.get("ASSENT_BENCH_ENTRIES", "100000"))
FOLDER = Path("build/bench-history")
APPENDED = 300
"""Requests that are appended, of seven entries each."""
ROUNDS = 5
SEARCHES = (
    *(Filter(text=text) for text in ("import", "self", "ls", "zq", RARE[:10], "part_1f", "absentword", "os.path.")),
    Filter(text="self", host="example.org", outcome=Outcome.FAILED),
    Filter(finding="python.delete", sandbox=Isolation.GVISOR),
    Filter(language=Language.SHELL, level=Level.HIGH, text="import"),
)
_COUNTERS = "SELECT * FROM counts WHERE unit = ? AND start >= ? AND start <= ?"
_BARE = "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rowid DESC LIMIT 100"


def rows() -> Iterator[Row]:
    path = FOLDER / f"ledger-{ENTRIES}.sqlite3"
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f"draft-{path.name}")
        draft.unlink(missing_ok=True)
        write(draft, ENTRIES)
        draft.rename(path)
    with closing(Indexing(path)) as indexing:
        while indexing.advance():
            pass
    note = f"{ENTRIES:,} entries"
    yield Row(
        "size of the index", path_of(path).stat().st_size / 1e6, "MB", path.stat().st_size / 1e6, at_most=1.0, note=note
    )
    yield from _reading(path, note)
    yield from _counting(path, note)
    yield from _appending(path, note)
    yield from _verifying(path, note)
    yield from _exporting(path, note)
    yield from _removing(path, note)


def _reading(path: Path, note: str) -> Iterator[Row]:
    with closing(History(path)) as history:
        first = [_seconds(lambda: history.page(limit=100)) for _ in range(ROUNDS * 4)]
        yield Row("first page of the history", percentile(first, 0.95) * 1e3, "ms p95", at_most=50.0, note=note)
        times = [_seconds(partial(history.page, one, limit=100)) for one in SEARCHES for _ in range(ROUNDS)]
    with closing(sqlite3.connect(path_of(path))) as bare:
        floor = [_seconds(lambda: bare.execute(_BARE, ('"sel" AND "elf"',)).fetchall()) for _ in range(ROUNDS * 4)]
    slowest = percentile(times, 0.95) * 1e3
    yield Row("search of the history", slowest, "ms p95", at_most=100.0, note=note)
    yield Row("the same, to a query of the bare index", slowest, "ms p95", percentile(floor, 0.5) * 1e3, note=note)


def _counting(path: Path, note: str) -> Iterator[Row]:
    """Opening the page Today, and one update of it, as of the last day of this history.

    The floor is the same rows of the counters, fetched by a query and nothing else. What other modules of the bench
    left in memory is set aside as the console sets aside what it has loaded: a collection of all of that took 128 ms.
    """
    with _settled(), closing(History(path)) as history:
        (newest,) = history.page(limit=1)
        today = date.fromtimestamp(newest.arrived_at).toordinal()
        nowhere = path.with_name("verified.json")
        opened = [_seconds(partial(read_day, history, TimeSpan.TODAY, today, nowhere)) for _ in range(ROUNDS * 10)]
        update = partial(read_news, history, TimeSpan.TODAY, today, [newest.id], nowhere)
        updated = [_seconds(update) for _ in range(ROUNDS * 20)]
        whole = [_seconds(partial(read_day, history, TimeSpan.ALL, today, nowhere)) for _ in range(ROUNDS * 2)]
    with closing(sqlite3.connect(path_of(path))) as bare:
        span = (0, today - CURVE_DAYS + 1, today)
        floor = [_seconds(lambda: bare.execute(_COUNTERS, span).fetchall()) for _ in range(ROUNDS * 4)]
    bottom = percentile(floor, 0.5) * 1e3
    yield Row("opening Today", percentile(opened, 0.95) * 1e3, "ms p95", at_most=60.0, note=note)
    yield Row("the same, to a query of the counters", percentile(opened, 0.5) * 1e3, "ms", bottom, note=note)
    yield Row("one update of Today", percentile(updated, 0.95) * 1e3, "ms p95", at_most=20.0, note=note)
    yield Row(
        "one update of Today, to a query of the counters", percentile(updated, 0.5) * 1e3, "ms", bottom, note=note
    )
    yield Row("all of the history in Today", percentile(whole, 0.95) * 1e3, "ms p95", at_most=300.0, note=note)


@contextmanager
def _settled() -> Iterator[None]:
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _appending(path: Path, note: str) -> Iterator[Row]:
    """Appends to a copy, with the index following and without, in turns."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        copy = Path(folder) / "ledger.sqlite3"
        for file, target in ((path, copy), (path_of(path), path_of(copy))):
            shutil.copy(file, target)
        found: dict[bool, list[float]] = {True: [], False: []}
        for turn in range(4):
            found[turn % 2 == 1].append(asyncio.run(_append(copy, turn, indexed=turn % 2 == 1)))
    without, beside = min(found[False]), min(found[True])
    yield Row("append with the index following", beside * 1e3, "ms a request", without * 1e3, at_most=1.5, note=note)


async def _append(path: Path, turn: int, *, indexed: bool) -> float:
    """Return seconds for each request."""
    ledger = Ledger.open(path)
    indexer = Indexer(path) if indexed else None
    if indexer is not None:
        ledger.grown = indexer.wake
    try:
        began = time.perf_counter()
        for number in range(APPENDED):
            await tell(ledger, approved(request(f"b{turn}-{number}", code=f"total = {number}\n" * 30)))
        return (time.perf_counter() - began) / APPENDED
    finally:
        if indexer is not None:
            indexer.close()
        await ledger.close()


def _verifying(path: Path, note: str) -> Iterator[Row]:
    """The floor is reading every entry and hashing its body, which no verification can do without."""
    began = time.process_time()
    verdict = verify(path, Seal(KEY).public)
    speed = verdict.entries / (time.process_time() - began)
    assert verdict.ok, verdict.what
    began = time.process_time()
    count = _bare_reading(path)
    floor = count / (time.process_time() - began)
    yield Row("verify", speed, "entries/s", at_least=50_000, note=f"{note}, of processor time")
    yield Row("verify, to reading and hashing alone", speed, "entries/s", floor, note=note)


def _exporting(path: Path, note: str) -> Iterator[Row]:
    """The floor is the same as for verifying: reading every entry, and hashing it."""
    began = time.process_time()
    floor = _bare_reading(path) / (time.process_time() - began)
    of_a_request = _entries_of_a_request(path)
    for what, lines, entries in (
        ("export of all entries", EntryBundle(path).lines(), 1.0),
        ("export as JSON Lines", json_lines(ExportedRequests(path).each()), of_a_request),
        ("export as OCSF events", ocsf_events(ExportedRequests(path).each()), of_a_request),
        ("export as table", table(ExportedRequests(path).each()), of_a_request),
        ("export as report", report(ExportedRequests(path).each(), "All requests."), of_a_request),
        ("follow from the first entry", _followed(path), 1.0),
    ):
        began, count = time.process_time(), 0
        for _ in lines:
            count += 1
        speed = count * entries / (time.process_time() - began)
        yield Row(what, speed, "entries/s", at_least=50_000, note=f"{note}, of processor time")
        yield Row(f"{what}, to reading and hashing alone", speed, "entries/s", floor, note=note)


def _entries_of_a_request(path: Path) -> float:
    with closing(sqlite3.connect(path)) as connection:
        (entries,) = connection.execute("SELECT count(*) FROM entries WHERE request_id <> ''").fetchone()
        (requests,) = connection.execute("SELECT count(*) FROM requests").fetchone()
    return float(entries / requests)


def _removing(path: Path, note: str) -> Iterator[Row]:
    """Removes the older half of a copy. The floor deletes the same bodies in one transaction, unchecked."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        places = Places.under(Path(folder))
        places.make()
        shutil.copy(path, places.ledger)
        with closing(sqlite3.connect(path)) as connection:
            (last,) = connection.execute("SELECT max(arrived_at) FROM requests").fetchone()
            middle = "SELECT arrived_at FROM requests WHERE seq >= ? ORDER BY seq LIMIT 1"
            (half,) = connection.execute(middle, (ENTRIES // 2,)).fetchone()
        plan = planned(places.ledger, RetentionRule((last - half) / DAY), places, now=last)
        began = time.perf_counter()
        asyncio.run(_remove(places, plan))
        removing = time.perf_counter() - began
        bare = Path(folder) / "bare.sqlite3"
        shutil.copy(path, bare)
        floor = _bare_deleting(bare)
        yield Row("remove the older half", removing, "s", at_most=60.0 * ENTRIES / 1_000_000, note=note)
        yield Row("remove the older half, to deleting the same alone", removing, "s", floor, note=note)


async def _remove(places: Places, plan: RetentionPlan) -> None:
    ledger = Ledger.open(places.ledger)
    try:
        await ledger.seal_with(KEY)
        await Pruning(ledger, places).remove(plan)
    finally:
        await ledger.close()


def _followed(path: Path) -> Iterator[str]:
    """Yield each entry as `assent history --follow` prints it."""
    with closing(HistoryFeed(path, 0)) as feed:
        while lines := feed.lines():
            yield from lines


def _bare_deleting(path: Path) -> float:
    """Return seconds."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for name in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
            connection.execute(f"PRAGMA {name}")
        connection.execute("DROP TRIGGER bodies_remain")
        began = time.perf_counter()
        connection.execute("DELETE FROM bodies WHERE seq < ?", (ENTRIES // 2,))
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return time.perf_counter() - began


def _bare_reading(path: Path) -> int:
    statement = "SELECT seq, at, kind, request_id, body_sha256, prev, hash, data FROM entries JOIN bodies USING (seq)"
    with closing(sqlite3.connect(path)) as connection:
        count = 0
        for *_, data in connection.execute(f"{statement} ORDER BY seq"):
            sha256(data.encode()).hexdigest()
            sha256(data[:260].encode()).hexdigest()
            count += 1
        return count


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
