"""`assent work PROGRAM`: an agent's program at a person's own project, over a working copy, in two rings."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runner.clients.programs import client_of
from runner.commands import changes_question, view_arguments
from runner.model.errors import KnownError
from runner.model.shown import in_one_line
from runner.model.work_entries import AS_IT_GOES, BY_ITSELF, WorkDeed
from runner.work import lockdown, project_hosts
from runner.work.as_it_goes import ApplyingAsItGoes
from runner.work.in_force import InForce
from runner.work.installation import shown_for
from runner.work.judging import Judging
from runner.work.rings import InRings
from runner.work.session import Edge, WorkRun
from runner.work.shell_words import is_of_nobody, unwrapped
from runner.workspace import copied, git_identity
from runner.workspace.working_copy import WorkingCopy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from runner.model.network import Destination
    from runner.system.places import Places
    from runner.work.facts import WorkFacts
    from runner.work.project_hosts import ProjectHost
    from runner.workspace.change import ProjectChange
    from runner.workspace.progress import WriteProgress

TURN_SECONDS = 0.0005
"""Longest turn of a thread in the interpreter while others wait, a tenth of Python's own."""
DESCRIPTION = """\
Starts a program in this folder, contained: what it and its shells write goes into a working copy, the system is
read-only, of the home folder it sees nothing else, and a host that it wants to reach is refused until you open it.
The folder itself stays as it is until you apply. While it works the console shows what it does, and so does
`assent work list`.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = DESCRIPTION
    parser.add_argument("-h", "--help", action="help", help="show this help message and exit")
    view_arguments.add_arguments(parser)
    changes_question.add_arguments(parser)
    parser.add_argument(
        "--apply-as-it-goes",
        action="store_true",
        help="write what is changed into the project by itself, see: assent work as-it-goes --help",
    )
    parser.add_argument(
        "--copy",
        action="store_true",
        help="work over a copy of the folder; it takes longer to begin, and Docker can run approved code over it",
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="PROGRAM", help="the program and its arguments")
    parser.set_defaults(command=start)


def start(arguments: argparse.Namespace, places: Places) -> int:
    """Return the exit code of the program; 125 where it was not started. Raises KnownError."""
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    if not words:
        raise KnownError("Say which program is to work.", "assent work claude")
    lockdown.require_open(places)
    project = view_arguments.project_of(arguments.folder, places)
    client = _known(words[0])
    in_force = _in_force(client, words[0], project, places)
    if why := in_force.ended():
        raise KnownError(f"Nothing was started. {why}", "Connect it again first: assent connect.")
    shown = tuple(view_arguments.path_of(path, places) for path in arguments.show)
    given = {name: view_arguments.variable_of(name) for name in arguments.env}
    opened = tuple(view_arguments.host_of(text) for text in arguments.allow)
    for one in opened:
        if why := in_force.refuses_host(one):
            raise KnownError(f"{one} cannot be opened: {why}", "Leave it out, or change that.")
    edge = Edge(opened=opened, kept=tuple(_kept(in_force, project_hosts.hosts_of(places, project))))
    if arguments.apply_as_it_goes:
        # Loaded here, as what its changes need would delay every program (`changes_question.load`).
        from runner.commands import deeds

        deeds.require_word(places)
    if shutil.which(words[0]) is None:
        raise KnownError(f"There is no program {words[0]}.", "Install it, or name its path.")
    variables = {**git_identity.variables(project), **given}
    copy = WorkingCopy.make(places.work, project, words, way=copied.NAME if arguments.copy else "")
    what = InRings(tuple(words), copy, shown=shown, variables=variables)
    key = secrets.token_hex(16)
    try:
        with (
            copy.in_use(),
            contextlib.closing(Judging(places.own_rules, in_force)) as judging,
            _ready(client, what, edge, places, key) as (what, edge, facts),
        ):
            run = WorkRun(
                what,
                edge,
                places.runtime,
                client=client,
                judge=judging.judge,
                in_force=in_force,
                unwrapped=unwrapped if facts is None else facts.unwrapped,
                prepares=is_of_nobody if facts is None else facts.prepares,
                going=lambda tell: _going(places, copy, judging, in_force, tell),
                key=key,
                begun=lambda: _load(judging),
            )
            if arguments.apply_as_it_goes:
                deeds.note_order(places, copy, AS_IT_GOES, {"on": True})
            ended = run.run(as_it_goes=arguments.apply_as_it_goes)
    except (KnownError, OSError):
        copy.discard()
        raise
    with contextlib.redirect_stdout(sys.stderr):
        if ended.why:
            _say(ended.why)
        elif ended.code:
            _say(f"{words[0]} ended with {ended.code}.")
        if ended.dropped.words:
            _say(ended.dropped.words)
        changes_question.decide(arguments, places, copy, why=ended.why, told=ended.told)
    return ended.code


def _load(judging: Judging) -> None:
    """Make ready what is needed from now on, and was not before the program ran.

    Loading it keeps the interpreter busy, and each command of a shell waits for a turn there some ten times.
    """
    sys.setswitchinterval(TURN_SECONDS)
    judging.start()
    changes_question.load()


def _going(
    places: Places, copy: WorkingCopy, judging: Judging, in_force: InForce, tell: Callable[[bool, str], object]
) -> ApplyingAsItGoes:
    """Return what applies the changes of a working copy as it goes, each time noted for the history."""

    def apply(wanted: Sequence[ProjectChange], ended: Callable[[], str]) -> object:
        from runner.commands.deeds import carried_out

        def report(progress: WriteProgress) -> None:
            if not progress.sure and (why := ended()):
                raise KnownError(why)

        def do(number: str) -> object:
            return copy.apply(wanted, report, number=number)

        return carried_out(places, WorkDeed.APPLY, copy, wanted, do, by=BY_ITSELF)

    def closed() -> str:
        return lockdown.LOCKED if lockdown.is_locked(places) else in_force.standing()

    return ApplyingAsItGoes(copy, judging.found_in, apply, tell, closed)


def _known(program: str) -> str:
    """Return the id of the client that a program is, where it is known how that works; '' for any other program."""
    client = client_of(program)
    if not client:
        return ""
    # Loaded here and below for clients alone: it takes as long as all that every program needs.
    from runner.commands import client_at_work

    return client if client_at_work.is_known(client) else ""


def _in_force(client: str, program: str, project: Path, places: Places) -> InForce:
    """Return what counts for a program, and say on the terminal what it does not do at present."""
    if client:
        from runner.commands import client_at_work

        in_force = client_at_work.in_force_of(client, project, places)
    else:
        in_force = InForce(places, os.path.basename(program))
    with contextlib.redirect_stdout(sys.stderr):
        if not in_force.ended() and (why := in_force.standing()):
            _say(f"{in_force.agent}: {why}")
    return in_force


@contextlib.contextmanager
def _ready(
    client: str, what: InRings, edge: Edge, places: Places, key: str
) -> Iterator[tuple[InRings, Edge, WorkFacts | None]]:
    """Give what the rings show and let through for a client; any other program sees what it is made of."""
    if client:
        from runner.commands import client_at_work

        with client_at_work.ready(client, what, edge, places, key, _say) as ready:
            yield ready
    else:
        home = Path(os.path.expanduser("~"))
        shown = map(str, shown_for(what.program[0], home, os.environ.get("PATH", "")))
        yield replace(what, shown=(*shown, *what.shown)), edge, None


def _kept(in_force: InForce, hosts: Sequence[ProjectHost]) -> Iterator[tuple[Destination, str]]:
    """Give the hosts of a project that are still open to it; say which are not."""
    for one in hosts:
        if why := in_force.refuses_host(one.destination):
            with contextlib.redirect_stdout(sys.stderr):
                _say(f"{one.destination} stays closed: {why}")
        else:
            yield one.destination, one.private


def _say(words: str) -> None:
    sys.stdout.write(in_one_line(f"assent work: {words}") + "\n")
