"""The words for a grant and a rule: what it covers and until when, promising no less and no more than it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import phrases
from app.parts.amounts import size
from app.parts.text.alike import circled
from runner.approval.learning import OFTEN
from runner.model.decision import Verdict
from runner.model.sentence_translation import in_words
from runner.model.translation import numeral, plural, tr
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
    Subject.EXACT: (tr("This exact request"), tr("Same code, variables, input, limits and sandbox, by this agent.")),
    Subject.TEXT: (tr("The same program"), tr("Letter by letter, with no more resources than now.")),
    Subject.SHAPE: (tr("The same code, other values"), tr("Plain strings and numbers may change, nothing else.")),
    Subject.FILES: (
        tr("Files like this one"),
        tr("In this sandbox, the same folder and ending; never what is above MEDIUM."),
    ),
    Subject.PACKAGES: (
        tr("These packages"),
        tr("Exactly these files, whose hashes you see, in any sandbox of this agent."),
    ),
    Subject.KIND: (
        tr("Requests of this kind"),
        tr("Same tool and language, touching nothing that this one does not touch."),
    ),
    Subject.HOST: (
        tr("This host"),
        tr("Networked runs of this agent reach it from now on; each of them is still asked."),
    ),
}


def name(grant: Grant) -> str:
    """Return the name of a grant in the list."""
    if grant.subject is Subject.HOST:
        return tr(
            "Host {pattern} for {agent}", pattern=phrases.visible(grant.pattern), agent=phrases.visible(grant.agent)
        )
    return f"{SUBJECTS[grant.subject][0]}: {phrases.visible(grant.title) or grant.tool.value}"


def covered(grant: Grant) -> str:
    """Return all that a grant covers, in whole sentences."""
    who = phrases.visible(grant.agent) if grant.agent else tr("any agent")
    level = tr("Nothing above {name}.", name=grant.level.name)
    match grant.subject:
        case Subject.EXACT:
            return tr(
                "Only this request by {who}: the same code, variables, input, limits and sandbox. {level}",
                who=who,
                level=level,
            )
        case Subject.TEXT:
            what = tr("The same program letter by letter, with the same variables and input,")
            return tr("{what} by {who}, {where}. {level}", what=what, who=who, where=_where(grant), level=level)
        case Subject.SHAPE:
            what = tr("The same code with other texts and numbers in their places, with the same variables and input,")
            named = _kinds(grant.touch)
            reach = tr(" but those named here: {named}", named=named) if named else ""
            more = tr("It may touch other files, but no hosts, programs, credentials or packages{reach}.", reach=reach)
            return tr(
                "{what} by {who}, {where}. {more} Nothing else may be found in it. {level}",
                what=what,
                who=who,
                where=_where(grant),
                more=more,
                level=level,
            )
        case Subject.KIND:
            tool = " ".join(filter(None, (phrases.language(grant.language), grant.tool.value)))
            return tr(
                "Any {tool} by {who}, {where}, without network, touching {touched}. {level}",
                tool=tool,
                who=who,
                where=_where(grant),
                touched=_touched(grant.touch),
                level=level,
            )
        case Subject.PACKAGES:
            return tr(
                "Installing exactly the same files by {who}, {where}. {level}",
                who=who,
                where=_where(grant),
                level=level,
            )
        case Subject.FILES:
            files = tr(
                "{value} of {pattern} in sandbox {sandbox}",
                value=grant.tool.value,
                pattern=phrases.visible(grant.pattern),
                sandbox=grant.sandbox,
            )
            more = tr("A `*` stands for one name; names that begin with a dot and other folders are asked.")
            return tr("Any {files} by {who}. {more} {level}", files=files, who=who, more=more, level=level)
        case Subject.HOST:
            inside = (
                tr(
                    " It may lead to an address inside your own network: {private}.",
                    private=phrases.visible(grant.private),
                )
                if grant.private
                else ""
            )
            more = tr("It approves nothing: each run with network is CRITICAL and asked, with this host in its list.")
            return tr(
                "Networked runs of {who} reach {pattern} as well.{inside} {more}",
                who=who,
                pattern=phrases.visible(grant.pattern),
                inside=inside,
                more=more,
            )


def ends(grant: Grant) -> str:
    """Return the ends of a grant in words; whichever comes first counts."""
    parts = [plural("after {count} use", "after {count} uses", grant.uses)]
    if grant.expires_at:
        parts.append(tr("at {when}", when=phrases.when(grant.expires_at)))
    if grant.session:
        parts.append(tr("with this session"))
    first = ", ".join(parts[:-1])
    return (
        tr("Ends {first} or {parts}, whichever comes first.", first=first, parts=parts[-1])
        if first
        else tr("Ends {parts}.", parts=parts[-1])
    )


def use(grant: Grant) -> str:
    """Return how often it was used, and when last."""
    last = tr(", last at {when}", when=phrases.when(grant.last_used)) if grant.last_used else ""
    return plural(
        "Used {used} of {count} time{last}.",
        "Used {used} of {count} times{last}.",
        grant.uses,
        used=grant.used,
        last=last,
    )


def at_hand(found: Preview) -> list[str]:
    """Return the values of the request at hand as the first line of that list, where its code is shown."""
    return (
        [tr("This request  {numbered}", numbered=_numbered(found.differs.rows[0]))] if found.differs is not None else []
    )


def _numbered(values: Iterable[str]) -> str:
    return "   ".join(f"{circled(n)} {phrases.visible(text)}" for n, text in enumerate(values, 1))


def past(one: Past) -> str:
    """Return a line of the list of what would have been covered: its values, or what it is called."""
    became = phrases.verdict(one.verdict) if one.verdict else tr("open")
    title = phrases.visible(one.title) or phrases.visible(one.code[: phrases.TITLE_LENGTH]) or tr("no code")
    values = _numbered(one.values)
    return f"{phrases.when(one.at)}  {phrases.visible(one.agent)}  {became}  {values or title}"


def learned(found: Learned) -> str:
    """Return how much of what a person answered the offers have in common."""
    shapes = (
        tr("of one shape")
        if len(found.offers) == 1
        else tr("of the same {count} shapes", count=numeral(len(found.offers)))
    )
    answered = plural("{count} request", "{count} requests", found.answered)
    return plural(
        "{count} of the {answered} that you answered was {shapes}. Remember these?",
        "{count} of the {answered} that you answered were {shapes}. Remember these?",
        found.alike,
        answered=answered,
        shapes=shapes,
    )


def nothing_learned(found: Learned) -> tuple[str, str]:
    """Return a title and a sentence that say when there will be something to offer."""
    when = tr(
        "What you approve {often} times with the same bounds is offered here: the same "
        "request, or the same code with other values, unless it is remembered already.",
        often=OFTEN,
    )
    so_far = plural(
        " You answered {answered} of the last {count} request.",
        " You answered {answered} of the last {count} requests.",
        len(found.looked_at),
        answered=numeral(found.answered),
    )
    return tr("Nothing to offer yet"), when + (so_far if found.looked_at else "")


def kind_of_answer(one: Past) -> str:
    """Return who answered a past request, as it is counted."""
    if one.answered:
        return tr("you denied") if one.refused else tr("you approved")
    return tr("passed without asking") if one.verdict is Verdict.APPROVED else tr("not answered by you")


def offered(one: Offer) -> tuple[str, str]:
    """Return what an offer is about: what it does; and whose it is, with what its agent calls it."""
    does = phrases.visible(in_words(one.latest.headline)) or tr("A program")
    title = phrases.in_quotes(phrases.short(phrases.visible(one.latest.title))) if one.latest.title else ""
    return does, " \N{MIDDLE DOT} ".join(filter(None, (phrases.visible(one.latest.agent), title)))


def replayed(one: Offer, looked_at: int) -> str:
    """Return what an offer is made of, and what it would have answered."""
    often = plural(
        "You approved it {count} time, usually in {seconds}",
        "You approved it {count} times, usually in {seconds}",
        one.approved,
        seconds=phrases.span(one.seconds),
    )
    approved = sum(past.answered and not past.refused for past in one.covered)
    others = len(one.covered) - approved - len(one.refused)
    parts = [
        tr("{approved} that you approved", approved=numeral(approved)),
        *[tr("{others} that you did not answer", others=numeral(others))] * bool(others),
    ]
    return plural(
        "{often}. Of the last {count} request it covers {parts}.",
        "{often}. Of the last {count} requests it covers {parts}.",
        looked_at,
        often=often,
        parts=tr(" and ").join(parts),
    )


def refused(one: Offer) -> str:
    """Return what an offer would have approved that a person denied; empty where nothing is."""
    if not one.refused:
        return ""
    shown = "; ".join(past(each) for each in one.refused[:3])
    more = tr("; and {count} more", count=numeral(len(one.refused) - 3)) if len(one.refused) > 3 else ""
    return tr(
        "It would also have approved {count} that you denied: {shown}{more}.",
        count=numeral(len(one.refused)),
        shown=shown,
        more=more,
    )


def rule(one: Rule) -> str:
    """Return what a rule of the files says."""
    parts = [", ".join(map(phrases.visible, one.tools)) or tr("Any tool")]
    if one.agents:
        parts.append(tr("by {map}", map=", ".join(map(phrases.visible, one.agents))))
    if one.conditions:
        parts.append(tr("where {map}", map=tr(" and ").join(map(_condition, one.conditions))))
    does = {"ask": tr("you are asked"), "deny": tr("denied"), "allow": tr("allowed up to MEDIUM without asking")}[
        one.action.value
    ]
    if one.level is not None:
        does += tr(", at least {name}", name=one.level.name)
    if one.window is not None:
        does += tr(", {window} to answer", window=phrases.span(round(one.window)))
    return f"{' '.join(parts)}: {does}."


def _condition(one: Condition) -> str:
    parameter = phrases.visible(one.parameter)
    if one.matches is not None:
        return tr("{parameter} matches {words}", parameter=parameter, words=phrases.visible(one.matches.text))
    return tr("{parameter} is {equals}", parameter=parameter, equals=phrases.visible(one.equals or ""))


def _where(grant: Grant) -> str:
    return tr(
        "in the {isolation} or a stronger one, with at most {limits}",
        isolation=phrases.isolation(grant.isolation),
        limits=_limits(grant.limits),
    )


def _limits(limits: Limits) -> str:
    amounts = (
        f"{numeral(limits.seconds, 'g')} s",
        tr("{size} of memory", size=size(limits.memory_mb * _MB)),
        tr("{cpu_cores} of a processor", cpu_cores=numeral(limits.cpu_cores, "g")),
        tr("{size} of disk", size=size(limits.disk_mb * _MB)),
        tr("{size} of output", size=size(limits.output_bytes)),
        plural("{count} process", "{count} processes", limits.processes),
    )
    return tr("{amounts} and {amounts_2}", amounts=", ".join(amounts[:-1]), amounts_2=amounts[-1])


def _touched(touch: Touch) -> str:
    kinds = _kinds(touch)
    if kinds:
        return tr("nothing but {kinds}", kinds=kinds)
    return tr("no files, hosts, programs, credentials or packages")


def _kinds(touch: Touch) -> str:
    """Return what may be touched, by its kind; empty for nothing."""
    named = (
        (tr("files"), touch.files),
        (tr("hosts"), touch.hosts),
        (tr("programs"), touch.processes),
        (tr("credentials"), touch.credentials),
        (tr("packages"), touch.packages),
    )
    return "; ".join(f"{kind} {', '.join(map(phrases.visible, values))}" for kind, values in named if values)
