"""The deciding parts of a request: in full where they are short enough for a card, else the most important lines.

The outcome of a rehearsal is a part like the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app import phrases
from app.parts.elide import ElidedLabel
from app.parts.plain import plain_label
from app.parts.text.code import CodeView
from app.parts.text.code_grid import CodeGrid
from app.parts.text.listing import CodeLayout, CodeListing
from app.parts.text.visible_characters import visible
from app.prompt import words
from app.state import rehearsals
from runner.model.request import CODE, Part
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent
    from PySide6.QtWidgets import QLayoutItem

    from app.look.look import Look
    from app.state.cards import Card

RULER = 10
"""Pixels that a view of code leaves at its right for its marks."""
NARROWEST = 380
"""Width that is taken for that of the card before it is known."""
MOST_BESIDE = 400
"""Characters of the short values beside the parts, all together."""


class RequestContent(QWidget):
    """Every part of a request one below the other, each as the window shows it, and the short values beside them."""

    seen = Signal()
    """The end of a part has come on the screen, or what fits has changed."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._card: Card | None = None
        self._parts: list[tuple[Part, CodeView, CodeListing]] = []
        self._fits = False
        self._laid_out = False
        self._grid = CodeGrid(look)
        self._ready: CodeView | None = CodeView(look, self)
        """For the first part."""
        self._ready.hide()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(look.px(4))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def whole(self) -> bool:
        """Whether everything that decides has its place here."""
        return self._fits

    @property
    def unseen(self) -> list[str]:
        """Names of the parts whose end has not been on the screen."""
        return [part.name for part, view, _ in self._parts if not view.is_seen_to_end]

    def show_card(self, card: Card) -> None:
        """Show the request of `card` from now on."""
        self._card = card
        request = card.request
        beside = [(part.name, visible(part.text)) for part in request.beside]
        short = sum(len(name) + len(text) for name, text in beside) <= MOST_BESIDE
        self._fits = words.may_fit(request) and short
        self._empty()
        if self._fits:
            for part in (*request.parts, *rehearsed(card)):
                self._add_part(part, card)
            for name, text in (*beside, *words.where(request)):
                self._column.addWidget(plain_label(f"{name}: {text}", "small", wrap=True))
            self._fit()
        if not self._fits:
            self._empty()
            self._add_excerpt(card)
        self.updateGeometry()

    def shorten(self) -> None:
        """Show the most important lines alone: there is no room for all of it."""
        if self._fits and self._card is not None:
            self._fits = False
            self._empty()
            self._add_excerpt(self._card)
            self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._laid_out = True
        if self._fits and event.size().width() != event.oldSize().width():
            self._fit()
            self._give_up_if_too_long()

    def _give_up_if_too_long(self) -> None:
        if not self._fits and self._card is not None:
            self.show_card(self._card)
            self.seen.emit()

    def _add_part(self, part: Part, card: Card) -> None:
        request = card.request
        if part.name != CODE or len(request.parts) > 1 or rehearsed(card):
            self._column.addWidget(plain_label(part.name, "heading"))
        view, self._ready = self._ready or CodeView(self._look, self), None
        is_code = part.name == CODE
        language = request.language.value if is_code and request.language else ""
        findings = card.assessment.findings if card.assessment and is_code else ()
        view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        # Shown whole or not at all: with a bar it would be narrower, and then need it.
        view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.set_code(part.text, language, findings)
        view.setAccessibleName(tr("{name} of the request", name=part.name))
        view.seen_to_end.connect(self._seen)
        self._parts.append((part, view, CodeListing(part.text, language, findings)))
        self._column.addWidget(view)
        view.show()

    def _add_excerpt(self, card: Card) -> None:
        first, text = words.excerpt(card)
        for number, line in enumerate(text.split("\n"), first):
            label = ElidedLabel(f"{number}  {phrases.visible(line[:400])}")
            label.setFont(self._look.mono())
            self._column.addWidget(label)

    def _fit(self) -> None:
        """Give each part the height of its rows; where they are too many, nothing fits."""
        # Before it has been laid out it has a size of Qt's.
        width = self.width() if self._laid_out else self._look.px(NARROWEST)
        rows = 0
        for _, view, listing in self._parts:
            needed = self._rows(listing, width - self._look.px(RULER))
            rows += needed
            view.setFixedHeight(self._grid.row_height * needed)
        found = self._card is not None and rehearsed(self._card)
        self._fits = rows <= words.MOST_ROWS + (words.MOST_OUTCOME_ROWS if found else 0)

    def _rows(self, listing: CodeListing, width: int) -> int:
        """Return how many rows a part takes, laid out as its view does it; too many where that is not known at once."""
        grid = self._grid
        grid.fit(len(listing.lines), width)
        layout = CodeLayout(listing, grid.columns, grid.beside, grid.remark_metrics.horizontalAdvance)
        return layout.rows.total if layout.complete else words.MOST_ROWS + 1

    def _empty(self) -> None:
        self._parts = []
        while (item := self._column.takeAt(0)) is not None:
            _drop(item)

    @Slot(bool)
    def _seen(self, to_end: bool) -> None:
        if to_end:
            self.seen.emit()


def rehearsed(card: Card) -> tuple[Part, ...]:
    """Return the outcome of the rehearsal as a part of its own; none where there is no outcome."""
    found = rehearsals.outcome(card)
    return () if found is None else (Part(rehearsals.OUTCOME, found.text),)


def _drop(item: QLayoutItem) -> None:
    if (widget := item.widget()) is not None:
        # Later: it may be painting, or on its way to say what has been seen of it.
        widget.hide()
        widget.deleteLater()
