"""The settings of one agent: its name, color and pause, and what it may ask for."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import phrases
from app.agents.rehearsing import RehearsalChoice
from app.link.page_tasks import PageTasks
from app.parts.agent import ink_color, swatch
from app.parts.back import back_button
from app.parts.boxes import keep_from_edge
from app.parts.column import readable
from app.parts.confirm import ConfirmDialog
from app.parts.flow import FlowRow
from app.parts.order import tab_in_reading_order
from app.parts.plain import plain_label, say
from runner.identity.agents import INKS, NAME
from runner.identity.allowance import Allowance
from runner.model.errors import KnownError
from runner.model.request import Language
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from asyncio import Future

    from PySide6.QtGui import QWheelEvent

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.identity.agents import Agent

RULE = tr("Up to 40 letters, digits, dots, hyphens and underscores.")
EFFECT = tr("Open questions that are no longer allowed are denied when you save. What runs continues.")
PAUSED = tr(
    "Paused: its calls are refused, and so are new commands of its programs at work. You can still answer what waits;"
    " what runs continues."
)
LIMITS = (
    ("rate_per_minute", tr("Calls a minute"), ""),
    ("max_pending", tr("Requests at once"), ""),
    ("seconds", tr("Longest run"), " s"),
    ("memory_mb", tr("Most memory"), " MB"),
)
LANGUAGES = {language: phrases.language(language) for language in Language}
SWATCH = 22


class AgentSettings(QFrame):
    """The settings of one agent. Name, color and pause take effect at once, the rest when it is saved."""

    done = Signal()

    def __init__(self, cases: Cards, bridge: EngineLink, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._tasks = PageTasks("agent settings", self)
        self._agent: Agent | None = None
        self.setProperty("card", True)
        self.back = back_button(tr("Back to the list of agents"))
        self.title = plain_label(role="title")
        self.facts = plain_label(role="muted", wrap=True)
        self.pause = _button(tr("Pause"))
        self.state = plain_label(PAUSED, role="warn", wrap=True)
        self.name = QLineEdit()
        self.name.setAccessibleName(tr("Name of the agent"))
        self.name.setMaxLength(60)
        self.rename = _button(tr("Rename\N{HORIZONTAL ELLIPSIS}"))
        self.inks = QButtonGroup(self)
        self.limits = {field: _Limit(words, unit) for field, words, unit in LIMITS}
        self.languages = {language: QCheckBox(words) for language, words in LANGUAGES.items()}
        self.network = QCheckBox(tr("May ask for network"))
        self.packages = QCheckBox(tr("May ask for packages"))
        self.rehearsing = RehearsalChoice()
        self.message = plain_label(role="muted", wrap=True)
        self.save = _button(tr("Save"), kind="primary")
        self._lay_out()
        self._connect()
        tab_in_reading_order(self)

    def show_agent(self, agent: Agent) -> None:
        """Show the settings of `agent` as they are now; what was typed and not saved is dropped."""
        self._agent = agent
        self.name.setText(agent.name)
        self.message.hide()
        most = self._bridge.agents.most()
        for field, limit in self.limits.items():
            limit.offer(getattr(agent.allowance, field), most[field])
        for language, box in self.languages.items():
            box.setChecked(not agent.allowance.languages or language.value in agent.allowance.languages)
        self.network.setChecked(agent.allowance.network)
        self.packages.setChecked(agent.allowance.packages)
        self.rehearsing.choose(agent.allowance.rehearse)
        self._show_record()
        self._changed()
        self.name.setFocus()

    @Slot()
    def refresh(self) -> None:
        """Take over what has become of the agent; a form that is being filled in stays as it is."""
        if self._agent is None:
            return
        before = self._agent
        now = next((one for one in self._cases.agents or () if one.token_sha256 == before.token_sha256), None)
        if now is None or now.revoked:
            self._agent = None
            self.done.emit()
            return
        typed = self._asked() != before.allowance
        self._agent = now
        if now.allowance != before.allowance and not typed:
            self.show_agent(now)
        if now.name != before.name:
            self.name.setText(now.name)
        self._show_record()
        self._changed()

    # ---- what is shown ----

    def _show_record(self) -> None:
        """Show what does not wait for Save."""
        agent = self._agent
        assert agent is not None
        self.title.setText(phrases.visible(agent.name))
        self.facts.setText(_facts(agent))
        self.pause.setText(tr("Resume") if agent.paused else tr("Pause"))
        self.state.setVisible(agent.paused)
        button = self.inks.button(agent.ink)
        if button is not None:
            button.setChecked(True)

    @Slot()
    def _changed(self) -> None:
        agent = self._agent
        name = self.name.text().strip()
        self.rename.setEnabled(agent is not None and name != agent.name and bool(NAME.fullmatch(name)))
        wrong = bool(name) and not NAME.fullmatch(name)
        none = not any(box.isChecked() for box in self.languages.values())
        self.save.setEnabled(agent is not None and not none and self._asked() != agent.allowance)
        if wrong or none:
            self._say(RULE if wrong else tr("Leave at least one language, or pause the agent."), bad=True)
        elif self.message.property("role") == "bad":
            self.message.hide()

    def _asked(self) -> Allowance:
        """Return what the form says."""
        chosen = tuple(language.value for language, box in self.languages.items() if box.isChecked())
        limits = self.limits
        return Allowance(
            rate_per_minute=int(limits["rate_per_minute"].value()),
            max_pending=int(limits["max_pending"].value()),
            seconds=limits["seconds"].value(),
            memory_mb=int(limits["memory_mb"].value()),
            languages=() if len(chosen) == len(LANGUAGES) else chosen,
            network=self.network.isChecked(),
            packages=self.packages.isChecked(),
            rehearse=self.rehearsing.chosen,
        )

    def _say(self, text: str, *, bad: bool = False) -> None:
        say(self.message, text, "bad" if bad else "muted")

    def _failed(self, why: str) -> None:
        self._say(why, bad=True)

    # ---- what is done ----

    @Slot()
    def _save(self) -> None:
        if self._agent is not None and self.save.isEnabled():
            answer = self._bridge.agents.allow_agent(self._agent.name, self._asked())
            self._tasks.start("save", self._saved(self._agent.name, answer))

    async def _saved(self, name: str, answer: Future[None]) -> None:
        try:
            await answer
        except KnownError as error:
            self._failed(str(error))
        else:
            if self._agent is not None and self._agent.name == name:
                self._say(tr("Saved."))

    @Slot()
    def _pause_or_resume(self) -> None:
        if (agent := self._agent) is not None:
            agents = self._bridge.agents
            answer = agents.resume_agent(agent.name) if agent.paused else agents.pause_agent(agent.name)
            self._tasks.attempt("pause", answer, self._failed)

    @Slot(int)
    def _paint(self, ink: int) -> None:
        if (agent := self._agent) is not None and agent.ink != ink:
            self._tasks.attempt("paint", self._bridge.agents.paint_agent(agent.name, ink), self._failed)

    @Slot()
    def _ask_rename(self) -> None:
        agent, new = self._agent, self.name.text().strip()
        if agent is None or not self.rename.isEnabled():
            return
        title = tr("Rename {name} to {new}?", name=agent.name, new=new)
        what = renaming(agent.name, self._cases, self._bridge)
        ConfirmDialog(
            self.window(), title, what, tr("Rename"), lambda yes: self._rename_if(yes, agent.name, new)
        ).open()

    def _rename_if(self, yes: bool, name: str, new: str) -> None:
        if yes:
            self._tasks.attempt("rename", self._bridge.agents.rename_agent(name, new), self._failed)

    # ---- building ----

    def _lay_out(self) -> None:
        px = self._look.px
        head = QHBoxLayout()
        head.setSpacing(px(8))
        head.addWidget(self.back)
        head.addWidget(self.title, 1)
        head.addWidget(self.pause)
        naming = QHBoxLayout()
        naming.setSpacing(px(8))
        self.name.setMaximumWidth(px(360))
        naming.addWidget(self.name, 1)
        naming.addWidget(self.rename)
        naming.addStretch()
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, px(8), 0)
        column.setSpacing(px(8))
        for part in (self._heading(tr("Name")), naming, self._heading(tr("Color")), self._swatches()):
            column.addLayout(part) if isinstance(part, QHBoxLayout) else column.addWidget(part)
        column.addWidget(self._heading(tr("What it may ask for")))
        column.addWidget(self._form())
        column.addLayout(readable(self._look, plain_label(EFFECT, role="muted", wrap=True)))
        column.addWidget(self._heading(tr("Try its code before you decide")))
        column.addWidget(self.rehearsing)
        column.addLayout(readable(self._look, self.rehearsing.meaning))
        column.addStretch()
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        foot = QHBoxLayout()
        foot.setSpacing(px(8))
        foot.addWidget(self.message, 1)
        foot.addStretch()
        foot.addWidget(self.save)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(px(16), px(14), px(16), px(14))
        whole.setSpacing(px(10))
        whole.addLayout(head)
        whole.addWidget(self.facts)
        whole.addWidget(self.state)
        whole.addWidget(area, 1)
        whole.addLayout(foot)
        self.message.hide()

    @staticmethod
    def _heading(text: str) -> QWidget:
        return plain_label(text, "heading")

    def _swatches(self) -> QWidget:
        for ink in range(INKS):
            button = QToolButton()
            button.setCheckable(True)
            button.setAutoRaise(True)
            button.setProperty("kind", "swatch")
            button.setIconSize(QSize(self._look.px(SWATCH), self._look.px(SWATCH)))
            button.setAccessibleName(tr("Color {ink}", ink=ink + 1))
            button.setToolTip(tr("Color {ink}", ink=ink + 1))
            self.inks.addButton(button, ink)
        self._look.changed.connect(self._draw_swatches)
        self._draw_swatches()
        return FlowRow(self.inks.buttons(), self._look.px(2), self._look.px(2))

    @Slot()
    def _draw_swatches(self) -> None:
        for ink in range(INKS):
            self.inks.button(ink).setIcon(swatch(ink_color(self._look, ink), self._look.px(SWATCH)))

    def _form(self) -> QWidget:
        px = self._look.px
        whole = QWidget()
        # Else a high window would draw its rows apart: labels that wrap take room that is left.
        whole.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        grid = QGridLayout(whole)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(px(12))
        grid.setVerticalSpacing(px(6))
        grid.setColumnStretch(2, 1)
        for row, limit in enumerate(self.limits.values()):
            grid.addWidget(limit.label, row, 0)
            grid.addWidget(limit, row, 1)
        for box in self.languages.values():
            box.setAccessibleName(tr("May use {words} in a sandbox", words=box.text()))
        languages = FlowRow(self.languages.values(), px(12), px(6))
        grid.addWidget(plain_label(tr("Languages in a sandbox"), "muted", wrap=True), len(LIMITS), 0)
        grid.addWidget(languages, len(LIMITS), 1, 1, 2)
        grid.addWidget(FlowRow((self.network, self.packages), px(12), px(6)), len(LIMITS) + 1, 1, 1, 2)
        return whole

    def _connect(self) -> None:
        self.back.clicked.connect(self.done)
        self.pause.clicked.connect(self._pause_or_resume)
        self.rename.clicked.connect(self._ask_rename)
        self.name.returnPressed.connect(self._ask_rename)
        self.name.textChanged.connect(self._changed)
        self.save.clicked.connect(self._save)
        self.inks.idClicked.connect(self._paint)
        for limit in self.limits.values():
            limit.valueChanged.connect(self._changed)
        for box in (*self.languages.values(), self.network, self.packages):
            box.toggled.connect(self._changed)
        self.rehearsing.currentIndexChanged.connect(self._changed)
        self._cases.agents_known.connect(self.refresh)


class _Limit(QDoubleSpinBox):
    """A limit, of which 0 is shown as what the settings say. The wheel scrolls the page and changes nothing."""

    def __init__(self, words: str, unit: str) -> None:
        super().__init__()
        self.label = plain_label(words, "muted", wrap=True)
        self.setAccessibleName(f"{words}{(tr(' in') if unit else '')}{unit}")
        self.setDecimals(0)
        self.setSuffix(unit)
        keep_from_edge(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def offer(self, value: float, most: float) -> None:
        """Show `value`; no more than `most` can be chosen."""
        self.setRange(0, max(most, value))
        self.setSpecialValueText(
            tr("As in Settings ({most}{suffix})", most=numeral(most, ",.0f"), suffix=self.suffix())
        )
        self.setValue(value)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


def renaming(name: str, cases: Cards, bridge: EngineLink) -> str:
    """Return what a renaming ends and what it leaves, in sentences."""
    open_now = sum(card.request.agent == name for card in (*cases.waiting(), *cases.running()))
    kept = sum(one.agent == name for one in cases.kept)
    grants = sum(one.agent == name for one in bridge.memory.grants())
    ends = [
        (
            open_now,
            plural("{count} open request will be withdrawn", "{count} open requests will be withdrawn", open_now),
        ),
        (
            kept,
            plural(
                "{count} kept sandbox will be removed with all files",
                "{count} kept sandboxes will be removed with all files",
                kept,
            ),
        ),
        (
            grants,
            plural("{count} remembered approval will end", "{count} remembered approvals will end", grants),
        ),
    ]
    sentences = [tr("Its token stays valid, and the history keeps the old name.")]
    if lost := [words for count, words in ends if count]:
        sentences.append(f"{', '.join(lost)}.")
    written = bridge.memory.rules()
    if rules := () if written is None else written.naming(name):
        named = ", ".join(phrases.visible(one) for one in rules[:5])
        sentences.append(tr("Rules that name {name} will not count for the new name: {named}.", name=name, named=named))
    return " ".join(sentences)


def _facts(agent: Agent) -> str:
    """Return since when it is there, when it last called, and what it was called before."""
    seen = (
        tr("last call {ago}", ago=phrases.ago(time.time() - agent.last_seen))
        if agent.last_seen
        else tr("has never connected")
    )
    former = tr(", called {former} before", former=phrases.visible(agent.former)) if agent.former else ""
    return tr("Added {when}, {seen}{former}", when=phrases.when(agent.registered_at), seen=seen, former=former)


def _button(words: str, kind: str = "") -> QPushButton:
    button = QPushButton(words)
    button.setAutoDefault(False)
    if kind:
        button.setProperty("kind", kind)
    return button
