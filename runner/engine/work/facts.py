"""Facts for the ledger about a working copy and its changes: names, hashes and numbers, bounded."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

from runner.sandbox.file_names import shown
from runner.workspace import entry
from runner.workspace.change import How
from runner.workspace.entry import SpecialEntry, TreeKind, UnreadableEntry
from runner.workspace.marks import bulk, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.model.sent_files import SentFiles
    from runner.workspace.apply import Applied
    from runner.workspace.change import ProjectChange
    from runner.workspace.entry import TreeEntry
    from runner.workspace.undo import WayBack
    from runner.workspace.working_copy import WorkingCopy

NOTHING_DONE = "Nothing was changed in the project."
MOST_PATHS = 100
"""Paths that are named; the digest is of all."""
MOST_FOLDERS = 20
"""Folders of which the number of changes is named."""
LONGEST = 300
"""Characters of a path or a word."""
LONGEST_REASON = 500
"""Characters of why a person refuses a command."""
MOST_WORDS = 20
MOST_HASHED = 64 << 20
"""Bytes of the project that are read for the hashes of what is replaced."""


def facts_of(copy: WorkingCopy, changes: Sequence[ProjectChange]) -> dict[str, object]:
    """Return the facts of changes in a working copy. Blocks: files of the project are hashed."""
    # What needs a word of its own first, then single files, then what is counted as one.
    ordered = sorted(changes, key=lambda one: (bool(counted(one)), not one.mark, one.path))
    named, rest = ordered[:MOST_PATHS], ordered[MOST_PATHS:]
    hashed = _hashes(copy, named)
    counts = Counter(one.how for one in changes)
    facts: dict[str, object] = {
        "name": copy.name,
        "project": cut(str(copy.project)),
        "program": [cut(word) for word in copy.program[:MOST_WORDS]],
    }
    if copy.sandbox:
        facts["sandbox"] = cut(copy.sandbox)
    if changes:
        facts["changes"] = len(changes)
        facts["how"] = {how.value: counts[how] for how in How if counts[how]}
        facts["marked"] = sum(bool(one.mark) for one in changes)
        facts["paths"] = [_row(one, before) for one, before in zip(named, hashed, strict=True)]
    if rest:
        folders = Counter(cut(bulk(one.path) or shown(one.path.rpartition(b"/")[0]) or ".") for one in rest)
        facts["not_named"] = dict(folders.most_common(MOST_FOLDERS))
        facts["not_named_count"] = len(rest)
    return facts


def sent_facts(sends: SentFiles) -> dict[str, object]:
    """Return what an entry says of files that are sent to another machine; its digest is of all names and hashes."""
    files = [{"path": cut(one.name), "size": one.size, "sha256": one.sha256} for one in sends.files[:MOST_PATHS]]
    return {
        "sends": cut(sends.words),
        "digest": hashlib.sha256(sends.listed.encode()).hexdigest(),
        "files": files,
        "not_named_count": len(sends.files) - len(files),
    }


def outcome_facts(done: Applied) -> dict[str, object]:
    """Return what an entry says of what was written."""
    facts: dict[str, object] = {"paths": done.paths}
    if done.passed_over:
        facts["passed_over"] = [cut(shown(path)) for path in done.passed_over[:MOST_PATHS]]
        facts["passed_over_count"] = len(done.passed_over)
    return facts


def kept_facts(plan: WayBack) -> dict[str, object]:
    """Return what an entry says of what Undo leaves as it is."""
    if not plan.kept:
        return {}
    kept = [{"path": cut(shown(path)), "why": why} for path, why in plan.kept[:MOST_PATHS]]
    return {"kept": kept, "kept_count": len(plan.kept)}


def cut(text: str) -> str:
    """Return a text as long as an entry takes it, with nothing in it that hides."""
    words = "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def _row(one: ProjectChange, before: str) -> dict[str, str]:
    return {"path": cut(shown(one.path) or "."), "how": one.how.value, "before": before, "after": _stands(one.after)}


def _stands(one: TreeEntry | None) -> str:
    """Return what stands at a path: the hash of a file, or what else it is."""
    if one is None:
        return ""
    if one.kind is TreeKind.LINK:
        return cut(f"link to {shown(one.target)}")
    return one.sha256 if one.kind is TreeKind.FILE else one.kind.value


def _hashes(copy: WorkingCopy, changes: Sequence[ProjectChange]) -> list[str]:
    """Return what stands in the project at the paths of changes; '' for a file that is too large or cannot be read."""
    left = MOST_HASHED
    found = []
    if not changes:
        return []
    with entry.folder_open(copy.project) as top:
        for one in changes:
            before = one.before
            if before is not None and before.kind is TreeKind.FILE and not before.sha256 and before.size <= left:
                left -= before.size
                try:
                    before = entry.at(top, one.path, content=True)
                except (SpecialEntry, UnreadableEntry, OSError):
                    before = one.before
            found.append(_stands(before))
    return found
