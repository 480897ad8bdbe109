"""The words for a grant and a rule: what it covers and until when, promising no less and no more than it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import phrases
from app.parts.amounts import counted, size
from app.parts.text.alike import circled
from runner.approval.learning import OFTEN
from runner.model.decision import Verdict
from runner.policy.grants import Grant, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.approval.hindsight import Preview
    from runner.approval.learning import Learned, Offer
    from runner.approval.past import Past
    from runner.model.assessment import Touch
    from runner.model.request import Limits
    from runner.policy.rules import Condition, Rule

_MB = 1 << 20
SUBJECTS = {
    Subject.EXACT: ("This exact request", "Same code, variables, input, limits and sandbox, by this agent."),
    Subject.TEXT: ("The same program", "Letter by letter, with no more resources than now."),
    Subject.SHAPE: ("The same code, other values", "Plain strings and numbers may change, nothing else."),
    Subject.FILES: ("Files like this one", "In this sandbox, the same folder and ending; never what is above MEDIUM."),
    Subject.PACKAGES: ("These packages", "Exactly these files, whose hashes you see, in any sandbox of this agent."),
    Subject.KIND: ("Requests of this kind", "Same tool and language, touching nothing that this one does not touch."),
    Subject.HOST: ("This host", "Networked runs of this agent reach it from now on; each of them is still asked."),
}


def name(grant: Grant) -> str:
    """Return the name of a grant in the list."""
    if grant.subject is Subject.HOST:
        return f"Host {phrases.visible(grant.pattern)} for {phrases.visible(grant.agent)}"
    return f"{SUBJECTS[grant.subject][0]}: {phrases.visible(grant.title) or grant.tool.value}"


def covered(grant: Grant) -> str:
    """Return all that a grant covers, in whole sentences."""
    who = phrases.visible(grant.agent) if grant.agent else "any agent"
    level = f"Nothing above {grant.level.name}."
    match grant.subject:
        case Subject.EXACT:
            return f"Only this request by {who}: the same code, variables, input, limits and sandbox. {level}"
        case Subject.TEXT:
            what = "The same program letter by letter, with the same variables and input,"
            return f"{what} by {who}, {_where(grant)}. {level}"
        case Subject.SHAPE:
            what = "The same code with other texts and numbers in their places, with the same variables and input,"
            named = _touched(grant.touch).removeprefix("nothing but ")
            reach = "" if named.startswith("no files") else f" but those named here: {named}"
            more = f"It may touch other files, but no hosts, programs, credentials or packages{reach}."
            return f"{what} by {who}, {_where(grant)}. {more} Nothing else may be found in it. {level}"
        case Subject.KIND:
            tool = " ".join(filter(None, (phrases.language(grant.language), grant.tool.value)))
            return f"Any {tool} by {who}, {_where(grant)}, without network, touching {_touched(grant.touch)}. {level}"
        case Subject.PACKAGES:
            return f"Installing exactly the same files by {who}, {_where(grant)}. {level}"
        case Subject.FILES:
            files = f"{grant.tool.value} of {phrases.visible(grant.pattern)} in sandbox {grant.sandbox}"
            more = "A `*` stands for one name; names that begin with a dot and other folders are asked."
            return f"Any {files} by {who}. {more} {level}"
        case Subject.HOST:
            inside = (
                f" It may lead to an address inside your own network: {phrases.visible(grant.private)}."
                if grant.private
                else ""
            )
            more = "It approves nothing: each run with network is CRITICAL and asked, with this host in its list."
            return f"Networked runs of {who} reach {phrases.visible(grant.pattern)} as well.{inside} {more}"


def ends(grant: Grant) -> str:
    """Return the ends of a grant in words; whichever comes first counts."""
    parts = [f"after {counted(grant.uses, 'use')}"]
    if grant.expires_at:
        parts.append(f"at {phrases.when(grant.expires_at)}")
    if grant.session:
        parts.append("with this session")
    first = ", ".join(parts[:-1])
    return f"Ends {first} or {parts[-1]}, whichever comes first." if first else f"Ends {parts[-1]}."


def use(grant: Grant) -> str:
    """Return how often it was used, and when last."""
    last = f", last at {phrases.when(grant.last_used)}" if grant.last_used else ""
    return f"Used {grant.used} of {counted(grant.uses, 'time')}{last}."


def at_hand(found: Preview) -> list[str]:
    """Return the values of the request at hand as the first line of that list, where its code is shown."""
    return [f"This request  {_numbered(found.differs.rows[0])}"] if found.differs is not None else []


def _numbered(values: Iterable[str]) -> str:
    return "   ".join(f"{circled(n)} {phrases.visible(text)}" for n, text in enumerate(values, 1))


def past(one: Past) -> str:
    """Return a line of the list of what would have been covered: its values, or what it is called."""
    became = phrases.verdict(one.verdict) if one.verdict else "open"
    title = phrases.visible(one.title) or phrases.visible(one.code[: phrases.TITLE_LENGTH]) or "no code"
    values = _numbered(one.values)
    return f"{phrases.when(one.at)}  {phrases.visible(one.agent)}  {became}  {values or title}"


def learned(found: Learned) -> str:
    """Return how much of what a person answered the offers have in common."""
    shapes = "of one shape" if len(found.offers) == 1 else f"of the same {len(found.offers):,} shapes"
    were = "was" if found.alike == 1 else "were"
    answered = counted(found.answered, "request")
    return f"{found.alike:,} of the {answered} that you answered {were} {shapes}. Remember these?"


def nothing_learned(found: Learned) -> tuple[str, str]:
    """Return a title and a sentence that say when there will be something to offer."""
    when = (
        f"What you approve {OFTEN} times with the same bounds is offered here: the same request, or the same code with "
        "other values, unless it is remembered already."
    )
    so_far = f" You answered {found.answered:,} of the last {counted(len(found.looked_at), 'request')}."
    return "Nothing to offer yet", when + (so_far if found.looked_at else "")


def kind_of_answer(one: Past) -> str:
    """Return who answered a past request, as it is counted."""
    if one.answered:
        return "you denied" if one.refused else "you approved"
    return "passed without asking" if one.verdict is Verdict.APPROVED else "not answered by you"


def offered(one: Offer) -> tuple[str, str]:
    """Return what an offer is about: what it does; and whose it is, with what its agent calls it."""
    does = phrases.visible(one.latest.headline) or "A program"
    title = phrases.in_quotes(phrases.short(phrases.visible(one.latest.title))) if one.latest.title else ""
    return does, " \N{MIDDLE DOT} ".join(filter(None, (phrases.visible(one.latest.agent), title)))


def replayed(one: Offer, looked_at: int) -> str:
    """Return what an offer is made of, and what it would have answered."""
    often = f"You approved it {counted(one.approved, 'time')}, usually in {phrases.span(one.seconds)}"
    approved = sum(past.answered and not past.refused for past in one.covered)
    others = len(one.covered) - approved - len(one.refused)
    parts = [f"{approved:,} that you approved", *[f"{others:,} that you did not answer"] * bool(others)]
    return f"{often}. Of the last {counted(looked_at, 'request')} it covers {' and '.join(parts)}."


def refused(one: Offer) -> str:
    """Return what an offer would have approved that a person denied; empty where nothing is."""
    if not one.refused:
        return ""
    shown = "; ".join(past(each) for each in one.refused[:3])
    more = f"; and {len(one.refused) - 3:,} more" if len(one.refused) > 3 else ""
    return f"It would also have approved {len(one.refused):,} that you denied: {shown}{more}."


def rule(one: Rule) -> str:
    """Return what a rule of the files says."""
    parts = [", ".join(map(phrases.visible, one.tools)) or "Any tool"]
    if one.agents:
        parts.append(f"by {', '.join(map(phrases.visible, one.agents))}")
    if one.conditions:
        parts.append(f"where {' and '.join(map(_condition, one.conditions))}")
    does = {"ask": "you are asked", "deny": "denied", "allow": "allowed up to MEDIUM without asking"}[one.action.value]
    if one.level is not None:
        does += f", at least {one.level.name}"
    if one.window is not None:
        does += f", {phrases.span(round(one.window))} to answer"
    return f"{' '.join(parts)}: {does}."


def _condition(one: Condition) -> str:
    parameter = phrases.visible(one.parameter)
    if one.matches is not None:
        return f"{parameter} matches {phrases.visible(one.matches.text)}"
    return f"{parameter} is {phrases.visible(one.equals or '')}"


def _where(grant: Grant) -> str:
    return f"in the {phrases.isolation(grant.isolation)} or a stronger one, with at most {_limits(grant.limits)}"


def _limits(limits: Limits) -> str:
    amounts = (
        f"{limits.seconds:g} s",
        f"{size(limits.memory_mb * _MB)} of memory",
        f"{limits.cpu_cores:g} of a processor",
        f"{size(limits.disk_mb * _MB)} of disk",
        f"{size(limits.output_bytes)} of output",
        counted(limits.processes, "process", "processes"),
    )
    return f"{', '.join(amounts[:-1])} and {amounts[-1]}"


def _touched(touch: Touch) -> str:
    named = (
        ("files", touch.files),
        ("hosts", touch.hosts),
        ("programs", touch.processes),
        ("credentials", touch.credentials),
        ("packages", touch.packages),
    )
    kinds = [f"{kind} {', '.join(map(phrases.visible, values))}" for kind, values in named if values]
    return f"nothing but {'; '.join(kinds)}" if kinds else "no files, hosts, programs, credentials or packages"
