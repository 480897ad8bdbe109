"""`assent work` on the terminal: what it does is in the history, whether a console is open or not."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import threading
from typing import TYPE_CHECKING

import pytest

from app.history.work_words import work_words
from runner.assembly import build
from runner.commands import at_work, changes_question, cli
from runner.model.errors import KnownError
from runner.model.work import CommandSeen
from runner.model.work_entries import ON_TERMINALS
from runner.settings.loading import load
from runner.system.places import Places
from runner.work import control, deed_log, lockdown
from runner.work.control import ControlSocket
from runner.work.in_force import InForce
from runner.work.judging import Judging
from runner.work.lockdown import LockdownSign
from runner.work.log import NAME
from runner.workspace.working_copy import WorkingCopy
from tests.engine.test_at_work import FakeProgram
from tests.engine.test_work_deeds import recorded
from tests.patience import HANGS
from tests.workspace.trees import make
from tests.workspace.trees import work as working

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from runner.workspace.change import ProjectChange


@pytest.fixture
def places() -> Places:
    found = Places.standard()
    found.make()
    return found


@pytest.fixture
def copy(places: Places, tmp_path: Path) -> WorkingCopy:
    made = WorkingCopy.make(places.work, make(tmp_path / "project"), ("bash",))
    working(made, "echo n >new; echo p >>a")
    return made


@pytest.fixture(autouse=True)
def person(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A terminal is standard input."""
    ours, inside = os.openpty()
    with open(ours, "wb", buffering=0), open(inside) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield


def assent(*words: str) -> int:
    return cli.main(("work", *words))


async def recorded_by_a_console(places: Places) -> list[str]:
    engine = build(places, load(places, {}), ())
    await engine.start(gateway=False)
    await engine.work.look()
    await engine.close("the test is over")
    return [kind for kind, _ in recorded(places.ledger)]


@pytest.mark.asyncio
async def test_what_is_done_without_a_console_is_recorded_by_the_next_one_and_once(
    places: Places, copy: WorkingCopy
) -> None:
    assert assent("apply", copy.name, "new") == 0
    assert assent("undo", copy.name) == 0
    assert assent("discard", copy.name, "--yes") == 0
    assert not copy.folder.exists()
    expected = [
        *("work-apply", "work-applied", "work-undo", "work-undone"),
        *("work-discard", "work-discarded"),
    ]
    assert await recorded_by_a_console(places) == expected
    assert await recorded_by_a_console(places) == expected
    (_, first), (_, second), *_ = recorded(places.ledger)
    assert first["name"] == second["name"] == copy.name and first["number"] == second["number"]
    assert [row["path"] for row in first["paths"]] == ["new"] and len(first["digest"]) == 64
    assert first["at"] == "terminal"


@pytest.mark.asyncio
async def test_what_is_done_beside_an_open_console_is_recorded_by_it(places: Places, copy: WorkingCopy) -> None:
    engine = build(places, load(places, {}), ())
    await engine.start(gateway=False)
    assert assent("apply", copy.name) == 0
    await engine.work.look()
    assert [kind for kind, _ in recorded(places.ledger)] == ["work-apply", "work-applied"]
    await engine.close("the test is over")


@pytest.mark.asyncio
async def test_a_working_copy_in_which_nothing_changed_is_discarded_with_a_note(
    places: Places, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    same = WorkingCopy.make(places.work, make(tmp_path / "same"), ("true",))
    changes_question.decide(argparse.Namespace(), places, same, why="", told=0)
    assert capsys.readouterr().out == "assent: Nothing changed.\n" and not same.folder.exists()
    assert await recorded_by_a_console(places) == ["work-discard", "work-discarded"]
    for kind, body in recorded(places.ledger):
        what, by_person = work_words(kind, body, lambda name, body=body: str(body.get(name, "")))
        assert what.endswith(f"discarded: nothing had changed \N{MIDDLE DOT} {tmp_path / 'same'}") and not by_person


def test_nothing_is_done_that_cannot_be_noted(
    places: Places, copy: WorkingCopy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def note(*_given: object) -> None:
        raise KnownError("It cannot be noted for the history.")

    monkeypatch.setattr("runner.work.deed_log.note", note)
    assert assent("apply", copy.name) != 0
    assert not (copy.project / "new").exists() and copy.folder.exists()


@pytest.mark.parametrize("words", [("apply",), ("undo",), ("allow", "a.example"), ("run", "1"), ("as-it-goes", "on")])
def test_lockdown_and_the_pin_hold_on_the_terminal_too(
    places: Places, copy: WorkingCopy, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.commands.deeds.getpass.getpass", lambda _prompt: "no PIN")
    if words == ("undo",):
        copy.apply(copy.changes().changes)
    there = (copy.project / "new").exists()
    orders: list[str] = []
    given: dict[str, Callable[..., dict[str, object]]] = {
        do: lambda **_given: orders.append("order") or {} for do in ("open", "answer", "as_it_goes")
    }
    action, *rest = words
    with contextlib.closing(ControlSocket(control.place(places.runtime, copy.name), given)):
        sign = LockdownSign(places)
        sign.show(up=True)
        assert assent(action, copy.name, *rest) != 0
        sign.show(up=False)
        lockdown.require_open(places)
        places.settings.write_text("window: {approve_by: pin}\n")
        assert assent(action, copy.name, *rest) != 0
    assert orders == [] and (copy.project / "new").exists() == there


def test_what_was_applied_before_the_end_can_still_be_undone(
    places: Places, copy: WorkingCopy, capsys: pytest.CaptureFixture[str]
) -> None:
    copy.apply(copy.changes().changes)
    changes_question.decide(argparse.Namespace(), places, copy, why="", told=0)
    assert f"assent work undo {copy.name}" in capsys.readouterr().out
    assert assent("undo", copy.name) == 0 and not (copy.project / "new").exists()


@pytest.mark.parametrize("command", [["try"], ["work", "--keep"]])
def test_nothing_is_started_in_lockdown(
    places: Places, copy: WorkingCopy, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    sign = LockdownSign(places)
    sign.show(up=True)
    with contextlib.chdir(copy.project):
        assert cli.main([*command, "--", "touch", "begun"]) != 0
    sign.show(up=False)
    assert lockdown.LOCKED in capsys.readouterr().err and not (copy.project / "begun").exists()


@pytest.mark.asyncio
async def test_applying_as_it_goes_is_switched_and_recorded_from_the_terminal(
    places: Places, copy: WorkingCopy, capsys: pytest.CaptureFixture[str]
) -> None:
    orders: list[dict[str, object]] = []

    def order(**given: object) -> dict[str, object]:
        orders.append(given)
        return {}

    with contextlib.closing(ControlSocket(control.place(places.runtime, copy.name), {"as_it_goes": order})):
        assert assent("as-it-goes", copy.name, "on") == 0
        assert "by itself from now on" in capsys.readouterr().out
        sign = LockdownSign(places)
        sign.show(up=True)
        assert assent("as-it-goes", copy.name, "off") == 0, "off needs no word"
        sign.show(up=False)
    assert orders == [{"on": True}, {"on": False}]
    assert assent("as-it-goes", copy.name, "on") != 0
    found = ["work-as-it-goes", "work-as-it-goes", "work-as-it-goes", "work-not-as-it-goes"]
    assert await recorded_by_a_console(places) == found
    assert await recorded_by_a_console(places) == found
    bodies = [body for _, body in recorded(places.ledger)]
    assert [(body["on"], body["by"], body["at"]) for body in bodies[:2]] == [
        (True, "person", "terminal"),
        (False, "person", "terminal"),
    ]


def test_what_is_applied_as_it_goes_is_a_deed_of_its_own_in_the_history(places: Places, copy: WorkingCopy) -> None:
    told: list[tuple[bool, str]] = []
    moved = threading.Event()

    def tell(on: bool, why: str) -> None:
        told.append((on, why))
        moved.set()

    in_force = InForce(places, "sh")
    judging = Judging(places.config, in_force)
    judging.start()
    going = at_work._going(places, copy, judging, in_force, tell)
    going._quiet = 0.0
    really = going._apply

    def apply(wanted: Sequence[ProjectChange], ended: Callable[[], str]) -> object:
        done = really(wanted, ended)
        moved.set()
        return done

    going._apply = apply

    def until(holds: Callable[[], bool]) -> None:
        while not holds():
            assert moved.wait(HANGS)
            moved.clear()

    going.switch(on=True)
    until((copy.project / "new").exists)
    sign = LockdownSign(places)
    sign.show(up=True)
    working(copy, "echo more >more")
    until(lambda: len(told) == 2)
    sign.show(up=False)
    going.close()
    judging.close()
    assert told == [(True, ""), (False, lockdown.LOCKED)] and not (copy.project / "more").exists()
    assert asyncio.run(recorded_by_a_console(places)) == ["work-apply", "work-applied"]
    (_, body), _ = recorded(places.ledger)
    assert body["by"] == "as it goes" and {row["path"] for row in body["paths"]} == {"a", "new"}


@pytest.mark.parametrize("words", [("run", "7"), ("as-it-goes", "on")])
def test_without_a_terminal_nothing_is_let_happen(
    places: Places,
    copy: WorkingCopy,
    words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    orders: list[str] = []
    given: dict[str, Callable[..., dict[str, object]]] = {
        do: lambda **_given: orders.append("order") or {} for do in ("answer", "as_it_goes")
    }
    action, *rest = words
    with contextlib.closing(ControlSocket(control.place(places.runtime, copy.name), given)):
        with open(os.devnull) as nothing, monkeypatch.context() as here:
            here.setattr("sys.stdin", nothing)
            assert assent(action, copy.name, *rest) != 0
        assert "on a terminal, or on the page Work" in capsys.readouterr().err and orders == []
        assert not (places.work / deed_log.FOLDER).exists(), "and nothing is noted"
        assert assent(action, copy.name, *rest) == 0
    assert orders == ["order"]


def test_programs_at_work_are_told_from_the_terminal(
    places: Places, copy: WorkingCopy, capsys: pytest.CaptureFixture[str]
) -> None:
    program = FakeProgram(copy)
    program.log.add(CommandSeen(2.0, 7, "rm -rf ~\x1b]0;x\x07", "/p", level="CRITICAL", held=True))
    orders: list[tuple[str, dict[str, object]]] = []
    noted: list[str] = []

    def order(do: str) -> Callable[..., dict[str, object]]:
        def carry_out(**given: object) -> dict[str, object]:
            orders.append((do, given))
            noted.append((places.work / deed_log.FOLDER / NAME).read_text("utf-8").splitlines()[-1])
            return {}

        return carry_out

    given = {do: order(do) for do in ("open", "answer", "end")}
    with program.running(), contextlib.closing(ControlSocket(control.place(places.runtime, copy.name), given)):
        assert assent("list") == 0
        said = capsys.readouterr().out
        assert "7 is held: rm -rf ~" in said and "at work" in said and "\x1b" not in said
        assert assent("allow", copy.name, "A.example:8080") == 0
        assert assent("run", copy.name, "7") == assent("refuse", copy.name, "8") == assent("end", copy.name) == 0
    assert orders == [
        ("open", {"host": "a.example", "port": 8080, "private": "", "always": False}),
        ("answer", {"number": 7, "run": True, "why": ""}),
        ("answer", {"number": 8, "run": False, "why": ""}),
        ("end", {}),
    ]
    kinds = ["work-open", "work-answer", "work-answer", "work-answer"]
    assert all(kind in line for kind, line in zip(kinds, noted, strict=True)), "noted before it is told; the end after"
    program.close()
    assert assent("end", copy.name) != 0
    assert assent("allow", copy.name, "b.example") != 0
    told = ["work-open", "work-answer", "work-answer", "work-end", "work-open", "work-not-opened"]
    for _ in range(2):
        assert [kind for kind in asyncio.run(recorded_by_a_console(places)) if kind in ON_TERMINALS] == told, "once"
    bodies = [body for kind, body in recorded(places.ledger) if kind in ON_TERMINALS]
    assert {(one["name"], one["project"], one["by"], one["at"]) for one in bodies} == {
        (copy.name, str(copy.project), "person", "terminal")
    }
    assert (bodies[0]["host"], bodies[0]["port"], bodies[0]["always"]) == ("a.example", 8080, False)
    assert [(one["number"], one["run"]) for one in bodies[1:3]] == [(7, True), (8, False)]
    assert bodies[1]["level"] == "CRITICAL" and "no longer at work" in bodies[5]["why"]
    assert set(cli.WORK_ACTIONS) >= {"allow", "run", "refuse", "end"}
