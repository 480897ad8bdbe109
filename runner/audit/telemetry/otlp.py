"""Log records of OpenTelemetry, sent by its official exporter: OTLP over HTTP, as protocol buffers.

Importing this takes half a second: only where a collector is configured.
"""

from __future__ import annotations

import logging
import time
from importlib import metadata
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import requests
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExportResult
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from requests.adapters import HTTPAdapter

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.audit.telemetry.recorded import RecordedEntry

SECONDS = 10.0
"""Time limit of one batch, with the exporter's own further attempts."""
PATH = "/v1/logs"
"""Where a collector takes logs (OTLP 1.0, *OTLP/HTTP Request*), where its address names no path."""
LONGEST_REASON = 200
REMEDY = "It is tried again by itself; nothing is lost meanwhile. Check that address, or the setting."
SCOPE = InstrumentationScope("assent.history", "1")


class OtlpLogStore:
    """A collector at an address.

    Headers, certificates and compression are what the variables `OTEL_EXPORTER_OTLP_*` say. The addresses in them are
    not used: nothing is sent unless Assent's own setting names one.
    """

    def __init__(self, address: str, seconds: float = SECONDS) -> None:
        """Raise KnownError where `address` is no address of a collector."""
        self.where = shown(address)
        try:
            parts = urlsplit(address)
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 0) >= 0
        except ValueError:
            good = False
        if not good:
            raise self._failed("its address is none of http or https")
        self._session = _NotedSession()
        try:
            self._exporter = OTLPLogExporter(
                endpoint=urlunsplit(parts._replace(path=PATH)) if parts.path in ("", "/") else address,
                timeout=seconds,
                session=self._session,
            )
        except ValueError as error:
            raise self._failed(f"a variable OTEL_EXPORTER_OTLP_* has a wrong value: {error}") from error
        # Its own log of a failure is replaced by a message with a remedy.
        logging.getLogger("opentelemetry.exporter").setLevel(logging.CRITICAL)

    def send(self, entries: Sequence[RecordedEntry]) -> None:
        """Send entries; on return the collector has taken them. Raises KnownError."""
        self._session.problem = ""
        resource = Resource({"service.name": "assent", "service.version": _version()})
        now = time.time_ns()
        records = [ReadableLogRecord(record(entry, now), resource, SCOPE) for entry in entries]
        if self._exporter.export(records) is not LogRecordExportResult.SUCCESS:
            raise self._failed(self._session.problem or "it does not answer")

    def close(self) -> None:
        """Close its connections."""
        self._exporter.shutdown()

    def _failed(self, why: str) -> KnownError:
        return KnownError(f"What is recorded cannot be sent to {self.where}: {why}.", REMEDY)


class _NotedSession(requests.Session):
    """A session that knows why its last call failed; an answer that leads elsewhere is a failure too."""

    problem = ""

    def __init__(self) -> None:
        super().__init__()
        adapter = _NotedAdapter(self)
        self.mount("http://", adapter)
        self.mount("https://", adapter)


class _NotedAdapter(HTTPAdapter):
    def __init__(self, session: _NotedSession) -> None:
        super().__init__()
        self._noting = session

    def send(self, *given: Any, **named: Any) -> requests.Response:
        try:
            answer = super().send(*given, **named)
        except requests.RequestException as error:
            self._noting.problem = _reason(error)
            raise
        if 300 <= answer.status_code < 400:
            # The exporter would take that for a success, and the records would be nowhere.
            answer.close()  # nobody reads it
            self._noting.problem = f"it answers that it has moved ({answer.status_code})"
            raise requests.TooManyRedirects(self._noting.problem)
        self._noting.problem = "" if answer.ok else f"it answers {answer.status_code} {answer.reason}"[:LONGEST_REASON]
        return answer


def record(entry: RecordedEntry, now: int) -> LogRecord:
    """Return the log record of an entry; `now` is in nanoseconds since the epoch."""
    severity = SeverityNumber.WARN if entry.warns else SeverityNumber.INFO
    facts = {f"assent.{name}": value for name, value in entry.facts.items()}
    about = {"assent.request_id": entry.request_id} if entry.request_id else {}
    return LogRecord(
        timestamp=entry.at * 1000,
        observed_timestamp=now,
        severity_number=severity,
        severity_text=severity.name,
        body=entry.words,
        event_name=f"assent.{entry.kind}",
        attributes={
            # Named by the semantic conventions: a store that gets an entry twice knows it by this.
            "log.record.uid": f"{entry.ledger}:{entry.seq}",
            "assent.seq": entry.seq,
            "assent.hash": entry.hash,
            **about,
            **facts,
        },
    )


def shown(address: str) -> str:
    """Return an address without what may be a password in it."""
    try:
        parts = urlsplit(address)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))
    except ValueError:
        return "the collector"


def _reason(error: requests.RequestException) -> str:
    match error:
        case requests.exceptions.SSLError():
            return "its certificate is not trusted"
        case requests.exceptions.ProxyError():
            return "the proxy of this machine does not connect to it"
        case requests.Timeout():
            return "it does not answer in time"
        case requests.ConnectionError():
            return "it cannot be reached"
        case _:
            return f"{type(error).__name__}"


def _version() -> str:
    try:
        return metadata.version("assent")
    except metadata.PackageNotFoundError:
        return "0"
