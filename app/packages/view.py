"""A package plan to be read: totals above, a row for each package, and below all of the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.packages import words
from app.packages.listing import PackageList
from app.parts.elide import ElidedLabel
from app.parts.plain import plain_label
from app.parts.text.copying import CopyButton
from app.parts.text.visible_characters import visible
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.look.look import Look
    from runner.model.plan import Plan, PlannedPackage


ROOMY = 430
"""Height in pixels from which there is room for all about the chosen package below the rows."""


class PlanView(QWidget):
    """Shows one plan at a time. Its end has been seen when the last row has been on the screen."""

    seen_to_end = Signal(bool)

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        px = look.px
        self.totals = plain_label(role="strong", wrap=True)
        self.notable = plain_label(role="warn", wrap=True)
        self.reach = plain_label(role="small", wrap=True)
        self.installed = plain_label(role="muted", wrap=True)
        self.list = PackageList(look)
        self.detail = plain_label(role="small", wrap=True)
        self.brief = ElidedLabel()
        self.brief.setProperty("role", "small")
        self._look = look
        self._plan: Plan | None = None
        self._compact = False
        self.copy = CopyButton(tr("Copy"), tr("Copy file, hash and address of the chosen package"))
        for label in (self.totals, self.notable, self.reach, self.installed, self.detail):
            label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        head = QVBoxLayout()
        head.setContentsMargins(px(12), px(10), px(12), px(6))
        head.setSpacing(px(4))
        head.addWidget(self.totals)
        head.addWidget(self.notable)
        head.addWidget(self.reach)
        head.addWidget(self.installed)
        foot = QFrame()
        row = QHBoxLayout(foot)
        row.setContentsMargins(px(12), px(6), px(12), px(8))
        row.setSpacing(px(10))
        row.addWidget(self.detail, 1)
        row.addWidget(self.brief, 1)
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
        self.brief.hide()

    def show_plan(self, plan: Plan, domains: tuple[str, ...] = ()) -> None:
        """Show another plan, from its first package; `domains` is what builds of it may reach."""
        self._plan = plan
        self.totals.setText(words.totals(plan, short=self._compact))
        texts = words.notable(plan), words.reach(plan, domains), words.installed(plan)
        for label, text in zip((self.notable, self.reach, self.installed), texts, strict=True):
            label.setText(words.breakable(text))
            label.setVisible(bool(text))
        self.list.show_packages(words.in_order(plan))
        self.list.setAccessibleName(
            plural(
                "{count} package from {registry}",
                "{count} packages from {registry}",
                len(plan.packages),
                registry=words.registry(plan),
            )
        )

    @property
    def is_seen_to_end(self) -> bool:
        return self.list.is_seen_to_end

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where there is little room it is for the rows: the chosen package's facts are then on its tip and copied."""
        super().resizeEvent(event)
        compact = self.height() < self._look.px(ROOMY)
        if compact is self._compact:
            return
        self._compact = compact
        self.detail.setVisible(not compact)
        self.brief.setVisible(compact)
        self.list.set_compact(compact)
        if self._plan is not None:
            self.totals.setText(words.totals(self._plan, short=compact))

    @Slot(object)
    def _choose(self, package: PlannedPackage | None) -> None:
        if package is None:
            self.detail.setText("")
            self.brief.setText("")
            self.copy.set_text_to_copy("")
            return
        lines = (
            visible(package.summary),
            visible(package.file),
            f"sha256 {package.sha256}",
            *words.built_with(package),
        )
        self.detail.setText("\n".join(words.breakable(line) for line in lines if line))
        self.brief.setText(tr("{file}, sha256 {sha256}", file=visible(package.file), sha256=package.sha256))
        self.copy.set_text_to_copy(words.whole(package))
