"""A contained program on a terminal of its own, inside a real one with a shell that has job control."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import struct
import termios
from pathlib import Path

import pytest

from tests.commands.test_attempt import TRY, Typing, project, typing
from tests.sandbox.conftest import wait_until
from tests.sandbox.test_ending import alive

__all__ = ["project", "typing"]  # fixtures
DISCARD = f"{TRY} --discard"
PROMPT = "shell> "
CTRL_C, CTRL_Z, CTRL_BACKSLASH = "\x03", "\x1a", "\x1c"


def script(project: Path, name: str, *lines: str) -> str:
    """Write a script of Python into the project; return what starts it."""
    (project / name).write_text("import os, signal, sys, termios, time, tty\n" + "\n".join(lines) + "\n")
    return f"python3 -u {name}"


def resize(shell: Typing, rows: int, columns: int) -> None:
    fcntl.ioctl(shell.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def assent(mark: str) -> int:
    """Return the process that runs `assent try` on what has `mark` in its command line."""
    found = [each for each in alive(mark) if b"\0try\0" in Path(f"/proc/{each}/cmdline").read_bytes()]
    (process,) = map(int, found)
    return process


def code(shell: Typing) -> str:
    return re.findall(r"=(\d+)", shell.line("echo co''de=$?", PROMPT))[-1]


def test_all_streams_are_one_terminal_that_is_not_the_callers(typing: Typing, project: Path) -> None:
    resize(typing, 33, 77)
    words = script(project, "look", 'print(*map(os.isatty, range(3)), os.open("/dev/tty", 2) > 2, os.fstat(0).st_rdev)')
    said = typing.line(f"stty size; {DISCARD} {words}; {words}; {DISCARD} stty size", PROMPT)
    (inner,), (outer,) = (set(re.findall(r"True True True True (\d+)", part)) for part in said.split("Nothing", 1))
    assert inner != outer and said.count("33 77") == 2


def test_the_size_follows_and_the_program_is_told(typing: Typing, project: Path) -> None:
    handler = "signal.signal(signal.SIGWINCH, lambda *_: (print(os.get_terminal_size()), sys.exit(5)))"
    typing.line(f"{DISCARD} {script(project, 'size', handler, 'print(chr(111) + chr(110))', 'signal.pause()')}", "on\r")
    resize(typing, 12, 34)
    typing.until("columns=34, lines=12")
    typing.until(PROMPT)
    assert code(typing) == "5"


@pytest.mark.parametrize(("words", "status"), [("exit 7", "7"), ("kill -9 $$", "137"), ("kill -TERM $$", "143")])
def test_the_end_is_that_of_the_program(typing: Typing, words: str, status: str) -> None:
    typing.line(f"{DISCARD} sh -c '{words}'", PROMPT)
    assert code(typing) == status


def test_all_that_was_printed_before_the_end_arrives(typing: Typing) -> None:
    for _ in range(3):
        said = typing.line(f"{DISCARD} sh -c 'seq 30000; echo e''nd'", "end\r")
        assert re.sub(r"[^0-9\n]", "", said).split("\n")[-30_001:-1] == [str(number) for number in range(1, 30_001)]
        typing.until(PROMPT)


def test_all_that_was_printed_arrives_also_where_nobody_read_it_at_the_end(typing: Typing) -> None:
    """As much as is on its way in the kernel, while Assent has no turn."""
    mark = f"mark-{os.getpid()}"
    waits = 'trap "seq 1500; sleep 600 & sleep 600 & exit" USR1; echo on; while :; do sleep 0.05; done'
    typing.line(f"{DISCARD} sh -c '{waits}; : {mark}'", "on\r")
    process = assent(mark)
    os.kill(process, signal.SIGSTOP)
    typing.until("Stopped")
    typing.until(PROMPT)
    (inside,) = (one for one in alive(mark) if Path(f"/proc/{one}/cmdline").read_bytes().startswith(b"sh\0"))
    os.kill(int(inside), signal.SIGUSR1)
    assert wait_until(lambda: alive(mark) == [str(process)])
    said = typing.line("fg", "1500\r")
    assert re.sub(r"[^0-9\n]", "", said).split("\n")[-1_500:] == [str(number) for number in range(1, 1_501)]
    typing.until(PROMPT)


def test_keys_reach_the_program_as_signals(typing: Typing, project: Path) -> None:
    handlers = "for each in (2, 3): signal.signal(each, lambda number, _: print('got', number))"
    words = script(project, "keys", handlers, "print(chr(111) + chr(110))", "while True: time.sleep(1)")
    typing.line(f"{DISCARD} {words}", "on\r")
    for key, number in ((CTRL_C, 2), (CTRL_BACKSLASH, 3), (CTRL_C, 2)):
        typing.write(key)
        typing.until(f"got {number}\r")
    typing.write(CTRL_Z)
    typing.until(PROMPT)
    typing.line("kill -9 %1; wait", PROMPT)


def test_what_the_program_set_is_taken_back_at_a_stop_and_at_the_end(typing: Typing, project: Path) -> None:
    before = termios.tcgetattr(typing.terminal)
    reads = "print('re' + 'ad', sys.stdin.read(1))"
    words = script(project, "raw", "tty.setraw(0)", "print(chr(111) + 'n')", reads, reads)
    typing.line(f"{DISCARD} {words}", "on")
    assert not typing.modes() & termios.ICANON
    typing.write("a")
    typing.until("read a")
    os.kill(assent("raw"), signal.SIGTSTP)
    typing.until("Stopped")
    typing.until(PROMPT)
    assert typing.modes() & termios.ICANON
    typing.line("fg", "raw\r")
    assert wait_until(lambda: not typing.modes() & termios.ICANON)
    typing.write("b")
    typing.until("read b")
    typing.until(PROMPT)
    typing.line("true", PROMPT)
    after = termios.tcgetattr(typing.terminal)
    assert before[:4] == after[:4]


def test_a_program_that_stops_itself_does_not_keep_the_terminal(typing: Typing) -> None:
    for stops in ("kill -STOP $$", "kill -TSTP $$"):
        typing.line(f"{DISCARD} sh -c 'echo o''n; {stops}; echo ba''ck; exit 3'", "on\r")
        assert "Stopped" in typing.until(PROMPT)
        typing.line("fg", "back\r")
        typing.until(PROMPT)
        assert code(typing) == "3"


def test_it_goes_on_where_nobody_would_notice_that_it_stops(typing: Typing) -> None:
    """As where a program without jobs started it, which has the key do nothing."""
    typing.line(f"(trap '' TSTP; {DISCARD} sh -c 'echo o''n; kill -STOP $$; echo wen''t-on')", "on\r")
    typing.until("went-on")
    typing.until(PROMPT)


def test_what_a_program_prints_before_it_stops_comes_before_the_prompt(typing: Typing, project: Path) -> None:
    """As one does that fills the screen: it clears that when the key comes, and stops itself afterwards."""
    stop = "time.sleep(0.3); print('clean' + 'ed'); os.kill(0, signal.SIGSTOP)"
    words = script(project, "fills", "def stop(*_):", f"    {stop}", "signal.signal(20, stop)", "print(chr(111) + 'n')")
    with (project / "fills").open("a") as file:
        file.write("time.sleep(600)\n")
    typing.line(f"{DISCARD} {words}", "on\r")
    typing.write(CTRL_Z)
    said = typing.until(PROMPT)
    assert said.index("cleaned") < said.index("Stopped")
    typing.line("kill -9 %1; wait", PROMPT)


def test_a_program_that_does_not_stop_goes_on(typing: Typing, project: Path) -> None:
    words = script(project, "stays", "signal.signal(20, lambda *_: print('no' + 'ted'))", "print(chr(111) + 'n')")
    with (project / "stays").open("a") as file:
        file.write("for line in sys.stdin: print('got', line)\n")
    typing.line(f"{DISCARD} {words}", "on\r")
    typing.write(CTRL_Z)
    typing.until("noted")
    typing.write("line\n")
    typing.until("got line")
    typing.write("\x04")
    typing.until(PROMPT)


def test_a_shell_inside_has_jobs_of_its_own(typing: Typing, project: Path) -> None:
    (project / "rc").write_text("PS1='in''ner> '\n")
    said = typing.line(f"{DISCARD} bash --rcfile rc -i", "inner> ")
    assert "job control" not in said and "cannot set" not in said
    typing.line("sh -c 'echo o''n; exec cat'", "on\r")
    typing.write("wo" + "rds\n")
    typing.until("words\r\nwords")
    typing.write(CTRL_Z)
    assert "Stopped" in typing.until("inner> ")
    typing.line("fg", "cat")
    typing.write(CTRL_C)
    typing.until("inner> ")
    typing.line("sleep 600 &", "inner> ")
    assert "sleep 600" in typing.line("jobs", "inner> ")
    typing.write("exit 9\n")
    typing.until(PROMPT)
    assert code(typing) == "9"


def test_the_clipboard_is_out_of_reach_and_that_is_said(typing: Typing) -> None:
    said = typing.line(f"{DISCARD} sh -c 'printf \"\\033]52;c;%s\\007e''nd\" d29yZHM='", PROMPT)
    assert "\x1b]52" not in said and "It tried to copy 5 characters to the clipboard; that was dropped." in said


def test_what_the_terminal_answers_is_not_typed_into_the_shell(typing: Typing) -> None:
    """The test is the terminal: it answers late, and in the order in which it was asked."""
    typing.line(f"{DISCARD} sh -c 'stty raw -echo; printf \"\\033[6n\"'", "\x1b[6n")
    typing.until("\x1b[5n")
    typing.write("\x1b[12;34R\x1b[0n")
    assert "34R" not in typing.until(PROMPT) + typing.line("true", PROMPT)


def test_it_is_part_of_a_pipe(typing: Typing, project: Path) -> None:
    """The keys are for whoever reads them first, and the caller's terminal keeps its modes until then."""
    words = script(project, "asks", "print('as' + 'ks')", "print('got', input(), os.isatty(1), os.isatty(2))")
    typing.line(f"{DISCARD} {words} | cat", "asks\r")
    typing.write("this\n")
    typing.until("got this False True")
    typing.until(PROMPT)
    typing.line(f"{DISCARD} sh -c 'echo o''n; exec sleep 600' | cat", "on\r")
    assert typing.modes() & termios.ICANON
    typing.write(CTRL_C)
    typing.until(PROMPT)
    typing.line(f"echo from-pipe | {DISCARD} cat", "from-pipe\r")
    typing.until(PROMPT)


def test_it_runs_in_the_background_and_is_fetched(typing: Typing, project: Path) -> None:
    words = script(project, "asks", "print('as' + 'ks')", "print('got', input())")
    typing.line(f"{DISCARD} {words} &", "asks\r")
    while "Stopped" not in typing.line("jobs", PROMPT):
        pass
    typing.line("fg", "asks\r")
    typing.write("this\n")
    typing.until("got this")
    typing.until(PROMPT)
    typing.line(f"{DISCARD} sh -c 'echo o''n; read x; echo got-$x'", "on\r")
    typing.write(CTRL_Z)
    typing.until(PROMPT)
    typing.line("bg", PROMPT)
    assert typing.modes() & termios.ICANON
    while "Stopped" not in typing.line("jobs", PROMPT):
        pass
    typing.line("fg", "\r\n")
    typing.write("words\n")
    typing.until("got-words")
    typing.until(PROMPT)


@pytest.mark.parametrize("way", ["killed", "hung up"])
def test_the_program_ends_with_assent_and_with_the_terminal(typing: Typing, project: Path, way: str) -> None:
    mark = f"mark-{os.getpid()}-{way.replace(' ', '')}"
    trap = 'trap "" HUP TERM INT'
    typing.line(f"{DISCARD} sh -c '{trap}; echo o''n; while :; do sleep 1; done; : {mark}'", "on\r")
    if way == "killed":
        os.kill(assent(mark), signal.SIGKILL)
    else:
        os.close(typing.terminal)
        typing.terminal = os.open("/dev/null", os.O_RDWR)
    assert wait_until(lambda: not alive(mark))


def test_a_full_terminal_does_not_keep_keys_from_the_program(typing: Typing) -> None:
    """Nobody reads what is printed, and the key that ends it still arrives."""
    typing.line(f"{DISCARD} sh -c 'echo o''n; exec yes'", "on\r")
    assert wait_until(lambda: fcntl.ioctl(typing.terminal, termios.FIONREAD, bytes(4)) > bytes(4))
    typing.write(CTRL_C)
    typing.until(PROMPT)
    assert code(typing) == "130"
