"""`assent try`: a command over a copy of the folder, and the question what to apply of its changes."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import termios
from pathlib import Path
from typing import TYPE_CHECKING

from runner.commands import work
from runner.commands.terminal import in_one_line
from runner.model.errors import KnownError
from runner.model.network import Destination, UnusableHost
from runner.sandbox.local import contained
from runner.workspace.working_copy import WorkingCopy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.system.places import Places
    from runner.workspace.change import ProjectChanges

DESCRIPTION = """\
Runs a command as if it were in this folder, contained: what it writes goes into a working copy, the system is
read-only, of the home folder it sees nothing but this folder, and it has no network. Then it lists what would change,
and asks. The folder itself stays as it is until you apply.
"""
QUESTION = "[a]pply, {}[s]how the lines, [d]iscard, [k]eep for later? "
MARKED, MERGED = "apply also what is [m]arked, ", "apply also what is merged with your [e]dits, "
PLAIN_TERMINAL = "\x18\x1b\\\x1b[!p\x1b[?47l\x1b[0m\x1b(B\x0f\x1b[?25h\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l"
"""Ends what the command may have begun to print, and lets be seen what comes next: an unfinished title would swallow
the list of changes, another color or the alternate screen hide it."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = DESCRIPTION
    parser.add_argument("-h", "--help", action="help", help="show this help message and exit")
    parser.add_argument("--folder", metavar="FOLDER", help="the project; otherwise the repository or folder you are in")
    parser.add_argument("--allow", action="append", default=[], metavar="HOST", help="a host that it may reach")
    parser.add_argument("--show", action="append", default=[], metavar="PATH", help="a further path that it may read")
    parser.add_argument("--env", action="append", default=[], metavar="NAME", help="a further variable that it gets")
    answer = parser.add_mutually_exclusive_group()
    answer.add_argument("--apply", action="store_true", help="apply without asking, except what is marked")
    answer.add_argument("--discard", action="store_true", help="list the changes and discard them")
    answer.add_argument("--keep", action="store_true", help="keep the changes for `assent work`")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="the command and its arguments")
    parser.set_defaults(command=attempt)


def attempt(arguments: argparse.Namespace, places: Places) -> int:
    """Return the exit code of the command; 125 where it was not started. Raises KnownError."""
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    if not words:
        raise KnownError("Say what to try.", "assent try -- make test")
    project = _project(arguments.folder, places)
    folders = tuple(_shown(path, places) for path in arguments.show)
    variables = {name: _variable(name) for name in arguments.env}
    hosts = tuple(_host(text) for text in arguments.allow)
    copy = WorkingCopy.make(places.work, project, words)
    what = contained.Contained(
        tuple(words), project, copy.shown, copy.folder / "tmp", folders, variables=variables, hosts=hosts
    )
    try:
        with copy.in_use():
            ended = contained.run(what, copy.command)
    except (KnownError, OSError):
        copy.discard()
        raise
    # The standard output is the command's own, for whoever reads that from a pipe.
    with contextlib.redirect_stdout(sys.stderr):
        if sys.stderr.isatty():
            sys.stderr.write(PLAIN_TERMINAL)
        _tell_end(words, ended, folders)
        _decide(arguments, copy, ended)
    return ended.code


def _decide(arguments: argparse.Namespace, copy: WorkingCopy, ended: contained.ProgramEnd) -> None:
    """List the changes, and do with them what is asked for. Raises KnownError."""
    found = copy.changes()
    if not found.changes and not found.left_out:
        _say("Nothing changed.")
        copy.discard()
        return
    work.tell(found)
    copy.keep_originals(found)
    if arguments.discard:
        copy.discard()
        _say("The changes were discarded.")
    elif arguments.apply and not ended.why:
        wanted = work.chosen(found.changes)
        work.apply(copy, wanted, left=len(found.changes) - len(wanted))
    elif arguments.apply or arguments.keep or ended.told or not (sys.stdin.isatty() and sys.stderr.isatty()):
        _kept(copy)
    else:
        _ask(copy, found)


def _ask(copy: WorkingCopy, found: ProjectChanges) -> None:
    """Ask until something is decided; the end of the input keeps the changes."""
    plain = work.chosen(found.changes)
    marked = work.chosen(found.changes, marked=True)
    merged = work.chosen(found.changes, merged=True)
    more = (MARKED if len(marked) > len(plain) else "") + (MERGED if len(merged) > len(plain) else "")
    while True:
        # What was typed for the command, or before the question could be seen, is no answer to it.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        sys.stdout.write(QUESTION.format(more))
        sys.stdout.flush()
        try:
            answer = sys.stdin.readline()
        except KeyboardInterrupt:
            answer = ""
        match answer.strip().lower() if answer else "k":
            case "a" | "apply":
                work.apply(copy, plain, left=len(found.changes) - len(plain))
                return
            case "m" | "marked" if MARKED in more:
                work.apply(copy, marked, left=len(found.changes) - len(marked))
                return
            case "e" | "edits" if MERGED in more:
                work.apply(copy, merged, left=len(found.changes) - len(merged))
                return
            case "s" | "show":
                work.tell_lines(copy, found)
            case "d" | "discard":
                copy.discard()
                _say("The changes were discarded. The folder stays as it was.")
                return
            case "k" | "keep":
                _kept(copy)
                return
            case _:
                continue


def _kept(copy: WorkingCopy) -> None:
    _say(f"Kept as {copy.name}: assent work changes {copy.name}, then apply or discard.")


def _tell_end(words: Sequence[str], ended: contained.ProgramEnd, folders: Sequence[str]) -> None:
    found = shutil.which(words[0])
    if ended.why:
        _say(ended.why)
    elif ended.code == contained.NOT_FOUND and found is None:
        _say(f"There is no command {words[0]}.")
    elif ended.code:
        _say(f"{words[0]} ended with {ended.code}.")
    if ended.code and found is not None and not _is_seen(found, folders):
        _say(f"{found} is in your home folder, which it does not see. Show it: --show {Path(found).parent}")
    for one in ended.contacts:
        if one.allowed is not True:
            times = "once" if one.times == 1 else f"{one.times} times"
            _say(f"It tried {times} to reach {one.name}, which {one.why}.")


def _is_seen(program: str, folders: Sequence[str]) -> bool:
    home = os.path.expanduser("~")
    real = os.path.realpath(program)
    return not real.startswith(f"{home}/") or any(real.startswith(folder) for folder in folders)


def _project(given: str | None, places: Places) -> Path:
    """Return the project: the folder that is named, else the repository that this folder is in, else this folder.

    Raises KnownError.
    """
    try:
        here = Path(os.path.realpath(os.getcwd()))
    except FileNotFoundError as error:
        raise KnownError("The folder that you are in is not there any more.", "Go into another one.") from error
    if given is None:
        above = (one for one in (here, *here.parents) if (one / ".git").exists())
        project = next(above, here)
    else:
        project = Path(os.path.realpath(given))
        if project != here and project not in here.parents:
            try:
                os.chdir(project)
            except OSError as error:
                raise KnownError(f"{given} is no folder that can be gone into: {error.strerror}.") from error
    home = Path(os.path.realpath(os.path.expanduser("~")))
    if project == home or project in home.parents:
        raise KnownError(f"{project} is not a project: it holds more than that.", "Go into the folder of one.")
    _check_not_ours(project, places)
    return project


def _shown(path: str, places: Places) -> str:
    whole = os.path.realpath(os.path.expanduser(path))
    if not os.path.exists(whole):
        raise KnownError(f"There is no {path} to be shown.")
    _check_not_ours(Path(whole), places)
    return whole


def _check_not_ours(path: Path, places: Places) -> None:
    """Raise KnownError where a path is one of Assent's own files or holds them: keys and tokens are among them."""
    for folder in (places.config, places.data, places.state, places.runtime):
        real = Path(os.path.realpath(folder))
        if path == real or path in real.parents or real in path.parents:
            raise KnownError(f"{path} holds Assent's own files: no command may see them.", "Name another folder.")


def _variable(name: str) -> str:
    try:
        return os.environ[name]
    except KeyError as error:
        raise KnownError(f"There is no variable {name} to hand on.") from error


def _host(text: str) -> Destination:
    try:
        return Destination.parse(text)
    except UnusableHost as error:
        raise KnownError(f"“{text}” cannot be allowed: {error}.", "Name a host, such as example.com.") from error


def _say(words: str) -> None:
    sys.stdout.write(in_one_line(f"assent try: {words}") + "\n")
