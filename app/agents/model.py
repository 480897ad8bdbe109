"""The registered agents as rows: who, since when, last seen, how busy."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from app import phrases
from app.parts.agent import DOT, agent_ink, swatch
from app.state.allowances import summary
from runner.identity.allowance import Allowance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtCore import QObject

    from app.look.look import Look
    from app.state.cards import Cards
    from runner.identity.agents import Agent

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
COLUMNS = ("Name", "Added", "Last seen", "Today", "Refused", "State")
TIPS = {
    "Today": "What became of its requests today",
    "Refused": "Calls that were refused since Assent was started, as they were too many or could not be read",
}
NOTHING = "\N{EN DASH}"
AGENT = Qt.ItemDataRole.UserRole


class AgentsModel(QAbstractTableModel):
    """What became of their requests is of today, what was refused since Assent was started."""

    def __init__(self, cases: Cards, look: Look, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._cases = cases
        self._agents: tuple[Agent, ...] = ()
        self._today: Mapping[str, str] = {}

    def refresh(self) -> None:
        """Take over the store's list: those in force first."""
        agents = tuple(sorted(self._cases.agents or (), key=lambda agent: (agent.revoked, agent.name.lower())))
        if [agent.name for agent in agents] == [agent.name for agent in self._agents]:
            self._agents = agents
            if agents:
                self.dataChanged.emit(self.index(0, 0), self.index(len(agents) - 1, len(COLUMNS) - 1))
            return
        self.beginResetModel()
        self._agents = agents
        self.endResetModel()

    def know_today(self, figures: Mapping[str, str]) -> None:
        """Take over what became of the requests of each agent today, in words."""
        self._today = figures
        if self._agents:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._agents) - 1, len(COLUMNS) - 1))

    def agent(self, row: int) -> Agent | None:
        return self._agents[row] if 0 <= row < len(self._agents) else None

    def row_of(self, name: str) -> int:
        """Return the row of an agent; -1 where there is no such agent."""
        return next((row for row, agent in enumerate(self._agents) if agent.name == name), -1)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self._agents)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.ToolTipRole:
            return TIPS.get(COLUMNS[section])
        return COLUMNS[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        agent = self.agent(index.row())
        if agent is None:
            return None
        if role == AGENT:
            return agent
        if role == Qt.ItemDataRole.DecorationRole and COLUMNS[index.column()] == "Name":
            return swatch(agent_ink(self._look, agent.name), self._look.px(DOT))
        if role == Qt.ItemDataRole.ToolTipRole and COLUMNS[index.column()] == "State":
            return summary(agent) or None
        return self._text(agent, index.column()) if role == Qt.ItemDataRole.DisplayRole else None

    def _text(self, agent: Agent, column: int) -> str:
        match COLUMNS[column]:
            case "Name":
                return phrases.visible(agent.name)
            case "Added":
                return phrases.when(agent.registered_at)
            case "Last seen":
                return phrases.ago(time.time() - agent.last_seen) if agent.last_seen else "never connected"
            case "Today":
                return self._today.get(agent.name, NOTHING)
            case "Refused":
                return f"{self._cases.refused_by_agent.get(agent.name, 0):,}"
            case _:
                return _state(agent)


def _state(agent: Agent) -> str:
    """Return how things stand with an agent."""
    if agent.renamed_to:
        return f"now {phrases.visible(agent.renamed_to)}"
    if agent.revoked:
        return "revoked"
    if agent.paused:
        return "paused"
    limited = {*Allowance().differing(agent.allowance)} - {"rehearse"}
    return "limited" if limited else "tried" if agent.allowance.rehearse else "active"
