"""A kept container does not outlive the console that made it, and what runs in it is bound as everywhere."""

from __future__ import annotations

import asyncio
import errno
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Isolation, Language, Limits
from runner.model.result import Outcome
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.failures import Denied
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Job
from tests import container_engine as engine

if TYPE_CHECKING:
    from runner.sandbox.docker.client import EngineClient

CONSOLE = """
import asyncio, sys
from runner.sandbox.available import OWN_IMAGES
from runner.model.request import Isolation, Language, Limits
from runner.sandbox.docker.client import EngineClient
from runner.sandbox.docker.endpoint import Endpoint
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Job

async def main():
    sandbox = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, EngineClient(Endpoint(sys.argv[1])))
    session = await sandbox.open(Language.SHELL, Limits(), "")
    await session.start(Job("x", Language.SHELL, "echo up; sleep 1000"), lambda usage: None)
    print(session.id, flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
LIMITS = Limits(memory_mb=256, disk_mb=8, seconds=20.0, cpu_cores=2.0, processes=20)


@pytest.fixture
def client() -> EngineClient:
    return engine.client()


def test_a_killed_console_leaves_no_container_running_and_the_next_one_removes_it(client: EngineClient) -> None:
    with subprocess.Popen([sys.executable, "-c", CONSOLE, engine.address()], stdout=subprocess.PIPE, text=True) as one:
        assert one.stdout is not None
        id = one.stdout.readline().strip()
        one.kill()

    async def body() -> None:
        ended = await client.call(lambda api: api.wait(id), 20)
        assert ended["StatusCode"] == 0
        await ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, client).sweep()
        with pytest.raises(Denied):
            await client.call(lambda api: api.inspect_container(id))

    asyncio.run(body())


@pytest.mark.parametrize("isolation", [Isolation.DOCKER, Isolation.GVISOR])
def test_a_process_in_it_has_the_protections_of_every_run(client: EngineClient, isolation: Isolation) -> None:
    code = """
import json, os
status = dict(line.split(':', 1) for line in open('/proc/self/status').read().splitlines())
found = {'caps': status['CapEff'].strip(), 'new': status.get('NoNewPrivs', '1').strip(), 'uid': os.getuid()}
found['network'] = sorted(os.listdir('/sys/class/net')) if os.path.isdir('/sys/class/net') else ['lo']
try:
    open('/etc/x', 'w')
except OSError as error:
    found['root'] = error.errno
children = 0
try:
    for children in range(200):
        if os.fork() == 0:
            import time; time.sleep(30)
except OSError:
    pass
found['children'] = children
print(json.dumps(found))
"""

    async def body() -> None:
        sandbox = ContainerSandbox(isolation, OWN_IMAGES, engine.client_at(engine.address()))
        session = await sandbox.open(Language.PYTHON, LIMITS, "")
        try:
            run = await session.start(Job("x", Language.PYTHON, code, LIMITS), lambda _usage: None)
            result = await run.finished()
            assert result.outcome is Outcome.OK, result
            found = json.loads(result.stdout)
            assert found["children"] <= LIMITS.processes
            del found["children"]
            assert found.pop("root") in (errno.EROFS, errno.EACCES)
            assert found == {"caps": "0" * 16, "new": "1", "uid": 1000, "network": ["lo"]}
        finally:
            await session.close()
            await sandbox.close()

    asyncio.run(body())
