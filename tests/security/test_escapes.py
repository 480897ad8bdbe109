"""The escape suite: every attempt on every sandbox, and what each may at most do (spec X3, X7, K1)."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

from runner.request import Language, Limits
from runner.sandbox.contract import Job
from tests.security.attempts import ATTEMPTS

if TYPE_CHECKING:
    import pytest

    from runner.result import Result
    from runner.sandbox.contract import Sandbox
    from tests.contract.conftest import Lab

AT_ONCE = 4


def verdict(result: Result) -> str:
    """`held`, `escaped`, or how the attempt was ended."""
    words = result.stdout.split()
    return words[-1] if words else result.outcome.value


async def tried(sandbox: Sandbox) -> dict[str, str]:
    """All attempts, a few at a time, each in a sandbox of its own."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(name: str, language: Language, code: str, changes: dict[str, float]) -> tuple[str, str]:
        given = {"seconds": 20.0, "memory_mb": 128, "disk_mb": 32, "cpu_cores": 2.0, **changes}
        async with turn:
            job = Job("attempt", language, code, Limits(**given))  # type: ignore[arg-type]
            return name, verdict(await (await sandbox.start(job, lambda _usage: None)).finished())

    return dict(await asyncio.gather(*(one(a.name, a.language, a.code, a.limits) for a in ATTEMPTS)))


def test_nothing_gets_out(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    found = asyncio.run(tried(lab.sandbox))
    known = {attempt.name: attempt.differs[lab.kind] for attempt in ATTEMPTS if lab.kind in attempt.differs}
    with capsys.disabled():
        print(f"\n{lab.kind}: {len(found)} attempts")
        for name, what in found.items():
            print(f"  {name:50} {what:14} {known.get(name, '')}".rstrip())
    assert {name for name, what in found.items() if what == "escaped"} <= known.keys()


def test_there_are_enough_attempts() -> None:
    assert len({attempt.name for attempt in ATTEMPTS}) == len(ATTEMPTS) >= 40


def test_the_console_is_out_of_reach(lab: Lab) -> None:
    """A server on every address of this machine, as the console's port would be."""
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        own = socket.gethostbyname(socket.gethostname())
        code = f"""
import socket
for host in ("127.0.0.1", {own!r}, "172.17.0.1", "host.docker.internal", "10.0.2.2"):
    try: socket.create_connection((host, {port}), 1); print("escaped")
    except OSError: print("held")
"""
        job = Job("attempt", Language.PYTHON, code, Limits(seconds=30.0))

        async def body() -> Result:
            return await (await lab.sandbox.start(job, lambda _usage: None)).finished()

        result = asyncio.run(body())
    assert result.stdout.split() == ["held"] * 5, result
