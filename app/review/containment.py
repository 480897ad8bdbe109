"""The bounds of a request's code, in three or four words each: what it finds, whom it reaches, when it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app import phrases
from app.parts.amounts import size
from runner.model import engine_texts
from runner.model.assessment import WHOLE, Level
from runner.model.claimed import contradiction
from runner.model.containment import Containment, absences, conflicts, unreachable
from runner.model.network import Destination, UnusableHost
from runner.model.request import Isolation, NetworkMode
from runner.model.tool_facts import FACTS
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.state.cards import Card
    from runner.model.kept_sandbox import Kept
    from runner.model.request import Request
    from runner.model.sent_files import SentFiles

MOST_HOSTS = 2
"""Hosts that a chip names; all of them stand under Details."""


@dataclass(frozen=True, slots=True)
class Chip:
    """One fact about where a request would be carried out."""

    words: str
    icon: str
    holds: bool
    """It contains the code; otherwise it is worth a look."""
    short: str = ""
    """The same beside others in a picture; '' for `words`."""


def chips(request: Request, kept: Iterable[Kept] = (), asked: float | None = None) -> tuple[Chip, ...]:
    """Return the chips of a request. `kept` are the sandboxes that agents keep; `asked` its seconds as sent."""
    if request.client is not None:
        return _on_the_machine(request)
    elsewhere = [_elsewhere(request)] if request.isolation.is_promised else []
    found = [*elsewhere, _place(request, kept), _network(request)]
    if FACTS[request.tool].timed:
        found.append(_time(request, asked))
    return tuple(found)


def of_card(shown: Card, kept: Iterable[Kept]) -> tuple[Chip, ...]:
    """Return the chips of what would run; where a person changed its time, with what the agent asked for."""
    asked = shown.original.limits.seconds if shown.original is not None else None
    return chips(shown.request, kept, asked)


def contained(request: Request, kept: Iterable[Kept] = ()) -> Containment | None:
    """Return what can stand against what the code does; None where nothing keeps it from network and files."""
    if request.client is not None or request.isolation in (Isolation.PROCESS, Isolation.PLUGIN):
        return None
    own = next((one for one in kept if one.id == request.sandbox), None) if request.sandbox else None
    # A kept sandbox has what earlier calls left, which is not known; a working copy has the project.
    empty = not request.has_files or (own is not None and not own.uses)
    hosts = tuple(destination.host for destination in map(_parsed, request.domains) if destination is not None)
    return Containment(
        network=request.network is not NetworkMode.NONE,
        hosts=hosts,
        files=frozenset() if empty else None,
    )


def _parsed(text: str) -> Destination | None:
    try:
        return Destination.parse(text)
    except UnusableHost:
        return None


def refusals(shown: Card, kept: Iterable[Kept]) -> tuple[str, ...]:
    """Return what the code tries and cannot do where it would run, a few words each."""
    where = contained(shown.request, kept)
    if where is None or shown.assessment is None:
        return ()
    return conflicts(shown.assessment.verdict, where)


def missing(shown: Card, kept: Iterable[Kept]) -> tuple[str, ...]:
    """Return the part of `refusals` that is about files."""
    where = contained(shown.request, kept)
    return () if where is None or shown.assessment is None else absences(shown.assessment.verdict, where)


def out_of_reach(shown: Card, kept: Iterable[Kept]) -> tuple[str, ...]:
    """Return the hosts that the code tries and cannot reach where it would run; '' for one that is not known."""
    where = contained(shown.request, kept)
    return () if where is None or shown.assessment is None else unreachable(shown.assessment.verdict, where)


def about_request(shown: Card) -> tuple[tuple[str, Level], ...]:
    """Return what is to be said of the request, and of no line of its code, with how much it matters.

    Without what the sentence or another chip says already.
    """
    found: list[tuple[str, Level]] = []
    if shown.assessment is None:
        return ()
    verdict = shown.assessment.verdict
    if words := contradiction(shown.request.title, verdict):
        found.append((words, Level.MEDIUM))
    said = verdict.sentence.casefold()
    about = [one for one in shown.assessment.findings if one.span == WHOLE and one.id not in SAID_BY_CHIPS]
    for one in sorted(about, key=lambda one: -one.level):
        words = one.reason.rstrip(".")
        if words.casefold() not in said:
            found.append((engine_texts.in_words(one.reason).rstrip("."), one.level))
    unique = dict(reversed(found))
    return tuple((words, unique[words]) for words in dict.fromkeys(words for words, _ in found))


SAID_BY_CHIPS = frozenset({"request.network"})


def _on_the_machine(request: Request) -> tuple[Chip, ...]:
    assert request.client is not None
    folder = phrases.visible(request.client.folder)
    return (
        Chip(
            tr("on your machine, no sandbox{rest}", rest=tr(", in {folder}", folder=folder) if folder else ""),
            "shield-alert",
            holds=False,
        ),
        Chip(tr("your network"), "globe", holds=False),
        Chip(tr("no time limit"), "timer", holds=False),
    )


def _elsewhere(request: Request) -> Chip:
    """Return what leaves this machine, and where it goes; for the sandbox of a package that this is not known."""
    if request.brought_by:
        name = phrases.visible(request.brought_by)
        return Chip(
            tr("{name}: not checked by Assent, may leave this machine", name=name), "globe", holds=False, short=name
        )
    where = phrases.visible(request.sent_to) or "E2B"
    files = leaving = tr("files")
    if request.sends is not None:
        leaving = _leaving(request.sends)
        behind = len(request.sends.behind)
        stays = plural("{count} that may hold a secret stays here", "{count} that may hold a secret stay here", behind)
        files = f"{leaving}; {stays}" if behind else leaving
    said = tr("sent to {where}: code, input, {files}", where=where, files=files)
    # What stays here comes last, and where there is little room not at all: cut in the middle it would seem to leave.
    short = tr("sent to {where}: code, input, {files}", where=where, files=leaving)
    return Chip(said, "globe", holds=False, short=short)


def _leaving(sends: SentFiles) -> str:
    """Return which files of a project leave, in a few words."""
    said = plural(
        "{count} file of the project, {size}",
        "{count} files of the project, {size}",
        len(sends.files),
        size=size(sends.size),
    )
    number = len(sends.included)
    among = plural("of them {count} that may hold a secret", "of them {count} that may hold a secret", number)
    return f"{said}, {among}" if number else said


def _place(request: Request, kept: Iterable[Kept]) -> Chip:
    if request.isolation is Isolation.PROCESS:
        return Chip(tr("not separated: can read and change your files"), "shield-alert", holds=False)
    if request.work is not None:
        project = phrases.visible(request.work.project)
        words = tr("Over a working copy of {project}: reads its files, changes the copy alone", project=project)
        return Chip(
            words, "layers", holds=False, short=tr("copy of {project}, which alone it changes", project=project)
        )
    if not request.sandbox:
        if request.isolation.is_promised:
            whose = tr("its package") if request.brought_by else "E2B"
            return Chip(tr("Empty sandbox, promised by {whose}", whose=whose), "shield", holds=False)
        return Chip(tr("Empty sandbox, none of your files"), "shield-check", holds=True, short=tr("Empty sandbox"))
    agent = phrases.visible(request.agent)
    own = next((one for one in kept if one.id == request.sandbox), None)
    if own is not None and not own.uses:
        return Chip(
            tr("{agent}'s kept sandbox, still empty, none of your files", agent=agent),
            "shield-check",
            holds=True,
            short=tr("kept sandbox"),
        )
    since = tr(" since {clock}", clock=phrases.clock(own.made_at)) if own is not None else ""
    calls = (
        f", {plural('{count} call', '{count} calls', own.uses)}"
        if own is not None
        else tr(", with what earlier calls left")
    )
    back = (
        tr(", put back to before run {put_back_to}", put_back_to=own.put_back_to)
        if own is not None and own.put_back_to
        else ""
    )
    return Chip(
        tr("{agent}'s kept sandbox{calls}{since}{back}", agent=agent, calls=calls, since=since, back=back),
        "layers",
        holds=False,
    )


def _network(request: Request) -> Chip:
    match request.network:
        case NetworkMode.NONE if request.isolation is Isolation.PROCESS:
            return Chip(tr("network not blocked"), "globe", holds=False)
        case NetworkMode.NONE if request.brought_by:
            return Chip(tr("no network, promised"), "ban", holds=False)
        case NetworkMode.NONE:
            return Chip(tr("no network"), "ban", holds=True)
        case NetworkMode.REGISTRIES:
            return Chip(tr("may reach package registries"), "globe", holds=False, short=tr("package registries"))
        case NetworkMode.DOMAINS:
            named = [phrases.visible(one) for one in request.domains[:MOST_HOSTS]]
            more = len(request.domains) - len(named)
            # Their number first: of names that are too long the middle is left out.
            several = tr("{count} hosts: ", count=len(request.domains)) if len(request.domains) > 1 else ""
            words = several + ", ".join(named) + (tr(" and {more} more", more=more) if more else "")
            return Chip(
                tr("may reach {words}", words=words or tr("no host")), "globe", holds=not request.domains, short=words
            )


def _time(request: Request, asked: float | None) -> Chip:
    seconds = request.limits.seconds
    was = tr(" (asked: {asked} s)", asked=numeral(asked, "g")) if asked is not None and asked != seconds else ""
    return Chip(
        tr("ends after {seconds} s{was}", seconds=numeral(seconds, "g"), was=was),
        "timer",
        holds=True,
        short=f"{numeral(seconds, 'g')} s{was}",
    )
