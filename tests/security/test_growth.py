"""What programs print fills neither the memory of the console nor its history: both grow by a bound."""

from __future__ import annotations

import asyncio
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from app.history import words
from runner.assembly import build
from runner.audit.evidence import Evidence
from runner.audit.search import Filter, History
from runner.audit.verify import verify
from runner.model.decision import Verdict
from runner.model.events import RunFinished
from runner.model.recorded import WHOLE
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.system.places import Places

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
    async with asyncio.timeout(20):
        while not engine.desk.position(ticket.request_id):
            await asyncio.sleep(0)
    digest = engine.desk.waiting()[0].digest
    assert engine.answer(ticket.request_id, digest, Verdict.APPROVED, "") == ""
    answer = await ticket.answered(20)
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
    assert places.ledger.stat().st_size < 10 * HISTORY
    assert len(history.page(Filter(text="last-words"))) == 1
    history.close()
    (pair,) = [told for name, told in words.run(found) if name == "Part of stdout"]
    assert pair == f"195 KB in all, SHA-256 {measured['sha256']}."
    stored = json.loads(Path(words.artifact(found)).read_text())
    assert stored["result"]["stdout"] == found.result.stdout
    evidence = Evidence(places)
    assert verify(places.ledger, evidence=evidence).ok
