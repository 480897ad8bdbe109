"""One container of `runsc`: its folder, its processes, its limits, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

from runner.sandbox.container.failures import Denied
from runner.sandbox.container.shape import GVISOR_MB, GVISOR_OWN_MB, RELAY_MB
from runner.sandbox.gvisor import sentry
from runner.sandbox.gvisor.bundle import specification
from runner.sandbox.gvisor.feed import Feed
from runner.sandbox.gvisor.sentry import SentryReadings
from runner.sandbox.local import tree
from runner.system.process_stat import STATE, fields_of
from runner.system.removal import remove

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from runner.sandbox.gvisor.launcher import RunscLauncher
    from runner.sandbox.gvisor.program import Runsc
    from runner.sandbox.gvisor.streams import Ends
    from runner.sandbox.images.folder_store import FolderStore
    from runner.sandbox.local.group import ControlGroup

COMMAND_SECONDS = 10.0
"""For runsc to pass something on to a container; usual are fifty milliseconds."""
END_SECONDS = 5.0
"""For the processes of a container to be gone that was killed."""
START_SECONDS = 20.0
"""For a container to run on a busy machine."""
STARTED = b'"status":"running"'
"""In the file that runsc keeps about a container."""
AGAIN_SECONDS = 0.002
SIGKILL = "SIGKILL"
BUNDLE, STATE_FOLDER = "b", "s"
LONGEST_SOCKET = 107
"""Bytes of the path of a unix socket (unix(7)): runsc makes one in its state folder."""
NAME_DIGITS = 12


def short(name: str) -> str:
    """Return what runsc calls the container of the run `name`: its random part, as paths of sockets are short."""
    return name[-NAME_DIGITS:]


def socket_of(folder: Path) -> Path:
    """Return the socket that runsc makes for the container in `folder`."""
    return folder / STATE_FOLDER / f"runsc-{short(folder.name)}.sock"


class DirectContainer:
    """Its methods block and may be called on any thread."""

    def __init__(
        self, program: Runsc, folder: Path, make: Mapping[str, Any], images: FolderStore, group: ControlGroup | None
    ) -> None:
        """Make the folder, which nothing else has. Raises FileNotFoundError for an image that is not there, OSError."""
        self.name = folder.name
        self._program = program
        self._folder = folder
        self._state = folder / STATE_FOLDER
        self._group = group
        self._process: subprocess.Popen[bytes] | None = None
        self._sentry: SentryReadings | None = None
        self._most = (int(make["HostConfig"]["Memory"]) >> 20) - GVISOR_MB + GVISOR_OWN_MB + RELAY_MB << 20
        self._cores = int(make["HostConfig"]["NanoCpus"]) / 1e9
        self._too_much = self._started = self._bound = False
        self._in_use = False
        """Whether anything was started in it but the interpreter that waits: from then on its memory is looked at."""
        self.ends: Ends | None = None
        """The container's ends of its streams, once attached and not started yet."""
        self.feed: Feed | None = None
        """Reports what the code in it does; None without a socket for it."""
        self._held = contextlib.ExitStack()
        try:
            root = self._held.enter_context(images.used(str(make["Image"])))
            folder.mkdir(mode=0o711)
            for each in (BUNDLE, STATE_FOLDER):
                (folder / each).mkdir(mode=0o711)
            (folder / BUNDLE / "config.json").write_text(json.dumps(specification(make, root)))
            with contextlib.suppress(OSError):  # each run records its absence
                self.feed = Feed(folder)
        except BaseException:
            self._held.close()
            remove(folder)
            raise

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def out_of_memory(self) -> bool:
        """Whether it was ended for want of memory, by the kernel or by the watch over its memory."""
        return self._too_much or (self._group is not None and self._group.kills > 0)

    def start(self, launcher: RunscLauncher) -> None:
        """Start it with the streams it was given. Raises OSError and TimeoutError."""
        assert self.ends is not None
        ends, self.ends = self.ends, None
        reporting = () if self.feed is None else self.feed.arguments
        words = [*self._words, *reporting, "run", f"--bundle={self._folder / BUNDLE}", short(self.name)]
        entry = () if self._group is None else self._group.entry
        try:
            self._process = launcher.start(words, (ends.stdin, ends.stdout, ends.stderr), self.name, entry)
        finally:
            ends.close()

    def execute(self, launcher: RunscLauncher, ends: Ends, words: Sequence[str], place: str, user: str) -> Any:
        """Start another program in it; the process that stands for it here. Raises Denied, OSError and TimeoutError."""
        self._in_use = True
        command = [*self._words, "exec", f"--user={user}", f"--cwd={place}", short(self.name), *words]
        entry = () if self._group is None else self._group.entry
        try:
            self._await_start()
            return launcher.start(command, (ends.stdin, ends.stdout, ends.stderr), self.name, entry)
        finally:
            ends.close()

    def signal(self, name: str) -> None:
        """Send a signal to its first process, or end all of it by SIGKILL. Raises Denied."""
        if name == SIGKILL:
            self._kill()
        else:
            self._tell("kill", name)

    def pause(self, still: bool) -> None:
        """Halt every process, or let them continue. Raises Denied."""
        self._tell("pause" if still else "resume")

    def wait(self, seconds: float) -> int:
        """Return its status as a shell would. Raises TimeoutError."""
        if self._process is None:
            return 1
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        return code if code >= 0 else 128 - code

    def pid(self) -> int:
        """Return the process that stands for it, `runsc run`; 0 where it has ended."""
        return self._process.pid if self._process is not None and self.running else 0

    def readings(self) -> SentryReadings | None:
        """Return where its use of memory and processor can be read; None while there is no kernel."""
        if self._sentry is None and (pid := self.pid()) and (kernel := sentry.find(pid)):
            self._sentry = SentryReadings(kernel, self._group)
        return self._sentry

    def begin(self) -> None:
        """Hold it to its share of the processor from now on: code is sent next, and until then all is Assent's own.

        Raises OSError where that cannot be done, having ended it.
        """
        self._in_use = True
        if self._group is None or self._bound:
            return
        try:
            self._group.limit_processor(self._cores)
        except OSError:
            self._end()
            raise
        self._bound = True

    def over(self) -> bool:
        """Look at its memory, and end it where that is more than it may have; return whether it is over."""
        try:
            return self._looked_at()
        except OSError:  # its folder is just being removed; and what cannot be watched must not run on unwatched
            self._end()
            return True

    def _looked_at(self) -> bool:
        if self._process is not None and self._process.poll() is not None:
            return True
        if not self._in_use:
            return False
        readings = self.readings()
        memory = None if readings is None else readings.memory()
        if memory is not None and memory > self._most:
            self._too_much = True
            self._end()
            return True
        return False

    def remove(self) -> None:
        """End it and remove every trace. Raises Denied where some of it could not be removed."""
        if self.ends is not None:
            self.ends.close()
            self.ends = None
        self._kill()
        if self.feed is not None:
            self.feed.close()
        if self._group is not None:
            self._group.remove()
        self._held.close()
        if problem := remove(self._folder):
            raise Denied(500, f"{self._folder} could not be removed: {problem}")

    @property
    def _words(self) -> list[str]:
        return self._program.words(self._state)

    def _tell(self, *words: str) -> None:
        verb, *rest = words
        self._await_start()
        command = [*self._words, verb, short(self.name), *rest]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=COMMAND_SECONDS, check=False, cwd="/"
            )
        except subprocess.TimeoutExpired as error:
            raise TimeoutError from error
        except OSError as error:
            raise Denied(500, str(error)) from error
        if done.returncode:
            raise Denied(409, " ".join(done.stderr.split())[-300:] or f"runsc {verb}: status {done.returncode}")

    def _await_start(self) -> None:
        """Wait until runsc has noted that the container runs: before, it knows none. Raises Denied, TimeoutError."""
        end = time.monotonic() + START_SECONDS
        while not self._has_started():
            if not self.running:
                raise Denied(409, "the container does not run")
            if time.monotonic() > end:
                raise TimeoutError
            time.sleep(AGAIN_SECONDS)

    def _has_started(self) -> bool:
        self._started = self._started or any(STARTED in _content(path) for path in self._state.glob("*.state"))
        return self._started

    def _end(self) -> None:
        """End every process, without waiting: the kernel passes it on to those below."""
        if self._process is not None and self.running:
            self._process.kill()

    def _kill(self) -> None:
        """End every process, and wait until they are gone: the sentry ends with the one that started it."""
        process = self._process
        if process is None:
            return
        below = [] if process.poll() is not None else tree.descendants(process.pid)
        if process.poll() is None:
            process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        end = time.monotonic() + END_SECONDS
        while (left := [pid for pid in below if _lives(pid)]) and time.monotonic() < end:
            time.sleep(AGAIN_SECONDS)
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, 9)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it is just being written
        return b""


def _lives(pid: int) -> bool:
    fields = fields_of(pid)
    return bool(fields) and fields[STATE] not in tree.ENDED
