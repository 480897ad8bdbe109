"""Makes sockets in the network of another process: a fresh interpreter, which can be started before that is there."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

from runner.sandbox.programs import inside

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

HELPER_SECONDS = 15.0


class SocketMaker:
    """One interpreter, for one call of `made`. To be closed by whoever made it; leaving `with` does so."""

    def __init__(self) -> None:
        """Start it; it waits for what it is asked for. Raises OSError."""
        with contextlib.ExitStack() as failing:
            self._here, there = socket.socketpair()
            failing.callback(self._here.close)
            with there:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", inside("listeners.py")],
                    stdin=there.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                    env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                    cwd="/",
                )
            failing.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def made(self, space: int, places: Sequence[tuple[str, int]]) -> list[socket.socket]:
        """Return sockets bound in the network that `space` is a descriptor of. Raises OSError, TimeoutError too."""
        self._here.settimeout(HELPER_SECONDS)
        asked = " ".join(f"{host}:{port}" for host, port in places)
        files: list[int] = []
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has failed, and says why
            socket.send_fds(self._here, [asked.encode()], [space])
            _, files, _, _ = socket.recv_fds(self._here, 1, len(places))
        made = [socket.socket(fileno=file) for file in files]
        if len(made) == len(places):
            return made
        for each in made:
            each.close()
        raise OSError(self._complaint() or "too few descriptors are left")

    def close(self) -> None:
        """End it, also where it was never asked."""
        self._here.close()
        self._process.kill()
        self._process.communicate()

    def _complaint(self) -> str:
        """Return why it has failed; '' where it says that it has not. Raises TimeoutError."""
        try:
            _, said = self._process.communicate(timeout=HELPER_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError("its helper does not end") from error
        status = self._process.returncode
        return (" ".join(said.split())[-200:] or f"status {status}") if status else ""
