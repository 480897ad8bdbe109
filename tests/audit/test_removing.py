"""Content is removed and the chain stays whole; nothing of it can be found, and nobody hides anything by it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from runner.audit.export.bundle import EntryBundle
from runner.audit.export.exporting import ExportFormat, HistoryExport
from runner.audit.files.evidence import Evidence
from runner.audit.history.index import path_of
from runner.audit.history.indexing import Indexing
from runner.audit.history.search import ContentRemoved, Filter, History
from runner.audit.ledger import verify as verify_module
from runner.audit.ledger import walk as walk_module
from runner.audit.ledger.anchor import Anchor
from runner.audit.ledger.entry import fingerprint
from runner.audit.ledger.ledger import Ledger
from runner.audit.ledger.opening import give_space_back
from runner.audit.ledger.removing import ContentRemoval
from runner.audit.ledger.seal import Seal
from runner.audit.ledger.verify import verify
from runner.audit.retention.retention import PERSON, SETTING, Pruning, RetentionRule, chosen, planned
from runner.model.codec import encode
from runner.model.errors import KnownError
from runner.model.request import canonical
from runner.model.result import CapturedFile
from runner.system.places import Places, resources
from runner.system.tasks import spawn
from tests.audit.story import KEY, RESULT, approved, denied, entries, opening, remove, request, tamper, tell, write
from tests.small_disk import fill, small_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PUBLIC = Seal(KEY).public
OTHER_KEY = bytes(range(1, 33))
SECRET = "hunter2-the-secret-of-the-day"
FILE = b"a file that a run left"


def left_by(places: Places, name: str, **changed: Any) -> dict[str, Any]:
    """The body of a finished run that left an artifact and a file."""
    places.make()
    places.captures.mkdir(parents=True, exist_ok=True)
    artifact = places.artifacts / f"{name}.json"
    artifact.write_text(SECRET)
    (places.captures / sha256(FILE).hexdigest()).write_bytes(FILE)
    result = replace(RESULT, stdout=SECRET, files=(CapturedFile("out.txt", len(FILE), sha256(FILE).hexdigest()),))
    facts = {"artifact": str(artifact), "artifact_sha256": sha256(SECRET.encode()).hexdigest()}
    return {**encode(result), **facts, **changed}


def secret_story(places: Places, name: str) -> list[tuple[str, str, dict[str, Any]]]:
    asked = request(name, code=f"login('{SECRET}')", title=f"Log in with {SECRET}")
    story = approved(asked)
    return [(kind, about, left_by(places, name) if kind == "finished" else body) for kind, about, body in story]


@pytest.fixture(name="places")
def in_folder(tmp_path: Path) -> Places:
    places = Places.under(tmp_path)
    places.make()
    return places


@pytest.fixture(name="path")
def with_story(places: Places) -> Path:
    """A ledger of which r2 holds the secret; r3 is open."""
    told = [
        ("opened", "", {"process": 1}),
        *approved(request("r1")),
        *secret_story(places, "r2"),
        *opening(request("r3")),
        *denied(request("r4")),
    ]
    write(places.ledger, told, KEY)
    with closing(Indexing(places.ledger)) as indexing:
        while indexing.advance():
            pass
    return places.ledger


def anchored(path: Path) -> Anchor:
    with closing(sqlite3.connect(path)) as connection:
        (first,) = connection.execute("SELECT hash FROM entries WHERE seq = 1").fetchone()
        return Anchor(first, *connection.execute("SELECT seq, hash FROM head").fetchone())


def arrival(path: Path, name: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        (seq,) = connection.execute("SELECT seq FROM requests WHERE id = ?", (name,)).fetchone()
        return int(seq)


def in_files(folder: Path, text: str) -> list[str]:
    """Files that hold `text`."""
    return [file.name for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


def checked_outside(path: Path, *given: str) -> tuple[int, str]:
    """What the program says that needs no Assent."""
    out = path.parent.parent / "entries.jsonl"
    out.write_text("".join(EntryBundle(path).lines()))
    program = str(resources() / "assent_verify.py")
    found = subprocess.run(
        [sys.executable, "-I", program, str(out), *given], capture_output=True, text=True, check=False
    )
    return found.returncode, found.stdout + found.stderr


def test_the_chain_stays_whole_and_says_what_is_gone(path: Path, places: Places) -> None:
    anchor = anchored(path)
    before = [row[:7] for row in entries(path) if len(row) == 8]
    pruned = remove(path, "r2")
    assert (pruned.requests, pruned.refused, pruned.unfinished) == (1, [], "")
    found = verify(path, PUBLIC, anchor=anchor, evidence=Evidence(places))
    assert (found.ok, found.unsure, found.removed) == (True, "", 1), found.what
    assert "The content of 1 request was removed" in found.what
    assert [row[:7] for row in entries(path) if len(row) == 8][: len(before)] == before, "no entry was touched"
    with closing(History(path)) as history:
        assert history.row("r2") is not None
        with pytest.raises(ContentRemoved, match="a person had it removed"):
            history.case("r2")
        assert history.case("r1") is not None
        assert [left.request.id for left in history.open_cases().cases] == ["r3"]
    code, said = checked_outside(path, "--key", PUBLIC)
    assert (code, "The content of 1 requests was removed" in said) == (0, True), said


def test_no_text_of_it_is_found_anywhere(path: Path, places: Places, tmp_path: Path) -> None:
    assert in_files(tmp_path, SECRET)
    assert places.artifacts.joinpath("r2.json").exists()
    remove(path, "r2")
    assert in_files(tmp_path, SECRET) == []
    assert in_files(tmp_path, FILE.decode()) == []
    assert not path_of(path).exists()
    with closing(Indexing(path)) as indexing:
        while indexing.advance():
            pass
    with closing(History(path)) as history:
        assert history.page(Filter(text="hunter2")) == []
        assert [row.id for row in history.page(Filter(text="hello"))] == ["r4", "r3", "r1"]
    assert in_files(tmp_path, SECRET) == []


def test_a_great_content_leaves_no_page_behind(places: Places, tmp_path: Path) -> None:
    """Bodies of many pages, whose pages are freed; and small ones, whose pages are filled with others again."""
    marks = [f"mark-{number:05}-of-the-secret" for number in range(40)]
    told = [
        step
        for number, mark in enumerate(marks)
        for step in approved(request(f"r{number}", code=f"{mark}\n" * (1 + number * 40), title=mark))
    ]
    write(places.ledger, told, KEY)
    remove(places.ledger, *[f"r{number}" for number in range(0, 40, 2)])
    kept = [mark for mark in marks if in_files(tmp_path, mark)]
    assert kept == marks[1::2]
    size = places.ledger.stat().st_size
    give_space_back(places.ledger)
    assert places.ledger.stat().st_size < size * 0.75
    assert verify(places.ledger, PUBLIC).ok


def test_it_is_gone_while_the_console_is_still_open(path: Path, places: Places, tmp_path: Path) -> None:
    """Neither in the journal nor in pages that wait for it; and a reader that holds the journal is said."""

    async def work() -> tuple[list[str], str, list[str]]:
        ledger = Ledger.open(path)
        await ledger.seal_with(KEY)
        await tell(ledger, secret_story(places, "r9"))
        with closing(sqlite3.connect(path)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM bodies").fetchone()
            held = await Pruning(ledger, places).remove(chosen(path, "r2"))
        await Pruning(ledger, places).remove(chosen(path, "r9"))
        found = in_files(tmp_path, SECRET)
        pending = await Pruning(ledger, places).pending()
        await ledger.close()
        return found, held.unfinished, ["pending"] if pending else []

    found, unfinished, pending = asyncio.run(work())
    assert found == []
    assert "Another program reads the history" in unfinished
    assert pending == ["pending"], "the captured file may be of r3, which is open"


def test_a_file_that_another_run_left_as_well_stays(places: Places) -> None:
    write(places.ledger, [*secret_story(places, "r1"), *secret_story(places, "r2")], KEY)
    remove(places.ledger, "r1")
    file = places.captures / sha256(FILE).hexdigest()
    assert file.read_bytes() == FILE
    assert sorted(one.name for one in places.artifacts.iterdir()) == ["r2.json"]
    remove(places.ledger, "r2")
    assert not file.exists()


def test_open_requests_and_altered_ones_stay_as_they_are(path: Path) -> None:
    with pytest.raises(KnownError, match="still open"):
        chosen(path, "r3")
    seq = arrival(path, "r3")

    async def order() -> ContentRemoval:
        ledger = Ledger.open(path)
        await ledger.seal_with(KEY)
        removal = ContentRemoval([seq], RetentionRule(chosen=True).recorded)
        assert await ledger.remove(removal) == 0
        await ledger.close()
        return removal

    assert "still open" in asyncio.run(order()).refused[0]
    pruned = remove(path, "r1", meanwhile=("UPDATE bodies SET data = replace(data, 'Fine.', 'Fine!') WHERE seq = 7",))
    assert (pruned.requests, "Entry 7 is not as it was written" in pruned.refused[0]) == (0, True)
    assert verify(path, PUBLIC).first_broken == 7, "the evidence is still there"


def test_a_list_that_was_altered_is_not_signed_over(path: Path) -> None:
    pruned = remove(path, "r1", meanwhile=("UPDATE requests SET verdict = 'denied' WHERE id = 'r1'",))
    assert (pruned.requests, "verdict denied" in pruned.refused[0]) == (0, True)


def test_nothing_is_removed_while_nothing_signs(path: Path) -> None:
    async def work() -> None:
        ledger = Ledger.open(path)
        try:
            with pytest.raises(KnownError, match="not signed now"):
                await Pruning(ledger, Places.under(path.parent.parent)).remove(chosen(path, "r2"))
        finally:
            await ledger.close()

    before = [row for row in entries(path) if len(row) == 8]
    asyncio.run(work())
    assert [row for row in entries(path) if len(row) == 8][: len(before)] == before


# ---- a thief with the file ----


def take(path: Path, name: str) -> list[str]:
    """The statements that take the bodies of a request away."""
    return [f"DELETE FROM bodies WHERE seq IN (SELECT seq FROM entries WHERE request_id = '{name}')"]


def forged(path: Path, name: str, *, key: bytes, recorded: bool = False) -> None:
    """Write the entry that claims a removal, as a thief would, and take the bodies."""
    seal, seq = Seal(key), arrival(path, name)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        last, prev = connection.execute("SELECT seq, hash FROM head").fetchone()
        steps = [("key", {"public": seal.public})] if recorded else []
        at = 1_800_000_000_000_000
        rows = []
        for kind, body in [("opened", {"process": 1}), *steps, ("removed", {})]:
            last += 1
            said: dict[str, Any] = body
            if kind == "removed":
                (facts,) = connection.execute("SELECT 1").fetchone()
                said = {"requests": [[seq, seq]], "requests_removed": 1, "facts": facts, "rule": {}, "key": seal.public}
                said["signature"] = seal.sign_removal(last, prev, said)
            text = canonical(said)
            digest = sha256(text).hexdigest()
            own = fingerprint(last, at, kind, "", digest, prev)
            rows.append(((last, at, kind, "", digest, prev, own), (last, text.decode())))
            prev = own
    statements = [f"INSERT INTO entries VALUES ({', '.join(map(repr, entry))})" for entry, _ in rows]
    statements += [f"INSERT INTO bodies VALUES ({seq}, '{text}')" for _, (seq, text) in rows]
    tamper(
        path,
        *statements,
        f"INSERT INTO removed VALUES ({seq}, {seq}, {last})",
        *take(path, name),
        f"UPDATE head SET seq = {last}, hash = '{prev}', key = '', signature = ''",
    )


def test_a_body_that_is_taken_is_missing(path: Path) -> None:
    tamper(path, *take(path, "r2"))
    found = verify(path, PUBLIC)
    assert (found.first_broken, found.what) == (
        arrival(path, "r2"),
        f"The body of entry {found.first_broken} is missing.",
    )
    assert checked_outside(path)[0] == 1


def test_a_body_is_not_hidden_behind_another_removal(path: Path) -> None:
    remove(path, "r1")
    with closing(sqlite3.connect(path)) as connection:
        (seq,) = connection.execute("SELECT seq FROM removed").fetchone()
    at = arrival(path, "r2")
    tamper(path, *take(path, "r2"), f"INSERT INTO removed VALUES ({at}, {at}, {seq})")
    found = verify(path, PUBLIC)
    assert (found.first_broken, "names other requests" in found.what) == (seq, True)
    code, said = checked_outside(path)
    assert (code, said) == (1, f"The body of entry {at} is missing: no entry says that it was removed.\n")


def test_a_removal_is_not_made_up_without_the_key(path: Path) -> None:
    forged(path, "r2", key=OTHER_KEY)
    found = verify(path, PUBLIC)
    assert (found.ok, "a key that was not recorded before" in found.what) == (False, True)
    code, said = checked_outside(path)
    assert (code, "under a key that was not recorded" in said) == (1, True)


def test_a_key_of_the_thief_is_seen(path: Path) -> None:
    """With a key of their own, recorded first: the whole is signed by Assent at its next start, and still it shows."""
    forged(path, "r2", key=OTHER_KEY, recorded=True)
    found = verify(path, PUBLIC)
    assert not found.ok
    with closing(sqlite3.connect(path)) as connection:
        facts = json.loads(connection.execute("SELECT data FROM bodies ORDER BY seq DESC LIMIT 1").fetchone()[0])
    assert facts["key"] == Seal(OTHER_KEY).public
    assert checked_outside(path, "--key", PUBLIC)[0] == 1


def test_content_under_another_key_is_said(path: Path) -> None:
    remove(path, "r1", key=OTHER_KEY)
    write(path, [("opened", "", {})], KEY)
    found = verify(path, PUBLIC)
    assert (found.ok, "under another key than that of this installation" in found.unsure) == (True, True)
    code, said = checked_outside(path, "--key", PUBLIC)
    assert (code, "under another key than --key" in said) == (2, True)


def test_a_removal_holds_at_its_own_place_only(path: Path, places: Places) -> None:
    """Its entry taken from one ledger and put into a copy that has another before it."""
    remove(path, "r2")
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT data FROM entries JOIN bodies USING (seq) WHERE kind = 'removed'").fetchall()
    body = json.loads(rows[0][0])
    signature = body.pop("signature")
    assert Seal(KEY).sign_removal(999, "0" * 64, body) != signature


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE requests SET outcome = 'failed' WHERE id = 'r2'", "the list says something else"),
        ("UPDATE requests SET title = 'Harmless' WHERE id = 'r2'", "the list says something else"),
        ("INSERT INTO bodies SELECT seq, '{}' FROM entries WHERE request_id = 'r2' LIMIT 1", "put one in its place"),
        ("DELETE FROM removed", "is missing"),
        ("INSERT INTO removed VALUES (1000, 1001, 3)", "no entry says"),
    ],
)
def test_what_was_removed_stays_as_it_was_said(path: Path, statement: str, words: str) -> None:
    remove(path, "r2")
    tamper(path, statement)
    found = verify(path, PUBLIC)
    assert (found.ok, words in found.what) == (False, True), found.what


@pytest.mark.parametrize("table", ["bodies", "removed"])
def test_the_guards_hold(path: Path, table: str) -> None:
    remove(path, "r2")
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="removed"):
        connection.execute(f"DELETE FROM {table}")


# ---- killed, full, at the same time ----

KILLED = """
import os, signal, sqlite3, sys, asyncio
from pathlib import Path
from runner.audit.ledger import chain, ledger, removing, tables
from runner.audit.retention import leftovers, retention
from tests.audit.story import remove

path, step = Path(sys.argv[1]), int(sys.argv[2])
left = [step]

def dies(owner, name, *, after=False):
    whole = getattr(owner, name)
    def instead(*given, **named):
        found = whole(*given, **named) if after else None
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found if after else whole(*given, **named)
    setattr(owner, name, instead)

dies(removing.ContentRemoval, "look")
dies(removing.ContentRemoval, "carry_out")
dies(removing.ContentRemoval, "carry_out", after=True)
dies(chain.Chain, "remove", after=True)
dies(leftovers, "discard")
dies(leftovers, "discard", after=True)
dies(leftovers, "_remove")
dies(leftovers, "_remove", after=True)
dies(ledger, "tidied")
dies(ledger, "tidied", after=True)
dies(chain.Chain, "swept")
remove(path, "r2")
print("done")
"""


def test_kill_nine_at_every_step(path: Path, places: Places, tmp_path: Path) -> None:
    whole, seen = path.read_bytes(), set()
    for step in range(1, 40):
        # Not the captured file: what is newer than an open request may be of that one, and stays until it is closed.
        places.artifacts.joinpath("r2.json").write_text(SECRET)
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.write_bytes(whole)
        with closing(Indexing(path)) as indexing:
            while indexing.advance():
                pass
        killed = subprocess.run([sys.executable, "-c", KILLED, str(path), str(step)], capture_output=True, check=False)
        found = verify(path, PUBLIC)
        assert found.ok, (step, found.what)
        seen.add(found.removed)
        with closing(History(path)) as history:
            assert history.case("r1") is not None, step
            assert [left.request.id for left in history.open_cases().cases] == ["r3"], step
        asyncio.run(continued(path, places, wanted=not found.removed))
        assert in_files(tmp_path, SECRET) == [], step
        assert verify(path, PUBLIC).removed == 1, step
        if killed.returncode == 0:
            break
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert step > 11, "each step was met"
    assert seen == {0, 1}


async def continued(path: Path, places: Places, *, wanted: bool) -> None:
    """The next start: what was left is cleared away; what was not removed is, where somebody still wants it."""
    ledger = Ledger.open(path)
    await ledger.seal_with(KEY)
    pruning = Pruning(ledger, places)
    assert wanted or not await pruning.pending() or await pruning.sweep() == ""
    if wanted:
        assert (await pruning.remove(chosen(path, "r2"))).requests == 1
    assert not await pruning.pending()
    await ledger.close()


@pytest.fixture(name="small_disk")
def mounted(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path) as room:
        yield room


def test_a_full_disk_removes_all_of_a_request_or_nothing(small_disk: Path) -> None:
    places = Places.under(small_disk)
    places.make()
    write(places.ledger, [step for name in "abc" for step in approved(request(name, code=name * 9_000))], KEY)

    async def work() -> None:
        ledger = Ledger.open(places.ledger)
        await ledger.seal_with(KEY)
        ballast = fill(small_disk)
        plan = planned(places.ledger, RetentionRule(0.0), places, now=2e9)
        assert plan.count == 3
        with pytest.raises(KnownError, match="disk is full"):
            await Pruning(ledger, places).remove(plan)
        found = verify(places.ledger, PUBLIC)
        assert (found.ok, found.removed) == (True, 0), found.what
        ballast.unlink()
        assert (await Pruning(ledger, places).remove(plan)).requests == 3
        await ledger.close()

    asyncio.run(work())
    assert verify(places.ledger, PUBLIC).removed == 3


def test_beside_appends_and_readers(places: Places) -> None:
    """Decisions come in between; who verifies or exports sees one state, before or after."""
    write(places.ledger, [step for number in range(300) for step in denied(request(f"r{number}"))], KEY)

    async def work() -> tuple[int, list[str]]:
        ledger = Ledger.open(places.ledger)
        await ledger.seal_with(KEY)
        plan = planned(places.ledger, RetentionRule(0.0), places, now=2e9)
        order = spawn("removing", Pruning(ledger, places).remove(plan))
        exported = spawn("export", asyncio.to_thread(export))
        number = 0
        while not order.done():
            number += 1
            await tell(ledger, denied(request(f"new{number}")))
            found = await asyncio.to_thread(verify, places.ledger, PUBLIC)
            assert found.ok, found.what
            assert found.removed in (0, 300)
        assert (await order).requests == 300
        lines = await exported
        await ledger.close()
        return number, lines

    def export() -> list[str]:
        target = places.state / "out.jsonl"
        HistoryExport(places.ledger, ExportFormat.JSON_LINES).write(target)
        return target.read_text().splitlines()

    _, lines = asyncio.run(work())
    assert len(lines) >= 300
    assert verify(places.ledger, PUBLIC).ok


def test_a_file_that_may_be_of_an_open_run_waits(path: Path, places: Places) -> None:
    """It was stored after that request arrived, and the history does not name it yet."""
    file = places.captures / sha256(FILE).hexdigest()
    file.write_bytes(FILE)
    assert "1 files could not be removed yet" in remove(path, "r2").unfinished
    assert file.exists()
    write(path, denied(request("r3"))[3:], KEY)

    async def work() -> None:
        ledger = Ledger.open(path)
        await ledger.seal_with(KEY)
        assert await Pruning(ledger, places).sweep() == ""
        assert not await Pruning(ledger, places).pending()
        await ledger.close()

    asyncio.run(work())
    assert not file.exists()


# ---- the rules ----


def aged(places: Places, days: list[float], code: int = 1000) -> float:
    """A ledger with one closed request of each age; return the present."""
    now = 1_700_000_000.0

    async def work() -> None:
        times = [now - day * 86_400 for day in days]
        present = [times[0]]
        ledger = Ledger.open(places.ledger, clock=lambda: present[0])
        await ledger.seal_with(KEY)
        for number, moment in enumerate(times):
            present[0] = moment
            await tell(ledger, denied(request(f"d{number}", code="x" * code)))
        await ledger.close()

    asyncio.run(work())
    return now


def names(path: Path, requests: Any) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        found = dict(connection.execute("SELECT seq, id FROM requests"))
    return [found[seq] for seq in requests]


def test_age_and_size_choose_the_oldest(places: Places) -> None:
    now = aged(places, [400, 100, 91, 89, 20, 0.5])
    plan = planned(places.ledger, RetentionRule(90.0), places, now)
    assert names(places.ledger, plan.requests) == ["d0", "d1", "d2"]
    assert plan.sentence == f"Would remove the content of 3 requests, {plan.bytes / 1e3:.1f} kB: older than 90 days."
    each = plan.bytes // 3
    by_size = planned(places.ledger, RetentionRule(keep_bytes=each * 2 + 500), places, now)
    assert names(places.ledger, by_size.requests) == ["d0", "d1", "d2", "d3"]
    both = planned(places.ledger, RetentionRule(300.0, each * 5 + 500), places, now)
    assert names(places.ledger, both.requests) == ["d0"]
    assert planned(places.ledger, RetentionRule(500.0), places, now).sentence.startswith("Nothing to remove")


def test_a_flood_does_not_empty_the_last_days(places: Places) -> None:
    """By the settings; a person may still choose to."""
    now = aged(places, [30, 6, 5, 4])
    automatic = planned(places.ledger, RetentionRule(keep_bytes=1, by=SETTING), places, now)
    assert names(places.ledger, automatic.requests) == ["d0"]
    by_hand = planned(places.ledger, RetentionRule(keep_bytes=1, by=PERSON), places, now)
    assert names(places.ledger, by_hand.requests) == ["d0", "d1", "d2", "d3"]


def test_what_is_still_in_use_is_spared(places: Places) -> None:
    now = aged(places, [30, 20, 0.01])
    plan = planned(places.ledger, RetentionRule(0.0), places, now, spare={"d1"})
    assert names(places.ledger, plan.requests) == ["d0"], "not one that is spared, not one of the last hour"


def test_what_was_removed_is_not_counted_again(places: Places) -> None:
    now = aged(places, [30, 20, 10])
    remove(places.ledger, "d1")
    plan = planned(places.ledger, RetentionRule(5.0), places, now)
    assert names(places.ledger, plan.requests) == ["d0", "d2"]
    with pytest.raises(KnownError, match="removed before"):
        chosen(places.ledger, "d1")

    async def work() -> None:
        ledger = Ledger.open(places.ledger)
        await ledger.seal_with(KEY)
        await Pruning(ledger, places).remove(plan)
        await ledger.close()

    asyncio.run(work())
    found = verify(places.ledger, PUBLIC)
    assert (found.ok, found.removed) == (True, 3), found.what
    with closing(sqlite3.connect(places.ledger)) as connection:
        ranges = connection.execute("SELECT first, last FROM removed ORDER BY first").fetchall()
    assert [first for first, _ in ranges] == sorted(arrival(places.ledger, name) for name in ("d0", "d1", "d2"))


def test_an_export_says_what_is_left(path: Path, tmp_path: Path) -> None:
    remove(path, "r2")
    target = tmp_path / "out.jsonl"
    HistoryExport(path, ExportFormat.JSON_LINES).write(target)
    found = {line["id"]: line for line in map(json.loads, target.read_text().splitlines())}
    assert "a person had it removed" in found["r2"]["problem"]
    assert (found["r2"]["left"]["verdict"], found["r2"]["request"]) == ("approved", None)
    assert "left" not in found["r1"]
    assert os.path.getsize(target) > 0


@pytest.mark.parametrize("looked", [3, 4, 5, 6, 8])
def test_what_is_removed_between_two_looks_of_verify_is_accounted_for(
    path: Path, monkeypatch: pytest.MonkeyPatch, looked: int
) -> None:
    """`looked`: entries read before; some of the request's own are among them or not."""
    for module, name in ((verify_module, "READ_SECONDS"), (verify_module, "PAUSE_SECONDS")):
        monkeypatch.setattr(module, name, 0.0)
    monkeypatch.setattr(walk_module, "LOOK_EVERY", looked)
    looks: list[int] = []

    def meanwhile(_seconds: float) -> None:
        if not looks:
            remove(path, "r1", "r2")
        looks.append(1)

    monkeypatch.setattr(verify_module, "sleep", meanwhile)
    found = verify(path, PUBLIC)
    assert looks and found.ok and found.removed == 2, found
