"""`assent work`: what was changed in working copies, on the terminal."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shlex
import signal
import sys
import threading
import time
from argparse import RawDescriptionHelpFormatter
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Self

from runner.approval.hosts import PrivateAddress, private_addresses
from runner.commands import added_findings
from runner.commands.deeds import carried_out, note_order, ordered, require_terminal, require_word, switched
from runner.engine.networking import look_up
from runner.engine.work.deeds import kept_facts
from runner.engine.work.facts import cut
from runner.engine.work.orders import LONGEST_REASON
from runner.model.errors import KnownError
from runner.model.network import Destination, UnusableHost
from runner.model.shown import in_one_line, visible
from runner.model.work import WorkSession, after
from runner.model.work_entries import ANSWER, END, NOT_ANSWERED, NOT_OPENED, OPEN, WorkDeed
from runner.sandbox.file_names import shown
from runner.work import project_hosts
from runner.work.control import order
from runner.work.log import WorkReading
from runner.workspace.change import MERGED, WHOLE, How, ProjectChange, digest, repository_of
from runner.workspace.difference import compared, total
from runner.workspace.hunks import with_hunks
from runner.workspace.lines import unified_numbers
from runner.workspace.marks import PART, counted
from runner.workspace.working_copy import KEPT_DAYS, WorkingCopy, all_below, named

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from runner.model.assessment import Finding
    from runner.system.places import Places
    from runner.work.added import AddedFindings
    from runner.workspace.apply import Applied
    from runner.workspace.change import ProjectChanges
    from runner.workspace.progress import WriteProgress
    from runner.workspace.undo import WayBack

PORTS = {"https": 443, "http": 80}
SIGNS = {How.ADDED: "+", How.CHANGED: "~", How.DELETED: "-", How.TOUCHED: "."}
COLORS = {"+": "32", "-": "31", "@": "36", "!": "33"}
MOST_LISTED = 200
MOST_BULK = 5
"""Changes in a folder such as node_modules that are still listed one by one."""
SHOWN_SECONDS = 0.1
"""Between two lines that say how far it is."""
EPILOG = """\
OPTIONS are those of `assent try`: see assent try --help.
NAME is that of a working copy, such as shop-1a2b3c: the page Work and `assent work list` show it.

exit codes: 0 all of it was done; 1 something was not, or stays: what and why is said; 2 the command was not understood;
of `assent work PROGRAM` that of the program, or 1 where the program could not be started."""
APPLY_EPILOG = """\
examples:
  assent work apply shop-1a2b3c                       everything that is not marked, merged or in conflict
  assent work apply shop-1a2b3c src docs/index.md     only what is there and below
  assent work apply shop-1a2b3c .git                  the commits, with nothing that git obeys
  assent work apply shop-1a2b3c Makefile --marked     a file that runs something later by itself
  assent work apply shop-1a2b3c app.py --hunks 1,3    two places of one file, as `changes --diff` numbers them
  assent work apply shop-1a2b3c --digest DIGEST       only exactly what `changes --json` has shown

PATH is below the project's folder, wherever you are. exit codes: 0 all of it was applied; 1 something stays in the
working copy, or nothing was done."""
GIT = b".git"
LEFT = 1
"""Exit code where something was not done."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.usage = "assent work [-h] ACTION ...\n       assent work [OPTIONS] PROGRAM [ARGUMENTS]"
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("-h", "--help", action="help", help="show this help message and exit")
    actions = parser.add_subparsers(metavar="ACTION", required=True, prog="assent work")
    listed = actions.add_parser("list", help="the working copies, the newest first")
    listed.add_argument("--json", action="store_true", help="as JSON")
    listed.set_defaults(command=list_copies)
    changes = actions.add_parser("changes", help="what one changes in its project as it is now")
    _name(changes)
    changes.add_argument("--diff", action="store_true", help="with the lines that differ")
    changes.add_argument("--json", action="store_true", help="as JSON, with the digest that `apply --digest` takes")
    changes.set_defaults(command=show_changes)
    _add_apply(actions)
    undo = actions.add_parser(
        "undo",
        help="take back what was applied last",
        description="Takes back what was applied last, path by path. What somebody changed since stays as it is, is"
        " named with why, and can be taken back later; you are asked first, or say --partly.",
    )
    _name(undo)
    undo.add_argument("--dry-run", action="store_true", help="only say what would be taken back, and what would stay")
    undo.add_argument("--partly", action="store_true", help="also where something has to stay, without asking")
    undo.add_argument("--json", action="store_true", help="as JSON: what was taken back, and what stays and why")
    undo.set_defaults(command=undo_changes)
    discard = actions.add_parser("discard", help="remove the working copy with its changes")
    discard.add_argument("name", metavar="NAME", nargs="?", help="as `assent work list` says it")
    discard.add_argument(
        "--applied",
        action="store_true",
        help=f"instead of one, all that have nothing that was not applied, for {KEPT_DAYS} days",
    )
    discard.add_argument("--yes", action="store_true", help="do not ask")
    discard.set_defaults(command=discard_copy)
    allow = actions.add_parser("allow", help="let a program at work reach a host until it ends")
    _name(allow)
    allow.add_argument(
        "host", metavar="HOST", help="such as example.com or example.com:8080; of a URL its host and port"
    )
    allow.add_argument("--always", action="store_true", help="and later ones of this project, too")
    allow.set_defaults(command=allow_host)
    for verb, run in (("run", True), ("refuse", False)):
        answer = actions.add_parser(verb, help=f"{verb} a command that is held")
        _name(answer)
        answer.add_argument("number", type=int, metavar="NUMBER", help="of the command, as `list` says it")
        if not run:
            answer.add_argument("--why", default="", metavar="SENTENCE", help="what the agent is told beside that")
        answer.set_defaults(command=answer_command, run=run)
    goes = actions.add_parser(
        "as-it-goes",
        help="apply by itself what a program at work changes, or no longer",
        description="Whenever the program is quiet, what it has changed is written into the project by itself, each"
        " time with an entry in the history and an undo. What is marked, merged or in conflict, what has a finding of"
        " HIGH or CRITICAL in what it adds, what was not read, and deletions, stay in the working copy.",
    )
    _name(goes)
    goes.add_argument("switch", choices=("on", "off"), metavar="on|off")
    goes.set_defaults(command=switch_as_it_goes)
    end = actions.add_parser("end", help="end a program at work and all that it started")
    _name(end)
    end.set_defaults(command=end_program)


def _add_apply(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    apply = actions.add_parser(
        "apply",
        help="write changes into the project",
        description="Writes changes into the project, all of them or none. What conflicts with the project stays in"
        " the working copy. So does what is marked (!) as running later by itself, unless --marked is given, and what"
        " was merged with your edits, unless --merged is.",
        epilog=APPLY_EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    _name(apply)
    apply.add_argument("path", nargs="*", metavar="PATH", help="only these paths, and what is below them")
    apply.add_argument(
        "--hunks",
        type=_numbers,
        metavar="1,3",
        help="of the one PATH only these places, as `changes --diff` numbers them",
    )
    apply.add_argument("--marked", action="store_true", help="also what is marked")
    apply.add_argument("--merged", action="store_true", help="also what was merged with your edits of the same files")
    apply.add_argument("--digest", metavar="DIGEST", help="only where the changes are exactly those with this digest")
    apply.set_defaults(command=apply_changes)


class ProgressLine:
    """Shows on the terminal how far something is. While it can only go on to its end, Ctrl+C is not heard."""

    def __init__(self, verb: str) -> None:
        self._verb = verb
        self._next = 0.0
        self._before: Any = None

    def __enter__(self) -> Self:
        return self

    def __call__(self, progress: WriteProgress) -> None:
        if progress.sure and self._before is None and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        if sys.stderr.isatty() and time.monotonic() >= self._next:
            self._next = time.monotonic() + SHOWN_SECONDS
            sys.stderr.write(f"\r{progress.words} {self._verb if progress.sure else 'copied'}\x1b[K")
            sys.stderr.flush()

    def __exit__(self, *_error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if self._next:
            sys.stderr.write("\r\x1b[K")


def _numbers(text: str) -> frozenset[int]:
    return frozenset(int(one) for one in text.split(","))


def _name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="as `assent work list` says it")


def list_copies(arguments: argparse.Namespace, places: Places) -> int:
    """Print the working copies."""
    copies = all_below(places.work)
    if arguments.json:
        _print(json.dumps([_about(one) for one in copies], indent=2))
    elif not copies:
        _say("There are no working copies. `assent try COMMAND` makes one of the folder that you are in.")
    else:
        for one in copies:
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.made))
            undo = ", applied, can be undone" if one.can_undo else ""
            session = _session(one) if one.is_in_use else None
            _say(f"{one.name}  {when}  {one.project}, {_bytes(one.size)}{undo}{_at_work(session)}")
            _say(f"    {shlex.join(one.program)}{f', in {one.sandbox}' if one.sandbox else ''}")
            if session is not None:
                _tell_standing(session)
        if done := _done_with(copies):
            number = f"{len(done)} of them has" if len(done) == 1 else f"{len(done)} of them have"
            _say(f"{number} nothing that was not applied for {KEPT_DAYS} days. Remove: assent work discard --applied")
    return 0


def _at_work(session: WorkSession | None) -> str:
    if session is None:
        return ""
    goes = session.as_it_goes is not None and session.as_it_goes.on
    return f", at work{', APPLIES AS IT GOES' if goes else ''}"


def _session(copy: WorkingCopy) -> WorkSession:
    """Return what the program at work over a working copy has reported."""
    session, reading = WorkSession(copy.name, str(copy.project), copy.program, copy.made), WorkReading(copy.folder)
    while events := reading.new():
        for event in events:
            session = after(session, event)
    return session


def looked(copy: WorkingCopy) -> ProjectChanges:
    """Return what a working copy changes in its project now. Raises KnownError."""
    try:
        return copy.changes()
    except (OSError, ValueError) as error:
        raise KnownError(f"{copy.name} cannot be read: {error}.", "Look at the changes again.") from error


def keep_originals(copy: WorkingCopy, found: ProjectChanges) -> None:
    """Keep what can be kept, so that the changes can be merged later. Raises KnownError."""
    with contextlib.suppress(OSError):  # without room for it they conflict instead
        copy.keep_originals(found)


def _tell_standing(session: WorkSession) -> None:
    """Print what keeps commands of a program from being run."""
    if session.refused:
        _say(f"    {session.agent}: {session.refused}")
    for held in session.held:
        _say(f"    {held.number} is held: {held.text}")
        for why in (f"{held.level} {held.sentence}".strip(), *held.reasons, held.sandbox):
            if why:
                _say(f"        {why}")
    if session.held:
        _say(f"    Answer with: assent work run {session.name} NUMBER, assent work refuse {session.name} NUMBER")


def show_changes(arguments: argparse.Namespace, places: Places) -> int:
    """Print what a working copy changes. Raises KnownError."""
    copy = named(places.work, arguments.name)
    found = looked(copy)
    keep_originals(copy, found)
    if arguments.json:
        _print(json.dumps(_as_json(places, copy, found), indent=2))
    else:
        tell(found)
        if arguments.diff:
            tell_lines(places, copy, found)
    return 0


def apply_changes(arguments: argparse.Namespace, places: Places) -> int:
    """Apply the changes that are meant; 1 where some are left. Raises KnownError."""
    copy = named(places.work, arguments.name)
    found = looked(copy)
    if arguments.digest and digest(found.changes) != arguments.digest:
        raise KnownError("The changes are not those with this digest any more.", "Look at them again.")
    below = [os.fsencode(path).strip(b"/") for path in arguments.path]
    asked = [one for one in found.changes if not below or any(_is_below(one.path, path) for path in below)]
    if below and not asked:
        raise KnownError("Nothing is changed there.", f"assent work changes {copy.name}")
    if arguments.hunks and (len(below) != 1 or [one.path for one in asked] != below):
        raise KnownError("Hunks are of one file.", f"assent work apply {copy.name} PATH --hunks 1,3")
    # Whoever names it has said the word for commits; what git obeys there is marked by itself.
    wanted = chosen(asked, marked=arguments.marked, merged=arguments.merged, repository=any(map(repository_of, below)))
    _require_whole(copy, found, wanted)
    if arguments.hunks:
        wanted = [with_hunks(one, copy.project, copy.content, arguments.hunks) for one in wanted]
    return apply(places, copy, wanted, left=len(asked) - len(wanted))


def _require_whole(copy: WorkingCopy, found: ProjectChanges, wanted: Sequence[ProjectChange]) -> None:
    """Raise KnownError where some of what a repository needs for its commits would be applied, and the rest not."""
    if found.commits is None:
        return
    needed = {
        one.path for one in found.changes if _is_below(one.path, GIT) and one.mark in ("", PART) and not one.conflict
    }
    if (some := needed & {one.path for one in wanted}) and some != needed:
        what = f"Nothing was applied. {found.commits.words} {WHOLE}"
        raise KnownError(what, f"Name .git, or what else is to be applied: assent work changes {copy.name}")


def undo_changes(arguments: argparse.Namespace, places: Places) -> int:
    """Take back what can be of what was applied last; 1 where something stays. Raises KnownError."""
    copy = named(places.work, arguments.name)
    try:
        plan = copy.undo_plan()
    except OSError as error:
        raise KnownError(f"{copy.name} cannot be read: {error}.", "Nothing was taken back.") from error
    if not arguments.json:
        for path, why in plan.kept:
            _line("?", shown(path), f"stays: {why}", conflict=True)
    if arguments.dry_run:
        if arguments.json:
            _print(json.dumps(_undo_as_json(copy, plan, None), indent=2))
        else:
            for one in plan.changes:
                _line(SIGNS[one.how], _path(one))
            _say(f"{total(plan.changes)} would be taken back. Nothing was done.")
        return LEFT if plan.kept else 0
    plan.require_some()
    if plan.kept and not arguments.partly:
        question = f"{total(plan.changes)} can be taken back; what is named above stays."
        if not sys.stdin.isatty() or arguments.json:
            what = f"Nothing was taken back: {len(plan.kept):,} would stay, as somebody changed that since."
            raise KnownError(what, f"assent work undo {copy.name} --partly takes back the rest.")
        if not _yes(f"{question} Take it back?"):
            return LEFT
    with ProgressLine("taken back") as progress:
        done = carried_out(
            places,
            WorkDeed.UNDO,
            copy,
            plan.changes,
            lambda number: copy.undo(progress, number=number, wanted=digest(plan.changes)),
            more=kept_facts(plan),
        )
    if arguments.json:
        _print(json.dumps(_undo_as_json(copy, plan, done), indent=2))
        return LEFT if plan.kept or done.passed_over else 0
    return _said(done, "Taken back", copy, 0) or (LEFT if plan.kept else 0)


def _undo_as_json(copy: WorkingCopy, plan: WayBack, done: Applied | None) -> dict[str, object]:
    """Return what was taken back, or without `done` what would be."""
    over = () if done is None else done.passed_over
    return {
        "name": copy.name,
        "project": str(copy.project),
        "done": done is not None,
        "undone": [shown(one.path) or "." for one in plan.changes if one.path not in over],
        "kept": [{"path": shown(path), "why": why} for path, why in plan.kept],
        "passed_over": [shown(path) for path in over],
    }


def allow_host(arguments: argparse.Namespace, places: Places) -> int:
    """Let a program at work reach a host. Raises KnownError."""
    copy = named(places.work, arguments.name)
    try:
        destination = _destination(arguments.host)
    except UnusableHost as error:
        raise KnownError(f"“{arguments.host}” cannot be allowed: {error}.", "Name a host.") from error
    require_word(places)
    private = _private(destination)
    kept = project_hosts.new(str(copy.project), destination, private) if arguments.always else None
    where: dict[str, object] = {"host": destination.host, "port": destination.port, "always": kept is not None}

    def do() -> None:
        # The program's own process asks the rules, and what its agent may do.
        order(places.runtime, copy.name, "open", private=private, **where)
        if kept is not None:
            try:
                project_hosts.add(places, kept)
            except OSError as error:
                raise KnownError(f"It is open, and cannot be kept: {error.strerror}.", "Free some space.") from error

    ordered(places, copy, (OPEN, NOT_OPENED), {**where, "address": private}, do)
    leads = f"at {private}" if private else "where it leads to a public address"
    later = " and later sessions of its project" if kept else ", until it ends"
    _say(f"{destination.host} is open at port {destination.port} for {copy.name}{later}, {leads}.")
    if "://" in arguments.host:
        _say("A host is allowed as a whole: every path of it, and no other port.")
    return 0


def _destination(text: str) -> Destination:
    """Return the host that is meant, also by a URL. Raises UnusableHost."""
    scheme, colon, rest = text.strip().partition("://")
    if not colon:
        return Destination.parse(text)
    if (port := PORTS.get(scheme.lower())) is None:
        raise UnusableHost("it is neither an https nor an http address")
    host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    found = Destination.parse(host)
    named_port = re.search(r":\d+\Z", host)
    return found if named_port else Destination(found.host, port)


def _private(destination: Destination) -> str:
    """Return the addresses in the own network that a host leads to, once the person agreed. Raises KnownError."""
    try:
        return asyncio.run(private_addresses(look_up, destination, private=""))
    except PrivateAddress as asked:
        if not sys.stdin.isatty():
            raise KnownError(
                f"Nothing was allowed. {asked.what}", "Allow it on a terminal, or on the page Work."
            ) from None
        if not _yes(f"{asked.what} Let it be reached?"):
            raise KnownError("Nothing was allowed.") from None
        return asyncio.run(private_addresses(look_up, destination, private=asked.address))


def answer_command(arguments: argparse.Namespace, places: Places) -> int:
    """Let a held command run, or not. Raises KnownError."""
    copy = named(places.work, arguments.name)
    if arguments.run:
        require_terminal("a held command is let run")
        require_word(places)
    held = next((one for one in _session(copy).held if one.number == arguments.number), None)
    said = {} if held is None else {"sentence": cut(held.sentence), "level": held.level}
    why = "" if arguments.run else arguments.why[:LONGEST_REASON]
    what: dict[str, object] = {"number": arguments.number, "run": arguments.run, "why": why}
    ordered(
        places,
        copy,
        (ANSWER, NOT_ANSWERED),
        {**what, **said},
        lambda: order(places.runtime, copy.name, "answer", **what),
    )
    told = (
        f" The agent is told: {why}"
        if why
        else " The agent is told that it was refused, and not why: say that with --why."
    )
    _say(f"Command {arguments.number} {'runs.' if arguments.run else f'was refused.{told}'}")
    return 0


def switch_as_it_goes(arguments: argparse.Namespace, places: Places) -> int:
    """Let what a program at work changes be applied by itself, or no longer. Raises KnownError."""
    copy = named(places.work, arguments.name)
    on = arguments.switch == "on"
    switched(places, copy, on=on, do=lambda: order(places.runtime, copy.name, "as_it_goes", on=on))
    now = f"is applied to {copy.project} by itself from now on" if on else "is not applied by itself any more"
    _say(f"What {copy.name} changes {now}.")
    return 0


def end_program(arguments: argparse.Namespace, places: Places) -> int:
    """End a program at work. Raises KnownError."""
    copy = named(places.work, arguments.name)
    order(places.runtime, copy.name, "end")
    # Afterwards, as in the window: a full disk is not to keep anybody from ending a program.
    try:
        note_order(places, copy, END, {})
    except KnownError as error:
        raise KnownError(f"{copy.name} was ended. {error.what}", error.remedy) from error
    _say(f"{copy.name} was ended. Its changes stay in the working copy.")
    return 0


def discard_copy(arguments: argparse.Namespace, places: Places) -> int:
    """Remove a working copy, or those that are applied; 1 where the person does not want to. Raises KnownError."""
    if arguments.applied == bool(arguments.name):
        raise KnownError("Name one working copy, or say --applied.", "assent work list names them.")
    if arguments.applied:
        return _discard_applied(places, yes=arguments.yes)
    copy = named(places.work, arguments.name)
    if not arguments.yes and not _agreed(lambda: f"{total(looked(copy).changes)}. Discard them?"):
        return LEFT
    discard(places, copy)
    _say(f"{copy.name} was discarded. The project stays as it is.")
    return 0


def discard(places: Places, copy: WorkingCopy, more: Mapping[str, object] | None = None) -> None:
    """Remove a working copy with its changes; `more` is what the history says beside that. Raises KnownError."""
    with ProgressLine("removed") as progress:
        carried_out(places, WorkDeed.DISCARD, copy, (), lambda _number: copy.discard(progress), more=more)


def _discard_applied(places: Places, *, yes: bool) -> int:
    done = _done_with(all_below(places.work))
    for one in done:
        _say(f"{one.name}  {one.project}, {_bytes(one.size)}")
    if not done:
        _say(f"No working copy has had nothing that was not applied for {KEPT_DAYS} days.")
    elif not yes and not _agreed(lambda: "Discard these, with what Undo would need?"):
        return LEFT
    left = [one for one in done if not one.discard_applied()]
    for one in left:
        _say(f"{one.name} was left: something in it is not applied now.")
    _say(f"{len(done) - len(left)} discarded. The projects stay as they are.")
    return LEFT if left else 0


def _done_with(copies: Iterable[WorkingCopy]) -> list[WorkingCopy]:
    """Return those that are offered to be removed; one that cannot be looked at is none of them."""
    found = []
    for one in copies:
        with contextlib.suppress(KnownError, OSError):
            if one.is_done_with(time.time()):
                found.append(one)
    return found


def _agreed(question: Callable[[], str]) -> bool:
    """Ask; return whether the person agreed. Raises KnownError where nobody can be asked."""
    if not sys.stdin.isatty():
        raise KnownError("Nothing was discarded: nobody can be asked here.", "Add --yes.")
    return _yes(f"{question()} This cannot be undone.")


def _yes(question: str) -> bool:
    sys.stdout.write(visible(f"{question} [y/N] "))
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _bytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.0f} kB"


def chosen(
    changes: Iterable[ProjectChange], *, marked: bool = False, merged: bool = False, repository: bool = False
) -> list[ProjectChange]:
    """Return those that may be applied: what is marked or merged only where that is asked for, conflicts never.

    `repository`: parts of one are asked for.
    """
    unasked = {"", MERGED, *((PART,) if repository else ())}
    return [
        one for one in changes if not one.conflict and (marked or one.mark in unasked) and (merged or not one.merged)
    ]


def apply(places: Places, copy: WorkingCopy, wanted: Sequence[ProjectChange], *, left: int) -> int:
    """Apply `wanted` and say so; 1 where something is left. Raises KnownError."""
    if not wanted:
        _say("Nothing was applied." if left else "There is nothing to apply.")
        return _said(None, "", copy, left)
    with ProgressLine("written") as progress:
        done = carried_out(
            places, WorkDeed.APPLY, copy, wanted, lambda number: copy.apply(wanted, progress, number=number)
        )
    return _said(done, "Applied", copy, left)


def tell(found: ProjectChanges) -> None:
    """Print the changes, a line each; many in one folder of a build as one line."""
    grouped: dict[str, list[ProjectChange]] = defaultdict(list)
    for one in found.changes:
        grouped[(folder := counted(one)) and f"{folder}\0{one.mark}"].append(one)
    single = list(grouped.pop("", []))
    for many in [*grouped.values()]:
        if len(many) <= MOST_BULK or any(one.conflict for one in many):
            single += many
            del grouped[f"{counted(many[0])}\0{many[0].mark}"]
    # What needs a word first, as what follows may be too much to be listed.
    single.sort(key=lambda one: (not (one.conflict or one.mark), one.path))
    for one in single[:MOST_LISTED]:
        _line(SIGNS[one.how], _path(one), one.conflict or one.mark, conflict=bool(one.conflict))
    for key, many in grouped.items():
        folder, _, mark = key.partition("\0")
        _line("*", f"{shown(os.fsencode(folder))}/: {total(many)}", mark)
    if len(single) > MOST_LISTED:
        more = single[MOST_LISTED:]
        marked = sum(bool(one.conflict or one.mark) for one in more)
        _say(f"  ... and {len(more):,} more{f', of them {marked:,} marked (!) or in conflict' if marked else ''}")
    for path, why in found.left_out[:MOST_LISTED]:
        _line("?", shown(path), why)
    _say(f"{total(found.changes)}.")
    if found.commits is not None:
        _say(f"{found.commits.words} {WHOLE}")


def tell_lines(places: Places, copy: WorkingCopy, found: ProjectChanges) -> None:
    """Print the lines that differ, of all changes, with what the classifier finds in them."""
    shown_changes = [one for one in found.changes if not counted(one)]
    read = added_findings.read(places, copy, found.changes)
    for one in shown_changes:
        lines = compared(one, copy.project, copy.content)
        _print("")
        _say(f"{SIGNS[one.how]} {_path(one)}{f'  ! {one.mark}' if one.mark else ''}")
        if lines.instead:
            _say(f"  {lines.instead}")
        if lines.coarse:
            _say(f"  {lines.coarse}")
        _tell_findings(lines.lines, read[one.path])
    _print("")
    for sentence in added_findings.summary(read):
        _say(sentence)


def _tell_findings(lines: Sequence[str], found: AddedFindings) -> None:
    """Print lines in the unified format, below each what was found there, and above all what was found elsewhere."""
    at_line = added_findings.by_line(found)
    numbered = [*unified_numbers(lines)]
    shown_lines = {number for number in numbered if number}
    for number, findings in at_line.items():
        if number not in shown_lines:
            for one in findings:
                _finding(one, f"line {number}: " if number else "")
    if found.not_read:
        _say(f"  not read for findings: {found.not_read}" if found.skipped else f"  {found.not_read}")
    hunk = 0
    for line, number in zip(lines, numbered, strict=True):
        hunk += line.startswith("@@")
        _print(_colored(visible(line)) + (f"  #{hunk}" if line.startswith("@@") else ""))
        for one in at_line.get(number, ()) if number else ():
            _finding(one)


def _finding(one: Finding, where: str = "") -> None:
    _print(_warned(visible(f"    ! {one.level.name}: {where}{' '.join(one.reason.split())}")))


def _is_below(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder + b"/")


def _path(one: ProjectChange) -> str:
    return shown(one.path) or "."


def _line(sign: str, words: str, why: str = "", *, conflict: bool = False) -> None:
    reason = f"  {'CONFLICT: ' if conflict else '! '}{why}" if why else ""
    _print(_colored(f"{sign} {visible(words)}") + _warned(visible(reason)))


def _said(done: Applied | None, verb: str, copy: WorkingCopy, left: int) -> int:
    if done is not None:
        undo = f" Undo: assent work undo {copy.name}" if copy.can_undo else ""
        _say(f"{verb}: {done.paths:,} {'change' if done.paths == 1 else 'changes'}.{undo}")
        for path in done.passed_over:
            _line("?", shown(path), "somebody changed it in this moment; it was left alone", conflict=True)
    if left:
        _say(f"{left:,} left in the working copy {copy.name}: marked (!), merged, or in conflict with the project.")
    return LEFT if left or (done is not None and done.passed_over) else 0


def _about(copy: WorkingCopy) -> dict[str, object]:
    return {
        "name": copy.name,
        "project": str(copy.project),
        "program": list(copy.program),
        "made": copy.made,
        "way": copy.way,
        "sandbox": copy.sandbox or "bubblewrap",
        "can_undo": copy.can_undo,
        "bytes": copy.size,
    }


def _as_json(places: Places, copy: WorkingCopy, found: ProjectChanges) -> dict[str, object]:
    read = added_findings.read(places, copy, found.changes)
    rows = [
        {
            "path": shown(one.path),
            "how": one.how.value,
            "mark": one.mark,
            "conflict": one.conflict,
            "merged": bool(one.merged),
            "size": one.after.size if one.after else None,
            "sha256": one.after.sha256 if one.after else "",
            "findings": added_findings.as_rows(read[one.path]),
            "not_read": read[one.path].not_read,
        }
        for one in found.changes
    ]
    left = [{"path": shown(path), "why": why} for path, why in found.left_out]
    made = found.commits
    commits = None if made is None else {"branch": made.branch, "subjects": list(made.subjects)}
    return {**_about(copy), "digest": digest(found.changes), "changes": rows, "left_out": left, "commits": commits}


def _colored(line: str) -> str:
    code = COLORS.get(line[:1], "")
    return f"\x1b[{code}m{line}\x1b[0m" if code and sys.stdout.isatty() else line


def _warned(words: str) -> str:
    return f"\x1b[{COLORS['!']}m{words}\x1b[0m" if words and sys.stdout.isatty() else words


def _say(words: str) -> None:
    _print(in_one_line(words))


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
