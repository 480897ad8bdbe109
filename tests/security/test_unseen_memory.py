"""Memory that is not among the pages of any process: refused, or counted against the limit all the same."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language
from runner.model.result import Outcome
from runner.sandbox.local import control_groups
from tests.patience import HANGS
from tests.sandbox.conftest import Lab

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def ungrouped() -> Iterator[Lab]:
    """A sandbox that may make no control groups: only what is read below /proc counts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(control_groups, "OWN", Path("/none"))
        with tempfile.TemporaryDirectory(prefix="assent-test-") as root:
            lab = Lab(Path(root), True)
            assert asyncio.run(lab.sandbox.check()).ready
            patch.undo()
            yield lab


LIMIT_MB = 128
WANTED_MB = 1_200
WAIT = "\nimport time\nprint('got', got, flush=True)\ntime.sleep(15)"
MEMORY_FILES = """
import ctypes, os
libc, got, block = ctypes.CDLL(None, use_errno=True), 0, bytes(1 << 20)
for n in range(12):
    if (fd := libc.memfd_create(b"x", 0)) < 0: break
    for _ in range(100): got += os.write(fd, block)
"""
SEGMENTS = """
import ctypes
libc, got = ctypes.CDLL(None, use_errno=True), 0
libc.shmat.restype = ctypes.c_void_p
for n in range(12):
    if (segment := libc.shmget(0, 100 << 20, 0o1600)) < 0: break
    place = libc.shmat(segment, None, 0)
    ctypes.memset(place, 1, 100 << 20); libc.shmdt(ctypes.c_void_p(place)); got += 100 << 20
"""
MESSAGES = """
import ctypes
libc, got = ctypes.CDLL(None, use_errno=True), 0
while (queue := libc.msgget(0, 0o1600)) >= 0:
    for _ in range(2):
        if libc.msgsnd(queue, bytes([1] * 8) + bytes(8192), 8192, 0o4000) < 0: break
        got += 8192
"""
HANDED = """
import os
got, block = 0, bytes(1 << 20)
for fd in [0, *(int(one) for one in os.listdir("/proc/self/fd") if int(one) > 2)]:
    try:
        for path in (fd, f"/proc/self/fd/{fd}"):
            with open(path, "r+b", 0, closefd=False) as file:
                file.seek(0, 2)
                for _ in range(400): got += file.write(block)
    except (OSError, ValueError): pass
"""
PAGES = """
import mmap
held, got = [], 0
for n in range(12):
    area = mmap.mmap(-1, 100 << 20)
    for at in range(0, 100 << 20, 4096): area[at] = 1
    area.madvise(mmap.MADV_DONTNEED); held.append(area); got += 100 << 20
"""
MOSTLY_UNMAPPED = """
import ctypes
libc, got, size = ctypes.CDLL(None, use_errno=True), 0, 20 << 20
place, length, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
libc.mmap.restype, libc.mmap.argtypes = place, [place, length, number, number, number, ctypes.c_long]
libc.munmap.argtypes, libc.memset.argtypes = [place, length], [place, number, length]
for n in range(60):
    area = libc.mmap(None, size, 3, 0x21, -1, 0)
    libc.memset(area, 1, size); got += size
    libc.munmap(area + 4096, size - 4096)
"""
HIDDEN_BEHIND_OTHERS = (
    MOSTLY_UNMAPPED.replace("range(60)", "range(20)")
    + """
import mmap, os
with open("/dev/shm/x", "w+b") as file:
    file.write(bytes(50 << 20))
    file.flush()
    for n in range(8):
        if os.fork() == 0: break
    area = mmap.mmap(file.fileno(), 50 << 20)
    for at in range(0, 50 << 20, 4096): area[at]
"""
)
PAIRS = """
import os, socket
def fill(one):
    got = 0
    one.setblocking(False)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
    try:
        while True: got += one.send(bytes(65536))
    except OSError: return got
held, got = [], 0
for process in range(8):
    if process < 7 and os.fork(): continue
    try:
        while True:
            pair = socket.socketpair()
            held += pair
            got += fill(pair[0]) + fill(pair[1])
    except OSError: break
"""
NOT_ACCEPTED = """
import socket
got = 0
server = socket.socket(socket.AF_UNIX); server.bind("\\0x"); server.listen(4096)
for n in range(4000):
    one = socket.socket(socket.AF_UNIX); one.setblocking(False)
    try:
        one.connect("\\0x")
        while True: got += one.send(bytes(65536))
    except OSError: pass
    one.close()
"""
INTERNET6 = """
import socket
held, got = [], 0
server = socket.create_server(("::1", 0), family=socket.AF_INET6, backlog=100)
for n in range(80):
    one = socket.create_connection(server.getsockname()[:2]); one.setblocking(False)
    held += one, server.accept()[0]
    try:
        while True: got += one.send(bytes(65536))
    except OSError: pass
"""
REFUSED = {"memory files": MEMORY_FILES, "shared segments": SEGMENTS, "messages": MESSAGES}
ENDED = {
    "pages given back": PAGES,
    "shared and mostly unmapped": MOSTLY_UNMAPPED,
    "shared and hidden behind files": HIDDEN_BEHIND_OTHERS,
    "sockets": PAIRS,
    "connections that nobody accepts": NOT_ACCEPTED,
    "connections over IPv6": INTERNET6,
}


@pytest.mark.parametrize("code", REFUSED.values(), ids=REFUSED)
def test_calls_for_memory_without_a_limit_are_refused(bwrap: Lab, code: str) -> None:
    result = bwrap.run(code + "print('got', got)", memory_mb=LIMIT_MB)
    assert (result.outcome, result.stdout) == (Outcome.OK, "got 0\n"), result


@pytest.mark.parametrize("code", ENDED.values(), ids=ENDED)
def test_memory_that_is_not_among_pages_ends_the_run(bwrap: Lab, code: str) -> None:
    result = bwrap.run(code + WAIT, memory_mb=LIMIT_MB, seconds=2 * HANGS)
    assert result.outcome is Outcome.OUT_OF_MEMORY, result
    assert result.duration < HANGS


@pytest.mark.parametrize("code", ENDED.values(), ids=ENDED)
def test_it_does_so_without_control_groups(ungrouped: Lab, code: str) -> None:
    if "munmap" in code and os.geteuid() != 0:
        pytest.skip("only root sees how much of shared memory is taken")
    result = ungrouped.run(code + WAIT, memory_mb=LIMIT_MB, seconds=2 * HANGS)
    assert result.outcome is Outcome.OUT_OF_MEMORY, result
    assert result.duration < HANGS


def test_shared_memory_that_is_being_filled_counts_once(ungrouped: Lab) -> None:
    code = """
import mmap, time
area = mmap.mmap(-1, 80 << 20)
for at in range(0, 80 << 20, 1 << 20):
    area[at : at + (1 << 20)] = bytes(1 << 20)
    time.sleep(0.003)
print("end")
"""
    result = ungrouped.run(code, memory_mb=LIMIT_MB)
    assert (result.outcome, result.stdout) == (Outcome.OK, "end\n"), result


def test_what_is_handed_in_cannot_be_written_to(bwrap: Lab) -> None:
    """The standard input and the channel for the report are in memory, which is the console's."""
    result = bwrap.run(HANDED + "print(got >> 20)", memory_mb=LIMIT_MB, disk_mb=64, stdin="x")
    assert int(result.stdout) == 0, result


def test_the_room_of_sockets_cannot_be_raised(bwrap: Lab) -> None:
    code = """
import socket
one, _ = socket.socketpair()
before = one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
print(one.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == before)
"""
    assert bwrap.run(code).stdout == "True\n"


def test_ordinary_programs_have_room_for_sockets_and_shared_memory(bwrap: Lab) -> None:
    code = """
import mmap, multiprocessing, multiprocessing.shared_memory, socket, time
pairs = [socket.socketpair() for _ in range(100)]
area = mmap.mmap(-1, 20 << 20); area[:] = bytes(20 << 20)
block = multiprocessing.shared_memory.SharedMemory(create=True, size=10 << 20)
block.buf[:4] = b"here"
with multiprocessing.Pool(2) as pool: print(sum(pool.map(abs, range(-9, 0))))
time.sleep(0.5); block.close(); block.unlink()
"""
    result = bwrap.run(code, memory_mb=256)
    assert (result.outcome, result.stdout) == (Outcome.OK, "45\n"), result


def test_node_needs_none_of_what_is_refused(bwrap: Lab) -> None:
    code = """
const { Worker } = require('worker_threads');
const shared = new SharedArrayBuffer(1 << 20);
new Worker("require('worker_threads').workerData[0] = 7", { eval: true, workerData: new Uint8Array(shared) })
  .on('exit', () => console.log(new Uint8Array(shared)[0]));
"""
    assert bwrap.run(code, Language.JAVASCRIPT, memory_mb=256).stdout == "7\n"
