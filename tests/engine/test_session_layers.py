"""Where a session says that its project is: believed only while it is so, and of that very session."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from runner.engine.work.layers import ENDED, SessionLayers
from runner.model.errors import KnownError
from runner.model.request import WorkPlace
from runner.model.submission import SessionDoor
from runner.sandbox.contract import NotPermitted
from runner.system.places import Places
from runner.work import control
from runner.work.control import ControlSocket
from runner.workspace import copied
from runner.workspace.working_copy import WorkingCopy
from tests.workspace.trees import make

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.asyncio


class Session:
    """The process on the terminal, with a program that only waits."""

    def __init__(self, places: Places, project: Path) -> None:
        self.places = places
        self.copy = WorkingCopy.make(places.work, project, ("sleep",), way=copied.NAME)
        self.work = WorkPlace(self.copy.name, str(project))
        self.program = subprocess.Popen(("sleep", "infinity"))
        found = self.copy.shown.stat()
        self.said: dict[str, Any] = {"root": self.program.pid, "holder": 0, "mounts": 0, "users": 0}
        self.said |= {"path": str(self.copy.shown), "device": found.st_dev, "inode": found.st_ino}
        self.second: dict[str, Any] | None = None
        """What is said when it is asked again."""
        self.asked = 0

    def layer(self) -> dict[str, Any]:
        self.asked += 1
        return self.said if self.second is None or self.asked == 1 else self.second

    def known(self, key: str) -> dict[str, object]:
        if key != "right":
            raise KnownError("This call does not come from that program at work.")
        return {"project": self.work.project}

    def end(self) -> None:
        self.program.kill()
        self.program.wait()

    @contextlib.contextmanager
    def running(self) -> Iterator[SessionLayers]:
        place = control.place(self.places.runtime, self.copy.name)
        orders = {"layer": self.layer, "asked": self.known}
        try:
            with self.copy.in_use(), contextlib.closing(ControlSocket(place, orders)):
                yield SessionLayers(self.places)
        finally:
            self.end()


@pytest.fixture
def session(tmp_path: Path) -> Session:
    places = Places.under(tmp_path / "assent")
    places.make()
    return Session(places, make(tmp_path / "project"))


async def test_a_call_is_known_by_the_key_of_its_session_alone(session: Session) -> None:
    with session.running() as layers:
        assert await layers.known(SessionDoor(session.copy.name, "right")) == session.work
        for door in (SessionDoor(session.copy.name, "wrong"), SessionDoor("another", "right")):
            with pytest.raises(KnownError):
                await layers.known(door)
    with pytest.raises(KnownError, match="no longer at work"):
        await layers.known(SessionDoor(session.copy.name, "right"))


async def test_a_layer_is_held_until_the_run_is_over_and_the_end_of_the_program_is_told(session: Session) -> None:
    told = asyncio.Event()
    with session.running() as layers:
        async with layers.entered(session.work, told.set) as opened:
            opened.require()
            assert os.listdir(f"/proc/self/fd/{opened.layer.folder}/.") == os.listdir(session.copy.shown)
            with pytest.raises(KnownError, match="still running over"), session.copy.without_runs(0.0):
                pass
            session.end()
            await asyncio.wait_for(told.wait(), 60)
            with pytest.raises(NotPermitted, match="has ended"):
                opened.require()
        with session.copy.without_runs(0.0):
            pass


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"inode": 1}, None),
        ({"mounts": 7}, None),
        ({"root": 1 << 21}, None),
        ({"root": "no number"}, None),
        ({}, {"root": os.getpid()}),
    ],
)
async def test_nothing_is_opened_where_not_all_is_as_it_is_said(
    session: Session, before: dict[str, object], after: dict[str, object] | None
) -> None:
    session.said |= before
    session.second = None if after is None else {**session.said, **after}
    with session.running() as layers:
        with pytest.raises(KnownError):
            async with layers.entered(session.work, lambda: None):
                pass
        with session.copy.without_runs(0.0):
            pass


async def test_another_project_of_that_name_and_one_that_is_over_are_refused(session: Session) -> None:
    with session.running() as layers, pytest.raises(KnownError, match=ENDED):
        async with layers.entered(replace(session.work, project="/elsewhere"), lambda: None):
            pass
    with pytest.raises(KnownError, match=ENDED):
        async with layers.entered(session.work, lambda: None):
            pass


async def test_a_session_that_waits_for_its_runs_takes_no_further_one(session: Session) -> None:
    with session.running() as layers, session.copy.without_runs(0.0), pytest.raises(KnownError, match="has ended"):
        async with layers.entered(session.work, lambda: None):
            pass
    assert session.asked == 0
