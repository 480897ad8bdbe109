"""The search index: finds what a search without it finds, and can be lost, cut, damaged or killed at any time."""

from __future__ import annotations

import asyncio
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.audit.history import indexing
from runner.audit.history.finding import Search
from runner.audit.history.index import IndexUnusable, SearchIndex, discard, facet_group, path_of
from runner.audit.history.indexing import Indexer, Indexing
from runner.audit.history.search import Filter, History, Interrupted
from runner.audit.history.terms import SoughtWords, folded
from runner.audit.ledger.ledger import Ledger
from runner.model.assessment import Level
from runner.model.file_changes import FILES_CHANGED
from runner.model.request import Language
from tests.audit.story import RESULT, approved, denied, opening, request, tamper, tell, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PIECES = ("ab", "Ba", "_x", "é", "中文", "\t", "\n", '"', "'", "%", "ß", "K", " ", "a", "\x00", "\udce9", "🙂", "\\")
"""Few and odd, so that there are many near misses."""
COUNT = 60


def life(chance: random.Random, number: int) -> list[tuple[str, str, dict[str, object]]]:
    def text() -> str:
        return "".join(chance.choices(PIECES, k=chance.randrange(12)))

    agent, language = chance.choice(("claude", "codex")), chance.choice((Language.PYTHON, Language.SHELL))
    asked = replace(request(f"r{number}", agent, text(), text()), language=language)
    level = chance.choice(list(Level))
    if chance.random() < 0.2:
        return denied(asked, level) if chance.random() < 0.5 else opening(asked, level)
    return approved(asked, replace(RESULT, stdout=text(), stderr=text()), level)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger whose index has come to two thirds of it."""
    path = tmp_path_factory.mktemp("original") / "ledger.sqlite3"
    chance = random.Random(5)
    write(path, [step for number in range(COUNT) for step in life(chance, number)])
    with closing(Indexing(path)) as writer:
        while writer.seq < 4 * COUNT:
            assert writer.advance(50)
    return path


@pytest.fixture
def path(original: Path, tmp_path: Path) -> Path:
    for file in (original, path_of(original)):
        shutil.copy(file, tmp_path / file.name)
    return tmp_path / original.name


def finish(path: Path) -> int:
    with closing(Indexing(path)) as writer:
        while writer.advance():
            pass
        return writer.seq


async def all_indexed(history: History) -> None:
    while len(set(history.indexed())) > 1:
        await asyncio.sleep(0.01)


def found(path: Path, wanted: Filter) -> list[str]:
    with closing(History(path)) as history:
        return [row.id for row in history.page(wanted, limit=1000)]


def indexed(path: Path) -> int:
    with closing(History(path)) as history:
        return history.indexed()[0]


def test_a_search_finds_the_same_with_an_index_and_without(path: Path) -> None:
    chance = random.Random(6)
    bare = path.with_name("bare") / path.name
    bare.parent.mkdir()
    shutil.copy(path, bare)
    wanted = [
        Filter(
            text="".join(chance.choices(PIECES, k=chance.randrange(1, 4))),
            agent=chance.choice(("", "", "codex")),
            level=chance.choice((None, None, Level.HIGH)),
            language=chance.choice((None, None, Language.SHELL)),
        )
        for _ in range(60)
    ]
    with closing(History(bare)) as slow, closing(History(path)) as quick:
        expected = [[row.id for row in slow.page(one, limit=1000)] for one in wanted]
        assert slow.indexed()[0] == 0
        assert [[row.id for row in quick.page(one, limit=1000)] for one in wanted] == expected
        assert 0 < quick.indexed()[0] < quick.indexed()[1]
        finish(path)
        assert [[row.id for row in quick.page(one, limit=1000)] for one in wanted] == expected
        assert quick.indexed()[0] == quick.indexed()[1]
    assert sum(map(bool, expected)) > 20


def test_it_holds_the_groups_of_every_word() -> None:
    words = SoughtWords('print( "a b" x')
    assert words.all == ("print(", "a b", "x")
    assert words.expression.startswith('"pri" AND "rin" AND "int" AND "nt("')
    assert not SoughtWords("  ").expression
    assert SoughtWords("ab").expression.count(" OR ") > 100
    assert len(folded(["é"])) == len("  é") + 2 + 1
    assert not set(facet_group(5)) & set(folded(map(chr, range(0x250))))


def test_a_killed_writer_goes_on_where_it_was(path: Path) -> None:
    discard(path)
    program = (
        "import sys; from pathlib import Path; from runner.audit.history.indexing import Indexing\n"
        "writer = Indexing(Path(sys.argv[1]))\n"
        "while sys.stdin.read(1) and writer.advance(20): print(writer.seq, flush=True)\n"
    )
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=0) as process:
        assert process.stdin is not None and process.stdout is not None
        for _ in range(3):
            process.stdin.write(".")
            come_to = int(process.stdout.readline())
        process.stdin.write(".")  # it is killed before, during or after a fourth step, and comes no further
        process.send_signal(signal.SIGKILL)
    assert come_to <= indexed(path) < 4 * COUNT
    with closing(Indexing(path)) as writer:
        assert writer.seq >= come_to, "it did not begin again"
    finish(path)
    assert found(path, Filter(text="ab", agent="codex"))


def test_what_is_not_committed_is_not_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = indexed(path)
    with closing(Indexing(path)) as writer:
        with pytest.raises(indexing.Stopped):
            writer.advance(stop=lambda: True)
        assert writer.seq == before
    assert indexed(path) == before
    monkeypatch.setattr(indexing, "MOST_HELD", 10)
    finish(path)
    discard(path)


def rewritten(path: Path) -> None:
    other = path.with_name("other.sqlite3")
    write(other, [step for number in range(COUNT) for step in denied(request(f"x{number}"))])
    other.replace(path)


def rolled_back(path: Path) -> None:
    tamper(path, f"DELETE FROM entries WHERE seq > {COUNT}", f"DELETE FROM bodies WHERE seq > {COUNT}")


def overwritten(path: Path) -> None:
    with path_of(path).open("r+b") as file:
        file.write(b"not a database at all")


def of_another_form(path: Path) -> None:
    with closing(sqlite3.connect(path_of(path))) as connection:
        connection.execute("PRAGMA user_version = 77")


def with_a_trigger(path: Path) -> None:
    with closing(sqlite3.connect(path_of(path))) as connection:
        connection.execute("CREATE TRIGGER more AFTER UPDATE ON state BEGIN DELETE FROM pending; END")


def without_state(path: Path) -> None:
    with closing(sqlite3.connect(path_of(path), isolation_level=None)) as connection:
        connection.execute("DELETE FROM state")


@pytest.mark.parametrize(
    "harm", [rewritten, rolled_back, overwritten, of_another_form, with_a_trigger, without_state, discard]
)
def test_an_index_that_does_not_fit_is_not_used_and_made_again(path: Path, harm: Callable[[Path], None]) -> None:
    harm(path)
    with closing(History(path)) as history:
        assert history.indexed()[0] == 0
        history.page(Filter(text="ab"))
        with pytest.raises((IndexUnusable, OSError)):
            SearchIndex(path, history._connection)
    last = finish(path)
    assert indexed(path) == last > 0


def test_damage_that_a_search_meets_removes_the_index(path: Path) -> None:
    finish(path)
    expected = found(path, Filter(text="ab"))
    with closing(sqlite3.connect(path_of(path), isolation_level=None)) as connection:
        connection.execute("UPDATE texts_data SET block = x'0102' WHERE id > 10")
    with closing(History(path)) as history:
        assert [row.id for row in history.page(Filter(text="ab"), limit=1000)] == expected
    assert not path_of(path).exists()


def test_a_stopped_search_is_no_damage(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(path)
    with closing(History(path)) as history:

        def ended_inside(*_given: object) -> None:
            history.interrupt()
            raise IndexUnusable

        with monkeypatch.context() as patch:
            patch.setattr(SearchIndex, "candidates", ended_inside)
            with pytest.raises(Interrupted):
                history.page(Filter(text="ab"))
        assert path_of(path).exists()
        assert history.page(Filter(text="ab"))
        index = history._index
        assert index is not None
        index._index.execute("BEGIN")  # as an interrupt leaves it that comes at the end of a search
        assert history.page(Filter(text="ab"))
        assert path_of(path).exists()


def test_only_its_owner_may_read_it_and_it_holds_no_text(path: Path) -> None:
    discard(path)
    secret = "correct horse battery staple"
    write(path, approved(request("r9999", code=f"login('{secret}')")))
    with closing(Indexing(path)) as writer:
        assert writer.advance(10_000)
        files = list(path.parent.glob(f"{path_of(path).name}*"))
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
        assert not any(b"horse" in file.read_bytes() for file in files)
    assert found(path, Filter(text="horse")) == ["r9999"]


def test_what_the_ledger_does_not_have_is_never_found(path: Path) -> None:
    write(path, approved(request("r9999", code="removed_later")))
    finish(path)
    assert found(path, Filter(text="removed_later")) == ["r9999"]
    tamper(path, "UPDATE bodies SET data = '{}' WHERE data LIKE '%removed_later%'")
    assert found(path, Filter(text="removed_later")) == []


@pytest.mark.asyncio
async def test_the_index_grows_with_the_ledger(path: Path) -> None:
    ledger = Ledger.open(path)
    indexer = Indexer(path, rest=0.0)
    ledger.grown = indexer.wake
    try:
        await tell(ledger, approved(request("r9999", code="quite_new")))
        with closing(History(path)) as history:
            await all_indexed(history)
            assert [row.id for row in history.page(Filter(text="quite_new"))] == ["r9999"]
            assert history.choices("agent")[0] == "claude"
            discard(path)
            await tell(ledger, denied(request("r10000")))
            await all_indexed(history)
    finally:
        indexer.close()
        await ledger.close()


def test_an_index_that_cannot_be_written_stops_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_ledger: Path) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(indexing, "Indexing", full)
    indexer = Indexer(path, rest=0.0)
    while not caplog.messages:
        indexer.wake()
    indexer.close()
    assert "could not be written" in caplog.text


def compared(name: str, *unforeseen: str) -> tuple[str, str, dict[str, object]]:
    return (FILES_CHANGED, name, {"unforeseen": list(unforeseen)} if unforeseen else {"number": 1})


def test_what_is_only_known_after_the_end_of_a_request_is_found(tmp_path: Path) -> None:
    observed = {"observed": {"unforeseen": ["started gcc"]}}
    r1, r2, r3, r4, r5 = (approved(request(f"r{n}", title=f"title {n}")) for n in range(1, 6))
    r3[-2][2].update(observed)
    # One compared while it is open, and one that stays so; the others after their end, in this order.
    steps = [*r1, *r2, *r3, *r4[:-1], compared("r4", "removed 1 file"), r4[-1], *r5[:-1]]
    steps += [compared("r1", "removed 1 file"), compared("r2"), compared("r3", "removed 2 files")]
    steps += [compared("r5", "removed 1 file"), compared("r9", "removed 1 file")]
    expected = ["r5", "r4", "r3", "r1"]
    for batch in (5, 1000):
        path = tmp_path / f"{batch}.sqlite3"
        write(path, steps)
        assert found(path, Filter(unforeseen="yes")) == expected
        with closing(Indexing(path)) as writer:
            while writer.advance(batch):
                assert found(path, Filter(unforeseen="yes")) == expected
        assert indexed(path) == len(steps) + 1
        assert found(path, Filter(unforeseen="yes", text="title 1")) == ["r1"]
        assert found(path, Filter(text="title 2")) == ["r2"]
        with closing(sqlite3.connect(path)) as ledger, closing(SearchIndex(path, ledger)) as index:
            condition = index.condition([("unforeseen", "yes")])
            assert condition is not None
            assert len(list(index.candidates(condition, 1 << 40))) == 3, "all but the one that is open"
    with closing(History(path)) as history:
        record = history.case("r3")
        assert record is not None
        assert record.unforeseen == ("started gcc", "removed 2 files")


@pytest.fixture
def near(tmp_path: Path) -> Path:
    """A ledger whose requests have all groups of three characters of `abcdef`, and one that has the word."""
    path = tmp_path / "ledger.sqlite3"
    codes = ["abcd bcde cdef"] * 120 + ["ABCDEF"]
    write(path, [one for number, code in enumerate(codes) for one in approved(request(f"r{number}", code=code))])
    finish(path)
    return path


def test_what_only_has_the_groups_of_a_phrase_is_not_taken_apart(near: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    fits = Search._fits
    monkeypatch.setattr(Search, "_fits", lambda self, line: (looked.append(line.id), fits(self, line))[1])
    assert found(near, Filter(text="abcdef")) == ["r120"] == looked


def test_a_search_that_finds_nothing_stops_as_well(near: Path) -> None:
    with closing(History(near)) as history:
        index = SearchIndex(near, history._connection)
        with closing(index), pytest.raises(Interrupted):
            Search(history._connection, Filter(text='"abcd bcdef"'), stopped=lambda: True).with_index(index, 9)
