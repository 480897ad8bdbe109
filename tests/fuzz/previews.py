"""Previews of files that a run left: whatever is in a file, what is shown of it is bounded and hides nothing."""

from __future__ import annotations

import csv
import io
import json
import struct
import zlib
from typing import TYPE_CHECKING

from app.files.answer import pack, unpack
from app.files.found import MOST_TEXT, WIDEST, Picture, Table, Text, form_of
from app.files.preview import MOST_CELL, MOST_COLUMNS, MOST_ROWS, preview
from app.files.result_card import card
from runner.model.shown import hides
from tests.fuzz.mutation import generated, mutated

if TYPE_CHECKING:
    import random

NAMES = ("a.png", "a.jpg", "a.csv", "a.tsv", "a.json", "a.py", "a.sh", "a", "a.txt")


def check(data: bytes) -> None:
    """Fail where a preview of `data`, under any name, is larger than it may be."""
    for name in NAMES:
        found = preview(data, name)
        assert len(found.said) < 1000
        if isinstance(found, Picture):
            assert 0 < found.width <= WIDEST and 0 < found.height <= WIDEST
            assert unpack(pack(found)) == found
        elif isinstance(found, Table):
            assert len(found.rows) <= MOST_ROWS + 1
            for row in found.rows:
                assert len(row) <= MOST_COLUMNS
                # Each character may be written as an escape.
                assert all(
                    len(cell) <= 12 * MOST_CELL + 1 and not any(map(hides, cell.replace("\n", ""))) for cell in row
                )
        else:
            assert isinstance(found, Text) and len(found.text) <= MOST_TEXT
    for name in (*NAMES, "a.md"):
        # Not those that Qt draws, which takes long: `preview` draws the same.
        if not form_of(data):
            shown = card(data, name)
            assert unpack(pack(shown)) == shown


def run(seconds: float, seed: int) -> int:
    return generated("previews", made, check, seconds, seed)


def made(source: random.Random) -> bytes:
    match source.randint(0, 4):
        case 0:
            return mutated(source, [_picture(source)])
        case 4:
            return mutated(source, [_scans(source)])
        case 1:
            return mutated(source, [_table(source)])
        case 2:
            value = [{"a": "\u202e\u0301" * source.randint(0, 9)}, [[]] * source.randint(0, 99), 10**300, None]
            return mutated(source, [json.dumps(value * source.randint(0, 20), ensure_ascii=False).encode()])
        case _:
            return source.choice([b"[", b'"', b"{", b",", b"\n", b'"\n', "\u202e".encode()]) * source.randint(0, 50_000)


def _picture(source: random.Random) -> bytes:
    """A PNG that may claim any size."""
    width, height = (source.choice([1, 3, 2401, 1 << 16, (1 << 31) - 1]) for _ in range(2))
    depth, color = source.choice([1, 8, 16]), source.choice([0, 2, 3, 4, 6])
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, source.randint(0, 1))
    pixels = zlib.compress(bytes(source.randint(0, 4000)))
    text = (source.choice([b"zTXt", b"iTXt", b"iCCP", b"tEXt"]), b"a\0\0" + zlib.compress(bytes(100_000)))
    others = [text] * source.choice([0, 1, 99, 101, 1000])
    chunks = ((b"IHDR", header), *others, (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )


def _scans(source: random.Random) -> bytes:
    """A progressive JPEG with many scans in which nothing is."""
    side = source.choice([1, 8, 2401, 30_000]).to_bytes(2, "big")
    table = b"\xff\xdb\0\x43\0" + bytes([1] * 64)
    frame = b"\xff\xc2\0\x0b\x08" + side + side + b"\1\1\x11\0"
    codes = b"\xff\xc4\0\x14\0" + bytes([1, *[0] * 15]) + b"\0"
    scan = b"\xff\xda\0\x08\1\1\0\0\0" + source.choice([b"\0", b"\1"]) + bytes(source.randint(0, 9))
    return b"\xff\xd8" + table + frame + codes + scan * source.choice([1, 5, 99, 101, 4000]) + b"\xff\xd9"


def _table(source: random.Random) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=source.choice(",;\t|"))
    for _ in range(source.randint(0, 40)):
        writer.writerow(["\u202e" * 3, "x" * source.randint(0, 400), '"', "\n"] * source.randint(0, 20))
    return text.getvalue().encode()
