"""Reading the history: pages, filters, whole cases, and what was left open."""

from __future__ import annotations

import shutil
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.audit.history import finding
from runner.audit.history.indexing import Indexing
from runner.audit.history.search import Filter, History, Interrupted
from runner.model.assessment import Level
from runner.model.codec import encode
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.lifecycle import Phase
from runner.model.request import Isolation, Language
from runner.model.result import Outcome
from runner.model.verdict import RiskVerdict
from tests.audit.story import ASSESSMENT, RESULT, approved, denied, opening, request, tamper, write

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILED = replace(RESULT, outcome=Outcome.FAILED, exit_code=3, stdout="", stderr="50% off: caf\u00e9 \\ C:\\x")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("history") / "ledger.sqlite3"
    told = [
        *approved(request("r1", title="First")),
        *denied(request("r2", agent="codex", code="import shutil\nshutil.rmtree('/')")),
        *approved(request("r3", agent="codex"), FAILED, Level.CRITICAL),
        *opening(request("r4", title="\u00dcber stra\u00dfe")),
        ("parked", "r4", {}),
        *opening(request("r5"))[:1],
    ]
    write(path, told)
    return path


@pytest.fixture(scope="module", params=["without", "half", "whole"])
def indexed(request: pytest.FixtureRequest, path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ledger without an index, with one that has come half the way, and with a whole one."""
    copy = Path(shutil.copy(path, tmp_path_factory.mktemp("indexed") / path.name))
    if request.param != "without":
        with closing(Indexing(copy)) as indexing:
            assert indexing.advance(9)
            while request.param == "whole" and indexing.advance():
                pass
    return copy


@pytest.fixture
def history(indexed: Path) -> Iterator[History]:
    with closing(History(indexed)) as opened:
        yield opened


def ids(history: History, **wanted: object) -> list[str]:
    return [row.id for row in history.page(Filter(**wanted))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["r5", "r4", "r3", "r2", "r1"]),
        ({"agent": "codex"}, ["r3", "r2"]),
        ({"level": Level.CRITICAL}, ["r3", "r2"]),
        ({"verdict": Verdict.APPROVED}, ["r3", "r1"]),
        ({"outcome": Outcome.FAILED}, ["r3"]),
        ({"agent": "codex", "verdict": Verdict.DENIED}, ["r2"]),
        ({"since": 4e9}, []),
        ({"until": 4e9}, ["r5", "r4", "r3", "r2", "r1"]),
        ({"text": "FIRST"}, ["r1"]),
        ({"text": "rmtree('/')"}, ["r2"]),
        ({"text": "import shutil\nshutil"}, ["r2"]),
        ({"text": "hello"}, ["r5", "r4", "r3", "r2", "r1"]),
        ({"text": " hello  "}, ["r5", "r4", "r3", "r2", "r1"]),
        ({"text": '"HELLO\n"'}, ["r1"]),
        ({"text": '"print hello"'}, []),
        ({"text": "hello print"}, ["r5", "r4", "r3", "r1"]),
        ({"text": "rm"}, ["r2"]),
        ({"text": "zq"}, []),
        ({"text": "\u00e9"}, ["r3"]),
        ({"text": "\u00dc"}, ["r4"]),
        ({"text": "STRASSE"}, ["r4"]),
        ({"text": "\\"}, ["r3"]),
        ({"text": '"'}, []),
        ({"text": "('"}, ["r5", "r4", "r3", "r2", "r1"]),
        ({"text": "example.org"}, ["r5", "r4", "r3", "r2", "r1"][1:]),
        ({"host": "example.org"}, ["r4", "r3", "r2", "r1"]),
        ({"host": "Example.ORG:443", "agent": "codex"}, ["r3", "r2"]),
        ({"host": "example.or"}, []),
        ({"finding": "python.subprocess", "level": Level.HIGH}, ["r4", "r1"]),
        ({"language": Language.PYTHON, "agent": "claude"}, ["r5", "r4", "r1"]),
        ({"language": Language.SHELL}, []),
        ({"sandbox": Isolation.LOCAL, "outcome": Outcome.FAILED}, ["r3"]),
        ({"sandbox": Isolation.GVISOR}, []),
        ({"agent": "codex", "since": 1.0, "until": 4e9, "text": "shutil"}, ["r2"]),
        ({"agent": "codex", "until": 1.0, "text": "shutil"}, []),
        ({"text": "50%"}, ["r3"]),
        ({"text": "5_%"}, []),
        ({"text": "caf\u00e9 \\ C:\\x"}, ["r3"]),
        ({"text": "code"}, []),
        ({"text": "import", "agent": "claude"}, []),
    ],
)
def test_filters(history: History, wanted: dict[str, object], found: list[str]) -> None:
    assert ids(history, **wanted) == found
    assert history.count(Filter(**wanted)) == len(found)  # type: ignore[arg-type]


def test_the_sentence_that_heads_a_row_is_found(tmp_path: Path) -> None:
    path, asked = tmp_path / "ledger.sqlite3", request("r1", title="Report build statistics")
    said = replace(ASSESSMENT, verdict=RiskVerdict("Sends credentials to collect.example."))
    write(path, [opening(asked)[0], ("assessed", asked.id, encode(said)), *opening(request("r2"))])
    with closing(History(path)) as history:
        assert ids(history, text="sends CREDENTIALS") == ["r1"]
    with closing(Indexing(path)) as indexing:
        while indexing.advance():
            pass
    with closing(History(path)) as history:
        assert ids(history, text="sends CREDENTIALS") == ["r1"]


@pytest.mark.parametrize("wanted", [Filter(), Filter(text="hello"), Filter(host="example.org", agent="codex")])
def test_pages_join_without_gap_or_repeat(history: History, wanted: Filter) -> None:
    seen: list[str] = []
    before: int | None = None
    while page := history.page(wanted, before=before, limit=2):
        seen += [row.id for row in page]
        before = page[-1].seq
    assert seen == [row.id for row in history.page(wanted)]
    assert seen


def test_which_of_some_requests_fit(history: History) -> None:
    found = history.fitting(Filter(text="shutil"), ["r1", "r2", "r5", "r77"])
    assert list(found) == ["r2"]


def test_a_row_tells_how_it_went(history: History) -> None:
    row = history.row("r3")
    assert row is not None
    assert (row.agent, row.level, row.phase) == ("codex", Level.CRITICAL, Phase.CLOSED)
    assert (row.verdict, row.waited) == (Verdict.APPROVED, 2.5)
    assert (row.outcome, row.exit_code, row.duration) == (Outcome.FAILED, 3, 0.25)
    assert row.arrived_at <= (row.asked_at or 0) <= (row.decided_at or 0) <= (row.finished_at or 0)
    assert row.digest == request("r3", agent="codex").digest


def test_a_case_comes_back_as_values(history: History) -> None:
    record = history.case("r1")
    assert record is not None
    assert record.request == request("r1", title="First")
    assert record.assessment == ASSESSMENT
    assert record.decision is not None
    assert record.decision.verdict is Verdict.APPROVED
    assert record.result == RESULT
    assert [step.entry.kind for step in record.steps] == [
        "arrived", "assessed", "asked", "approved", "running", "finished", "closed",
    ]  # fmt: skip


def test_what_never_arrived_is_none(history: History) -> None:
    assert history.case("r9") is None
    assert history.row("r9") is None


def test_open_cases_are_those_without_an_end(history: History) -> None:
    parked, fresh = history.open_cases().cases
    assert (parked.request.id, parked.row.phase) == ("r4", Phase.ASKED)
    assert [step.entry.kind for step in parked.steps][-1] == "parked"
    assert (fresh.request.id, fresh.assessment, fresh.decision, fresh.result) == ("r5", None, None, None)


def test_a_tool_that_only_reads_finishes_without_a_result(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    told = approved(request("r1"))
    told[5] = ("finished", "r1", {"facts": {"languages": ["python"]}})
    write(path, told)
    with closing(History(path)) as history:
        record = history.case("r1")
    assert record is not None
    assert (record.result, record.row.outcome) == (None, None)
    assert record.steps[5].body["facts"] == {"languages": ["python"]}


def test_a_long_search_is_stopped_from_another_thread(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    told = [one for number in range(1500) for one in opening(request(f"r{number}", code="x" * 5000))[:1]]
    write(path, told)
    with closing(History(path)) as history:
        stopped = threading.Event()

        def keep_stopping() -> None:
            while not stopped.wait(0.001):
                history.interrupt()

        def search_on() -> None:
            while True:
                history.count(Filter(text="xy"))

        thread = threading.Thread(target=keep_stopping)
        thread.start()
        try:
            with pytest.raises(Interrupted):
                search_on()
        finally:
            stopped.set()
            thread.join()
        assert history.count() == 1500


def test_a_closed_reader_says_so(path: Path) -> None:
    history = History(path)
    history.close()
    with pytest.raises(Interrupted, match="closed"):
        history.page()
    history.interrupt()
    history.close()


def test_a_reader_cannot_write(history: History) -> None:
    with pytest.raises(KnownError):
        history._all("DELETE FROM requests", ())


def test_a_damaged_body_is_reported_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite3"
    write(path, approved(request("r1")))
    tamper(path, "UPDATE bodies SET data = 'null' WHERE seq = 2")
    with closing(History(path)) as history, pytest.raises(KnownError) as caught:
        history.case("r1")
    assert caught.value.remedy


@pytest.mark.parametrize("few", [1, 20_000])
def test_a_clock_that_was_set_back_hides_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(finding, "FEW_NEW", few)
    copy = Path(shutil.copy(path, tmp_path / path.name))
    times = {"r1": 2000.0, "r2": 1000.0, "r3": 2500.0, "r4": 1500.0, "r5": 3000.0}
    tamper(copy, *(f"UPDATE requests SET arrived_at = {at} WHERE id = '{name}'" for name, at in times.items()))
    with closing(Indexing(copy)) as indexing:
        while indexing.advance():
            pass
    with closing(History(copy)) as history:
        assert [row.id for row in history.page(Filter(since=1400.0))] == ["r5", "r4", "r3", "r1"]
        assert [row.id for row in history.page(Filter(since=1400.0, until=2600.0))] == ["r4", "r3", "r1"]
        assert history.page(Filter(since=3500.0)) == []
