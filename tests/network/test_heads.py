"""The head of a request: read strictly, or not at all."""

from __future__ import annotations

import pytest

from runner.network.caps import STANDARD
from runner.network.heads import Malformed, absolute_target, authority, connect_target, host_header, parse, read_head

pytestmark = pytest.mark.asyncio
GET = "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n"


class Pieces:
    """A pipe from which a text comes in pieces."""

    def __init__(self, data: bytes, size: int = 1 << 16) -> None:
        self._pieces = [data[at : at + size] for at in range(0, len(data), size)]

    async def read(self) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    async def write(self, data: bytes) -> None:
        raise AssertionError(data)

    async def finish(self) -> None:
        raise AssertionError

    def close(self) -> None:
        pass


@pytest.mark.parametrize("size", [1, 3, 1000])
async def test_a_head_ends_at_its_empty_line(size: int) -> None:
    head, rest = await read_head(Pieces(b"A b HTTP/1.1\r\nC: d\r\n\r\nrest", size), STANDARD)
    assert head == b"A b HTTP/1.1\r\nC: d\r\n\r\n"
    assert b"rest".startswith(rest)


async def test_what_was_read_before_counts() -> None:
    assert await read_head(Pieces(b"\nrest"), STANDARD, b"A b HTTP/1.1\r\n\r") == (b"A b HTTP/1.1\r\n\r\n", b"rest")


async def test_a_connection_without_a_word_is_nothing() -> None:
    assert await read_head(Pieces(b""), STANDARD) == (b"", b"")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"GET / HTTP/1.1\r\n", "not a complete"),
        (b"\x16\x03\x01", "not a request"),
        (b"\0" * 100, "not a request"),
        (b"A" * 100_000, "too long"),
        (b"A b HTTP/1.1\r\n" + b"C: d\r\n" * 10_000 + b"\r\n", "too long"),
    ],
)
async def test_what_is_no_head_is_refused_in_bounded_memory(data: bytes, words: str) -> None:
    with pytest.raises(Malformed, match=words):
        await read_head(Pieces(data, 1000), STANDARD)


def parsed(text: str) -> object:
    return parse(text.encode("latin-1"), b"", STANDARD)


@pytest.mark.parametrize(
    "text",
    [
        GET + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        GET + "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
        GET + "Content-Length: 1, 1\r\n\r\n",
        GET + "Content-Length: +1\r\n\r\n",
        GET + "Content-Length: -1\r\n\r\n",
        GET + "Content-Length: 0x1\r\n\r\n",
        GET + "Content-Length:\r\n\r\n",
        GET + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        GET + "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        GET + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
        GET + "Transfer-Encoding: chunked, identity\r\n\r\n",
        GET + "Transfer-Encoding: xchunked\r\n\r\n",
        GET + "Transfer-Encoding: identity\r\n\r\n",
        GET + "Transfer-Encoding : chunked\r\n\r\n",
        GET + "X: a\r\n b\r\n\r\n",
        GET + "X: a\r\n\tTransfer-Encoding: chunked\r\n\r\n",
        GET + "X: a\nTransfer-Encoding: chunked\r\n\r\n",
        GET + "X: a\rTransfer-Encoding: chunked\r\n\r\n",
        GET + "X: a\0b\r\n\r\n",
        GET + "X\r\n\r\n",
        GET + ": x\r\n\r\n",
        GET.replace("1.1", "2.0") + "\r\n",
        GET.replace("1.1", "0.9") + "\r\n",
        GET.replace("1.1", "1.0") + "Transfer-Encoding: chunked\r\n\r\n",
        "GET http://a.example/ x HTTP/1.1\r\n\r\n",
        "GET\r\n\r\n",
        "GET http://a.example/\r\n\r\n",
        "G\xe9T / HTTP/1.1\r\n\r\n",
        "CONNECT a.example:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
        "CONNECT a.example:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ],
)
async def test_what_two_programs_may_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        parsed(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a.example:443", ("a.example", 443)),
        ("A.Example.:80", ("a.example", 80)),
        ("a.example", ("a.example", 7)),
        ("[::1]:22", ("::1", 22)),
        ("[::1]", ("::1", 7)),
        ("93.184.216.34:1", ("93.184.216.34", 1)),
    ],
)
async def test_an_authority_is_host_and_port(text: str, found: tuple[str, int]) -> None:
    assert authority(text.encode(), 7) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":443",
        "a.example:",
        "a.example:0",
        "a.example:65536",
        "a.example:443:443",
        "a.example:4x",
        "a.example: 443",
        " a.example:443",
        "a.example:443 ",
        "user@a.example:443",
        "evil.example\0.a.example:443",
        "evil.example%00.a.example:443",
        "*.a.example:443",
        "2130706433:80",
        "0x7f000001:80",
        "0x7f.1:80",
        "127.1:80",
        "0177.0.0.1:80",
        "[::1%25eth0]:80",
        "[::1:80",
        "a/b.example:443",
        "ä.example:443",
        "a..example:443",
    ],
)
async def test_what_names_no_single_host_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        authority(text.encode("utf-8"), 443)


async def test_the_targets_of_requests() -> None:
    assert connect_target(request("CONNECT a.example:22 HTTP/1.1\r\nHost: x\r\n\r\n")) == ("a.example", 22)
    for target, found in {
        "http://a.example": ("a.example", 80, b"/"),
        "HTTP://A.example:8080/b?c": ("a.example", 8080, b"/b?c"),
        "http://a.example?c=http://d/": ("a.example", 80, b"/?c=http://d/"),
        "http://[::1]/": ("::1", 80, b"/"),
    }.items():
        assert absolute_target(request(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n")) == found


@pytest.mark.parametrize(
    "target",
    ["/", "*", "https://a.example/", "ftp://a.example/", "http:/a.example/", "http:///b", "http://a.example/#b",
     "http://a.example\\@b.example/", "http://b@a.example/", "a.example:443"],
)  # fmt: skip
async def test_what_is_no_request_to_a_proxy_is_refused(target: str) -> None:
    with pytest.raises(Malformed):
        absolute_target(request(f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"))


async def test_a_request_has_one_host() -> None:
    assert host_header(request("GET / HTTP/1.1\r\nHost: A.example:81\r\n\r\n")) == ("a.example", 81)
    assert host_header(request("GET / HTTP/1.0\r\n\r\n")) is None
    with pytest.raises(Malformed):
        host_header(request("GET / HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n"))


def request(text: str):  # type: ignore[no-untyped-def]
    return parse(text.encode("latin-1"), b"", STANDARD).request
