"""One export of the history, from beginning to end."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, assert_never

from runner.audit.export.bundle import EntryBundle
from runner.audit.export.lines import json_lines
from runner.audit.export.ocsf import ocsf_events
from runner.audit.export.report import report
from runner.audit.export.shown import utc
from runner.audit.export.source import ExportedRequests
from runner.audit.export.table import table
from runner.audit.export.target import exported_file
from runner.audit.history.search import ANYTHING, Filter
from runner.model.assessment import Level

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from pathlib import Path

    from runner.audit.export.source import ExportedRequest


class ExportFormat(StrEnum):
    JSON_LINES = "jsonl"
    CSV = "csv"
    HTML = "html"
    OCSF = "ocsf"
    ENTRIES = "entries"
    """All entries as they are, for the verifier; no filter."""


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written."""

    path: Path
    kind: ExportFormat
    count: int
    """Requests, or entries."""
    head: str = ""
    """Of entries: number and hash of the last one, as the verifier takes them."""
    key: str = ""
    """Of entries: the public key that signed the last one; empty where it is not signed."""

    @property
    def sentence(self) -> str:
        what = "entry" if self.kind is ExportFormat.ENTRIES else "request"
        many = "entries" if self.kind is ExportFormat.ENTRIES else "requests"
        words = f"1 {what} was" if self.count == 1 else f"{self.count:,} {many} were"
        return f"{words} written to {self.path}."


def described(wanted: Filter) -> str:
    """Return in a sentence which requests a filter wants."""
    given = [(field.name, getattr(wanted, field.name)) for field in fields(wanted)]
    said = [f"{name} {_said(name, value)}" for name, value in given if value not in (None, "")]
    return f"Requests with {', '.join(said)}." if said else "All requests."


def _said(name: str, value: object) -> str:
    if name in ("since", "until") and isinstance(value, float):
        return utc(value)
    return value.name if isinstance(value, Level) else str(value)


class HistoryExport:
    """An export of the ledger at `ledger`: the requests that fit `wanted`, or those called `names`.

    `write` blocks; any other thread may call `stop`, and nothing is left of the file then.
    """

    def __init__(
        self,
        ledger: Path,
        kind: ExportFormat,
        wanted: Filter = ANYTHING,
        names: Sequence[str] | None = None,
        notes: Path | None = None,
    ) -> None:
        """`notes` is the folder in which it is noted where the file is being written."""
        self._ledger = ledger
        self._notes = notes
        self._kind = kind
        self._what = described(wanted) if names is None else "Requests that were chosen."
        self._bundle = EntryBundle(ledger)
        self._requests = ExportedRequests(ledger, wanted, names)
        self._count = 0

    def stop(self) -> None:
        self._bundle.stop()
        self._requests.stop()

    def write(
        self, path: Path, *, replace: bool = False, progress: Callable[[int], None] = lambda count: None
    ) -> Exported:
        """Write the file, whole or not at all. Raises Interrupted after `stop`, else KnownError.

        `progress` gets the number of requests or entries so far, now and then, and may raise to stop.
        """
        self._count = 0
        with (
            exported_file(path, self._ledger, replace=replace, notes=self._notes) as file,
            closing(self._texts(progress)) as texts,
        ):
            for text in texts:
                file.write(text)
        head = self._bundle.head
        if self._kind is not ExportFormat.ENTRIES:
            return Exported(path, self._kind, self._count)
        return Exported(path, self._kind, int(str(head["seq"])), f"{head['seq']}:{head['hash']}", str(head["key"]))

    def _texts(self, progress: Callable[[int], None]) -> Generator[str, None, None]:
        match self._kind:
            case ExportFormat.JSON_LINES:
                return json_lines(self._counted(progress))
            case ExportFormat.CSV:
                return table(self._counted(progress))
            case ExportFormat.HTML:
                return report(self._counted(progress), self._what)
            case ExportFormat.OCSF:
                return ocsf_events(self._counted(progress))
            case ExportFormat.ENTRIES:
                return self._bundle.lines(progress)
            case _:
                assert_never(self._kind)

    def _counted(self, progress: Callable[[int], None]) -> Iterator[ExportedRequest]:
        for request in self._requests.each(progress):
            self._count += 1
            yield request
