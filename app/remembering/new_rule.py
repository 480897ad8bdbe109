"""A dialog that makes a rule from one request: one ticks what it is about, and sees the text that is added."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from app import phrases
from app.parts.fold import Room, fit
from app.parts.plain import plain_label
from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.model.translation import tr
from runner.policy.newrule import LONGEST_VALUE, NewRule, with_rule
from runner.policy.rulefile import FILE
from runner.policy.rules import Action

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.look.look import Look
    from runner.model.request import Request

WIDTH, HEIGHT = 520, 560
MOST_OF_A_KIND = 4
LONGEST_WORDS = 60
LONGEST_PREVIEW = 4_000
WHICH = tr("At least one has to be ticked: else the rule would be about every request.")
FIRST = tr("It stands before your other rules in {file}, so it is asked first. It never allows anything.", file=FILE)


@dataclass(frozen=True, slots=True)
class RuleSubject:
    """One thing by which a rule can be about a request: a value of one of its parameters."""

    words: str
    parameter: str
    value: str
    ticked: bool = False


def abouts(request: Request) -> list[RuleSubject]:
    """Return what a rule from this request can be about, the broadest first."""
    found = [
        RuleSubject(tr("By {agent}", agent=request.agent), "agent", request.agent, ticked=True),
        RuleSubject(tr("With {value}", value=request.tool.value), "tool", request.tool.value, ticked=True),
    ]
    if request.language is not None:
        found.append(
            RuleSubject(
                tr("In {language}", language=phrases.language(request.language)),
                "language",
                request.language.value,
                ticked=True,
            )
        )
    if request.client is not None:
        found.append(
            RuleSubject(
                tr("With the tool {name} of its own program", name=request.client.name),
                "client_tool",
                request.client.name,
            )
        )
    found += [
        RuleSubject(tr("That may reach {host}", host=host), "domain", host) for host in request.domains[:MOST_OF_A_KIND]
    ]
    found += [
        RuleSubject(tr("With the package {one}", one=one), "package", one) for one in request.packages[:MOST_OF_A_KIND]
    ]
    if 0 < len(request.code) <= LONGEST_VALUE:
        found.append(RuleSubject(tr("With exactly this code"), "code", request.code))
    return found


def rule_of(action: Action, level: Level | None, chosen: list[RuleSubject]) -> NewRule:
    """Return the rule about all that was chosen."""
    values = {one.parameter: one.value for one in chosen}
    words = [action.value, *(values[one] for one in ("agent", "language", "tool") if one in values)]
    return NewRule(
        re.sub(r"[^\w.]+", "-", "-".join(words))[:LONGEST_WORDS].strip("-"),
        action,
        tools=tuple(one.value for one in chosen if one.parameter == "tool"),
        agents=tuple(one.value for one in chosen if one.parameter == "agent"),
        equal=tuple((one.parameter, one.value) for one in chosen if one.parameter not in ("tool", "agent")),
        level=level,
    )


class NewRuleDialog(QDialog):
    """Opened with `open`. The focus starts on the button that changes nothing; no key but its own adds the rule."""

    def __init__(self, parent: QWidget, look: Look, request: Request, add: Callable[[NewRule], None]) -> None:
        super().__init__(parent)
        self._look = look
        self._add = add
        self.setWindowTitle(tr("New rule from this request"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.deny = QRadioButton(tr("Deny at once, without asking me"))
        self.critical = QRadioButton(tr("Ask me, and treat it as CRITICAL"))
        self.deny.setChecked(True)
        self.boxes = [(one, self._box(one)) for one in abouts(request)]
        self.preview = QPlainTextEdit()
        self.preview.setReadOnly(True)
        self.preview.setFont(look.mono())
        self.preview.setTabChangesFocus(True)
        self.preview.setAccessibleName(tr("What is added to {file}", file=FILE))
        self.note = plain_label(role="muted", wrap=True)
        self.no = QPushButton(tr("Cancel"))
        self.no.setDefault(True)
        self.yes = QPushButton(tr("Add rule"))
        self.yes.setProperty("kind", "primary")
        self.yes.setAutoDefault(False)
        self._lay_out()
        self.deny.toggled.connect(self._show)
        self.no.clicked.connect(self.reject)
        self.yes.clicked.connect(self._accept)
        self._show()
        self.no.setFocus()

    @property
    def rule(self) -> NewRule | None:
        """The rule as it is ticked now; None where nothing is."""
        chosen = [one for one, box in self.boxes if box.isChecked()]
        action, level = (Action.DENY, None) if self.deny.isChecked() else (Action.ASK, Level.CRITICAL)
        return rule_of(action, level, chosen) if chosen else None

    @Slot()
    def _show(self) -> None:
        rule = self.rule
        text = ""
        if rule is not None:
            try:
                text = with_rule("", rule).partition("rules:\n")[2]
            except KnownError as error:
                text = str(error)
        self.preview.setPlainText("\n".join(map(_shown, text[:LONGEST_PREVIEW].splitlines())))
        self.note.setText(WHICH if rule is None else FIRST)
        self.yes.setEnabled(rule is not None)

    @Slot()
    def _accept(self) -> None:
        if (rule := self.rule) is not None:
            self._add(rule)
            self.accept()

    def _box(self, about: RuleSubject) -> QCheckBox:
        words = phrases.visible(about.words)
        shown = words if len(words) <= LONGEST_WORDS else f"{words[:LONGEST_WORDS]}\N{HORIZONTAL ELLIPSIS}"
        box = QCheckBox(shown.replace("&", "&&"), self)
        box.setChecked(about.ticked)
        box.toggled.connect(self._show)
        return box

    def _lay_out(self) -> None:
        px = self._look.px
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, px(6), 0)
        column.setSpacing(px(8))
        column.addWidget(plain_label(tr("New rule from this request"), "title"))
        column.addWidget(plain_label(tr("Requests that are, all together:"), "muted"))
        for _, box in self.boxes:
            column.addWidget(box)
        column.addSpacing(px(4))
        column.addWidget(plain_label(tr("What happens to them:"), "muted"))
        column.addWidget(self.deny)
        column.addWidget(self.critical)
        column.addSpacing(px(4))
        self.preview.setMinimumHeight(px(150))
        column.addWidget(self.preview, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(px(8))
        buttons.addStretch()
        buttons.addWidget(self.no)
        buttons.addWidget(self.yes)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(px(20), px(16), px(20), px(14))
        whole.setSpacing(px(10))
        whole.addWidget(Room(inside), 1)
        whole.addWidget(self.note)
        whole.addLayout(buttons)
        fit(self, px(WIDTH), px(HEIGHT))


def _shown(line: str) -> str:
    """Return a line of the file with what it hides made visible, as far in as it stands there."""
    text = line.lstrip(" ")
    return " " * (len(line) - len(text)) + phrases.visible(text)
