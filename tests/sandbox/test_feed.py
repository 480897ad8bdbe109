"""The socket to which gVisor's kernel reports: what comes too fast, breaks off, or never comes is said."""

from __future__ import annotations

import socket
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.behaviour import NEVER_REPORTED, DeedKind
from runner.model.request import Language
from runner.sandbox.container.frames import MARK
from runner.sandbox.gvisor import feed
from runner.sandbox.gvisor.feed import BROKEN, ENDLESS, SOCKET, UNSEEN, Feed
from runner.sandbox.gvisor.trace_messages import HANDSHAKE
from tests.patience import HANGS
from tests.sandbox.test_trace_messages import EXIT, context, message, number, started

if TYPE_CHECKING:
    from collections.abc import Iterator

SOON = HANGS


class Kernel:
    """What reports to a feed."""

    def __init__(self, folder: Path) -> None:
        self.feed = Feed(folder)
        self.line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.line.settimeout(SOON)
        self.path = str(folder / SOCKET)

    def connect(self) -> None:
        self.line.connect(self.path)
        self.line.send(HANDSHAKE)
        assert self.line.recv(100) == HANDSHAKE

    def begin(self) -> None:
        self.line.send(started(2, b"python3", MARK, b"/workspace/main.py"))
        self.until(lambda: self.feed._trace.begun)
        self.feed.begin(Language.PYTHON, networked=False)

    def until(self, done: object) -> None:
        end = time.monotonic() + SOON
        while not done() and time.monotonic() < end:  # type: ignore[operator]
            time.sleep(0.001)
        assert done()  # type: ignore[operator]

    def close(self) -> None:
        self.line.close()
        self.feed.close()


@pytest.fixture
def kernel() -> Iterator[Kernel]:
    with tempfile.TemporaryDirectory(prefix="assent-test-") as folder:
        made = Kernel(Path(folder))
        yield made
        made.close()


def test_what_was_written_before_the_end_is_in_it(kernel: Kernel) -> None:
    kernel.connect()
    kernel.begin()
    for n in range(50):
        kernel.line.send(started(2, b"p%d" % n, path=b"/bin/p%d" % n))
    kernel.line.send(message(EXIT, context(2) + number(2, 0)))
    found = kernel.feed.finish(time.monotonic())
    assert len(found.of(DeedKind.PROGRAM)) == 50
    assert found.complete
    kernel.line.send(started(2, b"late"))
    assert len(kernel.feed.behaviour.deeds) == 50


def test_what_the_kernel_dropped_is_counted_from_the_beginning_of_the_run(kernel: Kernel) -> None:
    kernel.connect()
    kernel.line.send(message(EXIT, context(9), dropped=5))
    kernel.begin()
    kernel.line.send(message(EXIT, context(9), dropped=12))
    kernel.line.send(b"no message at all")
    assert kernel.feed.finish(time.monotonic()).lost == 12 + 1  # `begin` said that nothing was dropped
    assert not kernel.feed.behaviour.complete


@pytest.mark.parametrize("ended", [False, True])
def test_a_report_that_breaks_off_is_not_taken_for_a_quiet_run(kernel: Kernel, ended: bool) -> None:
    kernel.connect()
    kernel.begin()
    if ended:
        kernel.line.send(message(EXIT, context(2) + number(2, 0)))
    kernel.line.close()
    kernel.until(lambda: kernel.feed._ended is not None)
    over = time.monotonic() + feed.SUDDEN_SECONDS + 1
    assert kernel.feed.finish(over).gap == ("" if ended else BROKEN)


def test_what_is_dropped_at_the_very_end_is_not_taken_for_nothing(kernel: Kernel) -> None:
    kernel.connect()
    kernel.begin()
    kernel.line.send(started(2, b"seen"))
    found = kernel.feed.finish(time.monotonic())
    assert (found.lost, found.gap) == (0, ENDLESS)
    assert not found.complete


def test_a_kernel_that_never_reports_is_said(kernel: Kernel) -> None:
    kernel.feed.begin(Language.PYTHON, networked=False)
    assert kernel.feed.finish(time.monotonic()).gap == NEVER_REPORTED
    kernel.connect()
    kernel.until(lambda: kernel.feed._line is not None)
    assert kernel.feed.finish(time.monotonic()).gap == UNSEEN


def test_one_that_speaks_something_else_is_none(kernel: Kernel) -> None:
    kernel.line.connect(kernel.path)
    kernel.line.send(b"hello")
    assert kernel.line.recv(100) == b""
    kernel.feed.begin(Language.PYTHON, networked=False)
    assert kernel.feed.finish(time.monotonic()).gap == NEVER_REPORTED


def test_a_flood_takes_a_bounded_share_of_the_processor(kernel: Kernel) -> None:
    kernel.connect()
    kernel.begin()
    kernel.line.setblocking(False)
    one = started(2, b"flood", *[b"x"] * 20_000)
    sent = refused = 0
    begun, worked = time.monotonic(), time.process_time() - time.thread_time()
    while time.monotonic() - begun < 0.5:
        try:
            kernel.line.send(one)
            sent += 1
        except BlockingIOError:
            refused += 1
            time.sleep(0.0005)
    used = time.process_time() - time.thread_time() - worked
    assert refused  # the kernel drops these, and waits for nobody
    assert sent > 1
    assert used < 0.5 * (time.monotonic() - begun)
