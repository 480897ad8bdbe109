"""Attempts that nobody would let pass, by agent: grave findings of requests that no person approved."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.audit.history.filter import Filter
from runner.model.assessment import Capability, Level
from runner.model.decision import Verdict
from runner.model.translation import tr

if TYPE_CHECKING:
    from runner.audit.history.search import History

MOST_LOOKED_AT = 200
"""CRITICAL requests that are looked through, the newest."""
DEEDS = {
    Capability.EXFILTRATION: tr("send credentials or private data"),
    Capability.READS_CREDENTIALS: tr("read credentials"),
    Capability.PERSISTENCE: tr("leave something that starts by itself"),
    Capability.PRIVILEGES: tr("get more rights on this machine"),
    Capability.DESTROYS_FILES: tr("destroy files or data"),
    Capability.HIDDEN_TEXT: tr("run code with hidden characters"),
    Capability.OBFUSCATION: tr("run code that hides what it does"),
}
"""The capabilities that count, the gravest first: a request counts once, as the first of them that it has."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """How often an agent asked for something grave, and when last. Seconds since the epoch."""

    agent: str
    deed: str
    """What, after "asked to"."""
    times: int
    last: float


def read_attempts(history: History, since: float) -> tuple[Attempts, ...]:
    """Return what agents asked for since then, the gravest first. Raises KnownError."""
    rows = [
        row
        for row in history.page(Filter(level=Level.CRITICAL, since=since), limit=MOST_LOOKED_AT)
        if row.verdict is not Verdict.APPROVED
    ]
    found = history.gravest([row.seq for row in rows])
    times: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], float] = {}
    for row in rows:
        deed = next((words for one, words in DEEDS.items() if one.value in found.get(row.seq, ())), "")
        if deed:
            times[row.agent, deed] += 1
            last.setdefault((row.agent, deed), row.arrived_at)
    order = list(DEEDS.values())
    ordered = sorted(times, key=lambda one: (order.index(one[1]), -times[one]))
    return tuple(Attempts(*one, times[one], last[one]) for one in ordered)
