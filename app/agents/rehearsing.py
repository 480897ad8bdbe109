"""The choice whether the code of an agent is tried by itself before a person decides, and what that means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QSizePolicy

from app.parts.plain import plain_label
from runner.model.rehearsal import RehearsalMode
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QWheelEvent

CHOICES = {
    RehearsalMode.OFF: tr("Off: nothing runs before you decide"),
    RehearsalMode.GVISOR: tr("In gVisor only"),
    RehearsalMode.ANY: tr("In gVisor, Docker or the local sandbox"),
}
MEANING = tr(
    "Its code starts before you have read it: in an empty sandbox without network and with none of your files. First "
    "with decoys for what is not there, for 3 s: the band says what it asked for. Then as it is, for 30 s at most, "
    "one at a time: you see what it did, and hand over exactly that or deny; until then the agent gets nothing. gVisor "
    "has a kernel of its own. In Docker and the local sandbox the code meets the kernel of this machine, and a flaw in "
    "that could be used by code that nobody has read. Never by itself: CRITICAL code. With the key T you have any "
    "request's code tried."
)


class RehearsalChoice(QComboBox):
    """One of `RehearsalMode`; `meaning` is the text that belongs below it. The wheel changes nothing."""

    def __init__(self) -> None:
        super().__init__()
        for mode, words in CHOICES.items():
            self.addItem(words, mode.value)
        self.setAccessibleName(tr("Try its code before you decide"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.meaning = plain_label(MEANING, "muted", wrap=True)

    @property
    def chosen(self) -> str:
        """The value of the mode."""
        return str(self.currentData())

    def choose(self, mode: str) -> None:
        """Show `mode`, a value of `RehearsalMode`."""
        self.setCurrentIndex(max(0, self.findData(mode)))

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()
