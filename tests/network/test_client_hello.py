"""The name in the greeting of TLS, whole, in pieces, and made to mislead."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.network.client_hello import ClientHello, NotTLS
from tests.network.stage import greeting

SHORT = greeting("a.example")


def name_in(data: bytes) -> str | None:
    hello = ClientHello()
    hello.feed(data)
    return hello.name


def made(*extensions: tuple[int, bytes], kind: int = 1) -> bytes:
    """Return a greeting with `extensions`, in one record."""
    listed = b"".join(number.to_bytes(2, "big") + sized(content, 2) for number, content in extensions)
    body = bytes(34) + sized(b"", 1) + sized(b"\x13\x01", 2) + sized(b"\0", 1) + sized(listed, 2)
    return record(bytes([kind]) + sized(body, 3))


def sized(content: bytes, width: int) -> bytes:
    return len(content).to_bytes(width, "big") + content


def record(content: bytes, kind: int = 22) -> bytes:
    return bytes([kind, 3, 1]) + sized(content, 2)


def server_name(name: bytes, kind: int = 0) -> tuple[int, bytes]:
    return 0, sized(bytes([kind]) + sized(name, 2), 2)


def test_the_name_is_found_and_the_greeting_without_one_has_none() -> None:
    assert name_in(SHORT) == "a.example"
    assert name_in(greeting(None)) == ""
    assert name_in(made()) == ""


def test_it_is_found_one_byte_at_a_time() -> None:
    hello = ClientHello()
    assert [hello.feed(SHORT[at : at + 1]) for at in range(len(SHORT))] == [False] * (len(SHORT) - 1) + [True]
    assert hello.name == "a.example"


@given(st.integers(1, 40))
def test_it_is_found_across_records(size: int) -> None:
    content = SHORT[5:]
    pieces = [content[at : at + size] for at in range(0, len(content), size)]
    assert name_in(b"".join(map(record, pieces))) == "a.example"


@pytest.mark.parametrize("kind", [0xFE0D, 0xFFCE])
def test_a_greeting_that_may_hide_another_name_says_so(kind: int) -> None:
    hello = ClientHello()
    assert hello.feed(made((kind, bytes(100)), server_name(b"outer.example")))
    assert hello.name == "outer.example" and hello.hides_name
    plain = ClientHello()
    assert plain.feed(SHORT) and not plain.hides_name


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n",
        b"SSH-2.0-x\r\n",
        b"\x80\x2e\x01\x03\x01",
        record(b"\x01", kind=21),
        record(b""),
        bytes([22, 2, 0, 0, 1, 1]),
        bytes([22, 3, 1, 0xFF, 0xFF]),
        record(b"\x02\0\0\0"),
        record(b"\x01\xff\xff\xff"),
        made(server_name(b"a.example"), server_name(b"b.example")),
        made(server_name(b"a.example", kind=1)),
        made((0, sized(b"\0" + sized(b"a.example", 2) + b"\0" + sized(b"b.example", 2), 2))),
        made(server_name(b"a.example\0.b.example")),
        made(server_name(b"")),
        made((0, b"")),
        made((0, b"\xff\xff")),
        record(b"\x01" + sized(bytes(34) + b"\xff", 3)),
        record(b"\x01" + sized(bytes(20), 3)),
        record(made(server_name(b"a.example"))[5:] + b"more"),
    ],
)
def test_what_may_be_read_in_two_ways_is_refused(data: bytes) -> None:
    with pytest.raises(NotTLS):
        name_in(data)


def test_two_lists_of_extensions_are_refused() -> None:
    body = SHORT[9:] + b"\0\0"
    with pytest.raises(NotTLS):
        name_in(record(b"\x01" + sized(body, 3)))
