"""Code that takes more disk than its kept local sandbox may hold, or that makes it hard to remove."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.assembly import build
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled
from runner.model.request import Language, Limits
from runner.model.result import Outcome
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.system.places import Places
from tests.sandbox.conftest import job
from tests.sandbox.test_removal import nested

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.model.result import Result

SMALL = Limits(disk_mb=16, memory_mb=256, seconds=20)
WAIT = "\nimport time\ntime.sleep(15)"
REMOVED = """
import os
held = []
for _ in range(4):
    f = open("f", "wb", 0); f.write(bytes(8 << 20))
    os.unlink("f")
"""
BELOW = "import os\nfor _ in range({depth}): os.mkdir('{name}'); os.chdir('{name}')\nf = open('f', 'wb', 0)\n"
FILLED = "f.write(bytes(12 << 20)); g = open('g', 'wb', 0); g.write(bytes(12 << 20))"
ATTEMPTS = {
    "files that are open and removed": REMOVED + "    held.append(f)" + WAIT,
    "files that are mapped, removed and closed": (
        "import mmap, os\nheld = []\nfor n in range(4):\n    f = open('f', 'w+b', 0); f.write(bytes(8 << 20))\n"
        "    held.append(mmap.mmap(f.fileno(), 4096)); f.close()\n    os.unlink('f')" + WAIT
    ),
    "files that wait in a socket": (
        "import socket\na, b = socket.socketpair()\n"
        + REMOVED
        + "    socket.send_fds(a, [b'x'], [f.fileno()]); f.close()"
        + WAIT
    ),
    "files that only one thread has open": (
        "import ctypes, threading\ndef body():\n    ctypes.CDLL(None).syscall(436, 900, 900, 2)\n    "
        + (REMOVED + "    held.append(f)" + WAIT).replace("\n", "\n    ")
        + "\nthreading.Thread(target=body).start()"
    ),
    "files below a path longer than 4,096 bytes": BELOW.format(depth=30, name="x" * 250) + FILLED + WAIT,
    "files below too many folders": BELOW.format(depth=400, name="d") + FILLED + WAIT,
    "files in a folder that is closed": (
        "import os\nos.mkdir('d')\nfor name in 'ab': open(f'd/{name}', 'wb').write(bytes(12 << 20))\nos.chmod('d', 0)"
        + WAIT
    ),
}


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="assent-test-") as place:
        Path(place).chmod(0o711)
        yield Path(place)


def test_no_way_takes_more_than_the_limit(root: Path) -> None:
    """All at once, each in a sandbox of its own, which is removed after it."""
    sandbox = LocalSandbox(root)

    async def tried(code: str) -> Result:
        session = await sandbox.open(Language.PYTHON, SMALL, "")
        run = await session.start(job(code, seconds=20), lambda _usage: None)
        result = await run.finished()
        await session.close()
        return result

    async def body() -> list[Result]:
        return await asyncio.gather(*map(tried, ATTEMPTS.values()))

    results = dict(zip(ATTEMPTS, asyncio.run(body()), strict=True))
    if os.geteuid() == 0:  # root can look into closed folders, and counts them
        assert results["files in a folder that is closed"].error.startswith("Ran out of disk")
    assert {name: result.outcome for name, result in results.items()} == dict.fromkeys(ATTEMPTS, Outcome.OUT_OF_DISK)
    assert list(root.glob("run-*")) == []


def test_what_cannot_be_counted_takes_no_more_files(root: Path) -> None:
    sandbox = LocalSandbox(root)

    async def body() -> None:
        session = await sandbox.open(Language.PYTHON, SMALL, "")
        await session.write("a", b"x", executable=False)
        nested(next(root.glob("run-*")) / "workspace", 300)
        with pytest.raises(KnownError, match="cannot be counted"):
            await session.write("b", b"x", executable=False)
        await session.close()

    asyncio.run(body())


def test_a_sandbox_with_folders_without_end_is_removed(root: Path) -> None:
    sandbox = LocalSandbox(root)

    async def body() -> None:
        session = await sandbox.open(Language.PYTHON, SMALL, "")
        code = "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')\nos.chmod('.', 0)"
        await (await session.start(job(code), lambda _usage: None)).finished()
        await session.close()

    asyncio.run(body())
    assert list(root.glob("run-*")) == []


@pytest.mark.parametrize("failure", [KnownError("It stays.", "Remove it."), RecursionError("too deep")])
def test_leftovers_that_stay_are_told_and_a_sandbox_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    """Whatever a sweep meets, the next start has a sandbox to run in."""
    sandbox = LocalSandbox(tmp_path / "runs")
    places = Places.under(tmp_path / "home")

    async def fails() -> tuple[str, ...]:
        raise failure

    monkeypatch.setattr(sandbox, "sweep", fails)

    async def body() -> list[EngineTroubled]:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _fault: None)
        engine = build(places, load(places, {}), (sandbox,))
        heard: list[object] = []
        engine.listen(heard.append)
        await engine.start(gateway=False)
        await engine.parts.sandboxes.known()
        assert engine.parts.sandboxes.sandbox is sandbox
        while not any(isinstance(event, EngineTroubled) for event in heard):
            await asyncio.sleep(0)
        await engine.close("the test is over")
        return [event for event in heard if isinstance(event, EngineTroubled)]

    troubles = asyncio.run(body())
    assert [(one.area, "stays" in one.what or "could not be removed" in one.what) for one in troubles] == [
        ("leftovers", True)
    ]
