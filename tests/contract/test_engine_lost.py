"""The engine dies, hangs or is not there (spec X9): words instead of errors, nothing kept waiting, nothing left."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.assembly import build
from runner.engine.rehearsal import sandbox_watch
from runner.model.decision import Verdict
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled, SandboxChosen, TroubleCleared
from runner.model.request import Isolation, Language, Limits, Tool
from runner.model.result import Outcome
from runner.model.submission import Submission
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.choose import choose
from runner.sandbox.container import container as container_module
from runner.sandbox.container import sandbox as sandbox_module
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.docker.client import EngineClient
from runner.sandbox.docker.endpoint import Endpoint
from runner.sandbox.gvisor.engine_feeds import EngineFeeds
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.system.places import Places
from runner.system.tasks import spawn
from tests import container_engine as engine
from tests.contract.conftest import job
from tests.doubles import HeldSandbox
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from runner.approval.ticket import Ticket
    from runner.model.events import Event
    from runner.sandbox.contract import Run

pytestmark = pytest.mark.asyncio

SLEEPS = "import time; print('on', flush=True); time.sleep(600)"


@pytest.fixture
def folder() -> Iterator[Path]:
    """The folder of an engine of the test's own, which it may kill."""
    with tempfile.TemporaryDirectory(prefix="assent-test-engine-") as parent:
        place = Path(parent, "engine")
        engine.fill(engine.started(place), ("python",))
        yield place
        engine.stopped(place)


def process(folder: Path) -> int:
    return int((folder / "docker.pid").read_text())


def _client(url: str) -> EngineClient:
    """One as consoles have it, to which no runtime reports."""
    return EngineClient(Endpoint(url), EngineFeeds(Path(os.devnull)))


def sandbox_at(url: str, isolation: Isolation = Isolation.DOCKER) -> ContainerSandbox:
    return ContainerSandbox(isolation, {Language.PYTHON: OWN_IMAGES[Language.PYTHON]}, _client(url))


async def begun(sandbox: ContainerSandbox) -> Run:
    """A run that sleeps, once it has said so."""
    run = await sandbox.start(job(SLEEPS), lambda _usage: None)
    while not run.transcript.total:
        await asyncio.sleep(0.01)
    return run


async def test_killed_during_a_run_and_swept_when_it_is_back(folder: Path) -> None:
    sandboxes = [sandbox_at(engine.started(folder), kind) for kind in (Isolation.DOCKER, Isolation.GVISOR)]
    runs = [await begun(sandbox) for sandbox in sandboxes]
    os.kill(process(folder), signal.SIGKILL)
    for run in runs:
        result = await run.finished()
        assert (result.outcome, result.stdout) == (Outcome.ENGINE_LOST, "on\n")
        assert result.error.startswith("The container engine stopped working during the run: ")
        assert "Docker daemon not available" in result.stderr
    with pytest.raises(KnownError, match=r"Docker daemon not available\. Set SANDBOX_TYPE=local or start"):
        await sandboxes[0].start(job(SLEEPS), lambda _usage: None)

    url = restarted(folder)
    again = await sandboxes[0].start(job("print('again')"), lambda _usage: None)
    assert (await again.finished()).stdout == "again\n"
    for sandbox in sandboxes:
        await sandbox.sweep()
        await sandbox.close()
    assert await EngineClient(Endpoint(url)).call(lambda api: api.containers(all=True)) == []


async def test_hanging_during_a_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_module, "SIGNAL_SECONDS", 0.5)
    monkeypatch.setattr(container_module, "LIVES_SECONDS", 0.5)
    sandbox = sandbox_at(engine.started(folder))
    stopped, closed = await begun(sandbox), await begun(sandbox)
    os.kill(process(folder), signal.SIGSTOP)
    try:
        stopped.stop("Enough")
        result = await stopped.finished()
        assert result.outcome is Outcome.ENGINE_LOST
        assert "does not answer" in result.error
        before = time.monotonic()
        await sandbox.close()
        assert time.monotonic() - before < HANGS / 2
        assert (await closed.finished()).outcome is Outcome.ENGINE_LOST
    finally:
        os.kill(process(folder), signal.SIGCONT)
    client = EngineClient(Endpoint(engine.started(folder)))
    async with asyncio.timeout(HANGS):  # it may still be busy with calls from while it hung
        while await client.call(lambda api: api.containers(all=True)):
            await sandbox.sweep()


@contextlib.asynccontextmanager
async def deaf(url: str, to: bytes, path: Path) -> AsyncIterator[str]:
    """The engine at `url`, but for calls with `to` in their first line, which it takes and never answers."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n")
        if to in head:
            await reader.read()
        else:
            inner_reader, inner_writer = await asyncio.open_unix_connection(url.removeprefix("unix://"))
            inner_writer.write(head)
            await asyncio.wait(
                [spawn("there", carry(reader, inner_writer)), spawn("back", carry(inner_reader, writer))]
            )
        writer.close()

    async def carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        sink.close()

    server = await asyncio.start_unix_server(serve, path)
    try:
        yield f"unix://{path}"
    finally:
        server.close()


async def test_a_container_that_is_stuck_is_not_taken_for_an_engine_that_is(
    client: EngineClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_module, "SIGNAL_SECONDS", 0.3)
    async with deaf(client.endpoint.url, b"signal=SIGTERM", tmp_path / "s") as url:
        run = await begun(sandbox_at(url))
        run.stop("Enough")
        result = await run.finished()
    assert (result.outcome, result.error, result.exit_code) == (Outcome.KILLED, "Enough", 137)


@contextlib.asynccontextmanager
async def slow(url: str, path: Path) -> AsyncIterator[tuple[str, asyncio.Event, asyncio.Event]]:
    """The engine at `url`, which is `asked` to make a container and does so once it `may`, whoever still waits."""
    asked, may = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
        )
        whole = head + await reader.readexactly(length)
        inner_reader, inner_writer = await asyncio.open_unix_connection(url.removeprefix("unix://"))
        if b"/containers/create" in head:
            asked.set()
            await may.wait()
        inner_writer.write(whole)
        await asyncio.gather(carried(reader, inner_writer), carried(inner_reader, writer))

    server = await asyncio.start_unix_server(serve, path)
    try:
        yield f"unix://{path}", asked, may
    finally:
        server.close()


async def carried(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    sink.close()


@pytest.mark.parametrize("kept", [False, True])
async def test_who_leaves_while_the_engine_makes_a_container_leaves_none(
    client: EngineClient, tmp_path: Path, kept: bool
) -> None:
    async with slow(client.endpoint.url, tmp_path / "s") as (url, asked, may):
        through = _client(url)
        sandbox = sandbox_at(client.endpoint.url)
        await sandbox.check()
        sandbox._given = through
        before = {one["Id"] for one in await client.call(lambda api: api.containers(all=True))}
        if kept:
            starting = spawn("start", sandbox.open(Language.PYTHON, Limits(), ""))
        else:
            starting = spawn("start", sandbox.start(job(SLEEPS), lambda _usage: None))
        await asked.wait()
        starting.cancel()
        await asyncio.sleep(0)
        may.set()
        with pytest.raises(asyncio.CancelledError):
            await starting
        # The engine lists a container until it is wholly removed.
        async with asyncio.timeout(60):
            while not {one["Id"] for one in await client.call(lambda api: api.containers(all=True))} <= before:
                await asyncio.sleep(0.05)
        await sandbox.close()
        await through.close()


@contextlib.asynccontextmanager
async def silent(path: Path) -> AsyncIterator[str]:
    """An engine that takes connections and never says a word."""
    open_lines: list[asyncio.StreamWriter] = []
    server = await asyncio.start_unix_server(lambda _reader, writer: open_lines.append(writer), path)
    try:
        yield f"unix://{path}"
    finally:
        server.close()
        for line in open_lines:
            line.close()


async def test_hanging_from_the_start_gives_way_to_the_local_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_module, "PING_SECONDS", 0.5)
    async with silent(tmp_path / "s") as url:
        taken = await choose("auto", (LocalSandbox(tmp_path / "runs"), sandbox_at(url)))
        assert taken.sandbox.isolation is Isolation.LOCAL
        assert taken.why == "Strongest available here. docker: The Docker daemon does not answer."
        assert await sandbox_at(url).sweep() == ()


async def test_hanging_holds_neither_the_start_nor_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_module, "PING_SECONDS", 600.0)
    async with silent(tmp_path / "s") as url:
        places = Places.under(tmp_path / "home")
        console = build(places, load(places, {}), (LocalSandbox(tmp_path / "runs"), sandbox_at(url)))
        before = time.monotonic()
        await console.start(gateway=False)
        assert console.parts.sandboxes.why == "", "it was not waited for"
        await console.close("Leaving")
        assert time.monotonic() - before < HANGS


async def test_absent(tmp_path: Path) -> None:
    sandbox = sandbox_at(f"unix://{tmp_path}/none", Isolation.GVISOR)
    ready = await sandbox.check()
    assert (ready.ready, ready.problem) == (False, "Docker daemon not available.")
    assert ready.remedy == "Set SANDBOX_TYPE=local or start the Docker daemon."
    await sandbox.sweep()
    await sandbox.close()


@pytest.fixture
def client() -> EngineClient:
    return engine.client()


async def test_started_after_the_console_it_is_used_without_a_restart(client: EngineClient, tmp_path: Path) -> None:
    """`SANDBOX_TYPE=docker`: the words of the refusal have to help."""
    sandbox = sandbox_at(f"unix://{tmp_path}/s")
    places = Places.under(tmp_path / "home")
    loaded = load(places, {"SANDBOX_TYPE": "docker", "ASSENT_WARM_CONTAINERS": "0"})
    console = build(places, loaded, (LocalSandbox(tmp_path / "runs"), sandbox))
    await console.start(gateway=False)
    try:
        submission = Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, "print('there')")
        with pytest.raises(KnownError, match="Docker daemon not available"):
            await console.submit(submission)
        Path(tmp_path, "s").symlink_to(client.endpoint.url.removeprefix("unix://"))
        console._watch._rest_until = 0.0  # looks that requests cause rest between them
        ticket = await console.submit(submission)
        request = ticket.case.request
        assert request.isolation is Isolation.DOCKER
        while not console.desk.position(request.id):
            await asyncio.sleep(0.01)
        assert console.answer(request.id, request.digest, Verdict.APPROVED, "") == ""
        answer = await ticket.answered(HANGS)
        assert answer is not None and answer.text() == "there"
    finally:
        await console.close("over")


def restarted(folder: Path) -> str:
    """Start an engine that was killed again."""
    for file in ("docker.pid", "exec/containerd/containerd.pid"):  # where nobody reaps, they name dead processes
        (folder / file).unlink(missing_ok=True)
    return engine.started(folder)


@pytest.mark.parametrize("wanted", ["docker", "auto"])
async def test_a_console_whose_engine_is_killed_says_so_and_uses_it_again(
    folder: Path, tmp_path: Path, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox_watch, "AGAIN_SECONDS", (0.5,) * 100)
    places = Places.under(tmp_path / "home")
    loaded = load(places, {"SANDBOX_TYPE": wanted, "ASSENT_WARM_CONTAINERS": "0"})
    local = HeldSandbox()
    console = build(places, loaded, (local, sandbox_at(engine.started(folder))))
    heard: list[Event] = []
    changed = asyncio.Event()
    console.listen(lambda event: (heard.append(event), changed.set()))

    async def until(true: Callable[[], object]) -> None:
        async with asyncio.timeout(60):
            while not true():
                changed.clear()
                await changed.wait()

    async def asked(code: str) -> Ticket:
        ticket = await console.submit(Submission("claude", Tool.CODE_EXECUTE, Language.PYTHON, code))
        await until(lambda: console.desk.position(ticket.request_id))
        return ticket

    def approved(ticket: Ticket) -> str:
        return console.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")

    def troubles(area: str) -> list[str]:
        return [event.what for event in heard if isinstance(event, EngineTroubled) and event.area == area]

    await console.start(gateway=False)
    try:
        await console.parts.sandboxes.known()
        running, waiting = await asked(SLEEPS), await asked("print('later')")
        assert approved(running) == ""
        await until(lambda: running.case.transcript is not None)
        os.kill(process(folder), signal.SIGKILL)
        answer = await running.case.answer
        assert answer.result is not None and answer.result.outcome is Outcome.ENGINE_LOST
        area = "sandbox" if wanted == "docker" else "isolation"
        await until(lambda: troubles(area))
        assert "Docker daemon not available." in troubles(area)[0]
        said = approved(waiting)
        assert said.startswith("Not approved: "), said
        restarted(folder)
        await until(lambda: SandboxChosen(Isolation.DOCKER, "Docker is there again: new runs start in it.") in heard)
        assert TroubleCleared(area) in heard
        if wanted == "auto":  # what was shown for the lost one was denied when it was approved, and ran nowhere
            waiting = await asked("print('later')")
        assert approved(waiting) == ""
        result = (await waiting.case.answer).result
        assert result is not None and (result.stdout, result.meta.isolation) == ("later\n", Isolation.DOCKER)
        assert local.runs == []
    finally:
        await console.close("over")


async def test_an_image_that_is_not_there(client: EngineClient) -> None:
    missing = await ContainerSandbox(Isolation.DOCKER, {Language.PYTHON: "assent-nowhere:1"}, client).check()
    assert "no image assent-nowhere:1" in missing.problem
    pull = "docker pull assent-nowhere:1  # or leave the image out of the settings: Assent has its own (assent images)"
    assert missing.remedy == pull, "Assent builds its own alone"
    names = {Language.PYTHON: OWN_IMAGES[Language.PYTHON], Language.SHELL: "assent-nowhere:1"}
    sandbox = ContainerSandbox(Isolation.DOCKER, names, client)
    assert (await sandbox.check()).remedy == pull
    with pytest.raises(KnownError, match="image assent-nowhere:1 is not there"):
        await sandbox.start(job("ls", Language.SHELL), lambda _usage: None)
