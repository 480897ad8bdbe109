"""Short facts side by side, each with a picture and in its own color; rows of them where there is little room."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.parts.elide import ElidedLabel
from app.parts.flow import Flow
from app.parts.plain import plain_label
from app.parts.roles import Role

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look


class Fact(NamedTuple):
    """What one of them says."""

    words: str
    icon: str
    ink: str
    """A token."""


class ChipRow(QWidget):
    """As high as its rows need at the present width."""

    accessible_role = Role.StaticText

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._chips: list[_Chip] = []
        self._flow = Flow((), look.px(14), left=True, below=look.px(3))
        self.setLayout(self._flow)
        look.changed.connect(self._paint)
        self._facts: tuple[Fact, ...] = ()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is shown."""
        return self._facts

    def show_facts(self, facts: Iterable[Fact]) -> None:
        """Show exactly these."""
        self._facts = tuple(facts)
        while len(self._chips) < len(self._facts):
            chip = _Chip(self._look)
            self._chips.append(chip)
            self._flow.addWidget(chip)
        for number, chip in enumerate(self._chips):
            chip.setVisible(number < len(self._facts))
        self._paint()
        self.setAccessibleName(", ".join(fact.words for fact in self._facts))
        self._fit()

    def minimumSizeHint(self) -> QSize:
        """Ask for no width: an agent chooses some of the words, and must not make the page wider than the window."""
        return QSize(0, super().minimumSizeHint().height())

    def _paint(self) -> None:
        for chip, fact in zip(self._chips, self._facts, strict=False):
            chip.show_fact(fact)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self._flow.fit(self.width())
        if self.height() != (height := self._flow.sizeHint().height()) or self.minimumHeight() != height:
            self.setFixedHeight(height)
            self.updateGeometry()


class _Chip(QWidget):
    """A picture and a few words."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._picture = plain_label()
        # Of a host that is too long both ends are seen: what it belongs to stands at its end.
        self._words = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._words.setFont(look.font(-0.5, bold=True))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(5))
        row.addWidget(self._picture)
        row.addWidget(self._words, 1)

    def show_fact(self, fact: Fact) -> None:
        """Show `fact` in its color."""
        self._picture.setPixmap(self._look.pixmap(fact.icon, fact.ink, 14))
        palette = self._words.palette()
        palette.setColor(QPalette.ColorRole.WindowText, getattr(self._look.tokens, fact.ink))
        self._words.setPalette(palette)
        self._words.setText(fact.words)
        # At once: the row asks for the new width now, and Qt would remember the old one until later.
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        hint = super().sizeHint()
        return QSize(hint.width() + 2, hint.height())
