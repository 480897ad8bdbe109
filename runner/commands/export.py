"""`assent export`: writes the history, or what a filter leaves of it, into a file."""

from __future__ import annotations

import argparse
import shutil
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from runner.audit.export.exporting import ExportFormat, HistoryExport
from runner.audit.export.target import exported_file
from runner.audit.history.search import Filter
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.request import Language
from runner.model.result import Outcome
from runner.model.shown import visible
from runner.system.places import resources

if TYPE_CHECKING:
    from runner.audit.export.exporting import Exported
    from runner.system.places import Places

VERIFIER = "assent_verify.py"
FORMATS = (ExportFormat.JSON_LINES, ExportFormat.CSV, ExportFormat.HTML, ExportFormat.OCSF)
NOTE = (
    "Note these two apart from the file; the verifier compares with them:\n"
    f"  python3 -I {VERIFIER} {{file}} {{key}}--head {{head}}"
)
_FILTERS = (
    *("agent", "since", "until", "outcome", "decision", "level", "language", "finding", "host", "unforeseen", "text"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.add_argument("-h", "--help", action="help", help="show this help message and exit")
    parser.add_argument("path", nargs="?", help="a ledger file; default: this account's")
    what = parser.add_mutually_exclusive_group()
    names = ", ".join(FORMATS)
    what.add_argument("--format", choices=list(map(str, FORMATS)), help=f"{names}; default: by the file's name")
    what.add_argument("--entries", action="store_true", help="all entries with hashes and signatures, for the verifier")
    what.add_argument("--verifier", action="store_true", help="the program that checks --entries without Assent")
    parser.add_argument("--output", required=True, metavar="FILE", help="the file to write")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    parser.add_argument("--agent", metavar="NAME", help="requests of this agent")
    parser.add_argument("--since", type=_since, metavar="DATE", help="from this day or time on, in local time")
    parser.add_argument("--until", type=_until, metavar="DATE", help="to the end of this day, or before this time")
    parser.add_argument("--outcome", type=Outcome, choices=list(Outcome), metavar="OUTCOME", help=", ".join(Outcome))
    parser.add_argument("--decision", type=Verdict, choices=list(Verdict), metavar="DECISION", help=", ".join(Verdict))
    parser.add_argument("--level", type=_level, metavar="LEVEL", help=", ".join(level.name for level in Level))
    parser.add_argument("--language", type=Language, choices=list(Language), metavar="NAME", help=", ".join(Language))
    parser.add_argument("--finding", metavar="RULE", help="requests in which this rule found something")
    parser.add_argument("--host", metavar="NAME", help="requests that named this host, or tried to reach it")
    parser.add_argument(
        "--unforeseen", action="store_const", const="yes", help="runs that did what their assessment had not foreseen"
    )
    parser.add_argument("--text", metavar="WORDS", help="words in title, code, output, hosts or programs of a request")


def export(arguments: argparse.Namespace, places: Places) -> int:
    """Return the exit code 0. Raises KnownError."""
    path = Path(arguments.output)
    ledger = Path(arguments.path) if arguments.path else places.ledger
    filtered = any(getattr(arguments, name) is not None for name in _FILTERS)
    if filtered and (arguments.entries or arguments.verifier):
        # A chain with gaps cannot be checked.
        raise KnownError("A filter chooses requests; it cannot be given with --entries or --verifier.")
    if arguments.verifier:
        with (
            (resources() / VERIFIER).open(encoding="utf-8") as source,
            exported_file(path, places.ledger, replace=arguments.force, notes=places.exports) as file,
        ):
            shutil.copyfileobj(source, file)
        _say(f"The verifier was written to {path}.")
        return 0
    kind = ExportFormat.ENTRIES if arguments.entries else _format(arguments.format, path)
    written = HistoryExport(ledger, kind, _wanted(arguments), notes=places.exports).write(
        path, replace=arguments.force, progress=_Progress(kind)
    )
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    _say(written.sentence)
    if written.head:
        _say(_note(written))
    return 0


class _Progress:
    """Shows how much is written, where somebody can see it."""

    def __init__(self, kind: ExportFormat) -> None:
        self._what = "entries" if kind is ExportFormat.ENTRIES else "requests"

    def __call__(self, count: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{count:,} {self._what} are written.")
            sys.stderr.flush()


def _say(words: str) -> None:
    sys.stdout.write(visible(words) + "\n")


def _note(written: Exported) -> str:
    key = f"--key {written.key} " if written.key else ""
    return NOTE.format(file=written.path.name, key=key, head=written.head)


def _format(given: str | None, path: Path) -> ExportFormat:
    """Return the format that was asked for, or that the name of the file says. Raises KnownError."""
    name = given or path.suffix.removeprefix(".").lower()
    if name in FORMATS:
        return ExportFormat(name)
    raise KnownError(f"The name {path.name} says no format.", f"Add --format with one of {', '.join(FORMATS)}.")


def _wanted(arguments: argparse.Namespace) -> Filter:
    return Filter(
        agent=arguments.agent or "",
        level=arguments.level,
        verdict=arguments.decision,
        outcome=arguments.outcome,
        text=arguments.text or "",
        since=arguments.since,
        until=arguments.until,
        language=arguments.language,
        finding=arguments.finding or "",
        host=arguments.host or "",
        unforeseen=arguments.unforeseen or "",
    )


def _level(text: str) -> Level:
    try:
        return Level[text.upper()]
    except KeyError:
        names = ", ".join(level.name for level in Level)
        raise argparse.ArgumentTypeError(f"{text!r} is none of {names}") from None


def _since(text: str) -> float:
    return _time(text, timedelta())


def _until(text: str) -> float:
    # A day is meant whole.
    return _time(text, timedelta(days=1))


def _time(text: str, of_a_day: timedelta) -> float:
    """Return seconds since the epoch, `of_a_day` later where only a day is named. Raises ArgumentTypeError."""
    try:
        whole_day = len(text) == len("2026-01-31")
        moment = datetime.fromisoformat(text)
        return (moment + of_a_day if whole_day else moment).timestamp()
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(f"{text!r} is no date such as 2026-01-31 or 2026-01-31T08:00") from None
