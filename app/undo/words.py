"""Changes of files in words, and what undoing a run would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import phrases
from app.parts.amounts import counted, size
from app.parts.text.lines import Summary
from runner.model.codec import UnreadableValue, decode
from runner.model.file_changes import FILES_CHANGED, NOT_UNDONE, UNDONE, ChangeKind, FileKind, RunChanges

if TYPE_CHECKING:
    from runner.audit.history.search import CaseRecord
    from runner.model.file_changes import ChangedFile, FileChanges, UndoPlan

INKS = {ChangeKind.ADDED: "low", ChangeKind.CHANGED: "medium", ChangeKind.REMOVED: "high"}
COMES = {ChangeKind.ADDED: "restored", ChangeKind.CHANGED: "as before", ChangeKind.REMOVED: "removed"}
"""What undoing does, by the change from now to then."""
NOTHING = "no file"


def counts(changes: FileChanges) -> str:
    """Return `2 added, 1 changed`; `no file` where nothing changed, and `unknown` where nobody knows."""
    if changes.unknown:
        return "unknown"
    numbers = ((changes.added, "added"), (changes.changed, "changed"), (changes.removed, "removed"))
    return ", ".join(f"{number:,} {word}" for number, word in numbers if number) or NOTHING


def sentence(changes: FileChanges) -> str:
    """Return what a run changed in a sentence."""
    if changes.unknown:
        return f"What it changed is not known. {phrases.visible(changes.unknown)}"
    if not changes.count:
        return "It changed no file."
    rest = f" {changes.left_out:,} of them are not listed." if changes.left_out else ""
    return f"Files: {counts(changes)}.{rest}"


def row(change: ChangedFile, *, undoing: bool = False) -> Summary:
    """Return one change as a row of a list; `undoing`: it is one that would be made."""
    word = COMES[change.kind] if undoing else change.kind.value
    ink = "muted" if undoing else INKS[change.kind]
    return Summary(phrases.visible(change.path), _sizes(change), word, ink)


def _sizes(change: ChangedFile) -> str:
    if change.what is not FileKind.FILE:
        return "link" if change.what is FileKind.LINK else "folder"
    if not change.content:
        return "permissions only"
    sizes = [size(one) for one in (change.before, change.after) if one is not None]
    return " to ".join(dict.fromkeys(sizes))


def about(run: RunChanges) -> str:
    """Return which run it is, and why it cannot be undone where the sentence on its changes does not say that."""
    why = f" No Undo: {phrases.visible(run.no_undo)}" if run.no_undo else ""
    return f"Run {run.number} in this sandbox.{' No Undo.' if run.no_undo == run.changes.unknown != '' else why}"


def run_row(run: RunChanges) -> Summary:
    """Return one run as a row of a list."""
    title = phrases.visible(run.title) or "No title"
    return Summary(f"{run.number}  {title}", counts(run.changes), "")


def undoing(plan: UndoPlan) -> tuple[str, str]:
    """Return what undoing a run would do: a heading, and sentences."""
    heading = f"Put the files back to what they were before run {plan.run.number}?"
    sentences = []
    if plan.later:
        named = ", ".join(f"{one.number}" for one in plan.later)
        sentences.append(f"{counted(len(plan.later), 'later run')} ({named}) will be undone as well.")
    changes = plan.changes
    numbers = (
        (changes.added, "is restored", "are restored"),
        (changes.changed, "gets its earlier content", "get their earlier content"),
        (changes.removed, "is removed", "are removed"),
    )
    parts = [f"{counted(number, 'file')} {one if number == 1 else many}" for number, one, many in numbers if number]
    sentences.append(f"{', '.join(parts)}." if parts else "The files are the same already.")
    if changes.left_out:
        sentences.append(f"{changes.left_out:,} of them are not listed.")
    if plan.stays:
        sentences.append(f"Installed packages ({', '.join(plan.stays)}) stay as they are.")
    if plan.special:
        sentences.append(f"{counted(plan.special, 'pipe or socket', 'pipes and sockets')} will not be restored.")
    sentences.append("Requests for this sandbox that have not run yet are denied. This cannot be undone.")
    return heading, " ".join(sentences)


def recorded(record: CaseRecord) -> RunChanges | None:
    """Return what the history says that a run changed; None where it says nothing."""
    bodies = [step.body for step in record.steps if step.entry.kind == FILES_CHANGED]
    try:
        return decode(RunChanges, bodies[-1]) if bodies else None
    except UnreadableValue:
        return None  # damaged: Verify says so


def put_back(record: CaseRecord) -> str:
    """Return whether a person undid the run, in a sentence; empty where nobody did."""
    kinds = [step.entry.kind for step in record.steps if step.entry.kind in (UNDONE, NOT_UNDONE)]
    if not kinds:
        return ""
    return "You undid this run." if kinds[-1] == UNDONE else "Undoing this run failed."
