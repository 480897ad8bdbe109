"""The gate: what is allowed passes, everything else is refused with a reason, and rules count while a run is active."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

from runner.model.network import NOT_LISTED, Contact, Destination
from runner.network.caps import STANDARD
from tests.network.stage import GOOD, PUBLIC, Web, echo, staged
from tests.patience import at_best

pytestmark = pytest.mark.asyncio


async def test_an_allowed_host_is_reached_through_the_proxy() -> None:
    async with staged(f"{GOOD}:7000") as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        async with stage.code() as code:
            assert b" 200 " in await code.connected(GOOD, 7000)
            await code.say(b"hello")
            assert await code.reader.readexactly(5) == b"hello"
            assert stage.gate.connections == 1
            code.writer.write_eof()
            assert await code.rest() == b""
        await stage.idle()
        assert (stage.gate.sent, stage.gate.received, stage.gate.connections) == (5, 5, 0)
        assert stage.gate.contacts == (Contact(GOOD, 7000, True, sent=5, received=5),)
        assert stage.hosts.dialed == [(PUBLIC, 7000)]
        assert stage.reports[0] == Contact(GOOD, 7000, True)


async def test_without_a_rule_nothing_is_reached_or_looked_up() -> None:
    async with staged() as stage:
        async with stage.code() as code:
            answer = await code.asked(f"CONNECT {GOOD}:443 HTTP/1.1\r\nHost: x\r\n\r\n")
        sentence = f"Blocked by Assent: {GOOD}:443 is not allowed for this sandbox"
        assert answer.startswith(f"HTTP/1.1 403 {sentence}\r\n".encode())
        assert answer.partition(b"\r\n\r\n")[2].startswith(sentence.encode())
        assert stage.hosts.looked_up == []
        assert stage.reports == [Contact(GOOD, 443, False, NOT_LISTED)]
        assert stage.reports[0].can_be_allowed


async def test_a_host_allowed_while_the_run_goes_on_is_reached() -> None:
    async with staged() as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        for allowed in (False, True):
            async with stage.code() as code:
                assert (b" 200 " in await code.connected(GOOD, 7000)) is allowed
            await asyncio.to_thread(stage.gate.allow, Destination(GOOD, 7000))


async def test_a_withdrawn_host_ends_its_open_connections_and_no_others() -> None:
    async with staged(f"{GOOD}:7000", f"{GOOD}:7001") as stage:
        stage.hosts.ports |= dict.fromkeys((7000, 7001), await stage.server(echo))
        async with stage.code() as one, stage.code() as other:
            await one.connected(GOOD, 7000)
            await other.connected(GOOD, 7001)
            await asyncio.to_thread(stage.gate.withdraw, Destination(GOOD, 7000))
            assert await one.rest() == b""
            await other.say(b"still")
            assert await other.reader.readexactly(5) == b"still"
            ended = await stage.until(lambda contact: contact.allowed is None)
            assert (ended.port, ended.why) == (7000, "was ended: it is no longer allowed")
        async with stage.code() as code:
            assert b" 403 " in await code.connected(GOOD, 7000)


async def test_closing_ends_everything_and_nothing_is_served_after() -> None:
    async with staged(f"{GOOD}:7000") as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        async with stage.code() as one, stage.code() as silent:
            await one.connected(GOOD, 7000)
            closing = [threading.Thread(target=stage.gate.close) for _ in range(3)]
            for thread in closing:
                thread.start()
            assert await one.rest() == b""
            assert await silent.rest() == b""
            for thread in closing:
                thread.join()
        stage.gate.allow(Destination(GOOD, 7000))
        async with stage.code() as late:
            assert await late.asked(f"CONNECT {GOOD}:7000 HTTP/1.1\r\n\r\n") == b""


async def test_a_plain_request_is_written_again() -> None:
    web = Web()
    async with staged(f"{GOOD}:80") as stage:
        stage.hosts.ports[80] = await stage.server(web)
        async with stage.code() as code:
            answer = await code.asked(f"GET http://{GOOD}/a?b HTTP/1.1\r\nHost: other\r\nX: y\r\n\r\n")
        assert answer.endswith(b"ok")
        assert web.requests == [f"GET /a?b HTTP/1.1\r\nHost: {GOOD}\r\nX: y\r\nConnection: close\r\n\r\n".encode()]


async def test_over_the_bytes_a_run_may_send_its_connections_end() -> None:
    async with staged(f"{GOOD}:7000", caps=replace(STANDARD, sent=1000)) as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        async with stage.code() as code:
            await code.connected(GOOD, 7000)
            await code.say(bytes(1000))
            assert await code.reader.readexactly(1000) == bytes(1000)
            await code.say(b"x")
            assert await code.rest() == b""
        assert stage.gate.sent == 1000
        ended = await stage.until(lambda contact: contact.allowed is None)
        assert "1,000 bytes that it may send" in ended.why
        async with stage.code() as code:
            assert b" 403 " in await code.connected(GOOD, 7000)


async def test_a_paused_gate_carries_nothing_and_no_time_counts() -> None:
    await at_best(_paused)


async def _paused() -> None:
    caps = replace(STANDARD, idle_seconds=1.5, seconds=1.5, head_seconds=1.5)
    async with staged(f"{GOOD}:7000", caps=caps) as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        async with stage.code() as open_one, stage.code() as greeting:
            await open_one.connected(GOOD, 7000)
            await greeting.say("CONNECT ")
            stage.gate.pause(True)
            await asyncio.sleep(0)
            await open_one.say(b"while paused")
            await asyncio.sleep(2)  # longer than each of the three
            assert (stage.gate.sent, stage.gate.connections) == (0, 1)
            stage.gate.pause(False)
            assert await open_one.reader.readexactly(12) == b"while paused"
            await greeting.say(f"{GOOD}:7000 HTTP/1.1\r\nHost: {GOOD}:7000\r\n\r\n")
            assert b" 200 " in await greeting.head()
            # From then on all of it counts again.
            assert await open_one.rest() == b"" == await greeting.rest()


async def test_a_gate_that_is_paused_before_anything_came_dials_nobody() -> None:
    async with staged(f"{GOOD}:7000") as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        stage.gate.pause(True)
        async with stage.code() as code:
            await code.say(f"CONNECT {GOOD}:7000 HTTP/1.1\r\nHost: {GOOD}:7000\r\n\r\n")
            await stage.busy()
            assert stage.hosts.dialed == []
            stage.gate.pause(False)
            assert b" 200 " in await code.head()
