"""Asks a person what is removed from the history, shows how much that is, and has it done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.link.page_tasks import PageTasks
from app.parts.boxes import keep_from_edge
from app.parts.notice import Tone
from app.parts.plain import plain_label
from app.review.deliberate import DeliberateDialog
from runner.audit.retention.retention import RetentionRule
from runner.model.errors import KnownError
from runner.model.translation import tr

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from runner.audit.retention.retention import Pruned, RetentionPlan

WAIT_MS = 400
"""Time after the last change before the figures are asked for."""
WHAT = tr(
    "Code, output and files are removed and cannot be brought back. Who asked, when, the decision and the hashes stay,"
    " and a signed entry says what was removed."
)
LONGEST_TITLE = 120
LOOKING = tr("Counting\N{HORIZONTAL ELLIPSIS}")


class OldContentDialog(QDialog):
    """Chooses by age or size; the button waits for the figures."""

    agreed = Signal(object)
    """The RetentionPlan of which the figures are on screen."""

    def __init__(self, parent: QWidget, bridge: EngineLink, look: Look) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._tasks = PageTasks("old content", self)
        self._plan: RetentionPlan | None = None
        self._asked = 0
        self.setWindowTitle(tr("Remove old content"))
        self.by_age, self.by_size = QRadioButton(tr("Older than")), QRadioButton(tr("All but the newest"))
        self.days, self.megabytes = QSpinBox(), QSpinBox()
        keep_from_edge(self.days, self.megabytes)
        self.figures = plain_label(wrap=True)
        self.cancel, self.remove = QPushButton(tr("Cancel")), QPushButton(tr("Remove\N{HORIZONTAL ELLIPSIS}"))
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WAIT_MS)
        self._timer.timeout.connect(self._look)
        self._lay_out(look)
        self._change()

    @property
    def rule(self) -> RetentionRule:
        """What is chosen."""
        if self.by_age.isChecked():
            return RetentionRule(float(self.days.value()))
        return RetentionRule(keep_bytes=self.megabytes.value() * 1_000_000)

    @Slot()
    def _change(self) -> None:
        self._plan = None
        self.remove.setEnabled(False)
        self.days.setEnabled(self.by_age.isChecked())
        self.megabytes.setEnabled(self.by_size.isChecked())
        self.figures.setText(LOOKING)
        self._asked += 1
        self._timer.start()

    @Slot()
    def _look(self) -> None:
        self._tasks.start("count", self._count(self._asked, self._bridge.upkeep.plan(self.rule)))

    async def _count(self, asked: int, answer: Future[RetentionPlan]) -> None:
        try:
            plan = await answer
        except KnownError as error:
            if asked == self._asked:
                self.figures.setText(str(error))
            return
        if asked == self._asked:
            self._plan = plan
            self.figures.setText(plan.sentence)
            self.remove.setEnabled(plan.count > 0)

    @Slot()
    def _agree(self) -> None:
        if self._plan is not None:
            self.agreed.emit(self._plan)
            self.accept()

    def _lay_out(self, look: Look) -> None:
        px = look.px
        self.by_age.setChecked(True)
        group = QButtonGroup(self)
        for button in (self.by_age, self.by_size):
            group.addButton(button)
            button.toggled.connect(self._change)
        self.days.setRange(1, 36_500)
        self.days.setValue(90)
        self.days.setSuffix(tr(" days"))
        self.days.setAccessibleName(tr("Age in days"))
        self.megabytes.setRange(1, 1_000_000)
        self.megabytes.setValue(1000)
        self.megabytes.setSuffix(" MB")
        self.megabytes.setAccessibleName(tr("Size in megabytes"))
        for field in (self.days, self.megabytes):
            field.valueChanged.connect(self._change)
        self.cancel.setDefault(True)
        self.cancel.clicked.connect(self.reject)
        self.remove.setProperty("kind", "danger")
        self.remove.setAutoDefault(False)
        self.remove.clicked.connect(self._agree)
        form = QFormLayout()
        form.setSpacing(px(8))
        form.setLabelAlignment(Qt.AlignmentFlag.AlignVCenter)
        form.addRow(self.by_age, self.days)
        form.addRow(self.by_size, self.megabytes)
        buttons = QHBoxLayout()
        buttons.setSpacing(px(8))
        buttons.addStretch()
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.remove)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(20), px(18), px(20), px(16))
        column.setSpacing(px(10))
        column.addWidget(plain_label(tr("Remove old content"), "title"))
        column.addWidget(plain_label(tr("Code, output and files of closed requests. Their entries stay."), wrap=True))
        column.addLayout(form)
        self.figures.setMinimumHeight(self.fontMetrics().height() * 2)
        column.addWidget(self.figures)
        column.addLayout(buttons)
        self.setMinimumWidth(px(420))


class ContentRemover(QObject):
    """Asks, and has the engine remove what was agreed to; at most one order at a time."""

    said = Signal(object, str)
    """A Tone, and what came of it in words."""
    removed = Signal()

    def __init__(self, page: QWidget, bridge: EngineLink, look: Look) -> None:
        super().__init__(page)
        self._page = page
        self._bridge = bridge
        self._look = look
        self._tasks = PageTasks("removing content", self)

    @Slot()
    def ask_old(self) -> None:
        """Ask which old content is removed."""
        dialog = OldContentDialog(self._page.window(), self._bridge, self._look)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.agreed.connect(self._confirm_plan)
        dialog.open()

    @Slot(str, str)
    def ask_one(self, request_id: str, title: str) -> None:
        """Ask whether the content of one request is removed."""

        def confirmed(pin: str) -> None:
            self._begin(self._bridge.upkeep.remove_content(request_id, pin))

        named = (
            f"{title[:LONGEST_TITLE]} ({request_id}). "
            if title
            else tr("Request {request_id}. ", request_id=request_id)
        )
        self._confirm(tr("Remove the content of this request?"), named + WHAT, confirmed)

    @Slot(object)
    def _confirm_plan(self, plan: RetentionPlan) -> None:
        def confirmed(pin: str) -> None:
            self._begin(self._bridge.upkeep.carry_out(plan, pin))

        self._confirm(tr("Remove old content?"), f"{plan.sentence} {WHAT}", confirmed)

    def _confirm(self, title: str, what: str, confirmed: Callable[[str], None]) -> None:
        by = self._bridge.decisions.approve_by()
        DeliberateDialog(self._page.window(), title, what, tr("Remove"), confirmed, by, self._look).open()

    def _begin(self, answer: Future[Pruned]) -> None:
        self.said.emit(Tone.INFO, tr("Removing\N{HORIZONTAL ELLIPSIS}"))
        self._tasks.start("remove", self._finish(answer))

    async def _finish(self, answer: Future[Pruned]) -> None:
        try:
            pruned = await answer
        except KnownError as error:
            self.said.emit(Tone.BAD, str(error))
            return
        whole = pruned.requests and not pruned.left and not pruned.unfinished
        self.said.emit(Tone.GOOD if whole else Tone.WARN, pruned.sentence)
        self.removed.emit()
