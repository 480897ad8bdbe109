"""The day of each agent, of what was read for the page Today."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from app.state.agent_day import AgentDay
from app.today.spans import by_agent

if TYPE_CHECKING:
    from app.today.bars import Bar
    from app.today.reading import DayRead

HOURS = 24


def agent_days(read: DayRead) -> dict[str, AgentDay]:
    """Return what there is to say of each agent that asked today."""
    asked: dict[str, list[Bar]] = {}
    for one in sorted(read.bars, key=lambda one: one.begin):
        asked.setdefault(one.agent, []).append(one)
    became = by_agent(read.shown)
    return {
        agent: AgentDay(
            became.get(agent, ""),
            _hours(asked.get(agent, ())),
            asked[agent][-1].found if agent in asked else "",
            read.cut,
        )
        for agent in {*became, *asked}
    }


def _hours(bars: list[Bar] | tuple[()]) -> tuple[int, ...]:
    counts = [0] * HOURS
    for one in bars:
        counts[time.localtime(one.begin).tm_hour] += 1
    return tuple(counts) if bars else ()
