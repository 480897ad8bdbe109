"""The permissions of one agent in words: for the page of agents and the changes of the history."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import phrases
from runner.identity.allowance import Allowance
from runner.model.rehearsal import RehearsalMode
from runner.model.translation import tr

if TYPE_CHECKING:
    from runner.identity.agents import Agent

AS_ALL = tr("as in Settings")
REHEARSED = {
    RehearsalMode.OFF.value: tr("not tried by itself"),
    RehearsalMode.GVISOR.value: tr("tried by itself in gVisor only"),
    RehearsalMode.ANY.value: tr("tried by itself in any isolated sandbox"),
}
_NAMES = {
    "rate_per_minute": (tr("calls a minute"), ""),
    "max_pending": (tr("requests at once"), ""),
    "seconds": (tr("longest run"), " s"),
    "memory_mb": (tr("most memory"), " MB"),
}


def allowed(name: str, value: object) -> str:
    """Return one setting of an agent in words; `value` is that of the ledger, so it may be anything."""
    match name, value:
        case (("network" | "packages"), bool()):
            return tr("{name} may be asked for", name=name) if value else tr("no {name}", name=name)
        case "rehearse", str():
            return REHEARSED.get(value, phrases.visible(value))
        case "languages", list() | tuple():
            return tr("languages: {join}", join=", ".join(phrases.visible(str(one)) for one in value) or tr("all"))
        case "ink", int():
            return tr("another color")
        case _, 0:
            return f"{_NAMES.get(name, (phrases.visible(name), ''))[0]} {AS_ALL}"
        case _:
            words, unit = _NAMES.get(name, (phrases.visible(name), ""))
            return f"{words}: {phrases.visible(str(value))}{unit}"


def summary(agent: Agent) -> str:
    """Return what is set for an agent in one line; empty where it may do what all may."""
    return ", ".join(allowed(name, value) for name, value in Allowance().differing(agent.allowance).items())
