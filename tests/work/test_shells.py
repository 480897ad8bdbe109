"""The door for the shells of a program at work, and what a hostile program puts before it."""

from __future__ import annotations

import os
import select
import threading
import time
from typing import TYPE_CHECKING

import pytest

from runner.system.private_folder import make_folder
from runner.work import shells
from runner.work.shells import (
    FOLDER,
    LONGEST,
    MOST_AT_ONCE,
    NOT_JUDGED,
    NOT_UNDERSTOOD,
    RUN,
    TOO_MANY,
    ShellCommand,
    ShellDoor,
    WaitingShell,
)
from tests.patience import HANGS

if TYPE_CHECKING:
    from pathlib import Path


def made(folder: Path) -> Path:
    """Make the folder of the commands."""
    make_folder(folder / FOLDER)
    os.mkfifo(folder / FOLDER / "all", 0o600)
    return folder / FOLDER


def test_it_closes_where_somebody_else_took_what_was_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the session never ends."""
    made(tmp_path)
    looked = threading.Event()
    real = select.select

    def promising(readers: tuple[int, ...], *rest: tuple[int, ...]) -> object:
        if looked.is_set():
            return real(readers, *rest)
        looked.set()
        return [readers[0]], [], []

    monkeypatch.setattr(shells.select, "select", promising)
    door = ShellDoor(tmp_path, lambda _command, _waiting: "", lambda _command, why: why)
    assert looked.wait(HANGS)
    closing = threading.Thread(target=door.close, daemon=True)
    closing.start()
    closing.join(HANGS / 6)
    assert not closing.is_alive()


def test_a_command_that_is_longer_than_is_read_is_refused(tmp_path: Path) -> None:
    folder = made(tmp_path)
    door = ShellDoor(tmp_path, lambda _command, _waiting: "", lambda _command, why: why)
    os.mkfifo(folder / "7", 0o600)
    answers = os.open(folder / "7", os.O_RDWR)
    (folder / "7.asked").write_bytes(b"/p\0bash\0-c\0true\0" + b"x" * LONGEST + b"\0")
    (folder / "all").write_bytes(b"7\n")
    assert os.read(answers, 1000).decode().strip() == NOT_UNDERSTOOD
    os.close(answers)
    door.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_command_whose_judging_fails_is_refused(tmp_path: Path) -> None:
    """Else its shell waits for ever."""
    folder = made(tmp_path)

    def fails(_command: ShellCommand, _waiting: WaitingShell) -> str:
        raise ValueError("a fault")

    door = ShellDoor(tmp_path, fails, lambda _command, why: why)
    os.mkfifo(folder / "7", 0o600)
    answers = os.open(folder / "7", os.O_RDWR)
    (folder / "7.asked").write_bytes(b"/p\0bash\0-c\0true\0")
    (folder / "all").write_bytes(b"7\n")
    assert os.read(answers, 1000).decode().strip() == NOT_JUDGED
    os.close(answers)
    door.close()


def test_what_is_no_file_is_not_understood_and_leaves_nothing_open(tmp_path: Path) -> None:
    """Else the session runs out of descriptors, and its terminal fills with errors."""
    folder = made(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    door = ShellDoor(tmp_path, lambda _command, _waiting: "", lambda _command, why: why)
    (folder / "0.asked").mkdir()
    os.mkfifo(folder / "1.asked")
    (folder / "2.asked").symlink_to("/etc/passwd")
    for number in range(3):
        os.mkfifo(folder / str(number), 0o600)
        answers = os.open(folder / str(number), os.O_RDWR)
        (folder / "all").write_bytes(b"%d\n" % number)
        assert select.select([answers], [], [], HANGS / 6)[0], "no answer came"
        assert os.read(answers, 1000).decode().strip() == NOT_UNDERSTOOD
        os.close(answers)
    door.close()
    # Whoever answered last may be about to close where to.
    end = time.monotonic() + HANGS / 6
    while len(os.listdir("/proc/self/fd")) != before:
        assert time.monotonic() < end, "something stays open"
        time.sleep(0.01)


def asks(folder: Path, number: int) -> int:
    """Ask as a shell does; return where the answer comes."""
    os.mkfifo(folder / str(number), 0o600)
    answers = os.open(folder / str(number), os.O_RDWR)
    (folder / f"{number}.asked").write_bytes(b"/p\0bash\0-c\0true\0")
    with (folder / "all").open("wb", buffering=0) as file:
        file.write(b"%d\n" % number)
    return answers


def test_where_no_thread_can_be_started_it_is_refused_and_the_next_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that starts processes without end takes them from its person's account. Else every later one waits."""
    folder = made(tmp_path)
    door = ShellDoor(tmp_path, lambda _command, _waiting: "", lambda _command, why: why)

    def fail(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", fail)
        answers = asks(folder, 1)
        assert select.select([answers], [], [], HANGS / 6)[0], "no answer came"
        assert os.read(answers, 1000).decode().strip() == TOO_MANY
    os.close(answers)
    answers = asks(folder, 2)
    assert select.select([answers], [], [], HANGS / 6)[0], "no answer came"
    assert os.read(answers, 1000).decode().strip() == RUN
    os.close(answers)
    door.close()


def test_a_thousand_commands_that_wait_leave_room_for_none_and_take_no_more_threads(tmp_path: Path) -> None:
    folder = made(tmp_path)
    free, waiting = threading.Event(), threading.Semaphore(0)

    def judge(_command: object, shell: WaitingShell) -> str:
        shell.tell("Wait.")
        waiting.release()
        assert free.wait(HANGS)
        return ""

    refused: list[ShellCommand] = []

    def refuse(command: ShellCommand, why: str) -> str:
        refused.append(command)
        return why

    door = ShellDoor(tmp_path, judge, refuse)
    first = [asks(folder, number) for number in range(1, MOST_AT_ONCE + 1)]
    for _ in first:
        assert waiting.acquire(timeout=HANGS)
    for number in range(1001, 1801):
        answers = asks(folder, number)
        assert os.read(answers, 1000).decode() == f"{TOO_MANY}\n"
        os.close(answers)
    assert refused == [ShellCommand(("bash", "-c", "true"), "/p")] * 800
    assert sum(one.name == "a command" for one in threading.enumerate()) == MOST_AT_ONCE
    free.set()
    for one in first:
        said = b""
        while not said.endswith(b"run\n"):
            said += os.read(one, 1000)
        assert said == b"waits Wait.\nrun\n"
        os.close(one)
    door.close()
