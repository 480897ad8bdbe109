"""The start with something broken in the place of each of our files: reported, and the engine lives."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from app.chrome.window_state import Remembered
from app.start.crash import Faults
from app.start.single import Single
from runner.assembly import build
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled
from runner.settings.loading import load, save
from runner.system.log import logged
from runner.system.places import Places
from tests.doubles import HeldSandbox
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEEP = "[" * 100_000


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    (path / "in it").mkdir(parents=True)


def listener(path: Path) -> None:
    # By a short name: the address of a socket has at most 108 bytes.
    here = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{here}/{path.name}")
    finally:
        os.close(here)


def text(content: str) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        path.write_text(content)

    return put


NO_FILES = {"pipe": pipe, "folder": folder, "socket": listener}
BROKEN = {
    **NO_FILES,
    "cut": text('{"schema": 1, "agents": [{"na'),
    "deep": text(DEEP),
    "other type": text("3"),
    "newer": text('{"schema": 99, "agents": {}, "grants": {}, "secrets": []}'),
}
TIMES = '{"schema": 1, "agents": [{"name": "a", "token_sha256": "%s", "created_at": %s}]}'
FILES = {
    "agents": ("agents", [*BROKEN]),
    "grants": ("grants", [*BROKEN]),
    "settings": ("settings", [*NO_FILES, "deep", "other type"]),
    "secrets": ("secrets", [*BROKEN]),
    "ledger": ("ledger", [*NO_FILES, "cut", "other type"]),
}


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.under(home)
    places.make()
    return places


async def start(places: Places) -> dict[str, EngineTroubled]:
    """Start, use and close an engine; return the first trouble of each area."""
    troubles: dict[str, EngineTroubled] = {}

    def hear(event: object) -> None:
        if isinstance(event, EngineTroubled):
            troubles.setdefault(event.area, event)

    engine = build(places, load(places, {}), (HeldSandbox(),))
    engine.listen(hear)
    await engine.start(gateway=False)
    try:
        await engine.modes.lock()
        async with asyncio.timeout(HANGS):
            while engine.parts.ledger.is_open and not (engine.parts.ledger._anchors or troubles):
                await asyncio.sleep(0.01)
    finally:
        await engine.close("the test is over")
    return troubles


@pytest.mark.asyncio
@pytest.mark.parametrize(("file", "how"), [(file, how) for file, (_, kinds) in FILES.items() for how in kinds])
async def test_a_broken_file_is_a_trouble_with_a_remedy_and_the_engine_lives(
    places: Places, file: str, how: str
) -> None:
    path = getattr(places, file)
    BROKEN[how](path)
    async with asyncio.timeout(HANGS):
        troubles = await start(places)
    told = troubles[FILES[file][0]]
    assert path.name in told.what
    assert told.remedy


@pytest.mark.parametrize("at", ["1e300", "NaN", "-1", "true", str(10**400)])
def test_a_time_that_cannot_be_shown_makes_the_list_unreadable(places: Places, at: str) -> None:
    from runner.identity.agents import Agents

    places.agents.write_text(TIMES % ("0" * 64, at))
    assert "could not be read" in Agents(places).problem
    places.agents.write_text(TIMES % ("0" * 64, "1700000000.5"))
    assert Agents(places).problem == ""


@pytest.mark.parametrize("how", NO_FILES)
def test_settings_that_are_no_file_are_not_saved_over(places: Places, how: str) -> None:
    NO_FILES[how](places.settings)
    with pytest.raises(KnownError, match="cannot be read"):
        save(places, {"theme": "dark"})


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_a_pipe_beside_the_ledger_holds_nobody(places: Places, suffix: str) -> None:
    from runner.audit.ledger.ledger import Ledger
    from runner.audit.ledger.tables import LedgerDamaged

    asyncio.run(Ledger.open(places.ledger).close())
    os.mkfifo(places.ledger.with_name(places.ledger.name + suffix))
    with pytest.raises(LedgerDamaged, match="not a file"):
        Ledger.open(places.ledger)


# ---- what the window needs before there is an engine ----


@pytest.mark.parametrize("how", BROKEN)
def test_the_window_begins_with_whatever_it_finds(places: Places, how: str) -> None:
    state = places.state / "window.json"
    for path in (state, places.state / "window.new", places.faults, places.log):
        BROKEN[how](path)
    remembered = Remembered(state)
    assert remembered.get("theme", "dark") == "dark"
    remembered.save()
    faults = Faults(places)
    faults.earlier()
    faults.watch()
    faults.record(RuntimeError("a bug"), "in a test")
    if faults._stream is not None:
        faults.remove()
    with logged(places):
        pass


@pytest.mark.parametrize("how", NO_FILES)
def test_a_console_starts_whatever_is_in_the_place_of_its_socket(places: Places, how: str) -> None:
    NO_FILES[how](places.socket)
    single = Single(places.socket)
    assert single.claim()
    with suppress(RuntimeError):
        single.release()


@pytest.mark.asyncio
async def test_a_rule_file_that_is_a_pipe_is_a_trouble(places: Places) -> None:
    (places.config / "rules").mkdir()
    os.mkfifo(places.config / "rules" / "mine.yaml")
    (places.config / "rules" / "deep.yaml").write_text("schema: 1\nrules: " + "[" * 3000 + "]" * 3000)
    async with asyncio.timeout(HANGS):
        troubles = await start(places)
    assert troubles["settings"].what.startswith("rules/")
