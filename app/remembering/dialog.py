"""Asks what is to be remembered, and shows what that would have covered before it can be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QStringListModel, Qt, QTimer, Slot
from PySide6.QtWidgets import QAbstractItemView, QDialog, QHBoxLayout, QListView, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from app import phrases
from app.link.page_tasks import PageTasks
from app.parts.badge import ClassBadge
from app.parts.confirm import ConfirmButton
from app.parts.fold import FoldingLine, Room, fit
from app.parts.notice import Notice, Tone
from app.parts.order import tab_in_reading_order
from app.parts.plain import plain_label
from app.parts.text.alike import show_alike
from app.parts.text.code import CodeView
from app.remembering import words
from app.remembering.choosing import Choosing
from app.review.guard import REST_SECONDS
from app.review.proof import proof_for
from runner.approval.deliberate import ApproveBy
from runner.identity.pin import PinRefused
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable, Coroutine
    from typing import Any

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from runner.approval.hindsight import Preview
    from runner.model.assessment import Level
    from runner.policy.grants import Choice, Grant, Subject

LINE = 20
"""Pixels of a line of code."""
MOST_LINES = 7
"""Lines of code at a time: the values below it are what is chosen by."""
TYPING_MS = 150
"""Rest after a change before the history is looked through."""


@dataclass(frozen=True, slots=True)
class About:
    """The request that is to be remembered."""

    id: str
    digest: str
    agent: str
    title: str
    level: Level
    waiting: bool = False
    """It still waits for its answer."""
    offered: tuple[Subject, ...] = ()
    """What may be remembered of it; without it what its level may have."""
    choice: Choice | None = None
    """What is chosen at first; None for the narrowest and shortest."""


class RememberDialog(QDialog):
    """Opened with `open`. It remembers and decides nothing: the request at hand still waits for its answer."""

    def __init__(
        self,
        parent: QWidget,
        about: About,
        bridge: EngineLink,
        look: Look,
        wait: Callable[[str, Coroutine[Any, Any, None]], None],
        remembered: Callable[[Grant], None],
    ) -> None:
        """`wait` starts a task that outlives the dialog; `remembered` hears what was made, also after it was closed."""
        super().__init__(parent)
        self._wait = wait
        self._remembered = remembered
        self._tasks = PageTasks("remember", self)
        self._about = about
        self._bridge = bridge
        self._look = look
        self._shown: Choice | None = None
        self._sent = False
        self.setWindowTitle(tr("Remember"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.choosing = Choosing(look, about.agent, about.level, about.offered, about.choice)
        self.covers = plain_label(wrap=True)
        self.matched = plain_label(wrap=True)
        self.code = CodeView(look)
        self.lines = QStringListModel(self)
        self.notice = Notice(look, Tone.BAD, "")
        self.cancel = QPushButton(tr("Cancel"))
        self.save = ConfirmButton(tr("Remember"))
        by = bridge.decisions.approve_by()
        self.save.mouse_only = by is ApproveBy.MOUSE
        self.proof = proof_for(by, look)
        self._asking = _timer(self, TYPING_MS, self._ask)
        # What has just appeared takes no click that was meant for something else.
        self._resting = _timer(self, round(REST_SECONDS * 1000), self._rested)
        self._lay_out()
        fit(self, look.px(640), look.px(520 if self.proof is None else 570))
        self._connect()
        tab_in_reading_order(self)
        self._changed()
        if self.proof is not None:
            self.proof.open()
        self.cancel.setFocus()

    @Slot()
    def _changed(self) -> None:
        """Clear the preview, which was of another choice."""
        self._shown = None
        self._resting.stop()
        self.save.setEnabled(False)
        self._asking.start()

    @Slot()
    def _ask(self) -> None:
        choice = self.choosing.choice
        self._tasks.start("preview", self._preview(choice, self._bridge.memory.preview(self._about.id, choice)))

    async def _preview(self, choice: Choice, answer: Future[Preview]) -> None:
        try:
            found = await answer
        except KnownError as error:
            if self._still_asks(choice):
                self._say(str(error))
            return
        if self._still_asks(choice):
            self._show_preview(choice, found)

    def _show_code(self, found: Preview) -> None:
        """Show the code once, where what is covered differs from it in values alone."""
        self.code.setVisible(found.differs is not None)
        if found.differs is not None:
            show_alike(self.code, found.code, found.language.value if found.language else "", found.differs)
            self.code.setFixedHeight(self._look.px(LINE) * (min(self.code.line_count, MOST_LINES) + 1))

    def _still_asks(self, choice: Choice) -> bool:
        """Return whether nothing else has been chosen since `choice` was asked about."""
        return choice == self.choosing.choice and not self._sent

    def _show_preview(self, choice: Choice, found: Preview) -> None:
        self.notice.hide()
        self.covers.setText(f"{words.covered(found.grant)} {words.ends(found.grant)}")
        denied = sum(one.verdict is Verdict.DENIED for one in found.covered)
        self.matched.setText(_summary(found, denied))
        self.matched.setProperty("role", "bad" if denied else "")
        self.matched.style().unpolish(self.matched)
        self.matched.style().polish(self.matched)
        self._show_code(found)
        self.lines.setStringList([*words.at_hand(found), *map(words.past, found.covered)])
        self._shown = choice
        self._resting.start()

    @Slot()
    def _rested(self) -> None:
        """Enable the button, unless the preview, its rest, or the word or PIN is still missing."""
        proven = self.proof is None or self.proof.ready
        self.save.setEnabled(self._shown is not None and not self._sent and not self._resting.isActive() and proven)

    @Slot()
    def _save(self) -> None:
        choice = self._shown
        if choice is None or self._sent or choice != self.choosing.choice:
            return
        if self.proof is not None and not self.proof.ready:
            return
        pin = "" if self.proof is None else self.proof.take()
        self._sent = True
        self.save.setEnabled(False)
        answer = self._bridge.memory.remember(self._about.id, self._about.digest, choice, pin)
        self._wait("remember", self._finish(answer))

    async def _finish(self, answer: Future[Grant]) -> None:
        """Close with what was made, or say why nothing was. The person may have closed the dialog meanwhile."""
        try:
            made = await answer
        except PinRefused as error:
            if isValid(self):
                # The choice stands; only the PIN is to be typed again.
                self._sent = False
                self.notice.say(Tone.BAD, str(error))
                self.notice.show()
            return
        except KnownError as error:
            if isValid(self):
                self._sent = False
                self._say(str(error))
            return
        self._remembered(made)
        if isValid(self):
            self.accept()

    def _say(self, why: str) -> None:
        """Show why there is no preview, or why nothing was remembered; another choice starts again."""
        self._shown = None
        self._resting.stop()
        self.save.setEnabled(False)
        self.covers.setText("")
        self.matched.setText("")
        self.code.hide()
        self.lines.setStringList([])
        self.notice.say(Tone.BAD, why)
        self.notice.show()

    def done(self, result: int) -> None:
        """Give the focus back to the window below, also where no window manager does."""
        active, below = self.isActiveWindow(), self.parentWidget()
        super().done(result)
        if active and below is not None:
            below.activateWindow()

    # ---- building ----

    def _lay_out(self) -> None:
        px = self._look.px
        badge = ClassBadge(self._look, self._about.level)
        head = QHBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(plain_label(tr("Remember"), "title"))
        head.addWidget(badge)
        head.addStretch()
        title = plain_label(f"{phrases.visible(self._about.agent)}: {phrases.visible(self._about.title)}", wrap=True)
        still = plain_label(
            tr("This request itself still waits for your answer.") if self._about.waiting else "", "small"
        )
        for label in (self.covers, self.matched):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.view = QListView()
        self.view.setModel(self.lines)
        self.view.setUniformItemSizes(True)
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.view.setAccessibleName(tr("Requests it would have covered"))
        self.view.setMinimumHeight(px(90))
        self.code.setAccessibleName(tr("Code, with what differs numbered"))
        self.code.hide()
        buttons = QWidget()
        row = QHBoxLayout(buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(px(8))
        row.addWidget(self.cancel)
        row.addWidget(self.save)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(px(10))
        column.addLayout(head)
        column.addWidget(title)
        column.addWidget(self.choosing)
        column.addWidget(plain_label(tr("What is covered"), "heading"))
        column.addWidget(self.covers)
        column.addWidget(self.matched)
        column.addWidget(self.code)
        column.addWidget(self.view, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(px(20), px(16), px(20), px(14))
        whole.setSpacing(px(10))
        whole.addWidget(Room(inside), 1)
        whole.addWidget(self.notice)
        if self.proof is not None:
            whole.addWidget(self.proof)
        whole.addWidget(FoldingLine(still, buttons, px(8)))
        self.notice.hide()

    def _connect(self) -> None:
        self.save.setProperty("kind", "primary")
        self.cancel.setDefault(True)
        self.cancel.clicked.connect(self.reject)
        self.save.confirmed.connect(self._save)
        if self.proof is not None:
            self.proof.changed.connect(self._rested)
            self.proof.sent.connect(self.save.click)
            self.proof.back.connect(self.reject)
        self.choosing.changed.connect(self._changed)


def _summary(found: Preview, denied: int) -> str:
    if not found.looked_at:
        return tr("There is no history yet to compare with.")
    past = plural(
        "Of the one request so far it would have covered {covered}",
        "Of the last {count} requests it would have covered {covered}",
        found.looked_at,
        covered=len(found.covered),
    )
    if not denied:
        return f"{past}."
    return plural("{past}; {count} of them was denied.", "{past}; {count} of them were denied.", denied, past=past)


def _timer(parent: QWidget, milliseconds: int, action: object) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(milliseconds)
    timer.timeout.connect(action)
    return timer
