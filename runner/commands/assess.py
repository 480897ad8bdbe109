"""`assent assess FILE`: prints the classifier's assessment of a file, without asking or running anything."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.model.request import Language, Request, Tool
from runner.risk.explain import reason_sentences
from runner.risk.explain.class_reasons import reasons_for
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.model.assessment import Assessment
    from runner.model.span import Span
    from runner.risk.explain.class_reasons import ClassReasons

EPILOG = """\
Exit codes: 0 nothing stands out or findings below CRITICAL, 3 CRITICAL, 1 the file or the person's own rules cannot
be read, 2 the command line is wrong. With --kept 0, or 1 where a kept case cannot be read.
"""
CRITICAL = 3
TOUCHED = (
    ("Files", "files"),
    ("Network", "hosts"),
    ("Programs", "processes"),
    ("Credentials", "credentials"),
    ("Packages", "packages"),
)


def main(argv: Sequence[str]) -> int:
    """Run the command; return its exit code, as in EPILOG."""
    reader = parser()
    arguments = reader.parse_args(argv)
    if (wrong := _wrong(arguments)) is not None:
        reader.error(wrong)
    try:
        if arguments.kept:
            from runner.commands import kept_cases

            return kept_cases.run(arguments, Places.standard())
        return run(arguments, Places.standard())
    except KnownError as error:
        sys.stderr.write(f"assent: {error}\n")
        return 1


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "assent assess",
        description="Say how risky a file is, why, and where, as the console would. Nothing is run.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(made)
    return made


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments to a parser, which may be one of a sub-command."""
    parser.add_argument("file", nargs="?", help="the code; - for standard input")
    parser.add_argument("--language", metavar="NAME", help="default: by the file's name")
    parser.add_argument("--format", choices=("text", "json", "sarif"), default="text", help="default: text")
    parser.add_argument("--explain", action="store_true", help="say what holds the class, and what would change it")
    kept = parser.add_argument_group("requests whose class you marked as wrong")
    kept.add_argument("--kept", action="store_true", help="list them, each with the class it would get now")
    kept.add_argument("--show", metavar="ID", help="with --kept: show one, with its code")
    kept.add_argument("--remove", metavar="ID", nargs="+", help="with --kept: remove some, after asking")
    kept.add_argument("--yes", action="store_true", help="with --remove: do not ask")


def _wrong(arguments: argparse.Namespace) -> str | None:
    """Return what is wrong with the options together."""
    if arguments.kept:
        if arguments.file is not None or arguments.explain:
            return "--kept is about the kept cases, not about a file"
        return "the kept cases are listed as text or JSON" if arguments.format == "sarif" else None
    if arguments.show or arguments.remove or arguments.yes:
        return "--show, --remove and --yes go with --kept"
    return "the following arguments are required: file" if arguments.file is None else None


def run(arguments: argparse.Namespace, places: Places) -> int:
    """Assess and print. Raises KnownError where the file or the person's own rules cannot be read."""
    from runner.commands import run as shell
    from runner.risk import user_rules

    code = shell.read_code(arguments.file)
    shell.bring_languages(places)
    language = shell.language(arguments.language, arguments.file, code)
    found = user_rules.read(places.own_rules)
    if found.problems:
        raise KnownError(" ".join(found.problems), "Correct the file; until then nobody can say what it would find.")
    request = Request("", "", Tool.CODE_EXECUTE, 0.0, language, code)
    assessment = found.assess(request)
    reasons = reasons_for(request, assessment) if arguments.explain else None
    match arguments.format:
        case "json":
            text = json.dumps(as_data(assessment, arguments.file, language) | _explained(reasons), indent=2)
        case "sarif":
            from runner.commands import sarif

            log = sarif.log(assessment, arguments.file, _version())
            log["runs"][0]["properties"] |= _explained(reasons)
            text = json.dumps(log, indent=2)
        case _:
            lines = as_text(assessment, arguments.file)
            text = "\n".join(lines if reasons is None else [*lines, "", *explained(reasons)])
    sys.stdout.write(text + "\n")
    return CRITICAL if assessment.level is Level.CRITICAL else 0


def explained(reasons: ClassReasons) -> list[str]:
    """Return lines for a person: why the class is what it is, why not lower and why not higher."""
    from runner.model.shown import in_one_line

    lines: list[str] = []
    for heading, sentences in reason_sentences.report(reasons):
        lines += [f"{heading}:"] if heading else []
        lines += [f"  {in_one_line(sentence)}" for sentence in sentences]
    return lines


def _explained(reasons: ClassReasons | None) -> dict[str, object]:
    """Return the same for programs, under `why`; nothing where it is not asked for."""
    if reasons is None:
        return {}
    holding = [
        {
            "line": one.line or None,
            "findings": [finding.id for finding in one.findings],
            "remains": one.remains.name if one.remains is not None else None,
            "unread": one.unread,
        }
        for one in reasons.holding
    ]
    lower = [
        {
            "level": one.level.name,
            "possible": one.possible,
            "remains": one.remains.name,
            "without": [{"id": found.id, "line": found.span.line or None} for found in one.without],
        }
        for one in reasons.lower
    ]
    return {
        "why": {
            "by_itself": reasons.base.name if reasons.base is not None else None,
            "holding": holding,
            "lower": lower,
            "raised_by": {level.name: list(words) for level, words in reasons.raised_by},
            "text": [{"heading": heading, "lines": list(lines)} for heading, lines in reason_sentences.report(reasons)],
        }
    }


def as_text(assessment: Assessment, file: str) -> list[str]:
    """Return lines for a person: level, verdict, each finding with its place, and what the code can touch."""
    from runner.model.shown import in_one_line

    lines = [in_one_line(f"{file}: {assessment.level.name}"), f"  {in_one_line(assessment.verdict.sentence)}"]
    if not assessment.findings:
        lines.append(f"  No findings. {' '.join(assessment.reasons)}")
    for finding in assessment.findings:
        place = f"{finding.span.line}:{finding.span.column + 1}" if finding.span.place else ""
        reference = f" [{finding.reference}]" if finding.reference else ""
        lines.append(f"  {place:>8}  {finding.level.name:8}  {in_one_line(finding.reason)}{reference}")
        if finding.evidence:
            lines.append(f"{'':22}{in_one_line(' '.join(finding.evidence.split()))}")
    touched = [(title, getattr(assessment.touch, name)) for title, name in TOUCHED]
    if any(names for _, names in touched):
        lines.append("It can touch:")
        lines += [f"  {title}: {in_one_line(', '.join(names))}" for title, names in touched if names]
    return lines


def as_data(assessment: Assessment, file: str, language: Language) -> dict[str, object]:
    """Return the same for programs; columns count from 1 as lines do, ends are exclusive.

    The place of what belongs to no line is null.
    """
    findings = [
        {
            "id": finding.id,
            "level": finding.level.name,
            "capability": finding.capability.value,
            **_place(finding.span),
            "evidence": finding.evidence,
            "reason": finding.reason,
            "reference": finding.reference,
        }
        for finding in assessment.findings
    ]
    return {
        "file": file,
        "language": language.value,
        "level": assessment.level.name,
        "attention": assessment.attention.name if assessment.attention is not None else None,
        "verdict": assessment.verdict.sentence,
        "reasons": list(assessment.reasons),
        "unread": list(assessment.unread or ()),
        "findings": findings,
        "touch": {name: list(getattr(assessment.touch, name)) for _, name in TOUCHED},
    }


def _place(span: Span) -> dict[str, int | None]:
    if not span.place:
        return dict.fromkeys(("line", "column", "end_line", "end_column"))
    return {
        "line": span.line,
        "column": span.column + 1,
        "end_line": span.end_line,
        "end_column": span.end_column + 1,
    }


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("assent")
    except metadata.PackageNotFoundError:
        return "0"
