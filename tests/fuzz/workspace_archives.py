"""The archive of a workspace that a container hands out: what is taken stays inside, within bounds, and comes back."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING

from runner.model.file_changes import FileKind
from runner.sandbox.container.archive import BLOCK, LATEST, MAGIC, NANO, read, write
from runner.sandbox.workspace_copy import LONGEST_TARGET, MOST_BYTES, MOST_ENTRIES, PERMISSIONS, NotCopied
from tests.fuzz.mutation import generated, mutated

if TYPE_CHECKING:
    import random

GOOD = (b"./", b"./a/", b"./a/b", b"a/b/c", b"n", b"-rf", b"l" * 150, b"\xe2\x80\xae\xff\n")
NAMES = (b"a", b"./a/", b"a/b", b"./a/b/c", b".", b"", b"..", b"../up", b"/etc/passwd", b"a/../b", b"a//b", b"\xff\n",
         b"x\0y", b"d/" * 60 + b"e", b"l" * 150, b"l" * 5000)  # fmt: skip
KINDS = (b"0", b"\0", b"5", b"5", b"2", b"K", b"1", b"3", b"6", b"L", b"x", b"S")
NUMBERS = (b"", b"0", b"17", b"0000644", b"7777", b"99", b"-1", b"\x80\0\0\1", b"777777777777", b"+1", b"\xb2")


def check(data: bytes) -> None:
    """Fail where something of `data` leads outside, is out of bounds, or does not come back as it was."""
    try:
        copy = read(io.BytesIO(data), ())
    except NotCopied:
        return
    assert len(copy.entries) <= MOST_ENTRIES
    assert sum(one.size for one in copy.entries.values()) <= min(MOST_BYTES, len(data))
    for path, one in copy.entries.items():
        assert b"\0" not in path and not {b"", b".", b".."} & set(path.split(b"/")), path
        above = path.rpartition(b"/")[0]
        assert not above or copy.entries[above].kind is FileKind.FOLDER, path
        assert one.mode & ~PERMISSIONS == 0 and 0 <= one.changed < LATEST * NANO and len(one.target) <= LONGEST_TARGET
        if one.kind is FileKind.FILE:
            content = b"".join(copy.pieces(one))
            assert content == data[one.offset : one.offset + one.size]
            assert one.sha256 == hashlib.sha256(content).hexdigest()
    again = io.BytesIO()
    assert write(again, copy, copy.entries) == len(again.getvalue())
    back = read(again, ())
    assert {path: one.state for path, one in back.entries.items()} == {
        path: one.state for path, one in copy.entries.items()
    }


def run(seconds: float, seed: int) -> int:
    return generated("workspace_archives", made, check, seconds, seed)


def made(source: random.Random) -> bytes:
    """Return an archive whose heads have the right checksum, mostly with mistakes in what they say."""
    whole = b"".join(_entry(source) for _ in range(source.randint(0, 8))) + bytes(2 * BLOCK)
    return mutated(source, [whole]) if source.random() < 0.3 else whole


def _entry(source: random.Random) -> bytes:
    kind, name = source.choice(KINDS), source.choice([*NAMES, source.randbytes(source.randint(1, 9))])
    if source.random() < 0.8:
        kind, name = source.choice(KINDS[:6]), source.choice(GOOD)
    content = b""
    if kind in (b"L", b"K"):
        content = source.choice((*NAMES, *GOOD)) + source.choice([b"\0", b""])
    elif kind in (b"0", b"\0"):
        content = source.randbytes(source.choice([0, 1, 511, 512, 513]))
    size = b"%011o" % len(content) if source.random() < 0.9 else source.choice(NUMBERS)
    mode, changed = (source.choice(NUMBERS) if source.random() < 0.2 else b"0000644" for _ in range(2))
    fields = [(name, 100), (mode, 8), (b"", 8), (b"", 8), (size, 12), (changed, 12), (b" " * 8, 8), (kind, 1)]
    fields += [(source.choice(NAMES), 100), (MAGIC, 8)]
    head = bytearray(b"".join(text[:most].ljust(most, b"\0") for text, most in fields).ljust(BLOCK, b"\0"))
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + content + bytes(-len(content) % BLOCK)
