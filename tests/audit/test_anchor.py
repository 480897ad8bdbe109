"""A history that was rewritten, cut, rolled back or removed by somebody without the key is not called good."""

from __future__ import annotations

import asyncio
import hashlib
import json
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.audit.ledger.anchor import Anchor, AnchorKeeper, difference, parsed
from runner.audit.ledger.entry import GENESIS, KEY, NOTHING_BEFORE, SEALED, Entry, fingerprint
from runner.audit.ledger.ledger import Ledger
from runner.audit.ledger.row import COLUMNS, PHASES, Row, advance, to_columns
from runner.audit.ledger.seal import Seal
from runner.audit.ledger.verify import verify
from runner.model.errors import KnownError
from tests.audit import story
from tests.audit.story import approved, denied, request, tamper
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.audit.story import Told

PUBLIC = Seal(story.KEY).public
OPENED: Told = ("opened", "", {"process": 1})
TOLD = [*approved(request("r1")), *denied(request("r2", code="print('not this')"))]
LAST = 16
"""Genesis, opened, key, seven of r1, five of r2, the seal."""

Rest = list[tuple[str, str, str]]


def session(path: Path, told: list[Told], key: bytes | None = story.KEY) -> Anchor | None:
    """One session as a console has it: opened, the key, what is told; the last signed head."""
    heads: list[Anchor] = []

    async def work() -> None:
        ledger = Ledger.open(path)
        try:
            await ledger.append(*OPENED)
            if key is not None:
                await ledger.seal_with(key, heads.append)
            await story.tell(ledger, told)
        finally:
            await ledger.close()

    asyncio.run(work())
    return heads[-1] if heads else None


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Anchor]:
    path = tmp_path_factory.mktemp("ledger") / "ledger.sqlite3"
    anchor = session(path, TOLD)
    assert anchor is not None
    return path, anchor


@pytest.fixture
def anchor(original: tuple[Path, Anchor]) -> Anchor:
    return original[1]


@pytest.fixture
def path(original: tuple[Path, Anchor], tmp_path: Path) -> Path:
    return Path(shutil.copy(original[0], tmp_path / "ledger.sqlite3"))


def contents(path: Path) -> Rest:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(
            "SELECT kind, request_id, data FROM entries JOIN bodies USING (seq) ORDER BY seq"
        ).fetchall()


def rewrite(path: Path, rest: Rest) -> None:
    """Write the whole ledger again from `rest` as one would who has the file and this code, but not the key."""
    rows: dict[str, Row] = {}
    prev = NOTHING_BEFORE
    entries: list[tuple[Any, ...]] = []
    for seq, (kind, name, data) in enumerate(rest, 1):
        body = hashlib.sha256(data.encode()).hexdigest()
        own = fingerprint(seq, seq, kind, name, body, prev)
        entry = Entry(seq, seq, kind, name, body, prev, own)
        if kind in PHASES:
            row = advance(rows.get(name), entry, json.loads(data))
            assert row is not None
            rows[name] = row
        entries.append((seq, seq, kind, name, body, prev, own))
        prev = own
    tamper(path, *(f"DELETE FROM {table}" for table in ("entries", "bodies", "requests")))
    with closing(sqlite3.connect(path)) as connection:
        connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", entries)
        connection.executemany("INSERT INTO bodies VALUES (?, ?)", [(n, one[2]) for n, one in enumerate(rest, 1)])
        marks = ", ".join("?" * len(COLUMNS))
        connection.executemany(
            f"INSERT INTO requests ({', '.join(COLUMNS)}) VALUES ({marks})", map(to_columns, rows.values())
        )
        connection.execute("UPDATE head SET seq = ?, hash = ?, key = '', signature = ''", (len(rest), prev))
        connection.commit()


def without_seals(rest: Rest) -> Rest:
    return [one for one in rest if one[0] != SEALED]


def code_replaced(rest: Rest) -> Rest:
    return [(kind, name, data.replace("not this", "harmless")) for kind, name, data in without_seals(rest)]


def run_removed(rest: Rest) -> Rest:
    return [one for one in without_seals(rest) if one[1] != "r1"]


def approval_forged(rest: Rest) -> Rest:
    """r2 becomes what r1 was."""
    kept = [one for one in without_seals(rest) if one[1] != "r2"]
    digest = request("r1").digest, request("r2").digest
    return kept + [
        (kind, "r2", data.replace('"r1"', '"r2"').replace(*digest)) for kind, name, data in kept if name == "r1"
    ]


def all_but_two(rest: Rest) -> Rest:
    return [one for one in rest if one[0] in (GENESIS, KEY)]


MANIPULATIONS = [code_replaced, run_removed, approval_forged, all_but_two, without_seals]


@pytest.mark.parametrize("change", MANIPULATIONS)
def test_a_history_rewritten_without_the_key_is_broken(
    path: Path, anchor: Anchor, change: Callable[[Rest], Rest]
) -> None:
    rewrite(path, change(contents(path)))
    assert verify(path).ok, "the hashes alone must fit, or something else is tested"
    found = verify(path, PUBLIC, anchor=anchor)
    assert (found.ok, found.first_broken, found.entries) == (False, 1, 0)
    assert difference(path, anchor) is not None


@pytest.mark.parametrize("change", [code_replaced, run_removed, approval_forged, without_seals])
def test_missing_signatures_are_noticed_also_without_an_anchor(path: Path, change: Callable[[Rest], Rest]) -> None:
    """A ledger of an earlier version has none."""
    rewrite(path, change(contents(path)))
    found = verify(path, PUBLIC)
    assert (found.ok, found.first_broken) == (False, 1)
    assert "first that cannot be vouched for" in found.what


def test_what_could_not_be_distinguished_without_an_anchor_is_at_least_not_called_good(path: Path) -> None:
    rewrite(path, all_but_two(contents(path)))
    found = verify(path, PUBLIC)
    assert found.ok
    assert "first that cannot be vouched for" in found.unsure


def test_a_head_whose_signature_was_removed(path: Path) -> None:
    tamper(path, "UPDATE head SET key = '', signature = ''")
    assert verify(path, PUBLIC).ok, "the seal before it vouches for all"
    tamper(
        path,
        f"DELETE FROM entries WHERE seq = {LAST}",
        f"DELETE FROM bodies WHERE seq = {LAST}",
        f"UPDATE head SET seq = {LAST - 1}, hash = (SELECT hash FROM entries WHERE seq = {LAST - 1})",
    )
    found = verify(path, PUBLIC)
    assert (found.ok, found.first_broken) == (False, 1)


def test_an_older_copy_and_a_cut_end(path: Path, tmp_path: Path) -> None:
    old = Path(shutil.copy(path, tmp_path / "old.sqlite3"))
    newest = session(path, [*denied(request("r3"))])
    assert newest is not None
    assert verify(path, PUBLIC, anchor=newest).ok
    found = verify(old, PUBLIC, anchor=newest)
    assert (found.ok, found.first_broken) == (False, LAST + 1)
    assert "older copy" in found.what
    assert "older copy" in str(difference(old, newest))


def test_another_ledger_in_its_place(anchor: Anchor, tmp_path: Path) -> None:
    """Also one that was signed with the same key."""
    other = tmp_path / "other.sqlite3"
    session(other, [OPENED] * 30)
    found = verify(other, PUBLIC, anchor=anchor)
    assert (found.ok, found.first_broken) == (False, 1)
    assert "removed or replaced" in str(difference(other, anchor))


def test_a_ledger_ahead_of_its_anchor_is_good(path: Path, anchor: Anchor) -> None:
    """As after a crash between a seal and the note of it."""
    session(path, [*denied(request("r3"))])
    assert difference(path, anchor) is None
    found = verify(path, PUBLIC, anchor=anchor)
    assert (found.ok, found.unsure) == (True, "")


def test_a_session_that_has_not_its_key_yet_is_not_called_rewritten(path: Path, anchor: Anchor) -> None:
    session(path, [], key=None)
    found = verify(path, PUBLIC, anchor=anchor)
    assert (found.ok, found.signed_to) == (True, LAST - 1)
    assert f"Entry {LAST + 1} is the first that cannot be vouched for" in found.unsure


def test_a_session_without_signatures_that_never_ends_is_broken(path: Path, anchor: Anchor) -> None:
    session(path, [OPENED] * 1000, key=None)
    found = verify(path, PUBLIC, anchor=anchor)
    assert (found.ok, found.first_broken) == (False, LAST + 1)


def test_what_was_written_before_the_key_came_is_signed_with_it(path: Path) -> None:
    """An idle console leaves nothing unsigned."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE head SET key = '', signature = ''")
        connection.commit()

    async def work() -> None:
        ledger = Ledger.open(path)
        try:
            await ledger.append(*OPENED)
            await ledger.seal_with(story.KEY)
            found = verify(path, PUBLIC)
            assert (found.ok, found.unsure, found.signed_to) == (True, "", LAST + 1)
        finally:
            await ledger.close()

    asyncio.run(work())


def test_without_the_key_nothing_is_called_written_as_it_is(path: Path) -> None:
    found = verify(path)
    assert found.ok
    assert found.unsure.startswith("The signing key is not available")


# ---- the note beside the key ----


def test_only_the_newest_head_is_written_and_the_last_at_the_end() -> None:
    begun, go_on = threading.Event(), threading.Event()
    written: list[int] = []

    def write(anchor: Anchor) -> None:
        written.append(anchor.seq)
        begun.set()
        assert go_on.wait(HANGS)

    keeper = AnchorKeeper(write, every=3600)
    keeper.signed(Anchor("l", 1, "a"))
    assert begun.wait(HANGS)
    for seq in range(2, 50):
        keeper.signed(Anchor("l", seq, "a"))
    go_on.set()
    assert keeper.close(30)
    assert written == [1, 49]


def test_a_keyring_that_does_not_answer_holds_nobody_at_the_end() -> None:
    go_on = threading.Event()
    keeper = AnchorKeeper(lambda _anchor: go_on.wait(HANGS))
    keeper.signed(Anchor("l", 1, "a"))
    assert not keeper.close(0.01)
    go_on.set()
    assert keeper.close(30)


def test_a_head_that_could_not_be_noted_is_no_reason_to_stop(caplog: pytest.LogCaptureFixture) -> None:
    tried: list[int] = []

    def write(anchor: Anchor) -> None:
        tried.append(anchor.seq)
        raise KnownError("The disk is full.")

    keeper = AnchorKeeper(write, every=0)
    keeper.signed(Anchor("l", 1, "a"))
    assert keeper.close(30)
    assert tried == [1]
    assert "could not be noted" in caplog.text


@pytest.mark.parametrize("text", ["{", "[]", "1", '{"ledger": 1, "seq": 2, "hash": "a"}', "[" * 100_000])
def test_a_damaged_note_is_reported(text: str) -> None:
    with pytest.raises(KnownError, match="cannot be read"):
        parsed(text)
    assert parsed(None) is None
    assert parsed(Anchor("l", 7, "h").text()) == Anchor("l", 7, "h")
