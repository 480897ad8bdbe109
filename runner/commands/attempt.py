"""`assent try`: a command over a copy of the folder, and the question what to apply of its changes."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from runner.commands import work
from runner.commands.terminal import visible
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
QUESTION = "[a]pply, apply also what is [m]arked, [s]how the lines, [d]iscard, [k]eep for later? "
PLAIN_QUESTION = "[a]pply, [s]how the lines, [d]iscard, [k]eep for later? "


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
    project = _project(arguments.folder)
    folders = tuple(_shown(path) for path in arguments.show)
    variables = {name: os.environ[name] for name in arguments.env if name in os.environ}
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
    _tell_end(words, ended, folders)
    found = copy.changes()
    if not found.changes and not found.left_out:
        _say("Nothing changed.")
        copy.discard()
        return ended.code
    work.tell(found)
    if arguments.apply:
        wanted = [one for one in found.changes if not one.conflict and not one.mark]
        work.apply(copy, wanted, left=len(found.changes) - len(wanted))
    elif arguments.discard:
        copy.discard()
        _say("The changes were discarded.")
    elif arguments.keep or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _kept(copy)
    else:
        _ask(copy, found)
    return ended.code


def _ask(copy: WorkingCopy, found: ProjectChanges) -> None:
    """Ask until something is decided; the end of the input keeps the changes."""
    plain = [one for one in found.changes if not one.conflict and not one.mark]
    marked = [one for one in found.changes if not one.conflict]
    while True:
        sys.stdout.write(QUESTION if found.marked else PLAIN_QUESTION)
        sys.stdout.flush()
        try:
            answer = sys.stdin.readline()
        except KeyboardInterrupt:
            answer = ""
        match answer.strip().lower() if answer else "k":
            case "a" | "apply":
                work.apply(copy, plain, left=len(found.changes) - len(plain))
                return
            case "m" | "marked" if found.marked:
                work.apply(copy, marked, left=len(found.changes) - len(marked))
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
    if ended.why:
        _say(ended.why)
    elif ended.code:
        _say(f"{words[0]} ended with {ended.code}.")
    for one in ended.contacts:
        if one.allowed is not True:
            _say(f"It tried to reach {one.name}, which {one.why} ({one.times} times).")
    found = shutil.which(words[0])
    if ended.code and found is not None and not _is_seen(found, folders):
        _say(f"{found} is in your home folder, which it does not see. Show it: --show {Path(found).parent}")


def _is_seen(program: str, folders: Sequence[str]) -> bool:
    home = os.path.expanduser("~")
    real = os.path.realpath(program)
    return not real.startswith(f"{home}/") or any(real.startswith(folder) for folder in folders)


def _project(given: str | None) -> Path:
    """Return the project: the folder that is named, else the repository that this folder is in, else this folder."""
    here = Path(os.path.realpath(os.getcwd()))
    if given is not None:
        named = Path(os.path.realpath(given))
        if named != here and named not in here.parents:
            os.chdir(named)
        return named
    above = (one for one in (here, *here.parents) if (one / ".git").exists())
    return next(above, here)


def _shown(path: str) -> str:
    whole = os.path.realpath(os.path.expanduser(path))
    if not os.path.exists(whole):
        raise KnownError(f"There is no {path} to be shown.")
    return whole


def _host(text: str) -> Destination:
    try:
        return Destination.parse(text)
    except UnusableHost as error:
        raise KnownError(f"“{text}” cannot be allowed: {error}.", "Name a host, such as example.com.") from error


def _say(words: str) -> None:
    sys.stdout.write(visible(f"assent try: {words}\n"))
