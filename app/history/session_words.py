"""The words of the history for a program at work: its row, its sentence, a line for each thing that happened."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app import phrases
from app.history.work_words import work_words
from app.parts.text.lines import Summary
from runner.audit.history import past_work
from runner.model.sentence_translation import in_words
from runner.model.translation import capital, numeral, plural, tr

if TYPE_CHECKING:
    from runner.audit.history.past_work import PastSession, PastStep

DOT = " \N{MIDDLE DOT} "
CUT_OFF = tr("end not recorded")
LONGEST = 300
"""Characters of one value in a line."""


def title(session: PastSession) -> str:
    """Return who worked on what: `claude-code on sales-report`."""
    folder = Path(session.project).name or session.project
    return phrases.visible(
        tr("{who} on {folder}", who=session.who or tr("A program"), folder=folder) if folder else session.name
    )


def lasted(session: PastSession, at_work: bool, now: float) -> str:
    """Return how long it worked, where its end is not known at least; '' where nothing was recorded of it."""
    if not session.recorded:
        return ""
    until = now if at_work else session.last_at if session.ended_at is None else session.ended_at
    took = phrases.span(max(0.0, until - session.started_at))
    return tr("at least {took}", took=took) if session.is_open and not at_work else took


def figures(session: PastSession) -> list[str]:
    """Return what it did and what was decided about it, in parts."""
    parts = (
        [plural("{count} command", "{count} commands", session.commands)]
        if session.recorded or session.commands
        else []
    )
    parts += [tr("{held} held", held=numeral(session.held))] * bool(session.held)
    parts += [tr("{refused} not run", refused=numeral(session.refused))] * bool(session.refused)
    parts += [plural("{count} host refused", "{count} hosts refused", session.hosts_refused)] * bool(
        session.hosts_refused
    )
    parts += [plural("{count} host opened", "{count} hosts opened", session.opened)] * bool(session.opened)
    return parts


def became(session: PastSession) -> list[str]:
    """Return what became of its changes, in parts."""
    parts = [plural("{count} change applied", "{count} changes applied", session.applied)] * bool(session.applied)
    parts += [tr("{undone} undone", undone=numeral(session.undone))] * bool(session.undone)
    return [*parts, *[tr("discarded")] * session.discarded]


def ending(session: PastSession, at_work: bool) -> str:
    """Return in a sentence how it ended; '' while it is at work."""
    if at_work:
        return ""
    if not session.recorded:
        return tr("Run by assent try: what it did is not recorded, only what was done with its changes.")
    if session.ended_at is None:
        last = phrases.when(session.last_at)
        return tr(
            "Its end is not recorded, as after a kill or a power cut: the last that is known is of {last}.", last=last
        )
    if session.why:
        return tr("Assent ended it: {why}", why=phrases.visible(session.why))
    return tr("It ended by itself.") if session.code == 0 else tr("It ended with exit code {code}.", code=session.code)


def sentence(session: PastSession, at_work: bool, now: float) -> str:
    """Return what became of it, in a few sentences."""
    worked = lasted(session, at_work, now)
    done = figures(session)
    parts = (
        [
            tr(
                "{rest} for {worked}: {done}.",
                rest=tr("At work") if at_work else tr("Worked"),
                worked=worked,
                done=", ".join(done),
            )
        ]
        if worked
        else []
    )
    parts.append(ending(session, at_work))
    if made := became(session):
        parts.append(capital(f"{', '.join(made)}."))
    return " ".join(filter(None, parts))


def state(session: PastSession, at_work: bool) -> tuple[str, str]:
    """Return in a word how it stands, and the ink for that."""
    if at_work:
        return tr("at work"), "accent_ink"
    if session.is_open:
        return CUT_OFF, "high"
    if session.discarded:
        return tr("discarded"), "muted"
    if session.applied > session.undone:
        return tr("applied"), "low"
    return (tr("undone"), "muted") if session.undone else (tr("ended"), "muted")


def row(session: PastSession, at_work: bool, now: float) -> Summary:
    """Return it in a row of the list."""
    parts = (phrases.clock(session.started_at), lasted(session, at_work, now), *figures(session), *became(session))
    said, ink = state(session, at_work)
    return Summary(title(session), DOT.join(filter(None, parts)), said, ink)


def step_line(step: PastStep) -> Summary:
    """Return one thing that happened, in a row."""
    facts, at = step.facts, phrases.when(step.at)

    def said(name: str) -> str:
        return phrases.visible(str(facts.get(name, ""))[:LONGEST])

    match step.kind:
        case past_work.COMMAND:
            return _command(
                facts, at, said("text"), DOT.join(filter(None, (said("level"), in_words(said("sentence")))))
            )
        case past_work.HOST:
            refused = facts.get("allowed") is False
            times = facts.get("times")
            often = tr("{times} times", times=numeral(times)) if isinstance(times, int) and times > 1 else ""
            what = f"{(tr('Host refused') if refused else tr('Host reached'))}: {said('host')}:{said('port')}"
            below = DOT.join(filter(None, (at, said("why") if refused else "", often)))
            return Summary(what, below, tr("refused") if refused else "", "high" if refused else "muted")
        case past_work.OPENED:
            return Summary(tr("Host opened: {said}:{said_2}", said=said("host"), said_2=said("port")), at, "", "muted")
        case _:
            # Project and name stand above.
            what, by_person = work_words(
                step.kind, facts, lambda name: "" if name in ("project", "name") else said(name)
            )
            return Summary(phrases.visible(what), at, tr("by a person") if by_person else "", "muted")


def _command(facts: dict[str, Any], at: str, text: str, what: str) -> Summary:
    if isinstance(unnamed := facts.get("not_named"), int):
        return Summary(
            f"{plural('{count} further command', '{count} further commands', unnamed)}",
            DOT.join((at, tr("their number alone is recorded"))),
            "",
        )
    number = facts.get("number")
    answer = facts.get("answer")
    answered = answer if isinstance(answer, dict) else {}
    held = tr("held") if facts.get("held") is True or answered else ""
    why = str(answered.get("why", "") or facts.get("refused", ""))
    below = DOT.join(filter(None, (at, what, phrases.visible(why[:LONGEST]))))
    title = text or tr("Command {number}", number=number)
    if answered:
        ran = answered.get("run") is True
        return Summary(title, below, tr("held, let run") if ran else tr("held, not run"), "low" if ran else "high")
    if facts.get("refused"):
        return Summary(title, below, tr("not run"), "high")
    return Summary(title, below, held or tr("ran"), "medium" if held else "muted")


def command_line(session: PastSession) -> str:
    """Return the command with which it was started, as a shell takes it; '' where that is not known."""
    return phrases.visible(shlex.join(session.program))
