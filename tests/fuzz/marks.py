"""Frames and marks of a container: read alike however they are cut, in bounded memory, each word for its own marks."""

from __future__ import annotations

import random

from runner.sandbox.container.frames import HEAD_OF_MARK, MARK, Frames, Marks, Words
from runner.sandbox.output import Stream
from tests.fuzz.mutation import cut, generated, mutated

WORDS = Words("0123456789abcdef", "fedcba9876543210")
LARGEST = 50
"""Bytes of a report."""
HEADS = tuple(MARK + word.encode() + b":" for word in (WORDS.interpreter, WORDS.keeper, "f" * 16))
LENGTHS = (b"00000000", b"00000003", b"ffffffff", b"-0000001", b"-000ffff", b"0x000001", b"0_000_01", b"00000033")


def check(data: bytes) -> None:
    """Fail where the frames in `data`, or the marks in their error stream, are read wrongly."""
    source = random.Random(len(data))
    pieces = ([data], cut(source, data), [bytes([byte]) for byte in data])
    read = [_frames(parts) for parts in pieces]
    assert read[0] == read[1] == read[2]
    assert sum(map(len, read[0])) <= len(data)
    for stream in (data, read[0][1]):
        found = [_marks(parts) for parts in ([stream], cut(source, stream), [bytes([byte]) for byte in stream])]
        assert found[0] == found[1] == found[2]
        shown, rest, status, version, report = found[0]
        assert len(shown) + len(rest) <= len(stream)
        assert len(report) <= LARGEST
        assert status is None or (0 <= status < 1000 and HEADS[1] in stream)
        assert version is None or HEADS[0] in stream


def _frames(parts: list[bytes]) -> list[bytes]:
    frames = Frames()
    got = [pair for part in parts for pair in frames.feed(part)]
    return [b"".join(piece for stream, piece in got if stream is one) for one in Stream]


def _marks(parts: list[bytes]) -> tuple[bytes, bytes, int | None, str | None, bytes]:
    marks, rest = Marks(WORDS, LARGEST), bytearray()
    marks.take_rest = rest.extend
    shown = bytearray()
    for part in parts:
        shown += marks.feed(part)
        assert len(marks._held) < HEAD_OF_MARK and len(marks._body) <= 2 * LARGEST
    return bytes(shown) + marks.rest(), bytes(rest), marks.status, marks.version, marks.report


def run(seconds: float, seed: int) -> int:
    return generated("marks", made, check, seconds, seed)


def made(source: random.Random) -> bytes:
    pieces = [_piece(source) for _ in range(source.randint(0, 8))]
    if source.random() < 0.5:
        return mutated(source, [b"".join(pieces)])
    return mutated(source, [b"".join(_framed(source, piece) for piece in pieces)])


def _piece(source: random.Random) -> bytes:
    match source.randint(0, 3):
        case 0:
            return source.randbytes(source.randint(0, 30))
        case 1:
            return source.choice([MARK, MARK[:3], *HEADS, HEADS[0][:-4]])
        case _:
            size = source.choice([*LENGTHS, b"%08x" % source.randint(0, 120)])
            body = source.choice([b"007", b"3.11.7", b"", source.randbytes(source.randint(0, 60))])
            return source.choice(HEADS) + source.choice([b"R", b"E", b"C", b"X"]) + size + b"\n" + body


def _framed(source: random.Random, piece: bytes) -> bytes:
    size = len(piece) if source.random() < 0.9 else source.randint(0, (1 << 32) - 1)
    return bytes([source.choice([0, 1, 2, 2, 2, 9]), 0, 0, 0]) + size.to_bytes(4, "big") + piece
