"""From gVisor's report to the ledger: what a run did, live and recorded, and what its assessment had not foreseen."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.behaviour import NOT_REPORTED
from runner.model.events import RunObserved
from runner.sandbox.gvisor.engine import DirectEngine
from tests import direct_gvisor
from tests.engine.network_stage import EVIL, GOOD, networked

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.asyncio
CODE = f"""
import platform, time, urllib.request
platform.processor()  # starts `uname -p`
urllib.request.urlopen("http://{GOOD}/").read()
time.sleep(1)
"""


@pytest.fixture
def direct(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """gVisor without an engine, with the images of tests."""
    images, program = direct_gvisor.images(), direct_gvisor.program()
    with tempfile.TemporaryDirectory(prefix="assent-test-") as folder:
        made = partial(DirectEngine, images, program, Path(folder))
        monkeypatch.setattr("runner.sandbox.available.DirectEngine", made)
        yield


@pytest.mark.usefixtures("direct")
async def test_a_networked_run_is_recorded_with_what_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with networked(tmp_path, monkeypatch, {"SANDBOX_TYPE": "gvisor-direct"}) as stage:
        ticket = await stage.running(CODE, f"{GOOD}:80")
        answer = await stage.answer(ticket)
        assert answer.result is not None and answer.result.outcome == "ok", answer.result
        found = stage.record(ticket.request_id).result
    assert found is not None and found.observed is not None
    assert [one.what for one in found.observed.deeds] == ["uname -p"]  # nothing of the relay, which ran as well
    assert found.observed.complete
    assert found.observed.unforeseen == ("started uname",)
    assert any(isinstance(one, RunObserved) and one.behaviour.deeds for one in stage.heard)


async def test_a_sandbox_that_tells_nothing_is_recorded_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with networked(tmp_path, monkeypatch) as stage:
        ticket = await stage.running(f"import urllib.request\nurllib.request.urlopen('http://{EVIL}/')", f"{GOOD}:80")
        await stage.answer(ticket)
        found = stage.record(ticket.request_id).result
    assert found is not None and found.observed is not None
    assert (found.observed.absent, found.observed.deeds) == (NOT_REPORTED, ())
    assert found.observed.unforeseen == ()  # the code named that host; that it was refused is for the gate to say
