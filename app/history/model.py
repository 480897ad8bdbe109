"""Requests and programs at work as rows, newest first, and how news finds its place among them."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app import phrases
from app.files.kinds import PICTURES, VECTORS
from app.history import session_words
from app.parts.text.lines import SUMMARY, Summary
from app.results.choosing import thumbnail_of
from app.state import attention
from runner.audit.history.past_work import PastSession
from runner.audit.history.search import UnreadableRow
from runner.audit.ledger.row import Row
from runner.model.decision import Decider, Verdict
from runner.model.lifecycle import Phase
from runner.model.result import Outcome
from runner.model.sentence_translation import short_form
from runner.model.tool_facts import CLIENT_TOOLS
from runner.model.translation import tr, translated

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from PySide6.QtCore import QObject
    from PySide6.QtGui import QImage

    from runner.audit.history.search import Filter, History
    from runner.model.assessment import Level
    from runner.model.result import CapturedFile

PAGE = 100
"""Rows read at a time."""
UNREADABLE = tr("This request cannot be read")
Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_DOT = " \N{MIDDLE DOT} "
_DRAWN = (*PICTURES, *VECTORS)


@dataclass(frozen=True, slots=True)
class TitledRow:
    """A request, or a program at work, with what it is called."""

    row: Row | UnreadableRow | PastSession
    title: str
    day: tuple[int, ...] = ()
    """Local date on which it arrived; empty where nobody knows."""
    attention: Level | None = None
    """What the badge says; None where nothing stood out, or where that is not known."""
    headline: str = ""
    """What it would do, in short; empty where that is not known."""
    picture: CapturedFile | None = None
    """The picture that its run made, which stands for it in the list; None for none."""


@dataclass(frozen=True, slots=True)
class HistoryUpdate:
    """What has become of some requests, and of the programs at work."""

    fitting: Mapping[str, TitledRow]
    """Those that fit what is looked for, by id."""
    gone: frozenset[str] = frozenset()
    """Those that do not, or do not any more."""


def read_page(history: History, wanted: Filter, before: int | None = None) -> tuple[TitledRow, ...]:
    """Return one page of lines, from `before` on or the newest. Raises KnownError."""
    requests = titled(history, history.lines(wanted, before, PAGE))
    lines = [*requests, *map(_session_line, history.sessions(wanted, before, PAGE))]
    return tuple(sorted(lines, key=lambda one: -one.row.seq)[:PAGE])


def read_news(history: History, wanted: Filter, suspects: Collection[str]) -> HistoryUpdate:
    """Return what has become of the requests `suspects`, and of the newest programs at work. Raises KnownError."""
    found = history.fitting(wanted, suspects)
    lines = titled(history, list(found.values()))
    fitting = dict(zip(found, lines, strict=True))
    gone = frozenset(suspects) - fitting.keys()
    return HistoryUpdate(
        {**fitting, **{one.id: _session_line(one) for one in history.sessions(wanted, None, PAGE)}}, gone
    )


def _session_line(session: PastSession) -> TitledRow:
    return TitledRow(session, session_words.title(session), time.localtime(session.started_at)[:3])


def titled(history: History, rows: Sequence[Row | UnreadableRow]) -> tuple[TitledRow, ...]:
    """Return rows with all that is said of them. Code is read where an agent gave no title. Raises KnownError."""
    nameless = [row.seq for row in rows if isinstance(row, Row) and not row.title]
    codes = history.beginnings(nameless) if nameless else {}
    found = history.attentions([row.seq for row in rows if isinstance(row, Row) and row.level is not None])
    verdicts = history.verdicts([row.seq for row in rows if isinstance(row, Row)])
    short = {seq: phrases.visible(short_form(verdict)) for seq, verdict in verdicts.items()}
    files = history.files([row.seq for row in rows if isinstance(row, Row) and row.finished_seq is not None], _DRAWN)
    pictures = {seq: thumbnail_of(made) for seq, made in files.items()}
    return tuple(
        TitledRow(
            row,
            _title(row, codes),
            _date(row),
            _attention(row, found),
            short.get(row.seq, ""),
            pictures.get(row.seq),
        )
        for row in rows
    )


def _attention(row: Row | UnreadableRow, found: Mapping[int, Level | None]) -> Level | None:
    return attention.of(row.level, found.get(row.seq)) if isinstance(row, Row) else None


def _title(row: Row | UnreadableRow, codes: Mapping[int, str]) -> str:
    if isinstance(row, UnreadableRow):
        return UNREADABLE
    return phrases.title_of(row.title, codes.get(row.seq, ""), row.tool)


def merged(old: Sequence[TitledRow], news: HistoryUpdate, *, whole: bool) -> list[TitledRow]:
    """Return `old` brought up to date, newest first; without `whole` there is more below it, which stays unread."""
    last = 0 if whole or not old else old[-1].row.seq
    lines = {line.row.seq: line for line in old if line.row.id not in news.gone}
    lines |= {line.row.seq: line for line in news.fitting.values() if line.row.seq >= last}
    return [lines[seq] for seq in sorted(lines, reverse=True)]


class HistoryModel(QAbstractTableModel):
    """One column. What has been read stays until something else is asked for."""

    def __init__(
        self, picture_of: Callable[[CapturedFile | None], QImage | None], parent: QObject | None = None
    ) -> None:
        """`picture_of` gives the small picture of a file for a row; None while there is none."""
        super().__init__(parent)
        self._picture_of = picture_of
        self._lines: list[TitledRow] = []
        self._at_work: frozenset[str] = frozenset()

    def know_at_work(self, names: frozenset[str]) -> None:
        """Take in which working copies have a program at work now."""
        if names != self._at_work:
            self._at_work = names
            self.paint_again()

    def paint_again(self) -> None:
        """Have all rows painted as they are now."""
        if self._lines:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._lines) - 1, 0))

    @property
    def lines(self) -> Sequence[TitledRow]:
        return self._lines

    def replace(self, lines: Iterable[TitledRow]) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self._lines = list(lines)
        self.endResetModel()

    def extend(self, lines: Sequence[TitledRow]) -> None:
        """Append the next page."""
        if not lines:
            return
        first = len(self._lines)
        self.beginInsertRows(_NOWHERE, first, first + len(lines) - 1)
        self._lines.extend(lines)
        self.endInsertRows()

    def update(self, lines: Sequence[TitledRow]) -> int:
        """Bring the rows up to date; return how many came in on top, or -1 where everything has moved."""
        added = len(lines) - len(self._lines)
        old = [line.row.seq for line in self._lines]
        if added < 0 or [line.row.seq for line in lines[added:]] != old:
            self.replace(lines)
            return -1
        if added:
            self.beginInsertRows(_NOWHERE, 0, added - 1)
            self._lines = [*lines[:added], *self._lines]
            self.endInsertRows()
        self._lines = list(lines)
        self.paint_again()
        return added

    def line(self, row: int) -> TitledRow | None:
        return self._lines[row] if 0 <= row < len(self._lines) else None

    def row_of(self, request_id: str) -> int:
        """Return the row of a request; -1 where it is not listed."""
        return next((place for place, line in enumerate(self._lines) if line.row.id == request_id), -1)

    def begins_day(self, row: int) -> bool:
        """Return whether the request is the newest one of its day, so that the day is written above it."""
        day = self._lines[row].day
        # A request that cannot be read has no day, and begins none for the next one.
        before = next((self._lines[above].day for above in range(row - 1, -1, -1) if self._lines[above].day), ())
        return bool(day) and day != before

    def _heading(self, row: int) -> str:
        """Return the day to write above a row; empty where the row above is of the same day."""
        line = self._lines[row]
        if not self.begins_day(row) or isinstance(line.row, UnreadableRow):
            return ""
        return phrases.day(line.row.arrived_at if isinstance(line.row, Row) else line.row.started_at)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self.line(index.row())
        if line is None:
            return None
        if role == SUMMARY:
            picture = self._picture_of(line.picture)
            return replace(self._summary(line), heading=self._heading(index.row()), picture=picture)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._summary(line).spoken
        return None

    def _summary(self, line: TitledRow) -> Summary:
        if isinstance(line.row, PastSession):
            return session_words.row(line.row, line.row.name in self._at_work, time.time())
        return summary(line, line.row)


def _date(row: Row | UnreadableRow) -> tuple[int, ...]:
    return () if isinstance(row, UnreadableRow) else time.localtime(row.arrived_at)[:3]


def summary(line: TitledRow, row: Row | UnreadableRow) -> Summary:
    """Return one request in a row."""
    if isinstance(row, UnreadableRow):
        return Summary(line.title, phrases.visible(row.why), tr("damaged"), "high", None)
    claim = phrases.in_quotes(line.title)
    about = (phrases.visible(row.agent), phrases.language(row.language), phrases.clock(row.arrived_at))
    below = (claim, *about) if line.headline else about
    state, ink = _state(row)
    return Summary(line.headline or claim, _DOT.join(part for part in below if part), state, ink, line.attention)


def _state(row: Row) -> tuple[str, str]:
    """Return what became of it, and in which ink."""
    passed = row.verdict is Verdict.APPROVED and row.decider in (Decider.RULE, Decider.GRANT)
    if row.outcome is not None:
        ink = "low" if row.outcome is Outcome.OK else "high"
        return (
            tr("passed, {value}", value=translated(row.outcome.value)) if passed else translated(row.outcome.value)
        ), ink
    match row.verdict:
        case None:
            return (tr("waiting") if row.phase is Phase.ASKED else translated(row.phase.value)), "accent_ink"
        case Verdict.APPROVED:
            state = tr("passed") if passed else tr("approved")
            return (tr("running"), "accent_ink") if row.phase is Phase.RUNNING else (state, "low")
        case Verdict.DENIED:
            return tr("denied"), "high"
        case Verdict.EXPIRED:
            return tr("expired"), "medium"
        case Verdict.WITHDRAWN:
            # Some clients run their tool where nobody answers in time.
            return (tr("not waited for"), "medium") if row.tool in CLIENT_TOOLS else (tr("withdrawn"), "muted")
