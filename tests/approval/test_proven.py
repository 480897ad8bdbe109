"""Where the PIN is asked for, nothing is approved, remembered or trusted without it: the engine sees to that."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runner.approval.deliberate import NEEDS_PIN
from runner.approval.modes import Mode
from runner.identity.pin import CHANGED, FREE, REFUSED, REMOVED, SET, PinLock, PinRefused
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.request import Isolation
from runner.policy.grants import Choice, Subject
from runner.system.tasks import spawn
from tests.approval.test_door import entries

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.approval.ticket import Ticket
    from tests.stages.engine import Stage

pytestmark = pytest.mark.asyncio
PIN = "4711"


async def guarded(stage: Stage) -> Stage:
    """`stage`, with a PIN that is asked for."""
    stage.places.settings.write_text("window:\n  approve_by: pin\n")
    stage.engine.reload()
    await stage.engine.parts.pin.change("", PIN)
    return stage


def answer(stage: Stage, ticket: Ticket, *, proven: bool) -> str:
    request = ticket.case.request
    return stage.engine.answer(request.id, request.digest, Verdict.APPROVED, "", proven=proven)


async def test_an_answer_needs_it(stage: Stage) -> None:
    await guarded(stage)
    ticket = await stage.asked()
    assert answer(stage, ticket, proven=False) == NEEDS_PIN
    assert stage.engine.desk.position(ticket.request_id)
    assert answer(stage, ticket, proven=await stage.engine.proven(PIN)) == ""
    await stage.until(lambda: stage.sandbox.runs)


async def test_an_edited_version_needs_it(stage: Stage) -> None:
    engine = (await guarded(stage)).engine
    ticket = await stage.asked()
    request, code = ticket.case.request, "print('mine')"
    draft = await engine.editing.draft(request.id, code)
    edited = draft.request.digest
    assert await engine.editing.approve(request.id, request.digest, code, edited) == NEEDS_PIN
    assert await engine.editing.approve(request.id, request.digest, code, edited, proven=True) == ""


async def test_what_was_missed_needs_it(stage: Stage) -> None:
    engine = (await guarded(stage)).engine
    ticket = await stage.asked()
    engine.desk._expire(ticket.request_id)
    await stage.until(lambda: ticket.case.decision)
    request = ticket.case.request
    assert await engine.late.arm(request.id, request.digest) == NEEDS_PIN
    assert await engine.late.arm(request.id, request.digest, proven=True) == ""


async def test_trusting_remembering_and_a_weaker_sandbox_need_it(stage: Stage) -> None:
    engine = (await guarded(stage)).engine
    request = (await stage.asked()).case.request
    choice = Choice(Subject.EXACT, 3, 600.0)
    doors: list[Callable[[], object]] = [
        lambda: engine.modes.trust("claude", 60.0),
        lambda: engine.remembering.add(request.id, request.digest, choice),
        lambda: engine.accept_sandbox(Isolation.LOCAL),
    ]
    for door in doors:
        with pytest.raises(KnownError, match="needs the PIN"):
            await door()  # type: ignore[misc]
    assert engine.modes.now.mode is Mode.GUARDED and engine.parts.configuration.grants.all() == ()
    await engine.remembering.add(request.id, request.digest, choice, proven=True)
    await engine.modes.trust("claude", 60.0, proven=True)


async def test_a_denial_needs_nothing(stage: Stage) -> None:
    await guarded(stage)
    request = (await stage.asked()).case.request
    assert stage.engine.answer(request.id, request.digest, Verdict.DENIED, "No.") == ""


async def test_what_happens_to_it_is_in_the_history_and_nothing_of_it(stage: Stage) -> None:
    lock = (await guarded(stage)).engine.parts.pin
    for _ in range(2):
        with pytest.raises(PinRefused):
            await stage.engine.proven("1234")
    with pytest.raises(PinRefused):
        await lock.remove("5678")
    assert await stage.engine.proven(PIN)
    await lock.change(PIN, "271828")
    await lock.remove("271828")
    expected = [(SET, {}), *((REFUSED, {"wrong": count}) for count in (1, 2, 3)), (CHANGED, {}), (REMOVED, {})]
    await stage.until(lambda: entries(stage, SET, REFUSED, CHANGED, REMOVED) == expected)


async def test_wrong_ones_that_are_not_looked_at_are_no_entries(stage: Stage) -> None:
    await guarded(stage)
    for _ in range(FREE + 20):
        with pytest.raises(PinRefused):
            await stage.engine.proven("1234")
    await stage.until(lambda: len(entries(stage, REFUSED)) >= FREE)
    assert [body["wrong"] for _, body in entries(stage, REFUSED)] == list(range(1, FREE + 1))


async def test_without_a_pin_that_is_set_nothing_is_approved(stage: Stage) -> None:
    await guarded(stage)
    await stage.engine.parts.pin.remove(PIN)
    ticket = await stage.asked()
    with pytest.raises(PinRefused, match="No PIN is set"):
        await stage.engine.proven(PIN)
    assert answer(stage, ticket, proven=await stage.engine.proven("")) == NEEDS_PIN


async def test_a_lockdown_while_the_pin_is_checked_counts(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    await guarded(stage)
    checking, go = asyncio.Event(), asyncio.Event()
    real = PinLock.check

    async def slow(lock: PinLock, pin: str) -> None:
        checking.set()
        await go.wait()
        await real(lock, pin)

    monkeypatch.setattr(PinLock, "check", slow)
    proving = spawn("prove", stage.engine.proven(PIN))
    await checking.wait()
    await stage.engine.modes.lock()
    go.set()
    with pytest.raises(KnownError, match="mode was changed"):
        await proving
