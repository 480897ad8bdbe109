"""Apply, Undo and Discard by the engine: what is checked, what is recorded, and what a kill leaves."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.approval.modes import LOCKDOWN_CHOSEN
from runner.assembly import build
from runner.audit.history.work import open_deeds
from runner.audit.ledger.ledger import LedgerFailed
from runner.audit.ledger.verify import verify
from runner.engine.work import deeds
from runner.engine.work.facts import MOST_PATHS
from runner.model.errors import KnownError
from runner.settings.loading import load
from runner.system.tasks import spawn
from runner.workspace import apply, undo
from runner.workspace.change import digest
from runner.workspace.working_copy import WorkingCopy
from tests.engine.test_at_work import FakeProgram, a_copy, session_of
from tests.workspace.trees import look, work

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.engine.foundation.recorder import Recorder
    from runner.workspace.change import ProjectChange
    from runner.workspace.progress import Report, WriteProgress
    from tests.stages.kept import House

pytestmark = pytest.mark.asyncio
ROOT = Path(__file__).resolve().parents[2]


def recorded(ledger: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return kind and body of what the ledger has of work, oldest first."""
    with closing(sqlite3.connect(ledger)) as connection:
        found = connection.execute(
            "SELECT kind, data FROM entries JOIN bodies USING (seq) WHERE kind LIKE 'work-%' ORDER BY seq"
        )
        return [(kind, json.loads(data)) for kind, data in found]


def kinds(house: House) -> list[str]:
    return [kind for kind, _ in recorded(house.places.ledger)]


async def changed(house: House, copy: WorkingCopy, what: str = "echo n >new; echo p >>a") -> tuple[ProjectChange, ...]:
    work(copy, what)
    return (await house.engine.work.changes(copy.name)).changes


# ---- what is done and recorded ----


async def test_what_is_applied_is_recorded_first_with_its_hashes(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = a_copy(house, tmp_path)
    wanted = await changed(house, copy)
    really, seen = apply.write, []

    def write(*given: Any, **more: Any) -> apply.Applied:
        seen.append(kinds(house))
        return really(*given, **more)

    monkeypatch.setattr(apply, "write", write)
    done = await house.engine.work.apply(copy.name, wanted, digest(wanted))
    assert done.paths == 2 and (copy.project / "new").read_text() == "n\n"
    assert seen == [["work-apply"]], "durable before the first byte"
    (_, before), (kind, after) = recorded(house.places.ledger)
    assert kind == "work-applied" and after["number"] == before["number"] and after["paths"] == 2
    assert before["digest"] == digest(wanted) and before["by"] == "person"
    assert (before["name"], before["project"], before["program"]) == (copy.name, str(copy.project), ["claude"])
    rows = {row["path"]: row for row in before["paths"]}
    assert rows["a"]["how"] == "changed" and rows["new"]["before"] == ""
    assert rows["a"]["before"] != rows["a"]["after"] and len(rows["a"]["before"]) == len(rows["a"]["after"]) == 64
    assert (await session_of(house, copy.name)).can_undo

    await house.engine.work.undo(copy.name)
    assert not (copy.project / "new").exists() and (copy.project / "a").read_text() == "a\n"
    assert not (await session_of(house, copy.name)).can_undo
    await house.engine.work.discard(copy.name)
    assert house.engine.work.sessions() == () and not copy.folder.exists()
    assert kinds(house)[2:] == ["work-undo", "work-undone", "work-discard", "work-discarded"]
    await house.engine.close("to look")
    assert verify(house.places.ledger).ok


async def test_a_part_may_be_applied_and_many_are_not_all_named(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    wanted = await changed(
        house, copy, f"mkdir node_modules; touch node_modules/{{1..{MOST_PATHS + 50}}}; echo x >Makefile"
    )
    part = tuple(one for one in wanted if one.path != b"Makefile")
    await house.engine.work.apply(copy.name, part, digest(part))
    assert not (copy.project / "Makefile").exists()
    body = recorded(house.places.ledger)[0][1]
    assert len(body["paths"]) == MOST_PATHS and body["changes"] == len(part)
    assert body["not_named"] == {"node_modules": len(part) - MOST_PATHS}


async def test_only_what_was_looked_at_is_applied(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    wanted = await changed(house, copy)
    before = look(copy.project)
    for given, said in ((wanted, "0" * 64), (wanted[:1], digest(wanted)), (wanted + wanted[:1], digest(wanted))):
        with pytest.raises(KnownError, match="not those that you looked at"):
            await house.engine.work.apply(copy.name, given, said)
    with pytest.raises(KnownError, match="No change was chosen"):
        await house.engine.work.apply(copy.name, (), digest(()))
    work(copy, "echo m >new")
    with pytest.raises(KnownError, match="not those that you looked at"):
        await house.engine.work.apply(copy.name, wanted, digest(wanted))
    now = (await house.engine.work.changes(copy.name)).changes
    (copy.project / "a").write_text("mine")
    conflicting = (await house.engine.work.changes(copy.name)).changes
    assert digest(now) != digest(conflicting)
    with pytest.raises(KnownError, match="conflict"):
        await house.engine.work.apply(copy.name, conflicting, digest(conflicting))
    mine: dict[bytes, Any] = {b"a": None, b"hard": None}
    assert kinds(house) == [] and {**before, **mine} == {**look(copy.project), **mine}


async def test_two_at_once_are_one(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    wanted = await changed(house, copy)
    both = await asyncio.gather(
        *(house.engine.work.apply(copy.name, wanted, digest(wanted)) for _ in range(2)), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in both) == ["Applied", "KnownError"]
    assert kinds(house).count("work-applied") == 1
    assert not open_deeds(house.places.ledger)


async def test_a_working_copy_in_use_is_not_discarded(house: House, tmp_path: Path) -> None:
    program = FakeProgram(a_copy(house, tmp_path))
    with contextlib.closing(program), program.running(), pytest.raises(KnownError, match="still running"):
        await house.engine.work.discard(program.copy.name)
    assert "work-discard" not in kinds(house) and program.copy.folder.exists()
    await house.engine.modes.lock()
    await house.engine.work.discard(program.copy.name)


async def test_parts_of_a_file_are_applied_exactly_and_taken_back(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    lines = [f"{number}\n" for number in range(60)]
    (copy.project / "lines").write_text("".join(lines))
    copy = WorkingCopy.make(house.places.work, copy.project, ("sh",))
    (change,) = await changed(house, copy, "sed -i 's/^3$/three/; s/^40$/forty/' lines")
    at_work = house.engine.work
    part = await at_work.part(copy.name, change, {2})
    for numbers, said in (({2}, digest((change,))), ({1}, digest((part,))), ({1, 2}, digest((part,)))):
        with pytest.raises(KnownError, match="not those that you looked at"):
            await at_work.apply(copy.name, (part,), said, {b"lines": numbers})
    with pytest.raises(KnownError, match="not those that you looked at"):
        await at_work.apply(copy.name, (part,), digest((part,)))
    assert kinds(house) == []
    done = await at_work.apply(copy.name, (part,), digest((part,)), {b"lines": {2}})
    assert done.paths == 1
    now = (copy.project / "lines").read_text()
    assert "forty\n" in now and "\n3\n" in now and "three" not in now
    (_, body), _ = recorded(house.places.ledger)
    assert body["in_part"] == {"lines": [2]} and body["digest"] == digest((part,))
    (rest,) = (await at_work.changes(copy.name)).changes
    assert not rest.conflict
    await at_work.undo(copy.name)
    assert (copy.project / "lines").read_text() == "".join(lines)


async def test_a_part_of_what_was_written_to_since_is_not_applied(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    (copy.project / "lines").write_text("".join(f"{number}\n" for number in range(60)))
    copy = WorkingCopy.make(house.places.work, copy.project, ("sh",))
    (change,) = await changed(house, copy, "sed -i 's/^3$/three/; s/^40$/forty/' lines")
    part = await house.engine.work.part(copy.name, change, {2})
    work(copy, "sed -i 's/^forty$/evil/' lines")
    with pytest.raises(KnownError, match="cannot be read as it was"):
        await house.engine.work.part(copy.name, change, {2})
    with pytest.raises(KnownError, match="not those that you looked at"):
        await house.engine.work.apply(copy.name, (part,), digest((part,)), {b"lines": {2}})
    assert "evil" not in (copy.project / "lines").read_text()


# ---- the checkpoint ----


async def locked(house: House) -> None:
    await house.engine.modes.lock()


async def locked_and_lifted(house: House) -> None:
    await house.engine.modes.lock()
    await house.engine.modes.guard()


async def stopped(house: House) -> None:
    house.engine.stop_all("Everything was stopped.")


async def asked_for_the_pin(house: House) -> None:
    house.set(approve_by="pin")


async def unwritable(house: House) -> None:
    house.engine.trouble("ledger", "The disk is full.", "Free some space.")


async def closing_down(house: House) -> None:
    house.engine._closing.why = "Assent was closed."


ENDS = [locked, locked_and_lifted, stopped, asked_for_the_pin, unwritable, closing_down]


@pytest.mark.parametrize("ends", ENDS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("when", ["looking", "recording", "copying"])
@pytest.mark.parametrize("what", ["apply", "undo"])
async def test_what_ends_an_approval_ends_apply_and_undo_up_to_the_last_moment(
    house: House,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ends: Callable[[House], Awaitable[None]],
    when: str,
    what: str,
) -> None:
    copy = a_copy(house, tmp_path)
    wanted = await changed(house, copy)
    if what == "undo":
        await house.engine.work.apply(copy.name, wanted, digest(wanted))
    before, known = look(copy.project), len(kinds(house))
    loop = asyncio.get_running_loop()

    def end_now() -> None:
        asyncio.run_coroutine_threadsafe(ends(house), loop).result()

    if when == "looking":
        really_facts = deeds.facts_of

        def facts_of(*given: Any) -> dict[str, object]:
            end_now()
            return really_facts(*given)

        monkeypatch.setattr(deeds, "facts_of", facts_of)
    elif when == "recording":
        recorder = house.engine.work._record
        really_append = recorder.append

        async def append(kind: str, request_id: str, body: Any) -> None:
            await really_append(kind, request_id, body)
            if kind in ("work-apply", "work-undo"):
                monkeypatch.setattr(recorder, "append", really_append)
                await ends(house)

        monkeypatch.setattr(recorder, "append", append)
    else:
        really_staged = apply.staging._put if what == "apply" else apply.staging._linked

        def put(*given: Any) -> Any:
            end_now()
            return really_staged(*given)

        monkeypatch.setattr(apply.staging, "_put" if what == "apply" else "_linked", put)
    at_work = house.engine.work
    deed = at_work.apply(copy.name, wanted, digest(wanted)) if what == "apply" else at_work.undo(copy.name)
    with pytest.raises(KnownError):
        await deed
    assert look(copy.project) == before
    past = "applied" if what == "apply" else "undone"
    now = kinds(house)[known:]
    assert now == ([] if when == "looking" else [f"work-{what}", f"work-not-{past}"])
    house.engine._closing.why = ""
    house.set(approve_by="key")


async def test_a_deed_says_how_far_it_is_and_is_cancelled_before_it_writes_and_not_after(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = a_copy(house, tmp_path)
    wanted = await changed(house, copy)
    before, at_work, seen = look(copy.project), house.engine.work, []
    really = deeds.WorkDeeds._reporting
    cancels_when_sure = False

    def reporting(self: deeds.WorkDeeds, name: str, closed: Callable[[], str]) -> Report:
        report = really(self, name, closed)

        def both(progress: WriteProgress) -> None:
            report(progress)
            seen.append(at_work.progress(name))
            if progress.sure is cancels_when_sure:
                at_work.cancel(name)

        return both

    monkeypatch.setattr(deeds.WorkDeeds, "_reporting", reporting)
    with pytest.raises(KnownError, match="You cancelled it"):
        await at_work.apply(copy.name, wanted, digest(wanted))
    assert look(copy.project) == before and kinds(house) == ["work-apply", "work-not-applied"]
    assert at_work.progress(copy.name) is None
    cancels_when_sure = True
    seen.clear()
    done = await at_work.apply(copy.name, wanted, digest(wanted))
    assert done.paths == 2 and (copy.project / "new").exists()
    assert [one.sure for one in seen if one] == sorted(one.sure for one in seen if one)
    last = [one for one in seen if one and not one.sure][-1]
    assert (last.done, last.size) == (last.total, last.whole) and last.total == 2
    await at_work.discard(copy.name)
    assert not copy.folder.exists()


async def test_nothing_is_written_that_cannot_be_recorded(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = a_copy(house, tmp_path)
    wanted = await changed(house, copy)
    before = look(copy.project)
    await house.engine.modes.lock()
    with pytest.raises(KnownError) as caught:
        await house.engine.work.apply(copy.name, wanted, digest(wanted))
    assert caught.value.what == LOCKDOWN_CHOSEN
    await house.engine.modes.guard()
    recorder = house.engine.work._record

    async def append(*_given: Any) -> None:
        raise LedgerFailed("The disk is full.")

    with monkeypatch.context() as patched:
        patched.setattr(recorder, "append", append)
        with pytest.raises(LedgerFailed):
            await house.engine.work.apply(copy.name, wanted, digest(wanted))
    assert look(copy.project) == before
    await house.engine.work.apply(copy.name, wanted, digest(wanted))


async def test_with_a_pin_it_is_applied(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    wanted = await changed(house, copy)
    house.set(approve_by="pin")
    with pytest.raises(KnownError, match="PIN"):
        await house.engine.work.apply(copy.name, wanted, digest(wanted))
    await house.engine.work.apply(copy.name, wanted, digest(wanted), proven=True)


async def test_a_deed_goes_on_although_nobody_waits_for_it(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = a_copy(house, tmp_path)
    wanted = await changed(house, copy)
    asking = spawn("apply", house.engine.work.apply(copy.name, wanted, digest(wanted)))
    recorder: Recorder = house.engine.work._record  # type: ignore[assignment]
    really = recorder.append
    begun = asyncio.Event()

    async def append(kind: str, request_id: str, body: Any) -> None:
        await really(kind, request_id, body)
        begun.set()

    monkeypatch.setattr(recorder, "append", append)
    await begun.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await house.engine.work.close()
    assert kinds(house) == ["work-apply", "work-applied"]


# ---- kills ----

CONSOLE = """
import asyncio, os, signal, sys
from pathlib import Path
from runner.assembly import build
from runner.settings.loading import load
from runner.system.places import Places
from runner.workspace import apply, undo, working_copy
from runner.workspace.change import digest

root, name, what, when = sys.argv[1:]
places = Places.under(Path(root))


def end(*_given, **_more):
    os.kill(os.getpid(), signal.SIGKILL)


def after(really):
    def both(*given, **more):
        really(*given, **more)
        end()
    return both


async def main():
    engine = build(places, load(places, {}), ())
    await engine.start(gateway=False)
    if when == "nothing written":
        apply.staging.staged = end
    elif when == "journal written":
        apply.finish = end
    elif when == "all written":
        apply.write = after(apply.write)
    elif when == "removed":
        working_copy._remove = after(working_copy._remove)
    elif when == "not removed":
        working_copy._remove = end
    if what == "apply":
        wanted = (await engine.work.changes(name)).changes
        await engine.work.apply(name, wanted, digest(wanted))
    elif what == "undo":
        await engine.work.undo(name)
    else:
        await engine.work.discard(name)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("what", "when", "outcome"),
    [
        ("apply", "nothing written", "work-not-applied"),
        ("apply", "journal written", "work-applied"),
        ("apply", "all written", "work-applied"),
        ("undo", "nothing written", "work-not-undone"),
        ("undo", "journal written", "work-undone"),
        ("undo", "all written", "work-undone"),
        ("discard", "not removed", "work-discarded"),
        ("discard", "removed", "work-discarded"),
    ],
)
async def test_a_killed_console_leaves_what_the_next_one_records(
    house: House, tmp_path: Path, what: str, when: str, outcome: str
) -> None:
    copy = a_copy(house, tmp_path)
    old = look(copy.project)
    wanted = await changed(house, copy)
    if what == "undo":
        await house.engine.work.apply(copy.name, wanted, digest(wanted))
    await house.engine.close("for another console")
    begin = look(copy.project)
    root = house.places.config.parent
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", CONSOLE, str(root), copy.name, what, when],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert len(open_deeds(house.places.ledger)) == 1
    engine = build(house.places, load(house.places, {}), ())
    await engine.start(gateway=False)
    await engine.work.close()
    last_kind, body = recorded(house.places.ledger)[-1]
    assert last_kind == outcome and body["later"] and not open_deeds(house.places.ledger)
    now = look(copy.project)
    if when == "nothing written":
        assert now == begin
    elif what == "apply":
        assert now != begin and (copy.project / "new").read_text() == "n\n"
    else:
        assert now == old
    await engine.close("the test is over")


async def test_what_cannot_be_found_out_any_more_is_said_to_be_unknown(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    body = {"number": apply.new_number(), "name": copy.name}
    await house.engine.work._record.append("work-apply", "", body)
    copy.discard()
    await house.engine.work._deeds.settle()
    assert kinds(house) == ["work-apply", "work-unknown"]


async def test_a_full_disk_leaves_what_looking_again_ends(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = a_copy(house, tmp_path)
    wanted = await changed(house, copy)

    def full(*_given: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(apply, "_note_undo", full)
        with pytest.raises(KnownError, match="Not everything could be written: No space left"):
            await house.engine.work.apply(copy.name, wanted, digest(wanted))
        assert kinds(house) == ["work-apply"]
    assert (await house.engine.work.changes(copy.name)).changes == ()
    assert kinds(house) == ["work-apply", "work-applied"]


async def test_the_ledger_says_exactly_what_was_undone_and_what_was_left(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    work(copy, "echo n >new; echo p >>a")
    wanted = (await house.engine.work.changes(copy.name)).changes
    await house.engine.work.apply(copy.name, wanted, digest(wanted))
    assert not (await session_of(house, copy.name)).undone_in_part
    (copy.project / "a").write_text("mine")
    plan = await house.engine.work.undo_plan(copy.name)
    assert dict(plan.kept) == {b"a": undo.CHANGED}
    await house.engine.work.undo(copy.name, digest(plan.changes))
    assert (copy.project / "a").read_text() == "mine" and not (copy.project / "new").exists()
    begun, ended = recorded(house.places.ledger)[-2:]
    left = [{"path": "a", "why": undo.CHANGED}]
    assert (begun[0], ended[0]) == ("work-undo", "work-undone")
    assert [row["path"] for row in begun[1]["paths"] if row["path"] != "."] == ["new"]
    assert begun[1]["kept"] == ended[1]["kept"] == left and ended[1]["paths"] == len(begun[1]["paths"])
    with pytest.raises(KnownError, match="Nothing can be taken back"):
        await house.engine.work.undo(copy.name)
    assert recorded(house.places.ledger)[-1] == ended, "what was refused before anything is no deed"
    after = await session_of(house, copy.name)
    assert after.can_undo and after.undone_in_part


async def test_what_was_changed_after_the_look_is_not_undone_with_it(house: House, tmp_path: Path) -> None:
    copy = a_copy(house, tmp_path)
    work(copy, "echo n >new; echo p >>a")
    wanted = (await house.engine.work.changes(copy.name)).changes
    await house.engine.work.apply(copy.name, wanted, digest(wanted))
    seen = digest((await house.engine.work.undo_plan(copy.name)).changes)
    (copy.project / "a").write_text("mine")
    with pytest.raises(KnownError):
        await house.engine.work.undo(copy.name, seen)
    assert (copy.project / "new").exists()
