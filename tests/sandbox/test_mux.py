"""The console's end of a relay: carries bytes both ways within bounds, and ends for a frame that no relay sends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import hypothesis
import pytest
import pytest_asyncio
from hypothesis import strategies

from runner.sandbox.container.mux import (
    COUNT,
    HEAD,
    LONGEST_TARGET,
    MOST_STREAMS,
    PIECE,
    WIDE_WINDOW,
    WINDOW,
    BadFrame,
    Mux,
)
from runner.system import tasks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from runner.network.visit import Pipe

pytestmark = pytest.mark.asyncio


def frame(number: int, kind: bytes, data: bytes = b"") -> bytes:
    return HEAD.pack(number, kind, len(data)) + data


class Wire:
    """A mux and what it has sent, taken apart; its gate does `serve` and notes the targets."""

    def __init__(self, how: str = "echo") -> None:
        self.mux = Mux(self.serve, self.write)
        self.sent: list[tuple[int, bytes, bytes]] = []
        self.targets: list[str] = []
        self.pipes: list[Pipe] = []
        self.failures: list[OSError] = []
        self.writes = 0
        self._how = how

    async def serve(self, pipe: Pipe, target: str) -> None:
        self.targets.append(target)
        self.pipes.append(pipe)
        try:
            if self._how == "waits":
                await asyncio.Event().wait()
            while data := await pipe.read():
                await pipe.write(data)
            await pipe.finish()
        except OSError as error:
            self.failures.append(error)

    async def write(self, data: bytes) -> None:
        self.writes += 1
        while data:
            number, kind, size = HEAD.unpack_from(data)
            assert len(data) >= HEAD.size + size
            self.sent.append((number, kind, bytes(data[HEAD.size : HEAD.size + size])))
            data = data[HEAD.size + size :]

    def bytes_to(self, number: int) -> bytes:
        return b"".join(data for to, kind, data in self.sent if (to, kind) == (number, b"d"))

    def kinds(self, number: int) -> list[bytes]:
        return [kind for to, kind, _ in self.sent if to == number and kind not in b"dw"]


async def settled() -> None:
    for _ in range(60):
        await asyncio.sleep(0)


@pytest_asyncio.fixture
async def wire() -> AsyncIterator[Wire]:
    made = Wire()
    yield made
    await made.mux.close()
    assert not tasks.live()


@pytest_asyncio.fixture
async def deaf() -> AsyncIterator[Wire]:
    """Its gate never reads."""
    made = Wire("waits")
    yield made
    await made.mux.close()
    assert not tasks.live()


async def test_a_connection_is_carried_both_ways_and_its_place_is_free_at_the_end(wire: Wire) -> None:
    wire.mux.feed(frame(0, b"o") + frame(1, b"o", b"good.example:80") + frame(1, b"d", b"hello"))
    await settled()
    assert wire.mux.ready.is_set() and wire.targets == ["good.example:80"]
    # Room is given back by quarters: a small exchange needs no frame for it.
    assert wire.bytes_to(1) == b"hello" and not [kind for _, kind, _ in wire.sent if kind == b"w"]
    wire.mux.feed(frame(1, b"e"))
    await settled()
    assert wire.kinds(1) == [b"e", b"c"]
    wire.mux.feed(frame(1, b"d", b"late") + frame(1, b"w", COUNT.pack(1)) + frame(1, b"c"))  # it did not know yet
    for number in range(2, 5 * MOST_STREAMS):
        wire.mux.feed(frame(number, b"o") + frame(number, b"e"))
        await settled()
        assert wire.kinds(number)[-1:] == [b"c"]


async def test_an_answer_and_its_end_are_one_write(wire: Wire) -> None:
    wire.mux.feed(frame(1, b"o") + frame(1, b"d", b"hello") + frame(1, b"e"))
    await settled()
    assert [kind for _, kind, _ in wire.sent] == [b"d", b"e", b"c"] and wire.writes == 1


async def test_no_more_is_sent_than_there_is_room_for(wire: Wire) -> None:
    wire.mux.feed(frame(1, b"o"))
    await settled()
    writing = tasks.spawn("writing", wire.pipes[0].write(bytes(3 * WINDOW)))
    await settled()
    assert len(wire.bytes_to(1)) == WINDOW and not writing.done()
    wire.mux.feed(frame(1, b"w", COUNT.pack(1000)))
    await settled()
    assert len(wire.bytes_to(1)) == WINDOW + 1000
    for _ in range(2):
        wire.mux.feed(frame(1, b"w", COUNT.pack(WINDOW)))
        await settled()
    await writing
    assert len(wire.bytes_to(1)) == 3 * WINDOW
    assert all(len(data) <= PIECE for _, kind, data in wire.sent if kind == b"d")


async def test_room_is_given_back_before_the_relay_can_run_out_of_it(wire: Wire) -> None:
    wire.mux.feed(OPEN)
    given = 0
    for count in range(1, 10 * WINDOW // PIECE):
        wire.mux.feed(frame(1, b"d", bytes(PIECE)))
        await settled()
        given = sum(COUNT.unpack(data)[0] for _, kind, data in wire.sent if kind == b"w")
        assert count * PIECE - given < WINDOW // 2
        wire.mux.feed(frame(1, b"w", COUNT.pack(PIECE)))  # the test's gate sends back what it reads
        await settled()
    assert given > 9 * WINDOW


async def test_a_connection_that_the_code_drops_fails_for_the_gate(wire: Wire) -> None:
    wire.mux.feed(frame(1, b"o") + frame(1, b"d", b"read first") + frame(1, b"c"))
    await settled()
    assert len(wire.failures) == 1 and wire.kinds(1) == [b"c"]


OPEN = frame(1, b"o")
FULL = OPEN + b"".join(frame(1, b"d", bytes(PIECE)) for _ in range(WINDOW // PIECE))
BAD = {
    "larger than any frame": HEAD.pack(1, b"d", PIECE + 1),
    "as large as can be": HEAD.pack(1, b"d", 0xFFFFFFFF),
    "unknown kind": OPEN + frame(1, b"x"),
    "unknown kind of nothing": frame(0, b"x"),
    "never opened": OPEN + frame(2, b"d", b"x"),
    "opened twice": OPEN + OPEN,
    "number goes back": frame(7, b"o") + frame(6, b"o"),
    "too many": b"".join(frame(number + 1, b"o") for number in range(MOST_STREAMS + 1)),
    "too many, closed at once": b"".join(frame(n + 1, b"o") + frame(n + 1, b"c") for n in range(MOST_STREAMS + 1)),
    "target": frame(1, b"o", bytes(LONGEST_TARGET + 1)),
    "more than the window": FULL + frame(1, b"d", b"x"),
    "no data": OPEN + frame(1, b"d"),
    "data after the end": OPEN + frame(1, b"e") + frame(1, b"d", b"x"),
    "room that was not taken": OPEN + frame(1, b"w", COUNT.pack(WIDE_WINDOW - WINDOW + 1)),
    "count of three bytes": OPEN + frame(1, b"w", b"\0\0\1"),
}


@pytest.mark.parametrize("name", BAD)
async def test_what_no_relay_sends_ends_it(deaf: Wire, name: str) -> None:
    with pytest.raises(BadFrame):
        deaf.mux.feed(BAD[name])


async def test_what_is_allowed_up_to_the_bounds_is_taken(deaf: Wire) -> None:
    deaf.mux.feed(FULL)
    deaf.mux.feed(b"".join(frame(number, b"o") for number in range(2, MOST_STREAMS + 1)))
    await settled()
    assert len(deaf.targets) == MOST_STREAMS


async def test_the_end_fails_every_connection_and_waits_for_the_gate(wire: Wire) -> None:
    wire.mux.feed(b"".join(frame(number, b"o") for number in range(1, 4)))
    await settled()
    writing = tasks.spawn("writing", wire.pipes[0].write(bytes(3 * WINDOW)))
    await settled()
    await wire.mux.close()
    with pytest.raises(ConnectionResetError):
        await writing
    with pytest.raises(ConnectionResetError):
        await wire.pipes[1].read()


@hypothesis.given(
    strategies.lists(
        strategies.one_of(
            strategies.binary(max_size=20),
            strategies.builds(
                frame,
                strategies.integers(0, 4),
                strategies.sampled_from([b"o", b"d", b"e", b"w", b"c", b"x"]),
                strategies.one_of(strategies.binary(max_size=8), strategies.just(bytes(PIECE))),
            ),
        ),
        max_size=30,
    ),
    strategies.integers(1, 1 << 17),
)
async def test_frames_are_read_alike_however_they_are_cut(frames: list[bytes], size: int) -> None:
    data = b"".join(frames)
    seen = []
    for step in (len(data) + 1, size):
        wire, bad = Wire("waits"), False
        try:
            for at in range(0, len(data), step):
                wire.mux.feed(data[at : at + step])
        except BadFrame:
            bad = True
        pipes = wire.mux._pipes
        assert len(pipes) <= MOST_STREAMS and all(pipe._held <= WINDOW + PIECE for pipe in pipes.values())
        assert len(wire.mux._buffer) <= len(data)
        seen.append((bad, sorted(pipes), [pipe._ended for pipe in pipes.values()]))
        await wire.mux.close()
    assert seen[0] == seen[1]
