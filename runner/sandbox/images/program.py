"""Runs one outside program line by line; whoever stops listening ends it with all its children."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from typing import TYPE_CHECKING

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence
    from pathlib import Path

GRACE_SECONDS = 10.0
"""For cleaning up (mmdebstrap unmounts and deletes what it unpacked), before the program is killed."""
TAIL_LINES = 40


class ProgramFailed(Exception):
    """A program ended with an error; `tail` is the end of its output."""

    def __init__(self, program: str, tail: Sequence[str]) -> None:
        super().__init__(f"{program}: {tail[-1] if tail else 'no message'}")
        self.program = program
        self.tail = tuple(tail)


async def lines(
    *command: str, output: Path | None = None, stdin: Path | None = None, environment: Mapping[str, str] | None = None
) -> AsyncGenerator[str]:
    """What `command` says on its error stream, and on its output too unless that goes to the file `output`.

    Raises ProgramFailed when it ends with an error, KnownError when the program is not there.
    """
    with contextlib.ExitStack() as files:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=files.enter_context(stdin.open("rb")) if stdin else asyncio.subprocess.DEVNULL,
                stdout=files.enter_context(output.open("wb")) if output else asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE if output else asyncio.subprocess.STDOUT,
                env=dict(environment) if environment is not None else None,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise KnownError(f"{command[0]} was not found.", f"Install {command[0]}, then try again.") from error
    tail: list[str] = []
    try:
        stream = process.stderr if output else process.stdout
        assert stream is not None
        async for raw in stream:
            line = raw.decode("utf-8", "replace").strip()
            tail = [*tail, line][-TAIL_LINES:]
            yield line
        if await process.wait():
            raise ProgramFailed(command[0], tail)
    finally:
        await _end(process)


async def said(*command: str, environment: Mapping[str, str] | None = None) -> str:
    """Return all that `command` says. Raises like `lines`."""
    return "\n".join([line async for line in lines(*command, environment=environment)])


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                # A pipe that nobody reads any more would keep it from ending.
                await process.communicate()
                return
