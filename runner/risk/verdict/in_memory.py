"""Words for what a program of JavaScript does to a database or to files that are only in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.outline_data import words
from runner.risk.model.value import HOLE, labels_of
from runner.risk.trace.files import IN_MEMORY
from runner.risk.trace.things import package_of
from runner.risk.verdict.naming import identifier, listed, quoted
from runner.risk.verdict.things import held_by

if TYPE_CHECKING:
    from runner.risk.model.acts import Trail

MEMORY_LIBRARIES = words(
    "memfs ioredis-mock redis-mock redis-memory-server mongodb-memory-server pg-mem @electric-sql/pglite mongo-mock "
    "mockingoose fake-indexeddb"
)
"""Libraries of what is kept in memory."""
OPENING = words("connect createClient createConnection createPool MongoClient Client Pool Redis open drizzle")
DESCRIBES = words("drizzle-orm drizzle-orm/sqlite-core drizzle-orm/pg-core drizzle-orm/mysql-core")
"""Libraries that only put tables and conditions into words."""


def is_in_memory(library: str, trail: Trail) -> bool:
    """Return whether a library keeps in memory what it keeps, or is only connected to what is in memory."""
    if library in MEMORY_LIBRARIES or library in DESCRIBES:
        return True
    opened = [
        call
        for name, calls in trail.given.items()
        if package_of(name.replace("()", "")) == library
        and (name == library or name.removesuffix("()").rpartition(".")[2] in OPENING)
        for call in calls
        if call
    ]
    given = (act.get("at").items for act in trail.acts if act.kind == "database" and package_of(act.name) == library)
    opened += [tuple(call) for call in given if call]
    return bool(opened) and all(IN_MEMORY in labels_of(call) for call in opened)


def in_memory_in_words(trail: Trail) -> str:
    """Return what a program of JavaScript does in memory alone; '' where nothing is known of that."""
    loaded = [act.name for act in trail.acts if act.kind == "import" and act.name in MEMORY_LIBRARIES]
    inside = [act for act in trail.acts if act.kind in ("query", "destroy") and IN_MEMORY in act.labels]
    if not loaded or not (inside or "memfs" in loaded):
        return ""
    if "memfs" in loaded:
        return "works on files in memory by “memfs”"
    held = [one.name for one in map(held_by, inside) if one is not None and one.name.strip(HOLE)]
    what = f"{listed([identifier(one) for one in held], 3)} in " if held else ""
    return f"works on {what}a database in memory by {quoted(loaded[-1], 30)}"
