"""What programs print fills neither the memory of the console nor its history: both grow by a bound."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from app.history import words
from runner.assembly import build
from runner.audit.files.evidence import Evidence
from runner.audit.history.search import Filter, History
from runner.audit.ledger.verify import verify
from runner.engine.shared.run_files import RunFiles
from runner.model.decision import Verdict
from runner.model.events import RunFinished
from runner.model.lifecycle import Phase
from runner.model.recorded import WHOLE
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.output import Stream
from runner.settings.loading import load
from runner.system.places import Places
from tests.doubles import HeldSandbox
from tests.patience import HANGS

if TYPE_CHECKING:
    from runner.engine.engine import Engine
    from runner.model.answer import Answer
    from runner.model.events import Event

PRINTED = 200_000
HISTORY = 8192
CODE = f"echo first-words; head -c {PRINTED} /dev/zero | tr '\\0' x; echo last-words"
SETTINGS = {"SANDBOX_STORE_CODE": "always", "ASSENT_HISTORY_OUTPUT_BYTES": str(HISTORY)}


async def approved(engine: Engine) -> Answer:
    asked = Submission("claude", Tool.CODE_EXECUTE, Language.SHELL, CODE, max_output_bytes=4 << 20)
    ticket = await engine.submit(asked)
    async with asyncio.timeout(HANGS):
        while ticket.case.phase is not Phase.ASKED:
            await asyncio.sleep(0)
    digest = engine.desk.waiting()[0].digest
    assert engine.answer(ticket.request_id, digest, Verdict.APPROVED, "") == ""
    answer = await ticket.answered(HANGS)
    assert answer is not None
    return answer


@pytest.fixture
def places(tmp_path: Path) -> Places:
    tmp_path.chmod(0o755)
    return Places.under(tmp_path / "home")


def test_the_history_grows_by_its_setting_and_says_what_it_left_out(places: Places, tmp_path: Path) -> None:
    heard: list[Event] = []

    async def body() -> Answer:
        engine = build(places, load(places, SETTINGS), (LocalSandbox(tmp_path / "runs"),))
        engine.listen(heard.append)
        await engine.start(gateway=False)
        try:
            return await approved(engine)
        finally:
            await engine.close("over")

    answer = asyncio.run(body())
    assert answer.result is not None and answer.result.stdout.startswith("first-words")
    (finished,) = [event for event in heard if isinstance(event, RunFinished)]
    assert len(finished.result.stdout) < 2 * HISTORY, "what the window holds is bounded, too"
    history = History(places.ledger)
    found = history.case(answer.request_id)
    assert found is not None and found.result is not None
    text = "first-words\n" + "x" * PRINTED + "last-words\n"
    entry: Any = next(step.body for step in found.steps if step.entry.kind == "finished")
    measured = {"bytes": len(text), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    assert entry[WHOLE] == {"stdout": measured}
    assert found.result.stdout.startswith("first-words\nx") and found.result.stdout.endswith("xlast-words\n")
    assert found.result.meta.truncated
    assert found.result.meta.dropped_stdout >= len(text) - HISTORY
    assert places.ledger.stat().st_size < 12 * HISTORY  # of which an empty ledger is five
    assert len(history.page(Filter(text="last-words"))) == 1
    history.close()
    (pair,) = [told for name, told in words.run(found) if name == "stdout"]
    assert pair == f"Recorded in part. All of it: 195 KB, SHA-256 {measured['sha256']}"
    stored = json.loads(Path(words.artifact(found)).read_text())
    assert stored["result"]["stdout"] == found.result.stdout
    evidence = Evidence(places)
    assert verify(places.ledger, evidence=evidence).ok


def test_runs_share_one_budget_and_their_artifacts_are_made_one_at_a_time(
    places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, most = 0, 0
    lock, second = threading.Lock(), threading.Event()
    store = RunFiles.store

    def noted(self: RunFiles, *arguments: Any) -> dict[str, object]:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        if inside > 1:
            second.set()
        second.wait(0.1)  # time for another one to come in, where it may
        with lock:
            inside -= 1
        return store(self, *arguments)

    monkeypatch.setattr(RunFiles, "store", noted)

    async def body() -> None:
        sandbox = HeldSandbox()
        engine = build(places, load(places, {}), (sandbox,))
        await engine.start(gateway=False)
        try:
            asked = [Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, f"print({n})") for n in range(3)]
            tickets = [await engine.submit(one) for one in asked]
            async with asyncio.timeout(HANGS):
                while len(engine.desk.waiting()) < len(asked):
                    await asyncio.sleep(0.01)
                for question in engine.desk.waiting():
                    assert engine.answer(question.request_id, question.digest, Verdict.APPROVED, "") == ""
                while len(sandbox.runs) < len(asked):
                    await asyncio.sleep(0.01)
                assert len({id(run.job.budget) for run in sandbox.runs}) == 1
                assert sandbox.runs[0].job.budget is not None
                for run in sandbox.runs:
                    run.finish("hello")
                for ticket in tickets:
                    assert await ticket.answered(HANGS) is not None
            assert all(run.transcript.text(Stream.OUT)[0] == "" for run in sandbox.runs)
        finally:
            await engine.close("over")

    asyncio.run(body())
    assert most == 1
