"""`assent try`: a command over a copy of the folder, and the question what to apply of its changes."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from runner.commands import changes_question, refused_hosts, view_arguments
from runner.model.errors import KnownError
from runner.model.shown import in_one_line
from runner.sandbox.local import contained
from runner.work import lockdown
from runner.workspace import git_identity
from runner.workspace.working_copy import WorkingCopy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.model.network import Contact
    from runner.system.places import Places

LOCAL, GVISOR, E2B = "local", "gvisor", "e2b"
DESCRIPTION = """\
Runs a command as if it were in this folder, contained: what it writes goes into a working copy, the system is
read-only, of the home folder it sees nothing but this folder, and it has no network. Then it lists what would change,
and asks. The folder itself stays as it is until you apply.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = DESCRIPTION
    parser.add_argument("-h", "--help", action="help", help="show this help message and exit")
    view_arguments.add_arguments(parser)
    changes_question.add_arguments(parser)
    parser.add_argument(
        "--sandbox",
        choices=(LOCAL, GVISOR, E2B),
        default=LOCAL,
        help="where it runs: local is bubblewrap on this machine's kernel; gvisor gives it a kernel of its own, which"
        " is slower; e2b is another machine, which gets the files of the project once you say yes",
    )
    parser.add_argument(
        "--send", action="store_true", help="for e2b: send the files without asking; what is sent is printed"
    )
    parser.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="PATH",
        help="for e2b: send this file, too, although it may hold a secret, as .env does",
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="the command and its arguments")
    parser.set_defaults(command=attempt)


def attempt(arguments: argparse.Namespace, places: Places) -> int:
    """Return the exit code of the command; 125 where it was not started. Raises KnownError."""
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    if not words:
        raise KnownError("Say what to try.", "assent try -- make test")
    lockdown.require_open(places)
    project = view_arguments.project_of(arguments.folder, places)
    if arguments.sandbox == E2B:
        from runner.commands import attempt_elsewhere

        return attempt_elsewhere.attempt(arguments, places, project, words)
    if arguments.send or arguments.include:
        raise KnownError("Nothing is sent anywhere in this sandbox.", "--send and --include are for --sandbox e2b.")
    folders = tuple(view_arguments.path_of(path, places) for path in arguments.show)
    given = {name: view_arguments.variable_of(name) for name in arguments.env}
    hosts = tuple(view_arguments.host_of(text) for text in arguments.allow)
    runsc = gate = None
    if arguments.sandbox == GVISOR:
        # Loaded here and below: most commands are tried without either.
        from runner.sandbox.gvisor import enclosed
        from runner.sandbox.gvisor.program import Runsc

        runsc = Runsc.found()
    copy = WorkingCopy.make(places.work, project, words, sandbox="gVisor" if runsc else "")
    contacts: dict[tuple[str, int, bool | None], Contact] = {}
    if hosts:
        from runner.network.gate import Gate

        gate = Gate(hosts, report=lambda one: contacts.__setitem__((one.host, one.port, one.allowed), one))
    what = contained.Contained(
        tuple(words),
        project,
        copy.shown,
        copy.folder / "tmp",
        tuple(contained.Bind(folder, folder) for folder in folders),
        variables={**git_identity.variables(project), **given},
        gate=gate,
        began=lambda _process: changes_question.load(),
    )
    if runsc is not None:
        what = enclosed.enclosed(what, runsc)
    try:
        with copy.in_use(), contextlib.nullcontext() if gate is None else contextlib.closing(gate):
            ended = contained.run(what, copy.command)
            with contextlib.suppress(OSError):  # on a full disk its changes are worth more
                copy.note_end(ended.code)
    except (KnownError, OSError):
        copy.discard()
        raise
    # The standard output is the command's own, for whoever reads that from a pipe.
    with contextlib.redirect_stdout(sys.stderr):
        if runsc is not None and ended.code == enclosed.NOT_STARTED:
            _say("gVisor could not start it, or it ended with that code itself: what is printed above says which.")
        _tell_end(words, ended, folders, tuple(contacts.values()))
        changes_question.decide(arguments, places, copy, why=ended.why, told=ended.told)
    return ended.code


def _tell_end(
    words: Sequence[str], ended: contained.ProgramEnd, folders: Sequence[str], contacts: Sequence[Contact]
) -> None:
    found = shutil.which(words[0])
    if ended.why:
        _say(ended.why)
    elif ended.code == contained.NOT_FOUND and found is None:
        _say(f"There is no command {words[0]}.")
    elif ended.code:
        _say(f"{words[0]} ended with {ended.code}.")
    if ended.code and found is not None and not _is_seen(found, folders):
        _say(f"{found} is in your home folder, which it does not see. Show it: --show {Path(found).parent}")
    if ended.dropped.words:
        _say(ended.dropped.words)
    refused_hosts.tell(contacts)


def _is_seen(program: str, folders: Sequence[str]) -> bool:
    home = os.path.expanduser("~")
    real = os.path.realpath(program)
    return not real.startswith(f"{home}/") or any(real.startswith(folder) for folder in folders)


def _say(words: str) -> None:
    sys.stdout.write(in_one_line(f"assent try: {words}") + "\n")
