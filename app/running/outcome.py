"""The outcome of one approved request: its output as it comes, in the place where it was decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from app import phrases
from app.parts.elide import ElidedLabel
from app.parts.plain import plain_label
from app.parts.text.output import OutputView
from app.running.model import state_words
from app.undo import words as undo
from app.undo.dialog import FilesDialog
from runner.model.decision import Verdict
from runner.model.events import RequestClosed, RequestDecided, RunFinished, RunHeld, RunStarted, SandboxesChanged
from runner.model.kept_sandbox import changes_of
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from app.state.recent_answers import Answered, JustNowModel
    from runner.model.events import Event
    from runner.sandbox.output import Transcript

TICK_MS = 250
FOLLOWED = (RequestDecided, RunStarted, RunHeld, RunFinished, RequestClosed)


class OutcomeView(QFrame):
    """Shows one of the requests that were answered just now. It answers nothing and takes no key that decides."""

    all_wanted = Signal(str)
    """The page of runs is wanted, with this request."""
    closed = Signal()
    shown_changed = Signal(str)
    """The request that it shows from now on; '' for none."""

    def __init__(
        self, cases: Cards, answers: JustNowModel, bridge: EngineLink, look: Look, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._cases = cases
        self._answers = answers
        self._bridge = bridge
        self._look = look
        self._one: Answered | None = None
        self._source: Transcript | None = None
        self._filled = False
        self.setProperty("card", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("What became of the request"))
        px = look.px
        self.title = ElidedLabel()
        self.title.setProperty("role", "title")
        self.state = ElidedLabel()
        self.state.setProperty("role", "muted")
        self.nothing = plain_label(role="muted", wrap=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.output = OutputView(look)
        self.more = self._button("external-link", tr("Show in Running: its files, its code, what it used, and Stop"))
        self.close_it = self._button("x", tr("Close: show nothing here"))
        self.undo = self._button("layers", tr("Files and Undo: what it changed in its sandbox, and how to undo it"))
        self.more.clicked.connect(self._ask_all)
        self.undo.clicked.connect(self._show_files)
        self.close_it.clicked.connect(self.closed)
        words = QVBoxLayout()
        words.setSpacing(px(2))
        words.addWidget(self.title)
        words.addWidget(self.state)
        head = QHBoxLayout()
        head.setSpacing(px(6))
        head.addLayout(words, 1)
        head.addWidget(self.undo, alignment=Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.more, alignment=Qt.AlignmentFlag.AlignTop)
        head.addWidget(self.close_it, alignment=Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(14), px(10), px(12), px(12))
        column.setSpacing(px(8))
        column.addLayout(head)
        column.addWidget(self.nothing)
        column.addWidget(self.output, 1)
        column.addStretch()
        self._ticker = QTimer(self)
        self._ticker.setInterval(TICK_MS)
        self._ticker.timeout.connect(self._follow)
        cases.happened.connect(self._take)

    @property
    def shown(self) -> str:
        """The request whose output this is; empty for none."""
        return "" if self._one is None else self._one.request.id

    def show_request(self, request_id: str) -> bool:
        """Show what became of a request; return False where it is not known any more."""
        one = self._answers.find(request_id)
        if one is None:
            return False
        if one is not self._one:
            self._one, self._source, self._filled = one, None, False
            self.title.setText(one.headline)
            self.output.clear()
        self._follow()
        self.shown_changed.emit(request_id)
        return True

    def clear(self) -> None:
        self._one = self._source = None
        self.output.clear()
        self.shown_changed.emit("")

    @Slot(object)
    def _take(self, events: tuple[Event, ...]) -> None:
        if self._one is not None and any(
            isinstance(event, SandboxesChanged)
            or (isinstance(event, FOLLOWED) and event.request_id == self._one.request.id)
            for event in events
        ):
            # After the list of what was answered has taken them in, whoever heard of them first.
            QTimer.singleShot(0, self, self._follow)

    @Slot()
    def _follow(self) -> None:
        """Connect the output as soon as there is some, and say how the run stands."""
        one = self._one
        if one is None:
            return
        if self._source is None and (found := self._bridge.runs.transcript(one.request.id)) is not None:
            self._source = found
            self.output.set_source(found)
        if one.result is not None and self._source is None and not self._filled:
            self._filled = True
            self.output.set_text(one.result.stdout, one.result.stderr, one.result.order)
        self.state.setText(self._state(one))
        silent = self._silent(one)
        self.nothing.setText(silent)
        self.nothing.setVisible(bool(silent))
        self.setAccessibleDescription(f"{one.headline}. {self.state.text()} {silent}".strip())
        self.output.setVisible(not silent)
        self.more.setVisible(one.started > 0)
        self.undo.setVisible(changes_of(self._cases.kept, one.request.id) is not None)
        wanted = self.isVisible() and one.running
        if wanted != self._ticker.isActive():
            (self._ticker.start if wanted else self._ticker.stop)()

    def _state(self, one: Answered) -> str:
        """Return who asked for it, and how it stands: `claude-code: running 0:11 of 1:30 in the local sandbox`."""
        request = one.request
        card = self._cases.card(request.id)
        if one.decision.verdict is Verdict.DENIED:
            words = f"{phrases.decided(one.decision)} {phrases.nothing_ran(one.rehearsed)}"
        elif one.result is not None:
            files = (
                plural(" It left {count} file.", " It left {count} files.", len(one.result.files))
                if one.result.files
                else ""
            )
            handed = tr("Handed over as tried. ") if one.result.meta.rehearsed else ""
            run = changes_of(self._cases.kept, request.id)
            changed = f" {undo.sentence(run.changes)}" if run is not None else ""
            words = f"{handed}{phrases.ended(one.result)}{files}{changed}"
        elif one.running and card is not None:
            words = state_words(card)
        else:
            words = tr("Done.") if one.closed else tr("Starting\N{HORIZONTAL ELLIPSIS}")
        return f"{phrases.claim_of(request)}: {words}"

    def _silent(self, one: Answered) -> str:
        """Return what stands in place of the output where there is none to come."""
        if one.decision.verdict is Verdict.DENIED:
            reason = phrases.visible(one.decision.reason)
            return (
                tr("The agent got this reason: {reason}", reason=reason)
                if reason
                else tr("The agent was informed of the denial.")
            )
        if one.result is not None and not (one.result.stdout or one.result.stderr):
            return tr("It printed nothing.")
        if one.result is None and one.closed:
            return tr("No code ran for this: its answer went to the agent. The History has it.")
        return ""

    @Slot()
    def _show_files(self) -> None:
        if self._one is not None and (run := changes_of(self._cases.kept, self._one.request.id)) is not None:
            dialog = FilesDialog(self, self._cases, self._bridge, self._look, run.sandbox)
            dialog.choose(run.request_id)
            dialog.open()

    @Slot()
    def _ask_all(self) -> None:
        if self._one is not None:
            self.all_wanted.emit(self._one.request.id)

    def _button(self, icon: str, what: str) -> QToolButton:
        button = QToolButton()
        button.setToolTip(what)
        button.setAccessibleName(what)
        self._look.dress(button, icon, size=14)
        return button

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._follow()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._ticker.stop()
