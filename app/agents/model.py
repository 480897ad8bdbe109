"""The registered agents as rows: who, since when, last seen, how busy, and a tick by which each may ask."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from app import phrases
from app.parts.plain import tip
from app.state.agent_day import NONE, AgentDay
from app.state.allowances import summary
from runner.identity.allowance import Allowance
from runner.model.translation import numeral, to_translate, tr, translated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtCore import QObject

    from app.state.cards import Cards
    from runner.identity.agents import Agent

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
COLUMNS = (
    to_translate("Name"),
    to_translate("Added"),
    to_translate("Last seen"),
    to_translate("Today"),
    to_translate("Hours"),
    to_translate("Refused"),
    to_translate("State"),
)
"""The keys of the columns, which are their headings too."""
TIPS = {
    "Today": tr("What became of its requests today"),
    "Hours": tr("When its requests came today, hour by hour from midnight"),
    "State": tr("Without the tick its calls are refused, until you set it again; what waits stays open"),
    "Refused": tr("Calls that were refused since Assent was started, as they were too many or could not be read"),
}
NOTHING = "\N{EN DASH}"
AGENT = Qt.ItemDataRole.UserRole
DAY = Qt.ItemDataRole.UserRole + 1


class AgentsModel(QAbstractTableModel):
    """What became of their requests is of today, what was refused since Assent was started."""

    switched = Signal(object)
    """An agent that is to be paused, or to be resumed where it is paused. The tick follows once that is done."""

    def __init__(self, cases: Cards, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cases = cases
        self._agents: tuple[Agent, ...] = ()
        self._today: Mapping[str, AgentDay] = {}

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

    def know_today(self, figures: Mapping[str, AgentDay]) -> None:
        """Take over the day of each agent."""
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
        return translated(COLUMNS[section]) if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        agent = self.agent(index.row())
        if agent is None:
            return None
        column, day = COLUMNS[index.column()], self._today.get(agent.name, NONE)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._text(agent, column)
            case Qt.ItemDataRole.ToolTipRole:
                return tip(self._tip(agent, column)) or None
            case Qt.ItemDataRole.AccessibleTextRole:
                return _spoken(self._text(agent, column), column, day)
            case Qt.ItemDataRole.CheckStateRole if column == "State" and not agent.revoked:
                return Qt.CheckState.Unchecked if agent.paused else Qt.CheckState.Checked
            case _:
                return {AGENT: agent, DAY: day}.get(role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        agent = self.agent(index.row())
        ticked = agent is not None and not agent.revoked and COLUMNS[index.column()] == "State"
        return super().flags(index) | (Qt.ItemFlag.ItemIsUserCheckable if ticked else Qt.ItemFlag.NoItemFlags)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        agent = self.agent(index.row())
        if role != Qt.ItemDataRole.CheckStateRole or agent is None or agent.revoked:
            return False
        self.switched.emit(agent)
        return True

    def _tip(self, agent: Agent, column: str) -> str:
        day = self._today.get(agent.name, NONE)
        match column:
            case "Name":
                return day.last
            case "Hours":
                return _hours(day)
            case "State":
                return summary(agent) or ""
            case _:
                return ""

    def _text(self, agent: Agent, column: str) -> str:
        match column:
            case "Name":
                return phrases.visible(agent.name)
            case "Added":
                return phrases.when(agent.registered_at)
            case "Last seen":
                return phrases.ago(time.time() - agent.last_seen) if agent.last_seen else tr("never connected")
            case "Today":
                return self._today.get(agent.name, NONE).became or NOTHING
            case "Hours":
                return ""
            case "Refused":
                return numeral(self._cases.refused_by_agent.get(agent.name, 0))
            case _:
                return _state(agent)


def _state(agent: Agent) -> str:
    """Return how things stand with an agent."""
    if agent.renamed_to:
        return tr("now {renamed_to}", renamed_to=phrases.visible(agent.renamed_to))
    if agent.revoked:
        return tr("revoked")
    if agent.paused:
        return tr("paused")
    limited = {*Allowance().differing(agent.allowance)} - {"rehearse"}
    return tr("limited") if limited else tr("tried") if agent.allowance.rehearse else tr("active")


def _spoken(text: str, column: str, day: AgentDay) -> str:
    """Return what is read aloud of a cell: also what is only painted."""
    if column == "Name" and day.last:
        return tr("{words}. Last request: {last}", words=text, last=day.last)
    return (_hours(day) or tr("nothing asked today")) if column == "Hours" else text


def _hours(day: AgentDay) -> str:
    """Return how many requests came when: `3 from 09:00, 12 from 10:00`."""
    found = ", ".join(
        tr("{number} from {hour}:00", number=numeral(number), hour=f"{hour:02}")
        for hour, number in enumerate(day.hours)
        if number
    )
    return tr("{found}, of the newest of the day", found=found) if found and day.cut else found
