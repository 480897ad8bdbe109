"""The PIN on the page of settings: whether there is one and where, and the dialog that sets, changes or removes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QDialog, QFormLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.link.page_tasks import PageTasks
from app.parts.notice import Notice, Tone
from app.parts.plain import plain_label
from app.review.proof import PinField
from runner.identity.pin import DIGITS, PinState, well_formed
from runner.model import engine_texts
from runner.model.errors import KnownError
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from app.link.bridge import EngineLink
    from app.look.look import Look

NONE = tr("No PIN is set: until you set one, nothing that is HIGH or CRITICAL can be approved.")
UNEQUAL = tr("The new PIN was not typed the same twice.")


class PinDialog(QDialog):
    """Asks for the present PIN where there is one, and for the new one twice unless it is to be removed."""

    def __init__(self, parent: QWidget, bridge: EngineLink, look: Look, *, known: bool, removing: bool = False) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._removing = removing
        self._tasks = PageTasks("pin", self)
        self.old, self.new, self.again = (
            PinField(tr("Present PIN")),
            PinField(tr("New PIN")),
            PinField(tr("New PIN again")),
        )
        self._asked = [*([self.old] if known else []), *([] if removing else [self.new, self.again])]
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Remove the PIN") if removing else tr("Change the PIN") if known else tr("Set a PIN"))
        self.notice = Notice(look, Tone.BAD, "")
        self.cancel = QPushButton(tr("Cancel"))
        self.save = QPushButton(tr("Remove") if removing else tr("Save"))
        self.save.setProperty("kind", "danger" if removing else "primary")
        self._lay_out(look)
        for field in self._asked:
            field.textChanged.connect(self._show_state)
            field.sent.connect(self.save.click)
            field.back.connect(self.reject)
        self.cancel.clicked.connect(self.reject)
        self.save.clicked.connect(self._send)
        self._show_state()
        self._asked[0].setFocus()

    @Slot()
    def _show_state(self) -> None:
        self.save.setEnabled(all(well_formed(field.text()) for field in self._asked))

    @Slot()
    def _send(self) -> None:
        if not self.save.isEnabled():
            return
        old, new, again = self.old.text(), self.new.text(), self.again.text()
        for field in self._asked:
            field.clear()
        if new != again:
            self._say(UNEQUAL)
            return
        self.setEnabled(False)
        answer: Awaitable[object] = (
            self._bridge.pin.remove(old) if self._removing else self._bridge.pin.change(old, new)
        )
        self._tasks.start("change", self._wait_for(answer))

    async def _wait_for(self, answer: Awaitable[object]) -> None:
        try:
            await answer
        except KnownError as error:
            self.setEnabled(True)
            self._say(str(error))
        else:
            self.accept()

    def _say(self, why: str) -> None:
        self.notice.say(Tone.BAD, why)
        self.notice.show()
        self._asked[0].setFocus()

    def _lay_out(self, look: Look) -> None:
        px = look.px
        fields = QFormLayout()
        fields.setSpacing(px(8))
        for field in self._asked:
            fields.addRow(plain_label(field.accessibleName()), field)
        buttons = QHBoxLayout()
        buttons.setSpacing(px(8))
        buttons.addStretch()
        for button in (self.cancel, self.save):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(20), px(18), px(20), px(16))
        column.setSpacing(px(10))
        column.addWidget(plain_label(self.windowTitle(), "title"))
        if not self._removing:
            column.addWidget(plain_label(engine_texts.in_words(DIGITS), "muted"))
        column.addLayout(fields)
        column.addWidget(self.notice)
        column.addLayout(buttons)
        self.notice.hide()
        self.setMinimumWidth(px(380))


class PinRow(QWidget):
    """Below the setting that asks for the PIN; hidden where none is asked for and none is set."""

    def __init__(self, bridge: EngineLink, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._look = look
        self._tasks = PageTasks("pin", self)
        self._asked = 0
        """How often the state was asked for: only the newest answer is shown."""
        self._state: PinState | None = None
        self._wanted = False
        self.words = plain_label(role="small", wrap=True)
        self.change = QPushButton(tr("Set\N{HORIZONTAL ELLIPSIS}"))
        self.remove = QPushButton(tr("Remove\N{HORIZONTAL ELLIPSIS}"))
        self.remove.setAccessibleName(tr("Remove the PIN"))
        self.change.clicked.connect(self._change)
        self.remove.clicked.connect(self._remove)
        buttons = QHBoxLayout()
        buttons.setSpacing(look.px(8))
        for button in (self.change, self.remove):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(look.px(4))
        column.addWidget(self.words)
        column.addLayout(buttons)
        self.hide()

    @Slot()
    def look_again(self) -> None:
        """Ask whether there is a PIN."""
        self._asked += 1
        self._tasks.start("state", self._know(self._asked, self._bridge.pin.state()))

    def want(self, wanted: bool) -> None:
        """Show the row also where no PIN is set: the setting that is chosen asks for one."""
        self._wanted = wanted
        self._show()

    async def _know(self, number: int, answer: Awaitable[PinState]) -> None:
        try:
            state = await answer
        except KnownError as error:
            state = PinState(known=False, words=str(error), usable=False)
        if number == self._asked:
            self._state = state
            self._show()

    def _show(self) -> None:
        state = self._state
        self.setVisible(state is not None and (self._wanted or state.known))
        if state is None:
            return
        self.words.setText(NONE if state.usable and not state.known else engine_texts.in_words(state.words))
        self.change.setText(tr("Change\N{HORIZONTAL ELLIPSIS}") if state.known else tr("Set\N{HORIZONTAL ELLIPSIS}"))
        self.change.setAccessibleName(tr("Change the PIN") if state.known else tr("Set a PIN"))
        self.change.setEnabled(state.usable)
        self.remove.setVisible(state.known)

    @Slot()
    def _change(self) -> None:
        self._open(removing=False)

    @Slot()
    def _remove(self) -> None:
        self._open(removing=True)

    def _open(self, *, removing: bool) -> None:
        assert self._state is not None
        dialog = PinDialog(self.window(), self._bridge, self._look, known=self._state.known, removing=removing)
        dialog.finished.connect(self.look_again)
        dialog.open()
