"""A refused host with the two buttons that let it through: now, or always. Runs and programs at work have such rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame

from app.host_access.buttons import AllowButton
from app.parts.elide import ElidedLabel
from app.parts.plain import plain_label
from app.review.guard import ClickGuard
from app.review.moved_target import Steady
from runner.approval.deliberate import ApproveBy
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look
    from runner.model.network import Contact

SHORT = (tr("Allow"), tr("Always\N{HORIZONTAL ELLIPSIS}"))
"""What the buttons say where there is little room, so that the host they are about can be read."""


class HostAnswers(QFrame):
    """Another host than before cannot be allowed for a moment. Subclasses lay out the parts."""

    def __init__(self, look: Look, texts: tuple[str, str], narrow: int) -> None:
        """`texts` are those of the buttons in a row that is at least `narrow` pixels wide at a scale of 1."""
        super().__init__()
        self._look = look
        self._texts = texts
        self._narrow = narrow
        self._contact: Contact | None = None
        self.guard = ClickGuard(self._can_be_answered)
        self._picture = plain_label()
        self.place = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self.place.setProperty("role", "strong")
        self.became = ElidedLabel()
        self.allow, self.always = (AllowButton(text, self.guard) for text in texts)
        self.allow.decided.connect(lambda: self._decide(always=False))
        self.always.decided.connect(lambda: self._decide(always=True))
        self._steady = Steady((self.allow, self.always), self)
        self._steady.moved.connect(self.guard.rearm)

    @property
    def key(self) -> tuple[str, int] | None:
        return None if self._contact is None else (self._contact.host, self._contact.port)

    def set_by(self, by: ApproveBy) -> None:
        self.allow.mouse_only = self.always.mouse_only = by is ApproveBy.MOUSE

    def _take(self, contact: Contact, *, same: bool = True) -> None:
        """Stand for a host; `same`: as far as is known of whoever tried it, it is the one from before."""
        if not same or self.key != (contact.host, contact.port):
            self.guard.rearm()
        self._contact = contact

    def _say(self, place: str, state: str) -> None:
        """Show the host and what became of it, also to whoever hears it."""
        self.place.setText(place)
        self.became.setText(state)
        for button, what in zip((self.allow, self.always), self._texts, strict=True):
            button.setAccessibleName(f"{what.rstrip(chr(0x2026))}: {place}")
        self.setAccessibleName(f"{place} {state}")
        self._steady.watch()

    def _decide(self, *, always: bool) -> None:
        """Let the host through."""
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        texts = SHORT if self.width() < self._look.px(self._narrow) else self._texts
        for button, text, whole in zip((self.allow, self.always), texts, self._texts, strict=True):
            if button.text() != text:
                button.setText(text)
                button.setToolTip(whole)

    def _can_be_answered(self) -> bool:
        self._steady.look()
        return self.isVisible() and self.isActiveWindow()
