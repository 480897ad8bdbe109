"""The start where the history cannot be used or read in part: reported, tried again, and the rest works."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.assembly import build
from runner.audit.history.search import History
from runner.audit.ledger.chain import Chain
from runner.audit.ledger.ledger import Ledger, LedgerFailed
from runner.audit.ledger.opening import Lock
from runner.audit.ledger.seal import Seal
from runner.audit.ledger.verify import verify
from runner.engine.lifecycle import history_opening
from runner.engine.lifecycle.history_opening import RECOVERED
from runner.identity import signer
from runner.identity.keyring_answer import KeyringAnswer, begin_unasked
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled, TroubleCleared
from runner.settings.loading import load
from runner.system.places import Places
from tests.audit.story import approved, opening, request, tamper, write
from tests.doubles import HeldSandbox
from tests.small_disk import fill, small_disk
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from runner.approval.ticket import Ticket
    from runner.model.events import Event
    from runner.model.submission import Submission

pytestmark = pytest.mark.asyncio


class Start(Stage):
    """An engine, started by the test, and the troubles that it reports."""

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.troubles: dict[str, EngineTroubled] = {}

    def _hear(self, event: Event) -> None:
        match event:
            case EngineTroubled(area):
                self.troubles[area] = event
            case TroubleCleared(area):
                self.troubles.pop(area, None)
            case _:
                pass
        super()._hear(event)

    async def asked(self, submission: Submission = HELLO) -> Ticket:
        ticket = await super().asked(submission)
        await self.until(lambda: self.engine.desk.position(ticket.request_id))
        return ticket


@pytest.fixture
def places(home: Path) -> Places:
    places = Places.under(home)
    places.make()
    return places


@pytest_asyncio.fixture
async def start(places: Places) -> AsyncIterator[Start]:
    start = Start(places)
    yield start
    await start.engine.close("the test is over")


def kinds(places: Places) -> list[str]:
    with closing(sqlite3.connect(places.ledger)) as connection:
        return [kind for (kind,) in connection.execute("SELECT kind FROM entries ORDER BY seq")]


# ---- open requests that cannot be read ----

BROKEN = {
    "level": "UPDATE requests SET level = 99 WHERE id = 'bad'",
    "phase": "UPDATE requests SET phase = 'thinking' WHERE id = 'bad'",
    "another phase": "UPDATE requests SET phase = 'running' WHERE id = 'bad'",
    "tool": "UPDATE requests SET tool = 'code_of_a_newer_assent' WHERE id = 'bad'",
    "time": "UPDATE requests SET arrived_at = 1e300 WHERE id = 'bad'",
    "row": "UPDATE requests SET title = 'another' WHERE id = 'bad'",
    "body": "UPDATE bodies SET data = '[]' WHERE seq = (SELECT seq FROM requests WHERE id = 'bad')",
    "body of another": "UPDATE bodies SET data = replace(data, '\"bad\"', '\"r1\"') WHERE seq ="
    " (SELECT seq FROM requests WHERE id = 'bad')",
}


@pytest.mark.parametrize("damage", BROKEN)
async def test_an_open_request_that_cannot_be_read_is_told_and_the_others_are_settled(
    places: Places, start: Start, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only what the start looks at for itself is tested: bodies are in the checked end of the chain as well.
    monkeypatch.setattr("runner.audit.ledger.ledger.TAIL", 0)
    await asyncio.to_thread(
        write, places.ledger, [*approved(request("r1")), *opening(request("bad")), *opening(request("good"))]
    )
    tamper(places.ledger, BROKEN[damage])
    await start.engine.start(gateway=False)
    assert "bad" in start.troubles["requests"].what
    assert "ledger" not in start.troubles
    await start.until(lambda: not start.engine._cases.active())
    with closing(History(places.ledger)) as history:
        assert history.line("good").phase == "closed"  # type: ignore[union-attr]
        assert [one.id for one in history.open_cases().unreadable] == ["bad"]
    await start.works()


# ---- a history that cannot be used now ----


async def test_a_history_in_use_is_opened_by_itself_once_it_is_free(
    places: Places, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_opening, "PAUSE", 0.01)
    await asyncio.to_thread(write, places.ledger, opening(request("left")))
    lock = Lock(places.ledger)
    await start.engine.start(gateway=False)
    trouble = start.troubles["ledger"]
    assert "has the ledger" in trouble.what and not trouble.damaged
    with pytest.raises(KnownError, match="has the ledger"):
        await start.engine.submit(HELLO)
    assert start.troubles["ledger"] == trouble, "the reason stays"
    lock.release()
    await start.until(lambda: "ledger" not in start.troubles)
    await start.until(lambda: "closed" in kinds(places))
    await start.works()
    await start.engine.close("the test is over")
    assert verify(places.ledger).ok


async def test_try_again_opens_it_at_once(places: Places, start: Start) -> None:
    lock = Lock(places.ledger)
    await start.engine.start(gateway=False)
    await start.engine.history.try_again()
    assert "ledger" in start.troubles
    lock.release()
    await asyncio.gather(*(start.engine.history.try_again() for _ in range(3)))
    assert "ledger" not in start.troubles
    assert kinds(places).count("opened") == 1
    await start.works()


async def test_a_damaged_history_is_not_tried_again(places: Places, start: Start) -> None:
    places.ledger.write_text("no ledger at all, but long enough to be taken for one" * 20)
    await start.engine.start(gateway=False)
    assert start.troubles["ledger"].damaged
    assert start.engine.history._timer is None
    await start.engine.history.renew()
    assert not start.troubles.get("ledger")
    await start.works()


async def test_a_history_of_a_newer_assent_is_not_damaged(places: Places, start: Start) -> None:
    await asyncio.to_thread(write, places.ledger, [])
    with closing(sqlite3.connect(places.ledger)) as connection:
        connection.execute("PRAGMA user_version = 99")
    await start.engine.start(gateway=False)
    assert "newer Assent" in start.troubles["ledger"].what
    assert not start.troubles["ledger"].damaged


async def test_a_start_on_a_full_disk_becomes_whole_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_opening, "PAUSE", 0.01)
    with small_disk(tmp_path) as room:
        places = Places.under(room)
        places.make()
        await asyncio.to_thread(write, places.ledger, opening(request("left")))
        ballast = fill(room)
        start = Start(places)
        await start.engine.start(gateway=False)
        try:
            trouble = start.troubles["ledger"]
            assert "disk" in trouble.remedy and not trouble.damaged
            ballast.unlink()
            await start.until(lambda: "ledger" not in start.troubles)
            await start.until(lambda: "closed" in kinds(places))
            await start.works()
        finally:
            await start.engine.close("the test is over")
        assert verify(places.ledger).ok


async def test_a_disk_that_was_full_is_written_again_without_a_call(
    start: Start, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person's approval is refused while the trouble stands, and nothing else may come along to end it."""
    monkeypatch.setattr(history_opening, "PAUSE", 0.01)
    await start.engine.start(gateway=False)
    ticket = await start.asked()
    append, full = Ledger.append, [True]

    async def fail(self: Ledger, kind: str, request_id: str, body: dict[str, object], **how: bool) -> int:
        if full[0]:
            raise LedgerFailed("The disk is full.", "Free some space.")
        return await append(self, kind, request_id, body, **how)

    monkeypatch.setattr(Ledger, "append", fail)
    denied = await (await start.engine.submit(HELLO)).answered(None)
    assert denied is not None and "disk is full" in denied.text()
    with pytest.raises(KnownError, match="full"):
        await start.engine.submit(HELLO)
    assert not start.troubles["ledger"].damaged
    assert start.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")
    full[0] = False
    await start.until(lambda: "ledger" not in start.troubles)
    assert start.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "") == ""
    await start.until(lambda: start.sandbox.runs)
    start.sandbox.runs[0].finish()
    await ticket.answered(None)
    with closing(sqlite3.connect(places.ledger)) as connection:
        (body,) = connection.execute(
            "SELECT data FROM entries JOIN bodies USING (seq) WHERE kind = ?", (RECOVERED,)
        ).fetchone()
    assert json.loads(body) == {"why": "The disk is full."}


async def test_damage_that_is_met_while_writing_is_not_tried_again(
    start: Start, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start.engine.start(gateway=False)
    error = sqlite3.DatabaseError("database disk image is malformed")
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT

    def fail(_chain: Chain, _drafts: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Chain, "write", fail)
        denied = await (await start.engine.submit(HELLO)).answered(None)
        assert denied is not None and "damaged" in denied.text()
        assert start.troubles["ledger"].damaged
        assert start.engine.history._timer is None
        with pytest.raises(KnownError, match="damaged"):
            await start.engine.submit(HELLO)
    await start.engine.history.renew()
    await start.works()


async def test_a_renewal_that_fails_leaves_requests_in_the_same_history(
    start: Start, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    await start.engine.start(gateway=False)
    ticket = await start.asked()
    monkeypatch.setattr(
        "runner.engine.foundation.open_ledger.set_aside",
        lambda _path: (_ for _ in ()).throw(LedgerFailed("Not now.", "Wait.")),
    )
    await start.engine.history.renew()
    assert start.troubles["ledger"].what == "Not now."
    await start.engine.history.try_again()
    assert "ledger" not in start.troubles
    start.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, "")
    await ticket.answered(None)
    assert kinds(places).count("arrived") == 1


# ---- requests in a history that was begun since ----


async def test_a_parked_request_is_asked_again_from_a_history_begun_since(start: Start, places: Places) -> None:
    await start.engine.start(gateway=False)
    ticket = await start.asked()
    await start.engine.park(ticket.request_id)
    await start.engine.history.renew()
    with closing(History(places.ledger)) as history:
        (left,) = history.open_cases().cases
    assert [step.entry.kind for step in left.steps] == ["arrived", "assessed", "asked", "parked"]


async def test_an_edited_request_keeps_its_version_in_a_history_begun_after_a_restart(
    places: Places, start: Start
) -> None:
    asked = request("r1")
    told = approved(asked)[:4]
    told.insert(3, ("edited", "r1", {"code": "print('mine')"}))
    await asyncio.to_thread(write, places.ledger, told)
    monkey = start.engine._recorder
    failing, persist = asyncio.Event(), monkey.persist

    async def held(*given: object) -> None:
        await failing.wait()
        await persist(*given)  # type: ignore[arg-type]

    monkey.persist = held  # type: ignore[method-assign,assignment]
    await start.engine.start(gateway=False)
    await start.engine.history.renew()
    failing.set()
    await start.until(lambda: "closed" in kinds(places))
    assert "edited" in kinds(places)


async def test_signing_waits_for_the_answer_about_the_keyring(places: Places) -> None:
    begin_unasked(places)
    engine = build(places, load(places, {}), (HeldSandbox(),))
    await engine.start(gateway=False)
    await engine.history.sign()
    assert engine.parts.ledger.is_open and engine.parts.ledger._anchors is None
    engine.parts.secrets.take_answer(KeyringAnswer.REFUSED)
    await engine.history.sign()
    assert engine.parts.ledger._anchors is not None
    await engine.close("the test is over")
    key = engine.parts.secrets.get(signer.NAME)
    assert key is not None
    found = verify(places.ledger, Seal(bytes.fromhex(key)).public)
    assert found.ok and not found.unsure, "the first signed head covers what came before it"
