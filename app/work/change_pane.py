"""The chosen change: its lines below each other or side by side, its pictures beside each other, or words for it."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app.files.apart import ReadingProcess
from app.files.found import Picture
from app.files.kinds import LANGUAGES, PICTURES, ending
from app.files.picture import PictureView
from app.link.background import Errands
from app.link.page_tasks import PageTasks
from app.parts.elide import ElidedLabel
from app.parts.empty import EmptyState
from app.parts.fold import Pages
from app.parts.plain import plain_label, say
from app.parts.text.differences import SideBySide
from app.work import words
from app.work.change_parts import KEYS, PartsView
from app.work.change_rows import ChangeRow, RowKind
from app.work.unified import lines_of, parts_of
from runner.model.errors import KnownError
from runner.model.translation import numeral, plural, tr
from runner.workspace.change import How
from runner.workspace.entry import TreeKind

if TYPE_CHECKING:
    from app.files.found import Preview
    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.parts.text.line_notes import ShownLine
    from runner.work.added import AddedFindings
    from runner.workspace.change import ProjectChange
    from runner.workspace.difference import LineDifference
    from runner.workspace.entry import TreeEntry

NOTHING = (tr("Nothing chosen"), tr("Choose a change to see what it does."))
NO_LINES = tr("No lines to show")
READING = tr("Reading\N{HORIZONTAL ELLIPSIS}")
LOWEST = 60
"""Height of a difference in a low window."""
MOST_NAMED = 500
"""Changes of a folder that are named."""
APPLIES = tr("When this list was read nobody else had changed it in your folder.")


class ChangePane(QWidget):
    """Contents are shown letter by letter; pictures are decoded in a process of their own."""

    lines_shown = Signal()
    """Another difference is shown, whose parts may be ticked."""
    part_toggled = Signal(object, int, int)
    """ChangeRow, the number of one of its parts, and how many it has: that one is to be ticked or left out."""

    def __init__(self, look: Look, bridge: EngineLink, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._bridge = bridge
        self._row: ChangeRow | None = None
        self._copy = ""
        self._serial = 0
        self._difference: LineDifference | None = None
        self._lines: tuple[ShownLine, ...] = ()
        self._found: AddedFindings | None = None
        self._ticked: frozenset[int] = frozenset()
        self._language = ""
        self._tasks = PageTasks("change", self)
        self._errands = Errands("change", self)
        self._readings: tuple[ReadingProcess, ...] = ()
        self.title = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.title.setProperty("role", "strong")
        self.unified = self._choice(tr("Unified"))
        self.beside = self._choice(tr("Side by side"))
        self.unified.setChecked(True)
        self.warning = plain_label(role="warn", wrap=True)
        self.below = plain_label(role="small", wrap=True)
        self.text = PartsView(look, tr("What the change does"))
        self.sides = SideBySide(look, tr("What the change does"), make=PartsView)
        self.pictures = TwoPictures(look)
        self.nothing = EmptyState(look, "file-code", *NOTHING)
        self._lay_out()
        for view in self._views:
            view.toggled.connect(self._toggle)
        self.unified.clicked.connect(partial(self._show_sides, False))
        self.beside.clicked.connect(partial(self._show_sides, True))
        self.show_row("", None)

    def show_row(self, copy: str, row: ChangeRow | None) -> None:
        """Show a change of the working copy `copy`, or nothing; what is shown already stays."""
        if (copy, row) == (self._copy, self._row) and row is not None:
            return
        self._serial += 1
        for reading in self._readings:
            reading.end()
        self._copy, self._row, self._lines = copy, row, ()
        self._difference, self._found = None, None
        for view in self._views:
            view.begin()
        self._offer_sides(False)
        self.title.setText(row.name if row is not None else "")
        say(self.warning, _warning(row), _role(row))
        say(self.below, "", "small")
        # What is on screen is another change: it goes before the new one has been read.
        self._stack.setCurrentWidget(self.nothing)
        if row is None:
            self.nothing.say(*NOTHING)
        elif row.kind is RowKind.LEFT_OUT:
            self.nothing.say(tr("Cannot be applied"), tr("It stays in the working copy: {why}.", why=row.why))
        elif not row.is_single:
            self._show_many(row)
        else:
            self.nothing.say(NO_LINES, READING)
            self._tasks.start("read", self._read(row.changes[0], self._serial))

    def show_findings(self, row: ChangeRow, found: AddedFindings) -> None:
        """Show what was found in what a change adds, if it is the one that is shown."""
        if row != self._row or found == self._found or not row.is_single:
            return
        self._found = found
        if self._difference is None:
            return
        self._tell_below(row.changes[0])
        if self._lines:
            at = [view.verticalScrollBar().value() for view in self._views]
            self._lay_lines(self._difference)
            self._show_sides(self.beside.isChecked())
            for view, value in zip(self._views, at, strict=True):
                view.verticalScrollBar().setValue(value)

    @property
    def parts(self) -> int:
        """How many parts of the change that is shown can be ticked one by one; 0 where that cannot be."""
        if self._row is None or self._difference is None or not self._row.has_parts:
            return 0
        number = parts_of(self._difference.lines)
        return number if number > 1 else 0

    def show_ticks(self, ticked: frozenset[int]) -> None:
        """Show which parts are ticked."""
        self._ticked = ticked
        for view in self._views:
            view.show_ticks(ticked)

    @Slot(int)
    def _toggle(self, part: int) -> None:
        if self._row is not None and self.parts:
            self.part_toggled.emit(self._row, part, self.parts)

    @property
    def _views(self) -> tuple[PartsView, ...]:
        sides = (self.sides.old, self.sides.new)
        return (self.text, *(view for view in sides if isinstance(view, PartsView)))

    @property
    def shown(self) -> QWidget | None:
        """What stands there: a difference, pictures, or words."""
        return self._stack.currentWidget()

    def close_errands(self) -> None:
        self._errands.close()

    # ---- reading ----

    async def _read(self, change: ProjectChange, serial: int) -> None:
        picture = ending(words.name(change.path)) in PICTURES and _has_file(change)
        try:
            found = await self._bridge.work.lines(self._copy, change)
            if serial != self._serial:
                return
            if picture and found.instead and change.how is not How.TOUCHED:
                await self._read_pictures(change, serial)
                return
        except KnownError as error:
            if serial == self._serial:
                self.nothing.say(NO_LINES, str(error))
            return
        self._show_lines(change, found)

    def _show_lines(self, change: ProjectChange, found: LineDifference) -> None:
        self._difference = found
        self._tell_below(change)
        if found.instead:
            self.nothing.say(NO_LINES, f"{found.instead[:1].upper()}{found.instead[1:]}.")
            return
        if not found.lines:
            empty = tr("An empty file.") if change.before is None or change.after is None else tr("Nothing differs.")
            self.nothing.say(NO_LINES, empty)
            return
        self._lay_lines(found)
        self._language = LANGUAGES.get(ending(words.name(change.path)), "")
        self._offer_sides(True)
        self._show_sides(self.beside.isChecked())
        self.lines_shown.emit()

    def _lay_lines(self, found: LineDifference) -> None:
        findings = self._found.findings if self._found is not None else ()
        self._lines = lines_of(found.lines, findings, parts=bool(self.parts))

    @Slot()
    def _show_sides(self, beside: bool) -> None:
        self.unified.setChecked(not beside)
        self.beside.setChecked(beside)
        if not self._lines:
            return
        if beside:
            self.sides.show_lines(self._lines, self._language)
        else:
            self.text.show_lines(self._lines, language=self._language)
        self.show_ticks(self._ticked)
        self._stack.setCurrentWidget(self.sides if beside else self.text)

    async def _read_pictures(self, change: ProjectChange, serial: int) -> None:
        """Raises KnownError."""
        sides = (change.before, change.after)
        contents = await asyncio.gather(
            *(
                self._bridge.work.content(self._copy, change, new=new)
                for new, side in ((False, sides[0]), (True, sides[1]))
                if _is_file(side)
            )
        )
        if serial != self._serial:
            return
        self._tell_below(change)
        left = list(contents)
        data = [left.pop(0) if _is_file(side) else None for side in sides]
        self._readings = tuple(ReadingProcess() for one in data if one is not None)
        readings = list(self._readings)
        self.pictures.begin(data)
        self._stack.setCurrentWidget(self.pictures)
        for number, content in enumerate(data):
            if content is not None:
                self._preview(readings.pop(0), content, words.name(change.path), number, serial)

    def _preview(self, reading: ReadingProcess, content: bytes, path: str, number: int, serial: int) -> None:
        def came(found: Preview) -> None:
            if serial == self._serial:
                self.pictures.show_side(number, found)

        def failed(error: Exception) -> None:
            if serial == self._serial:
                self.pictures.say(number, str(error) or type(error).__name__)

        self._errands.send(lambda: reading.preview(lambda: content, path), came, failed)

    def _show_many(self, row: ChangeRow) -> None:
        """Name what a folded row holds."""
        named = [f"{words.SIGNS[one.how]}  {words.path(one)}" for one in row.changes[:MOST_NAMED]]
        more = len(row.changes) - len(named)
        if more:
            named.append(tr("and {more} more", more=numeral(more)))
        number = plural("{count} change", "{count} changes", len(row.changes))
        say(
            self.below,
            tr("{number}: a tick applies all of them. They are not read for findings.", number=number),
            "small",
        )
        self.text.show_words("\n".join(named))
        self._stack.setCurrentWidget(self.text)

    def _tell_below(self, change: ProjectChange) -> None:
        parts = []
        before, after = change.before, change.after
        if self._difference is not None and self._difference.coarse:
            parts.append(f"{self._difference.coarse}.")
        if self.parts:
            parts.append(KEYS)
        if self._found is not None and self._found.not_read:
            parts.append(
                tr("Not read for findings: {not_read}", not_read=self._found.not_read)
                if self._found.skipped
                else self._found.not_read
            )
        if before is not None and after is not None and _is_file(before) and before.mode != after.mode:
            parts.append(
                tr("Permissions {mode} become {mode_2}.", mode=f"{before.mode:04o}", mode_2=f"{after.mode:04o}")
            )
        if after is not None and before is None and after.kind is TreeKind.FILE and after.mode & 0o111:
            parts.append(tr("It can be started as a program."))
        if before is not None and not change.conflict and not change.merged:
            parts.append(APPLIES)
        say(self.below, " ".join(parts), "small")

    # ---- building ----

    def _offer_sides(self, there: bool) -> None:
        self.unified.setVisible(there)
        self.beside.setVisible(there)

    def _choice(self, text: str) -> QToolButton:
        button = QToolButton()
        button.setText(text)
        button.setCheckable(True)
        button.setProperty("kind", "span")
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _lay_out(self) -> None:
        px = self._look.px
        self._stack = Pages()
        for view in (self.text, self.sides.old, self.sides.new):
            view.setMinimumHeight(px(LOWEST))
        for part in (self.nothing, self.text, self.sides, self.pictures):
            self._stack.addWidget(part)
        head = QHBoxLayout()
        head.setSpacing(px(4))
        head.addWidget(self.title, 1)
        head.addWidget(self.unified)
        head.addWidget(self.beside)
        top = QWidget()
        top.setLayout(head)
        head.setContentsMargins(0, 0, 0, 0)
        # The buttons come and go: what is below stays where it is.
        top.setFixedHeight(px(30))
        column = QVBoxLayout(self)
        column.setContentsMargins(px(10), 0, 0, 0)
        column.setSpacing(px(6))
        column.addWidget(top)
        column.addWidget(self.warning)
        column.addWidget(self._stack, 1)
        column.addWidget(self.below)


class TwoPictures(QWidget):
    """A picture before and after, each with its size; or one of them."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(8))
        self.views = (PictureView(look), PictureView(look))
        self.said = (plain_label(role="small", wrap=True), plain_label(role="small", wrap=True))
        self._sides = (QWidget(), QWidget())
        for name, side, view, said in zip((tr("Before"), tr("After")), self._sides, self.views, self.said, strict=True):
            column = QVBoxLayout(side)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(look.px(4))
            column.addWidget(plain_label(name, "heading"))
            column.addWidget(view, 1)
            column.addWidget(said)
            row.addWidget(side, 1)

    def begin(self, contents: list[bytes | None]) -> None:
        """Make room for the sides that are there."""
        for side, view, said, content in zip(self._sides, self.views, self.said, contents, strict=True):
            side.setVisible(content is not None)
            view.hide()
            said.setText(READING)

    def show_side(self, number: int, found: Preview) -> None:
        """Show one side, or that it is no picture."""
        if isinstance(found, Picture):
            self.views[number].show_picture(found)
            self.views[number].show()
        self.said[number].setText(found.said)

    def say(self, number: int, text: str) -> None:
        self.said[number].setText(text)


def _warning(row: ChangeRow | None) -> str:
    if row is None or not row.why:
        return ""
    text = f"{row.tag}: {row.why}" if row.tag else row.why
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."


def _role(row: ChangeRow | None) -> str:
    return "bad" if row is not None and row.kind is RowKind.CONFLICT else "warn"


def _has_file(change: ProjectChange) -> bool:
    return _is_file(change.before) or _is_file(change.after)


def _is_file(entry: TreeEntry | None) -> bool:
    return entry is not None and entry.kind is TreeKind.FILE
