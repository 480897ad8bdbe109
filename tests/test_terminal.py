"""Questions on the terminal, and that what is printed there cannot command it."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.terminal import visible
from tests.components import require

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PATIENCE = 30.0


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\u202e", "\r", "\x9b1m", "\u200b"])
def test_nothing_a_terminal_obeys_or_hides_gets_through(hostile: str) -> None:
    shown = visible(f"a{hostile}b")
    assert hostile[0] not in shown
    assert f"\\u{{{ord(hostile[0]):x}}}" in shown


def test_ordinary_text_stays() -> None:
    assert visible("größe\tπ\n") == "größe\tπ\n"


class Talk:
    """A process whose lines are read and answered."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    async def begin(cls, *arguments: str) -> Talk:
        pipe, environment = asyncio.subprocess.PIPE, {**os.environ, "ASSENT_PORT": "0", "SANDBOX_TYPE": "local"}
        return cls(
            await asyncio.create_subprocess_exec(
                sys.executable, *arguments, stdin=pipe, stdout=pipe, stderr=pipe, env=environment
            )
        )

    async def until(self, wanted: str) -> str:
        """Everything up to the line that has `wanted`."""
        assert self.process.stdout is not None
        heard = ""
        while wanted not in heard:
            try:
                line = await asyncio.wait_for(self.process.stdout.readline(), PATIENCE)
            except TimeoutError:
                pytest.fail(f"nothing more after: {heard}")
            assert line, f"ended after: {heard}"
            heard += line.decode()
        return heard

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())

    async def end(self) -> str:
        """What else it says; it gets nothing more to read."""
        out, _ = await asyncio.wait_for(self.process.communicate(), PATIENCE)
        return out.decode()


@pytest_asyncio.fixture
async def console() -> AsyncIterator[Talk]:
    """`python -m runner`, open."""
    require("bubblewrap")
    console = await Talk.begin("-m", "runner")
    await console.until("Agents reach Assent at")
    yield console
    if console.process.returncode is None:
        console.process.terminate()
        await console.end()
    assert console.process.returncode == 0


async def submit(tmp_path: Path, code: str) -> Talk:
    file = tmp_path / "ask.py"
    file.write_text(code)
    asking = await Talk.begin("-m", "app", "run", str(file))
    assert asking.process.stdin is not None
    asking.process.stdin.close()
    return asking


@pytest.mark.asyncio
async def test_what_is_approved_on_the_terminal_runs(console: Talk, tmp_path: Path) -> None:
    asking = await submit(tmp_path, "print(6 * 7)\n")
    shown = await console.until("Type 'approve' to run it")
    assert "HIGH  shell asks for code_execute (python)" in shown
    assert "    1  print(6 * 7)" in shown
    console.say("yes")
    assert "Type 'approve' to run it" in await console.until("or 'deny' and a reason")
    console.say("approve")
    assert " ok after " in await console.until(" after ")
    assert await asking.end() == "42\n"


@pytest.mark.asyncio
async def test_what_is_denied_there_does_not_run_and_the_end_of_input_denies(console: Talk, tmp_path: Path) -> None:
    asking = await submit(tmp_path, "print('\\x1b[2J ran')\n")
    await console.until("Type 'approve' to run it")
    console.say("deny Not today.")
    await console.until("denied: Not today.")
    assert await asking.end() == ""
    assert asking.process.returncode == 125
    asking = await submit(tmp_path, "print('ran too')\n")
    await console.until("Type 'approve' to run it")
    assert console.process.stdin is not None
    console.process.stdin.close()
    assert "denied: Nobody is at the terminal any more." in await console.until("denied:")
    assert await asking.end() == ""
