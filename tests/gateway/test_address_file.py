"""The file that tells where the console listens: who finds it, whom it is believed, and what becomes of old ones."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from runner.gateway import address_file
from runner.gateway.own_command import own_command
from runner.gateway.snippets import configurations
from runner.system.places import Places, variables
from tests.gateway.house import opened
from tests.gateway.stage import modern
from tests.path.at_work import ROOT, accounts_place, ordinary_account
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GONE = 4_100_000
"""No process: above the highest number there can be."""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """A person's places as a desktop has them."""
    monkeypatch.delenv("ASSENT_HOME")
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    return Places.standard()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


async def asked(variables: dict[str, str], message: dict[str, Any]) -> dict[str, Any]:
    """What the bridge answers when it is started with these variables and no other."""
    bridge = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "runner.gateway.bridge"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=variables,
    )
    assert bridge.stdin is not None and bridge.stdout is not None
    bridge.stdin.write(json.dumps(message).encode() + b"\n")
    async with asyncio.timeout(HANGS):
        answer: dict[str, Any] = {}
        while "id" not in answer:  # what goes before it tells of the progress
            answer = json.loads(await bridge.stdout.readline())
        bridge.stdin.close()
        await bridge.wait()
    return answer


INFO = modern("tools/call", {"name": "code_sandbox_info", "arguments": {}})


@pytest.mark.asyncio
async def test_the_bridge_finds_the_console_with_home_and_path_alone(session: Places) -> None:
    """Most clients hand no other variable on to what they start."""
    assert session.doors == (session.door, session.state / "door.json")
    async with opened(session) as house:
        bare = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"], "ASSENT_TOKEN": house.token}
        answer = await asked(bare, INFO)
        assert not answer["result"].get("isError"), answer
        assert all(path.exists() for path in session.doors)
    assert not any(path.exists() for path in session.doors)
    assert "Assent is not running" in (await asked(bare, INFO))["result"]["content"][0]["text"]


@pytest.mark.asyncio
async def test_folders_of_ones_own_are_found_by_the_configuration_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSENT_HOME", str(tmp_path / "own"))
    async with opened(Places.standard()) as house:
        snippets = configurations("x", house.token, house.url, "assent", variables(os.environ))
        shown = next(json.loads(one.text) for one in snippets if one.client == "Any client that starts a command")
        environment = shown["mcpServers"]["assent"]["env"]
        assert environment["ASSENT_HOME"] == str(tmp_path / "own")
        bare = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], **environment}
        answer = await asked(bare, INFO)
        assert not answer["result"].get("isError"), answer
        codex = next(one.text for one in snippets if one.client == "Codex")
        assert f'"ASSENT_HOME" = "{tmp_path / "own"}"' in codex


@pytest.mark.asyncio
async def test_the_official_client_connects_by_the_configuration_as_it_is_shown(session: Places) -> None:
    """It hands on HOME, PATH and a few more, whatever else this process has."""
    async with opened(session) as house:
        shown = configurations("x", house.token, house.url, own_command(), variables(os.environ))
        for name in ("Claude Code", "Any client that starts a command"):
            server = next(json.loads(one.text) for one in shown if one.client == name)["mcpServers"]["assent"]
            started = StdioServerParameters(command=server["command"], args=server["args"], env=server["env"])
            async with Client(started) as client:  # type: ignore[arg-type]
                result = await client.call_tool("code_sandbox_info", {})
            assert not result.is_error, result


def test_only_what_is_not_usual_goes_into_the_configuration(session: Places) -> None:
    usual = session.state.parent
    assert variables({"XDG_STATE_HOME": str(usual), "XDG_RUNTIME_DIR": "/run/user/7"}) == {}
    assert variables({"XDG_STATE_HOME": "/elsewhere"}) == {"XDG_STATE_HOME": "/elsewhere"}
    assert variables({"XDG_STATE_HOME": "relative"}) == {}
    assert variables({"XDG_STATE_HOME": "/elsewhere", "ASSENT_HOME": "/own"}) == {"ASSENT_HOME": "/own"}


def test_without_a_folder_of_the_session_everything_stands_in_the_state_folder(
    session: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    places = Places.standard()
    assert places.runtime == places.state == session.state
    assert places.doors == (places.state / "door.json",)


def test_a_door_that_leads_nowhere_is_passed_over(session: Places, listener: socket.socket) -> None:
    first, second = session.doors
    closed = address_file.ConsoleAddress("127.0.0.1", 1, os.getpid(), 1.0)
    dead = address_file.ConsoleAddress("127.0.0.1", port_of(listener), GONE, 2.0)
    live = address_file.ConsoleAddress("127.0.0.1", port_of(listener), os.getpid(), 3.0)
    for stale in (closed, dead):
        address_file.write(session, live)
        first.write_text(json.dumps(stale.fields()))
        assert address_file.read(session) == live
        address_file.write(session, live)
        second.write_text(json.dumps(stale.fields()))
        assert address_file.read(session) == live
    first.write_text(json.dumps(dead.fields()))
    assert address_file.read(session) == dead, "with none that is live the first says why"
    address_file.remove(session, os.getpid())
    assert address_file.read(session) == dead, "the door of another console was removed"


@pytest.mark.parametrize("what", ["writable", "link", "folder", "pipe", "garbage", "huge port", "another's"])
def test_a_door_that_others_could_have_written_is_not_believed(
    session: Places, listener: socket.socket, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    live = address_file.ConsoleAddress("127.0.0.1", port_of(listener), os.getpid(), 3.0)
    address_file.write(session, live)
    first, second = session.doors
    second.unlink()
    assert address_file.read(session) == live
    match what:
        case "writable":
            first.chmod(0o620)
        case "link":
            first.rename(second.with_name("elsewhere"))
            first.symlink_to(second.with_name("elsewhere"))
        case "folder":
            first.unlink()
            first.mkdir()
        case "pipe":
            first.unlink()
            os.mkfifo(first)
        case "garbage":
            first.write_bytes(b"\xff[[[")
        case "huge port":
            first.write_text('{"host": "127.0.0.1", "port": 1e999, "pid": 1, "started": 0}')
        case _:
            monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
    assert address_file.read(session) is None


def test_one_path_is_enough_and_none_is_an_error(session: Places) -> None:
    here = address_file.ConsoleAddress("127.0.0.1", 1, os.getpid(), time.time())
    for path in session.doors:
        (path / "in the way").mkdir(parents=True)
    with pytest.raises(OSError, match="directory"):
        address_file.write(session, here)
    assert [path.name for path in session.runtime.iterdir()] == ["door.json"], "a file was left behind"
    (session.doors[1] / "in the way").rmdir()
    session.doors[1].rmdir()
    address_file.write(session, here)
    assert address_file.read(session) == here


def test_who_holds_a_port(listener: socket.socket) -> None:
    found = address_file.holder(port_of(listener))
    assert found is not None
    assert found.pid == os.getpid()
    assert psutil.Process().name().startswith(found.name)
    assert address_file.holder(1) is None
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as everywhere:
        assert address_file.holder(port_of(everywhere)) is not None


CLOSED = """\
import os, signal, socket, sys
from pathlib import Path
from runner.gateway import address_file
from runner.system.places import Places
from runner.system.private import keep_private

listener = socket.create_server(("127.0.0.1", 0))
port = listener.getsockname()[1]
ready, says = os.pipe()
if not (console := os.fork()):
    keep_private()
    os.write(says, b"1")
    signal.pause()
os.read(ready, 1)
listener.close()
places = Places.under(Path(sys.argv[1]))
try:
    address_file.write(places, address_file.ConsoleAddress("127.0.0.1", port, console, 1.0))
    found = address_file.running(places)
    print(found is not None and found.pid == console, address_file.named(port))
finally:
    os.kill(console, 9)
    os.waitpid(console, 0)
print(address_file.running(places))
"""


@pytest.mark.skipif(ordinary_account() == 0, reason="root sees what every process has open")
def test_a_console_that_does_not_show_what_it_has_open_is_found_by_its_account() -> None:
    with accounts_place() as place:
        os.chown(place, ordinary_account(), -1)
        said = subprocess.run(
            ["/usr/bin/python3" if os.geteuid() == 0 else sys.executable, "-c", CLOSED, str(place)],
            user=ordinary_account(),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            check=True,
        ).stdout.decode()
    assert said.splitlines() == ["True another program of this account", "None"]
