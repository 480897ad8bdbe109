"""One heap for all threads: what another thread takes of the C library lies in the first one's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TAKEN = """
import ctypes, threading
from runner.system.heap import share_heap

{}
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
taken = []
threads = [threading.Thread(target=lambda: taken.append(libc.malloc(5000))) for _ in range(4)]
for one in threads:
    one.start()
for one in threads:
    one.join()
(line,) = [line for line in open("/proc/self/maps") if line.rstrip().endswith("[heap]")]
first, last = (int(end, 16) for end in line.split()[0].split("-"))
print(all(first <= one < last for one in taken))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of glibc")
@pytest.mark.parametrize(("before", "shared"), [("assert share_heap()", True), ("", False)])
def test_threads_take_memory_from_one_heap(before: str, shared: bool) -> None:
    words = [sys.executable, "-c", TAKEN.format(before)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(shared)]


def test_the_console_has_one_before_it_starts_threads() -> None:
    text = (ROOT / "app/start/opening.py").read_text("utf-8")
    body = text[text.index("def main") :]
    assert re.search(r"^    share_heap\(\)$", body[: body.index("Single(")], re.M)
