"""A console without a window and a program at work beside it, both of one account, which need not be that of the test.

Run with the account's folder, the name of a story below, and what the program does, in Python: it is a client that is
called `claude`, connected as `assent connect` does it, and speaks MCP with the server that its configuration names.
Prints one JSON object: what the program printed, the requests that were asked, and what the story says.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.assembly import build
from runner.identity.agents import Agents
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import QuestionAsked
from runner.model.request import Isolation
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.docker.client import EngineClient
from runner.sandbox.docker.endpoint import Endpoint
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.remote.sandbox import E2BSandbox
from runner.sandbox.remote.service import Service
from runner.settings.loading import load
from runner.system.places import Places
from runner.system.tasks import spawn
from runner.work import control
from runner.workspace.working_copy import all_below

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.engine.engine import Engine
    from runner.model.events import Event
    from runner.workspace.working_copy import WorkingCopy

KEY = "e2b_" + "0" * 40
SETTINGS = {
    "ASSENT_PORT": "0",
    "SANDBOX_TYPE": "local",
    "ASSENT_WEAKEST_ISOLATION_CRITICAL": "local",
    "ASSENT_AUTO_APPROVE_LOW": "false",
}
CLIENT = """#!/usr/bin/python3
import json, os, subprocess, sys

class Server:
    def __init__(self):
        self.entry = json.load(open(os.path.expanduser("~/.claude.json")))["mcpServers"]["assent"]
        words = [self.entry["command"], *self.entry["args"]]
        self.process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **self.entry["env"]}
        )
        self.number = 0
        self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def say(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\\\\n")
        self.process.stdin.flush()

    def begin(self, method, **params):
        self.number += 1
        self.say({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def end(self, number):
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == number:
                return message.get("result", message)
        return {"gone": True}

    def ask(self, method, **params):
        return self.end(self.begin(method, **params))

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)["content"][0]["text"]

    def run(self, code, language="shell", **more):
        return self.call("code_execute", language=language, code=code, **more)

def shell(text):
    return subprocess.run(["bash", "-c", text], capture_output=True, text=True).stdout

def tell(*values):
    print(json.dumps(values), flush=True)

""".replace("\\\\n", "\\n")


class Stage:
    """The engine, the person, and the program at work."""

    def __init__(self, home: Path, code: str) -> None:
        self.home = home
        self.places = Places.under(home / "assent")
        self.project = home / "dev" / "project"
        self.requests: list[dict[str, Any]] = []
        self.settings = dict(SETTINGS)
        self.options: tuple[str, ...] = ()
        """Of `assent work`."""
        self.sandbox: Any = LocalSandbox(home / "assent/runs")
        self.engine: Engine | None = None
        self.answers = True
        self.when_asked: Callable[[str], object] = lambda _id: None
        token = Agents(self.places).add("claude")
        entry = {"type": "stdio", "command": "/nowhere/assent", "args": ["mcp"], "env": {"ASSENT_TOKEN": token}}
        (home / ".claude.json").write_text(json.dumps({"mcpServers": {"assent": entry}}))
        program = home / "bin/claude"
        program.write_text(CLIENT + code)
        program.chmod(0o755)

    async def open(self) -> None:
        engine = self.engine = build(self.places, load(self.places, self.settings), (self.sandbox,))
        engine.listen(self._hear)
        await engine.start()

    async def close(self) -> None:
        if self.engine is not None:
            await self.engine.close("the test is over")

    def _hear(self, event: Event) -> None:
        if not isinstance(event, QuestionAsked):
            return
        request = self.request(event.request_id)
        self.requests.append(
            {
                "work": request.work and [request.work.name, request.work.project],
                "beside": dict_of(request.beside),
                "sent": [request.sent_to, request.files_sent],
            }
        )
        self.when_asked(event.request_id)
        if self.answers:
            self.approve(event.request_id)

    def request(self, request_id: str) -> Any:
        assert self.engine is not None
        ticket = self.engine.ticket("claude", request_id)
        assert ticket is not None
        return ticket.case.request

    def approve(self, request_id: str) -> None:
        assert self.engine is not None
        (question,) = (one for one in self.engine.desk.waiting() if one.request_id == request_id)
        refused = self.engine.answer(request_id, question.digest, Verdict.APPROVED, "")
        assert refused == "", refused

    def start(self) -> Awaitable[asyncio.subprocess.Process]:
        environment = {
            "HOME": str(self.home),
            "PATH": f"{self.home}/bin:{os.defpath}",
            "PYTHONPATH": os.environ["PYTHONPATH"],
            "PYTHONDONTWRITEBYTECODE": "1",
            "ASSENT_HOME": str(self.home / "assent"),
        }
        return asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "app", "work", *self.options, "claude"),
            env=environment,
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    async def session(self) -> list[Any]:
        """Run the program at work to its end; return what it told."""
        process = await self.start()
        said, errors = await process.communicate()
        sys.stderr.write(errors.decode())
        return [json.loads(line) for line in said.decode().splitlines()]


class Unable:
    """A sandbox with all but what it takes to run over a project."""

    def __init__(self, sandbox: LocalSandbox) -> None:
        self._sandbox = sandbox

    def __getattr__(self, name: str) -> object:
        if name in ("protections_over", "start_over"):
            raise AttributeError(name)
        return getattr(self._sandbox, name)


def dict_of(parts: Any) -> dict[str, str]:
    return {one.name: one.text for one in parts}


async def approving(stage: Stage) -> dict[str, Any]:
    """A person approves all that is asked."""
    await stage.open()
    return {"told": await stage.session()}


async def over_a_copy(stage: Stage) -> dict[str, Any]:
    """The same where the program works over a copy."""
    stage.options = ("--copy",)
    return await approving(stage)


async def over_a_copy_in_docker(stage: Stage) -> dict[str, Any]:
    """The same in containers of the engine that a variable names."""
    stage.settings["SANDBOX_TYPE"] = "docker"
    stage.sandbox = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, EngineClient(Endpoint(os.environ["DOCKER_HOST"])))
    return await over_a_copy(stage)


async def over_an_overlay_in_docker(stage: Stage) -> dict[str, Any]:
    """The same where the engine cannot see the layer."""
    stage.settings["SANDBOX_TYPE"] = "docker"
    stage.sandbox = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, EngineClient(Endpoint(os.environ["DOCKER_HOST"])))
    return await approving(stage)


def at_e2b(stage: Stage) -> None:
    """Have code run at the service that a variable names."""
    at = os.environ["E2B_AT"]
    stage.settings["SANDBOX_TYPE"] = "e2b"
    stage.sandbox = E2BSandbox(Service(api_url=at, sandbox_url=at, key=KEY))


async def over_a_copy_at_e2b(stage: Stage) -> dict[str, Any]:
    """The same on another machine, which is sent the files of the copy."""
    at_e2b(stage)
    return await over_a_copy(stage)


async def over_an_overlay_at_e2b(stage: Stage) -> dict[str, Any]:
    """The same where the layer is for the program alone."""
    at_e2b(stage)
    return await approving(stage)


async def in_a_sandbox_that_cannot(stage: Stage) -> dict[str, Any]:
    """The sandbox in use cannot be shown a working copy."""
    stage.sandbox = Unable(stage.sandbox)
    return await approving(stage)


async def without_console(stage: Stage) -> dict[str, Any]:
    """No console is open."""
    return {"told": await stage.session()}


async def ended_before_yes(stage: Stage) -> dict[str, Any]:
    """The person ends the session between question and yes, and approves then."""
    await stage.open()
    stage.answers = False
    asked: asyncio.Queue[str] = asyncio.Queue()
    stage.when_asked = asked.put_nowait
    running = spawn("the session", stage.session())
    request_id = await asked.get()
    # Its caller has been told to fetch the answer, so that the question stays when the session is gone.
    assert stage.engine is not None
    await stage.engine.park(request_id)
    (copy,) = all_below(stage.places.work)
    await asyncio.to_thread(control.order, stage.places.runtime, copy.name, "end")
    told = await running
    stage.approve(request_id)
    ticket = stage.engine.ticket("claude", request_id)
    assert ticket is not None
    answer = await ticket.answered(60)
    assert answer is not None
    result = answer.result
    return {"told": told, "outcome": result and result.outcome.value, "error": result and result.error}


async def asked_with_other_keys(stage: Stage) -> dict[str, Any]:
    """Somebody asks in the name of the session, without its key."""
    running = spawn("the session", stage.session())
    while not (copies := all_below(stage.places.work)) or not (copies[0].content / "up").exists():
        await asyncio.sleep(0.02)
    (copy,) = copies
    said = []
    for key in ("", "0" * 32):
        try:
            await asyncio.to_thread(control.order, stage.places.runtime, copy.name, "asked", key=key)
        except KnownError as error:
            said.append(str(error))
    await asyncio.to_thread(control.order, stage.places.runtime, copy.name, "end")
    return {"told": await running, "said": said}


async def running_over(stage: Stage) -> WorkingCopy:
    """Wait until approved code writes the file `beat` into a working copy.

    Its caller has been told to fetch the answer, so that it does not end because that one is gone.
    """
    asked: asyncio.Queue[str] = asyncio.Queue()
    stage.when_asked = asked.put_nowait
    request_id = await asked.get()
    assert stage.engine is not None
    await stage.engine.park(request_id)
    (copy,) = all_below(stage.places.work)
    while not (copy.content / "beat").exists():
        await asyncio.sleep(0.02)
    return copy


async def growth(copy: WorkingCopy) -> int:
    """Return the bytes by which that file still grows."""
    beat = copy.content / "beat"
    before = beat.stat().st_size
    await asyncio.sleep(0.5)
    return beat.stat().st_size - before


async def killed_meanwhile(stage: Stage) -> dict[str, Any]:
    """The process on the terminal is killed while approved code runs."""
    await stage.open()
    assert stage.engine is not None
    process = await stage.start()
    copy = await running_over(stage)
    process.kill()
    await process.wait()
    while stage.engine.runs._runs:
        await asyncio.sleep(0.02)
    return {"told": [], "grew": await growth(copy)}


async def ended_meanwhile(stage: Stage) -> dict[str, Any]:
    """The session ends while approved code runs over its working copy."""
    await stage.open()
    running = spawn("the session", stage.session())
    copy = await running_over(stage)
    await asyncio.to_thread(control.order, stage.places.runtime, copy.name, "end")
    told = await running
    # The session is over: nothing may write any more.
    return {"told": told, "grew": await growth(copy)}


STORIES: dict[str, Callable[[Stage], Awaitable[dict[str, Any]]]] = {
    one.__name__: one
    for one in (
        approving,
        over_a_copy,
        over_a_copy_in_docker,
        over_an_overlay_in_docker,
        over_a_copy_at_e2b,
        over_an_overlay_at_e2b,
        in_a_sandbox_that_cannot,
        without_console,
        ended_before_yes,
        asked_with_other_keys,
        ended_meanwhile,
        killed_meanwhile,
    )
}


async def main(home: str, story: str, code: str) -> None:
    stage = Stage(Path(home), code)
    try:
        found = await STORIES[story](stage)
    finally:
        await stage.close()
    print("FOUND " + json.dumps({**found, "requests": stage.requests}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
