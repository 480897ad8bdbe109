"""A package plan to be read: totals above, a row for each package, and below all of the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.packages import words
from app.packages.listing import PackageList
from app.parts.amounts import counted
from app.parts.copying import CopyButton
from app.parts.expose import visible
from app.parts.plain import plain_label

if TYPE_CHECKING:
    from app.look.look import Look
    from runner.model.plan import Plan, PlannedPackage


class PlanView(QWidget):
    """Shows one plan at a time. Its end has been seen when the last row has been on the screen."""

    seen_to_end = Signal(bool)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        px = look.px
        self.totals = plain_label(role="strong", wrap=True)
        self.notable = plain_label(role="warn", wrap=True)
        self.installed = plain_label(role="muted", wrap=True)
        self.list = PackageList(look)
        self.detail = plain_label(role="small", wrap=True)
        self.copy = CopyButton("Copy", "Copy file, hash and address of the chosen package")
        for label in (self.totals, self.notable, self.installed, self.detail):
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        head = QVBoxLayout()
        head.setContentsMargins(px(12), px(10), px(12), px(6))
        head.setSpacing(px(4))
        head.addWidget(self.totals)
        head.addWidget(self.notable)
        head.addWidget(self.installed)
        foot = QFrame()
        row = QHBoxLayout(foot)
        row.setContentsMargins(px(12), px(6), px(12), px(8))
        row.setSpacing(px(10))
        row.addWidget(self.detail, 1)
        row.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.list, 1)
        column.addWidget(foot)
        self.list.chosen.connect(self._choose)
        self.list.copy_wanted.connect(self.copy.click)
        self.list.seen_to_end.connect(self.seen_to_end)
        self.setFocusProxy(self.list)

    def show_plan(self, plan: Plan) -> None:
        """Show another plan, from its first package."""
        self.totals.setText(words.totals(plan))
        for label, text in ((self.notable, words.notable(plan)), (self.installed, words.installed(plan))):
            label.setText(words.breakable(text))
            label.setVisible(bool(text))
        self.list.show_packages(words.in_order(plan))
        self.list.setAccessibleName(f"{counted(len(plan.packages), 'package')} from {words.registry(plan)}")

    @property
    def is_seen_to_end(self) -> bool:
        return self.list.is_seen_to_end

    @Slot(object)
    def _choose(self, package: PlannedPackage | None) -> None:
        if package is None:
            self.detail.setText("")
            self.copy.set_text_to_copy("")
            return
        lines = (visible(package.summary), visible(package.file), f"sha256 {package.sha256}")
        self.detail.setText("\n".join(words.breakable(line) for line in lines if line))
        self.copy.set_text_to_copy(words.whole(package))
