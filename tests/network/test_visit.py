"""What one connection and all together may use: time, silence, number."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

import pytest

from runner.network import gate, visit
from runner.network.caps import STANDARD
from tests.network.stage import GOOD, Code, Stage, echo, staged
from tests.patience import HANGS

pytestmark = pytest.mark.asyncio


async def ended(stage: Stage) -> str:
    """Return why the gate ended what it had let through."""
    return (await stage.until(lambda contact: contact.allowed is None)).why


async def test_a_connection_on_which_nothing_moves_is_ended() -> None:
    async with staged(f"{GOOD}:7000", caps=replace(STANDARD, idle_seconds=0.2)) as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        async with stage.code() as code:
            await code.connected(GOOD, 7000)
            assert await code.rest() == b""
            assert "nothing moved" in await ended(stage)


async def test_one_that_is_too_old_is_ended_however_busy() -> None:
    async def busy(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.01)

    async with staged(f"{GOOD}:7000", caps=replace(STANDARD, seconds=0.3)) as stage:
        stage.hosts.ports[7000] = await stage.server(busy)
        async with stage.code() as code:
            await code.connected(GOOD, 7000)
            await code.rest()
            assert "seconds old" in await ended(stage)


async def test_a_slow_head_ends_without_an_answer() -> None:
    async with staged(caps=replace(STANDARD, head_seconds=0.2)) as stage, stage.code() as code:
        await code.say("GET ")
        assert await code.rest() == b""
        assert stage.reports == []


async def test_only_so_many_connections_are_open_at_once() -> None:
    async with staged(f"{GOOD}:7000", caps=replace(STANDARD, connections=2)) as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        async with contextlib.AsyncExitStack() as stack:
            codes: list[Code] = [await stack.enter_async_context(stage.code()) for _ in range(3)]
            heads = [await code.connected(GOOD, 7000) for code in codes]
            assert [head.split(b" ")[1] for head in heads] == [b"200", b"200", b"503"]
            assert stage.gate.connections == 2
            assert "2 connections are open" in await ended(stage)
        await stage.idle()
        async with stage.code() as code:
            assert b" 200 " in await code.connected(GOOD, 7000)


async def test_those_that_are_dialed_together_count_together() -> None:
    async with staged(f"{GOOD}:7000", caps=replace(STANDARD, connections=2)) as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        async with contextlib.AsyncExitStack() as stack:
            codes = [await stack.enter_async_context(stage.code()) for _ in range(4)]
            heads = await asyncio.gather(*(code.connected(GOOD, 7000) for code in codes))
            assert sorted(head.split(b" ")[1] for head in heads) == [b"200", b"200", b"503", b"503"]


async def test_connections_that_say_nothing_are_bounded_too() -> None:
    async with staged(caps=replace(STANDARD, connections=2)) as stage, contextlib.AsyncExitStack() as stack:
        for _ in range(4):
            await stack.enter_async_context(stage.code())
        async with asyncio.timeout(HANGS):
            while len(stage.gate._visits) < 4:
                await asyncio.sleep(0)
        async with stage.code() as fifth:
            assert await fifth.rest() == b""
        dropped = await stage.until(lambda contact: contact.allowed is None)
        assert dropped.name == "further connections"


async def test_a_program_that_is_refused_without_end_is_slowed(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(visit, "PAUSE_SECONDS", 0.01)
    plain = asyncio.sleep

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        await plain(seconds)

    async with staged(f"{GOOD}:7000", caps=replace(STANDARD, refusals=3)) as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        monkeypatch.setattr(gate.asyncio, "sleep", sleep)
        for _ in range(5):
            async with stage.code() as code:
                await code.connected(GOOD, 443)
        async with stage.code() as code:
            assert b" 200 " in await code.connected(GOOD, 7000)
        await stage.idle()
        assert pauses == [0.01, 0.01]


async def test_reports_are_not_as_many_as_connections() -> None:
    async with staged() as stage:
        for _ in range(30):
            async with stage.code() as code:
                await code.connected(GOOD, 443)
        await stage.idle()
        (contact,) = stage.gate.contacts
        assert contact.times == 30
        assert len(stage.reports) < 30
        last = await stage.until(lambda one: one.times == 30)
        assert last == contact
