"""`assent assess --kept`: requests whose class the person marked as wrong, assessed again."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from runner.commands.history import agreed
from runner.model.assessment import attention_words
from runner.model.errors import KnownError
from runner.model.shown import in_one_line, visible
from runner.risk import user_rules
from runner.risk.explain.disputed import DisputedCases, reassess

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from runner.model.assessment import Assessment, Level
    from runner.risk.explain.disputed import DisputedCase, DisputedLine, Reassessed
    from runner.system.places import Places

LONGEST_FIRST_LINE = 60


def run(arguments: argparse.Namespace, places: Places) -> int:
    """List, show or remove; return the exit code. Raises KnownError."""
    cases = DisputedCases(places.disputed)
    lines = cases.lines()
    if arguments.remove:
        return _remove(cases, _chosen(lines, arguments.remove, cases), agree=arguments.yes)
    found = user_rules.read(places.own_rules)
    if found.problems:
        raise KnownError(" ".join(found.problems), "Correct the file; until then nobody can say what it would find.")
    if arguments.show:
        lines = _chosen(lines, [arguments.show], cases)
    again = list(reassess(lines, found.assess))
    if arguments.format == "json":
        text = json.dumps(_as_data(lines, again, cases), indent=2)
    elif arguments.show:
        text = "\n".join(_shown(lines, again))
    else:
        text = "\n".join(_listed(lines, again, cases))
    sys.stdout.write(f"{text}\n")
    return 1 if any(one.case is None for one in lines) else 0


def _chosen(lines: Sequence[DisputedLine], ids: Sequence[str], cases: DisputedCases) -> tuple[DisputedLine, ...]:
    chosen = []
    for id in ids:
        found = [one for one in lines if len(id) >= 3 and one.id.startswith(id)]
        if len(found) != 1:
            what = f"{id[:40]} is {'the beginning of several cases' if found else 'no case'} in {cases.path}."
            raise KnownError(what, "`assent assess --kept` lists them.")
        chosen += found
    return tuple(dict.fromkeys(chosen))


def _remove(cases: DisputedCases, chosen: Sequence[DisputedLine], *, agree: bool) -> int:
    for one in chosen:
        sys.stdout.write(in_one_line(f"  {one.id}  {_view(one.case) if one.case else one.problem}") + "\n")
    if not agree and not agreed():
        return 1
    gone = cases.remove([one.id for one in chosen])
    sys.stdout.write(f"Removed from {in_one_line(str(cases.path))}: {len(gone)}.\n")
    return 0


def _listed(lines: Sequence[DisputedLine], again: Sequence[Reassessed], cases: DisputedCases) -> Iterator[str]:
    where = in_one_line(str(cases.path))
    if not lines:
        yield "No cases are kept. In the window, Why this class? and Wrong class keep one."
        yield f"They would be in {where}."
        return
    for one in again:
        assert one.line.case is not None
        yield in_one_line(f"{one.line.id}  {_view(one.line.case)}")
        yield in_one_line(f"            now {_words(one.now)}: {'as you named it' if one.settled else 'not yet'}")
        if one.line.case.note:
            yield in_one_line(f"            {one.line.case.note}")
    for line in lines:
        if line.case is None:
            yield in_one_line(f"{line.id}  {line.problem}")
    settled = sum(one.settled for one in again)
    yield f"Kept cases: {len(again)}, now at the class you named: {settled}."
    if len(again) < len(lines):
        yield f"Lines that cannot be read: {len(lines) - len(again)}. Remove them with --kept --remove ID."
    yield f"They are in {where}, with their code, which may hold secrets. They are never sent, and decide nothing."


def _view(case: DisputedCase) -> str:
    request = case.request
    what = request.language.value if request.language is not None else request.tool.value
    first = next((line.strip() for line in request.code.split("\n") if line.strip()), ", ".join(request.files))
    return f"{what}, {_words(case.assessment)}, you: {case.named.name}   {first[:LONGEST_FIRST_LINE]}"


def _words(assessment: Assessment) -> str:
    worst = assessment.attention
    words = attention_words(worst, bool(assessment.findings))
    found = words.lower() if worst is None else f"worst finding {words}"
    return f"{assessment.level.name} class, {found}"


def _shown(lines: Sequence[DisputedLine], again: Sequence[Reassessed]) -> Iterator[str]:
    for line in lines:
        if line.case is None:
            yield in_one_line(f"{line.id}: {line.problem}")
    for one in again:
        case = one.line.case
        assert case is not None
        yield in_one_line(f"{one.line.id}: your class is {case.named.name}. {case.note}".strip())
        yield f"Kept:  {time.strftime('%Y-%m-%d %H:%M', time.localtime(case.kept_at))}, by classifier {case.classifier}"
        yield f"Then:  {_words(case.assessment)}"
        yield from (f"       {_finding(found.id, found.level, found.span.line)}" for found in case.findings)
        yield f"Now:   {_words(one.now)}: {'as you named it' if one.settled else 'not yet'}"
        yield from (f"       {_finding(found.id, found.level, found.span.line)}" for found in one.now.findings)
        if case.request.files:
            yield in_one_line(f"File:  {', '.join(case.request.files)}")
        yield "Code:"
        yield from (f"  {number:>5}  {visible(text)}" for number, text in enumerate(case.request.code.split("\n"), 1))


def _finding(id: str, level: Level, line: int) -> str:
    return in_one_line(f"{level.name:8}  {id}{f', line {line}' if line else ''}")


def _as_data(lines: Sequence[DisputedLine], again: Sequence[Reassessed], cases: DisputedCases) -> dict[str, object]:
    now = {one.line.id: one for one in again}
    listed = [
        {
            "id": line.id,
            "problem": line.problem or None,
            **(_case_data(line.case, now[line.id]) if line.case is not None else {}),
        }
        for line in lines
    ]
    settled = sum(one.settled for one in again)
    return {"file": str(cases.path), "kept": len(again), "settled": settled, "cases": listed}


def _case_data(case: DisputedCase, again: Reassessed) -> dict[str, object]:
    request = case.request
    return {
        "tool": request.tool.value,
        "language": request.language.value if request.language is not None else None,
        "code": request.code,
        "files": list(request.files),
        "note": case.note,
        "named": case.named.name,
        "classifier": case.classifier,
        "kept_at": case.kept_at,
        "then": _assessment_data(case.assessment),
        "now": _assessment_data(again.now),
        "settled": again.settled,
    }


def _assessment_data(assessment: Assessment) -> dict[str, object]:
    worst = assessment.attention
    findings = [{"id": one.id, "level": one.level.name, "line": one.span.line or None} for one in assessment.findings]
    return {"level": assessment.level.name, "worst": worst.name if worst is not None else None, "findings": findings}
