"""The port of the console where another program has the usual one: any free port, said in words."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.gateway import address_file
from runner.gateway.server import Gateway
from runner.identity.agents import Agents
from runner.model.errors import KnownError
from runner.system.offload import Aside
from runner.system.places import Places
from tests.gateway.counter import PaperCounter, Terms
from tests.gateway.house import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.gateway.stage import Stage

pytestmark = pytest.mark.asyncio
LISTENS = """
import os, socket, sys
if os.geteuid() == 0:
    os.setuid(65534)
with socket.create_server(("127.0.0.1", 0)) as listener:
    print(listener.getsockname()[1], flush=True)
    sys.stdin.read()
"""


@contextmanager
def taken() -> Iterator[tuple[int, int]]:
    """A port that another program has, of another account where that can be; yields port and process."""
    command = [sys.executable, "-I", "-S", "-c", LISTENS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        yield int(other.stdout.readline()), other.pid
        other.communicate()


async def test_another_port_is_taken_and_found_by_the_door(tmp_path: Path) -> None:
    with taken() as (port, pid):
        places = Places.under(tmp_path / "home")
        agents = Agents(places)
        token = agents.add("tester")
        gateway = Gateway(PaperCounter(), agents, replace(Terms(), port=port), places, Aside())
        address = await gateway.open()
        try:
            known = address_file.running(places)
            assert known is not None and known.port != port and str(known.port) in address
            assert gateway.moved.startswith(f"Port {port} is taken by ") and f"port {known.port}." in gateway.moved
            assert f"(process {pid})" in gateway.moved or "another user" in gateway.moved
            assert token not in gateway.moved
        finally:
            await gateway.close("The test is over.")
        # The next start tries the usual one first.
    again = Gateway(PaperCounter(), agents, replace(Terms(), port=port), places, Aside())
    assert f":{port}/" in await again.open() and again.moved == ""
    await again.close("The test is over.")


async def test_two_consoles_of_two_accounts_work_beside_each_other(stage: Stage, tmp_path: Path) -> None:
    async with opened(tmp_path / "second", {"ASSENT_PORT": str(stage.port)}) as house:
        assert house.port != stage.port
        await house.works()
        stage.answers()
        async with stage.client("auto") as client:
            result = await client.call_tool("code_execute", {"language": "python", "code": "print(2 + 2)"})
        assert not result.is_error


async def test_a_second_console_with_the_same_folders_is_refused(stage: Stage) -> None:
    second = Gateway(PaperCounter(), stage.agents, replace(Terms(), port=stage.port), stage.places, Aside())
    with pytest.raises(KnownError, match="is taken by another Assent"):
        await second.open()
    assert second.address == ""


async def test_a_door_of_a_console_that_is_gone_is_not_a_running_one(tmp_path: Path) -> None:
    places = Places.under(tmp_path / "home")
    assert address_file.running(places) is None
    with socket.create_server(("127.0.0.1", 0)) as own:
        here = address_file.ConsoleAddress("127.0.0.1", int(own.getsockname()[1]), os.getpid(), 0.0)
        # Somebody else has its port by now.
        address_file.write(places, address_file.ConsoleAddress(here.host, here.port, os.getppid(), here.started))
        assert address_file.read(places) is not None and address_file.running(places) is None
        address_file.write(places, here)
        assert address_file.running(places) == here
