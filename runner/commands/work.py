"""`assent work ACTION`: the arguments of each action, which loads what it needs."""

from __future__ import annotations

from argparse import RawDescriptionHelpFormatter
from typing import TYPE_CHECKING

from runner.workspace.working_copy import KEPT_DAYS

if TYPE_CHECKING:
    import argparse

    from runner.system.places import Places

EPILOG = """\
OPTIONS are those of `assent try`: see assent try --help.
NAME is that of a working copy, such as shop-1a2b3c: the page Work and `assent work list` show it.

exit codes: 0 all of it was done; 1 something was not, or stays: what and why is said; 2 the command was not understood;
of `assent work PROGRAM` that of the program, or 1 where the program could not be started."""
APPLY_EPILOG = """\
examples:
  assent work apply shop-1a2b3c                       everything that the page Work ticks beforehand
  assent work apply shop-1a2b3c src docs/index.md     only what is there and below
  assent work apply shop-1a2b3c .git                  the commits, with all of .git
  assent work apply shop-1a2b3c Makefile --marked     a file that runs something later by itself
  assent work apply shop-1a2b3c app.py --hunks 1,3    two places of one file, as `changes --diff` numbers them
  assent work apply shop-1a2b3c --digest DIGEST       only exactly what `changes --json` has shown

PATH is below the project's folder, wherever you are. exit codes: 0 all of it was applied; 1 something stays in the
working copy, or nothing was done."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.usage = "assent work [-h] ACTION ...\n       assent work [OPTIONS] PROGRAM [ARGUMENTS]"
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.epilog = EPILOG
    parser.add_argument("-h", "--help", action="help", help="show this help message and exit")
    actions = parser.add_subparsers(metavar="ACTION", required=True, prog="assent work")
    listed = actions.add_parser("list", help="the working copies, the newest first")
    listed.add_argument("--json", action="store_true", help="as JSON")
    listed.set_defaults(command=_list_copies)
    changes = actions.add_parser("changes", help="what one changes in its project as it is now")
    _name(changes)
    changes.add_argument("--diff", action="store_true", help="with the lines that differ")
    changes.add_argument("--json", action="store_true", help="as JSON, with the digest that `apply --digest` takes")
    changes.set_defaults(command=_show_changes)
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
    undo.set_defaults(command=_undo_changes)
    discard = actions.add_parser("discard", help="remove the working copy with its changes")
    discard.add_argument("name", metavar="NAME", nargs="?", help="as `assent work list` says it")
    discard.add_argument(
        "--applied",
        action="store_true",
        help=f"instead of one, all that have nothing that was not applied, for {KEPT_DAYS} days",
    )
    discard.add_argument("--yes", action="store_true", help="do not ask")
    discard.set_defaults(command=_discard_copy)
    allow = actions.add_parser("allow", help="let a program at work reach a host until it ends")
    _name(allow)
    allow.add_argument(
        "host", metavar="HOST", help="such as example.com or example.com:8080; of a URL its host and port"
    )
    allow.add_argument("--always", action="store_true", help="and later ones of this project, too")
    allow.set_defaults(command=_allow_host)
    for verb, run in (("run", True), ("refuse", False)):
        answer = actions.add_parser(verb, help=f"{verb} a command that is held")
        _name(answer)
        answer.add_argument("number", type=int, metavar="NUMBER", help="of the command, as `list` says it")
        if not run:
            answer.add_argument("--why", default="", metavar="SENTENCE", help="what the agent is told beside that")
        answer.set_defaults(command=_answer_command, run=run)
    goes = actions.add_parser(
        "as-it-goes",
        help="apply by itself what a program at work changes, or no longer",
        description="Whenever the program is quiet, what it has changed is written into the project by itself, each"
        " time with an entry in the history and an undo. What is marked, merged or in conflict, what has a finding of"
        " HIGH or CRITICAL in what it adds, what was not read, and deletions, stay in the working copy.",
    )
    _name(goes)
    goes.add_argument("switch", choices=("on", "off"), metavar="on|off")
    goes.set_defaults(command=_switch_as_it_goes)
    end = actions.add_parser("end", help="end a program at work and all that it started")
    _name(end)
    end.set_defaults(command=_end_program)


def _add_apply(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    apply = actions.add_parser(
        "apply",
        help="write changes into the project",
        description="Writes changes into the project, all of them or none. What conflicts with the project stays in"
        " the working copy. So does what is marked (!) as running later by itself, unless --marked is given, what was"
        " merged with your edits, unless --merged is, and what is in a folder such as node_modules, in .git with its"
        " commits, or in a deleted folder of many files, unless that is named or --folders is given.",
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
    apply.add_argument("--folders", action="store_true", help="also folders such as node_modules, and .git")
    apply.add_argument("--digest", metavar="DIGEST", help="only where the changes are exactly those with this digest")
    apply.set_defaults(command=_apply_changes)


def _numbers(text: str) -> frozenset[int]:
    return frozenset(int(one) for one in text.split(","))


def _name(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="as `assent work list` says it")


def _list_copies(arguments: argparse.Namespace, places: Places) -> int:
    from runner.commands.work_list import list_copies

    return list_copies(arguments, places)


def _show_changes(arguments: argparse.Namespace, places: Places) -> int:
    from runner.commands.work_changes import show_changes

    return show_changes(arguments, places)


def _apply_changes(arguments: argparse.Namespace, places: Places) -> int:
    from runner.commands.work_changes import apply_changes

    return apply_changes(arguments, places)


def _undo_changes(arguments: argparse.Namespace, places: Places) -> int:
    from runner.commands.work_changes import undo_changes

    return undo_changes(arguments, places)


def _discard_copy(arguments: argparse.Namespace, places: Places) -> int:
    from runner.commands.work_changes import discard_copy

    return discard_copy(arguments, places)


def _allow_host(arguments: argparse.Namespace, places: Places) -> int:
    from runner.commands.work_orders import allow_host

    return allow_host(arguments, places)


def _answer_command(arguments: argparse.Namespace, places: Places) -> int:
    from runner.commands.work_orders import answer_command

    return answer_command(arguments, places)


def _switch_as_it_goes(arguments: argparse.Namespace, places: Places) -> int:
    from runner.commands.work_orders import switch_as_it_goes

    return switch_as_it_goes(arguments, places)


def _end_program(arguments: argparse.Namespace, places: Places) -> int:
    from runner.commands.work_orders import end_program

    return end_program(arguments, places)
