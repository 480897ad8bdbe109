"""One check: its state as a word and a picture, what was found, and the fix with a button that copies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app import phrases
from app.parts.elide import ElidedLabel
from app.parts.plain import plain_label
from app.parts.roles import Role
from app.parts.text.copying import CopyButton
from runner.model import engine_texts
from runner.model.translation import tr

if TYPE_CHECKING:
    from app.look.look import Look
    from runner.commands.check import Check

STATES = {
    "ok": ("circle-check", "low", "ok", tr("Works")),
    "unused": ("ban", "muted", "muted", tr("Not in use")),
    "warn": ("triangle-alert", "medium", "warn", tr("Needs attention")),
    "bad": ("circle-alert", "high", "bad", tr("Does not work")),
}
"""Picture, its ink, the role of the word, and the word."""
BUILD = (tr("Build"), tr("Fetch what the images are made of and build them; takes some minutes"))
INSTALL = (
    tr("Install gVisor"),
    tr("Fetch gVisor from Debian, whose signature is checked, and build what it starts from"),
)


class CheckRow(QWidget):
    """Follows one check; texts may hold anything and are shown as they are."""

    build_wanted = Signal()
    """What the check says can be built or fetched here is to be."""
    stop_wanted = Signal()
    accessible_role = Role.Grouping

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._state = "ok"
        self._check: Check | None = None
        self._picture = plain_label()
        self.name = plain_label(role="strong")
        self.word = plain_label()
        self.what = plain_label(wrap=True)
        self.fix = plain_label(wrap=True)
        for text in (self.what, self.fix):
            text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.copy = CopyButton(tr("Copy"), tr("Copy the fix"))
        self.build = QPushButton(BUILD[0])
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 1000)
        self.bar.setFixedHeight(look.px(8))
        self.doing = ElidedLabel()
        self.doing.setProperty("role", "muted")
        self.stop = QPushButton(tr("Stop"))
        self.stop.setToolTip(tr("End it; nothing of what was begun is left"))
        for button in (self.build, self.stop):
            button.setAutoDefault(False)
        self._lay_out(look)
        self.build.clicked.connect(self.build_wanted)
        self.stop.clicked.connect(self.stop_wanted)
        look.changed.connect(self._paint_icon)

    def show_check(self, check: Check) -> None:
        """Replace everything by what `check` says."""
        self._check = check
        self._state = str(check.state)
        _, _, role, word = STATES[self._state]
        name = phrases.visible(check.name)
        self.name.setText(name)
        self.word.setText(word)
        self.word.setProperty("role", role)
        self.word.style().unpolish(self.word)
        self.word.style().polish(self.word)
        self.what.setText(phrases.visible(engine_texts.in_words(check.what)))
        self.fix.setText(phrases.visible(check.fix))
        self.copy.set_text_to_copy(check.fix)
        self.copy.setAccessibleName(tr("Copy the fix for {name}", name=name))
        self.fix.setVisible(bool(check.fix))
        # A sentence tells a person what to do; a command ends without a full stop.
        self.copy.setVisible(bool(check.fix) and not check.fix.endswith("."))
        text, hint = INSTALL if check.gvisor else BUILD
        self.build.setText(text)
        self.build.setToolTip(hint)
        self.show_built()
        self.setAccessibleName(f"{name}: {word}. {self.what.text()}")
        self._paint_icon()

    @property
    def check(self) -> Check | None:
        """What is shown."""
        return self._check

    @property
    def can_build(self) -> bool:
        return self._check is not None and (self._check.gvisor or bool(self._check.images))

    def show_step(self, part: float, doing: str) -> None:
        """Show how far a build is and what it does now."""
        self.bar.setValue(round(part * 1000))
        self.bar.setAccessibleName(tr("Under way: {doing}", doing=doing))
        self.doing.setText(doing)
        self._show_building(True)

    def show_stopping(self) -> None:
        self.doing.setText(tr("stopping, and removing what was begun"))
        self.stop.setEnabled(False)

    def show_built(self) -> None:
        """Show that no build is under way."""
        self.stop.setEnabled(True)
        self._show_building(False)

    def _show_building(self, under_way: bool) -> None:
        for one in (self.bar, self.doing, self.stop):
            one.setVisible(under_way)
        self.build.setVisible(self.can_build and not under_way)

    @Slot()
    def _paint_icon(self) -> None:
        picture, ink, _, _ = STATES[self._state]
        self._picture.setPixmap(self._look.pixmap(picture, ink, 16))

    def _lay_out(self, look: Look) -> None:
        px = look.px
        head, remedy = QHBoxLayout(), QHBoxLayout()
        for line in (head, remedy):
            line.setSpacing(px(8))
        head.addWidget(self.name)
        head.addWidget(self.word)
        head.addStretch()
        remedy.addWidget(self.fix, 1)
        remedy.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignTop)
        remedy.addWidget(self.build, 0, Qt.AlignmentFlag.AlignTop)
        under_way = QHBoxLayout()
        under_way.setSpacing(px(8))
        under_way.addWidget(self.bar, 1)
        under_way.addWidget(self.doing, 1)
        under_way.addWidget(self.stop)
        words = QVBoxLayout()
        words.setSpacing(px(3))
        words.addLayout(head)
        words.addWidget(self.what)
        words.addLayout(remedy)
        words.addLayout(under_way)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, px(7), 0, px(7))
        row.setSpacing(px(10))
        row.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
