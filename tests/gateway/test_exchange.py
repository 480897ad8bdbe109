"""One exchange of HTTP with the console: bodies of every kind, whole or not, and whatever else answers."""

from __future__ import annotations

import contextlib
import http.client
import io
import itertools
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.gateway import exchange, messages
from runner.gateway.bridge import StdioBridge
from runner.gateway.exchange import BrokenExchange, Exchange, HttpResponse
from runner.gateway.stdio import StdioClient
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterator

BODY = b"data: one\r\n\r\ndata: two\n\nlast"
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(BODY)
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
TO_THE_END = b"HTTP/1.0 200 OK\r\n\r\n"


def response(data: bytes) -> HttpResponse:
    """Return the response that a connection with `data` and its end brings."""
    here, there = socket.socketpair()
    with here:
        with there:
            there.sendall(data)
        return HttpResponse(here)


def chunks(body: bytes, size: int) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%X;note=1\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\nTrailer: x\r\n\r\n"


@pytest.mark.parametrize(
    "data", [LENGTH + BODY, CHUNKED + chunks(BODY, 1), CHUNKED + chunks(BODY, 7), TO_THE_END + BODY]
)
def test_a_body_is_read_whole_and_by_lines(data: bytes) -> None:
    with contextlib.closing(response(data)) as read:
        assert (read.status, read.read()) == (200, BODY)
    with contextlib.closing(response(data)) as read:
        assert list(read) == BODY.splitlines(keepends=True)


@pytest.mark.parametrize("data", [LENGTH + BODY, CHUNKED + chunks(BODY, 7)])
def test_one_that_breaks_off_anywhere_is_no_response(data: bytes) -> None:
    for end in range(len(data)):
        with pytest.raises(BrokenExchange), contextlib.closing(response(data[:end])) as read:
            read.read()


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1_0\r\n\r\n0123456789",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"Content-Length: 0\r\n\r\n",
        CHUNKED + b"0\r\n" + b"a: b\r\n" * 200 + b"\r\n",
        CHUNKED + b"0x3\r\nabc\r\n0\r\n\r\n",
        CHUNKED + b"+3\r\nabc\r\n0\r\n\r\n",
        CHUNKED + b"zz\r\n",
        CHUNKED + b"-1\r\n",
        CHUNKED + b"1\r\nab\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * (1 << 17) + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X%d: y\r\n" % number for number in range(200)) + b"\r\n",
    ],
)
def test_what_is_none_is_told_from_one(data: bytes) -> None:
    with pytest.raises(BrokenExchange), contextlib.closing(response(data)) as read:
        read.read()


@given(st.binary(max_size=200))
def test_whatever_answers_there_is_no_other_error(data: bytes) -> None:
    with contextlib.suppress(BrokenExchange), contextlib.closing(response(b"HTTP/1.1 200 OK\r\n" + data)) as read:
        read.read()


@given(st.binary(max_size=300), st.integers(1, 50))
def test_it_reads_what_the_standard_library_reads(body: bytes, size: int) -> None:
    for data in (CHUNKED + chunks(body, size), b"HTTP/1.1 404 No\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)):
        standard = http.client.HTTPResponse(_Made(data))  # type: ignore[arg-type]
        standard.begin()
        with contextlib.closing(response(data)) as read:
            assert (read.status, read.read()) == (standard.status, standard.read())


def test_a_body_larger_than_any_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.gateway.exchange.MOST_BODY", len(BODY) - 1)
    with pytest.raises(BrokenExchange, match="larger"), contextlib.closing(response(TO_THE_END + BODY)) as read:
        read.read()


class _Made:
    """A connection with nothing but what it brings."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def test_the_request_is_one_that_names_its_host_and_length(server: socket.socket) -> None:
    heard: list[bytes] = []

    def answer() -> None:
        connection, _ = server.accept()
        with connection:
            while not (heard and b"".join(heard).endswith(b"{}")):
                heard.append(connection.recv(1000))
            connection.sendall(LENGTH + BODY)

    answering = threading.Thread(target=answer)
    answering.start()
    port = server.getsockname()[1]
    with contextlib.closing(Exchange("127.0.0.1", port)) as exchange:
        read = exchange.open("POST", b"{}", {"Accept": "a/b"})
        assert read.getheader("content-type") == "text/plain"
        assert read.getheader("other") == ""
        assert read.read() == BODY
    answering.join()
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 2\r\nAccept: a/b\r\n\r\n{{}}"
    assert b"".join(heard) == head.encode()


@pytest.mark.parametrize("value", ["a\r\nAuthorization: other", "a\nb", "\x00", "\u2028"])
def test_no_header_begins_another_one(server: socket.socket, value: str) -> None:
    with contextlib.closing(Exchange("127.0.0.1", server.getsockname()[1])) as exchange, pytest.raises(ValueError):  # noqa: PT011
        exchange.open("POST", b"", {"Mcp-Name": value}, 1.0)
    server.setblocking(False)
    with pytest.raises(BlockingIOError):
        server.accept()


def test_another_thread_breaks_it_off(server: socket.socket) -> None:
    with contextlib.closing(Exchange("127.0.0.1", server.getsockname()[1])) as exchange:

        def cut() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                exchange.cut()

        cutting = threading.Thread(target=cut)
        cutting.start()
        with pytest.raises(OSError, match="breaks off"):
            exchange.open("POST", b"", {})
        cutting.join()


def test_one_that_was_broken_off_before_it_was_sent_is_not_sent(server: socket.socket) -> None:
    with contextlib.closing(Exchange("127.0.0.1", server.getsockname()[1])) as exchange:
        exchange.cut()
        with pytest.raises(BrokenExchange):
            exchange.open("POST", b"", {})
    connection, _ = server.accept()
    with connection:
        assert connection.recv(1000) == b""


def endless(piece: bytes) -> Iterator[bytes]:
    while True:
        yield piece


def test_a_line_without_end_is_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MOST_BODY", 1000)
    with contextlib.closing(response(TO_THE_END)) as read:
        monkeypatch.setattr(read, "_pieces", lambda: itertools.islice(endless(b"x" * 100), 100))
        with pytest.raises(BrokenExchange, match="line"):
            next(iter(read))
        monkeypatch.setattr(read, "_pieces", lambda: itertools.islice(endless(b"x" * 100 + b"\n"), 20))
        assert len(list(read)) == 20


def test_an_event_without_end_is_no_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MOST_BODY", 1000)
    with pytest.raises(BrokenExchange, match="event"):
        next(messages.events([*itertools.islice(endless(b"data: " + b"x" * 100 + b"\n"), 100), b"\n"]))
    assert len([*messages.events([b"data: " + b"x" * 900 + b"\n", b"\n"] * 3)]) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": 7, "result": {}}', True),
        ('{"id": 7, "error": {}}', True),
        ('{"id": null, "error": {}}', True),
        ('{"method": "notifications/progress"}', False),
        ('{"id": 7, "method": "ping"}', False),
        ('{"id": 8, "result": {}}', None),
        ('{"id": "7", "result": {}}', None),
        ('{"id": 7.0, "result": {}}', None),
        ('{"id": null, "result": {}}', None),
        ('{"result": {}}', None),
        ("[]", None),
        ("no", None),
    ],
)
def test_an_answer_is_to_the_request_that_was_made(text: str, said: bool | None) -> None:
    if said is None:
        with pytest.raises(BrokenExchange):
            messages.answers(text, {"id": 7})
    else:
        assert messages.answers(text, {"id": 7}) is said


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
def test_the_bridge_hands_on_no_answer_to_another_request(kind: str) -> None:
    out = io.BytesIO()
    bridge = StdioBridge(Places.under(Path("/nowhere")), "token", "", StdioClient(out))
    for number in (7, 8):
        body = b'{"id": %d, "result": {"behavior": "allow"}}' % number
        body = b"data: %b\n\n" % body if kind.startswith("text") else body
        head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (kind.encode(), len(body))
        with contextlib.closing(response(head + body)) as read:
            if number == 7:
                bridge._hand_back({"id": 7, "method": "tools/call"}, read)
                assert out.getvalue()
            else:
                before = out.getvalue()
                with pytest.raises(BrokenExchange):
                    bridge._hand_back({"id": 7, "method": "tools/call"}, read)
                assert out.getvalue() == before
