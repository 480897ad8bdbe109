"""The shells of a program at work: each command is told before it runs, and may be held or refused.

In the outer ring a small script lies over every shell of the system (`runner/sandbox/inside/shell.sh`). It writes the
command into a folder that both sides see and waits for a word: `run`, or the sentence for which it does not. Whoever is
in that ring can start other programs as well, and without the script: this is how a person follows and holds what an
honest agent does. What keeps a hostile one is the rings themselves.
"""

from __future__ import annotations

import contextlib
import os
import select
import stat
import threading
from typing import TYPE_CHECKING, NamedTuple

from runner.sandbox.local import trusted
from runner.sandbox.local.contained import Bind
from runner.sandbox.programs import inside
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FOLDER = "commands"
PLACE = f"/run/assent/{FOLDER}"
REAL = "/run/assent/real"
RING = f"{PLACE}/ring"
"""File with the number of the first process of the inner ring, as the outer ring counts."""
SHELLS = ("sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash")
LONGEST = 2 << 20
"""Bytes of a command with its arguments: as many as the kernel takes. More are refused, as a part says little."""
MOST_AT_ONCE = 200
"""Commands that wait for their word; one more is refused."""
TOO_MANY = f"{MOST_AT_ONCE} commands wait for their word already. Wait for one of them."
NOT_UNDERSTOOD = "Assent: the command could not be read."
NOT_JUDGED = "Assent: this command was not run, as an error of Assent kept it from being judged."
RUN, WAITS = "run", "waits "


class ShellCommand(NamedTuple):
    """What a shell was started with."""

    words: tuple[str, ...]
    """The shell, and its arguments."""
    folder: str


def covers(folder: Path, secret: tuple[str, ...] = (), *, gives_up: bool, by_name: bool = False) -> tuple[Bind, ...]:
    """Make what lies over the shells, in `folder`; return how the outer ring sees it. Raises KnownError and OSError.

    A command does not get the variables named in `secret`. With `gives_up` it gives up the power that root gets when it
    enters a namespace. With `by_name` a shell is started by its name, as its caller does: a script is not told how it
    was called.
    """
    make_folder(folder / FOLDER)
    text = f"#!{REAL}/sh\n{inside('shell.sh')}"
    given = f'"{trusted.need("setpriv")}" --bounding-set=-all --inh-caps=-all -- ' if gives_up else ""
    if by_name:
        text = text.replace('-- "$0" "$@"', '-- "${0##*/}" "$@"')
    for name, said in (("MKFIFO", "mkfifo"), ("NSENTER", "nsenter"), ("ENV", "env")):
        text = text.replace(f'"{name}"', f'"{trusted.need(said)}"')
    script = folder / "shell"
    script.write_text(
        text.replace("GIVEN ", given).replace("SECRET", " ".join(one for one in secret if one.isidentifier())), "utf-8"
    )
    script.chmod(0o755)
    os.mkfifo(folder / FOLDER / "all", 0o600)
    binds = [Bind(str(folder / FOLDER), PLACE, is_writable=True), Bind(os.path.realpath("/bin/sh"), f"{REAL}/sh")]
    for place in of_system():
        binds += [Bind(place, f"{REAL}{place}"), Bind(str(script), place)]
    return tuple(binds)


def of_system() -> tuple[str, ...]:
    """Return the shells that are there, by their real paths: one that is a part of something else is left alone."""
    paths = (os.path.realpath(f"{folder}/{name}") for folder in ("/usr/bin", "/bin") for name in SHELLS)
    return tuple(dict.fromkeys(path for path in paths if os.path.basename(path) in SHELLS and os.path.isfile(path)))


class WaitingShell(NamedTuple):
    """A shell that waits for its word."""

    is_gone: Callable[[], bool]
    """Returns whether it has gone meanwhile."""
    tell: Callable[[str], None]
    """Says why it waits, to whoever started the shell: on its standard error, so before the command's own output."""


class ShellDoor:
    """Answers the shells, on threads of its own."""

    def __init__(
        self,
        folder: Path,
        judge: Callable[[ShellCommand, WaitingShell], str],
        refuse: Callable[[ShellCommand, str], str],
    ) -> None:
        """`judge` returns '' where a command runs, else why not; it may take as long as a person needs.

        `refuse` notes that a command is refused for the reason it gets, and returns what the shell is told.
        """
        self._folder = folder / FOLDER
        self._judge = judge
        self._refuse = refuse
        # Open for writing as well: else there would be an end of file whenever nobody writes.
        # Not blocking: whoever is in that ring may read it too, and then nothing is left after all.
        self._all = os.open(self._folder / "all", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._woken, self._wake = os.pipe()
        self._room = threading.Semaphore(MOST_AT_ONCE)
        self._thread = threading.Thread(target=self._read, name="commands of the program", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer no more. Those that wait end with the program."""
        os.close(self._wake)
        self._thread.join()
        os.close(self._all)
        os.close(self._woken)

    def _read(self) -> None:
        rest = b""
        while True:
            ready, _, _ = select.select((self._all, self._woken), (), ())
            if self._woken in ready:
                return
            try:
                data = os.read(self._all, 1 << 16)
            except BlockingIOError:
                continue
            *lines, rest = (rest + data).split(b"\n")
            rest = rest[-100:]
            for line in lines:
                if line.isdigit():
                    self._begin(line.decode())

    def _begin(self, number: str) -> None:
        if self._room.acquire(blocking=False):
            try:
                threading.Thread(target=self._answer, args=(number,), name="a command", daemon=True).start()
            except RuntimeError:  # this account has as many processes as it may have
                self._room.release()
            else:
                return
        command = self._asked(number)
        self._say(number, NOT_UNDERSTOOD if command is None else self._refuse(command, TOO_MANY))

    def _answer(self, number: str) -> None:
        why = NOT_JUDGED
        try:
            command = self._asked(number)
            waiting = WaitingShell(lambda: self._is_gone(number), lambda why: self._write(number, f"{WAITS}{why}"))
            why = NOT_UNDERSTOOD if command is None else self._judge(command, waiting)
        finally:
            # Also where it failed: a shell that gets no answer would wait for ever.
            self._say(number, why)
            self._room.release()

    def _asked(self, number: str) -> ShellCommand | None:
        try:
            file = os.open(self._folder / f"{number}.asked", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            # `open` refuses a folder, and leaves it open.
            if not stat.S_ISREG(os.fstat(file).st_mode):
                os.close(file)
                return None
        except OSError:
            return None
        with open(file, "rb") as opened:
            data = opened.read(LONGEST + 1)
        words = data.decode("utf-8", "backslashreplace").split("\0")
        return None if len(data) > LONGEST or len(words) < 3 else ShellCommand(tuple(words[1:-1]), words[0])

    def _is_gone(self, number: str) -> bool:
        try:
            os.close(os.open(self._folder / number, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC))
        except OSError:
            return True
        return False

    def _write(self, number: str, words: str) -> None:
        """Write a line to the shell; nothing where it has gone."""
        with contextlib.suppress(OSError):
            file = os.open(self._folder / number, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if stat.S_ISFIFO(os.fstat(file).st_mode):
                    os.write(file, " ".join(words.split()).encode()[:4000] + b"\n")
            finally:
                os.close(file)

    def _say(self, number: str, why: str) -> None:
        """Answer, and remove what the shell left; nothing where it has gone."""
        path = self._folder / number
        self._write(number, why or RUN)
        for each in (path, path.with_name(f"{number}.asked")):
            with contextlib.suppress(OSError):
                each.unlink()
