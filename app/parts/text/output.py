"""The output of a run, live and afterwards: it follows the end, with search, saving and copying."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QFileDialog, QPushButton, QVBoxLayout, QWidget

from app.parts.text.output_order import NOT_KEPT, in_order
from app.parts.text.pane import OutputPane
from app.parts.text.scrollback import Scrollback
from app.parts.text.searching import SearchBar
from runner.model.translation import numeral, plural, tr
from runner.sandbox.output import OutputNews, Stream

if TYPE_CHECKING:
    from app.look.look import Look
    from app.parts.text.matches import Find
    from runner.model.result import OutputOrder

_TICK = 40
"""Milliseconds: 25 looks a second."""
_TELL_EVERY = 1.0
"""Seconds between two words to screen readers while output comes in."""


class OutputSource(Protocol):
    """Where output comes from; `runner.sandbox.output.Transcript` is one."""

    def since(self, position: int) -> OutputNews: ...

    def text(self, stream: Stream) -> tuple[str, int]: ...


class OutputView(QWidget):
    """Standard error has a bar in the margin. `/` or Ctrl+F searches, Ctrl+S saves, Ctrl+C copies."""

    ended = Signal()
    """The source has nothing more to come."""
    saved = Signal(str)
    """The path written to."""
    failed = Signal(str)
    """A sentence: what could not be done and why."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._source: OutputSource | None = None
        self._texts: tuple[str, str] = ("", "")
        self._position = 0
        self._running = False
        self._described_at = 0.0
        self._lines = Scrollback()
        self._marked: Find | None = None
        self.pane = OutputPane(look)
        self.search = SearchBar(look)
        self.search.hide()
        self.search.changed.connect(self._search)
        self.search.stepped.connect(self._step)
        self.search.closed.connect(self.close_search)
        self.jump = QPushButton(tr("Jump to end"), self.pane)
        self.jump.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        look.dress(self.jump, "arrow-down-to-line", "text", 14)
        self.jump.hide()
        self.jump.clicked.connect(self._jump)
        self.pane.following_changed.connect(self._offer_jump)
        self.pane.viewport().installEventFilter(self)
        self._margin = look.px(16)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK)
        self._timer.timeout.connect(self._read)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.pane, 1)
        column.addWidget(self.search)
        self.setFocusProxy(self.pane)
        self._tell()

    # ---- what it shows ----

    def set_source(self, source: OutputSource) -> None:
        """Show what `source` has and what it will get, as long as this view is visible."""
        self._source = source
        self._begin()
        self._running = True
        if self.isVisible():
            self._timer.start()
        self._read()

    def set_text(self, stdout: str, stderr: str, order: OutputOrder | None = None) -> None:
        """Show the output of a finished run from its start, in its order as far as that was kept."""
        self._source = None
        self._texts = (stdout, stderr)
        self._begin()
        for piece in in_order(stdout, stderr, order):
            if piece.stream is None:
                self._lines.remark(NOT_KEPT)
            else:
                self._lines.add(piece.stream, b"\n".join([*piece.lines, b""]))
        self.pane.refresh()
        self.pane.go_to_start()
        self._tell()

    def clear(self) -> None:
        """Show nothing."""
        self.set_text("", "")

    @property
    def running(self) -> bool:
        """Whether more can come."""
        return self._running

    def _begin(self) -> None:
        self._timer.stop()
        self._running = False
        self._position = 0
        self._lines = Scrollback()
        self.pane.set_lines(self._lines)

    def _read(self) -> None:
        if self._source is None or not self._running:
            return
        news = self._source.since(self._position)
        self._position = news.position
        if news.pieces or news.skipped or news.ended:
            self._lines.take(news)
            self.pane.refresh()
        if news.ended:
            self._running = False
            self._timer.stop()
            self._tell()
            self.ended.emit()
        elif news.pieces and time.monotonic() - self._described_at > _TELL_EVERY:
            self._tell()

    def showEvent(self, event: QShowEvent) -> None:
        if self._running:
            self._timer.start()
            self._read()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()

    def _tell(self) -> None:
        """Describe the output to screen readers: how much there is, and the newest line."""
        self._described_at = time.monotonic()
        self.pane.setAccessibleName(plural("Output, {count} line", "Output, {count} lines", self._lines.end))
        self.pane.setAccessibleDescription(self.pane.text_of(self._lines.end - 1)[:500])

    # ---- following ----

    def _offer_jump(self) -> None:
        self._place_jump()

    def _jump(self) -> None:
        self.pane.follow(True)
        self.pane.setFocus()

    def _place_jump(self) -> None:
        self.jump.setVisible(not self.pane.following and self.pane.verticalScrollBar().maximum() > 0)
        self.jump.adjustSize()
        port = self.pane.viewport().geometry()
        self.jump.move(port.center().x() - self.jump.width() // 2, port.bottom() - self.jump.height() - self._margin)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Resize:
            # The pane takes up its new size after this.
            QTimer.singleShot(0, self, self._place_jump)
        return False

    # ---- searching ----

    def mark(self, found: Find | None) -> None:
        """Mark what `found` finds in a line, as (start, end), and go to the first; a search in here comes before."""
        self._marked = found
        if not self.search.isVisibleTo(self):
            self.pane.highlight(found)
            if self.pane.verticalScrollBar().maximum() > 0:
                self.pane.find_next(1)

    def open_search(self) -> None:
        self.search.show()
        self.search.field.setFocus()
        self.search.field.selectAll()
        self._search()

    def close_search(self) -> None:
        self.search.hide()
        self.pane.highlight(self._marked)
        self.pane.setFocus()

    def _search(self) -> None:
        try:
            self.pane.highlight(self.search.finder() or self._marked)
        except ValueError as error:
            self.pane.highlight(None)
            self.search.tell(tr("Not a regular expression: {error}", error=error))
            return
        self._step(1)

    def _step(self, step: int) -> None:
        if not self.search.field.text():
            self.search.tell("")
            return
        line = self.pane.find_next(step)
        self.search.tell(tr("Not found") if line is None else tr("Line {line}", line=numeral(line + 1)))

    # ---- saving and keys ----

    def save(self) -> None:
        """Ask where to, and write all output that is kept there."""
        path, _ = QFileDialog.getSaveFileName(self, tr("Save output"), "output.txt", tr("Text (*.txt);;All files (*)"))
        if path:
            self.save_to(Path(path))

    def save_to(self, path: Path) -> None:
        """Write standard output, then standard error under a heading, to `path`."""
        out, err = self._texts
        if self._source is not None:
            out, err = self._source.text(Stream.OUT)[0], self._source.text(Stream.ERR)[0]
        whole = (
            out
            + ("" if out.endswith("\n") or not out else "\n")
            + (tr("--- standard error ---\n{err}", err=err) if err else "")
        )
        try:
            path.write_text(whole, "utf-8", "replace")
        except OSError as error:
            self.failed.emit(
                tr(
                    "The output was not saved to {path}: {strerror}. Choose another place.",
                    path=path,
                    strerror=error.strerror,
                )
            )
            return
        self.saved.emit(str(path))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Save):
            self.save()
        elif event.matches(QKeySequence.StandardKey.Find) or event.text() == "/":
            self.open_search()
        elif event.key() == Qt.Key.Key_Escape and self.search.isVisible():
            self.close_search()
        else:
            event.ignore()
