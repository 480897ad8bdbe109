"""Changes of files in words, and what undoing a run would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import phrases
from app.parts.amounts import size
from app.parts.text.lines import Summary
from runner.model.codec import UnreadableValue, decode
from runner.model.file_changes import FILES_CHANGED, NOT_UNDONE, UNDONE, ChangeKind, FileKind, RunChanges
from runner.model.translation import numeral, plural, tr, translated

if TYPE_CHECKING:
    from runner.audit.history.search import CaseRecord
    from runner.model.file_changes import ChangedFile, FileChanges, UndoPlan

INKS = {ChangeKind.ADDED: "low", ChangeKind.CHANGED: "medium", ChangeKind.REMOVED: "high"}
COMES = {ChangeKind.ADDED: tr("restored"), ChangeKind.CHANGED: tr("as before"), ChangeKind.REMOVED: tr("removed")}
"""What undoing does, by the change from now to then."""
NOTHING = tr("no file")


def counts(changes: FileChanges) -> str:
    """Return `2 added, 1 changed`; `no file` where nothing changed, and `unknown` where nobody knows."""
    if changes.unknown:
        return tr("unknown")
    numbers = ((changes.added, tr("added")), (changes.changed, tr("changed")), (changes.removed, tr("removed")))
    return ", ".join(f"{numeral(number)} {word}" for number, word in numbers if number) or NOTHING


def sentence(changes: FileChanges) -> str:
    """Return what a run changed in a sentence."""
    if changes.unknown:
        return tr("What it changed is not known. {unknown}", unknown=phrases.visible(changes.unknown))
    if not changes.count:
        return tr("It changed no file.")
    rest = tr(" {left_out} of them are not listed.", left_out=numeral(changes.left_out)) if changes.left_out else ""
    return tr("Files: {counts}.{rest}", counts=counts(changes), rest=rest)


def row(change: ChangedFile, *, undoing: bool = False) -> Summary:
    """Return one change as a row of a list; `undoing`: it is one that would be made."""
    word = COMES[change.kind] if undoing else translated(change.kind.value)
    ink = "muted" if undoing else INKS[change.kind]
    return Summary(phrases.visible(change.path), _sizes(change), word, ink)


def _sizes(change: ChangedFile) -> str:
    if change.what is not FileKind.FILE:
        return tr("link") if change.what is FileKind.LINK else tr("folder")
    if not change.content:
        return tr("permissions only")
    sizes = [size(one) for one in (change.before, change.after) if one is not None]
    return tr(" to ").join(dict.fromkeys(sizes))


def about(run: RunChanges) -> str:
    """Return which run it is, and why it cannot be undone where the sentence on its changes does not say that."""
    why = tr(" No Undo: {no_undo}", no_undo=phrases.visible(run.no_undo)) if run.no_undo else ""
    return tr(
        "Run {number} in this sandbox.{why}",
        number=run.number,
        why=tr(" No Undo.") if run.no_undo == run.changes.unknown != "" else why,
    )


def run_row(run: RunChanges) -> Summary:
    """Return one run as a row of a list."""
    title = phrases.visible(run.title) or tr("No title")
    return Summary(f"{run.number}  {title}", counts(run.changes), "")


def undoing(plan: UndoPlan) -> tuple[str, str]:
    """Return what undoing a run would do: a heading, and sentences."""
    heading = tr("Put the files back to what they were before run {number}?", number=plan.run.number)
    sentences = []
    if plan.later:
        named = ", ".join(f"{one.number}" for one in plan.later)
        sentences.append(
            plural(
                "{count} later run ({named}) will be undone as well.",
                "{count} later runs ({named}) will be undone as well.",
                len(plan.later),
                named=named,
            )
        )
    changes = plan.changes
    added, changed, removed = changes.added, changes.changed, changes.removed
    parts = [plural("{count} file is restored", "{count} files are restored", added)] * bool(added)
    parts += [
        plural("{count} file gets its earlier content", "{count} files get their earlier content", changed)
    ] * bool(changed)
    parts += [plural("{count} file is removed", "{count} files are removed", removed)] * bool(removed)
    sentences.append(f"{', '.join(parts)}." if parts else tr("The files are the same already."))
    if changes.left_out:
        sentences.append(tr("{left_out} of them are not listed.", left_out=numeral(changes.left_out)))
    if plan.stays:
        sentences.append(tr("Installed packages ({stays}) stay as they are.", stays=", ".join(plan.stays)))
    if plan.special:
        sentences.append(
            plural(
                "{count} pipe or socket will not be restored.",
                "{count} pipes and sockets will not be restored.",
                plan.special,
            )
        )
    sentences.append(tr("Requests for this sandbox that have not run yet are denied. This cannot be undone."))
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
    return tr("You undid this run.") if kinds[-1] == UNDONE else tr("Undoing this run failed.")
