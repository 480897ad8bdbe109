"""A connection to a far engine through the ssh program, as Docker's own client makes it."""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import tempfile
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from runner.model.errors import KnownError

ENDED_SECONDS = 1.0
WORDS = 4096
"""Bytes of what ssh says of a failure."""


class SshComplaint(EOFError):
    """What ssh said when there was no connection; '' where it said nothing."""


class SshCommand:
    """The command that carries connections to the engine at an address."""

    def __init__(self, url: str) -> None:
        """Raises KnownError for an address without a host, and where there is no ssh."""
        parts = urlsplit(url)
        if not parts.hostname or parts.hostname.startswith("-"):
            raise KnownError(f"{url} names no host.", "Correct DOCKER_HOST.")
        if shutil.which("ssh") is None:
            raise KnownError(f"There is no ssh here to reach {url}.", "Install an ssh client, or correct DOCKER_HOST.")
        options = ["-p", str(parts.port)] if parts.port else []
        options += ["-l", parts.username] if parts.username else []
        known = ("-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
        self.words = ("ssh", *known, *options, "--", parts.hostname, "docker", "system", "dial-stdio")


class SshConnection(socket.socket):
    """Our end of a pair of sockets whose other end is the program's input and output."""

    answered = False
    """Whether the engine has answered: an ssh that ends afterwards has done its work."""

    def __init__(self, ours: socket.socket, process: subprocess.Popen[bytes], words: BinaryIO) -> None:
        super().__init__(fileno=ours.detach())
        self._process = process
        self._words = words

    def recv_into(self, *arguments: Any) -> int:
        """Receive as sockets do. Raises SshComplaint where the connection ends before the engine has answered."""
        try:
            count = super().recv_into(*arguments)
        except ConnectionError as error:
            raise self._failure() from error
        if not count and not self.answered:
            raise self._failure()
        return count

    def sendall(self, *arguments: Any) -> None:
        """Send as sockets do. Raises SshComplaint where the connection has ended."""
        try:
            super().sendall(*arguments)
        except ConnectionError as error:
            raise self._failure() from error

    def _failure(self) -> SshComplaint:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ENDED_SECONDS)
        self._words.seek(0)
        lines = self._words.read(WORDS).decode("utf-8", "replace").split("\n")
        return SshComplaint(next((line.strip().rstrip(".") for line in reversed(lines) if line.strip()), ""))

    def _real_close(self) -> None:
        super()._real_close()  # type: ignore[misc]
        self._process.terminate()
        try:
            self._process.wait(ENDED_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._words.close()


def connect(command: SshCommand, seconds: float) -> SshConnection:
    """Return a new connection whose reads and writes take at most `seconds`. Raises OSError."""
    words = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the connection
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            end = theirs.fileno()
            process = subprocess.Popen(command.words, stdin=end, stdout=end, stderr=words, start_new_session=True)
        except BaseException:
            ours.close()
            words.close()
            raise
    connection = SshConnection(ours, process, words)
    connection.settimeout(seconds)
    return connection
