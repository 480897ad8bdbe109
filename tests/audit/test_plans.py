"""Every statement about the ledger finds its rows by an index: none reads the whole history for one request."""

from __future__ import annotations

import ast
import asyncio
import re
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.audit.export.exporting import ExportFormat, HistoryExport
from runner.audit.history import finding
from runner.audit.history.changes import read_changes
from runner.audit.history.counting import Unit
from runner.audit.history.indexing import Indexing
from runner.audit.history.search import ContentRemoved, Filter, History
from runner.audit.ledger import anchor, formats
from runner.audit.ledger.ledger import Ledger
from runner.audit.ledger.tables import connect_to_read
from runner.audit.ledger.verify import broken_tail, verify
from runner.audit.retention.retention import Pruning, RetentionRule, chosen, planned
from runner.audit.telemetry.feed import TelemetryFeed
from runner.model.assessment import Level
from runner.model.codec import encode
from runner.model.decision import Verdict
from runner.model.file_changes import FILES_CHANGED
from runner.model.network import Contact
from runner.model.request import Isolation, Language
from runner.model.result import Outcome
from runner.system.places import Places
from tests.audit.formats import restore
from tests.audit.story import KEY, RESULT, approved, denied, opening, request, tamper, tell
from tests.audit.test_past_work import told as at_work

if TYPE_CHECKING:
    from runner.audit.telemetry.recorded import RecordedEntry

AUDIT = Path(formats.__file__).parent
VERBS = ("SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE")
WHOLE = {
    "data LIKE": "a text can be anywhere; only without an index",
    "language = ?": "has no index of its own; only without the search index",
    "texts MATCH": "the index itself: SQLite names what it looks up a scan",
    "FROM entries LEFT JOIN bodies USING (seq) ORDER BY seq": "an export of all entries reads each once",
    "FROM state": "it has one row",
    "FROM json_each(data": "the findings of one entry",
    "FROM pending ORDER BY": "it holds open requests only",
    "SELECT id FROM requests WHERE NOT EXISTS": "only where verify counted too many, and it has read everything",
    "FROM removed ORDER BY first": "it has few rows: one for each stretch of requests",
    "FROM requests WHERE arrived_at < ?": "the figures of a rule need every request",
    "FROM leftovers ORDER BY": "it is empty but for moments",
    "FROM requests JOIN bodies ON bodies.seq = finished_seq": "only where a removed run left files",
    "FROM sqlite_schema": "the tables themselves, which are few",
    "SELECT seq, hash, key, signature FROM head": "it has one row",
    "SELECT key FROM head": "it has one row",
    "SELECT count(*) FROM requests": "counts them all",
    f"{finding.ROW} ORDER BY seq DESC LIMIT ?": "ends with the page",
    "FROM entries ORDER BY seq DESC LIMIT 1": "ends with the first",
    "FROM requests WHERE phase <> 'closed'": "the index holds open ones only",
    "WHERE arrived_at >= ? ORDER BY arrived_at DESC LIMIT ?": "rows of the inner statement, which has few",
    finding.FIRST_SINCE: "only for a period with many requests, which then begins near the beginning",
    finding.LAST_BEFORE: "only for an end that a person sets: it passes what is newer",
}
"""What may read a table from one end, and why."""

A_STRAY = (
    "INSERT INTO requests (seq, id, agent, tool, title, digest, phase, arrived_at, rule)"
    " SELECT 99, 'stray', agent, tool, title, digest, phase, arrived_at, rule FROM requests WHERE id = 'r7'"
)
WALK = re.compile(r"SEARCH \w+(;|$)")
Values = Sequence[Any] | Mapping[str, Any]


class Watched(sqlite3.Connection):
    """A connection that notes how SQLite would carry out each statement."""

    plans: dict[str, str]

    def execute(self, sql: str, values: Values = (), /) -> sqlite3.Cursor:
        self._explain(sql, values)
        return super().execute(sql, values)

    def executemany(self, sql: str, many: Any, /) -> sqlite3.Cursor:
        rows = list(many)
        if rows:
            self._explain(sql, rows[0])
        return super().executemany(sql, rows)

    def _explain(self, sql: str, values: Values) -> None:
        if sql.lstrip().startswith(VERBS) and sql not in self.plans:
            steps = super().execute(f"EXPLAIN QUERY PLAN {sql}", values).fetchall()
            self.plans[sql] = "; ".join(step[3] for step in steps)


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The plan of every statement that a ledger's life needs, from an upgrade to its verification."""
    path = restore(1, tmp_path_factory.mktemp("ledger") / "ledger.sqlite3")
    (path.parent / "exports").mkdir()
    (path.parent / "sent.json").write_text('{"ledger": "another", "seq": 1}')
    found: dict[str, str] = {}
    factory = type("WatchedHere", (Watched,), {"plans": found})
    connect = sqlite3.connect
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda *given, **options: connect(*given, **options, factory=factory))
        asyncio.run(session(path))
        read(path)
        with closing(Indexing(path)) as indexing:
            assert indexing.advance(12)
            read(path)
            assert indexing.advance()
        patch.setattr(finding, "FEW_NEW", 1)
        read(path)
        assert verify(path).ok
        suspicious = shutil.copy(path, path.with_name("suspicious.sqlite3"))
        tamper(suspicious, "UPDATE requests SET title = 'Other' WHERE id = 'r7'")
        assert not verify(suspicious).ok
        tamper(suspicious, "UPDATE requests SET title = 'Say hello' WHERE id = 'r7'", A_STRAY)
        assert "never arrived" in verify(suspicious).what
        with closing(connect_to_read(path)) as connection:
            assert broken_tail(connection, path, 5) == ""
        assert anchor.difference(path, anchor.Anchor("another", 2, "")) is not None
    return found


async def session(path: Path) -> None:
    ledger = Ledger.open(path, seal_every=4)
    try:
        await ledger.seal_with(KEY)
        await tell(ledger, [*approved(request("r7")), *denied(request("r8")), *opening(request("r9"))])
        finished = {**encode(RESULT), "files": [{"path": "a", "size": 1, "sha256": "0" * 64}]}
        story = approved(request("r10"))
        await tell(ledger, [(kind, name, finished if kind == "finished" else body) for kind, name, body in story])
        places = Places.under(path.parent)
        assert planned(path, RetentionRule(1.0, 10**6), places, now=2e9).count
        await Pruning(ledger, places).remove(chosen(path, "r10"))
        refused = replace(RESULT, contacts=(Contact("stats.example.net", 443, False),))
        await tell(ledger, approved(request("r11"), refused))
        await tell(ledger, [(FILES_CHANGED, "r1", {"unforeseen": ["removed 1 file"]}), *at_work()])
    finally:
        await ledger.close()


class Nowhere:
    def send(self, entries: Sequence[RecordedEntry]) -> None:
        pass

    def close(self) -> None:
        pass


def read(path: Path) -> None:
    filters = [
        Filter(),
        Filter(agent="claude"),
        Filter(level=Level.HIGH),
        Filter(verdict=Verdict.APPROVED),
        Filter(outcome=Outcome.OK),
        Filter(since=1.0),
        Filter(until=1.0),
        Filter(since=1.0, until=2.0, agent="claude"),
        Filter(text="hello"),
        Filter(language=Language.PYTHON),
        Filter(unforeseen="yes"),
        Filter(text="he", host="example.org", sandbox=Isolation.LOCAL, since=1.0),
    ]
    with closing(History(path)) as history:
        for wanted in filters:
            history.page(wanted)
            history.page(wanted, before=20)
            history.count(wanted)
        history.beginnings((3, 4))
        assert history.fitting(Filter(text="hello"), ["r7", "r8", "r10"])
        history.choices("finding")
        history.attentions((3, 4))
        history.verdicts((3, 4))
        history.gravest((3, 4))
        history.files((3, 4), (".png",))
        history.indexed()
        for unit in Unit:
            history.figures(unit, 0, 4_000_000)
        assert history.case("r7") is not None
        with pytest.raises(ContentRemoved):
            history.case("r10")
        assert history.open_cases().cases
        for past in history.sessions(Filter(text="make")):
            assert history.session_steps(past.id)
            history.sessions()
    read_changes(path)
    for kind in (ExportFormat.JSON_LINES, ExportFormat.ENTRIES):
        HistoryExport(path, kind).write(path.parent / "exports" / f"out.{kind}", replace=True)
    feed = TelemetryFeed(path, path.parent / "sent.json", Nowhere)
    feed.close(20.0)


def reads_all(statement: str) -> bool:
    return any(part in statement for part in WHOLE)


def test_no_statement_reads_a_table_from_its_beginning(plans: dict[str, str]) -> None:
    assert {sql: plan for sql, plan in plans.items() if "SCAN" in plan and not reads_all(sql)} == {}


def test_no_statement_walks_along_a_table_to_the_first_that_fits(plans: dict[str, str]) -> None:
    """SQLite calls that a search too: the least or greatest number under a condition of another column."""
    walks = {sql: plan for sql, plan in plans.items() if "WHERE" in sql and WALK.search(plan)}
    assert {sql: plan for sql, plan in walks.items() if not reads_all(sql)} == {}
    assert any(finding.LAST_BEFORE in sql for sql in walks), "SQLite says it in other words now"


def test_no_statement_bounds_the_number_twice_at_one_end(plans: dict[str, str]) -> None:
    """SQLite begins at the bound that it reads first, and passes all up to the other one."""
    twice = [sql for sql in plans for end in "<>" if len(re.findall(rf"\bseq {end}=? \?", sql)) > 1]
    assert twice == []
    assert any("seq >= ?" in sql for sql in plans)


def test_no_statement_but_a_search_sorts(plans: dict[str, str]) -> None:
    assert {sql: plan for sql, plan in plans.items() if "TEMP B-TREE" in plan} == {}


def test_every_statement_of_the_ledger_was_looked_at(plans: dict[str, str]) -> None:
    """A new one belongs into `session` or `read` here."""
    written = {
        node.value
        for path in AUDIT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(VERBS)
    }
    assert [text for text in sorted(written) if not any(text in sql for sql in plans)] == []
    assert len(written) > 15
