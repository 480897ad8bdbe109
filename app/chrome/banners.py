"""Banners at the top of the window about what keeps Assent from working, or from working well, until it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app import phrases
from app.chrome.resting_notice import RestingNotice
from app.parts.column import READABLE
from app.parts.notice import Notice, Tone
from runner.model import engine_texts
from runner.model.events import CallsRefused, EngineTroubled, SandboxChosen, TroubleCleared
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.model.events import Event

SILENT = "silent"
GRAVE = frozenset({SILENT, "start", "ledger", "gateway", "sandbox", "isolation"})
"""While one of these is in trouble nothing can be run, or only some of it, or nothing unasked."""
NARROW = 500
"""Pixels of a line below which it says less of what else there is."""
SHOWN = 1
"""Notices at a time: two took a sixth of a window 600 high from what is to be decided, and one of four lines too."""
ACTIONS = {
    "ledger": tr("Try again"),
    "requests": tr("History"),
    "gateway": "",
    "port": tr("Settings"),
    "sandbox": tr("Doctor"),
    "isolation": tr("Accept"),
    "settings": tr("Settings"),
    "grants": tr("Rules"),
    "secrets": tr("Doctor"),
}
RENEW = tr("Begin a new history")
"""The button of a ledger that is damaged: nothing else brings the history back to work."""

MANY_MISTAKES = 5
"""Refused calls of an agent since the start from which they are shown: models mistake a name now and then."""


def silence(seconds: float) -> str:
    """Return what is said while the engine does not answer."""
    return tr(
        "The engine of Assent has not answered for {seconds} s: agents wait and nothing can "
        "be decided or stopped. If it does not come back, end the processes of all runs "
        "here, then quit and start Assent again.",
        seconds=numeral(seconds, ".0f"),
    )


class Banners(QWidget):
    """One notice per room in trouble, the newest refusal, and what the window itself has to say."""

    said = Signal()
    """Something new, or something else."""
    wanted = Signal(str)
    """The room whose button was pressed."""

    def __init__(self, cases: Cards, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._look = look
        self._notices: dict[str, RestingNotice] = {}
        self._damaged: frozenset[str] = frozenset()
        self._all = False
        self._room = look.px(READABLE)
        self._low = False
        self._more = QPushButton(self)
        self._more.setProperty("kind", "quiet")
        self._more.setAutoDefault(False)
        self._more.clicked.connect(self._toggle)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(look.px(6))
        self._fold()
        cases.happened.connect(self._take)

    def say(self, name: str, tone: Tone, text: str, action: str = "", closable: bool = True) -> Notice:
        """Show `text` under `name`, in place of what `name` said before."""
        notice = self._notices.get(name)
        if notice is None:
            notice = self._notices[name] = RestingNotice(self._look, tone, text, action, closable)
            notice.flatten()
            notice.acted.connect(lambda: self.wanted.emit(name))
            notice.closed.connect(lambda: self.unsay(name))
            # The grave ones stay on top, then the newest: what stands there for long has been read.
            grave = sum(one in GRAVE for one in self._notices if one != name)
            self._column.insertWidget(0 if name in GRAVE else grave, notice)
        else:
            if action != notice.action.text():
                notice.rearm()
            notice.say(tone, text, action)
        self._fold()
        self.said.emit()
        return notice

    def unsay(self, name: str) -> None:
        """Remove the notice `name`: its cause is over, or it was read."""
        self._more.setParent(self)
        if (notice := self._notices.pop(name, None)) is not None:
            self._column.removeWidget(notice)
            notice.hide()
            notice.deleteLater()
        self._fold()

    def rearm(self) -> None:
        """Ignore presses of the buttons for a moment: all of them have moved."""
        for notice in self._notices.values():
            notice.rearm()

    @property
    def grave(self) -> bool:
        """Whether one of them says that nothing can be run, or only some of it."""
        return any(name in GRAVE for name in self._notices)

    def fit(self, width: int, low: bool) -> None:
        """Take over how many pixels there are for a line, and whether there is little height."""
        if (width, low) != (self._room, self._low):
            self._room, self._low = width, low
            self._fold()

    def _fold(self) -> None:
        """Show one notice at a time on one line, so that work can continue below it; all is one press away.

        What is grave is shown whole, unless it would take the room of what is to be decided.
        """
        rows = (self._column.itemAt(number) for number in range(self._column.count()))
        notices = [notice for row in rows if row is not None and isinstance(notice := row.widget(), Notice)]
        grave = [notice for name, notice in self._notices.items() if name in GRAVE and not self._low]
        for number, notice in enumerate(notices):
            notice.give_room(self._room - self._more.sizeHint().width())
            notice.setVisible(self._all or number < SHOWN)
            notice.fold(not self._all and notice not in grave)
        hidden = max(0, len(notices) - SHOWN)
        cut = any(notice.is_long for notice in notices[:SHOWN] if notice not in grave)
        self._more.setText(tr("Show less") if self._all else self._hidden_words(hidden))
        if notices:
            notices[0].hold(self._more)
        self._more.setVisible(hidden > 0 or cut)
        self.setVisible(bool(notices))

    def _hidden_words(self, hidden: int) -> str:
        narrow = self._room < self._look.px(NARROW)
        return tr("More") if not hidden else f"+{hidden}" if narrow else tr("and {hidden} more", hidden=hidden)

    @Slot()
    def _toggle(self) -> None:
        self._all = not self._all
        self._fold()

    def text(self, name: str) -> str:
        """Return what `name` says now; empty where it says nothing."""
        return self._notices[name].text if name in self._notices else ""

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        for event in events:
            match event:
                case EngineTroubled():
                    self._tell_trouble(event)
                case TroubleCleared(room):
                    self.unsay(room)
                case SandboxChosen(_, words):
                    self.say("sandbox chosen", Tone.INFO, words)
                case CallsRefused():
                    self._tell_refused(event)
                case _:
                    pass

    @Slot(float)
    def tell_silence(self, seconds: float) -> None:
        """Say that the engine does not answer, until it does."""
        if not seconds:
            self.unsay(SILENT)
            return
        self.say(SILENT, Tone.BAD, silence(seconds), tr("Stop all processes"), closable=False)

    def damaged(self, room: str) -> bool:
        """Whether a new file is the only remedy for what is said of `room`."""
        return room in self._damaged

    def _tell_trouble(self, event: EngineTroubled) -> None:
        room = event.area
        self._damaged = self._damaged | {room} if event.damaged else self._damaged - {room}
        tone = Tone.BAD if room in GRAVE else Tone.WARN
        action = RENEW if room == "ledger" and event.damaged else ACTIONS.get(room, "")
        words = engine_texts.in_words(f"{event.what} {event.remedy}".strip())
        self.say(room, tone, words, action, room not in GRAVE)

    def _tell_refused(self, event: CallsRefused) -> None:
        """Show a flood of refusals as one line that counts, not as a thousand cards (spec I5)."""
        agent = phrases.visible(event.agent) or tr("somebody without a valid token")
        count = self._cases.refused_by_agent[event.agent]
        if event.agent and count < MANY_MISTAKES:
            return
        calls = plural("{count} call", "{count} calls", count)
        since = phrases.when(self._cases.first_refused[event.agent])
        what = tr(
            "{calls} by {agent} refused since {since}, the last one because: {reason}",
            calls=calls,
            agent=agent,
            since=since,
            reason=phrases.visible(event.reason),
        )
        self.say(f"refused {event.agent}", Tone.WARN, what)
