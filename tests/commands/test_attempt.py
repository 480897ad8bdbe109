"""`assent try` on a real terminal and in pipes: who gets which keys, what is an answer, and what is printed where."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.sandbox.gvisor.program import located
from tests import direct_gvisor
from tests.components import require
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
TRY = f"{sys.executable} -m app try"
WORK = f"{sys.executable} -m app work"
QUESTION = "for later? "


class Typing:
    """A shell with job control on a terminal of its own."""

    def __init__(self, project: Path) -> None:
        self._process, self.terminal = pty.fork()
        if not self._process:
            os.chdir(project)
            os.environ.update(PYTHONPATH=str(ROOT), PS1="shell> ", TERM="xterm")
            os.execvp("bash", ["bash", "--norc", "--noediting", "-i"])
        self._said = ""
        self.until("shell> ")

    def write(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def line(self, text: str, *until: str) -> str:
        """Type a line; return what came up to one of the texts after its echo."""
        self.write(f"{text}\n")
        self.until(text[-20:])
        return self.until(*until)

    def until(self, *texts: str) -> str:
        """Return all that is printed up to one of the texts."""
        end = time.monotonic() + HANGS
        while not (found := [text for text in texts if text in self._said]):
            ready, _, _ = select.select([self.terminal], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{texts} did not come: {self._said!r}"
            self._said += os.read(self.terminal, 65536).decode("utf-8", "replace")
        at = min(self._said.index(text) + len(text) for text in found)
        said, self._said = self._said[:at], self._said[at:]
        return said

    def modes(self) -> int:
        return int(termios.tcgetattr(self.terminal)[3])

    def close(self) -> None:
        os.close(self.terminal)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process, 9)
        os.waitpid(self._process, 0)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    require("bubblewrap")
    folder = tmp_path / "my project"
    folder.mkdir()
    return folder


@pytest.fixture
def typing(project: Path) -> Iterator[Typing]:
    shell = Typing(project)
    yield shell
    shell.close()


def run(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `assent` without a terminal."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "app", *words]
    return subprocess.run(
        command, cwd=project, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def test_what_was_typed_before_the_question_is_no_answer(typing: Typing, project: Path) -> None:
    program = 'open("new", "w"); print("rea" "dy!"); select.select([0], [], [])'
    typing.line(f"{TRY} python3 -uc 'import select; {program}'", "ready!\r")
    typing.write("a\n")
    typing.until(QUESTION)
    typing.line("d", "shell> ")
    assert os.listdir(project) == []


def test_the_program_gets_the_interrupt_and_its_changes_are_listed(typing: Typing) -> None:
    handler = 'signal.signal(2, lambda *_: (open("new", "w"), sys.exit(7)))'
    program = f'import signal, sys; {handler}; print("on" "!"); signal.pause()'
    typing.line(f"{TRY} python3 -uc '{program}'", "on!\r")
    typing.write("\x03")
    said = typing.until(QUESTION)
    assert "python3 ended with 7." in said and "+ new" in said
    typing.line("d", "shell> ")
    assert typing.line("echo code=$?", "code=7\r")


def test_it_is_stopped_and_continued_by_the_shell(typing: Typing) -> None:
    typing.line(f"{TRY} --discard sh -c 'echo o''n!; read x; echo got-$x'", "on!\r")
    typing.write("\x1a")
    assert "Stopped" in typing.until("shell> ")
    typing.line("fg", "try")
    typing.write("words\n")
    typing.until("got-words\r")
    typing.until("shell> ")


@pytest.mark.parametrize("stops", ["\x1a", "\n"])
def test_a_program_at_work_is_stopped_and_continued_by_the_shell(typing: Typing, stops: str) -> None:
    """By the key, and by itself. It is not the oldest process in its ring: that is the first one of the inner ring."""
    program = 'import os; print("o" "n!"); input() or os.kill(os.getpid(), 19); print("got", input())'
    typing.line(f"{WORK} --discard /usr/bin/python3 -uc '{program}'", "on!\r")
    typing.write(stops)
    assert "Stopped" in typing.until("shell> ")
    typing.line("fg", "work")
    typing.write("words\nwords\n" if stops == "\x1a" else "words\n")
    typing.until("got words\r")
    typing.until("shell> ")


def test_the_terminal_is_given_back_as_it_was(typing: Typing) -> None:
    typing.line(f"{TRY} bash -ic 'echo > new; stty raw -echo; printf \"\\033]0;\"; kill -9 $$'", QUESTION)
    assert typing.modes() & termios.ICANON and typing.modes() & termios.ECHO
    assert "discarded" in typing.line("d", "shell> ")


def test_the_list_is_not_swallowed_by_what_the_program_left_unfinished(typing: Typing) -> None:
    said = typing.line(f"{TRY} sh -c 'echo > new; printf \"\\033[?1049h\\033[8mon\\033]0;title\"'", QUESTION)
    assert "\x1b]0;" not in said
    assert said.index("mon") < said.index("\x1b[?1049l") < said.index("\x1b[0m") < said.index("+ new")
    typing.line("d", "shell> ")


def test_the_standard_output_is_the_programs_own(project: Path) -> None:
    done = run(project, "try", "--discard", "sh", "-c", "echo out; echo x > new")
    assert done.stdout == "out\n"
    assert "+ new" in done.stderr and "discarded" in done.stderr


@pytest.mark.parametrize("way", ["try", "work"])
def test_a_commit_in_it_is_the_persons(project: Path, way: str) -> None:
    for words in (["init", "-q"], ["config", "user.name", "Ada Lovelace"], ["config", "user.email", "ada@example.com"]):
        subprocess.run(["git", *words], cwd=project, check=True, capture_output=True)
    shows = "git var GIT_AUTHOR_IDENT; git var GIT_COMMITTER_IDENT"
    program = ["sh", "-c", f"cd /tmp && {{ {shows}; bash -c '{shows}'; }}"]  # the repository itself is not asked there
    done = run(project, way, "--", *program)
    assert done.stdout.count("Ada Lovelace <ada@example.com>") == 4, done.stderr


def test_a_command_that_is_not_there_is_named_and_leaves_nothing(project: Path) -> None:
    done = run(project, "try", "no-such-command")
    assert done.returncode == 127
    assert "There is no command no-such-command." in done.stderr
    assert "no working copies" in run(project, "work", "list").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--show", "/"], "Assent's own files"),
        (["--env", "ASSENT_NOT_SET"], "no variable"),
        (["--folder", "/nonexistent"], "cannot be gone into|can be gone into"),
        (["--allow", "bad host"], "cannot be allowed"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_runs(project: Path, words: list[str], said: str) -> None:
    done = run(project, "try", *words, "true")
    assert done.returncode == 1 and re.search(said, done.stderr) and "Traceback" not in done.stderr
    assert "no working copies" in run(project, "work", "list").stdout


def test_the_home_folder_and_what_holds_it_are_no_projects(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "home").mkdir()
    monkeypatch.setenv("HOME", str(project / "home"))
    for folder in (project, project / "home"):
        assert "is not a project" in run(folder, "try", "true").stderr


def test_changes_of_a_program_that_was_ended_are_kept_not_applied(project: Path) -> None:
    words = [sys.executable, "-m", "app", "try", "--apply", "sh", "-c", "echo > new; echo on; read x; sleep 600"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        words,
        cwd=project,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as ended:
        assert ended.stdout is not None and ended.stdout.readline() == "on\n"
        ended.terminate()
        _, said = ended.communicate(timeout=HANGS)
    assert "as Assent was (SIGTERM)" in said and "Kept as" in said
    assert os.listdir(project) == []


@pytest.fixture
def runsc(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have Assent find a gVisor of its own, in a folder that only root can change."""
    if os.geteuid():
        pytest.skip("only root can put a program where it is taken")
    with tempfile.TemporaryDirectory(dir=direct_gvisor.OWN.parent) as made:
        shutil.copy(direct_gvisor.program(), f"{made}/runsc")
        monkeypatch.setenv("PATH", f"{made}:{os.environ['PATH']}")
        yield Path(made) / "runsc"


@pytest.mark.usefixtures("runsc")
def test_in_gvisor_it_has_another_kernel_and_that_is_said(project: Path) -> None:
    words = "dmesg | grep -c gVisor; id -u; ls /run/assent; echo n > new; exit 3"
    done = run(project, "try", "--sandbox", "gvisor", "--keep", "sh", "-c", words)
    assert done.stdout == f"1\n{os.geteuid()}\n" and "+ new" in done.stderr, done.stderr
    assert done.returncode == 3
    assert "in gVisor" in run(project, "work", "list").stdout
    run(project, "try", "--keep", "sh", "-c", "echo n > new")
    assert [one["sandbox"] for one in json.loads(run(project, "work", "list", "--json").stdout)] == [
        "bubblewrap",
        "gVisor",
    ]


def test_without_a_gvisor_that_is_taken_nothing_runs(project: Path, runsc: Path) -> None:
    runsc.write_text("#!/bin/sh\necho runsc version release-20221219.0\n")
    if located() != str(runsc):
        pytest.skip("this machine has another gVisor")
    done = run(project, "try", "--sandbox", "gvisor", "sh", "-c", "echo ran; echo n > new")
    assert done.returncode == 1 and "is too old" in done.stderr and "assent images --gvisor" in done.stderr
    runsc.unlink()
    done = run(project, "try", "--sandbox", "gvisor", "sh", "-c", "echo ran; echo n > new")
    assert done.returncode == 1 and "is not installed" in done.stderr and "assent images --gvisor" in done.stderr
    assert done.stdout == "" and "no working copies" in run(project, "work", "list").stdout


def test_keys_and_size_reach_a_program_in_gvisor(runsc: Path, typing: Typing) -> None:
    assert runsc.exists()
    # gVisor passes signals on only some time after it has started the program.
    program = 'import time; time.sleep(2); print("on" "!"); time.sleep(600)'
    typing.line(f"{TRY} --sandbox gvisor --discard python3 -uc '{program}'", "on!\r")
    typing.write("\x1a\x03")
    assert "KeyboardInterrupt" in typing.until("shell> ")
    typing.line(f"{TRY} --sandbox gvisor --discard bash --norc -i", "# ", "$ ")
    typing.line("sh -c 'echo j''ob; read x'", "job\r")
    typing.write("\x1a")
    typing.until("Stopped")
    termios.tcsetwinsize(typing.terminal, (50, 132))
    typing.line("until [ \"$(stty size)\" = '50 132' ]; do sleep 0.1; done; echo si''zed", "sized\r")
    typing.line("exec true", "shell> ")


def test_names_are_written_out_in_every_list(project: Path) -> None:
    odd = project.parent / "line\nbreak \x1b[31m\u202e"
    odd.mkdir()
    run(odd, "try", "--keep", "python3", "-c", "open(b'n\\n\\x1b[2J\\xe2\\x80\\xae\\xff', 'w')  # \x1b[2J\n#+ fake")
    copies = run(odd, "work", "list")
    assert len(copies.stdout.splitlines()) == 2
    name = copies.stdout.split()[0]
    listed = [
        copies.stdout,
        run(odd, "work", "list", "--json").stdout,
        run(odd, "work", "changes", name, "--diff").stdout,
    ]
    listed.append(run(odd, "work", "changes", name, "--json").stdout)
    for said in listed:
        assert said and not set(said) & {"\x1b", "\u202e", "\udcff"}
