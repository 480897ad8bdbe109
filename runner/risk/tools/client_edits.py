"""Assesses changes of files that an agent's own program makes on the machine."""

from __future__ import annotations

import posixpath
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level, Touch, combined
from runner.model.request import ClientTool, Place
from runner.model.verdict import LONGEST_TARGET, RiskVerdict, Verb, VerdictAct
from runner.risk.assess import in_order
from runner.risk.model.bounds import excerpt
from runner.risk.rules.knowledge import bundled
from runner.risk.rules.starting import started_by
from runner.risk.tools.codex_patch import (
    ADDS,
    DELETES,
    MOVES,
    OF_CODEX,
    SHELLS_OF_CODEX,
    UPDATES,
    Patched,
    ShellPatch,
    patch_in,
    read_patch,
)
from runner.risk.tools.writes import assess_content
from runner.risk.verdict.code import plain_verdict
from runner.risk.verdict.naming import file_name, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from runner.model.request import Request

CHANGES = "The agent's program changes this file on your machine."
DELETED = "This file is deleted."
OF_GEMINI = frozenset({"replace", "write_file"})
SEARCHED = "Gemini CLI looks for a file of this name in the whole project, so it may change another one."
UNREAD = "It cannot be read for certain which files would change."
CONTINUED = "if 1:\n    pass\n"
"""Put before a part of Python code that begins with `else` or the like, which cannot be read by itself."""


def assess_edit(request: Request, classify: Callable[[Request], Assessment]) -> Assessment:
    """Return what a change of files would do; `classify` assesses code. Pure; never raises."""
    tool = request.client or ClientTool("", "")
    parts, unread = _parts(request, tool)
    findings = [*_links(tool), *_searched(request, tool)]
    if unread or not parts:
        findings.append(_finding("edit.unread", Level.CRITICAL, unread, UNREAD))
    is_patch = tool.name in OF_CODEX
    base, touch, within, inner = assess_parts(parts, tool, classify, whole=is_patch)
    if tool.name in SHELLS_OF_CODEX:
        # The agent chooses the folder of the call, so that no name below it is as good as one in the project.
        base = max(base, Level.HIGH)
    verdict = _changed(parts, tool, [*findings, *within], inner if len(parts) == 1 else "")
    return concluded(base, [*findings, *within], CHANGES, touch, verdict)


def assess_parts(
    parts: Sequence[Patched], tool: ClientTool, classify: Callable[[Request], Assessment], *, whole: bool
) -> tuple[Level, Touch, list[Finding], str]:
    """Return level, touched things and findings of changed files, and what the last would do if it is run.

    With `whole` the lines of a part are not those that are shown.
    """
    base, touch, inner = Level.MEDIUM, Touch(files=tuple(tool.absolute(part.path) for part in parts)), ""
    findings: list[Finding] = []
    for part in parts:
        findings += place_findings(part, tool)
        found = assess_content(part.path, _complete(part, classify), classify=classify)
        base = max(base, found.base or found.level)
        # A piece of a file is not read as a whole one.
        about = [one for one in found.findings if part.action == ADDS or one.id != "write.unread"]
        findings += (replace(one, span=WHOLE) if whole else one for one in about)
        touch = both(touch, found.touch)
        inner = found.verdict.sentence.partition("; if run: ")[2]
    return base, touch, findings, inner


def _parts(request: Request, tool: ClientTool) -> tuple[list[Patched], str]:
    """Return the files that change, each by where it is, and what cannot be read; '' where all can."""
    if tool.name not in OF_CODEX:
        return [Patched(UPDATES, shown(tool, path), request.code) for path in request.files], ""
    patch = read_patch((patch_in(request.code) or ShellPatch(request.code)).patch)
    parts = []
    for part in patch.files:
        reals = [place.real for place in tool.places if place.named == part.path] or [part.path]
        parts += [part._replace(path=shown(tool, real)) for real in reals]
    return parts, patch.unread


def shown(tool: ClientTool, path: str) -> str:
    """Return a path as it is shown: below the folder, or from the root."""
    return tool.below(path) or tool.absolute(path)


VERBS = {ADDS: "writes", DELETES: "deletes", MOVES: "moves something to"}


def _changed(parts: Sequence[Patched], tool: ClientTool, findings: Sequence[Finding], inner: str) -> RiskVerdict:
    """Return what happens to which files of the machine."""
    if not parts:
        return RiskVerdict("Changes files; it cannot be read which.")
    named: dict[str, list[str]] = {}
    acts = []
    for part in parts:
        verb = VERBS.get(part.action, "changes")
        by = started_by(part.path) if _kinds(part.path, tool) & {"startup", "hook"} else ""
        named.setdefault(verb, []).append(f"{file_name(part.path)} ({by})" if by else file_name(part.path))
        does = Verb.DELETES if part.action == DELETES else Verb.REWRITES
        acts.append(VerdictAct(does, file_name(part.path), place=excerpt(part.path, LONGEST_TARGET)))
    clauses = [f"{verb} {listed(named[verb])}" for verb in sorted(named, key=lambda verb: verb != "deletes")]
    worst = max(findings, key=lambda one: one.level, default=None)
    place = worst is not None and worst.level >= Level.HIGH and worst.id.startswith("edit.")
    span = worst.span if worst is not None and worst.level >= Level.MEDIUM and worst.span != WHOLE else None
    told = worst.reason if worst is not None and place and worst.id != "edit.deletes" else ""
    return plain_verdict([f"{clauses[0]} on your machine", *clauses[1:]], *acts, look_at=span, inner=inner, more=told)


def _complete(part: Patched, classify: Callable[[Request], Assessment]) -> str:
    """Return the text of a part of a file so that it can be read by itself, where that is possible."""
    text = textwrap.dedent(part.text)
    if not part.path.lower().endswith((".py", ".pyw")) or part.action == ADDS:
        return part.text if part.action == ADDS else text
    unread = {"risk.unparsed", "hidden.left-out", "noted.repaired"}
    for candidate in (text, CONTINUED + text):
        if not unread & {one.id for one in assess_content(part.path, candidate, classify=classify).findings}:
            return candidate
    return text


def _links(tool: ClientTool) -> Iterator[Finding]:
    """Yield that a file is a link, and where one leads out of the folder."""
    for place in tool.places:
        if place.link:
            leaves = bool(tool.below(place.named)) and not tool.below(place.real)
            where = f"{file_name(place.real)}{', outside the folder' if leaves else ''}"
            reason = f"{file_name(place.named)} is a link to {where}."
            level = Level.CRITICAL if leaves else Level.MEDIUM
            yield _finding("edit.link", level, place.named, reason)


def _searched(request: Request, tool: ClientTool) -> Iterator[Finding]:
    """Yield that Gemini CLI may take a name for that of another file."""
    if tool.name not in OF_GEMINI:
        return
    for named in dict.fromkeys(place.named for place in tool.places or _named(request)):
        if not named.startswith("/"):
            yield _finding("edit.searched", Level.CRITICAL, named, SEARCHED)


def _named(request: Request) -> Sequence[Place]:
    return [Place(path, path) for path in request.files]


def place_findings(part: Patched, tool: ClientTool) -> Iterator[Finding]:
    """Yield findings about where a file is: outside the project, at a place that runs or steers something."""
    if not tool.below(part.path):
        yield _finding("edit.outside", Level.HIGH, part.path, "This file is outside the folder the agent works in.")
    kinds = _kinds(part.path, tool)
    if not part.path.isprintable():
        yield _finding("edit.name", Level.CRITICAL, part.path, "The name has characters that cannot be shown.")
    if "steering" in kinds:
        reason = "Programs of agents are configured here: permissions, hooks and servers."
        yield _finding("edit.agents", Level.CRITICAL, part.path, reason, Capability.PERSISTENCE)
    elif kinds & {"startup", "hook", "obeyed"}:
        reason = "Files here run automatically, at start-up, log-in or in a tool."
        yield _finding("edit.startup", Level.CRITICAL, part.path, reason, Capability.PERSISTENCE)
    elif "secret" in kinds or "key-file" in kinds:
        yield _finding("edit.credentials", Level.CRITICAL, part.path, "This is a place for keys or passwords.")
    if "environment-file" in kinds:
        reason = "Programs take their variables from this file; some make them run other code."
        yield _finding("edit.variables", Level.CRITICAL, part.path, reason, Capability.PERSISTENCE)
    if part.action == DELETES:
        yield _finding("edit.deletes", Level.HIGH, part.path, DELETED)


def _kinds(path: str, tool: ClientTool) -> frozenset[str]:
    """Return the kinds of a file, by its place from the root and below the folder."""
    targets = bundled().targets
    whole = tool.absolute(path)
    return frozenset(targets.of(whole)) | frozenset(targets.of(tool.below(path) or posixpath.basename(whole)))


def concluded(base: Level, findings: Sequence[Finding], reason: str, touch: Touch, verdict: RiskVerdict) -> Assessment:
    """Return the assessment that these findings make."""
    ordered = in_order(list(findings))
    worst = sorted(ordered, key=lambda finding: -finding.level)
    reasons = tuple(dict.fromkeys((*(finding.reason for finding in worst), reason)))
    return Assessment(combined(base, ordered), reasons, ordered, touch, verdict, base=base)


def both(one: Touch, other: Touch) -> Touch:
    """Return what either touches."""
    return Touch(
        tuple(dict.fromkeys((*one.files, *other.files))),
        tuple(dict.fromkeys((*one.hosts, *other.hosts))),
        tuple(dict.fromkeys((*one.processes, *other.processes))),
        tuple(dict.fromkeys((*one.credentials, *other.credentials))),
        tuple(dict.fromkeys((*one.packages, *other.packages))),
    )


def _finding(id: str, level: Level, path: str, reason: str, capability: Capability = Capability.FILES) -> Finding:
    return Finding(id, level, capability, WHOLE, excerpt(path, 200), reason, "T1565")
