"""A weaker sandbox: accepted where it counts and not in the history alone, never taken for what failed once."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from runner.engine.foundation.last_isolation import LastIsolation
from runner.model.errors import KnownError
from runner.model.request import Isolation
from runner.sandbox.local.bubblewrap import Bubblewrap
from runner.sandbox.local.syscalls import FILTERED
from tests.engine.test_sandbox_watch import Engine, last_time, staged
from tests.patience import HANGS

if TYPE_CHECKING:
    from pathlib import Path


def told(ledger: Path) -> list[str]:
    """What the history tells of the sandbox, oldest first."""
    wanted = "SELECT data FROM entries JOIN bodies USING (seq) WHERE kind = 'isolation' ORDER BY seq"
    with closing(sqlite3.connect(ledger)) as connection:
        return [data for (data,) in connection.execute(wanted)]


@pytest.mark.asyncio
async def test_the_history_says_of_nothing_that_it_was_accepted_where_it_was_not(tmp_path: Path) -> None:
    await last_time(tmp_path)
    async with staged(tmp_path, Engine()) as stage:
        await stage.engine.parts.sandboxes.known()
        with pytest.raises(KnownError, match="changed meanwhile"):
            await stage.engine.accept_sandbox(Isolation.DOCKER)
        await stage.engine.accept_sandbox(Isolation.LOCAL)
        with pytest.raises(KnownError, match="changed meanwhile"):
            await stage.engine.accept_sandbox(Isolation.LOCAL)
        accepted = [each for each in told(stage.places.ledger) if '"accepted"' in each]
        assert accepted == ['{"accepted":"local","before":"gvisor"}']


@pytest.mark.asyncio
async def test_an_acceptance_that_cannot_be_remembered_is_taken_back_in_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await last_time(tmp_path)

    def full(_self: LastIsolation, _isolation: Isolation) -> None:
        raise OSError("the disk is full")

    async with staged(tmp_path, Engine()) as stage:
        await stage.engine.parts.sandboxes.known()
        monkeypatch.setattr(LastIsolation, "write", full)
        with pytest.raises(KnownError, match="could not be remembered"):
            await stage.engine.accept_sandbox(Isolation.LOCAL)
        assert '"not_accepted":"local"' in told(stage.places.ledger)[-1]
        assert stage.engine.parts.sandboxes.weaker_than is Isolation.GVISOR


def test_a_pipe_in_place_of_what_was_remembered_holds_nobody_and_hides_nothing(tmp_path: Path) -> None:
    """No sandbox would ever be chosen, and the thread that reads would keep the console from ending."""
    os.mkfifo(tmp_path / "isolation.json")
    found: list[Isolation | None] = []
    reader = threading.Thread(
        target=lambda: found.append(LastIsolation(tmp_path / "isolation.json").read()), daemon=True
    )
    reader.start()
    reader.join(HANGS)
    assert found == [Isolation.GVISOR]


def test_a_trial_that_fails_once_does_not_take_the_filter_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """No memory or no process to be had for a moment, as while many agents start: the session would stay without."""
    real, failures = Bubblewrap.problem, ["Resource temporarily unavailable"]
    monkeypatch.setattr(Bubblewrap, "problem", lambda one: failures.pop() if failures else real(one))
    assert FILTERED in Bubblewrap.tried().protections
