"""What is recorded reaches a collector whole, once it can be reached, and nothing an agent wrote goes with it."""

from __future__ import annotations

import gc
import gzip
import json
import sqlite3
import threading
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, cast

import pytest
from opentelemetry.exporter.otlp.common import http
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from runner.audit.telemetry import feed as feeds
from runner.audit.telemetry.feed import TelemetryFeed
from runner.audit.telemetry.otlp import OtlpLogStore, shown
from runner.audit.telemetry.recorded import facts_of
from runner.model.decision import Decider, Decision, Verdict
from runner.model.errors import KnownError
from runner.model.result import Outcome
from tests.audit.story import RESULT, approved, denied, opening, remove, request, tamper, write
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

AGENTS_OWN = ("AGENT-TITLE", "AGENT-CODE", "AGENT-OUTPUT", "REASON-OF-A-PERSON")
"""Pieces of text that must not leave this machine."""


class Collector(ThreadingHTTPServer):
    """A collector of OpenTelemetry: keeps what it gets, and answers as the test says."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers: list[int] = []
        """Status of the next answers; 200 after them."""
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        """Of calls that were answered with 200."""
        self.called = threading.Semaphore(0)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def records(self) -> list[LogRecord]:
        return [one for body in self.bodies for one in records_in(body)]

    @property
    def numbers(self) -> list[int]:
        return [cast(int, attributes(one)["assent.seq"]) for one in self.records]


class Answering(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        collector = cast(Collector, self.server)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = collector.answers.pop(0) if collector.answers else 200
        collector.paths.append(self.path)
        collector.headers.append({name.lower(): value for name, value in self.headers.items()})
        if status == 200:
            collector.bodies.append(body)
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()
        collector.called.release()

    def log_message(self, *_: object) -> None:
        pass


def records_in(body: bytes) -> list[LogRecord]:
    found = ExportLogsServiceRequest.FromString(gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body)
    return [record for one in found.resource_logs for scope in one.scope_logs for record in scope.log_records]


def attributes(record: LogRecord) -> dict[str, object]:
    found: dict[str, object] = {}
    for one in record.attributes:
        kind = one.value.WhichOneof("value")
        assert kind is not None
        value = getattr(one.value, kind)
        found[one.key] = [part.string_value for part in value.values] if kind == "array_value" else value
    return found


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    """A request that ran and one that was denied; what an agent or a person wrote is marked."""
    path = tmp_path / "ledger" / "ledger.sqlite3"
    path.parent.mkdir()
    asked = request("r1", code="AGENT-CODE", title="AGENT-TITLE")
    ran = approved(asked, replace(RESULT, stdout="AGENT-OUTPUT", outcome=Outcome.FAILED, exit_code=3))
    said = Decision(Verdict.DENIED, Decider.PERSON, "REASON-OF-A-PERSON", "", 1.0, "")
    write(path, [*ran, *opening(request("r2")), ("denied", "r2", vars_of(said)), ("closed", "r2", {})])
    return path


def vars_of(decision: Decision) -> dict[str, Any]:
    return {**denied(request("r2"))[3][2], "reason": decision.reason}


@contextmanager
def feeding(ledger: Path, address: str, **more: Any) -> Iterator[tuple[TelemetryFeed, list[KnownError | None]]]:
    heard: list[KnownError | None] = []
    position = ledger.parent / "sent.json"
    feed = TelemetryFeed(ledger, position, lambda: OtlpLogStore(address, HANGS), heard.append, **more)
    try:
        yield feed, heard
    finally:
        feed.close(HANGS)


def from_the_beginning(ledger: Path, seq: int = 0) -> None:
    with closing(sqlite3.connect(ledger)) as connection:
        (own,) = connection.execute("SELECT hash FROM entries WHERE seq = 1").fetchone()
    (ledger.parent / "sent.json").write_text(json.dumps({"ledger": own, "seq": seq}))


def last_of(ledger: Path) -> int:
    with closing(sqlite3.connect(ledger)) as connection:
        (last,) = connection.execute("SELECT max(seq) FROM entries").fetchone()
    return int(last)


def test_every_entry_arrives_as_a_record_without_what_an_agent_wrote(ledger: Path, collector: Collector) -> None:
    from_the_beginning(ledger)
    with feeding(ledger, collector.address):
        pass
    assert collector.paths == ["/v1/logs"] and collector.numbers == list(range(1, last_of(ledger) + 1))
    of_r1 = [one for one in collector.records if attributes(one).get("assent.request_id") == "r1"]
    assert [one.event_name for one in of_r1] == [
        *("assent.arrived", "assent.assessed", "assent.asked", "assent.approved"),
        *("assent.running", "assent.finished", "assent.closed"),
    ]
    for one in of_r1:
        facts = attributes(one)
        assert (facts["assent.agent"], facts["assent.tool"]) == ("claude", "code_execute")
        assert str(facts["log.record.uid"]).endswith(f":{facts['assent.seq']}")
    assessed, decided, finished = (attributes(of_r1[place]) for place in (1, 3, 5))
    assert (assessed["assent.level"], assessed["assent.findings"]) == ("HIGH", ["python.subprocess"])
    assert (decided["assent.decided_by"], decided["assent.waited_seconds"]) == ("person", 2.5)
    assert (finished["assent.outcome"], finished["assent.exit_code"]) == ("failed", 3)
    assert [one.severity_text for one in of_r1] == ["INFO"] * 5 + ["WARN", "INFO"]
    assert of_r1[5].body.string_value == "Request r1 of claude: finished (failed)"
    assert of_r1[5].time_unix_nano and of_r1[5].observed_time_unix_nano
    for body in collector.bodies:
        assert [text for text in AGENTS_OWN if text.encode() in body] == []


def test_only_what_is_recorded_after_it_was_switched_on_is_sent(ledger: Path, collector: Collector) -> None:
    with feeding(ledger, collector.address):
        pass
    assert collector.bodies == []
    before = last_of(ledger)
    write(ledger, denied(request("r3")))
    with feeding(ledger, collector.address):
        pass
    assert collector.numbers == list(range(before + 1, last_of(ledger) + 1))
    with feeding(ledger, collector.address):
        pass
    assert len(collector.bodies) == 1, "something was sent twice"


def test_what_a_collector_does_not_take_is_sent_later_and_said(
    ledger: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "BATCH", 5)
    monkeypatch.setattr(http, "_MAX_RETRIES", 1)  # else it tries by itself for as long as it may
    from_the_beginning(ledger)
    # Too busy, and an answer from elsewhere, which the exporter alone would take for a success.
    collector.answers = [200, 503, 302]
    with feeding(ledger, collector.address, pause=0.01) as (_, heard):
        for _ in range(3 + (last_of(ledger) - 1) // 5):
            assert collector.called.acquire(timeout=HANGS)
    assert collector.numbers == list(range(1, last_of(ledger) + 1))
    why = [str(error) for error in heard if error is not None]
    assert "503" in why[0] and "moved (302)" in why[1] and len(why) == 2
    assert heard[-1] is None
    gc.collect()  # a connection that was left open warns, which is an error here


def test_a_position_is_noted_only_for_what_was_taken(ledger: Path, collector: Collector) -> None:
    from_the_beginning(ledger)
    collector.answers = [400] * 50
    with feeding(ledger, collector.address, pause=60.0) as (_, heard):
        assert collector.called.acquire(timeout=HANGS)
    assert heard and heard[0] is not None and "400" in heard[0].what
    assert json.loads((ledger.parent / "sent.json").read_text())["seq"] == 0
    collector.answers = []
    with feeding(ledger, collector.address):
        pass
    assert collector.numbers == list(range(1, last_of(ledger) + 1))


@pytest.mark.parametrize("noted", ['{"ledger": "another", "seq": 3}', '{"ledger": "another", "seq": 99999}'])
def test_another_history_is_sent_from_its_beginning(ledger: Path, collector: Collector, noted: str) -> None:
    (ledger.parent / "sent.json").write_text(noted)
    with feeding(ledger, collector.address):
        pass
    assert collector.numbers[0] == 1


def test_a_history_that_became_shorter_goes_on_from_its_end(ledger: Path, collector: Collector) -> None:
    from_the_beginning(ledger, 99_999)
    last = last_of(ledger)
    with feeding(ledger, collector.address):
        pass
    write(ledger, denied(request("r3")))
    with feeding(ledger, collector.address):
        pass
    assert collector.numbers == list(range(last + 1, last_of(ledger) + 1))


def test_removed_and_damaged_bodies_are_sent_without_facts_of_their_own(ledger: Path, collector: Collector) -> None:
    tamper(ledger, "UPDATE bodies SET data = '[1' WHERE seq IN (SELECT seq FROM entries WHERE kind = 'assessed')")
    from_the_beginning(ledger)
    with feeding(ledger, collector.address):
        pass
    assessed = [attributes(one) for one in collector.records if one.event_name == "assent.assessed"]
    assert len(assessed) == 2 and all("assent.level" not in one and one["assent.agent"] == "claude" for one in assessed)


def test_a_removal_is_sent_too(ledger: Path, collector: Collector) -> None:
    from_the_beginning(ledger, last_of(ledger))
    remove(ledger, "r1")
    with feeding(ledger, collector.address):
        pass
    (removed,) = (one for one in collector.records if one.event_name == "assent.removed")
    assert attributes(removed)["assent.requests_removed"] == 1


def test_headers_come_from_the_standard_variable_and_addresses_do_not(
    ledger: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://127.0.0.1:9/never")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    from_the_beginning(ledger)
    with feeding(ledger, f"{collector.address}/custom/logs"):
        pass
    assert collector.paths == ["/custom/logs"] and collector.headers[0]["x-key"] == "secret"
    assert collector.numbers[0] == 1


@pytest.mark.parametrize("address", ["localhost:4318", "ftp://collector/", "http://", "http://[::1", "http://a:b/"])
def test_an_address_that_is_none_is_said(address: str) -> None:
    with pytest.raises(KnownError, match="none of http or https"):
        OtlpLogStore(address)


def test_a_password_in_the_address_is_not_shown() -> None:
    assert (
        shown("https://me:secret@logs.example.org:4318/v1/logs?key=secret") == "https://logs.example.org:4318/v1/logs"
    )


@pytest.mark.parametrize("data", [None, "", "[]", "{", '{"findings": 3, "level": 1}', '{"by": []}', "[" * 5000])
@pytest.mark.parametrize("kind", ["assessed", "approved", "finished", "mode"])
def test_no_body_stops_the_feed(kind: str, data: str | None) -> None:
    assert facts_of(kind, {"agent": "claude", "language": None}, data) == {"agent": "claude"}
