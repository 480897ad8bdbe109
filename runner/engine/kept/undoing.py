"""Undoes a run in a kept sandbox: puts its files back to what they were before it. Only a person does that."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.engine.kept.past_states import CHANGED, together
from runner.model.errors import KnownError
from runner.model.file_changes import NOT_UNDONE, UNDONE
from runner.sandbox.workspace_copy import previewed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from runner.engine.kept.lending import Lending, OpenSandbox
    from runner.model.file_changes import FilePreview, UndoPlan
    from runner.model.record import Record

LOOK = "Look at the files before you continue."
NOTE = "A person has put the files of this sandbox back to what they were before your run {number}{later}. {look}"
NOTE_FAILED = "A person tried to restore earlier files of this sandbox, which failed partway. {look}"
BUG = "Assent itself failed while putting the files back; see the fault log."
WITHDRAWN = "A person has put the files of this sandbox back{to}. Nothing was run. Look at the files, then ask again."


class Undoing:
    """Every method is called on the engine's loop."""

    def __init__(
        self, lending: Lending, record: Record, folder: Path, withdraw: Callable[[str, str], Iterable[str]]
    ) -> None:
        """`withdraw(id, why)` denies what is asked and takes back what was approved for a sandbox; the ids of those.

        What is put together on the way goes to the disk of `folder`.
        """
        self._lending = lending
        self._record = record
        self._folder = folder
        self._withdraw = withdraw

    async def plan(self, sandbox: str, request_id: str) -> UndoPlan:
        """Return what undoing a run would do now. Raises KnownError, also while code runs in the sandbox."""
        async with self._lending.lent(sandbox) as one:
            await one.past.look(one.session, one.left)
            return one.past.plan(request_id, one.left)

    async def preview(self, sandbox: str, request_id: str, place: int) -> FilePreview:
        """Return what became of one of the files that a run changed. Raises KnownError."""
        before, after, path = self._lending.held(sandbox).past.states(request_id, place)
        return await asyncio.to_thread(previewed, before, after, path)

    async def undo(self, shown: UndoPlan) -> None:
        """Do what was shown, and nothing else. Raises KnownError where that cannot be done, or only in part."""
        async with self._lending.lent(shown.run.sandbox) as one:
            # Whatever was asked or approved before is about other files than those that come back.
            one.past.touched()
            await one.past.look(one.session, one.left)
            if one.past.plan(shown.run.request_id, one.left) != shown:
                raise KnownError(CHANGED, "Look again at what would be restored.")
            number, later = shown.run.number, [run.request_id for run in shown.later]
            body = {
                "sandbox": one.kept.id,
                "agent": one.kept.agent,
                "number": number,
                "later": later,
                "comes_back": shown.changes.count,
            }
            await self._record.append(UNDONE, shown.run.request_id, body)
            before = WITHDRAWN.format(to=f" to what they were before run {number}")
            one.past.stale = frozenset(self._withdraw(one.kept.id, before))
            await self._put_back(one, shown)

    async def _put_back(self, one: OpenSandbox, shown: UndoPlan) -> None:
        copy, number = one.past.copy_before(shown.run.request_id), shown.run.number
        stays = together(copy.left, one.left)
        why = ""
        try:
            await one.session.put_back(copy, self._folder, stays)
        except KnownError as error:
            why = str(error)
        except Exception:
            one.past.note = NOTE_FAILED.format(look=LOOK)
            await self._record.note(NOT_UNDONE, shown.run.request_id, {"why": BUG, "changed": True})
            raise
        finally:
            one.past.touched()  # however it ended, the copy of before is not what is there
        await one.past.look(one.session, one.left)
        if one.past.is_now(copy, stays):
            also = f" and the {len(shown.later)} after it" if shown.later else ""
            one.past.note = NOTE.format(number=number, later=also, look=LOOK)
            one.past.went_back(shown.run.request_id)
            self._lending.put_back(one, number)
            for run in shown.later:
                body = {"sandbox": one.kept.id, "number": run.number, "with": shown.run.request_id}
                await self._record.note(UNDONE, run.request_id, body)
            return
        unchanged = one.past.state == shown.state
        why = why or "Afterwards the files were not those of the copy."
        if not unchanged:
            one.past.note = NOTE_FAILED.format(look=LOOK)
            self._lending.put_back(one, 0)
        await self._record.note(NOT_UNDONE, shown.run.request_id, {"why": why, "changed": not unchanged})
        raise KnownError(
            why, "Nothing was changed." if unchanged else "Some files may be restored. Look, then try again."
        )
