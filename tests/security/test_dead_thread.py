"""Processes whose first thread has ended while others live: the kernel shows next to nothing under their number."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.result import Outcome
from runner.sandbox.local import control_groups, leftovers, tree
from runner.sandbox.local.sandbox import LocalSandbox
from tests.patience import HANGS
from tests.sandbox.conftest import job, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.model.result import Result

END_OF_FIRST = """
import ctypes, os, platform, threading, time
def alone(body):
    threading.Thread(target=body).start()
    ctypes.CDLL(None).syscall({"x86_64": 60}.get(platform.machine(), 93), 0)
"""
HOLDS = """
def body():
    global x
    time.sleep(0.3)  # the first thread has ended by now
    x = bytes(1) * (60 << 20)
    print("on", flush=True)
    time.sleep(60)
"""
FILLS = """
def body():
    with open("/workspace/big", "wb") as file:
        for n in range(30): file.write(bytes(1 << 20))
    for n in range(30_000): open(f"/workspace/{n}", "w").close()
    time.sleep(60)
"""
SENDS = """
import socket
def body():
    held = []
    for n in range(400):
        pair = socket.socketpair(); held.append(pair); pair[0].setblocking(False)
        try:
            while True: pair[0].send(bytes(65536))
        except OSError: pass
    time.sleep(60)
"""


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalSandbox]:
    """A sandbox without control groups: only what is read below /proc counts."""
    monkeypatch.setattr(control_groups, "OWN", Path("/none"))
    with tempfile.TemporaryDirectory(prefix="assent-test-") as root:
        yield LocalSandbox(Path(root))


def run(sandbox: LocalSandbox, code: str, **limits: int) -> Result:
    async def body() -> Result:
        try:
            wanted = job(code, **limits)
            return await (await sandbox.start(wanted, lambda _usage: None)).finished()
        finally:
            await sandbox.close()

    return asyncio.run(body())


def test_such_a_process_is_named_by_a_thread_that_lives() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", f"{END_OF_FIRST}{HOLDS}alone(body)"], stdout=subprocess.PIPE
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"on\n"
            assert wait_until(lambda: tree.alive(process.pid) != process.pid)
            found = [tree.alive(process.pid)]
            assert tree.read(found).memory > 60 << 20
            assert tree.proportional_memory(found) > 60 << 20
        finally:
            process.kill()


def test_it_hears_what_it_is_sent_and_is_found_when_its_console_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [sys.executable, "-c", f"{END_OF_FIRST}{HOLDS}alone(body)"]
    # Of this process, and gone in its own eyes alone: consoles of other tests would end it before it is looked at.
    name, lives = leftovers.new_name(), leftovers.owner_lives
    monkeypatch.setattr(leftovers, "owner_lives", lambda one: one != name and lives(one))
    for end in (lambda pid: os.kill(tree.alive(pid), signal.SIGTERM), lambda _: leftovers.sweep(tmp_path / "none")):
        with subprocess.Popen(words, stdout=subprocess.PIPE, env={leftovers.MARKER: name}) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline() == b"on\n"
                end(process.pid)
                assert process.wait(HANGS) in (-signal.SIGTERM, -signal.SIGKILL)
            finally:
                process.kill()


def test_its_memory_counts(sandbox: LocalSandbox) -> None:
    code = f"{END_OF_FIRST}{HOLDS}\nfor n in range(5):\n    if os.fork() == 0: break\nalone(body)"
    assert run(sandbox, code, memory_mb=128).outcome is Outcome.OUT_OF_MEMORY


def test_its_files_count(sandbox: LocalSandbox) -> None:
    result = run(sandbox, f"{END_OF_FIRST}{FILLS}alone(body)", disk_mb=64)
    assert result.outcome is Outcome.OUT_OF_DISK, result


def test_its_sockets_count(sandbox: LocalSandbox) -> None:
    result = run(sandbox, f"{END_OF_FIRST}{SENDS}alone(body)", memory_mb=64)
    assert result.outcome is Outcome.OUT_OF_MEMORY, result
