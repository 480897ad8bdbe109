"""Records of files that a container hands out: what is taken of them stays within its bounds and its folder."""

from __future__ import annotations

import hashlib
import os
import random
import tempfile
from pathlib import Path

from runner.sandbox.container.unpack import Spool
from runner.sandbox.contract import Bounds, Collect
from tests.fuzz.mutation import cut, generated, mutated

BOUNDS = Bounds(files=3, file_bytes=20, all_bytes=40)
PATHS = (b"a", b"b/c", b"", b"..", b"../up", b"/etc/passwd", b"a/../b", b"\xff", b"\xe2\x80\xae", b"d/" * 3000 + b"e")


def check(data: bytes) -> None:
    """Fail where something of `data` gets beyond its bounds, or is taken otherwise when it is cut otherwise."""
    source = random.Random(len(data))
    seen = []
    for parts in ([data], cut(source, data)):
        with tempfile.TemporaryDirectory() as above:
            folder = Path(above, "in")
            folder.mkdir()
            spool = Spool(Collect(folder, BOUNDS))
            for part in parts:
                spool.write(part)
            collector = spool.unpack()
            spool.close()
            stored = {path.name: path.read_bytes() for path in folder.iterdir()}
            assert os.listdir(above) == ["in"]
        files = collector.files
        assert len(files) <= BOUNDS.files
        assert sum(file.size for file in files) <= BOUNDS.all_bytes
        assert {file.sha256 for file in files} == stored.keys()
        assert all(hashlib.sha256(content).hexdigest() == name for name, content in stored.items())
        for file in files:
            assert file.size == len(stored[file.sha256]) <= BOUNDS.file_bytes
            assert file.path.isprintable() and not {"", ".", ".."} & set(file.path.split("/")), file
        assert len({file.path for file in files}) == len(files)
        assert collector.left_out.isprintable() and len(collector.left_out) < 20_000
        seen.append((files, collector.left_out))
    assert seen[0] == seen[1]


def run(seconds: float, seed: int) -> int:
    return generated("file_records", made, check, seconds, seed)


def made(source: random.Random) -> bytes:
    records = b"".join(_record(source) for _ in range(source.randint(0, 8)))
    return mutated(source, [records + source.choice([b"\0", b""]) + source.randbytes(source.randint(0, 80))])


def _record(source: random.Random) -> bytes:
    kind = source.choice([b"f", b"f", b"f", b"b", b"l", b"r", b"", b"x"])
    size = source.choice([b"%d" % source.randint(-5, 60), b"", b"9" * 19, b"\xb2", b"007"])
    return kind + size + b" " + source.choice([*PATHS, source.randbytes(source.randint(0, 9))]) + b"\0"
