"""The choice of findings that are listed: all of them, or those of one capability."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy, QWidget

from runner.model.assessment import Capability
from runner.model.translation import capital, plural, tr, translated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QWheelEvent

    from runner.model.assessment import Finding


class Narrowing(QComboBox):
    """A choice of capabilities, hidden while there is nothing to choose from. The code marks all findings anyway."""

    changed = Signal()
    _subject = ""
    """What the choice is about, a request's id."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Show findings of"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.currentIndexChanged.connect(self.changed)
        self.offer((), "")

    def offer(self, findings: Sequence[Finding], subject: str) -> None:
        """Take up what is in `findings`; the choice stays while the subject, a request's id, does."""
        chosen = self.currentData() if subject == self._subject else None
        self._subject = subject
        counts = Counter(finding.capability for finding in findings)
        with QSignalBlocker(self):
            self.clear()
            self.addItem(plural("All: {count} finding", "All: {count} findings", len(findings)), None)
            for capability, count in counts.most_common():
                self.addItem(f"{capital(translated(capability.value))}: {count}", capability.value)
            self.setCurrentIndex(max(0, self.findData(chosen)))
        self.setVisible(len(counts) > 1)

    def picked(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        """Return the findings of the chosen capability."""
        chosen = self.currentData()
        if chosen is None:
            return tuple(findings)
        # Qt keeps the plain values of enums.
        return tuple(finding for finding in findings if finding.capability is Capability(chosen))

    def wheelEvent(self, event: QWheelEvent) -> None:
        # The column below scrolls; a choice that the wheel changes on the way would hide findings unasked.
        event.ignore()
