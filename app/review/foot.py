"""The foot of a review: why, and the buttons; in their place a denial's reason, a word, a PIN, or an edit's end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QPushButton, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from app.parts.flow import Flow
from app.parts.key_names import key_text
from app.parts.plain import plain_label, set_tip
from app.review.again import ApproveAgain
from app.review.buttons import ApproveButton, DecisionButton
from app.review.denial import Denial
from app.review.proof import PinProof, ProofEntry, WordProof
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look
    from app.review.guard import ClickGuard


ALLOW, ALLOW_NOT = tr("Allow for this request\N{HORIZONTAL ELLIPSIS}"), tr("Do not allow")
FLASH_MS = 200
"""How long the sentence is tinted where a key cannot act."""
MOST_LINES = 4
"""Of a sentence; its tool tip has all of it."""


class Foot(QStackedWidget):
    """Five pages of one place: answers, reason, word, PIN, edit. As high as the one on top."""

    try_wanted = Signal()
    edit_wanted = Signal()
    edit_done = Signal()
    edit_discarded = Signal()

    def __init__(self, look: Look, guard: ClickGuard, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._rows: list[Flow] = []
        self._low = False
        self.sentence = plain_label(role="muted", wrap=True)
        self._make_try()
        self.edit = QPushButton(tr("Edit  E"))
        self.edit.setAutoDefault(False)
        self.edit.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.edit.setAccessibleName(tr("Edit the code before approving it, E"))
        self.edit.clicked.connect(self.edit_wanted)
        self.deny = DecisionButton(tr("Deny\N{HORIZONTAL ELLIPSIS}  D"), guard)
        self.deny.setProperty("kind", "danger")
        self.deny.setAccessibleName(tr("Deny, asks for a reason, D"))
        self.approve = ApproveButton(tr("Approve once  A"), guard, look)
        self.approve.setProperty("kind", "primary")
        self.approve.setAccessibleName(tr("Approve once"))
        self.hand_over = DecisionButton(tr("Hand over  A"), guard)
        self.hand_over.setProperty("kind", "primary")
        self.hand_over.setAccessibleName(tr("Hand over the outcome, A"))
        self.later = ApproveButton(tr("Approve for later"), guard, look)
        self.later.setProperty("kind", "primary")
        self.later.setAccessibleName(tr("Approve for later, by mouse"))
        self.take_back = QPushButton(tr("Take back"))
        self.take_back.setAutoDefault(False)
        self.take_back.setToolTip(tr("Nothing runs later by this approval"))
        self.remember = QPushButton("\N{BLACK DOWN-POINTING SMALL TRIANGLE}")
        self.remember.setProperty("kind", "split")
        self.remember.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.remember.setAccessibleName(tr("Approve and do not ask again, R"))
        self.remember.setAutoDefault(False)
        self.again = ApproveAgain(look, self)
        self._make_ways()
        self.next = QPushButton(tr("Next  J"))
        self.next.setAutoDefault(False)
        answers = (self.approve, self.remember, self.hand_over, self.take_back, self.later, self.next)
        self.buttons = self._page(
            self.sentence, self.try_it, self.edit, self.stronger, self.deny, self.accept, *answers
        )
        self.denial = Denial(look, guard)
        self.word = ProofEntry(WordProof(look), look, guard)
        self.pin = ProofEntry(PinProof(look), look, guard)
        self.editing = self._make_editing()
        for page in (self.buttons, self.denial, self.word, self.pin, self.editing):
            self.addWidget(page)
        self._flash = QTimer(self)
        self._flash.setSingleShot(True)
        self._flash.setInterval(FLASH_MS)
        self._flash.timeout.connect(self._calm)
        self.currentChanged.connect(self._fit)
        self._fit()

    def _make_try(self) -> None:
        self.try_it = QPushButton(tr("Try it  T"))
        self.try_it.setAutoDefault(False)
        self.try_it.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.try_it.setAccessibleName(tr("Try it without network before you decide, T"))
        self.try_it.clicked.connect(self.try_wanted)

    def _make_ways(self) -> None:
        """Make the buttons for what cannot run here."""
        self.stronger = QPushButton(tr("Stronger sandbox\N{HORIZONTAL ELLIPSIS}"))
        self.stronger.setToolTip(tr("The Doctor: what is missing here, the command that brings it, and Build"))
        self.accept = QPushButton(ALLOW)
        self.accept.setToolTip(
            tr("Run this one request in a sandbox below your minimum. Nothing is approved by this yet.")
        )
        for button in (self.stronger, self.accept):
            button.setAutoDefault(False)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def show_buttons(self) -> None:
        self.setCurrentWidget(self.buttons)

    def show_reason(self) -> None:
        """Ask for the reason for a denial."""
        self.setCurrentWidget(self.denial)
        self.denial.open()

    def show_word(self) -> None:
        """Ask for the word that approves."""
        self.setCurrentWidget(self.word)
        self.word.open()

    def show_pin(self) -> None:
        """Ask for the PIN."""
        self.setCurrentWidget(self.pin)
        self.pin.open()

    def show_editing(self) -> None:
        self.setCurrentWidget(self.editing)

    def say(self, words: str) -> None:
        """Show a sentence above the buttons, which stay where they are: it grows upwards."""
        if words != self.sentence.text():
            self.sentence.setText(words)
            set_tip(self.sentence, words)
            self._show_sentence()
            self._fit_sentences()

    def set_low(self, low: bool) -> None:
        """Keep no line free for a sentence where there is little height."""
        self._low = low
        for row in self._rows:
            row.setSpacing(self._look.px(3 if low else 8))
        self._show_sentence()
        self._fit()

    def _show_sentence(self) -> None:
        self.sentence.setVisible(bool(self.sentence.text()) or not self._low)

    def flash(self) -> None:
        """Tint the sentence for a moment: a key could not do what it stands for, and this says why."""
        self._tint(True)
        self._flash.start()

    @Slot()
    def _calm(self) -> None:
        self._tint(False)

    def _tint(self, flashing: bool) -> None:
        self.sentence.setProperty("flash", flashing)
        self.sentence.style().unpolish(self.sentence)
        self.sentence.style().polish(self.sentence)

    def say_of_edit(self, words: str, ready: bool) -> None:
        """Show what the edited code has become; `ready` once it can be looked at as a whole."""
        self.verdict.setText(words)
        self.done.setEnabled(ready)
        self._fit_sentences()

    def _make_editing(self) -> QWidget:
        self.verdict = plain_label(role="muted", wrap=True)
        self.discard = QPushButton(tr("Discard changes"))
        self.discard.setProperty("kind", "quiet")
        self.discard.setToolTip(tr("Escape"))
        self.discard.setAutoDefault(False)
        self.discard.clicked.connect(self.edit_discarded)
        self.done = QPushButton(tr("Done editing"))
        self.done.setToolTip(tr("{key}. Nothing is approved by this.", key=key_text("Ctrl+Enter")))
        self.done.setAutoDefault(False)
        self.done.clicked.connect(self.edit_done)
        return self._page(self.verdict, self.discard, self.done)

    def _page(self, sentence: QWidget, *buttons: QWidget) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._look.px(6))
        column.addWidget(sentence)
        row = Flow(buttons, self._look.px(8))
        self._rows.append(row)
        column.addLayout(row)
        return page

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        broken = [row.fit(self.width()) for row in (*self._rows, self.denial.reasons)]
        self._fit_sentences()
        if any(broken):
            self._fit()

    def _fit_sentences(self) -> None:
        """Make the sentences as high as their words at this width: a stack does not ask labels that wrap."""
        for label in (self.sentence, self.verdict):
            line = label.fontMetrics().lineSpacing()
            # Not what the label asks for: it never asks for less than it was given before.
            room = QRect(0, 0, max(1, self.width()), 1 << 16)
            words = label.fontMetrics().boundingRect(room, int(Qt.TextFlag.TextWordWrap), label.text())
            height = min(MOST_LINES * line, max(line, words.height()))
            if label.height() != height or label.minimumHeight() != height:
                label.setFixedHeight(height)
                self._fit()

    @Slot()
    def _fit(self) -> None:
        """Make the foot as large as its current page needs, so that the code has the rest."""
        preferred, ignored, fixed = QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed
        for number in range(self.count()):
            page = self.widget(number)
            assert page is not None
            on_top = page is self.currentWidget()
            # A page that is not shown makes the window neither higher nor wider.
            page.setSizePolicy(preferred if on_top else ignored, fixed if on_top else ignored)
        self.setSizePolicy(preferred, fixed)
        self.resize(self.width(), self.sizeHint().height())
        if (parent := self.parentWidget()) is not None and (layout := parent.layout()) is not None:
            # At once: buttons that are placed only later look as if something had moved them.
            layout.activate()
            self.updateGeometry()
