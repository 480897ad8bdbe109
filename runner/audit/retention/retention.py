"""Decides whose content is removed from the history, with figures before anything is, and removes it."""

from __future__ import annotations

import asyncio
import time
from array import array
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.audit.ledger.removal import Removals
from runner.audit.ledger.removing import INDEX, JOURNAL, MOST_AT_ONCE, OF_FILES, ContentRemoval, files_named
from runner.audit.ledger.tables import DAMAGE, Tidying, connect_to_read, explained
from runner.audit.retention.leftovers import Leftovers
from runner.model.errors import KnownError
from runner.model.lifecycle import Phase

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from runner.audit.ledger.ledger import Ledger
    from runner.system.places import Places

DAY = 86_400.0
YOUNGEST = 3600.0
"""Seconds: what arrived after that is never removed by a rule, as its agent may still fetch the answer."""
SPARED_DAYS = 7
"""By size alone the settings remove nothing younger: an agent that floods the history must not empty it."""
MOST_BYTES_AT_ONCE = 16 << 20
MOST_REFUSED = 20
"""Requests that were left as they are, and are named; further ones are counted."""
PERSON, SETTING = "person", "setting"
"""Who had it removed."""
_LISTED = (
    "SELECT seq, id, phase, arrived_at,"
    " (SELECT count(data) FROM entries JOIN bodies USING (seq) WHERE request_id = requests.id AND request_id <> ''),"
    " (SELECT total(length(data)) FROM entries JOIN bodies USING (seq) WHERE request_id = requests.id"
    " AND request_id <> ''),"
    " (SELECT CASE WHEN instr(data, ?) OR instr(data, ?) THEN data END FROM bodies WHERE bodies.seq = finished_seq)"
    " FROM requests WHERE arrived_at < ? ORDER BY seq DESC"
)
_ONE = "SELECT seq, phase FROM requests WHERE id = ?"


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """What is removed: content older than some days, content beyond some size, or that of one request by hand."""

    older_than_days: float | None = None
    keep_bytes: int | None = None
    """Content of the newest requests is kept up to this size, files included."""
    by: str = PERSON
    chosen: bool = False
    """Whether a person chose the request itself."""

    def __bool__(self) -> bool:
        return self.chosen or self.older_than_days is not None or self.keep_bytes is not None

    @property
    def recorded(self) -> dict[str, object]:
        """What the history records about the reason."""
        named = {"older_than_days": self.older_than_days, "keep_bytes": self.keep_bytes, "chosen": self.chosen or None}
        return {"by": self.by, **{name: value for name, value in named.items() if value is not None}}

    @property
    def words(self) -> str:
        """The rule in words, after "content"."""
        parts = []
        if self.older_than_days is not None:
            parts.append(f"older than {self.older_than_days:g} days")
        if self.keep_bytes is not None:
            parts.append(f"beyond the newest {size_words(self.keep_bytes)}")
        return " or ".join(parts) or "of the request that was chosen"


@dataclass(slots=True)
class RetentionPlan:
    """What a rule would remove from the history as it is."""

    rule: RetentionRule
    requests: array[int] = field(default_factory=lambda: array("q"))
    """The entries with which the requests arrived, rising."""
    sizes: array[int] = field(default_factory=lambda: array("q"))
    """Bytes of the bodies of each."""
    entries: int = 0
    file_bytes: int = 0
    newest: float = 0.0
    """When the newest of them arrived, in seconds since the epoch."""
    kept_bytes: int = 0
    """Bytes of content that stay, as far as the rule had to look at it."""

    @property
    def count(self) -> int:
        return len(self.requests)

    @property
    def bytes(self) -> int:
        return sum(self.sizes) + self.file_bytes

    @property
    def sentence(self) -> str:
        """What would be removed, in words."""
        if not self.count:
            return f"Nothing to remove: there is no content {self.rule.words}."
        who = "1 request" if self.count == 1 else f"{self.count:,} requests"
        return f"Would remove the content of {who}, {size_words(self.bytes)}: {self.rule.words}."

    def batches(self) -> Iterator[list[int]]:
        """Yield the requests in portions that are removed in one transaction each."""
        batch: list[int] = []
        size = 0
        for seq, bytes_of_it in zip(self.requests, self.sizes, strict=True):
            if batch and (len(batch) == MOST_AT_ONCE or size + bytes_of_it > MOST_BYTES_AT_ONCE):
                yield batch
                batch, size = [], 0
            batch.append(seq)
            size += bytes_of_it
        if batch:
            yield batch


@dataclass(slots=True)
class Pruned:
    """What was removed."""

    requests: int = 0
    bytes: int = 0
    """Bytes of bodies; files come on top."""
    left: int = 0
    """Requests that were left as they are."""
    refused: list[str] = field(default_factory=list)
    """Why, for the first ones."""
    unfinished: str = ""
    """What could not be cleared away yet, in a sentence; it is tried again at the next start."""

    @property
    def sentence(self) -> str:
        who = "1 request" if self.requests == 1 else f"{self.requests:,} requests"
        words = f"The content of {who} was removed, {size_words(self.bytes)}."
        if not self.requests:
            words = "Nothing was removed."
        if self.left:
            words += f" {self.left:,} were left as they are: {' '.join(self.refused[:3])}"
        return f"{words} {self.unfinished}".strip()


def planned(
    path: Path, rule: RetentionRule, places: Places, now: float | None = None, spare: Collection[str] = ()
) -> RetentionPlan:
    """Return what `rule` would remove from the ledger at `path`. Reads only; takes some seconds for a million entries.

    Never open requests, those called `spare`, or what arrived within the last hour. Raises KnownError.
    """
    now = time.time() if now is None else now
    plan = RetentionPlan(rule)
    before = now - YOUNGEST
    if rule.older_than_days is not None and rule.keep_bytes is None:
        before = min(before, now - rule.older_than_days * DAY)
    try:
        with closing(connect_to_read(path)) as connection:
            connection.execute("BEGIN")
            _choose(connection, plan, places, now, before, frozenset(spare))
    except DAMAGE as error:
        raise explained(error, path) from error
    plan.requests.reverse()
    plan.sizes.reverse()
    return plan


def _choose(
    connection: sqlite3.Connection,
    plan: RetentionPlan,
    places: Places,
    now: float,
    before: float,
    spare: frozenset[str],
) -> None:
    """Fill `plan`, newest first."""
    rule, removals, seen = plan.rule, Removals(connection), set[tuple[str, str]]()
    oldest_kept = now - (rule.older_than_days or 0.0) * DAY if rule.older_than_days is not None else 0.0
    spared_since = now - SPARED_DAYS * DAY if rule.by == SETTING else now
    for seq, name, phase, arrived_at, entries, size, finished in connection.execute(_LISTED, (*OF_FILES, before)):
        if removals.by(seq):
            continue
        files = {file for file in files_named(finished) if file not in seen} if finished else set()
        file_bytes = sum(Leftovers.size(places, file) for file in files)
        seen |= files
        beyond = rule.keep_bytes is not None and plan.kept_bytes + size + file_bytes > rule.keep_bytes
        due = arrived_at < oldest_kept or (beyond and arrived_at < spared_since)
        if not due or phase != Phase.CLOSED or name in spare:
            plan.kept_bytes += int(size) + file_bytes
            continue
        plan.requests.append(seq)
        plan.sizes.append(int(size))
        plan.entries += entries
        plan.file_bytes += file_bytes
        plan.newest = max(plan.newest, arrived_at)


def chosen(path: Path, request_id: str, rule: RetentionRule | None = None) -> RetentionPlan:
    """Return the plan to remove the content of one request. Raises KnownError where it is open or there is none."""
    try:
        with closing(connect_to_read(path)) as connection:
            found = connection.execute(_ONE, (request_id,)).fetchone()
            gone = found is not None and bool(Removals(connection).by(found[0]))
    except DAMAGE as error:
        raise explained(error, path) from error
    if found is None:
        raise KnownError("There is no such request in the history.", "Choose another one.")
    if found[1] != Phase.CLOSED:
        raise KnownError("This request is still open.", "Answer or stop it first.")
    if gone:
        raise KnownError("The content of this request was removed before.")
    return RetentionPlan(rule or RetentionRule(chosen=True), array("q", [found[0]]), array("q", [0]))


class Pruning:
    """Carries out plans on an open ledger, in portions between which decisions are recorded."""

    def __init__(self, ledger: Ledger, places: Places) -> None:
        self._ledger = ledger
        self._leftovers = Leftovers(ledger.path, places)

    async def remove(self, plan: RetentionPlan, progress: Callable[[int], None] = lambda done: None) -> Pruned:
        """Remove what `plan` says; cancelled or killed, each request has either all of its content or none.

        `progress` gets the number of requests so far. Raises LedgerFailed, KnownError; what was removed before stays
        removed.
        """
        pruned = Pruned()
        try:
            for batch in plan.batches():
                removal = ContentRemoval(batch, plan.rule.recorded)
                await self._ledger.remove(removal)
                pruned.requests += removal.removed
                pruned.bytes += removal.bytes
                pruned.left += len(removal.refused)
                pruned.refused += removal.refused[: MOST_REFUSED - len(pruned.refused)]
                progress(pruned.requests)
        finally:
            pruned.unfinished = await self.sweep()
        return pruned

    async def sweep(self) -> str:
        """Clear away what removals left: files, the search index, the journal. Return what could not be, in words."""
        gone, problem = await asyncio.to_thread(self._leftovers.clear)
        if INDEX in gone:
            # It is made again, from what is left.
            self._ledger.grown()
        if await self._ledger.tidy(Tidying(gone)):
            return problem or "Another program reads the history, so its journal still holds what was removed."
        await self._ledger.tidy(Tidying((JOURNAL,)))
        return problem

    async def pending(self) -> bool:
        """Return whether a removal left something to be cleared away."""
        return bool(await asyncio.to_thread(self._leftovers.listed))


def size_words(count: float) -> str:
    """Return a number of bytes in words."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count:,.0f} bytes"
