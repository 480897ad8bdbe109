"""A person's word that a class is wrong: kept on this computer, taken back, and deciding nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QLineEdit, QPushButton, QToolButton, QVBoxLayout, QWidget

from app import phrases
from app.parts.flow import Flow
from app.parts.plain import plain_label, say, set_tip
from app.parts.sections import wrapped_label
from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.model.translation import to_translate, tr, translated
from runner.risk.explain.disputed import LONGEST_NOTE, can_be_named, too_high

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QResizeEvent

    from app.class_reasons.keeping import CaseKeeping
    from app.look.look import Look
    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.risk.explain.disputed import DisputedLine

WRONG = tr("Wrong class\N{HORIZONTAL ELLIPSIS}")
CHANGE = tr("Change\N{HORIZONTAL ELLIPSIS}")
SAYS_WRONG = tr("The class of this request is wrong")
TAKE_BACK = tr("Take back")
UNDO = tr("Undo")
SAME = tr("That is what was found.")
PRIVATE = to_translate("Kept in {path} with the code, which may hold secrets. Never sent; it decides nothing.")


class NoteField(QLineEdit):
    """A line in which Enter and Escape stay with the form: no key of it answers the request."""

    entered = Signal()
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                event.accept()
                self.entered.emit()
            case Qt.Key.Key_Escape:
                event.accept()
                self.left.emit()
            case _:
                super().keyPressEvent(event)


class WrongLevel(QWidget):
    """A button; after it a form. Where something is kept of the request, what it is."""

    grown = Signal()
    """The form, or what came of it, stands there and may be out of sight."""

    def __init__(self, look: Look, keeping: CaseKeeping, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._keeping = keeping
        self._subject: tuple[Request, Assessment] | None = None
        self._turn = 0
        """Counts the requests: what comes back about an earlier one is not shown."""
        self._looking = False
        self._line: DisputedLine | None = None
        self._gone: DisputedLine | None = None
        """What was taken back last."""
        self.state = wrapped_label(look)
        self.start = self._button(WRONG, SAYS_WRONG)
        self.back = self._button(TAKE_BACK, tr("Take back your class"))
        self.undo = self._button(UNDO, tr("Keep again what was taken back"))
        self.form = QWidget(self)
        self._levels = QButtonGroup(self)
        self.choices = {level: self._choice(level) for level in Level}
        self._flow = Flow(self.choices.values(), look.px(4), left=True)
        self.meaning = plain_label(role="muted", wrap=True)
        self.note = NoteField(self.form)
        self.note.setMaxLength(LONGEST_NOTE)
        self.note.setPlaceholderText(tr("Note (optional)"))
        self.note.setAccessibleName(tr("Note on the wrong class, optional"))
        self.keep = self._button(tr("Keep"), tr("Keep this on this computer"))
        self.cancel = self._button(tr("Cancel"), tr("Close without keeping a class"))
        self.keep.setProperty("kind", "")
        self.cancel.setProperty("kind", "quiet")
        # Folders have no spaces to break at.
        self.private = plain_label(translated(PRIVATE, path=_breakable(str(keeping.path))), "small", wrap=True)
        self.private.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.problem = plain_label(role="bad", wrap=True)
        self._lay_out()
        self._connect()
        self._show_state()

    def _button(self, words: str, name: str) -> QPushButton:
        button = QPushButton(words, self)
        button.setProperty("kind", "link")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.setAutoDefault(False)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _choice(self, level: Level) -> QToolButton:
        choice = QToolButton(self.form)
        choice.setText(level.name)
        choice.setAccessibleName(tr("It should have been {name}", name=level.name))
        choice.setProperty("kind", "chip")
        choice.setCheckable(True)
        choice.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._levels.addButton(choice, int(level))
        return choice

    def _lay_out(self) -> None:
        px = self._look.px
        row, last = QHBoxLayout(), QHBoxLayout()
        row.setSpacing(px(14))
        for widget in (self.start, self.back, self.undo):
            row.addWidget(widget)
        row.addStretch()
        for widget in (self.keep, self.cancel):
            last.addWidget(widget)
        last.addStretch()
        inside = QVBoxLayout(self.form)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(px(6))
        inside.addWidget(plain_label(tr("It should have been"), "heading"))
        inside.addLayout(self._flow)
        inside.addWidget(self.meaning)
        inside.addWidget(self.note)
        inside.addLayout(last)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(6))
        column.addWidget(self.state)
        column.addLayout(row)
        column.addWidget(self.form)
        column.addWidget(self.problem)
        column.addWidget(self.private)
        self.form.hide()

    def _connect(self) -> None:
        self.start.clicked.connect(self.open_form)
        self.cancel.clicked.connect(self.close_form)
        self.note.left.connect(self.close_form)
        self.note.entered.connect(self._keep)
        self.keep.clicked.connect(self._keep)
        self.back.clicked.connect(self._take_back)
        self.undo.clicked.connect(self._keep_again)
        self._levels.idToggled.connect(self._chosen)

    @property
    def named(self) -> Level | None:
        """The level that is chosen."""
        chosen = self._levels.checkedId()
        return Level(chosen) if chosen in list(Level) else None

    def show_subject(self, request: Request, assessment: Assessment) -> None:
        """Be about another request, or another version of it; what was typed about another request is gone."""
        other = self._subject is None or self._subject[0].id != request.id
        self._subject = request, assessment
        self._turn += 1
        self._line = self._gone = None
        say(self.problem, "", "bad")
        if other:
            self.note.clear()
            self._show_form(False)
        self._offer(assessment)
        self._show_state()

    @Slot()
    def look(self) -> None:
        """Look what is kept of the request, once the look before has ended: code may change with every key."""
        if self._subject is not None and not self._looking:
            self._looking = True
            turn = self._turn
            self._keeping.find(
                self._subject[0], lambda line: self._found(turn, line), lambda error: self._not_found(turn, error)
            )

    # ---- the form ----

    @Slot()
    def open_form(self) -> None:
        if self._subject is None:
            return
        self._show_form(True)
        first = next((one for one in self.choices.values() if one.isEnabled()), None)
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)
        self.grown.emit()

    @Slot()
    def close_form(self) -> None:
        self._show_form(False)
        self.start.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_form(self, shown: bool) -> None:
        self.form.setVisible(shown)
        self._show_state()

    def _offer(self, assessment: Assessment) -> None:
        """Offer the levels that say something else than what was found."""
        self._levels.setExclusive(False)
        for level, choice in self.choices.items():
            other = can_be_named(assessment, level)
            choice.setEnabled(other)
            choice.setToolTip("" if other else SAME)
            choice.setChecked(choice.isChecked() and other)
        self._levels.setExclusive(True)
        self._chosen()

    @Slot()
    def _chosen(self) -> None:
        named = self.named
        self.keep.setEnabled(named is not None)
        words = "" if named is None or self._subject is None else _meaning(self._subject[1], named)
        self.meaning.setText(words)
        self.meaning.setVisible(bool(words))

    # ---- keeping ----

    @Slot()
    def _keep(self) -> None:
        named, subject, turn = self.named, self._subject, self._turn
        if named is None or subject is None or not self.keep.isEnabled():
            return
        self.keep.setEnabled(False)
        note = phrases.cleaned(self.note.text())
        self._keeping.keep(
            *subject, named, note, lambda line: self._kept(turn, line), lambda error: self._failed(turn, error)
        )

    @Slot()
    def _keep_again(self) -> None:
        if (line := self._gone) is not None:
            turn = self._turn
            self.undo.setEnabled(False)
            self._keeping.keep_again(line, lambda one: self._kept(turn, one), lambda error: self._failed(turn, error))

    @Slot()
    def _take_back(self) -> None:
        if (line := self._line) is not None:
            turn = self._turn
            self.back.setEnabled(False)
            self._keeping.remove(line, lambda _: self._taken_back(turn, line), lambda error: self._failed(turn, error))

    def _found(self, turn: int, line: DisputedLine | None) -> None:
        self._looking = False
        if turn != self._turn:
            self.look()
        elif self._gone is None:
            self._line = line
            self._show_state()

    def _not_found(self, turn: int, error: Exception) -> None:
        self._looking = False
        if turn != self._turn:
            self.look()
        else:
            self._failed(turn, error)

    def _kept(self, turn: int, line: DisputedLine | None) -> None:
        if turn == self._turn:
            inside = self.form.isAncestorOf(self.window().focusWidget() or self)
            self._line, self._gone = line, None
            say(self.problem, "", "bad")
            self._show_form(False)
            if inside:
                self.back.setFocus(Qt.FocusReason.OtherFocusReason)
            self.grown.emit()

    def _taken_back(self, turn: int, line: DisputedLine) -> None:
        if turn == self._turn:
            self._line, self._gone = None, line
            say(self.problem, "", "bad")
            self._show_state()
            self.undo.setFocus(Qt.FocusReason.OtherFocusReason)
            self.grown.emit()

    def _failed(self, turn: int, error: Exception) -> None:
        """Say why; what was typed stays, and what is kept is looked up again where that can be done."""
        if not isinstance(error, KnownError):
            raise error
        if turn == self._turn:
            say(self.problem, phrases.visible(str(error)), "bad")
            self._chosen()
            self._show_state()
            if not self.form.isHidden():
                self.grown.emit()

    def _show_state(self) -> None:
        self.back.setEnabled(True)
        self.undo.setEnabled(True)
        case = self._line.case if self._line is not None else None
        words = ""
        if case is not None:
            note = f" {phrases.visible(case.note)}" if case.note else ""
            words = tr("Your class: {name}.{note}", name=case.named.name, note=note)
        elif self._gone is not None:
            words = tr("Taken back: nothing is kept of this request.")
        self.state.setText(words)
        set_tip(self.state, words)
        self.state.setVisible(bool(words))
        formed = not self.form.isHidden()
        self.start.setText(CHANGE if case is not None else WRONG)
        self.start.setAccessibleName(tr("Change your class") if case is not None else SAYS_WRONG)
        self.start.setVisible(not formed)
        self.back.setVisible(not formed and case is not None)
        self.undo.setVisible(not formed and case is None and self._gone is not None)
        self.private.setVisible(formed or case is not None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._flow.fit(self.width()):
            self.updateGeometry()


def _meaning(assessment: Assessment, named: Level) -> str:
    """Return what a chosen level means for the findings."""
    if not too_high(assessment, named):
        return tr("A finding of level {name} is missing.", name=named.name)
    most = tr("Its findings should be {name} at most.", name=named.name)
    base = assessment.base
    return (
        most
        if base is None or base <= named
        else tr("{most} The class of this kind of request stays {name}.", most=most, name=base.name)
    )


def _breakable(path: str) -> str:
    return phrases.visible(path).replace("/", "/\u200b")
