"""`assent work PROGRAM`: an agent's program at a person's own project, over a working copy, in two rings."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from runner.clients.prepared import client_of, installed, prepare
from runner.commands import changes_question, view_arguments
from runner.commands.terminal import in_one_line
from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.risk import own
from runner.sandbox.local.contained import Bind
from runner.work import lockdown, project_hosts
from runner.work.facts import WorkFacts
from runner.work.judging import Judging
from runner.work.rings import InRings
from runner.work.session import Edge, WorkRun
from runner.workspace.working_copy import WorkingCopy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.system.places import Places

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
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="PROGRAM", help="the program and its arguments")
    parser.set_defaults(command=start)


def start(arguments: argparse.Namespace, places: Places) -> int:
    """Return the exit code of the program; 125 where it was not started. Raises KnownError."""
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    if not words:
        raise KnownError("Say which program is to work.", "assent work claude")
    lockdown.require_open(places)
    project = view_arguments.project_of(arguments.folder, places)
    shown = tuple(view_arguments.path_of(path, places) for path in arguments.show)
    variables = {name: view_arguments.variable_of(name) for name in arguments.env}
    edge = Edge(
        opened=tuple(view_arguments.host_of(text) for text in arguments.allow),
        kept=tuple((one.destination, one.private) for one in project_hosts.hosts_of(places, project)),
    )
    if shutil.which(words[0]) is None:
        raise KnownError(f"There is no program {words[0]}.", "Install it, or name its path.")
    copy = WorkingCopy.make(places.work, project, words)
    what = InRings(tuple(words), copy, shown=shown, variables=variables)
    try:
        with (
            copy.in_use(),
            contextlib.closing(Judging(places.config / own.FOLDER, words[0], Level.CRITICAL)) as judging,
            _client(what, edge, places) as (what, edge, facts),
        ):
            client = WorkFacts("", (), unwrapped=_command) if facts is None else facts
            run = WorkRun(
                what,
                edge,
                places.runtime,
                client=client.client,
                judge=judging.judge,
                unwrapped=client.unwrapped,
                prepares=client.prepares,
            )
            ended = run.run()
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


@contextlib.contextmanager
def _client(what: InRings, edge: Edge, places: Places) -> Iterator[tuple[InRings, Edge, WorkFacts | None]]:
    """Give what the rings show and let through for a program that Assent knows; any other sees what it is made of."""
    home = Path(os.path.expanduser("~"))
    if not client_of(what.program[0]):
        shown = installed(what.program[0], home, os.environ)
        yield replace(what, shown=(*shown, *what.shown)), edge, None
        return
    ready = prepare(what.program, what.copy.project, home, os.environ, places.work)
    try:
        what = replace(
            what,
            program=ready.program,
            state=tuple(Bind(str(one.source), str(one.target), not one.read_only) for one in ready.layer.binds),
            shown=(*ready.shown, *what.shown),
            shared=tuple(str(one.target) for one in ready.layer.shell_binds),
            variables={**ready.variables, **(what.variables or {})},
            secret=tuple(ready.facts.keys),
            names_shell=ready.facts.names_shell,
        )
        yield (
            what,
            replace(edge, service=(*ready.service, *ready.named), private=ready.named, quiet=ready.quiet),
            ready.facts,
        )
    finally:
        for written in ready.layer.finish():
            _say(f"the log-in that {ready.name} has renewed is in {written}.")


def _command(words: Sequence[str]) -> str:
    """Return what a shell is started for: the text after `-c`, else its arguments."""
    for at, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--") and "c" in word and at + 1 < len(words):
            return words[at + 1]
        if not word.startswith(("-", "+")):
            break
    return " ".join((os.path.basename(words[0]), *words[1:]))


def _say(words: str) -> None:
    sys.stdout.write(in_one_line(f"assent work: {words}") + "\n")
