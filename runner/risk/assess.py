"""The front door of the classifier: from a request to its assessment."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.assessment import WHOLE, Assessment, Capability, Finding, Level, combined
from runner.model.request import Language, Request
from runner.model.verdict import RiskVerdict
from runner.risk.across_languages import ESCAPED, Nested
from runner.risk.context.request_context import surroundings
from runner.risk.inputs.inputs import Handed, assess_handed, read_as, size, variables
from runner.risk.inputs.used_files import Use
from runner.risk.model.acts import MILDER, NOT_REACHED, Act, Budget, TooMuch, Trail
from runner.risk.model.lines import Lines, shorten
from runner.risk.model.temporary import SURROUNDINGS
from runner.risk.python.syntax import Unparsed, broken_at
from runner.risk.recipes.images import IN_AN_IMAGE, milder
from runner.risk.rules.knowledge import Knowledge, bundled
from runner.risk.rules.trojan_source import tricks
from runner.risk.trace.machine import TooDeep
from runner.risk.verdict.touch import touched

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from runner.model.span import Span
    from runner.risk.verdict.code import Judged

MOST_CHARACTERS = 2_000_000
"""Code that is longer, with its input and variables, is not read at all (twice what the gateway takes by default)."""

STEPS = 1_500_000
"""Steps an assessment may take, some two seconds; 20,000 ordinary lines need a quarter of them."""

SECONDS = 3.0
"""Processor time that following the code may take, whatever its steps are."""

TOO_LARGE = "The code is too large to assess."
TOO_DEEP = "The code is nested too deeply to assess."
NOT_PARSED = "The code cannot be parsed, so nobody can say what it does."
DELETES = "noted.delete"
"""The rule for deleting anywhere. No sandbox holds a client's own tool: there, a folder that goes is worth a look."""


def assess(request: Request) -> Assessment:
    """Return what `request` would do, by its code and what is handed to it. Pure; never raises, whatever they are.

    Levels are those of spec R1: running code is at least HIGH, network access is CRITICAL.
    """
    return Classifier(bundled()).assess(request)


class Classifier:
    """Assesses requests by the rules it is given."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    def assess(self, request: Request) -> Assessment:
        """As the function of the same name."""
        if size(request) > MOST_CHARACTERS:
            return unreadable(TOO_LARGE)
        lines = Lines(request.code)
        use = _used(request)
        trail = Trail(Budget(STEPS, SECONDS))
        written = ((request.language, request.code), *use.texts)
        trail.keeps_surroundings = not any(
            language is not Language.SHELL and SURROUNDINGS.search(text) for language, text in written
        )
        findings = [*surroundings(request), *tricks(lines), *_tricks(use)]
        try:
            nested = Nested(self._knowledge, trail)
            for language, text in use.texts:
                read_as(nested, language, text)
            inner = tuple(trail.acts)
            self._follow(request, nested, use.rest)
            nested.finish()
            if request.language is Language.JAVASCRIPT:
                findings += _of_language(request.code)
            if (handed := Handed.to(request)) is not None:
                findings += assess_handed(request, handed, nested)
            if request.has_files:
                # Imported here: few requests are for a sandbox that is kept, or over a working copy.
                from runner.risk.inputs.kept_files import unread as kept_files

                where = "kept sandbox" if request.work is None else "working copy"
                names = frozenset() if request.installed is None else frozenset(request.installed.modules)
                findings += kept_files(request.language, trail, lines, use, inner, names, where)
        except TooMuch:
            findings.append(_unread(TOO_LARGE, "risk.too-large"))
        except (TooDeep, RecursionError):
            findings.append(_unread(TOO_DEEP, "risk.too-deep"))
        except Unparsed:
            python = request.language is Language.PYTHON
            at = broken_at(use.rest) if python else None
            findings.append(_unread(NOT_PARSED, "risk.unparsed", WHOLE if at is None else lines.place(at)))
        if request.language in (Language.PYTHON, Language.JAVASCRIPT):
            from runner.risk.whole.handed_on import handed_on

            findings += handed_on(request.language, request.code, trail, lines)
        judged: dict[int, Judged] = {}
        findings += self._judged(request, trail, lines, tuple(findings), judged)
        ordered = in_order(findings)
        # As the languages, it is imported with the first code, so that a process is ready early.
        from runner.risk.verdict.code import verdict_on

        targets = self._knowledge.targets
        touch = touched(request, trail, targets)
        from runner.risk.whole.reading import is_proved, unread

        texts = ((request.language, use.rest), *use.texts)
        left = unread(request, texts, trail, ordered, self._knowledge)
        verdict = verdict_on(request, trail, lines, ordered, judged, targets, proved=is_proved(left), left=left)
        level = combined(Level.HIGH, ordered)
        return Assessment(level, _reasons(ordered), ordered, touch, verdict, base=Level.HIGH, unread=left)

    def _follow(self, request: Request, nested: Nested, rest: str) -> None:
        """Follow `rest`, which is the code of `request` without what runs files that are followed by themselves."""
        nested.escapes = ESCAPED.search(request.code) is not None
        nested.mentions = self._knowledge.rules.mentioned(request.code)
        nested.given = variables(request)
        match request.language:
            case Language.PYTHON:
                nested.python(rest)
            case Language.SHELL:
                nested.shell(rest)
            case Language.JAVASCRIPT:
                nested.javascript(rest)
            case None:
                raise Unparsed
            case _:
                nested.by_calls(request.language, rest)

    def _judged(
        self, request: Request, trail: Trail, lines: Lines, other: Sequence[Finding], judged: dict[int, Judged]
    ) -> Iterator[Finding]:
        """Yield what the rules find besides `other`; note the worst that they say of each act, by its order."""
        from runner.risk.verdict.code import Judged

        found = list(self._knowledge.rules.judge(trail))
        lowered, lowered_reason = frozenset[str](), ""
        if any(rule.id.startswith("hidden.") for rule, _ in found):
            from runner.risk.benign_obfuscation import HIDING, REASON, only_roundabout

            if only_roundabout(request.language, trail, found, other):
                lowered, lowered_reason = HIDING, REASON
        for rule, act in found:
            level, reason = (Level.LOW, lowered_reason) if rule.id in lowered else (rule.level, rule.reason)
            if NOT_REACHED in act.labels or (act.labels & MILDER and act.kind in ("destroy", "query", "configure")):
                level = min(level, Level.MEDIUM)
            if IN_AN_IMAGE in act.labels:
                level = milder(rule.id, level)
            elif request.client is not None and rule.id == DELETES and act.get("tree").text == "yes":
                level = max(level, Level.MEDIUM)
            if act.order not in judged or level > judged[act.order].level:
                judged[act.order] = Judged(level, reason)
            span = lines.place(act.place)
            evidence = shorten(act.evidence) if act.evidence else lines.evidence(span)
            yield Finding(rule.id, level, rule.capability, span, evidence, reason, rule.reference)


def _of_language(code: str) -> Iterator[Finding]:
    """Yield that code is TypeScript, where it is."""
    from runner.risk.javascript.erased import is_javascript, without_types
    from runner.risk.javascript.syntax import is_typescript

    if is_typescript(code):
        reason = "This is TypeScript. Its types are taken out before it runs."
        if not is_javascript(without_types(code)):
            reason = "This is TypeScript with more than types, such as decorators or namespaces. Node.js cannot run it."
        yield Finding("request.typescript", Level.LOW, Capability.STARTS_PROCESSES, WHOLE, "", reason, "")


def _used(request: Request) -> Use:
    """Return what the code uses of the known files of its sandbox."""
    if not (request.sandbox and request.known):
        return Use(request.code)
    from runner.risk.inputs.known_files import used

    return used(request.language, request.code, request.known)


def _tricks(use: Use) -> Iterator[Finding]:
    """Findings about texts of files that look different from what they are, each kind once for each file."""
    for file in use.files:
        unique = {finding.id: finding for finding in tricks(Lines(file.text))}
        for finding in unique.values():
            yield replace(finding, span=WHOLE, reason=f"In {file.path}: {finding.reason}")


def unreadable(reason: str) -> Assessment:
    """Return the assessment of code that was not read."""
    verdict = RiskVerdict(reason)
    found = (_unread(reason, "risk.too-large"),)
    return Assessment(Level.CRITICAL, (reason,), found, verdict=verdict, unread=(reason,))


def _unread(reason: str, id: str, span: Span = WHOLE) -> Finding:
    return Finding(id, Level.CRITICAL, Capability.UNREADABLE, span, "", reason, "CWE-1007")


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings by place, the worst first where several start together, none twice."""
    unique = {(finding.id, finding.span, finding.evidence): finding for finding in findings}
    return tuple(sorted(unique.values(), key=lambda f: (f.span.line, f.span.column, -f.level, f.id)))


def _reasons(findings: Iterable[Finding]) -> tuple[str, ...]:
    worst = sorted(findings, key=lambda finding: -finding.level)
    reasons = tuple(dict.fromkeys(finding.reason for finding in worst))
    return reasons or ("Every program asks.",)


__all__ = ["Act", "Classifier", "assess", "in_order", "unreadable"]
