"""The same thirty steps on the server by E2B's own SDK and by us: what arrives there is compared."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.sandbox.remote.client import ControlPlane
from runner.sandbox.remote.processes import ProcessEnd, ProcessStreams, SandboxAddress
from runner.sandbox.remote.service import Service
from runner.sandbox.remote.short import kill, run
from tests.e2b_server.server import KEY, Loopback, Seen

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHON = Path(__file__).parents[2] / "build" / "agents" / "python" / "bin" / "python"
NAMED = os.environ.get("ASSENT_E2B_SDK", "")
"""Another interpreter that has the SDK."""
COMMANDS = tuple(
    f"echo {number}; exit {number}" if number % 2 else f"echo {number} >&2; cat /proc/self/cmdline"
    for number in range(20)
)
METADATA = {"assent.run": "run-1-2-3", "assent.host": "a b"}
SDK = """
import sys
from e2b import Sandbox
from e2b.exceptions import SandboxException
url, key, commands = sys.argv[1], sys.argv[2], sys.argv[3:]
options = {"api_key": key, "api_url": url, "sandbox_url": url}
box = Sandbox.create("base", timeout=300, metadata={"assent.run": "run-1-2-3", "assent.host": "a b"},
    allow_internet_access=False, network={"deny_out": ["0.0.0.0/0"], "dns_servers": []}, **options)
from e2b import SandboxQuery
from e2b.sandbox.sandbox_api import SandboxState
query = SandboxQuery(metadata={"assent.run": "run-1-2-3", "assent.host": "a b"},
    state=[SandboxState.RUNNING, SandboxState.PAUSED])
print(len(Sandbox.list(query=query, limit=100, **options).next_items()))
print(box.get_info().sandbox_id == box.sandbox_id)
box.set_timeout(300)
for command in commands:
    try:
        print(repr(box.commands.run(command, user="root", cwd="/").stdout))
    except SandboxException as error:
        print(repr(error.stdout))
read = box.commands.run("read line; echo $line", user="root", cwd="/", background=True, stdin=True)
box.commands.send_stdin(read.pid, b"hello\\n")
print(repr(read.wait().stdout))
asleep = box.commands.run("sleep 1000", user="root", cwd="/", background=True, stdin=True)
print(asleep.kill())
print(box.kill(), box.kill())
"""


def sdk() -> str:
    for python in filter(None, (NAMED, str(PYTHON))):
        if (
            os.access(python, os.X_OK)
            and not subprocess.run([python, "-c", "import e2b"], capture_output=True).returncode
        ):
            return python
    pytest.skip("E2B's SDK is not here: make agents installs it")


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as found:
        yield found


@pytest.mark.skipif(os.geteuid() != 0, reason="the server on loopback has accounts only as root")
def test_the_sdk_and_we_send_the_same(server: Loopback) -> None:
    python = sdk()
    done = subprocess.run([python, "-c", SDK, server.url, KEY, *COMMANDS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    theirs, server.seen = plain(server.seen), []
    said = asyncio.run(ours(server))
    assert said == done.stdout.split("\n")[:-1]
    mine = plain(server.seen)
    assert [one[:2] for one in mine] == [one[:2] for one in theirs]
    for (method, path, heads, body), (_, _, their_heads, their_body) in zip(mine, theirs, strict=True):
        assert body == their_body, (method, path)
        assert heads == their_heads, (method, path)
    assert len(mine) == 30


async def ours(server: Loopback) -> list[str]:
    plane = ControlPlane(Service(api_url=server.url, sandbox_url=server.url, key=KEY))
    body = {
        "templateID": "base",
        "timeout": 300,
        "metadata": METADATA,
        "envVars": {},
        "allow_internet_access": False,
        "network": {"denyOut": ["0.0.0.0/0"], "dnsServers": []},
    }
    made = plane.create(body)
    id = made["sandboxID"]
    address = SandboxAddress("here", server.url, id, made["envdAccessToken"])
    said = [str(len(plane.sandboxes(METADATA)))]
    plane.is_there(id)
    said.append("True")
    plane.prolong(id, 300)
    for command in COMMANDS:
        said.append(repr(await asyncio.to_thread(run, address, ["/bin/bash", "-l", "-c", command], {}, 60.0)))
    reads = ProcessStreams(ProcessEnd(), lambda *_: None)
    reads.start_now(address, ["/bin/bash", "-l", "-c", "read line; echo $line"], {})
    await reads.write(b"hello\n")
    frames = b"".join([data async for data in all_of(reads)])
    said.append(repr(frames[8:].decode()))
    asleep = ProcessStreams(ProcessEnd(), lambda *_: None)
    asleep.start_now(address, ["/bin/bash", "-l", "-c", "sleep 1000"], {})
    await asleep._known.wait()
    await asyncio.to_thread(kill, address, asleep.pid)
    said.append(str(not [data async for data in all_of(asleep)]))
    plane.remove(id)
    from runner.sandbox.container.failures import Denied

    with pytest.raises(Denied, match="not found"):
        plane.remove(id)
    said.append("True False")
    plane.close()
    return said


async def all_of(streams: ProcessStreams) -> Any:
    while data := await streams.read():
        yield data


def plain(seen: list[Seen]) -> list[tuple[str, str, dict[str, str], Any]]:
    """What arrived, without what is of one sandbox or one process alone."""
    found = []
    for one in seen:
        id = one.headers.get("e2b-sandbox-id", "") or next(iter(re.findall(r"/(i[0-9a-f]{18})", one.path)), "-")
        path = one.path.replace(id, "ID").partition("?")
        heads = {
            name: "one" if name in ("x-access-token", "e2b-sandbox-id") else value
            for name, value in one.headers.items()
            if name in HEADERS
        }
        found.append((one.method, f"{path[0]}?{'&'.join(sorted(path[2].split('&')))}", heads, _without_pid(one.body)))
    return found


HEADERS = (
    *("x-api-key", "x-access-token", "e2b-sandbox-id", "e2b-sandbox-port"),
    *("authorization", "connect-protocol-version", "content-type"),
)
"""Those that mean something. Beside them the SDK says what it is, and has the other side end commands after a minute;
ours are ended from here."""


def _without_pid(body: Any) -> Any:
    if isinstance(body, dict) and isinstance(body.get("process"), dict):
        process = {name: 1 if name == "pid" else value for name, value in body["process"].items()}
        return {**body, "process": {name: value for name, value in process.items() if value not in ({}, [])}}
    return body
