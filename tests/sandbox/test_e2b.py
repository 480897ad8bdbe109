"""E2B's API: what is sent, what goes wrong there, what is left behind, and what an agent may use of it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.errors import KnownError
from runner.model.request import PROMISED, Language, Limits
from runner.model.result import Outcome
from runner.sandbox.contract import Collect, Job
from runner.sandbox.local import tree
from runner.sandbox.output import Stream
from runner.sandbox.remote import calls, client, processes
from runner.sandbox.remote.quota import Quota
from runner.sandbox.remote.sandbox import E2BSandbox
from runner.sandbox.remote.service import Service
from runner.system.tasks import spawn
from tests.e2b_server.server import KEY, Loopback
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from runner.sandbox.contract import Run

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the server on loopback has accounts only as root")
LIMITS = Limits(seconds=HANGS, memory_mb=256, disk_mb=16)


@pytest.fixture(scope="module")
def shared() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server


@pytest.fixture
def server(shared: Loopback) -> Iterator[Loopback]:
    shared.seen.clear()
    yield shared
    shared.mend()
    shared.most, shared.internet, shared.ahead = 1000, False, 0
    for id in list(shared.boxes):
        shared.kill(id)


def at(server: Loopback, **changes: Any) -> Service:
    return Service(**{"api_url": server.url, "sandbox_url": server.url, "key": KEY, **changes})


def job(code: str, **changes: Any) -> Job:
    return Job("test", Language.PYTHON, code, LIMITS, **changes)


def within(
    server: Loopback, body: Callable[[E2BSandbox], Awaitable[None]], quota: Quota | None = None, **changes: Any
) -> None:
    async def whole() -> None:
        sandbox = E2BSandbox(at(server, **changes), quota)
        try:
            await body(sandbox)
        finally:
            await sandbox.close()

    asyncio.run(whole())


async def told(run: Run, text: str) -> None:
    while text not in run.transcript.text(Stream.OUT)[0]:
        await asyncio.sleep(0.01)


# ---- what is sent, and where ----


def test_the_key_goes_to_the_service_alone_and_no_name_of_this_machine_anywhere(server: Loopback) -> None:
    async def body(sandbox: E2BSandbox) -> None:
        result = await (await sandbox.start(job("print(6 * 7)"), lambda _: None)).finished()
        assert (result.outcome, result.stdout) == (Outcome.OK, "42\n"), result

    within(server, body)
    for one in server.seen:
        inside = one.path.startswith(("/process", "/health", "/files"))
        assert ("x-api-key" in one.headers) is not inside, one
        assert ("x-access-token" in one.headers) is inside, one
        assert os.uname().nodename not in f"{one.path}{one.body}", one
    made = [one.body for one in server.seen if (one.method, one.path) == ("POST", "/v2/sandboxes")]
    assert made
    for one in made:
        assert one["allow_internet_access"] is False
        assert one["network"] == {"denyOut": ["0.0.0.0/0"], "dnsServers": []}, "no server for names stays open"
        assert one["envVars"] == {}
    assert not server.boxes, "nothing is left that costs"


def test_the_template_is_pinned_to_its_build(server: Loopback) -> None:
    async def body(sandbox: E2BSandbox) -> None:
        ready = await sandbox.check()
        assert ready.ready, ready
        image = ready.images[Language.PYTHON]
        assert image == f"base build {server.build}"
        assert ready.protections[0] == f"{PROMISED}{sandbox.service.host}"
        server.build, before = "another", server.build
        try:
            with pytest.raises(KnownError, match="built anew since this was asked"):
                await sandbox.start(job("print(1)", image=image), lambda _: None)
        finally:
            server.build = before
        server.fail("/templates", "404")
        again = await sandbox.examine()
        assert again.images[Language.PYTHON] == "template base, not pinned"
        result = await (
            await sandbox.start(job("print(1)", image="template base, not pinned"), lambda _: None)
        ).finished()
        assert result.outcome is Outcome.OK, result

    within(server, body)
    assert not server.boxes


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"key": ""}, "There is no key for E2B"),
        ({"key": "e2b_ 1"}, "characters that no key has"),
        ({"api_url": "http://api.example"}, "sent by https:// alone"),
        ({"api_url": "https://me@api.example"}, "sent by https:// alone"),
        ({"sandbox_url": "http://10.0.0.1"}, "e2b.sandbox_url is"),
    ],
)
def test_nothing_is_sent_where_anybody_could_read_it(server: Loopback, changes: dict[str, str], said: str) -> None:
    async def body(sandbox: E2BSandbox) -> None:
        ready = await sandbox.check()
        assert not ready.ready and said in ready.problem

    within(server, body, **changes)
    assert not server.seen


def test_code_is_sent_to_no_host_that_the_service_names_and_the_person_does_not() -> None:
    service = Service(domain="e2b.example", key=KEY)
    assert service.sandbox("i1", "") == "https://49983-i1.e2b.example"
    assert service.sandbox("i1", "eu.e2b.example") == "https://49983-i1.eu.e2b.example"
    for domain in ("evil.example", "note2b.example", "e2b.example.evil"):
        with pytest.raises(KnownError, match="wants code to be sent to"):
            service.sandbox("i1", domain)


@pytest.mark.parametrize("id", ["x.evil.example/", "a@evil.example", "../x", "", "x" * 101, 7])
def test_an_id_that_could_lead_elsewhere_is_none(monkeypatch: pytest.MonkeyPatch, id: object) -> None:
    plane = client.ControlPlane(Service(key="k"))
    monkeypatch.setattr(plane, "_call", lambda *_: {"sandboxID": id})
    with pytest.raises(KnownError, match="does not say which"):
        plane.create({})


def test_a_network_that_is_on_although_it_was_asked_to_be_off_is_found_from_inside(
    server: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In place of a host of the internet, which a build machine may not reach: one of its own.
    probe = calls.remote("probe.sh").replace("1.1.1.1 443", server.url.rpartition("/")[2].replace(":", " "))
    monkeypatch.setattr(calls, "remote", lambda name: probe if name == "probe.sh" else _remote(name))
    server.internet = True

    async def body(sandbox: E2BSandbox) -> None:
        ready = await sandbox.check()
        assert not ready.ready and "although their network was asked to be off" in ready.problem, ready

    within(server, body)
    assert not server.boxes


_remote = calls.remote

# ---- what goes wrong there ----


@pytest.mark.parametrize(
    ("part", "kind", "said"),
    [
        ("sandboxes", "401", "does not accept the key"),
        ("sandboxes", "403", "does not accept the key"),
        ("sandboxes", "429", "your quota at 127.0.0.1"),
        ("sandboxes", "500", "fails with 500: no"),
        ("sandboxes", "rubbish", "does not speak E2B's API"),
        ("Start", "rubbish", "does not speak E2B's API"),
        ("Start", "500", "fails with 500"),
        ("Start", "401", "does not accept the key"),
    ],
)
def test_a_service_that_fails_is_said_in_a_sentence(server: Loopback, part: str, kind: str, said: str) -> None:
    server.fail(part, kind)

    async def body(sandbox: E2BSandbox) -> None:
        ready = await sandbox.check()
        assert not ready.ready
        assert said in ready.problem and ready.remedy, ready

    within(server, body)
    assert not server.boxes


def test_a_service_that_never_answers_is_given_up(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "CALL_SECONDS", 0.3)
    monkeypatch.setattr(client.ControlPlane._call, "__defaults__", (None, 0.3, None))
    server.fail("sandboxes", "silent")

    async def body(sandbox: E2BSandbox) -> None:
        ready = await sandbox.check()
        assert not ready.ready and "does not answer" in ready.problem and ready.unanswered, ready

    within(server, body)


NESTED = "[" * 200_000


@pytest.mark.parametrize("text", [NESTED, f'{{"message": {NESTED}'])
def test_an_answer_that_is_nested_too_deeply_is_said_in_a_sentence(server: Loopback, text: str) -> None:
    server.fail("sandboxes", "says", text=text)

    async def body(sandbox: E2BSandbox) -> None:
        ready = await sandbox.check()
        assert not ready.ready and "does not speak E2B's API" in ready.problem, ready

    within(server, body)


def said_of_a_process(server: Loopback, *messages: str) -> str:
    """Return what is said where the service says this of a process that it is to start."""
    sent = b"".join(len(one).to_bytes(5, "big") + one.encode() for one in messages)
    server.fail("Start", "says", text=sent.decode())

    async def body() -> str:
        ended = processes.ProcessEnd()
        streams = processes.ProcessStreams(ended, lambda _address, _pid: None)
        streams.start_now(processes.SandboxAddress("a.example", server.url, "i", ""), ["true"], {})
        while await streams.read():
            pass
        return "" if ended.failure is None else ended.failure.what

    return asyncio.run(body())


def test_a_message_that_is_nested_too_deeply_ends_its_process_alone(server: Loopback) -> None:
    assert "it is nested too deeply" in said_of_a_process(server, f'{{"event": {NESTED}')


@pytest.mark.parametrize("last", ['{"event": {"start": {"pid": 1e999}}}', '{"event": {"end": {"exitCode": 1e999}}}'])
def test_a_number_without_an_end_ends_its_process_alone(server: Loopback, last: str) -> None:
    said = said_of_a_process(server, '{"event": {"start": {"pid": 7}}}', last)
    assert "the output of a process is not what it should be" in said


@pytest.mark.parametrize("status", ["200", "500"])
@pytest.mark.parametrize("part", ["sandboxes", "Start", "SendInput"])
def test_no_answer_takes_more_memory_than_its_bound(server: Loopback, part: str, status: str) -> None:
    fault = server.fail(part, "endless", 1, status)

    async def body(sandbox: E2BSandbox) -> None:
        assert not (await sandbox.check()).ready

    within(server, body)
    assert not fault.times and fault.over.wait(HANGS) and fault.left, "we have gone away in the middle of it"


def test_an_answer_that_comes_byte_by_byte_is_given_up(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client.ControlPlane._call, "__defaults__", (None, 0.3, None))
    fault = server.fail("sandboxes", "drips", 1, "200")

    async def body(sandbox: E2BSandbox) -> None:
        ready = await sandbox.check()
        assert not ready.ready and "does not answer" in ready.problem, ready

    within(server, body)
    assert fault.over.wait(HANGS) and fault.left, "no thread of ours goes on waiting"


def test_a_reading_of_a_number_that_no_machine_has_is_skipped() -> None:
    class Streams:
        ended = False

    readings = calls.RemoteReadings(Streams())  # type: ignore[arg-type]
    readings.take(b"1024 100 3 0\n" + b"9" * 400 + b" " + b"9" * 400 + b" 3 0\n")
    assert readings.read() is not None


def test_a_service_that_is_not_there_is_said(server: Loopback) -> None:
    async def body(sandbox: E2BSandbox) -> None:
        ready = await sandbox.check()
        assert not ready.ready and "cannot be reached" in ready.problem
        assert "Nothing was run anywhere else" in ready.remedy
        assert "within five minutes" in ready.remedy and calls.LIFE_SECONDS == 300

    within(server, body, api_url="http://127.0.0.1:1")


def test_the_quota_of_the_account_is_said_and_leaves_nothing(server: Loopback) -> None:
    async def body(sandbox: E2BSandbox) -> None:
        assert (await sandbox.check()).ready
        server.most = 0
        with pytest.raises(KnownError, match=r"your quota at 127\.0\.0\.1.* is spent"):
            await sandbox.start(job("print(1)"), lambda _: None)

    within(server, body)


def test_a_sandbox_that_is_gone_in_the_middle_of_a_run(server: Loopback) -> None:
    async def body(sandbox: E2BSandbox) -> None:
        assert (await sandbox.check()).ready
        run = await sandbox.start(job("print('begun', flush=True)\nimport time\ntime.sleep(1000)"), lambda _: None)
        await told(run, "begun")
        for id in list(server.boxes):
            server.kill(id)
        result = await run.finished()
        assert (result.outcome, result.stdout) == (Outcome.ENGINE_LOST, "begun\n"), "what came is kept"
        assert "is gone: its time was up, or somebody else has ended it" in (result.error or ""), result

    within(server, body)


@pytest.mark.parametrize("kind", ["501", "silent", "rubbish"])
def test_a_service_that_hands_no_input_to_programs_is_found_out_at_once(
    server: Loopback, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It took more than a minute, and was called a service that does not answer."""
    monkeypatch.setattr("runner.sandbox.remote.sandbox.INPUT_SECONDS", 2.0)
    server.fail("SendInput", kind)

    async def body(sandbox: E2BSandbox) -> None:
        ready = await sandbox.check()
        assert not ready.ready and "hands no input to programs" in ready.problem

    within(server, body)
    assert sum(one.path.endswith("SendInput") for one in server.seen) == 1, "no code was tried"
    assert not server.boxes


def test_a_stream_that_is_cut_is_no_end_of_the_code(server: Loopback) -> None:
    async def body(sandbox: E2BSandbox) -> None:
        assert (await sandbox.check()).ready
        server.seen.clear()
        code = "print('begun', flush=True)\nimport time\ntime.sleep(1000)"
        run = await sandbox.start(job(code), lambda _: None)
        await told(run, "begun")
        await asyncio.to_thread(server.cut)
        result = await run.finished()
        assert result.outcome is Outcome.ENGINE_LOST, result
        assert "cannot be reached" in (result.error or "") and result.stdout == "begun\n", result

    within(server, body)
    assert not server.boxes, "nothing is left that costs"


def test_what_was_ended_in_a_kept_sandbox_has_ended_before_anything_else_runs(server: Loopback) -> None:
    async def body(sandbox: E2BSandbox) -> None:
        session = await sandbox.open(Language.PYTHON, LIMITS, "")
        run = await session.start(job("print('begun', flush=True)\nimport time\ntime.sleep(1000)"), lambda _: None)
        await told(run, "begun")
        (box,) = server.boxes.values()
        await sandbox.engine.call(lambda api: api.kill(session.id, "SIGUSR2"))
        assert not of_the_user(box.process.pid), "the next run there would be ended with it"
        assert (await run.finished()).outcome is Outcome.FAILED
        assert (await (await session.start(job("print(2)"), lambda _: None)).finished()).stdout == "2\n"
        await session.close()

    within(server, body)


def of_the_user(root: int) -> list[int]:
    """The processes below `root` that are the code's and go on: none of those that SIGKILL has reached."""
    found = []
    for pid in tree.descendants(root):
        with contextlib.suppress(OSError):
            fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
            pending = int(fields["ShdPnd"], 16) | int(fields["SigPnd"], 16)
            ends = fields["State"].split()[0] in "ZX" or pending >> (signal.SIGKILL - 1) & 1
            if fields["Uid"].split()[0] == str(calls.USER) and not ends:
                found.append(pid)
    return found


def test_one_process_is_held_to_the_memory_limit(server: Loopback) -> None:
    code = "const x = []; for (let n = 0; n < 100; n++) x.push(Buffer.alloc(1 << 22, 1)); console.log(x.length)"

    async def body(sandbox: E2BSandbox) -> None:
        assert (await sandbox.check()).ready
        sandbox.engine.readings = lambda pid, container: None  # type: ignore[method-assign]
        wanted = replace(job(code), language=Language.JAVASCRIPT)
        result = await (await sandbox.start(wanted, lambda _: None)).finished()
        assert (result.outcome, result.stdout) == (Outcome.OUT_OF_MEMORY, ""), result

    within(server, body)


def test_a_sandbox_full_of_processes_keeps_no_other_from_starting_some(server: Loopback) -> None:
    full = (
        "import os, time\ntry:\n    while os.fork(): pass\nexcept OSError: print('full', flush=True)\ntime.sleep(1000)"
    )

    async def body(sandbox: E2BSandbox) -> None:
        first = await sandbox.start(job(full), lambda _: None)
        await told(first, "full")
        result = await (await sandbox.start(job("import os\nprint(os.system('true'))"), lambda _: None)).finished()
        assert (result.outcome, result.stdout) == (Outcome.OK, "0\n"), result
        first.stop("enough")
        assert (await first.finished()).outcome is Outcome.KILLED

    within(server, body)


def test_input_of_a_process_that_ends_at_once_has_arrived() -> None:
    """As of a short program: it may be over before the service has answered that its code has arrived."""

    async def body() -> None:
        given, over = asyncio.Event(), asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            head = await reader.readuntil(b"\r\n\r\n")
            if processes.INPUT.encode() in head:
                given.set()
                await over.wait()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            else:
                writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                writer.write(processes.enveloped({"event": {"start": {"pid": 7}}}))
                await given.wait()
                writer.write(processes.enveloped({"event": {"end": {"exited": True}}}))
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as there:
            host, port = there.sockets[0].getsockname()
            address = processes.SandboxAddress("here", f"http://{host}:{port}", "i1", "")
            streams = processes.ProcessStreams(processes.ProcessEnd(), lambda *_: None)
            streams.start_now(address, ["cat"], {})
            writing = spawn("input", streams.write(b"code"))
            assert await streams.read() == b""
            assert streams.ended_as.code == 0
            over.set()
            await writing
            streams.close()

    asyncio.run(body())


def test_how_a_process_ended_is_what_a_shell_says_of_it() -> None:
    assert processes.status({"exited": True, "exitCode": 3}) == 3
    assert processes.status({"exited": True}) == 0
    assert processes.status({"exited": False, "exitCode": -1, "status": "signal: killed"}) == 137


# ---- what is left behind ----


def test_ten_sandboxes_of_a_console_that_was_killed_are_found_and_removed(server: Loopback) -> None:
    words = [sys.executable, "-c", OPENS_TEN, server.url, KEY]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as console:
        assert console.stdout is not None
        names = set(console.stdout.readline().split())
        assert len(names) == len(server.boxes) == 10
        console.kill()
    assert len(server.boxes) == 10, "they go on, and cost"
    another = next(iter(server.boxes.values()))
    another.body["metadata"]["assent.host"] = "another machine"

    async def body(sandbox: E2BSandbox) -> None:
        assert set(await sandbox.sweep()) == names - {another.body["metadata"]["assent.run"]}
        assert list(server.boxes.values()) == [another]

    within(server, body)


OPENS_TEN = """
import asyncio, sys
from runner.model.request import Language, Limits
from runner.sandbox.remote.sandbox import E2BSandbox
from runner.sandbox.remote.service import Service
async def main():
    sandbox = E2BSandbox(Service(api_url=sys.argv[1], sandbox_url=sys.argv[1], key=sys.argv[2]))
    kept = [await sandbox.open(Language.PYTHON, Limits(memory_mb=128, disk_mb=8), "") for _ in range(10)]
    print(*(one.name for one in kept), flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


@pytest.mark.parametrize("seconds", [-20 * 365 * 86_400, 20 * 365 * 86_400])
def test_our_clock_and_that_of_the_service_need_not_agree(server: Loopback, tmp_path: Path, seconds: int) -> None:
    """All times that are sent are how long, none is when; what it says of when is not believed."""
    server.ahead = seconds

    async def body(sandbox: E2BSandbox) -> None:
        kept = await sandbox.open(Language.PYTHON, LIMITS, "", "claude")
        wanted = job("open('made', 'w').write('x')", collect=Collect(tmp_path))
        for run in (await kept.start(wanted, lambda _: None), await sandbox.start(wanted, lambda _: None)):
            result = await run.finished()
            assert (result.outcome, [file.path for file in result.files]) == (Outcome.OK, ["made"]), result
        assert len(server.boxes) == 1 and await sandbox.sweep() == (), "what is in use is no leftover"
        assert kept.alive
        await kept.close()
        assert not server.boxes

    within(server, body, Quota(None, 2, 60))
    sent = [one.body["timeout"] for one in server.seen if isinstance(one.body, dict) and "timeout" in one.body]
    assert sent and set(sent) == {calls.LIFE_SECONDS}


# ---- what an agent may use ----


def test_what_is_too_much_is_refused_before_anything_starts(server: Loopback, tmp_path: Path) -> None:
    moment = [0.0]
    quota = Quota(tmp_path / "used.json", 1, 2, lambda: moment[0], lambda: "monday")

    async def body(sandbox: E2BSandbox) -> None:
        assert (await sandbox.check()).ready
        session = await sandbox.open(Language.PYTHON, LIMITS, "", "claude")
        before = len(server.seen)
        with pytest.raises(KnownError, match="claude has 1 sandboxes at E2B, as many as it may have at once"):
            await sandbox.start(job("print(1)", agent="claude"), lambda _: None)
        assert len(server.seen) == before, "nothing was even asked for"
        moment[0] = 90.0
        await session.close()
        assert session.rented_seconds == 90.0
        run = await sandbox.start(job("print(1)", agent="claude"), lambda _: None)
        moment[0] = 125.0
        result = await run.finished()
        assert result.meta is not None and result.meta.rented_seconds == 35.0, "it is recorded with the result"
        with pytest.raises(KnownError, match="claude has used its 2 minutes at E2B today"):
            await sandbox.start(job("print(1)", agent="claude"), lambda _: None)
        await (await sandbox.start(job("print(1)", agent="codex"), lambda _: None)).finished()

    within(server, body, quota)


def test_a_kept_sandbox_runs_nothing_more_once_the_minutes_are_used(server: Loopback) -> None:
    moment = [0.0]

    async def body(sandbox: E2BSandbox) -> None:
        assert (await sandbox.check()).ready
        session = await sandbox.open(Language.PYTHON, LIMITS, "", "claude")
        await (await session.start(job("print(1)", agent="claude"), lambda _: None)).finished()
        moment[0] = 120.0
        with pytest.raises(KnownError, match="claude has used its 2 minutes at E2B today"):
            await session.start(job("print(1)", agent="claude"), lambda _: None)
        await session.close()

    within(server, body, Quota(None, 1, 2, lambda: moment[0], lambda: "monday"))


def test_minutes_outlive_the_console_and_not_the_day(tmp_path: Path) -> None:
    moment, day = [0.0], ["monday"]

    def quota() -> Quota:
        return Quota(tmp_path / "state" / "used.json", 9, 1, lambda: moment[0], lambda: day[0])

    first = quota()
    number = first.begin("claude")
    moment[0] = 61.0
    with pytest.raises(KnownError, match="has used its 1 minutes"):
        first.begin("claude")  # what runs counts already
    assert first.end(number) == 61.0
    assert first.end(number) == 0.0
    with pytest.raises(KnownError):
        quota().begin("claude")
    day[0] = "tuesday"
    quota().begin("claude")
