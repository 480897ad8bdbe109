"""Ports inside the network of a sandbox, reached from outside: as this account and as an ordinary one."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.network.loop import NetworkLoop
from runner.sandbox.local import carry
from runner.sandbox.local.carry import CarriedPort, listening, new_address
from tests.components import require
from tests.other_account import ORDINARY, ROOT, account_of
from tests.patience import HANGS
from tests.sandbox.conftest import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Carry = Callable[[int, int], CarriedPort]

SERVER = """
import http.server, socket, socketserver, sys, threading
class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        said = f"{self.headers['Host']} {self.client_address[1]}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)
    def log_message(self, *words):
        pass
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        while data := self.request.recv(65536):
            self.request.sendall(data)
        self.request.sendall(b"end")
class Server(socketserver.ThreadingTCPServer):
    daemon_threads, request_queue_size = True, 300
class Server6(Server):
    address_family = socket.AF_INET6
servers = [Server(("127.0.0.1", 8001), Page), Server(("0.0.0.0", 8002), Echo), Server6(("::1", 8003), Echo)]
servers.append(Server(("127.0.0.5", 8004), Echo))
for each in servers:
    threading.Thread(target=each.serve_forever, daemon=True).start()
print("on", flush=True)
for line in sys.stdin:
    servers[int(line)].shutdown()
    servers[int(line)].server_close()
    print("off", flush=True)
"""
BUBBLE = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-net", "--unshare-pid")


class Inside:
    """Servers in a network of their own."""

    def __init__(self) -> None:
        words = [*BUBBLE, "--die-with-parent", "python3", "-c", SERVER]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None and self.process.stdout.readline() == "on\n"
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.first = int(children.read_text().split()[0])

    def close_server(self, nth: int) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{nth}\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "off\n"

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def servers() -> Iterator[Inside]:
    require("bubblewrap")
    servers = Inside()
    yield servers
    servers.end()


@pytest.fixture
def carried(servers: Inside) -> Iterator[Carry]:
    """Opens ports, and looks afterwards that nothing is left of them."""
    network = NetworkLoop()
    before = set(os.listdir("/proc/self/fd"))
    opened: list[CarriedPort] = []

    def open_port(port: int, process: int = 0) -> CarriedPort:
        one = CarriedPort(process or servers.first, port, network, new_address())
        opened.append(one)
        one.open()
        return one

    yield open_port
    for one in opened:
        one.close()
        one.close()
        assert not one.is_open and one.url == ""
    assert network.close()
    assert wait_until(lambda: len(os.listdir("/proc/self/fd")) <= len(before))


def connection(one: CarriedPort) -> socket.socket:
    return socket.create_connection((one.address, one.port), HANGS)


def echoed(stream: socket.socket, data: bytes) -> bytes:
    stream.sendall(data)
    said = b""
    while len(said) < len(data) and (piece := stream.recv(65536)):
        said += piece
    return said


def test_only_ports_that_can_be_carried_are_found(servers: Inside) -> None:
    assert listening(servers.first) == {8001, 8002, 8003}
    assert listening(servers.first, {8002, 443}) == {8001, 8003}
    servers.close_server(0)
    assert listening(servers.first) == {8002, 8003}
    servers.end()
    assert listening(servers.first) == set()


def test_a_page_is_there_at_an_address_of_its_own_and_stays_open(carried: Carry) -> None:
    one = carried(8001)
    assert one.port == 8001 and one.url == f"http://{one.address}:8001/"
    assert int(one.address.split(".")[1]) in range(64, 128) and one.address != new_address()
    page = http.client.HTTPConnection(one.address, one.port, timeout=HANGS)
    said = []
    for _ in range(3):
        page.request("GET", "/")
        said.append(page.getresponse().read().decode())
    page.close()
    assert len(set(said)) == 1 and said[0].startswith(f"{one.address}:8001 ")
    with pytest.raises(ConnectionRefusedError):  # not at the address that everything else is at
        socket.create_connection(("127.0.0.1", one.port), 1).close()


@pytest.mark.parametrize("port", [8002, 8003])
def test_a_stream_goes_both_ways_and_ends_one_way_at_a_time(carried: Carry, port: int) -> None:
    with connection(carried(port)) as stream:
        for size in (1, 100, 300_000):
            data = os.urandom(size)
            sending = threading.Thread(target=stream.sendall, args=(data,))
            sending.start()
            said = b""
            while len(said) < size:
                said += stream.recv(65536)
            sending.join()
            assert said == data
        stream.shutdown(socket.SHUT_WR)
        assert stream.recv(10) == b"end"


def test_two_hundred_at_once_and_more_than_there_is_room_for(carried: Carry, monkeypatch: pytest.MonkeyPatch) -> None:
    one = carried(8002)

    def talk(number: int) -> bool:
        with connection(one) as stream:
            return echoed(stream, b"%d" % number) == b"%d" % number

    streams = [connection(one) for _ in range(200)]
    assert all(echoed(stream, b"%d" % number) == b"%d" % number for number, stream in enumerate(streams))
    for each in streams:
        each.close()
    monkeypatch.setattr(carry, "MOST_CONNECTIONS", 4)
    with ThreadPoolExecutor(20) as workers:
        assert all(workers.map(talk, range(100), timeout=HANGS))
    few = carried(8001)
    page = connection(few)
    held = [page, *(connection(few) for _ in range(3))]
    for each in held:
        each.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert each.recv(100)
    with connection(few) as waits:
        waits.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        waits.settimeout(0.2)
        with pytest.raises(TimeoutError):
            waits.recv(100)
        page.close()
        waits.settimeout(HANGS)
        assert waits.recv(100)
    for each in held:
        each.close()


def test_a_port_that_is_taken_outside_gets_another_number(servers: Inside) -> None:
    network, address = NetworkLoop(), new_address()
    first, second = (CarriedPort(servers.first, 8002, network, address) for _ in range(2))
    for one in (first, second):
        one.open()
    assert first.port == 8002 != second.port
    for one in (second, first):
        with connection(one) as stream:
            assert echoed(stream, b"words") == b"words"
        one.close()
    assert network.close()


def test_a_server_that_has_closed_takes_no_more_connections(servers: Inside, carried: Carry) -> None:
    one = carried(8002)
    with connection(one) as stream:
        assert echoed(stream, b"words") == b"words"
        servers.close_server(1)
        with connection(one) as late:
            assert late.recv(10) == b""
        assert echoed(stream, b"words") == b"words"
    assert one.is_open


def test_it_ends_with_the_process(servers: Inside, carried: Carry) -> None:
    one = carried(8002)
    with connection(one) as stream:
        assert echoed(stream, b"words") == b"words"
        servers.end()
        with contextlib.suppress(ConnectionResetError):
            assert stream.recv(10) == b""
    assert wait_until(lambda: not one.is_open)
    assert wait_until(lambda: not answers(one.address, 8002))
    with pytest.raises(KnownError):
        carried(8002)


def answers(address: str, port: int) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection((address, port), HANGS).close()
        return True
    return False


def test_it_is_closed_while_everybody_is_busy(carried: Carry) -> None:
    one = carried(8002)
    streams = [connection(one) for _ in range(50)]
    over = threading.Event()

    def knock() -> None:
        while not over.is_set():
            with contextlib.suppress(OSError):
                connection(one).close()

    knocking = threading.Thread(target=knock)
    knocking.start()
    assert echoed(streams[0], b"words") == b"words"
    address = (one.address, one.port)
    closing = [threading.Thread(target=one.close) for _ in range(2)]
    for each in closing:
        each.start()
    for each in closing:
        each.join(HANGS)
    over.set()
    knocking.join(HANGS)
    for stream in streams:
        with contextlib.suppress(ConnectionResetError):
            assert stream.recv(10) == b""
        stream.close()
    assert not answers(*address)


def test_the_network_of_this_machine_is_not_carried(carried: Callable[..., CarriedPort]) -> None:
    """Whatever process is named: what listens here is for nobody else."""
    with socket.create_server(("127.0.0.1", 0)) as server, pytest.raises(KnownError, match="no network of its own"):
        carried(server.getsockname()[1], os.getpid())


USER_SCRIPT = """
import socket, sys
from runner.network.loop import NetworkLoop
from runner.sandbox.local.carry import CarriedPort, listening, new_address
from tests.sandbox.test_carry import Inside, echoed
servers, network = Inside(), NetworkLoop()
assert listening(servers.first) == {8001, 8002, 8003}
for port in (8002, 8003):
    one = CarriedPort(servers.first, port, network, new_address())
    one.open()
    with socket.create_connection((one.address, one.port), 60) as stream:
        assert echoed(stream, b"words") == b"words"
    one.close()
servers.end()
network.close()
print("ALL WELL")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="everything here runs as an ordinary account already")
def test_as_an_ordinary_account() -> None:
    """Where the network belongs to a user namespace, and that has another one inside."""
    require("bubblewrap")
    other = account_of(ORDINARY)
    packages = [one for one in sys.path if one.endswith("site-packages")]
    path = os.pathsep.join([str(ROOT), *packages])
    environment = {"HOME": "/nonexistent", "PATH": os.environ["PATH"], "PYTHONPATH": path}
    account = ["setpriv", f"--reuid={other}", f"--regid={other}", "--clear-groups", "/usr/bin/python3", "-B", "-c"]
    done = subprocess.run(
        [*account, USER_SCRIPT], env=environment, capture_output=True, text=True, timeout=HANGS, check=False, cwd="/"
    )
    assert done.stdout == "ALL WELL\n", done.stdout + done.stderr
