"""Branches and loops of a JavaScript program that a reader should know of: only here, only now, without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.javascript.syntax import code_of, place
from runner.risk.model.acts import Source
from runner.risk.model.value import text
from runner.risk.trace.conditions import telling

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.walker import JavaScript
    from runner.risk.model.value import Value

MOMENT = expression(r"[<>=]=?\s*+(?:\d|[\"'`]|new Date\(\S|Date\.(?:parse|UTC)\()")
"""A comparison with a moment that is written down."""
OF_FILES = expression(r"mtime|ctime|atime")
"""Times of files."""
STARTS = expression(r"\bnew Worker\b|\b(?:spawn|fork|exec|execFile)\(")
GROWS_LIST = expression(r"\.push\(|\.write\(|appendFileSync\(")
LEAVES_LOOP = expression(r"\b(?:break|return|throw|await|yield|exit|Sync)\b|execSync|spawnSync|readSync|Atomics")
SOON = 1_000
"""Milliseconds between two turns of a timer, below which the processes that it starts pile up."""


def depends_on(condition: Node, value: Value) -> frozenset[str]:
    """Return what decides the branch, of the machine, its user, the clock and signs of being watched."""
    on = telling(value.labels)
    if Source.CLOCK in on:
        written = code_of(condition)
        if OF_FILES.search(written) or not (MOMENT.search(written) or Source.MOMENT in value.labels):
            on -= {Source.CLOCK}
    return on


def note_flood(walker: JavaScript, body: Node | None, every: float = 0) -> None:
    """Note a body that starts processes or adds to a list again and again; `every` so many milliseconds."""
    written = code_of(body) if body is not None else ""
    if body is None or LEAVES_LOOP.search(written) or every >= SOON:
        return
    if STARTS.search(written):
        walker.trail.add("flood", "while", {"what": text("processes")}, place(body))
    elif not every and GROWS_LIST.search(written):
        walker.trail.add("flood", "while", {"what": text("memory or disk")}, place(body))
