"""Sandboxes that agents keep, through the real engine, ledger and local sandbox (spec X5, F1, R1)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.approval.late_approval import ARMED, DROPPED, GONE
from runner.audit.history.search import History
from runner.audit.ledger.verify import verify
from runner.model.answer import Status
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.errors import KnownError, Refused
from runner.model.events import ApprovalSpent, QuestionAsked, RunMeasured, RunStarted, SandboxesChanged
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.policy.grants import Choice, Subject
from runner.sandbox.local.sandbox import LocalSandbox
from runner.system.clock import since_boot
from runner.system.tasks import spawn
from tests.approval.test_door import Pen
from tests.patience import HANGS
from tests.recorded import record_in
from tests.stages.kept import CREATE, House, missed

if TYPE_CHECKING:
    from runner.model.request import Limits
    from runner.sandbox.local.session import LocalSession

pytestmark = pytest.mark.asyncio


async def test_a_sandbox_without_a_title_has_none_rather_than_the_words_of_its_request(house: House) -> None:
    await house.create(replace(CREATE, title=""))
    assert [kept.title for kept in house.engine.sandboxes.listed()] == [""]


async def test_write_run_read_list_and_remove(house: House) -> None:
    id = await house.create()
    assert [kept.title for kept in house.engine.sandboxes.listed()] == ["numbers"]
    written = await house.call(Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="/workspace/in.csv", content="a,b\n1,2\n")
    assert written.facts is not None and written.facts["size"] == 8
    code = "rows = open('in.csv').read().split()\nopen('out.txt', 'w').write(rows[-1])"
    ran = await house.call(Tool.CODE_EXECUTE, language=Language.PYTHON, code=code, sandbox_id=id)
    assert ran.status is Status.FINISHED, ran
    assert ran.result is not None and any("kept between runs" in one for one in ran.result.meta.protections)
    (started,) = [event for event in house.heard if isinstance(event, RunStarted)]
    assert started.protections == ran.result.meta.protections, "those of the chosen sandbox were named"
    read = await house.call(Tool.CODE_READ_FILE, sandbox_id=id, file_path="out.txt")
    assert read.facts is not None and read.facts["content"] == "1,2"
    assert read.text().endswith("content:\n1,2")
    listed = await house.call(Tool.CODE_LIST_FILES, sandbox_id=id, file_path="/workspace")
    assert "in.csv  file  8" in listed.text()
    shell = await house.call(Tool.CODE_EXECUTE, language=Language.SHELL, code="cat *.txt", sandbox_id=id)
    assert shell.result is not None and shell.result.stdout == "1,2"
    removed = await house.call(Tool.CODE_DESTROY_SANDBOX, sandbox_id=id)
    assert removed.status is Status.FINISHED
    assert house.engine.sandboxes.listed() == ()
    with pytest.raises(Refused):
        await house.call(Tool.CODE_READ_FILE, sandbox_id=id, file_path="out.txt")


async def test_levels_and_who_decided(house: House) -> None:
    id = await house.create()
    calls = (
        (Level.MEDIUM, Decider.PERSON, Tool.CODE_WRITE_FILE, {"file_path": "a.txt", "content": "x"}),
        (Level.HIGH, Decider.PERSON, Tool.CODE_WRITE_FILE, {"file_path": "a.py", "content": "print(1)"}),
        (Level.MEDIUM, Decider.PERSON, Tool.CODE_READ_FILE, {"file_path": "a.txt"}),
        (Level.MEDIUM, Decider.PERSON, Tool.CODE_LIST_FILES, {"file_path": "."}),
        (Level.LOW, Decider.RULE, Tool.CODE_DESTROY_SANDBOX, {}),
    )
    for level, decider, tool, given in calls:
        answer = await house.call(tool, sandbox_id=id, **given)
        assert (house.level(answer.request_id), answer.decision.by) == (level, decider), tool
        assert answer.status is Status.FINISHED, answer


async def test_what_a_file_holds_is_for_the_agent_and_not_for_the_history(house: House) -> None:
    id = await house.create()
    await house.call(Tool.CODE_EXECUTE, language=Language.SHELL, code="echo pass''word > a", sandbox_id=id)
    answer = await house.call(Tool.CODE_READ_FILE, sandbox_id=id, file_path="a")
    assert "password" in answer.text()
    await house.engine.close("to look")
    assert b"password" not in house.places.ledger.read_bytes()
    assert verify(house.places.ledger).ok
    history = History(house.places.ledger)
    try:
        record = history.case(answer.request_id)
        assert record is not None
        assert '"sha256"' in str(record.steps) or "sha256" in str(record.steps)
    finally:
        history.close()


async def test_denied_means_nothing_was_touched(house: House) -> None:
    id = await house.create()
    house.says = Verdict.DENIED
    answer = await house.call(Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="a", content="x")
    assert answer.status is Status.DENIED
    house.says = Verdict.APPROVED
    listed = await house.call(Tool.CODE_LIST_FILES, sandbox_id=id, file_path=".")
    assert listed.facts is not None and listed.facts["entries"] == []


async def test_another_agent_does_not_find_it(house: House) -> None:
    id = await house.create()
    for tool, given in (
        (Tool.CODE_READ_FILE, {"file_path": "a"}),
        (Tool.CODE_DESTROY_SANDBOX, {}),
        (Tool.CODE_EXECUTE, {"language": Language.PYTHON, "code": "print(1)"}),
    ):
        with pytest.raises(Refused, match="no sandbox"):
            await house.call(tool, agent="codex", sandbox_id=id, **given)
    assert len(house.engine.sandboxes.listed()) == 1


@pytest.mark.parametrize(
    "path",
    ["../a", "/etc/passwd", "a/../../b", "/workspace/../a", "/workspacex/a", "", " ", "a\nb", "a\x1b[2J", "a\u202eb",
     "a\u200bb", "x" * 256, "a/" * 40 + "b", "/workspace", "."],
)  # fmt: skip
async def test_a_path_that_leads_out_is_refused_before_anybody_is_asked(house: House, path: str) -> None:
    id = await house.create()
    for tool in (Tool.CODE_READ_FILE, Tool.CODE_WRITE_FILE):
        with pytest.raises(Refused):
            await house.call(tool, sandbox_id=id, file_path=path, content="x")
    assert not any(isinstance(event, QuestionAsked) for event in house.heard)


async def test_a_link_made_between_approval_and_use_is_not_followed(house: House) -> None:
    """What was approved names a place; what stands there when it is done decides nothing."""
    id = await house.create()
    house.says = None
    ticket = await house.engine.submit(
        Submission("claude", Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="d/a", content="x")
    )
    await house.until(house.engine.desk.waiting)
    workspace = next(house.folder.glob("run-*/workspace"))
    outside = house.folder / "outside"
    outside.mkdir()
    (workspace / "d").symlink_to(outside)
    question = house.engine.desk.waiting()[0]
    house.engine.answer(question.request_id, question.digest, Verdict.APPROVED, "")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.status is Status.FAILED
    assert "link" in answer.text()
    assert not list(outside.iterdir())


async def test_nothing_done_in_a_kept_sandbox_is_remembered(house: House) -> None:
    """The same code may meet other files the next time."""
    id = await house.create()
    house.says = None
    given = {"language": Language.SHELL, "code": "cat run.sh", "sandbox_id": id}
    ticket = await house.engine.submit(Submission("claude", Tool.CODE_EXECUTE, **given))  # type: ignore[arg-type]
    await house.until(house.engine.desk.waiting)
    question = house.engine.desk.waiting()[0]
    with pytest.raises(KnownError, match="may have changed"):
        await house.engine.remembering.add(question.request_id, question.digest, Choice(Subject.EXACT, uses=1))
    house.engine.answer(question.request_id, question.digest, Verdict.DENIED, "")
    await ticket.answered(HANGS)


async def test_limits_are_those_of_the_sandbox(house: House) -> None:
    id = await house.create(replace(CREATE, memory_mb=100, disk_mb=5))
    with pytest.raises(Refused, match="when it is created"):
        await house.call(Tool.CODE_EXECUTE, language=Language.PYTHON, code="print(1)", sandbox_id=id, memory_mb=4000)
    ran = await house.call(Tool.CODE_EXECUTE, language=Language.PYTHON, code="print(1)", sandbox_id=id, timeout=3.0)
    assert ran.result is not None
    limits = ran.result.meta.limits
    assert (limits.memory_mb, limits.disk_mb, limits.seconds) == (100, 5, 3.0)


async def test_another_language_is_refused(house: House) -> None:
    id = await house.create()
    with pytest.raises(Refused, match="python and shell"):
        await house.call(Tool.CODE_EXECUTE, language=Language.JAVASCRIPT, code="1", sandbox_id=id)


async def test_an_agent_keeps_so_many_and_no_more(house: House) -> None:
    house.set(sandboxes_per_agent=2, sandboxes=3)
    for _ in range(2):
        await house.create()
    with pytest.raises(Refused, match="keep 2"):
        await house.create()
    await house.create(replace(CREATE, agent="codex"))
    with pytest.raises(Refused, match="3 sandboxes"):
        await house.create(replace(CREATE, agent="gemini"))


async def test_sandboxes_that_are_being_made_count_too(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    house.set(sandboxes_per_agent=2)
    opened = LocalSandbox.open

    async def slow(sandbox: LocalSandbox, language: Language, limits: Limits, image: str, agent: str) -> LocalSession:
        await asyncio.sleep(0.2)  # as a container takes; where it is too short, the others are refused all the same
        return await opened(sandbox, language, limits, image, agent)

    monkeypatch.setattr(LocalSandbox, "open", slow)
    tickets = [await house.engine.submit(CREATE) for _ in range(5)]
    answers = await asyncio.gather(*(ticket.answered(HANGS) for ticket in tickets))
    assert sum(answer is not None and answer.status is Status.FINISHED for answer in answers) == 2


async def test_one_thing_at_a_time_happens_in_a_sandbox(house: House) -> None:
    id = await house.create()
    code = "import os, time\nassert not os.path.exists('busy')\nopen('busy','w')\ntime.sleep(0.1)\nos.remove('busy')"
    calls = [house.call(Tool.CODE_EXECUTE, language=Language.PYTHON, code=code, sandbox_id=id) for _ in range(4)]
    for answer in await asyncio.gather(*calls):
        assert answer.status is Status.FINISHED, answer


async def test_it_is_removed_when_nobody_uses_it(house: House) -> None:
    house.set(sandbox_unused_seconds=0.05)
    await house.create()
    await house.until(lambda: isinstance(house.heard[-1], SandboxesChanged) and not house.heard[-1].kept)
    assert not list(house.folder.glob("run-*"))


async def test_it_is_removed_when_its_time_is_over_whatever_runs_in_it(house: House) -> None:
    id = await house.create()
    code = "import time; time.sleep(60)"
    given = Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, code, sandbox_id=id)
    ticket = await house.engine.submit(given)
    await house.until(lambda: any(isinstance(event, RunMeasured) for event in house.heard))
    one = house.engine.sandboxes._open[id]
    one.ends_for_good = 0.0
    house.engine.sandboxes._wind(one, in_use=True)
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.status is Status.FAILED
    assert answer.result is not None and "destroyed" in answer.result.error
    await house.until(lambda: not house.engine.sandboxes.listed())


async def test_time_in_which_the_machine_sleeps_counts(house: House) -> None:
    id = await house.create()
    slept = 20 * 60
    expiry = house.engine.sandboxes._open[id].expiry
    assert house.engine.sandboxes._clock is expiry._clock is since_boot
    house.engine.sandboxes._clock = expiry._clock = lambda: since_boot() + slept
    house.engine._timekeeping._awoke()
    await house.call(Tool.CODE_LIST_FILES, sandbox_id=id, file_path=".")
    slept = 51 * 60
    house.engine._timekeeping._awoke()
    await house.until(lambda: not house.engine.sandboxes.listed())


async def test_revoking_its_agent_removes_it(house: House) -> None:
    await house.engine.membership.add("claude")
    await house.create()
    await house.engine.membership.revoke("claude")
    assert house.engine.sandboxes.listed() == ()
    assert not list(house.folder.glob("run-*"))


async def test_a_late_approval_ends_with_its_sandbox_and_runs_in_no_other(house: House) -> None:
    made = await house.call(Tool.CODE_CREATE_SANDBOX, language=Language.PYTHON)
    id = str((made.facts or {})["sandbox_id"])
    ticket = await missed(house, id)
    digest = ticket.case.request.digest
    assert await house.engine.late.arm(ticket.request_id, digest) == ""
    await house.engine.sandboxes.remove(id, "Removed by a person.")
    assert ApprovalSpent(ticket.request_id, used=False) in house.heard
    with pytest.raises(Refused, match="You have no sandbox"):
        await house.engine.submit(Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, "1", sandbox_id=id))
    assert await house.engine.late.arm(ticket.request_id, digest) == GONE
    await house.engine.close("over")
    record = record_in(house.places.ledger, ticket.request_id)
    whys = [step.body["why"] for step in record.steps if step.entry.kind == DROPPED and isinstance(step.body, dict)]
    assert whys == ["its sandbox was removed"]
    assert not any(isinstance(event, RunStarted) for event in house.heard)


async def test_a_sandbox_that_is_removed_while_a_late_approval_is_written_takes_it_back(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    pen = Pen(monkeypatch)
    made = await house.call(Tool.CODE_CREATE_SANDBOX, language=Language.PYTHON)
    id = str((made.facts or {})["sandbox_id"])
    ticket = await missed(house, id)
    pen.held.add(ARMED)
    arming = spawn("arm", house.engine.late.arm(ticket.request_id, ticket.case.request.digest))
    while not pen.waiting[ARMED]:
        await asyncio.sleep(0)
    removing = spawn("remove", house.engine.sandboxes.remove(id, "Removed by a person."))
    while house.engine.sandboxes.holds(id):
        await asyncio.sleep(0)
    pen.go()
    assert await arming == GONE
    await removing
    assert house.engine.late.drop("over") == 0, "none is in force"


async def test_a_full_sandbox_says_so(house: House) -> None:
    id = await house.create(replace(CREATE, disk_mb=1))
    answer = await house.call(Tool.CODE_EXECUTE, language=Language.SHELL, code="head -c 1040000 /dev/zero > a; :",
                              sandbox_id=id)  # fmt: skip
    written = await house.call(Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="b", content="x" * 100_000)
    assert written.status is Status.FAILED, answer
    assert "room" in written.text()


async def test_files_of_one_folder_and_ending_are_remembered_for_one_sandbox(house: House) -> None:
    id, other = await house.create(), await house.create()
    house.says = None
    asked = Submission("claude", Tool.CODE_READ_FILE, sandbox_id=id, file_path="data/a.csv")
    ticket = await house.engine.submit(asked)
    await house.until(house.engine.desk.waiting)
    question = house.engine.desk.waiting()[0]
    choice = Choice(Subject.FILES, uses=5, seconds=600.0)
    grant = await house.engine.remembering.add(question.request_id, question.digest, choice)
    assert (grant.pattern, grant.sandbox) == ("data/*.csv", id)
    house.engine.answer(question.request_id, question.digest, Verdict.DENIED, "")
    await ticket.answered(HANGS)
    house.says = Verdict.DENIED
    again = await house.call(Tool.CODE_READ_FILE, sandbox_id=id, file_path="/workspace/data/b.csv")
    assert again.decision.by is Decider.GRANT
    for tool, sandbox, path in (
        (Tool.CODE_READ_FILE, other, "data/a.csv"),
        (Tool.CODE_READ_FILE, id, "data/a.txt"),
        (Tool.CODE_READ_FILE, id, "data/deep/a.csv"),
        (Tool.CODE_READ_FILE, id, "a.csv"),
        (Tool.CODE_READ_FILE, id, "data/.csv"),
        (Tool.CODE_WRITE_FILE, id, "data/a.csv"),
        (Tool.CODE_LIST_FILES, id, "data"),
    ):
        answer = await house.call(tool, sandbox_id=sandbox, file_path=path)
        assert answer.decision.by is Decider.PERSON, (tool, path)
    await house.call(Tool.CODE_DESTROY_SANDBOX, sandbox_id=id)
    assert house.engine.parts.configuration.grants.all() == ()


async def test_what_is_written_is_weighed_whatever_was_remembered(house: House) -> None:
    id = await house.create()
    house.says = None
    ticket = await house.engine.submit(
        Submission("claude", Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="notes/a.txt", content="one")
    )
    await house.until(house.engine.desk.waiting)
    question = house.engine.desk.waiting()[0]
    await house.engine.remembering.add(question.request_id, question.digest, Choice(Subject.FILES, uses=50))
    house.engine.answer(question.request_id, question.digest, Verdict.APPROVED, "")
    await ticket.answered(HANGS)
    house.says = Verdict.DENIED
    for content, given, decider in (
        ("two", {}, Decider.GRANT),
        ("#!/bin/sh\nrm -rf ~", {}, Decider.PERSON),
        ("two", {"executable": True}, Decider.PERSON),
        ("two\u202e", {}, Decider.PERSON),
    ):
        answer = await house.call(
            Tool.CODE_WRITE_FILE, sandbox_id=id, file_path="notes/b.txt", content=content, **given
        )
        assert answer.decision.by is decider, content
