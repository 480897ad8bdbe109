"""Agents' code is read in processes of their own: what hangs, dies or talks nonsense there is CRITICAL and no more."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.model.assessment import Assessment, Level
from runner.model.difference import compare
from runner.model.request import KnownFile, Language
from runner.risk.assess import TOO_LARGE
from runner.risk.inputs.imported import Import
from runner.risk.tools.tools import weigh
from runner.risk.worker import calls, deadline
from runner.risk.worker.assessor import CLOSING, DEADLINE, MOST_PROCESSES, Assessor
from runner.risk.worker.calls import PATIENCE, Assessed, CallFailed, Garbage, Outline, pack, unpack
from runner.risk.worker.deadline import processor_seconds
from runner.risk.worker.process import Lost, WorkerProcess
from runner.system.tasks import spawn
from tests.stages.worker import STANDS_IN, StandIn, request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.asyncio
GUARD = 60.0
"""Seconds after which a test that hangs is ended."""
BOMBERS = ("first", "second", "third")
CALLS = 12
GENEROUS = 30.0
"""Deadline where none is to be overrun, however busy the machine is."""


@pytest_asyncio.fixture
async def assessor(tmp_path: Path) -> AsyncIterator[Assessor]:
    StandIn.made = []
    assessor = Assessor(tmp_path / "rules", functools.partial(StandIn, seconds=GENEROUS))
    async with asyncio.timeout(GUARD):
        yield assessor
        await assessor.close()


@pytest_asyncio.fixture
async def hasty(tmp_path: Path) -> AsyncIterator[Assessor]:
    StandIn.made = []
    assessor = Assessor(tmp_path / "rules", StandIn)
    async with asyncio.timeout(GUARD):
        yield assessor
        await assessor.close()


async def test_the_answer_is_that_of_the_classifier(assessor: Assessor, monkeypatch: pytest.MonkeyPatch) -> None:
    # On a busy machine a call may count as a long one, for which one more process is made ready.
    monkeypatch.setattr("runner.risk.worker.assessor.LONG", GUARD)
    for code in ("print(1)", "import os; os.system('rm -rf /')", "'\ud800\u202e'", "def f(:"):
        assert await assessor.assess(request(code)) == weigh(request(code))
    assert await assessor.outline(Language.PYTHON, "print(1)") == "print(\0)"
    assert await assessor.imported("import os\nimport json", agent="a") == (Import("os", 1), Import("json", 2))
    assert await assessor.compare("a\nb", "a\nc") == compare("a\nb", "a\nc")
    assert len(StandIn.made) == 1


async def test_what_does_not_end_is_critical_and_the_next_call_works(hasty: Assessor) -> None:
    for code in ("HANG", "SLOW"):
        assessment = await hasty.assess(request(code))
        assert (assessment.level, assessment.reasons) == (Level.CRITICAL, (TOO_LARGE,))
        assert [finding.id for finding in assessment.findings] == ["risk.too-large"]
        assert (await hasty.assess(request("print(1)"))).level is Level.HIGH
    assert await hasty.outline(Language.PYTHON, "HANG") == ""
    assert await hasty.imported("HANG", agent="a") is None
    assert await hasty.compare("HANG", "") == ()


@pytest.mark.parametrize("code", ["EXIT", "WRONG", "LOW", "MEMORY"])
@pytest.mark.errors_expected
async def test_what_dies_or_says_what_cannot_be_is_critical(assessor: Assessor, code: str) -> None:
    assert (await assessor.assess(request(code))).level is Level.CRITICAL
    assert (await assessor.assess(request("print(1)"))).level is Level.HIGH


@pytest.mark.errors_expected
async def test_a_bug_of_the_classifier_is_critical_and_logged(
    assessor: Assessor, caplog: pytest.LogCaptureFixture
) -> None:
    assert (await assessor.assess(request("BUG"))).level is Level.CRITICAL
    assert "ValueError: a bug" in caplog.text


async def test_a_process_that_is_held_up_gets_more_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stopped has had no processor time; the second look, at the deadline, finds that and wakes it."""
    process = StandIn(tmp_path, 1.0)
    looks: list[float | None] = []

    def look(pid: int) -> float | None:
        looks.append(processor_seconds(pid))
        if len(looks) > 1:
            os.kill(pid, signal.SIGCONT)
        return looks[-1]

    async with asyncio.timeout(GUARD):
        await process.start()
        os.kill(process.pid, signal.SIGSTOP)  # before it is asked: it may answer sooner than the first look
        monkeypatch.setattr(deadline, "processor_seconds", look)
        answer = await process.ask(calls.Assess(request("print(1)")), Assessed)
        await process.end()
    assert isinstance(answer, Assessed) and len(looks) >= 2
    assert None not in looks


async def test_a_process_that_stays_stopped_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process = StandIn(tmp_path, 0.5)
    looks: list[float | None] = []
    monkeypatch.setattr(deadline, "processor_seconds", lambda pid: looks.append(processor_seconds(pid)) or looks[-1])
    async with asyncio.timeout(GUARD):
        await process.start()
        os.kill(process.pid, signal.SIGSTOP)
        with pytest.raises(Lost, match="in time"):
            await process.ask(calls.Assess(request("print(1)")), Assessed)
        await process.end()
    assert 3 <= len(looks) <= 1 + 2 * PATIENCE, "time is given more than once, and not for ever"


async def test_a_process_that_burns_gets_its_deadline_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = StandIn(tmp_path, 0.4)
    looks: list[float] = []

    def look(pid: int) -> float:
        looks.append(processor_seconds(pid) or 0.0)
        return looks[-1]

    async with asyncio.timeout(GUARD):
        await process.start()
        monkeypatch.setattr(deadline, "processor_seconds", look)
        with pytest.raises(Lost, match="in time"):
            await process.ask(calls.Assess(request("HANG")), Assessed)
        await process.end()
    assert len(looks) > 1, "it was looked at before all patience was over"
    assert all(had - looks[0] < 0.2 for had in looks[1:-1]), "it was given up at the first look that found its share"


async def test_where_processor_time_is_not_known_the_deadline_is_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    monkeypatch.setattr(deadline, "processor_seconds", looks.append)
    process = StandIn(tmp_path, 0.2)
    async with asyncio.timeout(GUARD):
        await process.start()
        with pytest.raises(Lost, match="in time"):
            await process.ask(calls.Assess(request("SLOW")), Assessed)
        await process.end()
    assert len(looks) == 2
    assert processor_seconds(0) is None


async def test_a_killed_process_costs_one_request_at_most(assessor: Assessor) -> None:
    slow = spawn("slow", assessor.assess(request("SLOW")))
    while not StandIn.made or not StandIn.made[0].alive:
        await asyncio.sleep(0.01)
    os.kill(StandIn.made[0].pid, signal.SIGKILL)
    assert (await slow).level is Level.CRITICAL
    assert (await assessor.assess(request("print(1)"))).level is Level.HIGH
    idle = StandIn.made[-1]
    os.kill(idle.pid, signal.SIGKILL)
    while idle.alive:
        await asyncio.sleep(0.01)
    assert (await assessor.assess(request("print(1)"))).level is Level.HIGH, "one that died idle costs nothing"


async def test_processes_that_cannot_start_make_everything_critical_and_are_tried_again(tmp_path: Path) -> None:
    broken = functools.partial(StandIn, code="raise SystemExit(1)")
    nonsense = functools.partial(StandIn, code=STANDS_IN.replace('"GARBAGE" in sys.argv[0]', "True"))
    StandIn.made = []
    makers = iter((broken, nonsense))
    assessor = Assessor(tmp_path, lambda rules: next(makers, StandIn)(rules))
    async with asyncio.timeout(GUARD):
        levels = [(await assessor.assess(request("print(1)"))).level for _ in range(2)]
        assert len(StandIn.made) == 2, "no process is started that nobody asked for"
        levels.append((await assessor.assess(request("print(1)"))).level)
        await assessor.close()
    assert levels == [Level.CRITICAL, Level.CRITICAL, Level.HIGH]


async def test_an_agent_with_bombs_holds_neither_other_agents_nor_the_person_up(tmp_path: Path) -> None:
    """However long the deadline of a bomb is; here it is as long as the two others may take on a busy machine."""
    StandIn.made = []
    hasty = Assessor(tmp_path / "rules", functools.partial(StandIn, seconds=GENEROUS))
    ended: list[str] = []

    async def one(name: str, code: str, *, person: bool = False) -> None:
        await hasty.assess(request(code, name), person=person)
        ended.append("person" if person else name)

    bombs = [spawn("bomb", one("bomber", "HANG")) for _ in range(3)]
    async with asyncio.timeout(GUARD):
        await asyncio.gather(one("other", "print(1)"), one("bomber", "print(1)", person=True))
    assert sorted(ended) == ["other", "person"]
    assert len(hasty._processes) <= MOST_PROCESSES
    await hasty.close()
    await asyncio.gather(*bombs)


async def test_three_agents_with_bombs_leave_a_place_to_the_fourth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose code has taken long is known, and no deadline ends a bomb before the test is over."""
    # On a busy machine the calls of the fourth may count as long ones, too.
    monkeypatch.setattr("runner.risk.worker.consumption.LONG", GUARD)
    monkeypatch.setattr("runner.risk.worker.assessor.LONG", GUARD)
    StandIn.made = []
    assessor = Assessor(tmp_path / "rules", lambda rules: StandIn(rules, 3600))
    for name in BOMBERS:
        assessor._consumption.condemn(name)
    bombs = [spawn(name, assessor.assess(request("HANG", name))) for name in BOMBERS * 3]
    async with asyncio.timeout(GUARD):
        for _ in range(CALLS):
            assert (await assessor.assess(request("print(1)", "honest"))).level is Level.HIGH
            assert len(assessor._turns._served) <= 1, "they share one place"
        assert not any(bomb.done() for bomb in bombs)
        await assessor.close()
        assert {one.reasons for one in await asyncio.gather(*bombs)} == {(CLOSING,)}


async def test_bombs_that_fill_every_place_at_once_make_way(tmp_path: Path) -> None:
    """Nobody is known to be costly yet, and no deadline ends a bomb before the test is over."""
    StandIn.made = []
    assessor = Assessor(tmp_path / "rules", lambda rules: StandIn(rules, 3600))
    bombs = [spawn(name, assessor.assess(request("HANG", name))) for name in BOMBERS]
    async with asyncio.timeout(GUARD):
        await asyncio.sleep(0)
        for _ in range(CALLS):
            assert (await assessor.assess(request("print(1)", "honest"))).level is Level.HIGH
        assert not any(bomb.done() for bomb in bombs)
        assert len(StandIn.made) <= MOST_PROCESSES + len(BOMBERS) - 1, "each of them is broken off once at most"
        await assessor.close()
        assert [one.reasons for one in await asyncio.gather(*bombs)] == [(CLOSING,)] * len(BOMBERS)


async def test_what_was_broken_off_is_read_later(tmp_path: Path) -> None:
    """A heavy text of an honest agent that met bombs."""
    StandIn.made = []
    assessor = Assessor(tmp_path / "rules", functools.partial(StandIn, seconds=3.0))
    async with asyncio.timeout(GUARD):
        bomb = spawn("bomb", assessor.assess(request("HANG", "bomber")))
        heavy = spawn("heavy", assessor.assess(request("WAIT1", "heavy")))
        await asyncio.sleep(0)
        assert (await assessor.assess(request("print(1)", "honest"))).level is Level.HIGH
        assert (await heavy).level is Level.HIGH
        assert (await bomb).level is Level.CRITICAL
        await assessor.close()


async def test_time_in_which_the_machine_holds_a_call_up_makes_nobody_costly(
    assessor: Assessor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WAIT1 takes a second by the clock and hardly any of the processor."""
    monkeypatch.setattr("runner.risk.worker.consumption.COSTLY", 0.9)
    assert (await assessor.assess(request("WAIT1", "honest"))).level is Level.HIGH
    assert not assessor._consumption.costly("honest")
    monkeypatch.setattr(WorkerProcess, "processor_seconds", None)  # where it is not known the clock counts
    assert (await assessor.assess(request("WAIT1", "honest"))).level is Level.HIGH
    assert assessor._consumption.costly("honest")


async def test_closing_ends_what_is_being_read_at_once(tmp_path: Path) -> None:
    StandIn.made = []
    assessor = Assessor(tmp_path, lambda rules: StandIn(rules, 3600))
    waiting = [spawn("hang", assessor.assess(request("HANG"))) for _ in range(3)]
    while not StandIn.made or not StandIn.made[0].alive:
        await asyncio.sleep(0.01)
    pid = StandIn.made[0].pid
    async with asyncio.timeout(GUARD):
        await assessor.close()
        assert [one.reasons for one in await asyncio.gather(*waiting)] == [(CLOSING,)] * 3
        assert (await assessor.assess(request("print(1)"))).level is Level.CRITICAL
    assert not Path(f"/proc/{pid}").exists()
    await assessor.close()


async def test_the_persons_own_rules_count_and_are_read_again(tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    assessor = Assessor(rules, functools.partial(StandIn, seconds=GENEROUS))
    heard: list[tuple[str, ...]] = []
    assessor.listen(heard.append)
    deploy = replace(request("deploy --now"), language=Language.SHELL)

    async def found() -> bool:
        return "own.deploy" in [finding.id for finding in (await assessor.assess(deploy)).findings]

    async with asyncio.timeout(GUARD):
        assert not await found()
        (rules / "own.yaml").write_text(OWN)
        assert not await found(), "what is saved counts when it is taken up"
        assessor.reload()
        assert await found()
        (rules / "own.yaml").write_text("nonsense")
        assessor.reload()
        assert not await found()
        await assessor.close()
    # A call that takes long on a busy machine has one more process made ready.
    assert heard[0] == () and {len(problems) for problems in heard} == {0, 1}


async def test_no_process_outlives_a_console_that_is_killed(tmp_path: Path) -> None:
    console = subprocess.Popen([sys.executable, "-c", CONSOLE, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert console.stdout is not None
    pid = int(console.stdout.readline())
    process = os.pidfd_open(pid)
    console.kill()
    console.wait()
    console.stdout.close()
    # Readable once it has ended, although it is inside a match that lasts for ever.
    ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().add_reader(process, lambda: ended.done() or ended.set_result(None))
    async with asyncio.timeout(GUARD):
        await ended
    asyncio.get_running_loop().remove_reader(process)
    os.close(process)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"Assessed"',
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"kind":"Assessed"}',
        b'{"kind":"Outlined","values":{"outline":""}}',
        b'{"kind":"Assessed","values":{"assessment":{"level":"NONE","reasons":[]}}}',
        b'{"kind":"Assessed","values":{"assessment":{"level":"HIGH","reasons":"x"}}}',
        b'{"kind":["Assessed"],"values":{}}',
    ],
)
async def test_what_is_no_answer_is_never_taken_for_one(body: bytes) -> None:
    with pytest.raises(Garbage):
        unpack(Assessed, body)


async def test_what_is_large_is_packed_beside_the_loop(assessor: Assessor, monkeypatch: pytest.MonkeyPatch) -> None:
    where: list[bool] = []
    here = threading.current_thread()

    def packed(message: calls.Call) -> bytes:
        where.append(threading.current_thread() is here)
        return pack(message)

    monkeypatch.setattr("runner.risk.worker.process.pack", packed)
    files = tuple(KnownFile(f"{number}.py", "x = 1\n" * 1000) for number in range(20))
    assert await assessor.used(Language.PYTHON, "print(1)", files[:1], agent="a") == ()
    assert await assessor.used(Language.PYTHON, "import os", files, agent="a") == ()
    assert await assessor.compare("a" * 20_000, "b")
    assert where == [True, False, False]


async def test_messages_come_out_as_they_went_in() -> None:
    for message in (Outline(None, "\ud800\0\n"), calls.Assess(request("x"))):
        assert calls.unpack_call(pack(message)[calls.HEADER.size :]) == message
    answer = Assessed(Assessment(Level.HIGH, ("why",)))
    assert unpack(Assessed, pack(answer)[calls.HEADER.size :]) == answer
    assert unpack(Assessed, pack(CallFailed("why"))[calls.HEADER.size :]) == CallFailed("why")


async def test_the_real_processes_have_the_deadline(tmp_path: Path) -> None:
    """The one that the engine uses, with the code of this process and nothing from its surroundings."""
    assessor = Assessor(tmp_path)
    made = assessor._make(tmp_path)
    assert made._seconds == DEADLINE
    async with asyncio.timeout(GUARD):
        assert (await assessor.assess(request("print(1)"))).level is Level.HIGH
        process = next(iter(assessor._processes))
        while sorted(link.partition(":")[0] for link in _open_in(process.pid) if link != "/dev/null") != ["socket"]:
            await asyncio.sleep(0.01)  # it may just be importing a part that is needed late
        assert len(_open_in(process.pid)) <= 5
        await assessor.close()


def _open_in(pid: int) -> list[str]:
    """What a process has open; without what it closes in this moment."""
    links = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            links.append(os.readlink(path))
    return links


OWN = """\
schema: 1
rules:
  - id: own.deploy
    when: command
    name: deploy
    level: critical
    capability: starts processes
    reason: Puts a version into production.
"""
CONSOLE = """\
import asyncio, sys
from pathlib import Path
from runner.model.request import Language, Request, Tool
from runner.risk.worker.assessor import Assessor
from tests.stages.worker import StandIn
async def main():
    assessor = Assessor(Path(sys.argv[1]), lambda rules: StandIn(rules, 3600))
    hangs = Request("", "a", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "HANG")
    work = asyncio.get_running_loop().create_task(assessor.assess(hangs))
    while not (StandIn.made and StandIn.made[0].alive and not assessor._idle and not assessor._starting):
        await asyncio.sleep(0.01)
    print(StandIn.made[0].pid, flush=True)
    await work
asyncio.run(main())
"""
