"""Undo in a kept sandbox, through the real engine, ledger and local sandbox."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.audit.history.search import Filter, History
from runner.audit.ledger.verify import verify
from runner.engine.kept import lending, past_states
from runner.engine.kept.lending import Lending
from runner.model.answer import Status
from runner.model.codec import decode
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import ApprovalSpent, RunMeasured
from runner.model.file_changes import FILES_CHANGED, NOT_UNDONE, UNDONE, ChangeKind, RunChanges
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.model.verdict import Verb
from runner.risk.explain.foreseen import with_removal
from runner.sandbox import workspace_copy
from runner.sandbox.local.session import LocalSession
from runner.system.tasks import spawn
from tests.patience import HANGS
from tests.recorded import record_in
from tests.stages.kept import missed

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.answer import Answer
    from runner.model.assessment import Assessment
    from runner.model.behaviour import Behaviour
    from runner.model.file_changes import FileChanges
    from runner.sandbox.workspace_copy import WorkspaceCopy
    from tests.stages.kept import House

pytestmark = pytest.mark.asyncio


async def shell(house: House, id: str, code: str) -> Answer:
    """Run code, and wait until what it changed is known."""
    answer = await house.call(Tool.CODE_EXECUTE, language=Language.SHELL, code=code, sandbox_id=id)
    assert answer.result is not None, answer
    await house.until(lambda: not (known := runs(house)) or known[-1].request_id == answer.request_id)
    return answer


def runs(house: House) -> tuple[RunChanges, ...]:
    kept = house.engine.sandboxes.listed()
    return kept[0].runs if kept else ()


async def undo(house: House, id: str, answer: Answer) -> None:
    await house.engine.sandboxes.undoing.undo(await house.engine.sandboxes.undoing.plan(id, answer.request_id))


def workspace(house: House) -> Path:
    return next(house.folder.glob("run-*/workspace"))


async def test_a_run_and_those_after_it_are_undone_and_the_agent_is_told(house: House) -> None:
    id = await house.create()
    await house.call(Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="a", content="first")
    await shell(house, id, "echo 1 > one")
    second = await shell(house, id, "rm one; echo changed > a; mkdir d; echo 2 > d/two")
    await house.call(Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="note", content="between")
    third = await shell(house, id, "echo 3 > three")
    changed = {one.path: one.kind for one in runs(house)[1].changes.changes}
    assert changed == {"a": ChangeKind.CHANGED, "d/two": ChangeKind.ADDED, "one": ChangeKind.REMOVED}
    assert [one.path for one in runs(house)[2].changes.changes] == ["three"], "what was written between is no run's"
    seen = await house.engine.sandboxes.undoing.preview(id, second.request_id, 0)
    assert (seen.before, seen.after, seen.cut) == (b"first", b"changed\n", False)

    plan = await house.engine.sandboxes.undoing.plan(id, second.request_id)
    assert [one.request_id for one in plan.later] == [third.request_id]
    back = {one.path: one.kind for one in plan.changes.changes}
    assert back == {
        "a": ChangeKind.CHANGED,
        "d/two": ChangeKind.REMOVED,
        "note": ChangeKind.REMOVED,
        "one": ChangeKind.ADDED,
        "three": ChangeKind.REMOVED,
    }
    await house.engine.sandboxes.undoing.undo(plan)
    assert {one.name: one.read_text() for one in workspace(house).iterdir()} == {"a": "first", "one": "1\n"}
    assert [one.number for one in runs(house)] == [1] and house.engine.sandboxes.listed()[0].put_back_to == 2
    with pytest.raises(KnownError, match="already undone"):
        await house.engine.sandboxes.undoing.undo(plan)

    told = await house.call(Tool.CODE_LIST_FILES, sandbox_id=id, file_path=".")
    assert "put the files of this sandbox back to what they were before your run 2 and the 1 after it" in told.text()
    assert "run 2" in str(told.structured()["note"])
    again = await house.call(Tool.CODE_LIST_FILES, sandbox_id=id, file_path=".")
    assert "Note:" not in again.text(), "the agent reads it once"
    fourth = await shell(house, id, "cat a one")
    assert fourth.result is not None and fourth.result.stdout == "first1\n"
    assert runs(house)[-1].changes.count == 0
    await house.engine.close("to look")
    bodies = {step.entry.kind: step.body for step in record_in(house.places.ledger, second.request_id).steps}
    assert decode(RunChanges, bodies[FILES_CHANGED]) == plan.run
    assert bodies[UNDONE]["later"] == [third.request_id]
    assert UNDONE in [step.entry.kind for step in record_in(house.places.ledger, third.request_id).steps]
    assert verify(house.places.ledger).ok


async def test_the_history_has_what_was_removed_unforeseen_and_not_what_files_hold(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def removal(observed: Behaviour | None, assessment: Assessment, changes: FileChanges) -> Behaviour | None:
        acts = tuple(replace(act, verb=Verb.READS) for act in assessment.verdict.acts)
        other = replace(assessment, verdict=replace(assessment.verdict, acts=acts))
        return with_removal(observed, other, changes)

    monkeypatch.setattr(lending, "with_removal", removal)
    id = await house.create()
    await shell(house, id, "echo pass''word > a")
    removing = await shell(house, id, "echo more >> a; rm a")
    await house.engine.close("to look")
    assert b"password" not in house.places.ledger.read_bytes()
    with closing(History(house.places.ledger)) as history:
        assert [row.id for row in history.page(Filter(unforeseen="yes"))] == [removing.request_id]
        record = history.case(removing.request_id)
    assert record is not None and record.unforeseen == ("removed 1 file",)


async def test_what_was_asked_before_an_undo_is_not_done_after_it(house: House) -> None:
    """One question is open, one is approved and waits for the sandbox: both were asked about other files."""
    id = await house.create()
    await house.call(Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="s.sh", content="echo good")
    first = await shell(house, id, "echo 1 > one")
    plan = await house.engine.sandboxes.undoing.plan(id, first.request_id)
    asked = Submission("claude", Tool.CODE_EXECUTE, Language.SHELL, "sh s.sh", sandbox_id=id)
    one = house.engine.sandboxes.lending.held(id)
    async with one.lock:
        undoing = spawn("undo", house.engine.sandboxes.undoing.undo(plan))
        await asyncio.sleep(0)
        waiting = await house.engine.submit(asked)
        await house.until(lambda: waiting.case.decision is not None)
        house.says = None
        other = await house.engine.submit(Submission("claude", Tool.CODE_EXECUTE, Language.SHELL, "ls", sandbox_id=id))
        await house.until(lambda: house.engine.desk.question(other.request_id))
    answer = await waiting.answered(10)
    assert answer is not None and answer.result is not None and "put the files" in answer.result.error
    await undoing
    denied = await other.answered(10)
    assert denied is not None and denied.status is Status.DENIED
    assert "before run 1" in denied.decision.reason
    assert not (workspace(house) / "one").exists()


async def test_a_late_approval_ends_when_the_files_are_put_back(house: House) -> None:
    id = await house.create()
    first = await shell(house, id, "echo 1 > one")
    ticket = await missed(house, id)
    assert await house.engine.late.arm(ticket.request_id, ticket.case.request.digest) == ""
    await undo(house, id, first)
    assert ApprovalSpent(ticket.request_id, used=False) in house.heard


async def test_an_undo_waits_for_no_run_and_says_so(house: House) -> None:
    id = await house.create()
    first = await shell(house, id, "echo 1 > one")
    plan = await house.engine.sandboxes.undoing.plan(id, first.request_id)
    code = Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, "import time; time.sleep(60)", sandbox_id=id)
    ticket = await house.engine.submit(code)
    await house.until(lambda: any(isinstance(event, RunMeasured) for event in house.heard))
    for work in (house.engine.sandboxes.undoing.plan(id, first.request_id), house.engine.sandboxes.undoing.undo(plan)):
        with pytest.raises(KnownError, match="Code runs in this sandbox"):
            await work
    house.engine.runs.stop(ticket.request_id, "enough")
    await ticket.answered(10)
    await house.until(lambda: runs(house)[-1].request_id == ticket.request_id)
    with pytest.raises(KnownError, match="has changed since you looked"):
        await house.engine.sandboxes.undoing.undo(plan)
    await house.engine.sandboxes.remove(id, "over")
    with pytest.raises(KnownError, match="gone"):
        await house.engine.sandboxes.undoing.undo(plan)


async def test_two_presses_at_once_undo_once(house: House) -> None:
    id = await house.create()
    first = await shell(house, id, "echo 1 > one")
    plan = await house.engine.sandboxes.undoing.plan(id, first.request_id)
    both = await asyncio.gather(*(house.engine.sandboxes.undoing.undo(plan) for _ in range(2)), return_exceptions=True)
    assert [type(one) for one in both] == [type(None), KnownError]
    record = record_in(house.places.ledger, first.request_id)
    assert [step.entry.kind for step in record.steps].count(UNDONE) == 1


async def test_what_does_not_fit_has_no_undo_and_says_why(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    id = await house.create()
    monkeypatch.setattr(past_states, "MOST_OF_ONE", 26_000)
    for number in range(3):
        await shell(house, id, f"head -c 1000 /dev/zero > {number}")
    assert [bool(one.no_undo) for one in runs(house)] == [True, True, False]
    assert "room" in runs(house)[0].no_undo and runs(house)[0].changes.added == 1
    monkeypatch.setattr(workspace_copy, "MOST_BYTES", 2000)
    last = await shell(house, id, "rm 0")
    assert runs(house)[-1].changes.count == 1, "it became small enough"
    monkeypatch.setattr(workspace_copy, "MOST_BYTES", 1000)
    await shell(house, id, "echo x >> 1")
    assert "larger than" in runs(house)[-1].changes.unknown
    with pytest.raises(KnownError, match="no copy of the files"):
        await house.engine.sandboxes.undoing.plan(id, last.request_id)


async def test_an_undo_that_fails_changes_nothing_or_says_so(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    id = await house.create()
    first = await shell(house, id, "echo 1 > one; mkdir d; echo x > d/x")
    plan = await house.engine.sandboxes.undoing.plan(id, first.request_id)

    async def refuses(session: LocalSession, copy: WorkspaceCopy, folder: Path, left: tuple[str, ...]) -> None:
        raise KnownError("The disk is full.")

    async def stops(session: LocalSession, copy: WorkspaceCopy, folder: Path, left: tuple[str, ...]) -> None:
        (workspace(house) / "one").unlink()
        raise KnownError("The disk is full.")

    async def breaks(session: LocalSession, copy: WorkspaceCopy, folder: Path, left: tuple[str, ...]) -> None:
        (workspace(house) / "d/x").unlink()
        raise ValueError("a bug")

    monkeypatch.setattr(LocalSession, "put_back", refuses)
    with pytest.raises(KnownError, match=r"The disk is full.*Nothing was changed"):
        await house.engine.sandboxes.undoing.undo(plan)
    told = await house.call(Tool.CODE_LIST_FILES, sandbox_id=id, file_path=".")
    assert "Note:" not in told.text()
    monkeypatch.setattr(LocalSession, "put_back", stops)
    with pytest.raises(KnownError, match=r"Some files may be restored"):
        await house.engine.sandboxes.undoing.undo(plan)
    told = await house.call(Tool.CODE_LIST_FILES, sandbox_id=id, file_path=".")
    assert "failed partway" in told.text()
    monkeypatch.setattr(LocalSession, "put_back", breaks)
    broken = await house.engine.sandboxes.undoing.plan(id, first.request_id)
    with pytest.raises(ValueError, match="a bug"):
        await house.engine.sandboxes.undoing.undo(broken)
    told = await house.call(Tool.CODE_LIST_FILES, sandbox_id=id, file_path=".")
    assert "failed partway" in told.text()
    monkeypatch.undo()
    again = await house.engine.sandboxes.undoing.plan(id, first.request_id)
    assert again.state != broken.state, "what a failure left is looked at again"
    await undo(house, id, first)
    assert not list(workspace(house).iterdir())
    record = record_in(house.places.ledger, first.request_id)
    whys = [step.body["changed"] for step in record.steps if step.entry.kind == NOT_UNDONE]
    assert whys == [False, True, True]


async def test_a_run_waits_for_the_copy_of_before_it_and_its_answer_for_none(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await house.create()
    copied, go = LocalSession.copy, asyncio.Event()
    copies = 0

    async def slow(session: LocalSession, folder: Path, left: tuple[str, ...]) -> WorkspaceCopy:
        nonlocal copies
        copies += 1
        if copies == 2:
            await go.wait()
        return await copied(session, folder, left)

    monkeypatch.setattr(LocalSession, "copy", slow)
    first = await house.call(Tool.CODE_EXECUTE, language=Language.SHELL, code="echo 1 > a", sandbox_id=id)
    assert first.status is Status.FINISHED and not runs(house), "its answer came before the copy"
    second = spawn("second", shell(house, id, "echo 2 > a"))
    await house.until(lambda: any(case.decision is not None for case in house.engine._cases.active()))
    assert not second.done()
    go.set()
    await second
    seen = await house.engine.sandboxes.undoing.preview(id, second.result().request_id, 0)
    assert (seen.before, seen.after) == (b"1\n", b"2\n")
    assert copies == 3, "after the last run nothing changed, so nothing is copied again"


async def test_files_are_copied_while_a_person_reads(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    id = await house.create()
    await house.call(Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="a", content="1")
    house.says = None
    asked = Submission("claude", Tool.CODE_EXECUTE, Language.SHELL, "echo 2 > a", sandbox_id=id)
    ticket = await house.engine.submit(asked)
    past = house.engine.sandboxes.lending.held(id).past
    await house.until(lambda: house.engine.desk.question(ticket.request_id))
    async with asyncio.timeout(HANGS):
        while not past.copied:
            await asyncio.sleep(0)
    question = house.engine.desk.question(ticket.request_id)
    assert question is not None, "nobody has decided"
    house.engine.answer(question.request_id, question.digest, Verdict.DENIED, "")
    await ticket.answered(HANGS)


async def test_what_was_written_and_does_not_come_back_is_not_known_any_more(house: House) -> None:
    id = await house.create()
    await house.call(Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="a.py", content="print(1)")
    first = await shell(house, id, "true")
    for name, content in (("a.py", "print(2)"), ("b.py", "print(3)")):
        await house.call(Tool.CODE_WRITE_FILE, sandbox_id=id, file_path=name, content=content)
    await undo(house, id, first)
    assert house.engine.sandboxes.written(id) == ()
    assert (workspace(house) / "a.py").read_text() == "print(1)"
    assert Lending.held(house.engine.sandboxes.lending, id).kept.put_back_to == 1
