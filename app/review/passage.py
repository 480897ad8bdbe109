"""The way of a request as stations of a picture: what goes in, where its code runs, where that may reach, what is cut.

What the sandbox does is said by the words of `containment`; what the code tries, only as far as it was read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app import phrases
from app.review.containment import MOST_HOSTS, Chip, contained, of_card, out_of_reach
from app.state import attention, trials
from runner.model.assessment import Level
from runner.model.request import Isolation, NetworkMode, Tool
from runner.model.translation import tr
from runner.model.verdict import Verb
from runner.policy.stopped import is_stopped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.state.cards import Card
    from runner.model.kept_sandbox import Kept
    from runner.model.request import Request

STOPPED = tr("Stopped by the sandbox")
STOPPED_WHY = tr(
    "What stands out in this code was read to its end and cannot happen here: the sandbox has no network and none of "
    "your files. What it makes is removed with the sandbox; its agent gets what it prints."
)
UNREAD = tr("code partly unread")
PROVEN = (Isolation.LOCAL, Isolation.DOCKER, Isolation.GVISOR_DIRECT, Isolation.GVISOR)
"""Sandboxes on this machine, whose protections were tried here."""
NO_NETWORK = tr("no network")
"""How the protection begins that cuts off all hosts."""
NO_FILES = tr("none of your files")
_OF_FILES = (Verb.READS_SECRETS, Verb.READS, Verb.DELETES, Verb.REWRITES, Verb.WRITES)


@dataclass(frozen=True, slots=True)
class Station:
    """One place of the picture."""

    words: str
    ink: str
    """A token."""
    icon: str = ""
    crossed: bool = False
    """The code tries it and cannot."""
    remark: str = ""
    """What is worth a look about it."""
    spare: bool = False
    """Left out of the picture where a second row would be needed: another station says it in other words."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The whole picture, from the left to the right."""

    stations: tuple[Station, ...] = ()
    """What is one after the other: what goes in, the code in its sandbox, who gets what it makes."""
    reaches: tuple[Station, ...] = ()
    """What it may reach, in `medium`; what it cannot, or tries in vain, in `low`."""
    chips: tuple[Chip, ...] = ()
    """What contains it, in the words that are used everywhere."""
    unread: str = ""
    """Why not all of it was read; '' where it was."""
    stopped: bool = False
    """What stands out in the code cannot happen here."""

    @property
    def spoken(self) -> str:
        """All of it in words."""
        way = tr(" to ").join(", ".join(filter(None, (one.words, one.remark))) for one in self.stations)
        tried = [tr("cannot reach {words}", words=one.words) for one in self.reaches if one.crossed]
        end = [f"{STOPPED}. {STOPPED_WHY}"] if self.stopped else []
        said = (way, ", ".join(chip.words for chip in self.chips), *tried, self.unread.rstrip("."), *end)
        return ". ".join(filter(None, said))


def passage(shown: Card, kept: Iterable[Kept]) -> Passage | None:
    """Return the picture of what would run; None for what runs no code in a sandbox of Assent."""
    request, kept = shown.request, tuple(kept)
    if request.tool is not Tool.CODE_EXECUTE or request.client is not None:
        return None
    chips = of_card(shown, kept)
    # The place and the time are one station; what else there is of them stands apart.
    where = [chip for chip in chips if chip.icon in _IN_THE_BOX]
    calm = stopped(shown, kept)
    # What is unread of an exchange with a host, where there is none, is no part of what can happen.
    unread = "" if calm else _unread(shown)
    words = ", ".join(chip.short or chip.words for chip in where)
    ink = "low" if all(chip.holds for chip in where) else "medium"
    box = Station(words, ink, where[0].icon, remark=UNREAD if unread else "")
    goes_in = _goes_in(request)
    stations = (*((goes_in,) if goes_in else ()), box, Station(phrases.visible(request.agent), "muted"))
    reaches = [*_network(shown, kept, chips), *_files(shown, kept)]
    if calm:
        # "Stopped by the sandbox" says it.
        reaches = [one if one.crossed else replace(one, spare=True) for one in reaches]
    return Passage(stations, tuple(reaches), chips, unread, calm)


def stopped(shown: Card, kept: Iterable[Kept]) -> bool:
    """Return whether what stands out in what would run cannot happen where it would."""
    request, found = shown.request, shown.assessment
    where = contained(request, kept)
    if found is None or where is None or shown.blocked or (attention.attention(shown) or Level.LOW) <= Level.LOW:
        return False
    # A trial found more than the reader; packages and files are code that is not in the sentence.
    more = trials.level(shown) is not None or request.plan is not None or bool(request.packages or request.known)
    held = request.isolation in PROVEN and any(one.startswith(NO_NETWORK) for one in request.protections)
    return held and not more and is_stopped(found, where)


_IN_THE_BOX = ("shield", "shield-alert", "shield-check", "layers", "timer")


def _goes_in(request: Request) -> Station | None:
    given = ((tr("input"), request.stdin), (tr("variables"), request.context.strip().removeprefix("{}")))
    words = ", ".join(name for name, text in given if text)
    return Station(words, "muted") if words else None


def _unread(shown: Card) -> str:
    return "" if shown.assessment is None else phrases.visible(shown.assessment.not_whole)


def _network(shown: Card, kept: tuple[Kept, ...], chips: tuple[Chip, ...]) -> list[Station]:
    """Return what of the network it may reach, and what it tries in vain."""
    tried = out_of_reach(shown, kept)
    hosts = [Station(phrases.visible(one), "low", "globe", crossed=True) for one in tried[:MOST_HOSTS] if one]
    said = [
        Station(chip.words, "low", chip.icon) if chip.holds else Station(chip.short or chip.words, "medium", chip.icon)
        for chip in chips
        if chip.icon in _NETWORK
    ]
    closed = shown.request.network is NetworkMode.NONE and all(one.ink == "low" for one in said)
    return hosts if hosts and closed else [*said, *hosts]


_NETWORK = ("globe", "ban")


def _files(shown: Card, kept: tuple[Kept, ...]) -> list[Station]:
    """Return what of the person's files it cannot reach; nothing where it may have some of them."""
    where = contained(shown.request, kept)
    if where is None or where.files is None or shown.request.isolation not in PROVEN:
        return []
    acts = shown.assessment.verdict.acts if shown.assessment is not None else ()
    wanted = (act.place for act in acts if act.verb in _OF_FILES and act.place.startswith("~") and not act.computed)
    paths = list(dict.fromkeys(wanted))[:MOST_HOSTS]
    if paths:
        return [Station(_path(one), "low", "folder", crossed=True) for one in paths]
    return [Station(NO_FILES, "low", "ban", spare=True)]


def _path(place: str) -> str:
    return tr("your home folder") if place in ("~", "~/") else phrases.visible(place)
