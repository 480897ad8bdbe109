"""The commands of `assent` that need no window; each loads only what it needs."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from runner.commands.check import Check
    from runner.system.places import Places

DESCRIPTION = "Local agents ask to run code; you see it, its risk and the reasons, and approve or deny."
EPILOG = """\
Without a command the console opens.
Settings come from the environment, the settings file and the console, in that order of strength.
"""
ELSEWHERE = (
    "This is not the history in use here. Checked: each entry, and the signatures by {}. Not checked: whether it is"
    " the whole one, and the files that its runs left."
)
NONE_YET = "There is no history yet; it begins with the first start."
OWN_ARGUMENTS = {
    "assess": "say how risky a file is, and why; runs nothing",
    "connect": "put Assent into the configuration of an agent's program, or take it out",
    "export": "write the history into a file, as JSON Lines, table, report, OCSF events or for the verifier",
    "history": "remove old content from the history, or follow what is recorded",
    "images": "build the images that containers start from",
    "try": "run a command over a copy of this folder, and ask what to apply of its changes",
    "work": "start an agent's program over a copy of this folder; list, apply, undo or discard what it changed",
}
"""Commands that parse their own arguments, with their purpose."""
WORK_ACTIONS = (
    *("list", "changes", "apply", "undo", "discard"),
    *("allow", "run", "refuse", "as-it-goes", "end"),
    *("-h", "--help"),
)
"""First words after `assent work` that are no program to be started."""


def main(argv: Sequence[str]) -> int:
    """Return the exit code: 0 done, 1 something is wrong, 2 the command line is, or `verify` is not sure."""
    if argv and argv[0] == "mcp":
        # First, because an agent starts this and waits for it.
        from runner.gateway.bridge import main as bridge

        return bridge(list(argv[1:]))
    if argv and argv[0] == "hook":
        # The same, and whatever goes wrong in it has to be a no.
        from runner.commands.hook import main as hook

        hook(list(argv[1:]))
    if argv and argv[0] == "assess":
        from runner.commands.assess import main as assess

        return assess(list(argv[1:]))
    if argv and argv[0] == "images":
        from runner.commands.images import main as images

        return images(list(argv[1:]))
    arguments = _parsed(argv)
    from runner.model.errors import KnownError
    from runner.system.places import Places

    try:
        return int(arguments.command(arguments, Places.standard()))
    except KnownError as error:
        from runner.model.shown import visible

        print(visible(f"assent: {error}"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of the output has closed it. Python would report that again at exit.
        sys.stderr.close()
        return 1


def _parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Return the arguments, with the command to call."""
    match argv[:1]:
        case ["connect"]:
            from runner.commands.connect import add_arguments, connect

            parsed = parser({"connect": add_arguments})
            parsed.set_defaults(command=connect)
        case ["export"]:
            from runner.commands.export import add_arguments as of_export
            from runner.commands.export import export

            parsed = parser({"export": of_export})
            parsed.set_defaults(command=export)
        case ["history"]:
            from runner.commands.history import add_arguments as of_history

            parsed = parser({"history": of_history})
        case ["try"]:
            from runner.commands.attempt import add_arguments as of_try

            parsed = parser({"try": of_try})
        case ["work"]:
            if argv[1:] and argv[1] not in WORK_ACTIONS:
                from runner.commands.at_work import add_arguments as of_start

                parsed = parser({"work": of_start})
            else:
                from runner.commands.work import add_arguments as of_work

                parsed = parser({"work": of_work})
        case _:
            parsed = parser()
    return parsed.parse_args(argv)


def whole_parser() -> argparse.ArgumentParser:
    """Return `parser` with the arguments of the commands that parse their own; for manual page and completions."""
    from runner.commands.assess import add_arguments as of_assess
    from runner.commands.attempt import add_arguments as of_try
    from runner.commands.connect import add_arguments as of_connect
    from runner.commands.export import add_arguments as of_export
    from runner.commands.history import add_arguments as of_history
    from runner.commands.images import add_arguments as of_images
    from runner.commands.work import add_arguments as of_work

    own = {
        "assess": of_assess,
        "connect": of_connect,
        "export": of_export,
        "history": of_history,
        "images": of_images,
        "try": of_try,
        "work": of_work,
    }
    return parser(own)


def parser(own: Mapping[str, Callable[[argparse.ArgumentParser], None]] | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands.

    `own` adds the arguments of commands that parse theirs themselves, by name: reading them here would load what
    only these commands need.
    """
    # Not above: what agents start, `mcp` and `hook`, needs none.
    import argparse

    from runner.commands.command_parser import CommandParser, VersionAction

    whole: argparse.ArgumentParser = CommandParser(
        "assent", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    whole.add_argument("--version", action=VersionAction, words=_version, help="show program's version number and exit")
    commands = whole.add_subparsers(metavar="COMMAND", required=True)
    commands.add_parser("demo", help="show the main job on a virtual screen, leaving screenshots", add_help=False)

    words = "Asks on this terminal what the window would ask; each question says what to type. Ctrl+C ends it."
    terminal = commands.add_parser("terminal", help="answer on the terminal, without a window", description=words)
    terminal.set_defaults(command=_terminal)
    for name, words in OWN_ARGUMENTS.items():
        (own or {}).get(name, _nothing)(commands.add_parser(name, help=words, add_help=False))

    run = commands.add_parser(
        "run",
        help="submit a file to the open console, wait, and print what it printed",
        description="Exits as the code did; 124 when its time was up, 125 when it was not run.",
    )
    run.add_argument("file", help="the code; - for standard input")
    run.add_argument("--language", metavar="NAME", help="default: by the file's name")
    run.add_argument("--title", default="", help="what the code is for")
    run.add_argument("--timeout", type=float, metavar="SECONDS", help="how long the code may run")
    run.set_defaults(command=_run)

    doctor = commands.add_parser("doctor", help="examine what works here, with the fix for what does not")
    doctor.add_argument("--json", action="store_true", help="as JSON, for programs")
    doctor.set_defaults(command=_doctor)

    verify = commands.add_parser(
        "verify",
        help="check every entry of the history",
        description="Exits with 0 when all is as it was written, 1 when it is not, 2 when nobody can vouch for it.",
    )
    verify.add_argument("path", nargs="?", help="a ledger file; default: this account's")
    verify.set_defaults(command=_verify)

    key = commands.add_parser("e2b-key", help="store the key for sandboxes at E2B, or remove it")
    key.add_argument("--remove", action="store_true", help="take it out again")
    key.set_defaults(command=_e2b_key)
    test = commands.add_parser("self-test", help="submit, approve, run and verify small programs in a temporary folder")
    test.add_argument(
        "--sandbox", metavar="NAME", default="", help="try each promise of this sandbox: of a package, or Assent's own"
    )
    test.set_defaults(command=_self_test)

    _add_agents(commands)
    _add_started_by_programs(commands)
    return whole


def _add_agents(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from runner.commands.agents import add_actions

    add_actions(commands)


def _add_started_by_programs(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    commands.add_parser("mcp", help="carry MCP between an agent's standard streams and the console", add_help=False)
    commands.add_parser("hook", help="ask here before a client uses its own tools; connect --hook sets it up")


def _nothing(_parser: argparse.ArgumentParser) -> None:
    """Add no arguments."""


def _version() -> str:
    from importlib import metadata

    try:
        return f"assent {metadata.version('assent')}"
    except metadata.PackageNotFoundError:
        return "assent (not installed)"


def _terminal(_arguments: argparse.Namespace, _places: Places) -> int:
    from runner.commands.terminal import main as terminal

    return terminal()


def _run(arguments: argparse.Namespace, places: Places) -> int:
    import os

    from runner.commands import run as shell
    from runner.commands.run_token import own_token
    from runner.identity.agents import Agents
    from runner.identity.secrets import Secrets
    from runner.model.errors import KnownError
    from runner.model.shown import visible
    from runner.settings.loading import load

    def say(words: str) -> None:
        print(visible(f"assent run: {words}"), file=sys.stderr)

    try:
        code = shell.read_code(arguments.file)
        shell.bring_languages(places)
        language = shell.language(arguments.language, arguments.file, code)
        token = os.environ.get("ASSENT_TOKEN") or own_token(
            places, Agents(places), Secrets(places, load(places, os.environ).settings)
        )
    except KnownError as error:
        say(str(error))
        return shell.NOT_RUN
    asked: dict[str, object] = {"language": str(language), "code": code, "title": arguments.title or arguments.file}
    if arguments.timeout is not None:
        asked["timeout"] = arguments.timeout
    if arguments.file != "-" and not sys.stdin.isatty():
        asked["stdin"] = sys.stdin.read()
    return shell.submit(places, token, asked, say)


def _doctor(arguments: argparse.Namespace, places: Places) -> int:
    import asyncio
    import json
    import os
    from dataclasses import asdict

    from runner.commands.check import State
    from runner.commands.doctor import examine
    from runner.settings.loading import load
    from runner.settings.package_languages import with_languages

    checks = asyncio.run(examine(places, with_languages(load(places, os.environ))))
    if arguments.json:
        print(json.dumps([asdict(check) for check in checks], indent=2, ensure_ascii=False))
    else:
        for check in checks:
            _print_check(check)
    return 1 if any(check.state is State.BAD for check in checks) else 0


def _print_check(check: Check) -> None:
    from runner.model.shown import visible

    print(visible(f"{check.state.sign}  {check.name}: {check.what}"))
    if check.fix:
        print(visible(f"      fix: {check.fix}"))


def _verify(arguments: argparse.Namespace, places: Places) -> int:
    from pathlib import Path

    from runner.audit.ledger.verify import verify
    from runner.identity.signer import check_ledger, note_verified, vouching

    known = vouching(places)
    path = Path(arguments.path) if arguments.path else places.ledger
    own = path.resolve() == places.ledger.resolve()
    if own and not known.anchor and not path.exists():
        print(NONE_YET)
        return 0
    if own:
        verdict, doubt = check_ledger(places, known, _count), known.problem
        if verdict.ok:
            note_verified(places)
    else:
        verdict = verify(path, progress=_count)
        if known.public_key in verdict.keys:
            # A ledger moved aside, or a copy: the key can verify it, but there is no anchor for its last entry.
            verdict, doubt = verify(path, known.public_key, _count), ELSEWHERE.format("the key of this installation")
        else:
            doubt = ELSEWHERE.format("the keys that it names itself")
    if sys.stderr.isatty():
        print(end="\r\x1b[K", file=sys.stderr)
    print(verdict.what)
    if verdict.signed_to:
        print(f"Entries up to {verdict.signed_to:,} are signed.")
    for words in verdict.outside:
        print(words)
    if not verdict.ok:
        if verdict.entries and (not verdict.altered or verdict.first_broken):
            print(f"{verdict.entries:,} entries before it are good.", file=sys.stderr)
        return 1
    for words in filter(None, (verdict.unsure, doubt)):
        print(words)
    return 2 if verdict.unsure or doubt else 0


def _count(entries: int) -> None:
    """Show how many entries are good so far, where somebody can see it."""
    if sys.stderr.isatty():
        print(f"\r{entries:,} entries are good so far.", end="", file=sys.stderr, flush=True)


def _e2b_key(arguments: argparse.Namespace, places: Places) -> int:
    from runner.commands.e2b_key import store

    return store(arguments, places)


def _self_test(arguments: argparse.Namespace, _places: Places) -> int:
    from runner.commands.selftest import main as self_test
    from runner.commands.selftest import of_sandbox

    return of_sandbox(arguments.sandbox) if arguments.sandbox else self_test()
