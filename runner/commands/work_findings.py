"""The classifier's findings in a working copy on the terminal: below the lines that differ, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.commands import added_findings
from runner.commands.work_list import about
from runner.commands.work_printing import SIGNS, colored, is_counted, print_line, say, shown_path, tell_counted, warned
from runner.model.shown import visible
from runner.sandbox.file_names import shown
from runner.workspace.change import digest
from runner.workspace.difference import compared
from runner.workspace.groups import chosen, groups_of
from runner.workspace.lines import unified_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.model.assessment import Finding
    from runner.system.places import Places
    from runner.work.added import AddedFindings
    from runner.workspace.change import ProjectChanges
    from runner.workspace.working_copy import WorkingCopy


def tell_lines(places: Places, copy: WorkingCopy, found: ProjectChanges) -> None:
    """Print the lines that differ, with what the classifier finds in them; what is counted is counted here as well."""
    read = added_findings.read(places, copy, found.changes)
    for group in groups_of(found):
        if is_counted(group):
            print_line("")
            tell_counted(group)
            continue
        for one in group.changes:
            lines = compared(one, copy.project, copy.content)
            print_line("")
            say(f"{SIGNS[one.how]} {shown_path(one)}{f'  ! {one.mark}' if one.mark else ''}")
            if lines.instead:
                say(f"  {lines.instead}")
            if lines.coarse:
                say(f"  {lines.coarse}")
            _tell_findings(lines.lines, read[one.path])
    print_line("")
    for sentence in added_findings.summary(read):
        say(sentence)


def _tell_findings(lines: Sequence[str], found: AddedFindings) -> None:
    """Print lines in the unified format, below each what was found there, and above all what was found elsewhere."""
    at_line = added_findings.by_line(found)
    numbered = [*unified_numbers(lines)]
    shown_lines = {number for number in numbered if number}
    for number, findings in at_line.items():
        if number not in shown_lines:
            for one in findings:
                _finding(one, f"line {number}: " if number else "")
    if found.not_read:
        say(f"  not read for findings: {found.not_read}" if found.skipped else f"  {found.not_read}")
    hunk = 0
    for line, number in zip(lines, numbered, strict=True):
        hunk += line.startswith("@@")
        print_line(colored(visible(line)) + (f"  #{hunk}" if line.startswith("@@") else ""))
        for one in at_line.get(number, ()) if number else ():
            _finding(one)


def _finding(one: Finding, where: str = "") -> None:
    print_line(warned(visible(f"    ! {one.level.name}: {where}{' '.join(one.reason.split())}")))


def as_json(places: Places, copy: WorkingCopy, found: ProjectChanges) -> dict[str, object]:
    """Return the changes for programs, with what is found in them."""
    read = added_findings.read(places, copy, found.changes)
    usual = {one.path for one in chosen(found)}
    rows = [
        {
            "path": shown(one.path),
            "how": one.how.value,
            "mark": one.mark,
            "beforehand": one.path in usual,
            "conflict": one.conflict,
            "merged": bool(one.merged),
            "size": one.after.size if one.after else None,
            "sha256": one.after.sha256 if one.after else "",
            "findings": added_findings.as_rows(read[one.path]),
            "not_read": read[one.path].not_read,
        }
        for one in found.changes
    ]
    left = [{"path": shown(path), "why": why} for path, why in found.left_out]
    made = found.commits
    commits = (
        None
        if made is None
        else {
            "branch": made.branch,
            "subjects": list(made.subjects),
            "refs": [{"kind": one.kind, "name": one.name, "how": one.how.value} for one in made.refs],
        }
    )
    return {**about(copy), "digest": digest(found.changes), "changes": rows, "left_out": left, "commits": commits}
