"""A small process beside this one that removes its sandboxes at a service where this one is killed: they cost."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from typing import TYPE_CHECKING

from runner.sandbox import programs
from runner.sandbox.container.shape import HOST_LABEL, RUN_LABEL, host
from runner.sandbox.local.leftovers import own_prefix
from runner.sandbox.remote.calls import hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.sandbox.remote.service import Service

PROGRAM = "removing.py"
END_SECONDS = 5.0


@contextlib.contextmanager
def removed_after_kill(service: Service) -> Iterator[None]:
    """Have the sandboxes that this process makes meanwhile removed should it be killed. Raises KnownError.

    Where no process can be started, the next start of Assent finds them, and else they end by themselves.
    """
    said = {
        "api": service.api,
        "key": service.opening(),
        "label": [HOST_LABEL, hidden(host())],
        "run": [RUN_LABEL, own_prefix()],
    }
    process = None
    with contextlib.suppress(OSError):
        # In a session of its own: what ends a terminal is not to end it.
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", programs.remote(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
        )
    try:
        if process is not None:
            _say(process, json.dumps(said))
        yield
    finally:
        if process is not None:
            _say(process, "done")
            _end(process)


def _say(process: subprocess.Popen[bytes], line: str) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # it has ended by itself, and removes nothing
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):
        process.stdin.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
