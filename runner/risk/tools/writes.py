"""Assesses the writing of a file by its place, whether it is executable, and its content (spec R1, F1)."""

from __future__ import annotations

import posixpath
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level, Touch, combined
from runner.model.language_support import LANGUAGES
from runner.model.request import Language, Request, Tool
from runner.model.verdict import LONGEST_TARGET, RiskVerdict, Verb, VerdictAct
from runner.model.workspace import WORKSPACE
from runner.risk.assess import assess, in_order
from runner.risk.model.bounds import excerpt
from runner.risk.model.lines import Lines
from runner.risk.recipes.images import milder
from runner.risk.recipes.run_files import RunFile, run_file
from runner.risk.recipes.tool_files import PROGRAMS
from runner.risk.rules.knowledge import bundled
from runner.risk.rules.starting import started_by
from runner.risk.rules.trojan_source import tricks
from runner.risk.verdict.code import plain_verdict
from runner.risk.verdict.naming import file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

NAMES = {"sconstruct": Language.PYTHON, "sconscript": Language.PYTHON, "wscript": Language.PYTHON}
"""Files without an ending that a build runs as it finds them."""
RUN_BY_TOOL = "A tool runs what stands in this file."


def assess_write(
    path: str, content: str, *, executable: bool = False, classify: Callable[[Request], Assessment] = assess
) -> Assessment:
    """Return what writing `content` to `path` would do; `classify` assesses it where it is code. Pure; never raises.

    An ordinary file below the workspace is MEDIUM, one that can be started HIGH and assessed as code, a place outside
    the workspace or one that is read at start-up or log-in CRITICAL.
    """
    return assess_content(path, content, list(_place(path)), executable=executable, classify=classify)


def assess_content(
    path: str,
    content: str,
    findings: Iterable[Finding] = (),
    *,
    executable: bool = False,
    classify: Callable[[Request], Assessment] = assess,
) -> Assessment:
    """Return what a file at `path` with this content would be; `findings` are those about the place."""
    findings = list(findings)
    language = language_of(path, content)
    code = content
    run = run_file(path, content)
    if run is not None:
        if language is not None and run.code != content:
            # What a tool reads of it and what an interpreter would are not the same.
            findings += classify(Request("", "", Tool.CODE_EXECUTE, 0.0, language, content)).findings
        language, code = run.language, run.code
        findings += _of_kind(path, content, run)
    elif language is None and executable and not content.startswith(("#!", "\x7fELF")):
        language = Language.SHELL  # what a shell takes it for
    touch = Touch(files=(path,))
    base = Level.MEDIUM
    inner = ""
    if language is not None or executable or content.startswith("#!") or PROGRAMS.match(path):
        base = Level.HIGH
        reason = "This file can be started as a program." if run is None else RUN_BY_TOOL
        findings.append(
            Finding("write.program", Level.LOW, Capability.FILES, WHOLE, excerpt(path, 200), reason, "T1059")
        )
    if language is not None:
        inside = classify(Request("", "", Tool.CODE_EXECUTE, 0.0, language, code))
        within = inside.findings
        if run is not None and run.image:
            within = tuple(replace(one, level=milder(one.id, one.level)) for one in within)
        findings += within
        inner = inside.verdict.sentence if run is None or (code.strip() and not run.unread) else ""
        found = inside.touch
        touch = Touch((path, *found.files), found.hosts, found.processes, found.credentials, found.packages)
    else:
        # In a text nothing is hidden from an interpreter, only from who reads it.
        findings += (replace(trick, level=min(trick.level, Level.HIGH)) for trick in tricks(Lines(content)))
    ordered = in_order(findings)
    worst = sorted(ordered, key=lambda finding: -finding.level)
    reasons = tuple(dict.fromkeys(finding.reason for finding in worst)) or ("Writes an ordinary file.",)
    verdict = on_file("writes", path, ordered, inner)
    return Assessment(combined(base, ordered), reasons, ordered, touch, verdict, base=base, unread=())


def _of_kind(path: str, content: str, run: RunFile) -> Iterator[Finding]:
    """Findings about a file of which a tool runs something."""
    if run.unread:
        reason = "A tool runs what stands in this file, and it could not be read."
        yield Finding("write.unread", Level.HIGH, Capability.UNREADABLE, WHOLE, excerpt(path, 200), reason, "CWE-1007")
    lines = Lines(content)
    if run.spliced:
        span = lines.place((run.spliced, 0, run.spliced, 0))
        reason = "Puts a text that anybody may write, such as a title, into a command before the shell reads it."
        yield Finding(
            "write.spliced", Level.HIGH, Capability.STARTS_PROCESSES, span, lines.evidence(span), reason, "CWE-78"
        )
    if run.by_itself:
        span = lines.place((run.by_itself, 0, run.by_itself, 0))
        reason = "This script runs whenever the package is installed."
        yield Finding(
            "write.at-install", Level.HIGH, Capability.PERSISTENCE, span, lines.evidence(span), reason, "T1546"
        )


def on_file(verb: str, path: str, findings: Sequence[Finding], inner: str = "") -> RiskVerdict:
    """Return the verdict on a file that comes into being or is changed; `inner` says what it does as a program."""
    kinds = bundled().targets.of(path)
    starts = bool(kinds & {"startup", "hook"})
    name = file_name(path)
    words = f"{name} ({started_by(path) or 'runs by itself'})" if starts else name
    line = next((one.span for one in sorted(findings, key=lambda one: -one.level) if one.span != WHOLE), None)
    act = VerdictAct(
        Verb.RUNS_ON_START if starts else Verb.WRITES,
        excerpt(words, LONGEST_TARGET),
        place=excerpt(path, LONGEST_TARGET),
    )
    worst = max((one.level for one in findings), default=Level.LOW)
    return plain_verdict([f"{verb} {words}"], act, look_at=line if worst > Level.LOW else None, inner=inner)


def language_of(path: str, content: str) -> Language | None:
    """Return the language of a program, by its name or its first line; None for what is no program."""
    ending = posixpath.splitext(path.lower())[1]
    # Those that are followed: a file that has to be compiled first starts nothing by being there.
    followed = {language: support for language, support in LANGUAGES.items() if support.toolchain is None}
    for language, support in followed.items():
        if ending in support.endings or ending in support.also:
            return language
    if (name := posixpath.basename(path.lower())) in NAMES:
        return NAMES[name]
    first = content.partition("\n")[0]
    if not first.startswith("#!"):
        return None
    return next((one for one, support in followed.items() if support.programs[0] in first), None)


def _place(path: str) -> Iterator[Finding]:
    whole = posixpath.normpath(posixpath.join(WORKSPACE, path.replace("\\", "/")))
    if whole != WORKSPACE and not whole.startswith(WORKSPACE + "/"):
        yield _finding("write.outside", path, "This place is outside the workspace.", "CWE-22")
    if "\0" in path or "\n" in path:
        yield _finding("write.name", path, "The name of the file holds characters that cannot be shown.", "CWE-22")
    kinds = bundled().targets.of(whole.removeprefix(WORKSPACE + "/"))
    if "startup" in kinds:
        by = started_by(path)
        reason = f"Files here run automatically ({by})." if by else "Files here run automatically."
        yield _finding("write.startup", path, reason, "T1547")
    elif "hook" in kinds:
        reason = f"Files here run automatically ({started_by(path) or 'a tool runs them'})."
        yield replace(_finding("write.hook", path, reason, "T1546"), level=Level.HIGH)
    elif "secret" in kinds or "key-file" in kinds:
        yield _finding("write.credentials", path, "This is a place for keys or passwords.", "T1098")


def _finding(id: str, path: str, reason: str, reference: str) -> Finding:
    capability = Capability.PERSISTENCE if id in ("write.startup", "write.hook") else Capability.FILES
    return Finding(id, Level.CRITICAL, capability, WHOLE, excerpt(path, 200), reason, reference)
