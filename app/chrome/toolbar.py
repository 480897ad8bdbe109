"""The bar at the top: the mode, Pause all, Stop all, and the state of sandbox and agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QWidget

from app import phrases
from app.chrome.modes import ModeButton
from app.chrome.presence_button import PresenceButton
from app.look.mark import MARKS
from app.parts.elide import ElidedLabel
from app.parts.key_names import key_text
from app.parts.plain import plain_label, set_tip
from runner.approval.modes import Mode
from runner.model.request import Isolation
from runner.model.translation import numeral, plural, tr, within

if TYPE_CHECKING:
    from PySide6.QtGui import QEnterEvent, QResizeEvent

    from app.chrome.presence import Presence
    from app.look.look import Look
    from app.state.cards import Cards
    from app.state.work_cards import WorkCards

SAID_MS = 12_000
PAUSE, RESUME = tr("Pause all"), tr("Resume all")
ANYWHERE = tr("Go anywhere  {key}", key=key_text("Ctrl+K"))
WIDE = 1100
"""Width from which on its end has room for a sentence beside all of its words."""
NARROW = 700
"""Width below which there is room for keys and pictures alone."""


class Toolbar(QWidget):
    """Reacts to the store; says when all is to be paused or stopped. Of one height, whatever it says."""

    hold_all = Signal()
    stop_all = Signal()
    go = Signal()
    """The palette is wanted."""
    spoke = Signal(bool)
    """It says something for a moment; False: no more."""
    looked_at = Signal()
    """The pointer is here: how the sandbox stands may be read next."""

    def __init__(
        self, cases: Cards, work: WorkCards, look: Look, presence: Presence, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._cases = cases
        self._work = work
        self._look = look
        self._mark, self._marked = plain_label(), ""
        self.mode = ModeButton(cases, look)
        self.presence = PresenceButton(cases, presence, look)
        self.anywhere = QPushButton(ANYWHERE)
        self.anywhere.setAccessibleName(tr("Go anywhere, {key}", key=key_text("Ctrl+K")))
        self.anywhere.setProperty("kind", "quiet")
        self.anywhere.setToolTip(tr("Find a page, a request, an agent or a command"))
        self.anywhere.setAutoDefault(False)
        self.anywhere.clicked.connect(self.go)
        self.hold = QPushButton()
        self.hold.setAutoDefault(False)
        self.hold.clicked.connect(self.hold_all)
        self.stop = self._make_stop()
        self.state = ElidedLabel()
        self.state.setProperty("role", "muted")
        self.state.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.state.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.state.setMinimumWidth(1)  # else the buttons would give way to it
        self._said = ""
        self._shares = False
        self._narrow, self._hold_shown = False, ("", False)
        self._silence = QTimer(self)
        self._silence.setSingleShot(True)
        self._silence.setInterval(SAID_MS)
        self._silence.timeout.connect(self._hush)
        px = look.px
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(px(4), 0, px(4), 0)
        row.setSpacing(px(10))
        row.addWidget(self._mark)
        row.addWidget(self.mode)
        row.addWidget(self.presence)
        row.addSpacing(px(6))
        row.addWidget(self.hold)
        row.addWidget(self.stop)
        row.addWidget(self.anywhere)
        row.addWidget(self.state, 1)
        look.changed.connect(self._paint_mark)
        cases.happened.connect(self.refresh)
        work.moved.connect(self.refresh)
        cases.agents_known.connect(self.refresh)
        cases.sandbox_known.connect(self.refresh)
        self.refresh()

    def _make_stop(self) -> QPushButton:
        stop = QPushButton(tr("Stop all"))
        stop.setToolTip(
            tr("Stop every run and program at work, and deny every question ({key})", key=key_text("Ctrl+Shift+S"))
        )
        stop.setAccessibleName(
            tr("Stop all: stop every run and deny every question, {key}", key=key_text("Ctrl+Shift+S"))
        )
        stop.setAutoDefault(False)
        stop.clicked.connect(self.stop_all)
        self._look.dress(stop, "octagon-x", "high", 14)
        return stop

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < self._look.px(NARROW)
        self._narrow = narrow
        self.mode.set_narrow(narrow)
        self._show_anywhere()
        self.presence.set_narrow(narrow)
        self._show_hold()
        self._row.setSpacing(self._look.px(4 if narrow else 10))

    def share(self, shares: bool) -> None:
        """Leave more of its end to what lies over that, in a window that is not wide."""
        if shares != self._shares:
            self._shares = shares
            self._show_anywhere()

    def _show_anywhere(self) -> None:
        short = self._narrow or (self._shares and self.width() < self._look.px(WIDE))
        self.anywhere.setText(key_text("Ctrl+K") if short else ANYWHERE)
        # Whom one trusts, and for how long, needs its room; the key does the same.
        self.anywhere.setVisible(not self._narrow or self._cases.mode.mode != Mode.TRUST)
        self._row.activate()

    @property
    def free(self) -> QRect:
        """The room beyond its buttons, in its own pixels: there it only says how things stand."""
        last = (self.stop if self.anywhere.isHidden() else self.anywhere).geometry()
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            return QRect(0, 0, max(0, last.left() - self._row.spacing()), self.height())
        begin = last.right() + 1 + self._row.spacing()
        return QRect(begin, 0, max(0, self.width() - begin), self.height())

    @Slot()
    def refresh(self) -> None:
        """Say how things stand."""
        if self._cases.mode.mode != self._marked:
            self._marked = self._cases.mode.mode
            self._paint_mark()
            self._show_anywhere()
        busy = bool(self._cases.count_waiting() or self._cases.count_running() or self._work.at_work())
        if self.stop.isEnabled() != busy:
            self.stop.setEnabled(busy)
        self._show_hold()
        if self._said:
            return
        parts = (self._work_words(), self._held_words(), self._sandbox_words(), self._agent_words())
        words = "  \N{MIDDLE DOT}  ".join(filter(None, parts))
        if words != self.state.text():
            self.state.setText(words)
        self._tell_details()

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.looked_at.emit()

    def _tell_details(self) -> None:
        details = self._details()
        if details != self.state.accessibleDescription():
            set_tip(self.state, details)

    def _show_hold(self) -> None:
        held = self._cases.all_held
        words = RESUME if held else PAUSE
        if (words, self._narrow) != self._hold_shown:
            self._hold_shown = (words, self._narrow)
            self.hold.setText("" if self._narrow else words)
            does = (
                tr("Resume every run that is paused")
                if held
                else tr("Pause every run that can be; its time limit waits")
            )
            self.hold.setToolTip(f"{does} ({key_text('Ctrl+Shift+H')})")
            self.hold.setAccessibleName(f"{words.strip()}: {within(does)}, {key_text('Ctrl+Shift+H')}")
            self._look.dress(self.hold, "play" if held else "pause", "accent_ink" if held else "text", 14)
        possible = any(card.can_hold or card.held is not None for card in self._cases.running())
        if self.hold.isEnabled() != possible:
            self.hold.setEnabled(possible)

    def _work_words(self) -> str:
        number = len(self._work.at_work())
        return tr("{number} at work", number=numeral(number)) if number else ""

    def _held_words(self) -> str:
        held = self._cases.count_held()
        return plural("{count} run paused", "{count} runs paused", held) if held else ""

    def say(self, text: str) -> None:
        """Show a sentence in place of the state for a while; nothing moves."""
        self._said = text
        self.state.setText(text)
        self._silence.start()
        self.spoke.emit(True)

    @Slot()
    def _hush(self) -> None:
        self._said = ""
        self.refresh()
        self.spoke.emit(False)

    def _sandbox_words(self) -> str:
        if "sandbox" in self._cases.troubles:
            return tr("No sandbox")
        found = str(self._cases.sandbox.get("isolation", ""))
        if found not in list(Isolation):
            return tr("Starting\N{HORIZONTAL ELLIPSIS}")
        return tr("{isolation_first} ready", isolation_first=phrases.isolation_first(Isolation(found)))

    def _agent_words(self) -> str:
        if self._cases.agents is None:
            return ""
        return plural("{count} agent", "{count} agents", sum(not agent.revoked for agent in self._cases.agents))

    def _details(self) -> str:
        lines = [tr("Agents connect to {address}", address=self._cases.address)] if self._cases.address else []
        sandbox = self._cases.sandbox
        lines += [str(sandbox["chosen"])] if sandbox.get("chosen") else []
        lines += _warmth(sandbox.get("warm"))
        protections = sandbox.get("protections")
        if isinstance(protections, (list, tuple)):
            lines += [str(one) for one in protections]
        return "\n".join(lines)

    def _paint_mark(self) -> None:
        name, ink = MARKS[Mode(self._cases.mode.mode)]
        self._mark.setPixmap(self._look.pixmap(name, ink, 20))


def _warmth(facts: object) -> list[str]:
    """Return the warm pool in words: how many wait, for how long, and how many runs found one."""
    if not isinstance(facts, dict) or not facts["wanted"]:
        return []
    runs = facts["hits"] + facts["misses"]
    used = tr("; {facts} of {runs} runs began in one", facts=facts["hits"], runs=runs) if runs else ""
    waiting = tr(", the oldest for {facts} s", facts=numeral(facts["oldest"], ".0f")) if facts["ready"] else ""
    return [
        tr(
            "{facts} of {facts_2} containers wait started{waiting}{used}",
            facts=facts["ready"],
            facts_2=facts["wanted"],
            waiting=waiting,
            used=used,
        )
    ]
