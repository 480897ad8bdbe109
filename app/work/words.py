"""Programs at work and their changes in words."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

from app.network import words as network_words
from app.parts.amounts import percent, size
from app.parts.chips import Fact
from app.parts.text.visible_characters import expose, visible
from app.phrases import clock, day
from app.state.work_cards import refused
from runner.model.network import Contact
from runner.model.translation import numeral, plural, tr, within
from runner.sandbox.file_names import shown
from runner.workspace.change import How
from runner.workspace.entry import is_folder

if TYPE_CHECKING:
    from runner.model.work import WorkSession, WorkUsage
    from runner.workspace.apply import Applied
    from runner.workspace.change import ProjectChange, ProjectChanges
    from runner.workspace.difference import LineDifference
    from runner.workspace.undo import WayBack

DOT = " \N{MIDDLE DOT} "
MINUS = "\N{MINUS SIGN}"
SIGNS = {How.ADDED: "A", How.CHANGED: "M", How.DELETED: "D", How.TOUCHED: "T"}
SIGN_WORDS = {
    How.ADDED: tr("added"),
    How.CHANGED: tr("changed"),
    How.DELETED: tr("deleted"),
    How.TOUCHED: tr("only its time"),
}
INKS = {"A": "low", "M": "accent_ink", "D": "high", "T": "muted", "?": "muted"}
APPLIED = tr("What you applied is in your folder.")
APPLIED_IN_PART = tr("What you applied is in your folder, but for what you took back.")
UNTOUCHED = tr("Your folder is as it was.")
SHORT = (tr("permissions"), tr("link"), tr("folder"), tr("pipe"))
"""Words for what differs that have room in a row."""
LONGEST_LINE = 60
"""Characters of a command line in a headline."""
MOST_LEFT = 5
"""Paths that Undo leaves, named in a sentence."""
MOVING = tr("While it is at work, the list may still change.")


def title(session: WorkSession) -> str:
    """Return what a working copy is called: the name of its project's folder."""
    return visible(Path(session.project).name or session.project)


def home_path(path: str) -> str:
    """Return a path with `~` for the home folder, letter by letter."""
    home = str(Path.home())
    return visible(f"~{path[len(home) :]}" if path == home or path.startswith(f"{home}/") else path)


def client(session: WorkSession) -> str:
    """Return which program it is."""
    return visible(session.client or (Path(session.program[0]).name if session.program else tr("a program")))


def lasted(seconds: float) -> str:
    """Return a duration in whole words: `23 minutes`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return plural("{count} second", "{count} seconds", whole)
    if whole < 2 * 3600:
        return plural("{count} minute", "{count} minutes", whole // 60)
    return (
        plural("{count} hour", "{count} hours", whole // 3600)
        if whole < 2 * 86_400
        else plural("{count} day", "{count} days", whole // 86400)
    )


def short(seconds: float) -> str:
    """Return a duration as `23 min`."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 2 * 3600:
        return f"{whole // 60} min"
    return f"{whole // 3600} h" if whole < 2 * 86_400 else tr("{whole} days", whole=whole // 86400)


def moment(epoch: float) -> str:
    """Return a moment with its day where that is another one: `14:03`, `yesterday 14:03`."""
    named = day(epoch)
    return clock(epoch) if named == tr("Today") else f"{within(named)} {clock(epoch)}"


def since(session: WorkSession) -> str:
    """Return program and time of a working copy in one line."""
    if session.at_work:
        return DOT.join((client(session), moment(session.started_at), short(time.time() - session.started_at)))
    at = session.ended.at if session.ended is not None else session.started_at
    word = tr("ended") if session.ended is not None else tr("began")
    return DOT.join((client(session), f"{word} {moment(at)}"))


def hosts_refused(session: WorkSession) -> str:
    """Return how many hosts were refused; '' for none."""
    number = len(refused(session))
    return plural("{count} host refused", "{count} hosts refused", number) if number else ""


def is_recorded(session: WorkSession) -> bool:
    """Whether anything is known of what the program did: of one that `assent try` ran nothing was written down."""
    return bool(session.at_work or session.recorded or session.command_count or session.contacts)


def headline(session: WorkSession) -> str:
    """Return in a sentence or two how things stand."""
    if session.readable:
        return tr("This working copy cannot be used: {readable}", readable=visible(session.readable))
    folder = UNTOUCHED
    if session.can_undo:
        folder = APPLIED_IN_PART if session.undone_in_part else APPLIED
    if not is_recorded(session):
        line = visible(shlex.join(session.program))
        place = tr(" in {sandbox}", sandbox=visible(session.sandbox)) if session.sandbox else ""
        cut = "\N{HORIZONTAL ELLIPSIS}" if len(line) > LONGEST_LINE else ""
        if not line:
            return folder
        ran = f"\N{LEFT DOUBLE QUOTATION MARK}{line[:LONGEST_LINE]}{cut}\N{RIGHT DOUBLE QUOTATION MARK}"
        took = (
            tr(" for {lasted}", lasted=lasted(session.ended.at - session.started_at))
            if session.ended is not None
            else ""
        )
        return tr("Ran {ran}{place}{took}. {folder}", ran=ran, place=place, took=took, folder=folder)
    until = time.time() if session.at_work else session.ended.at if session.ended is not None else None
    parts = [lasted(until - session.started_at)] if until is not None else []
    parts.append(plural("{count} command", "{count} commands", session.command_count))
    if said := hosts_refused(session):
        parts.append(said)
    parts += answered(session)
    if session.held and session.at_work:
        # Not for how long: a longer line would push down what is about to be pressed.
        parts.append(plural("{count} command held", "{count} commands held", len(session.held)))
    return f"{', '.join(parts)}. {folder}"


def answered(session: WorkSession) -> list[str]:
    """Return how many held commands a person has let run and refused, and how many others were not run."""
    numbers = (
        (tr("let run"), session.let_run),
        (tr("refused by you"), session.turned_down),
        (tr("not run"), session.not_run),
    )
    return [f"{numeral(number)} {what}" for what, number in numbers if number]


def refusing(session: WorkSession) -> str:
    """Return why no command of a program is run at present; '' where they are."""
    if not (session.at_work and session.refused):
        return ""
    return f"{visible(session.agent)}: {visible(session.refused)}"


def ending(session: WorkSession) -> str:
    """Return how a program ended; '' while it is at work."""
    if session.at_work or session.readable:
        return ""
    if session.ended is None:
        return tr("Its end was not recorded, as after a kill or a power cut.") if is_recorded(session) else ""
    if session.ended.why:
        return visible(session.ended.why)
    return "" if session.ended.code == 0 else tr("It ended with exit code {code}.", code=session.ended.code)


def chips(session: WorkSession) -> tuple[Fact, ...]:
    """Return what contains a program."""
    verb = tr("works") if session.at_work else tr("worked")
    facts = [
        Fact(tr("{verb} on a copy of {project}", verb=verb, project=home_path(session.project)), "layers", "low"),
        Fact(
            tr("{rest} none of your other files", rest=tr("changes") if session.at_work else tr("changed")),
            "lock",
            "low",
        ),
    ]
    if not is_recorded(session):
        return tuple(facts)
    allowed = plural("{count} host", "{count} hosts", len(session.opened))
    if session.hosts:
        own = tr("its own service") if session.client else plural("{count} host", "{count} hosts", len(session.hosts))
        facts.append(Fact(tr("network: {own}", own=own), "network", "low"))
        if session.opened:
            facts.append(Fact(tr("and {allowed} that you allowed", allowed=allowed), "globe", "medium"))
    elif session.opened:
        facts.append(Fact(tr("network: {allowed} that you allowed", allowed=allowed), "globe", "medium"))
    else:
        facts.append(Fact(tr("no network"), "network", "low"))
    return tuple(facts)


def hosts(session: WorkSession) -> str:
    """Return every host that may be reached, a line each."""
    lines = [visible(one) for one in session.hosts]
    lines += [
        tr(
            "{host}:{port}, allowed by you {moment}{rest}",
            host=visible(one.host),
            port=one.port,
            moment=moment(one.at),
            rest=tr(", for this project") if one.always else tr(", for this session"),
        )
        for one in session.opened
    ]
    return "\n".join(lines)


def gauges(session: WorkSession, usage: WorkUsage, before: tuple[float, WorkUsage] | None, now: float) -> str:
    """Return what is used now, in one line; `before` is an earlier reading with its time."""
    parts = []
    if before is not None and now > before[0]:
        share = 100 * max(0.0, usage.cpu_seconds - before[1].cpu_seconds) / (now - before[0])
        parts.append(tr("CPU {percent}", percent=percent(share)))
    limit = tr(" of {size}", size=size(session.memory_bytes)) if session.memory_bytes else ""
    parts.append(f"{size(usage.memory_bytes)}{limit}")
    parts.append(plural("{count} process", "{count} processes", usage.processes))
    return DOT.join(parts)


# ---- changes ----


def path(change: ProjectChange) -> str:
    """Return the name of what is changed, in which nothing hides; of a folder with a slash."""
    there = change.after or change.before
    slash = "/" if is_folder(there) else ""
    return f"{name(change.path)}{slash}" if change.path else tr("the project's own folder")


def name(path: bytes) -> str:
    """Return a name letter by letter: two blanks stay two, and what cannot be seen is written as an escape."""
    return expose(shown(path)).text


def counts(added: int, removed: int) -> str:
    """Return `+14 −3`."""
    return " ".join(
        part for part in (f"+{numeral(added)}" * bool(added), f"{MINUS}{numeral(removed)}" * bool(removed)) if part
    )


def counted_lines(found: LineDifference) -> str:
    """Return how many lines of a change differ, or in a word what differs in their place."""
    word = found.instead.partition(" ")[0]
    return counts(found.added, found.removed) or (word if word in SHORT else "")


def summary(changes: ProjectChanges | None, problem: str, *, applied: bool) -> str:
    """Return how many changes there are; `applied` says that some are in the project already."""
    if changes is None:
        return tr("changes could not be read") if problem else ""
    if not changes.changes:
        return tr("nothing left") if applied else tr("nothing changed")
    return plural("{count} change", "{count} changes", len(changes.changes))


def written(done: Applied, session: WorkSession, verb: str, things: str) -> str:
    """Return what was done; `things` are what was meant, '' for whatever it was."""
    meant = things if things and not done.passed_over else plural("{count} change", "{count} changes", done.paths)
    text = tr("{verb}: {meant} in {project}.", verb=verb, meant=meant, project=home_path(session.project))
    if done.passed_over:
        named = ", ".join(name(one) for one in done.passed_over[:3])
        more = tr(" and {count} more", count=numeral(len(done.passed_over) - 3)) if len(done.passed_over) > 3 else ""
        text += tr(" Left alone, because somebody changed it in this moment: {named}{more}.", named=named, more=more)
    return text


def left_by_undo(plan: WayBack) -> str:
    """Return what Undo leaves as it is, and why; '' for nothing."""
    if not plan.kept:
        return ""
    named = "; ".join(f"{name(path)}: {why}" for path, why in plan.kept[:MOST_LEFT])
    more = tr("; and {count} more", count=numeral(len(plan.kept) - MOST_LEFT)) if len(plan.kept) > MOST_LEFT else ""
    return plural(
        "{count} path stays as now, to be taken back later: {named}{more}.",
        "{count} paths stay as now, to be taken back later: {named}{more}.",
        len(plan.kept),
        named=named,
        more=more,
    )


def port(number: int) -> str:
    return f":{number}"


def place(host: str, number: int) -> str:
    """Return a host with its port, as the pages of hosts write it."""
    return network_words.place(Contact(host, number, None))
