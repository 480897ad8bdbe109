"""What a run did, as gVisor reports it: the same with a container engine and without one."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Isolation, Language
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Collect
from runner.sandbox.gvisor.engine_feeds import NONE_FREE
from tests import container_engine as engine
from tests import direct_gvisor
from tests.contract.conftest import job
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.model.behaviour import Behaviour

DOES_THINGS = """
import os, socket, subprocess
open("a.txt", "w").write("x")
os.chmod("a.txt", 0o750)
subprocess.run(["sh", "-c", "exit 3"])
try:
    socket.create_connection(("10.1.2.3", 80), 1)
except OSError:
    pass
"""


@pytest.fixture(scope="module", params=["gvisor-direct", "gvisor"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[ContainerSandbox]:
    with tempfile.TemporaryDirectory(prefix="assent-test-") as root:
        made = direct_gvisor.sandbox(Path(root)) if request.param == "gvisor-direct" else reporting()
        yield made
        asyncio.run(closed(made))


async def closed(made: ContainerSandbox) -> None:
    await made.close()
    await made._client().close()


def reporting() -> ContainerSandbox:
    """One whose engine reports to it; other processes of tests may use its runtimes for that for some time."""
    client = engine.reporting()
    made = ContainerSandbox(Isolation.GVISOR, OWN_IMAGES, client)
    end = time.monotonic() + HANGS
    while asyncio.run(made.examine()).ready and client.unreported == NONE_FREE and time.monotonic() < end:
        time.sleep(0.1)
    assert client.unreported == ""
    return made


def test_what_the_code_does_is_reported_and_nothing_of_what_assent_does(
    sandbox: ContainerSandbox, tmp_path: Path
) -> None:
    heard: list[Behaviour] = []

    async def body() -> Behaviour | None:
        collect = Collect(tmp_path)  # then programs of Assent's own run before and after the code
        wanted = job(DOES_THINGS, collect=collect, noticed=heard.append)
        return (await (await sandbox.start(wanted, lambda _usage: None)).finished()).observed

    found = asyncio.run(body())
    assert found is not None
    assert {(one.kind.value, one.what, one.came) for one in found.deeds} == {
        ("file", "a.txt", ""),
        ("rights", "chmod 750", ""),
        ("program", "sh -c 'exit 3'", "exit 3"),
        ("connection", "10.1.2.3:80", ""),
    }
    assert (found.complete, found.ended) == (True, 1)
    assert all(one.deeds for one in heard)


def test_each_run_in_a_kept_sandbox_has_its_own_and_others_nothing_of_it(sandbox: ContainerSandbox) -> None:
    async def body() -> list[Behaviour | None]:
        session = await sandbox.open(Language.SHELL, job("").limits, "")
        beside = await sandbox.start(job("import os\nos.system('id -u')"), lambda _usage: None)
        found = []
        for code in ("ls >/dev/null", "head -c 1 /dev/zero >b.txt"):
            run = await session.start(job(code, Language.SHELL), lambda _usage: None)
            found.append((await run.finished()).observed)
        found.append((await beside.finished()).observed)
        await session.close()
        return found

    first, second, other = asyncio.run(body())
    assert first is not None
    assert second is not None
    assert other is not None
    assert [one.what for one in first.deeds] == ["ls"]
    assert [one.what for one in second.deeds] == ["b.txt", "head -c 1 /dev/zero"]
    assert {one.name for one in other.deeds} == {"dash", "id"}
    assert all(one.complete for one in (first, second, other))
