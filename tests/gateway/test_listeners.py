"""Who listens on a port: as the kernel says when asked, and as /proc has it."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

import pytest

from runner.gateway import listeners

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.gateway.listeners import ListeningSocket

LOOPBACK = "0100007F" if sys.byteorder == "little" else "7F000001"


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


@pytest.fixture(params=["asked", "read"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "read":

        def refused() -> Iterator[tuple[int, ListeningSocket]]:
            raise PermissionError

        monkeypatch.setattr(listeners, "_asked", refused)
    return str(request.param)


def test_who_gets_what_is_sent_to_this_machine(listener: socket.socket) -> None:
    port = port_of(listener)
    inode = str(os.fstat(listener.fileno()).st_ino)
    with socket.create_server(("127.0.0.2", port)):
        assert [facts(one) for one in listeners.reached(port)] == [(LOOPBACK, os.getuid(), inode)]
        assert len(listeners.on_port(port)) == 2
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as everywhere:
        assert [one.user for one in listeners.reached(port_of(everywhere))] == [os.getuid()]
    with socket.create_server(("127.0.0.2", 0)) as elsewhere:
        assert listeners.reached(port_of(elsewhere)) == []


def test_connections_are_no_listeners(listener: socket.socket) -> None:
    with socket.create_connection(listener.getsockname()) as there, listener.accept()[0]:
        assert listeners.on_port(port_of(there)) == []
        assert len(listeners.on_port(port_of(listener))) == 1


def test_the_kernel_and_proc_say_the_same(listener: socket.socket) -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as other:
        ports = {port_of(listener), port_of(other)}
        said = _of(listeners._asked(), ports) if _can_be_asked() else set()
        assert said in (_of(listeners._read(), ports), set())


def facts(one: ListeningSocket) -> tuple[str, int, str]:
    return one.address, one.user, one.inode


def _of(found: Iterator[tuple[int, ListeningSocket]], ports: set[int]) -> set[tuple[int, tuple[str, int, str]]]:
    return {(port, facts(one)) for port, one in found if port in ports}


def _can_be_asked() -> bool:
    try:
        return bool(list(listeners._asked()))
    except OSError:
        return False
