"""Highlights: notable figures as sentences, each with one thing to do about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app import phrases
from app.today.spans import answers, kinds, stopped
from app.today.unforeseen import NONE
from runner.approval.learning import Learned
from runner.audit.history.counting import HOST
from runner.audit.history.filter import UNFORESEEN
from runner.model.assessment import Level
from runner.model.result import Outcome
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.today.attempts import Attempts
    from app.today.spans import SpanFigures
    from app.today.unforeseen import Surprises
    from runner.audit.history.counting import StoppedTry, Tries
    from runner.audit.history.past_work import PastSession
    from runner.identity.agents import Agent
    from runner.model.work import WorkSession

AGAIN = 3
"""Tries from which on a refused host is named."""
MANY_MISSED = 3
VERIFY_DAYS = 7
MOST = 4
MOST_ATTEMPTS = 2
"""Agents that are named for what they asked."""
MOST_LEFT = 2
"""Working copies that are named."""
DAY = 86_400.0
GRAVITY = ("critical", "high", "medium", "accent")
"""The inks of sentences, the gravest first."""
State = dict[str, str]
"""What History is asked for, as `Filters.restore` takes it."""


@dataclass(frozen=True, slots=True)
class ToHistory:
    """Show these requests in History."""

    state: State


@dataclass(frozen=True, slots=True)
class ToPage:
    """Show another page of the window."""

    name: str


@dataclass(frozen=True, slots=True)
class ToOffers:
    """Show what the latest answers offer to remember."""


@dataclass(frozen=True, slots=True)
class ToPause:
    """Pause an agent: what it asks is refused until it is resumed."""

    agent: str


@dataclass(frozen=True, slots=True)
class ToWork:
    """Show a working copy on the page of work."""

    name: str


Act = ToHistory | ToPage | ToOffers | ToPause | ToWork


@dataclass(frozen=True, slots=True)
class LeftByWork:
    """A working copy that wants somebody: its changes are not applied, or commands of its program wait."""

    session: WorkSession
    past: PastSession | None
    """What the history says of it; None where that is not read."""
    changes: int


@dataclass(frozen=True, slots=True)
class Notable:
    """A sentence, more about it, and what can be done; `ink` is a token."""

    ink: str
    words: str
    below: str
    button: str
    act: Act
    look: Act | None = None
    """Where one can look before that; None where the button itself leads there."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the figures. Times are seconds since the epoch."""

    now: float
    agents: tuple[Agent, ...] = ()
    learned: Learned = field(default_factory=Learned)
    verified: float | None = None
    """When the whole ledger was last found unbroken from the window; None for never."""
    since: float = 0.0
    """When the history begins."""
    period: State = field(default_factory=dict)
    """The filter for the span that is shown."""
    surprises: Surprises = NONE
    grants: frozenset[str] = frozenset()
    """The names of those that count now."""
    left: tuple[LeftByWork, ...] = ()
    """The newest first."""
    attempts: tuple[Attempts, ...] = ()
    """The gravest first."""


def worth_a_look(shown: SpanFigures, facts: Known) -> list[Notable]:
    """Return what stands out, the gravest first, at most `MOST`; something of what waits for the person among it."""
    work = [*_left_by_work(facts)]
    found = [
        *_attempted(facts),
        *work,
        *_surprising(facts),
        *_refused(stopped(shown), facts),
        *_missed(shown, facts),
        *_alike(facts.learned),
        *_at_the_limit(shown, facts),
        *_never_connected(facts),
        *_not_verified(facts),
    ]
    found = sorted(found, key=lambda one: GRAVITY.index(one.ink))
    if work and not any(one in work for one in found[:MOST]):
        return [*found[: MOST - 1], work[0]]
    return found[:MOST]


def _attempted(facts: Known) -> Iterable[Notable]:
    """Yield the gravest that each agent asked for, of those that can still ask."""
    agents = {one.name: one for one in facts.agents if not one.revoked}
    named: set[str] = set()
    for one in facts.attempts:
        agent = agents.get(one.agent)
        if agent is None or one.agent in named or len(named) == MOST_ATTEMPTS:
            continue
        named.add(one.agent)
        words = plural(
            "{agent} asked once to {deed}",
            "{agent} asked {count} times to {deed}",
            one.times,
            agent=phrases.visible(one.agent),
            deed=one.deed,
        )
        show = ToHistory({"agent": one.agent, "level": str(int(Level.CRITICAL)), **facts.period})
        when = tr("last {when}", when=phrases.when(one.last))
        if agent.paused:
            yield Notable("critical", words, tr("Not approved, {when}; it is paused", when=when), tr("Show"), show)
        else:
            below = tr("Not approved, {when}. Pause it, and all that it asks is refused until you resume it", when=when)
            yield Notable("critical", words, below, tr("Pause it"), ToPause(one.agent), show)


def _left_by_work(facts: Known) -> Iterable[Notable]:
    """Yield the sessions whose held commands wait, then those to which something was refused, then others; further ones
    together."""
    ordered = sorted(facts.left, key=lambda one: GRAVITY.index(_gravity(one)))
    for one in ordered[:MOST_LEFT]:
        session, past = one.session, one.past
        folder = phrases.visible(Path(session.project).name or session.project)
        program = Path(session.program[0]).name if session.program else tr("A program")
        who = phrases.visible(session.agent or session.client or program)
        until = facts.now if session.at_work else session.ended.at if session.ended else past.last_at if past else 0.0
        least = tr("at least ") if session.ended is None and not session.at_work else ""
        took = (
            tr(" for {least}{until}", least=least, until=phrases.span(until - session.started_at))
            if until > session.started_at
            else ""
        )
        parts = [plural("{count} command", "{count} commands", session.command_count)] * bool(session.command_count)
        if past is not None and past.held:
            parts.append(tr("{held} held", held=numeral(past.held)))
        if session.held:
            parts.append(
                plural("{count} command for you to answer", "{count} commands for you to answer", len(session.held))
            )
        if past is not None and past.refused:
            parts.append(tr("{refused} not run", refused=numeral(past.refused)))
        if past is not None and past.hosts_refused:
            parts.append(plural("{count} host refused", "{count} hosts refused", past.hosts_refused))
        if _is_cut_off(one):
            parts.append(tr("its end is not recorded"))
        if one.changes:
            parts.append(plural("{count} change waits for you", "{count} changes wait for you", one.changes))
        if session.at_work:
            words = tr("{who} works on {folder}{took}", who=who, folder=folder, took=took)
        else:
            words = tr("{who} worked on {folder}{took}", who=who, folder=folder, took=took)
        yield Notable(_gravity(one), words, ", ".join(parts), tr("Open"), ToWork(session.name))
    if (more := len(ordered) - MOST_LEFT) > 0:
        words = plural("{count} further working copy", "{count} further working copies", more)
        yield Notable("accent", words, tr("With changes that wait for you"), tr("Work"), ToPage("Work"))


def _is_cut_off(one: LeftByWork) -> bool:
    """Whether neither its program nor the history says that it has ended, and it is not at work."""
    session, past = one.session, one.past
    return past is not None and past.is_open and session.ended is None and not session.at_work


def _gravity(one: LeftByWork) -> str:
    """Return the ink of a session: commands wait, something was refused to it, or nothing of that."""
    past = one.past
    if one.session.held:
        return "high"
    return "medium" if past is not None and (past.refused or past.hosts_refused or _is_cut_off(one)) else "accent"


def _surprising(facts: Known) -> Iterable[Notable]:
    """Yield each grant whose run did something not foreseen, then how many runs did."""
    asked = [one for one in facts.surprises.passed if one.grant in facts.grants]
    for one in asked[:2]:
        words = tr("Keep the grant {grant}?", grant=phrases.visible(one.grant))
        did = phrases.visible(", ".join(one.what))
        below = tr(
            "It let a run of {agent} pass that did something not foreseen: {did}",
            agent=phrases.visible(one.agent),
            did=did,
        )
        yield Notable("high", words, below, tr("Rules"), ToPage("Rules"))
    if facts.surprises.runs:
        words = plural(
            "{count} run did something not foreseen", "{count} runs did something not foreseen", facts.surprises.runs
        )
        below = tr("Programs, hosts or removed files that the assessment did not name, or an incomplete report")
        yield Notable("high", words, below, tr("Show"), ToHistory({"unforeseen": UNFORESEEN[1], **facts.period}))


def _refused(tried: dict[StoppedTry, Tries], facts: Known) -> Iterable[Notable]:
    often = [(one, tries) for one, tries in tried.items() if one.what == HOST and one.name and tries.tries >= AGAIN]
    for one, tries in sorted(often, key=lambda pair: -pair[1].tries)[:2]:
        words = plural(
            "{agent} tried {name} {count} time",
            "{agent} tried {name} {count} times",
            tries.tries,
            agent=phrases.visible(one.agent),
            name=phrases.visible(one.name),
        )
        below = plural(
            "Refused each time, in {count} run; last {when}",
            "Refused each time, in {count} runs; last {when}",
            tries.runs,
            when=phrases.when(tries.last),
        )
        state = {"agent": one.agent, "host": one.name, **facts.period}
        yield Notable("high", words, below, tr("Show"), ToHistory(state))


def _missed(shown: SpanFigures, facts: Known) -> Iterable[Notable]:
    missed = answers(kinds(shown)).missed
    if missed >= MANY_MISSED:
        below = tr("Nobody answered in time. Longer times to answer are a setting.")
        state = {"verdict": "expired", **facts.period}
        yield Notable(
            "medium", tr("{missed} requests were missed", missed=numeral(missed)), below, tr("Show"), ToHistory(state)
        )


def _alike(found: Learned) -> Iterable[Notable]:
    """Yield how much the answers have in common, where no denied one is among it."""
    offers = tuple(one for one in found.offers if not one.refused)
    if offers:
        clear = replace(found, offers=offers)
        shapes = tr("of one shape") if len(offers) == 1 else tr("of {count} shapes", count=numeral(len(offers)))
        words = plural(
            "{alike} of your last {count} answer were {shapes}",
            "{alike} of your last {count} answers were {shapes}",
            found.answered,
            alike=numeral(clear.alike),
            shapes=shapes,
        )
        below = tr("What you approve again and again can be remembered, within bounds")
        yield Notable("medium", words, below, tr("Offers"), ToOffers())


def _at_the_limit(shown: SpanFigures, facts: Known) -> Iterable[Notable]:
    count = sum(number for kind, number in kinds(shown).items() if kind.outcome == Outcome.TIMED_OUT)
    if count >= AGAIN:
        state = {"outcome": Outcome.TIMED_OUT.value, **facts.period}
        below = tr("They were stopped and gave no result. The time limit is a setting.")
        yield Notable(
            "medium",
            tr("{count} runs reached their time limit", count=numeral(count)),
            below,
            tr("Show"),
            ToHistory(state),
        )


def _never_connected(facts: Known) -> Iterable[Notable]:
    for agent in facts.agents:
        if not agent.revoked and not agent.last_seen and facts.now - agent.created_at > DAY:
            words = tr("{name} has never connected", name=phrases.visible(agent.name))
            below = tr("Added {ago}", ago=phrases.ago(facts.now - agent.created_at))
            yield Notable("accent", words, below, tr("Agents"), ToPage("Agents"))


def _not_verified(facts: Known) -> Iterable[Notable]:
    since = facts.since if facts.verified is None else facts.verified
    if not since or facts.now - since < VERIFY_DAYS * DAY:
        return
    words = tr("The history has not been verified ") + (
        tr("yet") if facts.verified is None else tr("for {now}", now=phrases.span(facts.now - since))
    )
    below = tr("Verify, in History, checks that every entry is as it was written")
    yield Notable("accent", words, below, tr("History"), ToPage("History"))
