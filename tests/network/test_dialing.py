"""Connections by name: one lookup, every address checked, and the connection to the checked address."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from typing import TYPE_CHECKING

import pytest

from runner.model.network import NOT_LISTED, Destination
from runner.network import dialing
from runner.network.addresses import Reach
from runner.network.dialing import DirectDialer, dial
from runner.network.permissions import Permissions
from runner.network.refusals import Blocked
from runner.system import tasks
from tests.network.stage import PATIENCE, PUBLIC, Hosts, free_port, nothing, served

if TYPE_CHECKING:
    from runner.network.dialing import Streams

pytestmark = pytest.mark.asyncio
OTHER = "8.8.8.8"
SIX = "2606:2800:220:1::1"


class Servers:
    """Hosts at addresses of the Internet, each answering, silent or refusing."""

    def __init__(self, **_: str) -> None:
        self.dialed: list[str] = []
        self.answering: set[str] = set()
        self.silent: set[str] = set()
        self.opened: list[asyncio.StreamWriter] = []
        self.given_up: list[str] = []
        self.port = 0

    async def connect(self, address: str, _port: int) -> Streams:
        self.dialed.append(address)
        if address in self.silent:
            try:
                await asyncio.Event().wait()
            finally:
                self.given_up.append(address)
        if address not in self.answering:
            raise ConnectionRefusedError(111, "Connection refused")
        streams = await asyncio.open_connection("127.0.0.1", self.port)
        self.opened.append(streams[1])
        return streams


async def opened(servers: Servers, *addresses: str, seconds: float = PATIENCE) -> str:
    """Connect to a host at `addresses`; return the address that answered."""
    async with served(nothing) as servers.port:
        dialer = DirectDialer(lambda *_: addresses, servers.connect, seconds=seconds)
        _, writer = await dialer.open("a.example", 443, Reach.PUBLIC)
        writer.transport.abort()
        return servers.dialed[-1]


async def test_a_host_is_connected_to_at_the_address_that_was_checked() -> None:
    servers = Servers()
    servers.answering = {PUBLIC}
    assert await opened(servers, PUBLIC) == PUBLIC


async def test_one_that_refuses_is_followed_by_the_next_at_once() -> None:
    servers = Servers()
    servers.answering = {OTHER}
    assert await opened(servers, PUBLIC, OTHER) == OTHER


async def test_one_that_is_silent_is_overtaken_and_given_up() -> None:
    servers = Servers()
    servers.silent, servers.answering = {SIX}, {OTHER}
    assert await opened(servers, SIX, PUBLIC, OTHER) == OTHER
    assert servers.dialed == [SIX, PUBLIC, OTHER]
    assert servers.given_up == [SIX]


async def test_families_take_turns() -> None:
    assert dialing._alternating(["::1", "::2", "::3", "1.1.1.1"]) == ["::1", "1.1.1.1", "::2", "::3"]
    assert dialing._alternating(["1.1.1.1", "::1"]) == ["1.1.1.1", "::1"]
    assert dialing._alternating([]) == []


async def test_where_none_answers_the_last_reason_is_given() -> None:
    with pytest.raises(Blocked, match="cannot be reached: Connection refused") as raised:
        await opened(Servers(), PUBLIC, OTHER)
    assert raised.value.allowed is None


async def test_silence_ends_in_time() -> None:
    servers = Servers()
    servers.silent = {PUBLIC, OTHER}
    with pytest.raises(Blocked, match="does not answer"):
        await opened(servers, PUBLIC, OTHER, seconds=0.4)
    assert sorted(servers.given_up) == sorted(servers.dialed)


@pytest.mark.parametrize("bad", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "fe80::1%eth0"])
@pytest.mark.parametrize("first", [True, False])
async def test_one_bad_address_refuses_all(bad: str, *, first: bool) -> None:
    servers = Servers()
    servers.answering = {PUBLIC}
    with pytest.raises(Blocked, match="leads to a private address") as raised:
        await opened(servers, *((bad, PUBLIC) if first else (PUBLIC, bad)))
    assert (raised.value.allowed, raised.value.address) == (False, bad)
    assert servers.dialed == []


async def test_a_bad_address_behind_many_good_ones_is_seen() -> None:
    with pytest.raises(Blocked, match="private"):
        await opened(Servers(), *(f"8.8.{last}.8" for last in range(50)), "10.0.0.1")


async def test_only_some_addresses_are_tried() -> None:
    servers = Servers()
    with pytest.raises(Blocked):
        await opened(servers, *(f"8.8.{last}.8" for last in range(50)))
    assert len(servers.dialed) == dialing.MOST_ADDRESSES


@pytest.mark.parametrize(("failure", "words"), [(OSError(-2, "Name unknown"), "Name unknown"), (None, "no address")])
async def test_a_name_that_cannot_be_looked_up_is_a_failure_and_no_refusal(failure: OSError | None, words: str) -> None:
    def resolve(_host: str, _port: int) -> list[str]:
        if failure:
            raise failure
        return []

    with pytest.raises(Blocked, match=words) as raised:
        await DirectDialer(resolve).open("a.example", 443, Reach.PUBLIC)
    assert raised.value.allowed is None


async def test_lookups_that_hang_are_counted_until_they_end() -> None:
    release = threading.Event()
    running = threading.Semaphore(0)

    def resolve(_host: str, _port: int) -> list[str]:
        running.release()
        release.wait()
        raise OSError(-3, "late")

    dialer = DirectDialer(resolve, seconds=0.05, lookups=2)
    try:
        for words in ("does not answer", "does not answer", "too many names"):
            with pytest.raises(Blocked, match=words):
                await dialer.open("a.example", 443, Reach.PUBLIC)
        assert running.acquire(blocking=False) and running.acquire(blocking=False)
        assert not running.acquire(blocking=False)
    finally:
        release.set()
    async with asyncio.timeout(PATIENCE):
        while dialer._pending:
            await asyncio.sleep(0)


async def test_without_a_thread_for_a_lookup_none_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    dialer = DirectDialer(lambda *_: [PUBLIC], lookups=1)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        patched.setattr(tasks, "_idle", deque())
        for _ in range(3):
            with pytest.raises(Blocked, match="no more threads"):
                await dialer.open("a.example", 443, Reach.PUBLIC)
    assert dialer._pending == 0


async def test_dial_looks_nothing_up_that_is_not_allowed() -> None:
    hosts = Hosts({"a.example": [PUBLIC]})
    with pytest.raises(Blocked, match=NOT_LISTED):
        await dial(Permissions([Destination("b.example")]), "a.example", 443, hosts.dialer())
    assert hosts.looked_up == []


async def test_dial_reaches_what_is_allowed_and_not_what_was_withdrawn_meanwhile() -> None:
    permissions = Permissions([Destination("a.example")])
    async with served(nothing) as port:
        hosts = Hosts({"a.example": [PUBLIC]}, {443: port})
        _, writer = await dial(permissions, "a.example", 443, hosts.dialer())
        writer.transport.abort()

        async def withdrawing(address: str, port: int) -> Streams:
            permissions.withdraw(Destination("a.example"))
            return await hosts.connect(address, port)

        with pytest.raises(Blocked, match=NOT_LISTED):
            await dial(permissions, "a.example", 443, DirectDialer(hosts.resolve, withdrawing))


def configured(port: int) -> Permissions:
    here = [Destination("localhost", port)]
    return Permissions(here, here)


async def test_this_machine_is_looked_up_and_connected_to_for_real() -> None:
    with pytest.raises(Blocked, match="cannot be reached"):
        await dial(configured(port := free_port()), "localhost", port)
    async with served(nothing) as port:
        reader, writer = await dial(configured(port), "localhost", port)
        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()
