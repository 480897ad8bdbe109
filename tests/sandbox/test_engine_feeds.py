"""The feeds of a container engine's gVisor: whose they are, which container each line is of, and who may speak."""

from __future__ import annotations

import os
import socket
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.behaviour import NEVER_REPORTED
from runner.model.request import Isolation, Language
from runner.sandbox.container.frames import MARK
from runner.sandbox.container.runtimes import REPORTS_TO, runtimes
from runner.sandbox.gvisor import engine_feeds
from runner.sandbox.gvisor.engine_feeds import NO_RUNTIME, NONE_FREE, EngineFeeds
from runner.sandbox.gvisor.feed import SESSION, SOCKET
from runner.sandbox.gvisor.trace_messages import HANDSHAKE
from tests.patience import HANGS
from tests.sandbox.test_trace_messages import context, data, message, started

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.sandbox.gvisor.feed import KernelFeed


def offered(folder: Path, *numbers: int) -> dict[str, Any]:
    """What an engine says of runtimes that report to folders in `folder`."""
    return {
        f"runsc-feed-{n}": {"path": "/usr/bin/runsc", "runtimeArgs": [f"{REPORTS_TO}{folder}/{n}/{SESSION}"]}
        for n in numbers
    }


@pytest.fixture
def folder() -> Iterator[Path]:
    """One for sockets, whose paths are short."""
    with tempfile.TemporaryDirectory(prefix="assent-test-") as made:
        yield Path(made) / "feed"


@pytest.fixture
def feeds(folder: Path) -> Iterator[EngineFeeds]:
    made = EngineFeeds(folder)
    assert made.take(offered(folder, 1)) == "runsc-feed-1"
    yield made
    made.close()


def kernel(folder: Path, container: bytes) -> socket.socket:
    """A kernel whose container starts."""
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.settimeout(HANGS)
    line.connect(str(folder / "1" / SOCKET))
    line.send(HANDSHAKE)
    assert line.recv(100) == HANDSHAKE
    line.send(message(1, context(1) + data(2, container)))
    return line


def ran(feed: KernelFeed | None, line: socket.socket, program: bytes) -> list[str]:
    """What is said of a run that starts a program; where it has not begun, it begins first."""
    assert feed is not None
    line.send(started(2, b"python3", MARK, b"/workspace/main.py"))
    if feed._book is None:
        until(lambda: feed._trace.begun)
        feed.begin(Language.PYTHON, networked=False)
    line.send(started(2, program, path=b"/bin/" + program))
    until(lambda: feed.behaviour.deeds)
    return [one.name for one in feed.finish(time.monotonic()).deeds]


def until(done: Callable[[], object]) -> None:
    end = time.monotonic() + HANGS
    while not done() and time.monotonic() < end:
        time.sleep(0.002)


def test_each_container_has_its_own(feeds: EngineFeeds, folder: Path) -> None:
    early = feeds.feed("aa11")
    assert early is not None
    early.begin(Language.PYTHON, networked=False)  # before its kernel has said anything
    with kernel(folder, b"bb22") as other, kernel(folder, b"aa11") as line:
        assert ran(early, line, b"one") == ["one"]
        assert ran(feeds.feed("bb22"), other, b"two") == ["two"]


def test_a_second_line_that_names_the_same_container_is_not_heard(feeds: EngineFeeds, folder: Path) -> None:
    feed = feeds.feed("aa11")
    with kernel(folder, b"aa11") as line:
        assert feed is not None
        assert feed._came.wait(HANGS)
        with kernel(folder, b"aa11") as liar:
            assert liar.recv(100) == b""
        assert ran(feed, line, b"one") == ["one"]


def test_only_the_engine_or_this_account_may_speak(
    feeds: EngineFeeds, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [(folder / part).stat().st_mode & 0o077 for part in ("", "1", f"1/{SOCKET}")] == [0] * 3
    monkeypatch.setattr(engine_feeds, "_is_of_engine", lambda line: False)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.settimeout(HANGS)
        line.connect(str(folder / "1" / SOCKET))
        assert line.recv(100) == b""


def test_as_many_consoles_as_there_are_runtimes_and_no_two_the_same(folder: Path) -> None:
    known = {**offered(folder, 1, 2), **offered(folder.parent / "another", 3), "runsc": {"path": "runsc"}}
    first, second, third = (EngineFeeds(folder) for _ in range(3))
    assert (first.take(known), second.take(known), third.take(known)) == ("runsc-feed-1", "runsc-feed-2", "")
    assert first.take(known) == "runsc-feed-1"  # as long as it likes
    assert (first.why, third.why, third.feed("aa11")) == ("", NONE_FREE, None)
    first.close()
    assert third.take(known) == "runsc-feed-1"
    assert third.take({}) == ""
    assert third.why == NO_RUNTIME
    second.close()


def test_a_folder_that_is_not_ones_own_is_not_used(folder: Path, tmp_path: Path) -> None:
    folder.mkdir()
    (folder / "1").symlink_to(tmp_path)
    feeds = EngineFeeds(folder)
    assert feeds.take(offered(folder, 1)) == ""
    assert "belongs to somebody else" in feeds.why
    assert not os.listdir(tmp_path)


def test_what_a_killed_console_left_is_no_obstacle(folder: Path) -> None:
    (folder / "1").mkdir(parents=True)
    left = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    left.bind(str(folder / "1" / SOCKET))
    left.close()
    feeds = EngineFeeds(folder)
    assert feeds.take(offered(folder, 1)) == "runsc-feed-1"
    feeds.close()


def test_a_container_of_which_nothing_comes_is_said(feeds: EngineFeeds) -> None:
    feed = feeds.feed("aa11")
    assert feed is not None
    feed.begin(Language.PYTHON, networked=False)
    assert feed.finish(time.monotonic()).gap == NEVER_REPORTED


def test_many_lines_are_bounded(feeds: EngineFeeds, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_feeds, "MOST_LINES", 1)
    with kernel(folder, b"aa11"), socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as line:
        line.settimeout(HANGS)
        line.connect(str(folder / "1" / SOCKET))
        assert line.recv(100) == b""


class Engine:
    """An engine of which a runtime reports, or none."""

    def __init__(self, reports: str) -> None:
        self.reports = reports

    async def reporting(self, known: dict[str, Any]) -> str:
        return self.reports


@pytest.mark.asyncio
async def test_a_runtime_that_reports_to_others_is_the_last_to_be_taken(folder: Path) -> None:
    known = {**offered(folder, 1), "other": {"path": "/opt/runsc"}}
    assert await runtimes(Engine(""), Isolation.GVISOR, known) == ("other",)  # type: ignore[arg-type]
    assert await runtimes(Engine("x"), Isolation.GVISOR, known) == ("x", "other")  # type: ignore[arg-type]
