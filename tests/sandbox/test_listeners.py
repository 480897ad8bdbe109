"""The local sandbox's way to the gate: for an ordinary user too, refused where it cannot be, gone with its run."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

import h11
import pytest

from runner.model.errors import KnownError
from runner.model.network import Destination
from runner.model.request import Language, NetworkMode
from runner.network.gate import Gate
from runner.sandbox.contract import Job
from runner.sandbox.local import listeners, socket_maker
from runner.sandbox.local.listeners import LocalDoors
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.local.socket_maker import SocketMaker
from runner.sandbox.networked import MOST_PORTS, OpenPorts, bundle, ports
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.model.result import Result
    from runner.network.loop import NetworkLoop

ROOT = Path(__file__).resolve().parents[2]
USER_SCRIPT = '''
import asyncio, http.server, sys, threading
from pathlib import Path
from runner.model.errors import KnownError
from runner.model.network import Destination
from runner.model.request import Language, NetworkMode
from runner.network.gate import Gate
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
here = Destination("localhost", server.server_port)
CODE = f"""
import socket, urllib.request, os
os.environ["NO_PROXY"] = os.environ["no_proxy"] = ""
print(urllib.request.urlopen("http://localhost:{here.port}/", timeout=60).status)
for port in 80, 443, {here.port}:
    with socket.create_connection(("evil.example", port), 60) as one:
        one.sendall(b"GET / HTTP/1.1\\\\r\\\\nHost: evil.example\\\\r\\\\n\\\\r\\\\n")
        print(len(one.recv(100)) > 0)
"""

async def main():
    for bubblewrap in (True, False):
        sandbox = LocalSandbox(Path(sys.argv[1]), bubblewrap=bubblewrap)
        gate = Gate([here], private=[here])
        job = Job("x", Language.PYTHON, CODE, network=NetworkMode.DOMAINS, gate=gate)
        try:
            result = await (await sandbox.start(job, lambda usage: None)).finished()
            assert bubblewrap and result.stdout == "200\\n" + "True\\n" * 3, result
        except KnownError as error:
            assert not bubblewrap and "plain processes cannot be held to approved hosts" in str(error), error
        gate.close()
        await sandbox.close()
    print("ALL WELL")

asyncio.run(main())
'''


@pytest.mark.skipif(os.geteuid() != 0, reason="everything here runs as an ordinary user already")
def test_as_an_ordinary_user_and_never_in_plain_processes() -> None:
    """Where the sandbox's network belongs to a user namespace, and that has another inside."""
    with tempfile.TemporaryDirectory(prefix="assent-test-") as place:
        folder = Path(place)
        for part in ("runner", "resources/seccomp"):
            shutil.copytree(ROOT / part, folder / part)
        shutil.copytree(Path(h11.__file__).parent, folder / "h11")
        (folder / "script.py").write_text(USER_SCRIPT)
        (folder / "root").mkdir()
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        os.chown(folder / "root", 5555, 5555)
        reachable = all(one.stat().st_mode & 1 for one in Path(sys.base_prefix, "bin").parents)
        python = sys.executable if reachable else "/usr/bin/python3"
        command = ["setpriv", "--reuid=5555", "--regid=5555", "--clear-groups", python, "-B", "script.py", "root"]
        environment = {"HOME": "/nonexistent", "PATH": os.environ["PATH"]}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=90, check=False
        )
    assert done.stdout.endswith("ALL WELL\n"), done.stdout + done.stderr


def run(code: str, gate: Gate | None) -> Result:
    async def body() -> Result:
        sandbox = LocalSandbox()
        try:
            mode = NetworkMode.NONE if gate is None else NetworkMode.DOMAINS
            job = Job("test", Language.PYTHON, code, network=mode, gate=gate)
            return await (await sandbox.start(job, lambda _usage: None)).finished()
        finally:
            await sandbox.close()

    return asyncio.run(body())


def test_a_helper_that_fails_is_reported_and_the_code_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Code without its network would find out that it has none; that it was to have one is not for it to miss."""
    for helper, words in (
        ("import sys; sys.exit('no such network')", "could not be set up: no such network"),
        ("pass", "too few descriptors"),
    ):
        monkeypatch.setattr(socket_maker, "inside", _always(helper))
        with pytest.raises(KnownError, match=words):
            run("print('started')", Gate([]))


def _always(text: str) -> Callable[[str], str]:
    return lambda name: text


def test_a_run_without_network_pays_for_no_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_words: object) -> None:
        raise AssertionError("the helper was started")

    monkeypatch.setattr(listeners, "SocketMaker", refuse)
    assert run("print('well')", None).stdout == "well\n"


def test_a_process_that_is_gone_is_reported() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    sandbox = LocalSandbox()
    with pytest.raises(KnownError, match="No such file"):
        LocalDoors(Gate([]), sandbox._network).open(ended.pid)


def test_what_was_prepared_and_not_needed_ends_with_the_rest() -> None:
    way = LocalDoors(Gate([]), LocalSandbox()._network)
    way.prepare()
    assert way._maker is not None
    helper = way._maker._process
    assert helper.poll() is None
    way.close()
    assert helper.poll() is not None


def test_a_helper_ends_where_who_started_it_is_gone() -> None:
    maker = SocketMaker()
    maker._here.close()
    assert maker._process.wait(HANGS) == 0
    maker.close()


def test_listeners_are_those_of_the_web_and_of_what_is_allowed_within_bounds() -> None:
    allowed = [Destination("a.example", port) for port in (443, 22, 53, 3128, *range(5000, 5100))]
    found = ports(Gate(allowed))
    assert found[:3] == (80, 443, 22) and not {53, 3128} & {*found} and len(found) == 32


def test_ports_that_are_allowed_later_are_opened_within_the_same_bounds() -> None:
    opened = OpenPorts(Gate([Destination("a.example", 22)]))
    assert opened.first == (80, 443, 22)
    assert [opened.add(port) for port in (22, 53, 3128, 443)] == [False] * 4
    assert sum(opened.add(port) for port in range(5000, 5100)) == MOST_PORTS - 1


def test_certificates_are_those_that_programs_here_are_configured_with(tmp_path: Path) -> None:
    named, secret = tmp_path / "named.pem", tmp_path / "secret.pem"
    named.write_text("-----BEGIN CERTIFICATE-----\nnamed\n")
    secret.write_text("-----BEGIN CERTIFICATE-----\n-----BEGIN PRIVATE KEY-----\n")
    assert bundle({"REQUESTS_CA_BUNDLE": str(named)}) == named.read_bytes()
    assert bundle({"SSL_CERT_FILE": str(tmp_path / "missing"), "CURL_CA_BUNDLE": str(named)}) == named.read_bytes()
    assert b"PRIVATE KEY" not in bundle({"SSL_CERT_FILE": str(secret)})


@pytest.mark.asyncio
@pytest.mark.parametrize("turns", range(6))
async def test_a_connection_that_comes_as_the_run_ends_is_closed(turns: int) -> None:
    """In whatever turn of the loop it ends: one that is let go of without a word is a warning."""
    way = LocalDoors(Gate(()), cast("NetworkLoop", None))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        way._served.accept(listener, functools.partial(way._serve, 0))
        await asyncio.sleep(0)
        with socket.create_connection(listener.getsockname(), HANGS) as client:
            for _ in range(turns):
                await asyncio.sleep(0)
            await way._end()
            listener.close()
            gc.collect()
            with contextlib.suppress(ConnectionResetError):
                assert client.recv(1) == b""
    assert way._served._room._value == listeners.MOST_STREAMS
