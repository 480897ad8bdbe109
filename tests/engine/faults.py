"""One story of an agent and a person on a disk whose n-th write or flush fails, and what has to be true after it."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.assembly import build
from runner.audit.ledger.verify import verify
from runner.engine.foundation import recorder
from runner.model.decision import Verdict
from runner.model.errors import KnownError, Refused
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from runner.risk.user_rules import read
from runner.settings.loading import load
from runner.system.places import Places
from tests.audit.faulty_disk import MEMORY, Faults, faulty_disk
from tests.doubles import HeldSandbox
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.engine.engine import Engine
    from runner.model.assessment import Assessment
    from runner.model.request import Request
    from runner.model.result import Usage
    from runner.sandbox.contract import Job

PATIENCE = HANGS
SETTINGS = {"SANDBOX_STORE_CODE": "never"}


class NotedSandbox(HeldSandbox):
    """Ends each run at once, and notes which were started."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[str] = []

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> Any:
        job.permit()
        self.started.append(job.id)
        run = await super().start(job, measured)
        run.finish("done")
        return run


def writes_of_a_story() -> int:
    """How many writes and flushes there are where none fails."""
    faults = Faults()
    assert play(faults) == []
    return faults.done


def play(faults: Faults) -> list[str]:
    """What is wrong after the story on a disk with `faults`; nothing when all promises hold."""
    pause, recorder.RETRY_SECONDS = recorder.RETRY_SECONDS, 0.0
    try:
        with tempfile.TemporaryDirectory(prefix="assent-faults-", dir=MEMORY) as folder:
            places = Places.under(Path(folder))
            sandbox, told = NotedSandbox(), Told()
            with faulty_disk(faults):
                asyncio.run(_story(places, sandbox, told))
            return _wrong(places, sandbox, told)
    finally:
        recorder.RETRY_SECONDS = pause


class Told(dict[str, Verdict]):
    """The answer that agents got to each request, by its id."""


async def _story(places: Places, sandbox: NotedSandbox, told: Told) -> None:
    engine = _engine(places, sandbox)
    await engine.start(gateway=False)
    for code, verdict in (("print(1)", Verdict.APPROVED), ("print(2)", Verdict.DENIED), ("print(3)", None)):
        with contextlib.suppress(KnownError, Refused):
            await _ask(engine, code, verdict, told)
    await engine.close("over")


def _engine(places: Places, sandbox: NotedSandbox) -> Engine:
    engine = build(places, load(places, SETTINGS), (sandbox,))
    dangers = read(places.config / "rules")

    async def assess(request: Request, *, person: bool = False) -> Assessment:
        return dangers.assess(request)

    engine.parts.assess = assess  # type: ignore[method-assign]
    engine.parts.assessor.warm = lambda: None  # type: ignore[method-assign]
    engine.parts.agents.add("claude")
    return engine


async def _ask(engine: Engine, code: str, verdict: Verdict | None, told: Told) -> None:
    """One request, answered with `verdict`, or left for the end."""
    ticket = await engine.submit(Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, code))
    async with asyncio.timeout(PATIENCE):
        while not engine.desk.position(ticket.request_id) and not ticket.case.answer.done():
            await asyncio.sleep(0)
        if verdict is not None:
            engine.answer(ticket.request_id, ticket.case.request.digest, verdict, "")
            answer = await ticket.answered(PATIENCE)
            assert answer is not None and answer.decision is not None
            told[ticket.request_id] = answer.decision.verdict


def _wrong(places: Places, sandbox: NotedSandbox, told: Told) -> list[str]:
    """Look at the ledger from outside, open it again on a good disk, and look again."""
    wrong = [*_untrue(places.ledger, sandbox.started, told), *_altered(places.ledger)]
    again = NotedSandbox()

    async def reopened() -> None:
        engine = _engine_again(places, again)
        await engine.start(gateway=False)
        await engine.close("over")

    asyncio.run(reopened())
    wrong += [*_untrue(places.ledger, sandbox.started, {}), *_altered(places.ledger)]
    if again.started:
        wrong.append(f"started by the next start: {again.started}")
    begun, closed = kinds(places.ledger, "arrived"), kinds(places.ledger, "closed")
    if begun.keys() != closed.keys():
        wrong.append(f"left open: {begun.keys() ^ closed.keys()}")
    return wrong


def _engine_again(places: Places, sandbox: NotedSandbox) -> Engine:
    engine = build(places, load(places, SETTINGS), (sandbox,))
    engine.parts.assessor.warm = lambda: None  # type: ignore[method-assign]
    return engine


def _altered(ledger: Path) -> list[str]:
    if not ledger.exists():
        return []
    found = verify(ledger)
    return [] if found.ok else [f"verify: {found.what}"]


def _untrue(ledger: Path, started: list[str], told: dict[str, Verdict]) -> list[str]:
    """Promises about starts and answers that the ledger does not bear out."""
    approved, running = kinds(ledger, "approved"), kinds(ledger, "running")
    wrong = [f"started without an entry: {one}" for one in started if not (approved[one] and running[one])]
    wrong += [f"started twice: {one}" for one, times in Counter(started).items() if times > 1]
    wrong += [f"told approved, not written: {o}" for o, v in told.items() if v is Verdict.APPROVED and not approved[o]]
    decided = Counter[str]()
    for kind in ("approved", "denied", "expired", "withdrawn"):
        decided += kinds(ledger, kind)
    return wrong + [f"decided twice: {one}" for one, times in decided.items() if times > 1]


def kinds(ledger: Path, kind: str) -> Counter[str]:
    """How many entries of `kind` each request has."""
    if not ledger.exists():
        return Counter()
    with contextlib.closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        found = connection.execute("SELECT request_id FROM entries WHERE kind = ?", (kind,))
        return Counter(request_id for (request_id,) in found)
