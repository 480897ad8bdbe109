"""Offers to have the code of agents tried before a person decides, where that has a kernel of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app import phrases
from app.agents.rehearsing import MEANING
from app.first_start.step import FirstStep
from app.link.page_tasks import PageTasks
from app.parts.gauges.state_ring import RingState, StateRing
from app.parts.plain import plain_label, say
from runner.approval.rehearsable import too_weak
from runner.model.rehearsal import RehearsalMode
from runner.model.request import Isolation
from runner.model.translation import tr

if TYPE_CHECKING:
    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Cards
    from runner.identity.agents import Agent

HEADING = tr("See what code does before you decide")
NOBODY = tr("Once a program is connected, you can switch it on here for its agent.")
MOST_AGENTS = 6


class TrialStep(FirstStep):
    """One line for each agent. Hidden where nothing would be tried by itself in gVisor."""

    def __init__(self, cases: Cards, bridge: EngineLink, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, 6, HEADING, parent)
        self._cases = cases
        self._bridge = bridge
        self._look = look
        self._tasks = PageTasks("trials of an agent", self)
        self.rows: list[TrialRow] = []
        self.nobody = plain_label(NOBODY, "muted", wrap=True)
        self.message = plain_label(wrap=True)
        self.message.hide()
        self._lines = QVBoxLayout()
        self._lines.setSpacing(look.px(4))
        self.column.addWidget(plain_label(MEANING, "muted", wrap=True))
        self.column.addLayout(self._lines)
        self.column.addWidget(self.nobody)
        self.column.addWidget(self.message)
        cases.sandbox_known.connect(self.refresh)
        cases.agents_known.connect(self.refresh)
        self.hide()  # until the page asks how things are

    @Slot()
    def refresh(self) -> None:
        """Show for which agents it is on, newest last."""
        self.setVisible(self._offered)
        agents = [agent for agent in self._cases.agents or () if not agent.revoked][-MOST_AGENTS:]
        while len(self.rows) < len(agents):
            self.rows.append(row := TrialRow(self._look))
            row.button.clicked.connect(partial(self._turn, row))
            self._lines.addWidget(row)
        for row, agent in zip(self.rows, (*agents, *(None,) * len(self.rows)), strict=False):
            row.show_agent(agent)
        self.nobody.setVisible(not agents)
        self.show_state(RingState.DONE if any(agent.allowance.rehearse for agent in agents) else RingState.TODO)

    @property
    def _offered(self) -> bool:
        found = str(self._cases.sandbox.get("isolation", ""))
        protections = self._cases.sandbox.get("protections", ())
        if found not in list(Isolation) or not isinstance(protections, (list, tuple)):
            return False
        return not too_weak(RehearsalMode.GVISOR, Isolation(found), protections)

    def _turn(self, row: TrialRow) -> None:
        # As it is now, and not as it was when the page was drawn: the rest of it stays.
        agent = next((one for one in self._bridge.agents.all() if one.name == row.agent and not one.revoked), None)
        if agent is not None:
            wanted = RehearsalMode.OFF if agent.allowance.rehearse else RehearsalMode.GVISOR
            allowance = replace(agent.allowance, rehearse=wanted.value)
            self._tasks.attempt("turn", self._bridge.agents.allow_agent(agent.name, allowance), self._failed)
        self.message.hide()

    def _failed(self, why: str) -> None:
        say(self.message, why, "bad")


class TrialRow(QWidget):
    """One agent: whether its code is tried, and the button that turns that."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.agent = ""
        self.ring = StateRing(look, size=18)
        self.words = plain_label(wrap=True)
        self.button = QPushButton()
        self.button.setAutoDefault(False)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(8))
        row.addWidget(self.ring)
        row.addWidget(self.words, 1)
        row.addWidget(self.button)

    def show_agent(self, agent: Agent | None) -> None:
        """Show how things stand with `agent`; None hides the row."""
        self.setVisible(agent is not None)
        self.agent = "" if agent is None else agent.name
        if agent is None:
            return
        name, on = phrases.visible(agent.name), bool(agent.allowance.rehearse)
        self.ring.show_state(RingState.DONE if on else RingState.TODO)
        where = {RehearsalMode.GVISOR: tr(" in gVisor"), RehearsalMode.ANY: ""}
        tried = tr("is tried{get} before you decide.", get=where.get(RehearsalMode(agent.allowance.rehearse), ""))
        self.words.setText(
            tr("The code of {name} {tried}", name=name, tried=tried)
            if on
            else tr("The code of {name} does not run before you decide.", name=name)
        )
        self.button.setText(tr("Switch off") if on else tr("Try it in gVisor first"))
        self.button.setAccessibleName(f"{self.button.text()}: {name}")
