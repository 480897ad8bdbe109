"""One setting on the page: what it is, its field, where its value comes from, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app.parts.fold import FoldingRow
from app.parts.plain import plain_label
from app.parts.roles import Role
from app.settings.editors import editor_for
from app.settings.words import title_of
from runner.model.translation import tr, translated

if TYPE_CHECKING:
    from app.look.look import Look
    from app.settings.form import Form
    from runner.settings.declaration import Declared

WIDTH = 300
"""Pixels of the column of fields."""
RESTART = tr("Takes effect after a restart.")


class SettingRow(QWidget):
    """Follows the form; changes nothing in it by itself."""

    typed = Signal(str, object)
    """Name of the setting and what was typed."""
    reset_wanted = Signal(str)
    accessible_role = Role.Grouping

    def __init__(self, one: Declared, form: Form, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.declared = one
        self._form = form
        self.title = title_of(one.name)
        self._searched = " ".join(
            (
                self.title,
                one.name,
                translated(one.sentence),
                translated(one.group),
                one.sentence,
                one.group,
                *one.yaml,
                *one.environment,
            )
        ).lower()
        self.editor = editor_for(one, self.title, look)
        self.editor.typed.connect(lambda raw: self.typed.emit(one.name, raw))
        self.origin = plain_label(role="small", wrap=True)
        self.error = plain_label(role="bad", wrap=True)
        self.reset = QToolButton()
        self.reset.setText(tr("Reset"))
        self.reset.setToolTip(tr("Take it out of the file, so that the default or the security level counts"))
        self.reset.setAccessibleName(tr("Reset {title}", title=self.title))
        self.reset.setProperty("kind", "chip")
        self.reset.clicked.connect(lambda: self.reset_wanted.emit(one.name))
        self.setAccessibleName(self.title)
        self._lay_out(look)
        self.show_state(fill=True)

    def matches(self, words: list[str]) -> bool:
        """Return whether each of `words`, in lower case, is somewhere in what this setting is about."""
        return all(word in self._searched for word in words)

    def show_state(self, fill: bool = False) -> None:
        """Say how things stand; with `fill` the field takes the form's value too."""
        name, form = self.declared.name, self._form
        if fill:
            self.editor.show_value(form.value(name))
        fixed, error = form.fixed(name), form.error(name)
        self.editor.setEnabled(not fixed)
        self.editor.set_wrong(bool(error))
        self.error.setText(error)
        self.error.setVisible(bool(error))
        self.origin.setText(form.origin(name))
        self.reset.setVisible(form.can_reset(name))
        described = " ".join(filter(None, (error, translated(self.declared.sentence), self.origin.text())))
        for control in self.editor.controls():
            control.setAccessibleDescription(described)

    def focus_field(self) -> None:
        """Put the focus into the field."""
        next(iter(self.editor.controls())).setFocus(Qt.FocusReason.OtherFocusReason)

    def attach(self, widget: QWidget) -> None:
        """Put something more below the field."""
        self._column.insertWidget(self._column.count() - 1, widget)

    def _lay_out(self, look: Look) -> None:
        px = look.px
        sentence = translated(self.declared.sentence)
        if self.declared.restart:
            sentence = f"{sentence} {RESTART}"
        words = QVBoxLayout()
        words.setSpacing(px(2))
        words.addWidget(plain_label(self.title, "strong"))
        words.addWidget(plain_label(sentence, "muted", wrap=True))
        words.addStretch()
        below = QHBoxLayout()
        below.setSpacing(px(6))
        below.addWidget(self.origin, 1)
        below.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignTop)
        right = QWidget()
        right.setFixedWidth(px(WIDTH))
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(3))
        column.addWidget(self.editor)
        column.addWidget(self.error)
        column.addLayout(below)
        self._column = column
        column.addStretch()
        self._parts = FoldingRow()
        self._parts.setContentsMargins(0, px(6), 0, px(6))
        self._parts.addLayout(words, 1)
        # In a row of its own: it is asked how high it is at its own width, not at that of the page.
        fields = QHBoxLayout()
        fields.addWidget(right, 0, Qt.AlignmentFlag.AlignTop)
        fields.addStretch()
        self._parts.addLayout(fields)
        self._px = px
        self.setLayout(self._parts)

    def fold(self, folded: bool) -> None:
        """Put the field below the words, or beside them."""
        self._parts.setSpacing(self._px(4 if folded else 24))
        self._parts.fold(folded)
