"""The working copies: those with a program at work, then those whose program has ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QTableView

from app.parts.mirrored import mirrored, row_painter
from app.parts.row_background import RowDelegate, paint_ground
from app.parts.row_model import RowModel
from app.parts.text.lines import set_up_painted
from app.work import words
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtCore import QObject
    from PySide6.QtGui import QMouseEvent
    from PySide6.QtWidgets import QStyleOptionViewItem

    from app.look.look import Look
    from app.state.work_cards import WorkCards
    from runner.model.work import WorkSession

ROW = 70
HEADING = 28
_SESSION = Qt.ItemDataRole.UserRole + 12
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
AT_WORK, ENDED = tr("At work"), tr("Ended")


@dataclass(frozen=True, slots=True)
class SessionRow:
    """What one row says."""

    name: str
    """Of the working copy."""
    title: str
    below: str
    parts: tuple[tuple[str, str], ...] = ()
    """Words of the third line with their tokens."""
    port: int = 0
    """A port inside that can be opened; 0 for none."""
    heading: str = ""
    at_work: bool = False
    project: str = field(default="", compare=False)

    @property
    def spoken(self) -> str:
        third = [text for text, _ in self.parts]
        listens = tr("listens on port {port}", port=self.port) if self.port else ""
        return ", ".join(part for part in (self.heading, self.title, self.below, *third, listens) if part)


def rows_of(cards: WorkCards) -> tuple[SessionRow, ...]:
    """Return a row for each working copy."""
    found = []
    last = ""
    for session in cards.sessions:
        section = AT_WORK if session.at_work else ENDED
        found.append(_row(session, cards, section if section != last else ""))
        last = section
    return tuple(found)


def _row(session: WorkSession, cards: WorkCards, heading: str) -> SessionRow:
    parts: list[tuple[str, str]] = []
    if session.readable:
        parts.append((tr("cannot be used"), "high"))
    elif said := words.summary(cards.changes(session.name), cards.problem(session.name), applied=session.can_undo):
        parts.append((said, "accent_ink" if cards.changes(session.name) else "muted"))
    if session.at_work and session.refused:
        parts.append((tr("commands refused"), "high"))
    if session.at_work and session.held:
        parts.append((plural("{count} command held", "{count} commands held", len(session.held)), "medium"))
    if session.at_work and (said := words.hosts_refused(session)):
        parts.append((said, "high"))
    if session.at_work and session.as_it_goes is not None and session.as_it_goes.on:
        parts.insert(0, (tr("applies as it goes"), "medium"))
    elif session.can_undo:
        parts.append((tr("applied in part"), "low") if session.undone_in_part else (tr("applied"), "low"))
    port = session.ports[0][0] if session.at_work and session.ports else 0
    return SessionRow(
        session.name,
        words.title(session),
        words.since(session),
        tuple(parts),
        port,
        heading,
        session.at_work,
        words.home_path(session.project),
    )


class SessionsModel(RowModel[SessionRow]):
    """Rows that are `SessionRow`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(_SESSION, parent)

    def show(self, rows: tuple[SessionRow, ...]) -> bool:
        """Show rows; return whether there are others than before, so that the choice has to be made again."""
        if rows == self.rows:
            return False
        if [(one.name, one.heading) for one in rows] == [(one.name, one.heading) for one in self.rows]:
            self.rows = rows
            self.say_changed(len(rows))
            return False
        self.replace(rows)
        return True

    def row(self, name: str) -> int:
        """Return the row of a working copy; -1 for none."""
        return next((number for number, one in enumerate(self.rows) if one.name == name), -1)

    def hint(self, row: SessionRow) -> str:
        return "\n".join((row.project, row.name, *(text for text, _ in row.parts)))


class SessionDelegate(RowDelegate):
    """Three lines, and above the first of a section its name."""

    def __init__(self, look: Look, view: QTableView) -> None:
        super().__init__(view)
        self._look = look

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        painter = row_painter(painter, option)
        row = index.data(_SESSION)
        if not isinstance(row, SessionRow):
            return
        px, tokens = self._look.px, self._look.tokens
        room = QRectF(option.rect)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # The view has filled the whole of a chosen row by now.
        painter.fillRect(option.rect, QColor(tokens.surface))
        if row.heading:
            painter.setFont(self._look.font(-0.5, bold=True))
            painter.setPen(QColor(tokens.text))
            painter.drawText(room.adjusted(px(10), px(4), 0, 0).intersected(self.heading_of(room)), _LEFT, row.heading)
            room.setTop(room.top() + px(HEADING))
        paint_ground(painter, self._look, option.state, room.adjusted(px(4), 1, -px(4), -1))
        inner = room.adjusted(px(14), px(7), -px(10), -px(7))
        height = inner.height() / 3
        line = QRectF(inner.left(), inner.top(), inner.width(), height)
        painter.setFont(self._look.font(0, bold=row.at_work))
        painter.setPen(QColor(tokens.text))
        painter.drawText(line, _LEFT, _elided(painter, row.title, line.width()))
        painter.setFont(self._look.font(-1))
        painter.setPen(QColor(tokens.muted))
        line.translate(0, height)
        painter.drawText(line, _LEFT, _elided(painter, row.below, line.width()))
        line.translate(0, height)
        self._paint_parts(painter, line, row)
        painter.restore()

    def heading_of(self, room: QRectF) -> QRectF:
        """Return the place of the name of a section in the place of its first row."""
        return QRectF(room.left() + self._look.px(10), room.top(), room.width(), self._look.px(HEADING))

    def port_of(self, room: QRectF, row: SessionRow) -> QRectF:
        """Return where `:5173 Open` stands in a row; nowhere where it has no port."""
        if not row.port:
            return QRectF()
        px = self._look.px
        if row.heading:
            room.setTop(room.top() + px(HEADING))
        inner = room.adjusted(px(14), px(7), -px(10), -px(7))
        width = QFontMetricsF(self._look.font(-1)).horizontalAdvance(_open(row.port)) + px(2)
        height = inner.height() / 3
        return QRectF(inner.right() - width, inner.top() + 2 * height, width, height)

    def _paint_parts(self, painter: QPainter, line: QRectF, row: SessionRow) -> None:
        metrics = QFontMetricsF(painter.font())
        end = line.right()
        if row.port:
            width = metrics.horizontalAdvance(_open(row.port))
            painter.setPen(QColor(self._look.tokens.accent_ink))
            painter.drawText(QRectF(end - width, line.top(), width, line.height()), _LEFT, _open(row.port))
            end -= width + self._look.px(8)
        at = line.left()
        for number, (text, ink) in enumerate(row.parts):
            if end - at < 4 * metrics.horizontalAdvance(words.DOT):
                return  # nothing that could be read
            if number:
                painter.setPen(QColor(self._look.tokens.muted))
                painter.drawText(QPointF(at, line.center().y() + metrics.ascent() / 2 - 1), words.DOT)
                at += metrics.horizontalAdvance(words.DOT)
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, end - at)
            painter.setPen(QColor(getattr(self._look.tokens, ink)))
            painter.drawText(QRectF(at, line.top(), end - at, line.height()), _LEFT, shown)
            at += metrics.horizontalAdvance(shown)


class SessionView(QTableView):
    """The list; a click on a port says so."""

    port_wanted = Signal(str, int)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        row, delegate = index.data(_SESSION), self.itemDelegate()
        if not isinstance(row, SessionRow) or not isinstance(delegate, SessionDelegate):
            return
        room = QRectF(self.visualRect(index))
        port = mirrored(room, delegate.port_of(QRectF(room), row), self.layoutDirection())
        if port.contains(event.position()):
            self.port_wanted.emit(row.name, row.port)


class SessionList:
    """The list with its model; rows with the name of a section are higher."""

    def __init__(self, look: Look, cards: WorkCards, chosen: Callable[[str], None], parent: QObject) -> None:
        """`chosen` gets the name of a working copy that a person has moved to; '' for none."""
        self._look = look
        self._cards = cards
        self._chosen = chosen
        self._filling = False
        self.model = SessionsModel(parent)
        self.view = SessionView()
        set_up_painted(self.view, self.model, tr("Programs at work"))
        self.view.setItemDelegate(SessionDelegate(look, self.view))
        self.view.selectionModel().currentChanged.connect(self._moved)

    @property
    def current(self) -> str:
        row = self.view.currentIndex().row()
        return self.model.rows[row].name if 0 <= row < len(self.model.rows) else ""

    def show(self) -> None:
        """Take up how things are now; the chosen one stays chosen, and the first one is where there was none."""
        before = self.current
        self._filling = True
        again = self.model.show(rows_of(self._cards))
        if again:
            for number, row in enumerate(self.model.rows):
                self.view.setRowHeight(number, self._look.px(ROW + (HEADING if row.heading else 0)))
            self.choose(before)
        self._filling = False
        if self.current != before:
            self._chosen(self.current)

    def choose(self, name: str) -> None:
        """Choose a working copy; the first one where it is not there."""
        if self.model.rows:
            self.view.setCurrentIndex(self.model.index(max(0, self.model.row(name)), 0))

    def _moved(self, _now: QModelIndex, _before: QModelIndex) -> None:
        if not self._filling:
            self._chosen(self.current)


def _open(port: int) -> str:
    return tr("{port} Open", port=words.port(port))


def _elided(painter: QPainter, text: str, width: float) -> str:
    return QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, width))
