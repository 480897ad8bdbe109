"""What a person tells a program at work: checked, recorded first, and then handed on."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import time
from typing import TYPE_CHECKING, Any

import pytest

from runner.approval.modes import LOCKDOWN_CHOSEN
from runner.approval.private_addresses import PrivateAddress
from runner.identity.allowance import Allowance
from runner.model.errors import KnownError
from runner.model.work import AsItGoes, CommandAnswered, CommandSeen, StandingSeen, WorkUsage
from runner.work import control, lockdown, project_hosts
from runner.work.control import ControlSocket
from runner.work.in_force import REVOKED
from tests.engine.test_at_work import FakeProgram, a_copy
from tests.engine.test_work_deeds import ENDS, kinds, recorded

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from tests.stages.kept import House

pytestmark = pytest.mark.asyncio
ADDRESSES = {"good.example": ["93.184.216.34"], "inner.example": ["10.1.2.3"], "self.example": ["127.0.0.1"]}


class Listening:
    """A program at work that notes its orders, with the kinds of entries that were in the ledger by then."""

    def __init__(self, house: House, tmp_path: Path) -> None:
        self.house = house
        self.program = FakeProgram(a_copy(house, tmp_path))
        self.name = self.program.copy.name
        self.orders: list[tuple[str, dict[str, Any], list[str]]] = []
        self.refuses = ""
        house.engine.work._orders._look_up = self._look_up
        self.looked_up: Callable[[], Awaitable[None]] | None = None

    async def _look_up(self, host: str, _port: int) -> list[str]:
        if self.looked_up is not None:
            await self.looked_up()
        return ADDRESSES[host]

    def _order(self, do: str) -> Callable[..., dict[str, object]]:
        def order(**given: Any) -> dict[str, object]:
            self.orders.append((do, given, kinds(self.house)))
            if self.refuses:
                raise KnownError(self.refuses)
            if do == "answer":
                self.program.log.add(CommandAnswered(9.0, given["number"], given["run"], given["why"]))
            return {
                "carry": {"address": "127.66.1.2:5173"},
                "usage": {"memory_bytes": 7, "cpu_seconds": 0.5, "processes": 3},
            }.get(do, {})  # type: ignore[return-value]

        return order

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        orders = {do: self._order(do) for do in ("open", "answer", "carry", "end", "usage", "as_it_goes")}
        place = control.place(self.house.places.runtime, self.name)
        with self.program.running(), contextlib.closing(ControlSocket(place, orders)):
            yield
        self.program.close()

    async def open(self, host: str = "good.example", port: int = 443, **more: Any) -> None:
        await self.house.engine.work.open_host(self.name, host, port, **more)

    def done(self) -> list[tuple[str, dict[str, Any]]]:
        return [(do, given) for do, given, _ in self.orders]

    def said(self) -> list[str]:
        return [kind for kind in kinds(self.house) if kind not in ("work-started", "work-seen", "work-ended")]


@pytest.fixture
def at_work(house: House, tmp_path: Path) -> Listening:
    return Listening(house, tmp_path)


async def test_a_host_is_opened_after_it_is_recorded(at_work: Listening) -> None:
    with at_work.running():
        await at_work.house.engine.work.look()
        await at_work.open("Good.Example.")
        (do, given, before) = at_work.orders[0]
        assert (do, given) == ("open", {"host": "good.example", "port": 443, "private": "", "always": False})
        assert "work-open" in before
        body = dict(recorded(at_work.house.places.ledger))["work-open"]
        assert (body["host"], body["name"], body["by"]) == ("good.example", at_work.name, "person")
        for host, port in (("0x7f.1", 443), ("a b", 443), ("good.example", 0)):
            with pytest.raises(KnownError, match="cannot be allowed"):
                await at_work.open(host, port)
        with pytest.raises(KnownError, match="no such working copy"):
            await at_work.house.engine.work.open_host("other", "good.example", 443)
        assert len(at_work.orders) == 1
    assert at_work.said() == ["work-open"]


async def test_addresses_inside_the_own_network_need_a_word_of_their_own(at_work: Listening) -> None:
    with at_work.running():
        await at_work.house.engine.work.look()
        with pytest.raises(PrivateAddress) as caught:
            await at_work.open("inner.example")
        with pytest.raises(PrivateAddress):
            await at_work.open("inner.example", private="10.9.9.9")
        with pytest.raises(KnownError, match="this machine"):
            await at_work.open("self.example", private="127.0.0.1")
        assert at_work.orders == [] and at_work.said() == []
        await at_work.open("inner.example", private=caught.value.address)
        assert at_work.done()[0][1]["private"] == "10.1.2.3"


async def test_a_rule_that_denies_a_host_denies_it_here(at_work: Listening) -> None:
    house = at_work.house
    rules = "rules: [{name: no-evil, action: deny, conditions: [{param: domain, equals: good.example}]}]"
    (house.places.config / "rules.yaml").write_text(rules)
    house.engine.reload()
    with at_work.running():
        await house.engine.work.look()
        with pytest.raises(KnownError, match="no-evil"):
            await at_work.open()
        assert at_work.orders == []


async def test_an_agent_without_network_gets_no_host(at_work: Listening) -> None:
    house = at_work.house
    await house.engine.membership.add("mine")
    await house.engine.membership.allow("mine", Allowance(network=False))
    at_work.program.log.add(StandingSeen(1.0, "mine"))
    with at_work.running():
        await house.engine.work.look()
        with pytest.raises(KnownError, match="does not let this agent ask for network"):
            await at_work.open()
        assert at_work.orders == []
        await house.engine.membership.allow("mine", Allowance())
        await at_work.open()


async def test_a_revoked_agent_takes_its_programs_along(at_work: Listening, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the list of agents cannot be written: the program itself cannot know then."""
    members = at_work.house.engine.membership
    for name in ("mine", "other"):
        await members.add(name)
    at_work.program.log.add(StandingSeen(1.0, "mine"))
    with at_work.running():
        await members.rename("other", "another")
        await members.revoke("another")
        assert at_work.orders == []

        def full(*_given: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("runner.identity.agents.replace_file", full)
        with pytest.raises(KnownError, match="could not be written"):
            await members.revoke("mine")
        assert at_work.done() == [("end", {"why": REVOKED.format("mine")})]


async def test_always_is_for_this_project_and_can_be_taken_back(at_work: Listening, tmp_path: Path) -> None:
    work, places = at_work.house.engine.work, at_work.house.places
    with at_work.running():
        await work.look()
        await at_work.open(always=True)
        await at_work.open(always=True)
    project = at_work.program.copy.project
    (kept,) = await work.hosts()
    assert project_hosts.hosts_of(places, project) == (kept,)
    assert str(kept.destination) == "good.example" and project_hosts.hosts_of(places, tmp_path) == ()
    project.rename(tmp_path / "moved")
    project.mkdir()
    assert project_hosts.hosts_of(places, project) == (), "another folder at the same path"
    await work.forget_host(kept)
    assert await work.hosts() == ()
    assert at_work.said()[-1] == "work-host-forgotten"
    (places.config / project_hosts.NAME).write_text("[{")
    with pytest.raises(KnownError, match="cannot be read"):
        await work.hosts()


@pytest.mark.parametrize("ends", ENDS, ids=lambda one: one.__name__)
async def test_what_ends_an_approval_ends_a_word_about_a_host(
    at_work: Listening, ends: Callable[[House], Awaitable[None]]
) -> None:
    with at_work.running():
        await at_work.house.engine.work.look()

        async def looked_up() -> None:
            await ends(at_work.house)

        at_work.looked_up = looked_up
        with pytest.raises(KnownError):
            await at_work.open(always=True)
        assert not [do for do, _ in at_work.done() if do == "open"]
        assert project_hosts.all_hosts(at_work.house.places) == ()
    at_work.house.engine._closing.why = ""
    at_work.house.set(approve_by="key")


async def test_a_word_that_does_not_arrive_does_not_count(at_work: Listening) -> None:
    with at_work.running():
        await at_work.house.engine.work.look()
        at_work.refuses = "It has ended."
        with pytest.raises(KnownError, match="It has ended"):
            await at_work.open(always=True)
    assert at_work.said() == ["work-open", "work-not-opened"]
    assert project_hosts.all_hosts(at_work.house.places) == ()


async def test_a_held_command_is_answered_after_that_is_recorded(at_work: Listening) -> None:
    work = at_work.house.engine.work
    with at_work.running():
        for number in (1, 2):
            at_work.program.log.add(CommandSeen(2.0, number, "rm -rf ~", "/p", level="CRITICAL", held=True))
        await work.look()
        await work.answer(at_work.name, 1, run=True)
        assert at_work.done() == [("answer", {"number": 1, "run": True, "why": ""})]
        assert "work-answer" in at_work.orders[0][2]
        with pytest.raises(KnownError, match="not waiting any more"):
            await work.answer(at_work.name, 1, run=True)
        at_work.house.set(approve_by="pin")
        with pytest.raises(KnownError, match="PIN"):
            await work.answer(at_work.name, 2, run=True)
        at_work.house.set(approve_by="key")
        at_work.house.engine.trouble("ledger", "The disk is full.", "")
        with pytest.raises(KnownError, match="disk is full"):
            await work.answer(at_work.name, 2, run=True)
        await work.answer(at_work.name, 2, run=False, why="no")
        assert at_work.done()[-1] == ("answer", {"number": 2, "run": False, "why": "no"})
        at_work.house.engine._bulletin.clear("ledger")


async def test_ports_use_and_end(at_work: Listening) -> None:
    work = at_work.house.engine.work
    with at_work.running():
        await work.look()
        assert await work.carry(at_work.name, 5173) == "127.66.1.2:5173"
        assert await work.usage(at_work.name) == WorkUsage(7, 0.5, 3)
        await work.end(at_work.name, "enough")
        assert at_work.done()[-1] == ("end", {"why": "enough"})
    with pytest.raises(KnownError, match="no longer at work"):
        await work.end(at_work.name, "again")
    assert at_work.said() == ["work-carried", "work-end"]


# ---- Lockdown and Stop ----


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("how", ["lockdown", "stop"])
async def test_lockdown_and_stop_end_programs_at_work(at_work: Listening, how: str) -> None:
    with at_work.running():
        if how == "lockdown":
            await at_work.house.engine.modes.lock()
        else:
            at_work.house.engine.stop_all()
        await until(lambda: "end" in dict(at_work.done()))
    assert bool(dict(at_work.done())["end"]["why"])


async def test_nothing_starts_in_lockdown_and_what_slipped_in_is_ended(at_work: Listening) -> None:
    house = at_work.house
    lockdown.require_open(house.places)
    await house.engine.modes.lock()
    with pytest.raises(KnownError, match="in lockdown"):
        lockdown.require_open(house.places)
    with at_work.running():
        await until(lambda: ("end", {"why": LOCKDOWN_CHOSEN}) in at_work.done())
    await house.engine.modes.guard()
    lockdown.require_open(house.places)
    await house.engine.modes.lock()
    await house.engine.close("the console is closed")
    lockdown.require_open(house.places)


async def test_a_console_that_closes_leaves_programs_at_work(at_work: Listening) -> None:
    with at_work.running():
        await at_work.house.engine.work.look()
        await at_work.house.engine.close("the console is closed")
        assert at_work.orders == []


async def test_applying_as_it_goes_is_recorded_before_it_is_switched_on(at_work: Listening) -> None:
    work = at_work.house.engine.work
    with at_work.running():
        await work.look()
        await work.as_it_goes(at_work.name, on=True)
        assert at_work.done() == [("as_it_goes", {"on": True})] and "work-as-it-goes" in at_work.orders[0][2]
        body = dict(recorded(at_work.house.places.ledger))["work-as-it-goes"]
        assert (body["on"], body["by"], body["name"]) == (True, "person", at_work.name)
        at_work.refuses = "It has ended."
        with pytest.raises(KnownError, match="It has ended"):
            await work.as_it_goes(at_work.name, on=True)
        assert at_work.said()[-2:] == ["work-as-it-goes", "work-not-as-it-goes"]
    await work.look()
    with pytest.raises(KnownError, match="no longer at work"):
        await work.as_it_goes(at_work.name, on=True)


@pytest.mark.parametrize("ends", ENDS, ids=lambda one: one.__name__)
async def test_what_ends_an_approval_ends_switching_it_on_and_not_off(
    at_work: Listening, monkeypatch: pytest.MonkeyPatch, ends: Callable[[House], Awaitable[None]]
) -> None:
    house, name = at_work.house, at_work.name
    recorder = house.engine.work._record
    really = recorder.append

    async def append(kind: str, request_id: str, body: Any) -> None:
        await really(kind, request_id, body)
        if kind == "work-as-it-goes":
            monkeypatch.setattr(recorder, "append", really)
            await ends(house)

    with at_work.running():
        await house.engine.work.look()
        monkeypatch.setattr(recorder, "append", append)
        with pytest.raises(KnownError):
            await house.engine.work.as_it_goes(name, on=True)
        assert ("as_it_goes", {"on": True}) not in at_work.done()
        await house.engine.work._orders.as_it_goes(name, on=False, proven=False)
        assert at_work.done()[-1] == ("as_it_goes", {"on": False})
    house.engine._closing.why = ""
    house.set(approve_by="key")


async def test_that_it_switched_itself_off_is_recorded_once_with_the_reason(at_work: Listening) -> None:
    house = at_work.house
    with at_work.running():
        at_work.program.log.add(AsItGoes(time.time(), True))
        at_work.program.log.add(AsItGoes(time.time(), False, "The disk is full."))
        for _ in range(2):
            await house.engine.work.look()
        session = house.engine.work.sessions()[0]
        assert session.as_it_goes is not None and not session.as_it_goes.on
    bodies = [body for kind, body in recorded(house.places.ledger) if kind == "work-as-it-goes"]
    assert [(body["on"], body["why"], body["by"]) for body in bodies] == [(False, "The disk is full.", "as it goes")]
