"""Whatever is changed in a ledger is noticed, and the first entry that is wrong is named."""

from __future__ import annotations

import asyncio
import hashlib
import random
import shutil
import sqlite3
import threading
import time
import tracemalloc
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Self

import pytest

from runner.audit.history.search import History, UnreadableRow
from runner.audit.ledger import verify as verify_module
from runner.audit.ledger import walk as walk_module
from runner.audit.ledger.entry import fingerprint
from runner.audit.ledger.formats import lay_out
from runner.audit.ledger.ledger import Ledger
from runner.audit.ledger.seal import Seal, genuine, new_key
from runner.audit.ledger.verify import verify
from runner.model.errors import KnownError
from tests.audit.story import KEY, approved, denied, entries, opening, request, tamper, write
from tests.patience import HANGS

PUBLIC = Seal(KEY).public
TOLD = [
    ("opened", "", {"process": 1}),
    *approved(request("r1")),
    ("refused", "", {"agent": "claude", "count": 3, "reason": "too many"}),
    *denied(request("r2")),
    *opening(request("r3")),
]
"""With the genesis and the key before them these are entries 3 to 19; the seal is number 20."""
LAST = 20


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"
    write(path, TOLD, KEY)
    return path


@pytest.fixture
def path(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(original, tmp_path / original.name))


def test_an_untouched_ledger_is_good(path: Path) -> None:
    found = verify(path, PUBLIC)
    assert found.ok
    assert (found.entries, found.first_broken, found.seals, found.signed_to) == (LAST, None, 1, LAST)
    assert found.keys == (PUBLIC,)


@pytest.mark.parametrize("seq", [1, 2, 3, 10, LAST - 1, LAST])
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("at", "at + 1"),
        ("kind", "kind || 'x'"),
        ("request_id", "request_id || 'x'"),
        ("body_sha256", "upper(body_sha256) || 'x'"),
        ("prev", "replace(prev, substr(prev, 1, 1), 'z')"),
        ("hash", "replace(hash, substr(hash, 1, 1), 'z')"),
    ],
)
def test_any_column_of_any_entry(path: Path, column: str, value: str, seq: int) -> None:
    tamper(path, f"UPDATE entries SET {column} = {value} WHERE seq = {seq}")
    found = verify(path)
    assert (found.ok, found.first_broken, found.entries) == (False, seq, seq - 1)
    assert f"ntry {seq} " in found.what


@pytest.mark.parametrize("seq", [1, 2, 10, LAST])
def test_the_number_itself(path: Path, seq: int) -> None:
    tamper(path, f"UPDATE entries SET seq = 500 WHERE seq = {seq}")
    assert verify(path).first_broken == seq


@pytest.mark.parametrize("seq", [1, 2, 10, LAST])
def test_the_body(path: Path, seq: int) -> None:
    tamper(path, f"UPDATE bodies SET data = replace(data, '}}', ' }}') WHERE seq = {seq}")
    found = verify(path)
    assert (found.first_broken, found.what) == (seq, f"The body of entry {seq} was changed.")


@pytest.mark.parametrize("seq", [1, 10, LAST])
def test_a_missing_body(path: Path, seq: int) -> None:
    tamper(path, f"DELETE FROM bodies WHERE seq = {seq}")
    assert verify(path).first_broken == seq


@pytest.mark.parametrize("bodies", [True, False])
@pytest.mark.parametrize("seq", [1, 10, LAST])
def test_a_removed_entry(path: Path, seq: int, bodies: bool) -> None:
    tamper(path, f"DELETE FROM entries WHERE seq = {seq}", *([f"DELETE FROM bodies WHERE seq = {seq}"] * bodies))
    found = verify(path)
    assert (found.first_broken, found.entries) == (seq, seq - 1)


def test_everything_removed(path: Path) -> None:
    tamper(path, "DELETE FROM entries", "DELETE FROM bodies", "DELETE FROM requests")
    assert verify(path).first_broken == 1


def test_a_removed_tail_with_its_rows(path: Path) -> None:
    """All of r3, so that the list of requests fits what is left."""
    gone = "WHERE seq >= 17"
    tamper(path, *(f"DELETE FROM {table} {gone}" for table in ("entries", "bodies", "requests")))
    assert verify(path).first_broken == 17


def test_a_removed_tail_with_a_corrected_head_lacks_its_signature(path: Path) -> None:
    gone = "WHERE seq >= 17"
    tamper(
        path,
        *(f"DELETE FROM {table} {gone}" for table in ("entries", "bodies", "requests")),
        "UPDATE head SET seq = 16, hash = (SELECT hash FROM entries WHERE seq = 16)",
    )
    assert verify(path).first_broken == 16


def test_a_removed_entry_with_the_rest_moved_up(path: Path) -> None:
    tamper(
        path,
        "DELETE FROM entries WHERE seq = 10",
        "DELETE FROM bodies WHERE seq = 10",
        *(
            f"UPDATE {table} SET seq = seq - 1 WHERE seq = {n}"
            for n in range(11, 21)
            for table in ("entries", "bodies")
        ),
    )
    assert verify(path).first_broken == 10


def test_two_entries_in_each_others_place(path: Path) -> None:
    swap = "UPDATE entries SET seq = {} WHERE seq = {}"
    tamper(path, swap.format(100, 6), swap.format(6, 7), swap.format(7, 100))
    assert verify(path).first_broken == 6


def test_an_entry_put_in_again(path: Path) -> None:
    new = LAST + 1
    tamper(
        path,
        f"INSERT INTO entries SELECT {new}, at, kind, request_id, body_sha256, prev, hash FROM entries WHERE seq = 6",
        f"INSERT INTO bodies SELECT {new}, data FROM bodies WHERE seq = 6",
    )
    assert verify(path).first_broken == new


def forge(path: Path, seq: int, kind: str, request_id: str, data: str) -> None:
    """Write an entry as one would who knows how they are made, but has no key."""
    with closing(sqlite3.connect(path)) as connection:
        (prev,) = connection.execute("SELECT hash FROM entries WHERE seq = ?", (seq - 1,)).fetchone()
        (at,) = connection.execute("SELECT max(at) FROM entries WHERE seq IN (?, ? - 1)", (seq, seq)).fetchone()
    body = hashlib.sha256(data.encode()).hexdigest()
    quoted = data.replace("'", "''")
    own = fingerprint(seq, at, kind, request_id, body, prev)
    tamper(
        path,
        f"DELETE FROM entries WHERE seq = {seq}",
        f"DELETE FROM bodies WHERE seq = {seq}",
        f"INSERT INTO entries VALUES ({seq}, {at}, '{kind}', '{request_id}', '{body}', '{prev}', '{own}')",
        f"INSERT INTO bodies VALUES ({seq}, '{quoted}')",
    )


def test_an_entry_rewritten_with_a_fitting_hash(path: Path) -> None:
    forge(path, 10, "refused", "", '{"agent":"x"}')
    found = verify(path)
    assert (found.first_broken, found.entries) == (10, 9)
    assert "replaced" in found.what


def test_the_last_entry_rewritten_with_a_fitting_hash(path: Path) -> None:
    forge(path, LAST, "refused", "", "{}")
    assert verify(path).first_broken == LAST


def test_an_entry_added_with_a_fitting_hash(path: Path) -> None:
    forge(path, LAST + 1, "refused", "", "{}")
    assert verify(path).first_broken == LAST + 1


def test_an_entry_added_with_a_fitting_hash_and_head_lacks_its_signature(path: Path) -> None:
    forge(path, LAST + 1, "refused", "", "{}")
    tamper(path, f"UPDATE head SET seq = {LAST + 1}, hash = (SELECT hash FROM entries WHERE seq = {LAST + 1})")
    assert verify(path).first_broken == LAST + 1


def test_a_step_that_the_life_cycle_does_not_have(path: Path) -> None:
    """However well it is forged, nothing runs that was not approved."""
    forge(path, LAST + 1, "running", "r3", "{}")
    found = verify(path)
    assert found.first_broken == LAST + 1
    assert "asked -> running" in found.what


@pytest.mark.parametrize(
    ("statement", "seq"),
    [
        ("UPDATE requests SET level = 1 WHERE id = 'r1'", 4),
        ("UPDATE requests SET verdict = 'approved' WHERE id = 'r2'", 12),
        ("UPDATE requests SET phase = 'closed' WHERE id = 'r3'", 17),
        ("UPDATE requests SET agent = 'other' WHERE id = 'r3'", 17),
        ("UPDATE requests SET exit_code = 1 WHERE id = 'r1'", 4),
        ("UPDATE requests SET decided_at = decided_at + 1 WHERE id = 'r2'", 12),
        ("UPDATE requests SET level = 77 WHERE id = 'r1'", 4),
        ("DELETE FROM requests WHERE id = 'r1'", 4),
        ("DELETE FROM requests WHERE id = 'r3'", 17),
    ],
)
def test_the_list_of_requests(path: Path, statement: str, seq: int) -> None:
    tamper(path, statement)
    found = verify(path)
    assert (found.ok, found.first_broken) == (False, seq)
    assert "list of requests" in found.what


def test_a_request_that_never_arrived(path: Path) -> None:
    columns = "'r9', agent, tool, language, title, digest, phase, arrived_at, level, asked_at, verdict, decider, rule,"
    tail = "decided_at, waited, started_at, outcome, exit_code, duration, finished_at, finished_seq"
    tamper(path, f"INSERT INTO requests SELECT 99, {columns} {tail} FROM requests WHERE id = 'r1'")
    found = verify(path)
    assert (found.ok, found.first_broken) == (False, None)
    assert "r9" in found.what


def test_a_stray_body(path: Path) -> None:
    tamper(path, "INSERT INTO bodies VALUES (99, '{}')")
    assert verify(path).first_broken == 99


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER entries_stay",
        "DROP INDEX requests_by_level",
        "CREATE TABLE notes (text TEXT)",
        "CREATE VIEW shown AS SELECT * FROM entries",
        "ALTER TABLE entries ADD COLUMN more TEXT",
    ],
)
def test_the_tables_and_their_guards(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
    found = verify(path)
    assert not found.ok
    assert "altered" in found.what


def test_a_view_in_the_place_of_the_entries_fools_nobody(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE entries RENAME TO real_entries")
        connection.execute("CREATE VIEW entries AS SELECT * FROM real_entries")
    assert "altered" in verify(path).what


def unsigned_head(path: Path) -> None:
    """Note the last entry as one would who has no key."""
    last = "FROM entries ORDER BY seq DESC LIMIT 1"
    tamper(path, f"UPDATE head SET key = '', signature = '', seq = (SELECT seq {last}), hash = (SELECT hash {last})")


def test_a_seal_forged_with_another_key(path: Path) -> None:
    other = Seal(new_key())
    with closing(sqlite3.connect(path)) as connection:
        (head,) = connection.execute(f"SELECT hash FROM entries WHERE seq = {LAST}").fetchone()
    data = f'{{"head":"{head}","key":"{other.public}","seq":{LAST},"signature":"{other.sign(LAST, head)}"}}'
    forge(path, LAST + 1, "sealed", "", data)
    unsigned_head(path)
    found = verify(path)
    assert found.first_broken == LAST + 1
    assert "key that was not recorded" in found.what


def test_everything_rewritten_with_fitting_hashes_breaks_at_the_seal(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        rest = connection.execute(
            "SELECT seq, kind, request_id, data FROM entries JOIN bodies USING (seq) WHERE seq > 10 ORDER BY seq"
        ).fetchall()
    forge(path, 10, "closed", "r1", '{"forged":true}')
    for seq, kind, request_id, data in rest:
        forge(path, seq, kind, request_id, data)
    unsigned_head(path)
    found = verify(path)
    assert found.first_broken == LAST
    assert "seal that does not fit" in found.what


def test_a_head_signed_with_another_key(path: Path) -> None:
    other = Seal(new_key())
    with closing(sqlite3.connect(path)) as connection:
        (head,) = connection.execute("SELECT hash FROM head").fetchone()
    tamper(path, f"UPDATE head SET key = '{other.public}', signature = '{other.sign(LAST, head)}'")
    found = verify(path)
    assert found.first_broken == LAST
    assert "key that was not recorded" in found.what


def test_a_second_beginning(path: Path) -> None:
    forge(path, LAST + 1, "genesis", "", "{}")
    unsigned_head(path)
    assert verify(path).first_broken == LAST + 1


def test_an_index_that_hides_a_request(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        own = "name = 'requests_by_level'"
        (sql,) = connection.execute(f"SELECT sql FROM sqlite_schema WHERE {own}").fetchone()
        connection.execute("DROP INDEX requests_by_level")
        connection.execute(f"{sql} WHERE id <> 'r1'")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(f"UPDATE sqlite_schema SET sql = ? WHERE {own}", (sql,))
    found = verify(path)
    assert (found.ok, found.first_broken) == (False, None)
    assert "requests_by_level" in found.what


def test_a_whole_ledger_made_with_another_key(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    write(path, TOLD, new_key())
    assert verify(path).ok
    found = verify(path, PUBLIC)
    assert (found.ok, found.first_broken, found.entries) == (False, 1, 0)
    assert "key of this installation" in found.what


def test_what_is_not_signed_is_said(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    write(path, TOLD, KEY)
    write(path, [("opened", "", {})])
    found = verify(path, PUBLIC)
    assert (found.ok, found.entries, found.signed_to) == (True, LAST + 1, LAST - 1)


def test_signatures_hold_for_one_head_only() -> None:
    seal = Seal(KEY)
    signature = seal.sign(7, "ab")
    assert genuine(seal.public, 7, "ab", signature)
    assert not genuine(seal.public, 8, "ab", signature)
    assert not genuine(seal.public, 7, "ac", signature)
    assert not genuine(Seal(new_key()).public, 7, "ab", signature)
    assert not genuine(seal.public, 7, "ab", "not hex")
    assert not genuine("", 7, "ab", signature)


def test_a_key_of_the_wrong_length_is_the_keyrings_fault() -> None:
    with pytest.raises(KnownError, match="16 bytes"):
        Seal(bytes(16))


def test_flipped_bytes_never_pass_where_they_show(path: Path) -> None:
    """Anywhere in the file: noticed, or in a place that holds nothing of what there is to see."""
    good, shown = path.read_bytes(), entries(path)
    chosen = random.Random(2)
    for _ in range(150):
        place = chosen.randrange(100, len(good))
        path.write_bytes(good[:place] + bytes([good[place] ^ chosen.randrange(1, 256)]) + good[place + 1 :])
        if passes(path):
            assert entries(path) == shown, place


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9])
def test_a_file_cut_short(path: Path, keep: float) -> None:
    good = path.read_bytes()
    path.write_bytes(good[: int(len(good) * keep)])
    assert not passes(path)


def passes(path: Path) -> bool:
    """Whether it is found good; that it cannot be read at all is another way to fail."""
    try:
        return verify(path).ok
    except KnownError:
        return False


@pytest.mark.parametrize("content", [b"", b"no database", b"\0" * 8192])
def test_what_is_no_ledger_is_said(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ledger.sqlite3"
    path.write_bytes(content)
    with pytest.raises(KnownError) as caught:
        verify(path)
    assert caught.value.remedy


def test_there_is_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(KnownError, match="There is no ledger"):
        verify(tmp_path / "ledger.sqlite3")


def test_a_ledger_of_a_newer_assent(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(KnownError, match="newer"):
        verify(path)


def test_progress_is_reported_and_may_stop_it(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    write(path, [("opened", "", {})] * 2500)
    seen: list[int] = []
    assert verify(path, progress=seen.append).ok
    assert seen == [1000, 2000]

    def stop(entries: int) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        verify(path, progress=stop)


def test_memory_does_not_grow_with_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    asked = request("r0", code="x" * 20_000)
    write(path, [one for number in range(400) for one in denied(replace(asked, id=f"r{number}"))])
    verify(path)
    tracemalloc.start()
    try:
        assert verify(path).ok
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < path.stat().st_size / 5


def test_every_table_and_trigger_is_covered_by_the_check() -> None:
    """The model that a ledger is compared with is the text it was made from."""
    with closing(sqlite3.connect(":memory:")) as connection:
        lay_out(connection)
        (triggers,) = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'").fetchone()
    assert triggers == 9


# ---- cells of another type than was written ----


def mistyped(path: Path, statement: str) -> None:
    """Change the file as damage does: STRICT holds only for what SQLite itself writes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        tables = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql LIKE '%STRICT'").fetchall()
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("PRAGMA writable_schema = ON")
        # Columns without a type take anything.
        for name, sql in tables:
            loose = sql.replace(") STRICT", ")")
            for kind in ("TEXT", "INTEGER NOT", "REAL"):
                loose = loose.replace(f" {kind}", " NOT" if "NOT" in kind else " BLOB")
            connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (loose, name))
        connection.execute("PRAGMA writable_schema = RESET")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)
        connection.execute("PRAGMA writable_schema = ON")
        for name, sql in tables:
            connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (sql, name))
        connection.execute("PRAGMA writable_schema = RESET")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for _, sql in guards:
            connection.execute(sql)


CELLS = [
    f"UPDATE {table} SET {column} = {value} WHERE seq = {LAST}"
    for table, columns in (
        ("entries", ("at", "kind", "request_id", "body_sha256", "prev", "hash")),
        ("bodies", ("data",)),
        ("head", ("hash", "key", "signature")),
    )
    for column in columns
    for value in ("x'00ff'", "1.5")
]


@pytest.mark.parametrize("statement", CELLS)
def test_a_cell_of_another_type_is_damage_and_not_a_fault(path: Path, statement: str) -> None:
    mistyped(path, statement)
    assert "altered" not in verify(path).what.partition("tables were")[2]
    assert not verify(path, PUBLIC).ok
    with pytest.raises(KnownError):
        Ledger.open(path)


@pytest.mark.parametrize("column", ["agent", "title", "level", "arrived_at", "exit_code", "phase", "tool"])
def test_a_row_of_another_type_is_damage_and_not_a_fault(path: Path, column: str) -> None:
    mistyped(path, f"UPDATE requests SET {column} = x'00ff' WHERE id = 'r3'")
    assert not verify(path).ok
    history = History(path)
    try:
        damaged = [line for line in history.lines() if isinstance(line, UnreadableRow)]
        assert [line.id for line in damaged] == ["r3"]
        assert [row.id for row in history.page()] == ["r2", "r1"], "the others are listed"
        assert len(history.newest_cases(10)) == 2
        with pytest.raises(KnownError):
            history.case("r3")
        assert not history.open_cases().cases
    finally:
        history.close()


@pytest.mark.parametrize("column", ["entries SET at", "entries SET prev", "bodies SET data"])
def test_the_history_of_damaged_entries_cannot_be_shown_and_says_so(path: Path, column: str) -> None:
    mistyped(path, f"UPDATE {column} = x'00ff' WHERE seq = 17")
    history = History(path)
    try:
        with pytest.raises(KnownError):
            history.case("r3")
        assert [left.id for left in history.open_cases().unreadable] == ["r3"]
    finally:
        history.close()


LARGE = 100_000
"""Characters of an entry that is written meanwhile."""


class Busy:
    """A ledger that is written to, on a thread of its own, for as long as this is entered."""

    def __init__(self, path: Path) -> None:
        self.written = 0
        self._path = path
        self._over = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._write()))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    async def _write(self) -> None:
        ledger = Ledger.open(self._path)
        while not self._over.is_set():
            await ledger.append("refused", "", {"reason": "x" * LARGE})
            self.written += 1
        await ledger.close()

    def wait(self, more: int) -> None:
        """Return once so many more entries are written."""
        goal, end = self.written + more, time.monotonic() + HANGS
        while self.written < goal:
            assert time.monotonic() < end and self._thread.is_alive()
            time.sleep(0.001)


def test_the_journal_does_not_grow_for_as_long_as_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.sqlite3"
    write(path, [("refused", "", {"reason": "x"})] * 1200)
    monkeypatch.setattr(verify_module, "PROGRESS_EVERY", 100)
    monkeypatch.setattr(verify_module, "READ_SECONDS", 0.0)
    with Busy(path) as busy:
        monkeypatch.setattr(verify_module, "sleep", lambda _seconds: busy.wait(3))
        busy.wait(1)
        found = verify(path, progress=lambda entries: busy.wait(10) if entries <= 1200 else None)
        journal = path.with_name(f"{path.name}-wal").stat().st_size
    # SQLite begins its journal again at 4 MB; twelve looks of ten large entries each are 12 MB.
    assert journal < 8 << 20
    assert found.ok and found.entries > 1300, "what came meanwhile is checked too"


def test_what_is_wrong_is_found_in_whichever_look(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("READ_SECONDS", 0.0), ("PAUSE_SECONDS", 0.0), ("LOOK_EVERY", 1)):
        monkeypatch.setattr(walk_module if name == "LOOK_EVERY" else verify_module, name, value)
    assert verify(path, PUBLIC) == replace(verify(path, PUBLIC), entries=LAST, ok=True)
    tamper(path, f"UPDATE bodies SET data = replace(data, '}}', ' }}') WHERE seq = {LAST}")
    assert verify(path).first_broken == LAST
