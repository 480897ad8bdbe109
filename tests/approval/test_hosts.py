"""The word of a person about a host passes the same checks as an approval, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.approval.checkpoint import REVOKED
from runner.approval.hosts import OVER
from runner.approval.modes import LOCKDOWN_CHOSEN
from runner.approval.private_addresses import PrivateAddress
from runner.audit.ledger.ledger import LedgerFailed
from runner.engine.request.runs import STOPPED
from runner.engine.supply.networking import CLOSED
from runner.model.errors import KnownError
from runner.model.network import Contact, Destination
from runner.model.request import Isolation
from runner.system.tasks import spawn
from tests.network.stage import PUBLIC
from tests.patience import HANGS
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from runner.approval.ticket import Ticket
    from runner.network.gate import Gate
    from runner.policy.grants import Grant

pytestmark = pytest.mark.asyncio

GOOD, EVIL, INNER = "good.example", "evil.example", "inner.example"
ONLINE = replace(HELLO, network_enabled=True, allowed_domains=(GOOD,))
Word = "Callable[[HostStage, Ticket], Awaitable[str]]"


class Attempt:
    """One connection of the code, which asks the gate's proxy for a host; it keeps what the gate answers."""

    def __init__(self, host: str, port: int = 443) -> None:
        self._said = [f"CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode()]
        self.answer = b""

    async def read(self) -> bytes:
        return self._said.pop() if self._said else b""

    async def write(self, data: bytes) -> None:
        self.answer += data

    async def finish(self) -> None:
        pass

    def close(self) -> None:
        pass


class HostStage(Stage):
    """Runs are held; their gates are real, and what names lead to is the test's."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.sandbox.isolation = Isolation.DOCKER
        self.addresses: dict[str, list[str]] = {EVIL: [PUBLIC], INNER: ["10.1.2.3"]}
        self.looking, self.look = asyncio.Event(), asyncio.Event()
        self.look.set()
        self.engine.hosts._look_up = self._look_up

    async def _look_up(self, host: str, _port: int) -> list[str]:
        self.looking.set()
        await self.look.wait()
        if host not in self.addresses:
            raise OSError("unknown")
        return self.addresses[host]

    def gate(self, number: int = -1) -> Gate:
        gate = self.sandbox.runs[number].job.gate
        assert gate is not None
        return gate

    async def refused(self, host: str = EVIL, agent: str = "claude") -> Ticket:
        """A run that was refused `host`."""
        ticket = await self.approved(replace(ONLINE, agent=agent))
        await self.gate().serve(Attempt(host))
        assert [(one.host, one.allowed) for one in self.contacts(ticket)] == [(host, False)]
        return ticket

    def contacts(self, ticket: Ticket) -> tuple[Contact, ...]:
        return self.engine.runs._networking.contacts(ticket.request_id) or ()

    def allows(self, host: str = EVIL, number: int = -1) -> bool:
        return self.gate(number)._permissions.find(host, 443) is not None

    def grants(self) -> tuple[Grant, ...]:
        return self.engine.parts.configuration.grants.all()


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[HostStage]:
    async with HostStage(tmp_path).opened() as stage:
        yield stage
        stage.look.set()


async def for_this_run(stage: HostStage, ticket: Ticket) -> str:
    return await stage.engine.hosts.allow(ticket.request_id, EVIL, 443)


async def always(stage: HostStage, ticket: Ticket) -> str:
    try:
        await stage.engine.hosts.allow_always(ticket.request_id, EVIL, 443)
    except KnownError as error:
        return error.what
    return ""


async def locked(stage: HostStage, ticket: Ticket) -> str:
    await stage.engine.modes.lock()
    return LOCKDOWN_CHOSEN


async def locked_and_lifted(stage: HostStage, ticket: Ticket) -> str:
    await stage.engine.modes.lock()
    await stage.engine.modes.guard()
    return LOCKDOWN_CHOSEN


async def stopped_all(stage: HostStage, ticket: Ticket) -> str:
    stage.engine.stop_all()
    return STOPPED


async def revoked(stage: HostStage, ticket: Ticket) -> str:
    await stage.engine.membership.revoke("claude")
    return REVOKED


async def unwritable(stage: HostStage, ticket: Ticket) -> str:
    stage.engine.trouble("ledger", "The disk is full.", "Free some.")
    return "The disk is full. Free some."


async def closing(stage: HostStage, ticket: Ticket) -> str:
    stage.engine._closing.why = "The console is closing."
    return "The console is closing."


async def denied_by_a_rule(stage: HostStage, ticket: Ticket) -> str:
    rules = "rules: [{name: no-evil, action: deny, conditions: [{param: domain, equals: evil.example}]}]"
    (stage.places.config / "rules.yaml").write_text(rules)
    stage.engine.reload()
    return "Denied by your rule no-evil."


MEANWHILE = [locked, locked_and_lifted, stopped_all, revoked, unwritable, closing, denied_by_a_rule]


@asynccontextmanager
async def prepared(stage: HostStage) -> AsyncIterator[None]:
    """With the agent registered, so that it can be revoked; the console can be closed again at the end."""
    await stage.engine.membership.add("claude")
    try:
        yield
    finally:
        stage.engine._closing.why = ""
        stage.engine._bulletin.clear("ledger")


@pytest.mark.parametrize("word", [for_this_run, always])
@pytest.mark.parametrize("happens", MEANWHILE)
async def test_what_ends_an_approval_before_the_word(
    stage: HostStage, happens: Callable[[HostStage, Ticket], Awaitable[str]], word: Word
) -> None:
    async with prepared(stage):
        ticket = await stage.refused()
        if happens in (locked_and_lifted, stopped_all):
            # What happened before the word was given ends the run's network; it is not about later words.
            await happens(stage, ticket)
            assert await for_this_run(stage, ticket) in (CLOSED, OVER)
        else:
            why = await happens(stage, ticket)
            assert await word(stage, ticket) in (why, OVER)
            assert not stage.grants()
        assert not stage.allows()


@pytest.mark.parametrize("word", [for_this_run, always])
@pytest.mark.parametrize("happens", MEANWHILE)
async def test_what_ends_an_approval_while_the_host_is_looked_up(
    stage: HostStage, happens: Callable[[HostStage, Ticket], Awaitable[str]], word: Word
) -> None:
    async with prepared(stage):
        ticket = await stage.refused()
        stage.look.clear()
        saying = spawn("word", word(stage, ticket))
        await stage.looking.wait()
        why = await happens(stage, ticket)
        stage.look.set()
        assert await saying == why
        assert not stage.allows() and not stage.grants()


@pytest.mark.parametrize("word", [for_this_run, always])
@pytest.mark.parametrize("happens", MEANWHILE)
async def test_what_ends_an_approval_while_its_entry_is_written(
    stage: HostStage,
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[HostStage, Ticket], Awaitable[str]],
    word: Word,
) -> None:
    async with prepared(stage):
        ticket = await stage.refused()
        writer = stage.engine.parts.ledger.writer
        write, reasons = writer.append, []

        async def slow(kind: str, request_id: str, body: dict[str, object], **how: bool) -> None:
            await write(kind, request_id, body, **how)
            if kind in ("host-allowed", "grant-made"):
                reasons.append(await happens(stage, ticket))

        monkeypatch.setattr(writer, "append", slow)
        said = await word(stage, ticket)
        assert [said] == reasons or happens is unwritable  # a write that works clears the trouble
        if happens is not unwritable:
            assert not stage.allows() and not stage.grants()
        monkeypatch.undo()
        if word is for_this_run and happens not in (unwritable, stopped_all, revoked):
            assert "host-not-allowed" in stage.phases(ticket.request_id)


async def test_a_grant_that_was_made_while_its_agent_was_revoked_is_gone(
    stage: HostStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with prepared(stage):
        ticket = await stage.refused()
        grants = stage.engine.parts.configuration.grants
        write = grants._write

        async def slow(table: dict[str, Grant]) -> None:
            await write(table)
            monkeypatch.setattr(grants, "_write", write)
            spawn("revoke", stage.engine.membership.revoke("claude"))
            await stage.until(lambda: stage.engine.membership.barred("claude", float("inf")))

        monkeypatch.setattr(grants, "_write", slow)
        assert await always(stage, ticket) == REVOKED
        assert not stage.grants() and not stage.allows()


async def test_a_run_that_ends_meanwhile_gets_no_host(stage: HostStage) -> None:
    ticket = await stage.refused()
    stage.look.clear()
    saying = spawn("word", for_this_run(stage, ticket))
    await stage.looking.wait()
    stage.sandbox.runs[0].finish()
    await ticket.answered(HANGS)
    stage.look.set()
    assert await saying == OVER
    assert not stage.allows()


async def test_a_word_that_cannot_be_recorded_does_not_count(stage: HostStage, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = await stage.refused()

    async def full(*_entry: object, **_how: bool) -> None:
        raise LedgerFailed("The disk is full.", "Free some.")

    monkeypatch.setattr(stage.engine.parts.ledger.writer, "append", full)
    with pytest.raises(LedgerFailed):
        await for_this_run(stage, ticket)
    monkeypatch.undo()
    assert not stage.allows() and not stage.grants()


async def test_only_what_was_refused_can_be_allowed(stage: HostStage) -> None:
    ticket = await stage.refused()
    hosts = stage.engine.hosts
    for host, port in (("other.example", 443), (EVIL, 80), (GOOD, 443)):
        with pytest.raises(KnownError, match="was not refused that host"):
            await hosts.allow(ticket.request_id, host, port)
        with pytest.raises(KnownError, match="was not refused that host"):
            await hosts.allow_always(ticket.request_id, host, port)
    stage.gate()._book.add(Contact("two.example", 443, False, "was asked for, and another name in its greeting"))
    with pytest.raises(KnownError, match="was not refused that host, or for something else"):
        await hosts.allow(ticket.request_id, "two.example", 443)
    for nonsense in ("*.example", "evil.example\0", "2130706433", "a b", ""):
        with pytest.raises(KnownError, match="cannot be allowed"):
            await hosts.allow(ticket.request_id, nonsense, 443)
    assert await hosts.allow("unknown", EVIL, 443) == OVER
    with pytest.raises(KnownError, match="no such run"):
        await hosts.allow_always("unknown", EVIL, 443)


async def test_a_private_address_needs_its_word_for_a_grant_too(stage: HostStage) -> None:
    ticket = await stage.refused(INNER)
    hosts = stage.engine.hosts
    with pytest.raises(PrivateAddress):
        await hosts.allow_always(ticket.request_id, INNER, 443)
    assert not stage.grants()
    grant = await hosts.allow_always(ticket.request_id, INNER, 443, private="10.1.2.3")
    assert grant.private and stage.allows(INNER)
    later = await stage.approved(ONLINE)
    assert later.case.request.granted == (INNER,) and stage.allows(INNER)


async def test_a_public_host_gets_no_private_word(stage: HostStage) -> None:
    ticket = await stage.refused()
    grant = await stage.engine.hosts.allow_always(ticket.request_id, EVIL, 443, private="10.1.2.3")
    assert not grant.private, "it led to a public address when the word was given"


async def test_a_name_that_cannot_be_looked_up_may_lead_to_public_addresses_only(stage: HostStage) -> None:
    stage.addresses.clear()
    ticket = await stage.refused()
    assert await for_this_run(stage, ticket) == ""
    permission = stage.gate()._permissions.find(EVIL, 443)
    assert permission is not None and permission.reach.name == "PUBLIC"


async def test_the_same_word_twice_at_once_counts_once_more_and_harms_nothing(stage: HostStage) -> None:
    ticket = await stage.refused()
    said = await asyncio.gather(*(for_this_run(stage, ticket) for _ in range(5)))
    assert said == [""] * 5 and stage.allows()


async def test_revoking_a_grant_ends_it_for_the_runs_that_go_on(stage: HostStage) -> None:
    ticket = await stage.refused()
    grant = await stage.engine.hosts.allow_always(ticket.request_id, EVIL, 443)
    await stage.approved(ONLINE)
    assert stage.allows(number=0) and stage.allows(number=1)
    revoking = spawn("revoke", stage.engine.remembering.revoke((grant.name,), "no more"))
    await asyncio.sleep(0)
    assert not stage.allows(number=0) and not stage.allows(number=1), "before anything is written"
    await revoking
    again = await stage.asked(ONLINE)
    assert again.case.request.domains == (GOOD,) and not again.case.request.granted


async def test_a_grant_that_was_revoked_after_the_question_does_not_count(stage: HostStage) -> None:
    ticket = await stage.refused()
    grant = await stage.engine.hosts.allow_always(ticket.request_id, EVIL, 443)
    again = await stage.asked(ONLINE)
    await stage.engine.remembering.revoke((grant.name,), "no more")
    from runner.model.decision import Verdict

    assert stage.engine.answer(again.request_id, again.case.request.digest, Verdict.APPROVED, "") == ""
    await stage.until(lambda: len(stage.sandbox.runs) == 2)
    assert not stage.allows() and stage.allows(GOOD)


async def test_a_grant_ends_with_its_time_while_a_run_goes_on(
    stage: HostStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from runner.model.result import Usage

    ticket = await stage.refused()
    grant = await stage.engine.hosts.allow_always(ticket.request_id, EVIL, 443, seconds=600.0)
    second = await stage.approved(ONLINE)
    networking = stage.engine.runs._networking
    networking.reading(second.request_id, Usage(0.1))
    assert stage.allows()
    monkeypatch.setattr(networking, "_now", lambda: grant.expires_at)
    networking.reading(second.request_id, Usage(0.2))
    assert not stage.allows()


async def test_a_grant_is_used_up_by_runs(stage: HostStage, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = await stage.refused()
    grant = await stage.engine.hosts.allow_always(ticket.request_id, EVIL, 443)
    grants = stage.engine.parts.configuration.grants
    grants._grants = {grant.name: replace(grant, used=grant.uses - 1)}
    await stage.approved(ONLINE)
    assert stage.allows(), "the last use"
    assert (await stage.asked(ONLINE)).case.request.granted == ()


async def test_uses_that_cannot_be_recorded_give_no_host(stage: HostStage, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = await stage.refused()
    await stage.engine.hosts.allow_always(ticket.request_id, EVIL, 443)

    async def full(_table: object) -> None:
        raise KnownError("The disk is full.", "Free some.")

    monkeypatch.setattr(stage.engine.parts.configuration.grants, "_write", full)
    await stage.approved(ONLINE)
    assert not stage.allows() and stage.allows(GOOD)


async def test_stopping_closes_the_gate_before_the_run_has_ended(stage: HostStage) -> None:
    ticket = await stage.refused()
    stage.sandbox.runs[0].stop = lambda why: None  # type: ignore[method-assign] # it takes its time
    stage.engine.runs.stop(ticket.request_id)
    assert stage.gate().closed
    assert await for_this_run(stage, ticket) == CLOSED


async def test_a_revoked_grant_closes_nothing_for_another_agent(stage: HostStage) -> None:
    ticket = await stage.refused()
    grant = await stage.engine.hosts.allow_always(ticket.request_id, EVIL, 443)
    await stage.approved(replace(ONLINE, agent="codex", allowed_domains=(EVIL,)))
    await stage.engine.remembering.revoke((grant.name,), "no more")
    assert stage.allows(number=1) and not stage.allows(number=0)


async def test_a_trust_window_allows_no_host(stage: HostStage) -> None:
    ticket = await stage.refused()
    await stage.engine.modes.trust("claude", 600)
    assert not stage.allows()
    asked = await stage.asked(ONLINE)
    assert asked.case.decision is None, "a networked request is asked in a trust window too"
    assert stage.contacts(ticket)


async def test_the_grants_of_one_agent_are_not_those_of_another(stage: HostStage) -> None:
    ticket = await stage.refused()
    await stage.engine.hosts.allow_always(ticket.request_id, EVIL, 443)
    other = await stage.asked(replace(ONLINE, agent="codex"))
    assert other.case.request.domains == (GOOD,)
    assert stage.engine.hosts.granted("codex") == () and stage.engine.hosts.granted("claude") == (Destination(EVIL),)
