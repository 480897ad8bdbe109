"""A dry run: what would happen to a past request, or to a program pasted here, and why. Nothing is asked or run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import phrases
from app.history.reader import Reader
from app.link.page_tasks import PageTasks
from app.parts.badge import Badge
from app.parts.column import ScrollColumn
from app.parts.fold import FoldingRow
from app.parts.notice import Notice, Tone
from app.parts.plain import plain_label
from app.parts.sections import Listed, Pairs
from app.parts.text.code import CodeView
from app.state import attention
from runner.model import engine_texts
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.model.translation import capital, tr, translated

if TYPE_CHECKING:
    from asyncio import Future
    from pathlib import Path

    from PySide6.QtGui import QResizeEvent, QShowEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.audit.ledger.row import Row
    from runner.model.assessment import Finding
    from runner.policy.explain import Explanation, Step

RECENT = 100
PASTED = tr("A program pasted below")
NOBODY = "an-agent"
"""Stands for an agent while none is registered."""


class Trial(QWidget):
    """Asks the engine the same questions it asks of a request."""

    def __init__(
        self, cases: Cards, bridge: EngineLink, look: Look, ledger: Path, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._tasks = PageTasks("dry run", self)
        self._number = 0
        """Of the question on screen: an answer to an earlier one is not shown."""
        self._wanted = ("", "")
        self.reader = Reader(ledger, "trial", self)
        self.which = _combo(tr("Which request"))
        self.agent = _combo(tr("Agent"))
        self.language = _combo(tr("Language"))
        for one in Language:
            self.language.addItem(phrases.language(one), one)
        self.code = QPlainTextEdit()
        self.code.setFont(look.mono())
        self.code.setTabChangesFocus(True)
        self.code.setAccessibleName(tr("Program to try"))
        self.code.setPlaceholderText(tr("Paste a program here. It is not run."))
        self.past = CodeView(look)
        self.past.setAccessibleName(tr("Code of the request"))
        self.ask = QPushButton(tr("What would happen?"))
        self.notice = Notice(look, Tone.BAD, "")
        self.badge = Badge(look, None)
        self.verdict = plain_label(role="strong", wrap=True)
        self.steps = Pairs(look, tr("In this order"))
        self.findings = Listed(look, tr("Findings"))
        self._lay_out()
        self._connect()
        self._show_source()
        self._forget()

    @Slot()
    def look_again(self) -> None:
        """Read the list of past requests and of agents again."""
        self.reader.ask(lambda history: history.page(limit=RECENT), self._know_requests, self._no_history)
        chosen = self.agent.currentText()
        names = [agent.name for agent in self._cases.agents or () if not agent.revoked]
        self.agent.clear()
        self.agent.addItems(names or [NOBODY])
        self.agent.setCurrentIndex(max(0, self.agent.findText(chosen)))

    def try_request(self, request_id: str, words: str) -> None:
        """Show what would happen to this request, however long ago it was."""
        self._wanted = (words, request_id)
        self._offer()
        self.which.blockSignals(True)
        self.which.setCurrentIndex(self.which.findData(request_id))
        self.which.blockSignals(False)
        # Also where it was chosen already: the rules may be others now.
        self._chosen()

    def _offer(self) -> None:
        """Offer the request that a person came with, although it is none of the latest."""
        words, request_id = self._wanted
        if request_id and self.which.findData(request_id) < 0:
            self.which.addItem(words, request_id)

    def _know_requests(self, rows: list[Row]) -> None:
        chosen = self.which.currentData()
        self.which.blockSignals(True)
        self.which.clear()
        self.which.addItem(PASTED, "")
        for row in rows:
            title = phrases.title_of(row.title, "", row.tool)
            self.which.addItem(f"{phrases.when(row.arrived_at)}  {phrases.visible(row.agent)}: {title}", row.id)
        self._offer()
        self.which.setCurrentIndex(max(0, self.which.findData(chosen or "")))
        self.which.blockSignals(False)
        self._show_source()

    def _no_history(self, _error: Exception) -> None:
        """Show that there is no history yet; the page of the history says what else may be wrong."""
        self._know_requests([])

    @Slot()
    def _show_source(self) -> None:
        pasted = not self.which.currentData()
        for widget in (self.agent, self.language, self.code, self.ask):
            widget.setVisible(pasted)
        self.past.setVisible(not pasted)
        self._allow()

    @Slot()
    def _chosen(self) -> None:
        """Examine the past request that was chosen."""
        self._show_source()
        self._forget()
        if self.which.currentData():
            self._ask()

    @Slot()
    def _forget(self) -> None:
        """Clear the answer on screen, which is to another question."""
        self._number += 1
        self.notice.hide()
        for widget in (self.badge, self.verdict, self.steps, self.findings):
            widget.hide()
        self.past.set_code("", "")

    @Slot()
    def _allow(self) -> None:
        self.ask.setEnabled(bool(self.code.toPlainText().strip()))

    @Slot()
    def _ask(self) -> None:
        self._forget()
        if request_id := self.which.currentData():
            self._wait(self._bridge.memory.explain_past(request_id))
            return
        language = Language(self.language.currentData())
        pasted = Submission(self.agent.currentText(), Tool.CODE_EXECUTE, language, self.code.toPlainText())
        self._wait(self._bridge.memory.explain_program(pasted))

    def _wait(self, answer: Future[Explanation]) -> None:
        self._tasks.start("explanation", self._explain(self._number, answer))

    async def _explain(self, number: int, answer: Future[Explanation]) -> None:
        try:
            found = await answer
        except KnownError as error:
            if number == self._number:
                self.notice.say(Tone.BAD, str(error))
                self.notice.show()
            return
        if number == self._number:
            self._show_explanation(found)

    def _show_explanation(self, found: Explanation) -> None:
        self.badge.set_level(attention.of_assessment(found.assessment), bool(found.assessment.findings))
        self.badge.setToolTip(tr("{name} class", name=found.assessment.level.name))
        self.verdict.setText(_words(found.verdict))
        self.steps.show_pairs((translated(step.name), phrases.visible(_said(step))) for step in found.steps)
        self.findings.show_lines(map(_found, found.assessment.findings))
        self.badge.show()
        self.verdict.show()
        if self.which.currentData():
            language = found.request.language.value if found.request.language else ""
            self.past.set_code(found.request.code, language, found.assessment.findings)

    # ---- building ----

    def _lay_out(self) -> None:
        px = self._look.px
        self.ask.setProperty("kind", "primary")
        self.ask.setAutoDefault(False)
        grid = QGridLayout()
        grid.setHorizontalSpacing(px(8))
        grid.setVerticalSpacing(px(8))
        grid.addWidget(self.which, 0, 0, 1, 2)
        grid.addWidget(self.agent, 1, 0)
        grid.addWidget(self.language, 1, 1)
        left = QVBoxLayout()
        left.setSpacing(px(8))
        left.addLayout(grid)
        left.addWidget(self.code, 1)
        left.addWidget(self.past, 1)
        left.addWidget(self.ask, 0, Qt.AlignmentFlag.AlignLeft)
        answer = ScrollColumn(tr("What would happen"))
        answer.column.setSpacing(px(12))
        head = QHBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(self.badge)
        head.addWidget(self.verdict, 1)
        answer.column.addWidget(self.notice)
        answer.column.addLayout(head)
        answer.column.addWidget(self.steps)
        answer.column.addWidget(self.findings)
        self._both = FoldingRow()
        self._both.setContentsMargins(0, px(8), 0, 0)
        self._both.setSpacing(px(16))
        self._both.addLayout(left, 1)
        self._both.addWidget(answer, 1)
        answer.setMinimumHeight(px(120))
        self.code.setMinimumHeight(px(100))
        self.past.setMinimumHeight(px(100))
        self.setLayout(self._both)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._both.fold(self.width() < self._look.px(480))

    def _connect(self) -> None:
        self.which.currentIndexChanged.connect(self._chosen)
        for combo in (self.agent, self.language):
            combo.currentIndexChanged.connect(self._forget)
        self.code.textChanged.connect(self._forget)
        self.code.textChanged.connect(self._allow)
        self.ask.clicked.connect(self._ask)
        self.destroyed.connect(self.reader.close)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self.look_again()


def _words(verdict: Verdict | None) -> str:
    match verdict:
        case None:
            return tr("You would be asked.")
        case Verdict.APPROVED:
            return tr("It would be approved without asking.")
        case _:
            return tr("It would be denied without asking.")


def _combo(name: str) -> QComboBox:
    combo = QComboBox()
    combo.setAccessibleName(name)
    combo.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
    combo.setMinimumContentsLength(8)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    return combo


def _found(finding: Finding) -> str:
    words = f"{finding.level.name}. {engine_texts.in_words(finding.reason)}"
    return ": ".join(filter(None, (capital(phrases.line(finding.span)), words)))


def _said(step: Step) -> str:
    """Return what a step says, in the language of the window."""
    level, colon, reason = step.said.partition(": ")
    if colon and level in Level.__members__:
        return f"{level}: {engine_texts.in_words(reason)}"
    return engine_texts.in_words(step.said)
