"""A real console as a process of its own, a person at its terminal, and agents that never stop asking."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from runner.gateway.server import DETAILS
from runner.identity.agents import Agents
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

AGENTS = ("claude", "codex", "gemini", "cursor")
SETTINGS = {
    "ASSENT_PORT": "0",
    "ASSENT_RATE_PER_MINUTE": "100000",
    "ASSENT_BURST": "1000",
    "SANDBOX_TYPE": "local",
    "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
}
ROOT = Path(__file__).resolve().parents[2]
DENY = "# not this one"
INVITATION = re.compile(r"Type '([^']+)' to run it")
RUN = ("code_execute", {"language": "shell", "code": "echo $((6 * 7))"})
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("code_sandbox_info", {}),
    ("code_sandbox_info", {}),
    RUN,
    RUN,
    ("code_execute", {"language": "python", "code": "print(sum(range(1000)))\nresult = {'a': [1, 2]}"}),
    ("code_execute", {"language": "shell", "code": "seq 2000; echo sad >&2; exit 3"}),
    ("code_execute", {"language": "shell", "code": "sleep 30", "timeout": 1}),
    ("code_execute", {"language": "shell", "code": f"echo never {DENY}"}),
    ("code_execute", {"language": "shell", "code": "rm -rf / # CRITICAL, so nobody can approve it here"}),
    ("code_execute", {"language": "shell", "code": "echo 1 >one; echo 2 >two"}),
    ("code_execute", {"language": "a language nobody knows", "code": "1"}),
)
"""What agents ask for, again and again."""
GIVE_UP = 0.08
"""Share of the calls that an agent breaks off."""


class House:
    """One home folder; the console in it can be started, killed and quit any number of times."""

    def __init__(self, home: Path) -> None:
        home.mkdir(mode=0o755, exist_ok=True)
        self.places = Places.under(home)
        self.places.make()
        self.temporary = home / "tmp"
        self.temporary.mkdir(exist_ok=True, mode=0o755)
        self.starts = home / "starts.log"
        """A line for each run right before it started: its request."""
        agents = Agents(self.places)
        self.tokens = {name: agents.add(name) for name in AGENTS}
        self.answered: Counter[str] = Counter()
        """How calls ended, by the status agents were given."""
        self.ran: set[str] = set()
        """Requests whose answers said that they ran."""
        self.surprises: list[str] = []
        """Answers that agents should not have got."""
        self.process: subprocess.Popen[str] | None = None
        self._person: threading.Thread

    def start(self) -> None:
        """Start the console; a thread of its own answers what it asks."""
        self.places.door.unlink(missing_ok=True)
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("ASSENT_", "SANDBOX_"))
        }
        environment |= SETTINGS | {"ASSENT_HOME": str(self.places.config.parent), "TMPDIR": str(self.temporary)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.console", str(self.starts)],
            cwd=ROOT, env=environment, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self._person = threading.Thread(target=_attend, args=(self.process,))
        self._person.start()

    async def opened(self) -> None:
        """Wait until agents can reach it."""
        async with asyncio.timeout(HANGS):
            while not self.places.door.exists():
                assert self.process is not None and self.process.poll() is None, "the console ended by itself"
                await asyncio.sleep(0.02)

    async def worked(self) -> None:
        """Wait until an agent has the result of another run: however busy the machine is, agents are served."""
        before = len(self.ran)
        async with asyncio.timeout(HANGS):
            while len(self.ran) == before:
                assert self.process is not None and self.process.poll() is None, "the console ended by itself"
                await asyncio.sleep(0.02)

    def kill(self) -> int:
        """kill -9; its process id."""
        assert self.process is not None
        self.process.kill()
        self._gone()
        return self.process.pid

    def quit(self) -> int:
        """SIGTERM; the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(HANGS)
        return self._gone()

    def end(self) -> None:
        """Whatever happened: nothing of it runs on."""
        if self.process is not None and self.process.poll() is None:
            self.kill()

    def _gone(self) -> int:
        """Let nothing of the console that ended stay open; its exit code."""
        assert self.process is not None and self.process.stdin is not None and self.process.stdout is not None
        code = self.process.wait()
        self._person.join()
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.stdout.close()
        return code

    @asynccontextmanager
    async def asking(self, seed: int) -> AsyncIterator[None]:
        """Agents ask meanwhile, across every restart."""
        tasks = [spawn(f"agent {name}", self._ask(name, random.Random(f"{seed} {name}"))) for name in AGENTS]
        try:
            yield
        finally:
            waiting = set(tasks)
            while waiting:
                # More than once: a client whose console dies just then takes the cancelling for its own affair.
                for task in waiting:
                    task.cancel()
                _, waiting = await asyncio.wait(waiting, timeout=1.0)
            for task in tasks:
                if not task.cancelled() and (error := task.exception()):
                    raise error

    async def _ask(self, agent: str, source: random.Random) -> None:
        while True:
            # Whatever an agent's connection dies of: the console may have been killed at any moment.
            with contextlib.suppress(Exception):
                async with self._client(agent) as client:
                    while True:
                        await self._call(client, source)
            await asyncio.sleep(0.05)

    @asynccontextmanager
    async def _client(self, agent: str) -> AsyncIterator[Client]:
        door = json.loads(self.places.door.read_text())
        http = create_mcp_http_client(headers={"Authorization": f"Bearer {self.tokens[agent]}"})
        address = f"http://127.0.0.1:{door['port']}/mcp"
        async with http, Client(streamable_http_client(address, http_client=http)) as client:
            yield client

    async def _call(self, client: Client, source: random.Random) -> None:
        tool, arguments = source.choice(CALLS)
        if source.random() < GIVE_UP:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(client.call_tool(tool, arguments), source.uniform(0.01, 0.3))
            self.answered["given up"] += 1
            return
        answer = await client.call_tool(tool, arguments)
        while (data := answer.structured_content or {}).get("status") == "pending":
            answer = await client.call_tool("code_result", {"id": data["request_id"]})
        status = str(data.get("status", "refused"))
        self.answered[status] += 1
        details = (answer.meta or {}).get(DETAILS, {})
        if "exit_code" in details:
            self.ran.add(str(details["request_id"]))
        text = "".join(part.text for part in answer.content if part.type == "text")
        if "Assent itself failed" in text or (
            arguments == RUN[1] and status == "finished" and text.split("\n")[0] != "42"
        ):
            self.surprises.append(f"{arguments}: {text[:300]}")


def _attend(process: subprocess.Popen[str]) -> None:
    """Answer questions as they are asked, until the console is gone."""
    assert process.stdin is not None and process.stdout is not None
    shown: list[str] = []
    with contextlib.suppress(OSError, ValueError):
        for line in process.stdout:
            shown.append(line)
            if found := INVITATION.search(line):
                text = "".join(shown)
                denied = DENY in text or "Cannot be approved" in text
                process.stdin.write("deny Not like this.\n" if denied else f"{found[1]}\n")
                shown.clear()


async def wait_until_gone(pid: int, seconds: float = HANGS) -> list[str]:
    """Processes of runs of the console `pid` that are still there after some seconds.

    Bubblewrap by itself does not count: killed before it was given the word, it waits for it, and the next console ends
    it. Code runs as another program.
    """
    end = time.monotonic() + seconds
    while (left := [one for one in marked(pid) if "bwrap" not in one]) and time.monotonic() < end:
        await asyncio.sleep(0.02)
    return left


def marked(pid: int) -> list[str]:
    """Processes of runs of the console `pid`."""
    found, mark = [], f"ASSENT_RUN=run-{pid}-".encode()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes():
                    found.append(f"{folder.name} {(folder / 'cmdline').read_bytes()[:100]!r}")
    return found
