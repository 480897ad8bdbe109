"""Apply as it goes: what a program has changed is applied by itself whenever the program is quiet.

Only what a person would hardly stop at: what is ticked beforehand (`runner.workspace.groups`). Of that is left to a
person: what has a finding of HIGH or CRITICAL in what it adds, what was not read for findings, whatever is deleted or
becomes something else, and whatever was applied by itself before and is not there any more, because somebody took it
back. Each time is one deed with its own entry in the history and its own Undo. It belongs to the process on the
terminal, outside the rings, and ends with it.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.workspace.change import ProjectChange, ProjectChanges
from runner.workspace.entry import is_folder
from runner.workspace.groups import above, chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from runner.work.added import AddedFindings, AddedText
    from runner.workspace.entry import TreeEntry
    from runner.workspace.working_copy import WorkingCopy

    Read = Callable[[AddedText], AddedFindings]
    ApplyNow = Callable[[Sequence[ProjectChange], Callable[[], str]], object]

log = logging.getLogger("assent.work")
QUIET_SECONDS = 4.0
"""Without a change, before what is there is applied."""
LOOK_SECONDS = 1.0
"""Between two looks."""
SHARE = 5.0
"""Rest after a look that took longer, in times that look."""
MOST_FAILURES = 3
"""In a row; then it is switched off, with the reason."""
OFF = "It was switched off."
OVER = "The program has ended."


class ApplyingAsItGoes:
    """One for each program at work; off until it is switched on. `switch` and `close` may be called on any thread."""

    def __init__(
        self,
        copy: WorkingCopy,
        read: Read,
        apply: ApplyNow,
        tell: Callable[[bool, str], object],
        closed: Callable[[], str],
        quiet: float = QUIET_SECONDS,
    ) -> None:
        """`read` returns what is found in a text. `apply` writes changes and records them; what it is given besides
        says why it may not go on, '' while it may; it raises KnownError and OSError. `tell` is told of each switch,
        with the reason where nobody did it. `closed` says why nothing may be written by itself any more, '' while it
        may.
        """
        self._copy = copy
        self._read = read
        self._apply = apply
        self._tell = tell
        self._closed = closed
        self._quiet = quiet
        self._failed = 0
        """Times in a row."""
        self._lock = threading.Lock()
        self._on = False
        self._turn = 0
        """Counts switches: what began before one may not go on after it."""
        self._over = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._applied: dict[bytes, TreeEntry | None] = {}
        """What was applied by itself, by path."""

    @property
    def on(self) -> bool:
        return self._on

    def switch(self, *, on: bool, why: str = "") -> None:
        """Switch it on or off; off holds at once, also for what is being copied and not written yet."""
        with self._lock:
            if on == self._on or self._over.is_set():
                return
            self._on = on
            self._turn += 1
            self._failed = 0
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="apply as it goes", daemon=True)
                self._thread.start()
        self._tell(on, why)
        self._wake.set()

    def close(self) -> None:
        """Apply nothing more, and wait for what is being written."""
        with self._lock:
            self._over.set()
            self._on = False
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    # ---- on its own thread ----

    def _work(self) -> None:
        known, since = ProjectChanges(), time.monotonic()
        while not self._over.is_set():
            self._wake.wait(LOOK_SECONDS if self._on else None)
            self._wake.clear()
            if not self._on:
                continue
            turn, began = self._turn, time.monotonic()
            if why := self._closed():
                self.switch(on=False, why=why)
                continue
            try:
                found = self._copy.changes(known)
                # What is closed to everybody is opened to be read: that sets its time of change, and is none.
                if found != known:
                    since = time.monotonic()
                known = found
                if found.stamp and time.monotonic() - since >= self._quiet:
                    self._apply_quietly(found, turn)
                    since = time.monotonic()
                    self._failed = 0
            except (KnownError, OSError) as error:
                # What was written to meanwhile is looked at again; what stays impossible is left to a person.
                log.warning("Not applied as it goes: %s", error)
                known, since = ProjectChanges(), time.monotonic()
                self._failed += 1
                if self._failed >= MOST_FAILURES and not self._ended(turn):
                    self.switch(on=False, why=str(error))
            self._over.wait(min(60.0, SHARE * (time.monotonic() - began)))

    def _apply_quietly(self, found: ProjectChanges, turn: int) -> None:
        wanted = self._chosen(found)
        if wanted and not self._ended(turn):
            self._apply(wanted, lambda: self._ended(turn))
            self._applied |= {one.path: one.after for one in wanted}

    def _ended(self, turn: int) -> str:
        if self._over.is_set():
            return OVER
        return self._closed() if self._on and turn == self._turn else OFF

    def _chosen(self, found: ProjectChanges) -> tuple[ProjectChange, ...]:
        """Return what is applied by itself. Raises OSError."""
        # Loaded here: with the classifier, which no program at work needs before it runs.
        from runner.work.added import MOST_READ, AddedFindings, text_of

        number = 0
        plain = []
        for one in chosen(found):
            if not self._is_new(one) or _loses(one):
                continue
            text = text_of(one, self._copy.project, self._copy.content)
            if not isinstance(text, AddedFindings):
                number += 1
                if number > MOST_READ or self._over.is_set():
                    continue
                text = self._read(text)
            if not text.skipped and (text.worst is None or text.worst < Level.HIGH):
                plain.append(one)
        return with_their_folders(found.changes, plain)

    def _is_new(self, one: ProjectChange) -> bool:
        """Whether it was not applied by itself before; the project's own folder never is."""
        return bool(one.path) and (one.path not in self._applied or self._applied[one.path] != one.after)


def _loses(one: ProjectChange) -> bool:
    """Whether what the project has would be gone: git need not have it."""
    return one.after is None or (one.before is not None and one.before.kind is not one.after.kind)


def with_their_folders(found: Sequence[ProjectChange], plain: Sequence[ProjectChange]) -> tuple[ProjectChange, ...]:
    """Return those of `plain` that can be applied without any other change of `found`.

    Not a new folder of which nothing else is among them, nothing below a change that is left, and no folder that goes
    or becomes something else while a change below it is left.
    """
    chosen = {one.path for one in plain}
    left = {one.path for one in found} - chosen
    above_left = {part for path in left for part in above(path)}
    above_chosen = {part for one in plain if not is_folder(one.after) for part in above(one.path)}
    above_any = {part for one in found for part in above(one.path)}
    return tuple(
        one
        for one in plain
        if left.isdisjoint(above(one.path))
        and not (is_folder(one.before) and not is_folder(one.after) and one.path in above_left)
        and not (one.before is None and is_folder(one.after) and one.path in above_any and one.path not in above_chosen)
    )
