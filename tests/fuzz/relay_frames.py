"""Frames of a relay that the code may write itself: read alike however they are cut, and in bounded memory."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from runner.sandbox.container.mux import COUNT, HEAD, MOST_STREAMS, PIECE, WINDOW, BadFrame, Mux
from tests.fuzz.mutation import cut, generated, mutated
from tests.patience import HANGS

if TYPE_CHECKING:
    from runner.network.visit import Pipe

KINDS = (b"o", b"d", b"e", b"w", b"c", b"x", b"\0")
COUNTS = (0, 1, WINDOW // 4, WINDOW, WINDOW + 1, 0xFFFFFFFF)


def check(data: bytes) -> None:
    """Fail where frames are read in several ways, or take more memory than they may."""
    asyncio.run(_check(data))


async def _check(data: bytes) -> None:
    source = random.Random(len(data))
    pieces = ([data], cut(source, data), [data[at : at + 1] for at in range(min(len(data), 3000))] + [data[3000:]])
    # A gate that does nothing makes no difference of time; one that answers must leave nothing behind.
    read = [await _fed(parts, _wait) for parts in pieces]
    assert read[0] == read[1] == read[2]
    await _fed(cut(source, data), _echo)


async def _fed(parts: list[bytes], serve: object) -> tuple[bool, list[int]]:
    async def write(frame: bytes) -> None:
        while frame:
            number, kind, size = HEAD.unpack_from(frame)
            assert number and kind in b"dewc" and size <= min(PIECE, len(frame) - HEAD.size)
            frame = frame[HEAD.size + size :]

    mux, bad = Mux(serve, write), False  # type: ignore[arg-type] # one of the two below
    try:
        for part in parts:
            mux.feed(part)
            assert len(mux._pipes) <= MOST_STREAMS
            assert len(mux._buffer) < HEAD.size + PIECE
            assert all(sum(map(len, pipe._parts)) <= WINDOW for pipe in mux._pipes.values())
            if serve is _echo:
                await asyncio.sleep(0)
    except BadFrame:
        bad = True
    found = sorted(mux._pipes)
    async with asyncio.timeout(HANGS):
        await mux.close()
    assert not mux._serving
    return bad, found


async def _wait(_pipe: Pipe, _target: str) -> None:
    await asyncio.Event().wait()


async def _echo(pipe: Pipe, _target: str) -> None:
    try:
        while data := await pipe.read():
            await pipe.write(data)
        await pipe.finish()
    except OSError:
        return


def run(seconds: float, seed: int) -> int:
    return generated("relay_frames", made, check, seconds, seed)


def made(source: random.Random) -> bytes:
    data = b"".join(_frame(source, number // 3) for number in range(source.randint(0, 40)))
    return mutated(source, [data]) if source.random() < 0.5 else data


def _frame(source: random.Random, about: int) -> bytes:
    kind = source.choice(KINDS[: source.choice([5, 5, 5, 7])])
    number = about if kind == b"o" else source.randint(0, about + 1)
    match kind:
        case b"w":
            body = COUNT.pack(source.choice(COUNTS))
        case b"d":
            body = bytes(source.choice([0, 1, 100, 100, PIECE - 1, PIECE]))
        case b"o":
            body = source.choice([b"", b"good.example:80", source.randbytes(source.randint(0, 300))])
        case _:
            body = b""
    size = len(body) if source.random() < 0.95 else source.randint(0, (1 << 32) - 1)
    return HEAD.pack(number, kind, size) + body
