"""Beginning and end of the console: one at a time, one way out, and errors that are written down."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import QObject, QSize

from app.chrome.frame import first_size
from app.start.crash import Faults
from app.start.leave import CLOSED, Leave
from app.start.single import Single
from app.state.cards import Cards
from tests.gui import feed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytestqt.qtbot import QtBot

    from runner.system.places import Places
    from tests.gui.conftest import Desk

# ---- one at a time ----


@pytest.fixture
def first(qtbot: QtBot, places: Places) -> Iterator[Single]:
    del qtbot
    single = Single(places.socket)
    assert single.claim()
    single.watch()
    yield single
    single.release()


def called(single: Single) -> list[bool]:
    """Calls the first console from a thread, as another process would."""
    told: list[bool] = []
    threading.Thread(target=lambda: told.append(single.call_first()), daemon=True).start()
    return told


def test_the_second_raises_the_first(qtbot: QtBot, places: Places, first: Single) -> None:
    second = Single(places.socket)
    assert not second.claim()
    with qtbot.waitSignal(first.raise_window):
        told = called(second)
    qtbot.waitUntil(lambda: told == [True])


def test_a_socket_left_by_a_crash_is_in_nobodys_way(qtbot: QtBot, places: Places) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(places.socket))
    assert not Single(places.socket).call_first()
    single = Single(places.socket)
    try:
        assert single.claim()
        single.watch()
        with qtbot.waitSignal(single.raise_window):
            called(Single(places.socket))
    finally:
        single.release()


def test_after_release_the_next_one_is_first(places: Places, first: Single) -> None:
    first.release()
    assert not places.socket.exists()
    after = Single(places.socket)
    assert after.claim()
    after.release()


def test_only_this_user_reaches_the_socket(places: Places, first: Single) -> None:
    del first
    assert places.socket.stat().st_mode & 0o777 == 0o600


def test_other_words_raise_nothing(qtbot: QtBot, places: Places, first: Single) -> None:
    with qtbot.assertNotEmitted(first.raise_window), socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(places.socket))
        caller.sendall(b"quit\n")
        caller.settimeout(0)
        qtbot.waitUntil(lambda: _closed(caller))


def _closed(caller: socket.socket) -> bool:
    try:
        return caller.recv(1) == b""
    except BlockingIOError:
        return False


def test_silent_callers_hold_up_nobody(qtbot: QtBot, places: Places, first: Single) -> None:
    """One is heard at a time, and the window never waits for it."""
    silent = [socket.socket(socket.AF_UNIX) for _ in range(3)]
    with contextlib.ExitStack() as stack:
        for caller in silent:
            stack.enter_context(caller).connect(str(places.socket))
            caller.settimeout(0)
        first._called()
        assert first._caller is not None and not _closed(silent[0]), "the window does not wait until it speaks"
        assert first._notifier is not None and not first._notifier.isEnabled(), "the others wait their turn"
        with qtbot.waitSignal(first.raise_window, timeout=20_000):
            told = called(Single(places.socket))
        qtbot.waitUntil(lambda: told == [True])
        assert all(map(_closed, silent))
    assert first._caller is None and first._notifier.isEnabled()


def test_the_way_out_leaves_a_silent_caller(qtbot: QtBot, places: Places, first: Single) -> None:
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(places.socket))
        caller.settimeout(0)
        qtbot.waitUntil(lambda: first._caller is not None)
        first.release()
        assert _closed(caller) and first._caller is None


def test_a_folder_as_deep_as_can_be_still_works(qtbot: QtBot, home: Any) -> None:
    """A socket address holds 108 bytes; folders may be longer."""
    del qtbot
    single = Single(home / ("x" * 120) / "console.sock")
    assert single.claim()
    single.release()


# ---- the way out ----


class Door:
    """`Leave` with a bridge and answers of the test's own."""

    def __init__(self) -> None:
        self.cases = Cards()
        self.bridge = feed.RecordingBridge()
        self.asked: list[tuple[str, Callable[[bool], None]]] = []
        self.heard: list[str] = []
        self.leave = Leave(
            self.cases,
            self.bridge,  # type: ignore[arg-type]
            lambda stake, told: self.asked.append((stake(), told)),
            lambda: self.heard.append("hurry"),
        )
        self.leave.leaving.connect(lambda: self.heard.append("leaving"))
        self.leave.gone.connect(lambda: self.heard.append("gone"))


@pytest.fixture
def door(qapp: Any) -> Iterator[Door]:
    del qapp
    door = Door()
    yield door
    door.leave.stop_listening()


def test_with_nothing_at_stake_it_leaves_at_once(door: Door) -> None:
    door.leave.wish()
    assert door.asked == []
    assert door.heard == ["leaving", "gone"]
    assert door.bridge.calls == [("close", CLOSED)]


def test_what_is_at_stake_is_asked_once(door: Door) -> None:
    one = feed.request()
    door.cases.take(feed.asked(one))
    door.cases.take(feed.asked(feed.request()))
    door.cases.take((*feed.decided(one), *feed.started(one)))
    door.leave.wish()
    door.leave.wish()
    assert [what for what, _ in door.asked] == ["1 request will be denied. 1 run will be stopped."]
    assert door.heard == []
    door.asked[0][1](False)
    assert door.heard == []
    door.leave.wish()
    door.asked[1][1](True)
    assert door.heard == ["leaving", "gone"]


def test_the_end_of_the_session_is_not_asked_about(door: Door) -> None:
    door.cases.take(feed.asked(feed.request()))
    door.leave.now()
    door.leave.now()
    assert door.asked == []
    assert door.heard == ["leaving", "gone"]


def test_an_engine_that_does_not_close_is_left_behind(door: Door) -> None:
    door.bridge.closes = False
    door.leave.now()
    assert door.heard == ["leaving", "hurry"]


@pytest.mark.parametrize(("number", "asks"), [(signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGHUP, False)])
def test_signals_leave(qtbot: QtBot, door: Door, number: signal.Signals, asks: bool) -> None:
    door.cases.take(feed.asked(feed.request()))
    door.leave.listen_to_signals()
    os.kill(os.getpid(), number)
    qtbot.waitUntil(lambda: bool(door.asked) if asks else door.heard == ["leaving", "gone"])
    assert bool(door.asked) is asks


def test_a_second_interrupt_while_asking_leaves(qtbot: QtBot, door: Door) -> None:
    door.cases.take(feed.asked(feed.request()))
    door.leave.listen_to_signals()
    os.kill(os.getpid(), signal.SIGINT)
    qtbot.waitUntil(lambda: bool(door.asked))
    os.kill(os.getpid(), signal.SIGINT)
    qtbot.waitUntil(lambda: door.heard == ["leaving", "gone"])


def test_the_cross_only_asks_to_leave(desk: Desk) -> None:
    frame = desk.window.frame
    with desk.qtbot.waitSignal(frame.close_wanted):
        frame.close()
    assert frame.isVisible()
    frame.vanish()
    assert not frame.isVisible()
    assert frame.close()


def test_the_window_comes_back_where_it_was(desk: Desk, places: Places) -> None:
    from app.chrome.frame import Frame
    from app.chrome.window_state import Remembered

    desk.window.frame.resize(960, 640)
    desk.window.frame.vanish()
    again = Frame(Remembered(places.state / "window.json"))
    desk.qtbot.addWidget(again)
    # The height only: the screen of the tests is narrower than the smallest window.
    assert again.height() == 640


@pytest.mark.parametrize(
    ("screen", "window"),
    [((1920, 1080), (1280, 800)), ((1366, 768), (1280, 728)), ((1280, 800), (1280, 760)), ((400, 300), (420, 600))],
)
def test_a_first_window_fits_its_screen_with_its_title(screen: tuple[int, int], window: tuple[int, int]) -> None:
    assert first_size(QSize(*screen)).toTuple() == window


# ---- errors ----


@pytest.fixture
def faults(qtbot: QtBot, places: Places) -> Iterator[Faults]:
    del qtbot
    faults = Faults(places)
    yield faults
    faults.remove()


def boom(text: str) -> Exception:
    try:
        raise RuntimeError(text)
    except RuntimeError as error:
        return error


def test_an_error_is_on_disk_before_anybody_is_informed(qtbot: QtBot, places: Places, faults: Faults) -> None:
    with qtbot.waitSignal(faults.happened) as told:
        faults.record(boom("first"), "in a test")
        assert "in a test" in places.faults.read_text()
    assert told.args == ["RuntimeError: first"]
    assert "test_ends.py" in places.faults.read_text()
    assert places.faults.stat().st_mode & 0o777 == 0o600


def test_an_error_that_repeats_is_written_once(places: Places, faults: Faults) -> None:
    error = boom("again and again")
    for _ in range(50):
        faults.record(error, "in paint")
    assert places.faults.read_text().count("again and again\n") == 1


def test_the_log_of_the_session_before_is_set_aside(places: Places, faults: Faults) -> None:
    assert faults.earlier() == ""
    faults.record(boom("yesterday"), "in the window")
    fresh = Faults(places)
    assert "yesterday" in fresh.earlier()
    assert "yesterday" in fresh.aside.read_text()
    assert Faults(places).earlier() == ""


def test_errors_of_threads_are_caught(qtbot: QtBot, places: Places, faults: Faults) -> None:
    before = threading.excepthook
    try:
        threading.excepthook = faults._in_thread
        with qtbot.waitSignal(faults.happened):
            thread = threading.Thread(target=lambda: 1 // 0, name="unlucky")
            thread.start()
            thread.join()
    finally:
        threading.excepthook = before
    assert "in thread unlucky" in places.faults.read_text()
    assert "ZeroDivisionError" in places.faults.read_text()


CRASH = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.start.crash import Faults
from runner.system.places import Places

faults = Faults(Places.standard())
faults.install()
faults.watch()
app = QApplication([])

def slot():
    raise RuntimeError("a slot failed")

def end():
    import faulthandler
    faulthandler._sigsegv() if sys.argv[1] == "crash" else app.quit()

QTimer.singleShot(0, slot)
QTimer.singleShot(50, end)
code = app.exec()
faults.remove()
sys.exit(code)
"""


@pytest.mark.parametrize(("how", "code"), [("quit", 0), ("crash", -signal.SIGSEGV)])
def test_a_real_process_writes_its_own_end_down(places: Places, how: str, code: int) -> None:
    """A slot that fails does not end the process; what does is in the file at the next start."""
    done = subprocess.run(
        [sys.executable, "-c", CRASH, how], capture_output=True, text=True, timeout=60, check=False, cwd=os.getcwd()
    )
    assert done.returncode == code, done.stderr
    text = places.faults.read_text()
    assert "RuntimeError: a slot failed" in text
    assert ("Segmentation fault" in text) is (how == "crash")


def test_errors_of_tasks_that_nobody_awaits_are_written_down(qtbot: QtBot, places: Places, faults: Faults) -> None:
    from app.link.page_tasks import PageTasks

    async def fail() -> None:
        raise KeyError("in a task")

    loop = asyncio.get_running_loop()
    loop.set_exception_handler(faults.task_failed)
    page = QObject()
    with qtbot.waitSignal(faults.happened):
        PageTasks("page", page).start("failing", fail())
    text = places.faults.read_text()
    assert "in the window's loop: in the task page: failing" in text and "KeyError: 'in a task'" in text


LOOP = """
import asyncio, sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.start.loop import run

app = QApplication([])

async def main():
    try:
        if sys.argv[1] == "quit":
            QTimer.singleShot(0, app.quit)
            await asyncio.Event().wait()
        elif sys.argv[1] == "fail":
            raise ValueError("main failed")
    finally:
        print("cleaned up")

run(app, main(), lambda loop, context: print(context))
print("over")
"""


@pytest.mark.parametrize(("how", "code", "said"), [("end", 0, "over"), ("quit", 0, "over"), ("fail", 1, "cleaned up")])
def test_the_loop_cleans_up_however_it_ends(how: str, code: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOP, how], capture_output=True, text=True, timeout=60, check=False, cwd=os.getcwd()
    )
    assert done.returncode == code, done.stderr
    assert "cleaned up" in done.stdout and done.stdout.split("\n")[-2] == said
    assert ("ValueError: main failed" in done.stderr) is (how == "fail")
