"""The ledger: appends entries durably, through one writer thread that commits queued entries together."""

from __future__ import annotations

import asyncio
import logging
import queue
import sqlite3
import threading
import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.audit.ledger.chain import Chain, upgrade
from runner.audit.ledger.entry import RESERVED, NewEntry
from runner.audit.ledger.opening import Lock, open_or_begin, set_aside
from runner.audit.ledger.removing import ContentRemoval
from runner.audit.ledger.seal import Seal
from runner.audit.ledger.tables import DAMAGE, SET_ASIDE, LedgerDamaged, Tidying, explained, tidied
from runner.audit.ledger.verify import broken_tail
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from runner.audit.ledger.anchor import Anchor

__all__ = ["Ledger", "LedgerFailed", "set_aside"]

log = logging.getLogger("assent.ledger")

BATCH = 1000
"""Most entries in one transaction, so that in a flood the first caller does not wait for the last."""
COMMIT_DELAY = 0.02
"""Longest time, in seconds, for which an entry that nobody waits for is kept for those that follow it."""
SEAL_EVERY = 1000
TAIL = 200
"""Entries checked at every start; the whole chain is `verify`'s work."""


class LedgerFailed(KnownError):
    """An entry could not be written: it is not in the ledger, and what it records must not happen."""

    def __init__(self, what: str, remedy: str = "", *, damaged: bool = False) -> None:
        """`damaged`: the file is, so that only a new one helps."""
        super().__init__(what, remedy)
        self.damaged = damaged


@dataclass(frozen=True, slots=True)
class _Wanted:
    """One thing asked of the writer thread, and the future that gets the answer."""

    what: NewEntry | Seal | ContentRemoval | Tidying | None
    """An entry, a key to seal with, content to remove, what to tidy up after that, or the end."""
    at: int
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[int]


class Ledger:
    """An open ledger, made by `Ledger.open`. Every method may be called on any loop, on several at the same time."""

    def __init__(
        self, path: Path, connection: sqlite3.Connection, lock: Lock, clock: Callable[[], float], seal_every: int
    ) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._clock = clock
        self._chain = Chain(connection, seal_every)
        self._queue: queue.SimpleQueue[list[_Wanted]] = queue.SimpleQueue()
        self._kept: list[_Wanted] = []
        """Entries that can wait: each by itself would wake the writer, which costs more than writing it."""
        self._due: deque[_Wanted] = deque()
        """What the writer has taken from the queue and not done yet. Its own."""
        self._closing = False
        self._queueing = threading.Lock()
        """Held from the look at `_closing` until the request is queued: nothing is queued behind the end."""
        self._signed: Callable[[Anchor], None] = lambda _anchor: None
        self.grown: Callable[[], None] = lambda: None
        """Called after entries have become durable, in the writer's thread; must not block."""
        (self.id,) = connection.execute("SELECT hash FROM entries WHERE seq = 1").fetchone()
        """Hash of the first entry, which holds a random number: it tells this ledger from any other."""
        # A daemon, so that a crash elsewhere can end the process: what was acknowledged is on disk anyway.
        self._thread = threading.Thread(target=self._run, name="ledger", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, path: Path, clock: Callable[[], float] = time.time, seal_every: int = SEAL_EVERY) -> Ledger:
        """Open the ledger at `path`, or begin it. Blocks for some milliseconds; longer where it has an older format.

        Raises KnownError with a remedy where another process has it open or its folder cannot be written, and
        LedgerDamaged where the file is no ledger or damaged, or its last entries do not form a chain. `clock` gives
        seconds since the epoch.
        """
        lock = Lock(path)
        try:
            connection = open_or_begin(path, clock(), _write_first)
            try:
                if what := broken_tail(connection, path, TAIL):
                    raise LedgerDamaged(f"The ledger {path} is broken: {what}")
                upgrade(connection, int(clock() * 1_000_000))
            except DAMAGE as error:
                connection.close()
                raise explained(error, path) from error
            except BaseException:
                connection.close()
                raise
        except BaseException:
            lock.release()
            raise
        return cls(path, connection, lock, clock, seal_every)

    async def append(self, kind: str, request_id: str, body: Mapping[str, object], *, can_wait: bool = False) -> int:
        """Add an entry and return its number; on return it is on disk.

        One that `can_wait` is written with the next one that cannot, in the same transaction, so that a request costs
        few flushes of the disk; or after `COMMIT_DELAY`. All are written in the order in which they were asked.

        `body` is JSON data and not changed by the caller afterwards. A caller that is cancelled while it waits may
        still find its entry written. Raises LedgerFailed where it cannot be written (it may be tried again), and
        ValueError, IllegalMove or UnreadableValue where it is invalid: an unknown request, a step that the life cycle
        does not have, a body that is not what its kind says.
        """
        if kind in RESERVED:
            raise ValueError(f"{kind} is the ledger's own kind of entry")
        if not (kind.isascii() and request_id.isascii()):
            raise ValueError("kinds and request ids are plain ASCII")
        at = self._now()
        return await self._ask(NewEntry(at, kind, request_id, body), at, can_wait=can_wait)

    async def seal_with(self, key: bytes, signed: Callable[[Anchor], None] | None = None) -> None:
        """Sign from now on with this Ed25519 private key (32 bytes). Raises KnownError, LedgerFailed.

        `signed` is called with each signed head once it is durable, in the writer's thread, and must not block.
        """
        if signed is not None:
            self._signed = signed
        await self._ask(Seal(key), self._now())

    async def remove(self, removal: ContentRemoval) -> int:
        """Remove content; return the number of the entry that says so, 0 where nothing was removed. Durable on return.

        What is overwritten in the file leaves the disk with the next `tidy`. Raises LedgerFailed, and KnownError where
        the history is not signed.
        """
        return await self._ask(removal, self._now())

    async def tidy(self, tidying: Tidying) -> int:
        """Forget leftovers that are gone, and empty the journal; return 1 where another program still reads that.

        Raises LedgerFailed.
        """
        return await self._ask(tidying, self._now())

    async def close(self) -> None:
        """Write queued entries, seal, and release the file. Does nothing when closed already.

        A seal that cannot be written is logged; the ledger is closed all the same.
        """
        with self._queueing:
            if self._closing:
                return
            self._closing = True
            answer = self._enqueue(None, self._now())
        try:
            await answer
        finally:
            await asyncio.to_thread(self._thread.join)

    def _now(self) -> int:
        return int(self._clock() * 1_000_000)

    async def _ask(self, what: NewEntry | Seal | ContentRemoval | Tidying, at: int, *, can_wait: bool = False) -> int:
        with self._queueing:
            if self._closing:
                raise LedgerFailed("The history is closed.", "Start Assent again.")
            answer = self._enqueue(what, at, can_wait=can_wait)
        return await answer

    def _enqueue(
        self, what: NewEntry | Seal | ContentRemoval | Tidying | None, at: int, *, can_wait: bool = False
    ) -> asyncio.Future[int]:
        """Queue a request for the writer thread; return its answer. The caller holds `_queueing`."""
        loop = asyncio.get_running_loop()
        wanted = _Wanted(what, at, loop, loop.create_future())
        self._kept.append(wanted)
        if not can_wait:
            self._hand_over()
        elif len(self._kept) == 1:
            loop.call_later(COMMIT_DELAY, self._end_waiting, wanted)
        return wanted.answer

    def _end_waiting(self, first: _Wanted) -> None:
        """Hand over what is kept where `first` is still among it: nothing that was awaited has come since."""
        with self._queueing:
            if self._kept and self._kept[0] is first:
                self._hand_over()

    def _hand_over(self) -> None:
        """Give the writer all that is kept, in order. The caller holds `_queueing`."""
        kept, self._kept = self._kept, []
        self._queue.put(kept)

    def _run(self) -> None:
        """The writer thread."""
        over = False
        while not over:
            batch, then = self._collect()
            if batch:
                _answer(batch, self._write([wanted.what for wanted in batch if isinstance(wanted.what, NewEntry)]))
            if then is not None:
                over = then.what is None
                _answer([then], [self._end(then.at) if over else self._do(then)])

    def _collect(self) -> tuple[list[_Wanted], _Wanted | None]:
        """Return the queued entries up to the next call that is not one, and that call; waits for the first."""
        batch: list[_Wanted] = []
        if not self._due:
            self._due.extend(self._queue.get())
        while len(batch) < BATCH:
            if not self._due:
                try:
                    self._due.extend(self._queue.get_nowait())
                except queue.Empty:
                    break
            wanted = self._due.popleft()
            if not isinstance(wanted.what, NewEntry):
                return batch, wanted
            batch.append(wanted)
        return batch, None

    def _write(self, drafts: list[NewEntry]) -> list[int | Exception]:
        try:
            outcomes = self._chain.write(drafts)
            self._report_signed()
            self.grown()
            return outcomes
        except Exception as error:  # the callers get it; the thread must continue
            return [self._translated(error)] * len(drafts)

    def _do(self, wanted: _Wanted) -> int | Exception:
        """Do what is no entry; return its outcome."""
        try:
            match wanted.what:
                case Seal() as seal:
                    self._chain.seal_with(seal, wanted.at)
                    outcome = 0
                case ContentRemoval() as removal:
                    outcome = self._chain.remove(removal, wanted.at)
                case Tidying() as tidying:
                    self._chain.swept(tidying.swept)
                    outcome = int(not tidied(self._connection))
                case _:
                    raise AssertionError(wanted.what)
            self._report_signed()
        except Exception as error:  # the caller gets it; the thread must continue
            return self._translated(error)
        return outcome

    def _end(self, at: int) -> int:
        try:
            self._chain.finish(at)
            self._report_signed()
        except DAMAGE as error:
            # All that was acknowledged is on disk; verify tells up to where it is signed.
            log.warning("%s", self._translated(error))
        finally:
            self._connection.close()
            self._lock.release()
        return 0

    def _report_signed(self) -> None:
        if self._chain.anchor is not None:
            self._signed(self._chain.anchor)

    def _translated(self, error: Exception) -> Exception:
        return self._failed(error) if isinstance(error, DAMAGE) else error

    def _failed(self, error: Exception) -> LedgerFailed:
        folder = self.path.parent
        damaged = False
        match getattr(error, "sqlite_errorcode", 0) & 0xFF:
            case sqlite3.SQLITE_FULL:
                what, remedy = "the disk is full.", f"Free some space on the disk that holds {folder}."
            case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
                what, remedy, damaged = f"its file is damaged ({error}).", SET_ASIDE, True
            case sqlite3.SQLITE_BUSY:
                what, remedy = "another program holds its file.", f"Close what has {self.path} open."
            case _:
                what, remedy = f"{error}.", f"Check space, permissions and health of the disk that holds {folder}."
        what = f"The history could not be written: {what}"
        return LedgerFailed(what, f"{remedy} Until then nothing is approved.", damaged=damaged)


def _write_first(connection: sqlite3.Connection, genesis: NewEntry) -> None:
    (outcome,) = Chain(connection, SEAL_EVERY).write([genesis])
    if isinstance(outcome, Exception):
        raise outcome


def _answer(batch: list[_Wanted], outcomes: list[int | Exception]) -> None:
    """Wake the callers, each on its own loop and each loop once."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[int], int | Exception]]] = {}
    for wanted, outcome in zip(batch, outcomes, strict=True):
        loops.setdefault(wanted.loop, []).append((wanted.answer, outcome))
    for loop, answers in loops.items():
        try:
            loop.call_soon_threadsafe(_settle, answers)
        except RuntimeError:  # the loop was closed: no caller waits any more
            continue


def _settle(answers: list[tuple[asyncio.Future[Any], int | Exception]]) -> None:
    for future, outcome in answers:
        if future.done():  # its caller was cancelled
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
