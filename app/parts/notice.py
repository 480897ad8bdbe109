"""A banner inside the window: something to know, a warning, or something that stops Assent from working."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QSizePolicy, QToolButton, QWidget

from app.parts.column import READABLE
from app.parts.elide import ElidedLabel
from app.parts.paths import short_paths
from app.parts.plain import plain_label, set_tip
from app.parts.roles import Role
from app.parts.text.to_clipboard import to_clipboard
from runner.model.translation import tr

if TYPE_CHECKING:
    from app.look.look import Look


class Tone(StrEnum):
    INFO = "info"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


_ICONS = {
    Tone.INFO: ("info", "accent_ink"),
    Tone.GOOD: ("circle-check", "low"),
    Tone.WARN: ("triangle-alert", "medium"),
    Tone.BAD: ("circle-alert", "high"),
}
_WORDS = {Tone.INFO: tr("Note"), Tone.GOOD: tr("Done"), Tone.WARN: tr("Warning"), Tone.BAD: tr("Problem")}
"""What the picture says to those who do not see it."""


class Notice(QFrame):
    """Text that wraps, at most one action, and a cross to close it where `closable`.

    Long paths are shown without their middle; the tool tip and the menu of the text have them whole.
    """

    accessible_role = Role.AlertMessage
    acted = Signal()
    closed = Signal()

    def __init__(
        self,
        look: Look,
        tone: Tone,
        text: str,
        action: str = "",
        closable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._picture = plain_label()
        self._text = plain_label(wrap=True)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._text.customContextMenuRequested.connect(self._offer_copy)
        self._whole = ""
        self._line = ElidedLabel()
        self._line.setMaximumWidth(look.px(READABLE))
        self._line.hide()
        self._folded = False
        self._room = look.px(READABLE)
        self.action = QPushButton()
        self.action.clicked.connect(self.acted)
        self.cross = QToolButton()
        self.cross.setAccessibleName(tr("Close this notice"))
        self.cross.setToolTip(tr("Close"))
        self.cross.clicked.connect(self._close)
        look.dress(self.cross, "x")
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(look.px(12), look.px(8), look.px(8), look.px(8))
        row.setSpacing(look.px(10))
        row.addWidget(self._picture)
        # In a wide window the button stays beside the text.
        row.addWidget(self._text, 1000)
        row.addWidget(self._line, 1000)
        row.addWidget(self.action)
        row.addStretch(1)
        row.addWidget(self.cross)
        # Not before it has a parent: by itself it would be a window, and take the focus from this one.
        self.cross.setVisible(closable)
        self.say(tone, text, action)
        look.changed.connect(self._paint_icon)

    def say(self, tone: Tone, text: str, action: str = "") -> None:
        """Replace tone, text and the words on the button; no words, no button."""
        self._tone = tone
        self._whole = text
        shown = short_paths(text, str(Path.home()))
        self._text.setText(shown)
        set_tip(self._text, text if shown != text else "")
        self.action.setText(action)
        self.action.setVisible(bool(action))
        self.setProperty("tone", str(tone))
        self.setAccessibleName(f"{_WORDS[tone]}: {text}")
        self._picture.setAccessibleName(_WORDS[tone])
        self.style().unpolish(self)
        self.style().polish(self)
        self._paint_icon()
        self._fit()

    @property
    def is_long(self) -> bool:
        """Whether it has more than one line."""
        return self._wanted() > min(self._look.px(READABLE), self._room)

    def flatten(self) -> None:
        """Be no higher than a button of the toolbar, while it has one line."""
        margins = self._row.contentsMargins()
        self._row.setContentsMargins(margins.left(), self._look.px(3), margins.right(), self._look.px(3))

    def give_room(self, width: int) -> None:
        """Take over how many pixels it has for all of it."""
        parts = [self._picture, *(one for one in (self.action, self.cross) if not one.isHidden())]
        beside = sum(one.sizeHint().width() + self._row.spacing() for one in parts)
        margins = self._row.contentsMargins()
        self._room = max(0, width - beside - margins.left() - margins.right())
        self._show_text()

    def fold(self, folded: bool) -> None:
        """Show the beginning of a long text on one line, all of it in the tool tip; or all of it."""
        self._folded = folded
        self._show_text()

    def _show_text(self) -> None:
        folded = self._folded and self.is_long
        self._line.setText(self._text.text() if folded else "")
        self._text.setVisible(not folded)
        self._line.setVisible(folded)

    def hold(self, button: QPushButton) -> None:
        """Give `button` a place in it, after its own."""
        self._row.removeWidget(button)
        self._row.insertWidget(self._row.indexOf(self.action) + 1, button)

    @property
    def text(self) -> str:
        return self._whole

    @Slot(QPoint)
    def _offer_copy(self, at: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        marked = self._text.selectedText()
        if marked and marked != self._text.text():
            menu.addAction(tr("Copy selection")).triggered.connect(lambda: to_clipboard(marked))
        menu.addAction(tr("Copy all")).triggered.connect(lambda: to_clipboard(self._whole))
        menu.popup(self._text.mapToGlobal(at))

    def _fit(self) -> None:
        """Give the text no more width than it has on one line, nor than can be read along: the button is beside it."""
        self._text.setMaximumWidth(min(self._wanted(), self._look.px(READABLE)))
        self._show_text()

    def _wanted(self) -> int:
        """Return the width of the text on one line."""
        self._text.ensurePolished()
        return self._text.fontMetrics().size(0, self._text.text()).width() + self._look.px(2)

    def _close(self) -> None:
        self.hide()
        self.closed.emit()

    def _paint_icon(self) -> None:
        self._picture.setPixmap(self._look.pixmap(*_ICONS[self._tone], 16))
