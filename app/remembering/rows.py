"""The rows of the page of rules: a rule of the files, a grant with its end, an offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app import phrases
from app.network.words import breakable
from app.parts.badge import ClassBadge
from app.parts.column import readable
from app.parts.plain import plain_label, set_tip
from app.parts.roles import Role
from app.remembering import words
from runner.model.translation import tr
from runner.policy.grants import Subject

if TYPE_CHECKING:
    from app.look.look import Look
    from runner.approval.learning import Offer
    from runner.policy.grants import Grant
    from runner.policy.rules import Rule


class RuleRow(QFrame):
    """A heading, what it says, small print, and at most one button at the right."""

    accessible_role = Role.Grouping
    acted = Signal()

    def __init__(self, look: Look, heading: str, lines: tuple[str, ...], small: str = "", act: str = "") -> None:
        super().__init__()
        px = look.px
        self.heading = _label(heading, "strong")
        self._head = QHBoxLayout()
        self._head.setSpacing(px(8))
        self._head.addWidget(self.heading, 1)
        said = QWidget()
        self._texts = texts = QVBoxLayout(said)
        texts.setContentsMargins(0, 0, 0, 0)
        texts.setSpacing(px(2))
        texts.addLayout(self._head)
        for line in lines:
            texts.addWidget(_selectable(_label(line)))
        if small:
            texts.addWidget(_selectable(_label(small, "small")))
        row = readable(look, said)
        row.setContentsMargins(0, px(6), 0, px(6))
        row.setSpacing(px(12))
        self.setLayout(row)
        self.button: QPushButton | None = None
        if act:
            self.button = QPushButton(act)
            self.button.setAutoDefault(False)
            self.button.setAccessibleName(f"{act.rstrip(chr(0x2026))}: {heading}")
            self.button.clicked.connect(self.acted)
            row.insertWidget(1, self.button, 0, Qt.AlignmentFlag.AlignTop)
        self.setAccessibleName(" ".join((heading, *lines, small)))

    def warn(self, line: str) -> None:
        """Add a line in the color of what is not well."""
        self._texts.addWidget(_selectable(_label(line, "bad")))
        self.setAccessibleName(f"{self.accessibleName()} {line}")

    def mark(self, badge: QWidget) -> None:
        """Put a badge before the heading."""
        self._head.insertWidget(0, badge, 0, Qt.AlignmentFlag.AlignTop)


def rule_row(look: Look, number: int, rule: Rule) -> RuleRow:
    """Return the row of a rule; `number` is its place in the order."""
    row = RuleRow(
        look, f"{number}. {phrases.visible(rule.name)}", (words.rule(rule),), phrases.visible(rule.description)
    )
    if rule.level is not None:
        row.mark(ClassBadge(look, rule.level))
    return row


def grant_row(look: Look, grant: Grant) -> RuleRow:
    said = (words.covered(grant), f"{words.use(grant)} {words.ends(grant)}")
    small = tr("{name}, made at {when}", name=grant.name, when=phrases.when(grant.made_at))
    row = RuleRow(look, words.name(grant), said, small, tr("Revoke"))
    assert row.button is not None
    row.button.setProperty("kind", "danger")
    if grant.subject is not Subject.HOST:  # it approves nothing, so that no level is its own
        row.mark(ClassBadge(look, grant.level))
    return row


def offer_row(look: Look, one: Offer, looked_at: int) -> RuleRow:
    """Return the row of an offer; `looked_at` is how many past requests it was replayed over."""
    does, whose = words.offered(one)
    bounds = f"{words.covered(one.grant)} {words.ends(one.grant)}"
    row = RuleRow(look, does, (words.replayed(one, looked_at), bounds), whose, tr("Remember\N{HORIZONTAL ELLIPSIS}"))
    if refused := words.refused(one):
        row.warn(refused)
    row.mark(ClassBadge(look, one.latest.level))
    return row


def _label(text: str, role: str = "") -> QLabel:
    """Return a label in which also a word breaks that is longer than a line; its tool tip has the text as it is."""
    label = plain_label(breakable(text), role, wrap=True)
    if label.text() != text:
        set_tip(label, text)
    return label


def _selectable(label: QLabel) -> QLabel:
    if not label.toolTip():  # where it breaks within a word, what is copied would have marks in it that nobody sees
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
    return label
