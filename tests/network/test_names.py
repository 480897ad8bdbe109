"""Made-up DNS: an address for every name, none for anything else, and no name that leaves."""

from __future__ import annotations

import socket
from unittest.mock import patch

import pytest

from runner.network import names as names_module
from runner.network.names import LONGEST, Names

A, AAAA, TXT = 1, 28, 16


def question(name: str, kind: int = A, family: int = 1) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode("latin-1") for label in name.split(".") if label)
    return labels + b"\0" + kind.to_bytes(2, "big") + family.to_bytes(2, "big")


def query(name: str, kind: int = A, *, flags: int = 0x0100, family: int = 1, count: int = 1) -> bytes:
    counts = count.to_bytes(2, "big") + bytes(6)
    return b"\x12\x34" + flags.to_bytes(2, "big") + counts + question(name, kind, family)


def code_and_address(answer: bytes | None) -> tuple[int, str]:
    """Return the response code of an answer, and its address where it has one."""
    assert answer is not None
    assert answer[:2] == b"\x12\x34"
    assert answer[2] & 0x80
    found = socket.inet_ntoa(answer[-4:]) if answer[6:8] == b"\0\1" else ""
    return answer[3] & 15, found


def test_every_name_has_an_address_of_its_own_which_leads_back() -> None:
    names = Names()
    found = [code_and_address(names.answer(query(name))) for name in ("a.example", "b.example", "A.Example.")]
    assert found[0] == found[2] == (0, "127.66.0.1")
    assert found[1] == (0, "127.66.0.2")
    assert [names.name_of(f"127.66.0.{last}") for last in (1, 2)] == ["a.example", "b.example"]


def test_an_answer_repeats_the_question_letter_by_letter() -> None:
    asked = query("MiXed.eXample")
    answer = Names().answer(asked)
    assert answer is not None and answer[12:].startswith(asked[12:])


@pytest.mark.parametrize("kind", [AAAA, TXT, 65, 15, 0, 65535])
def test_other_types_exist_without_an_answer(kind: int) -> None:
    names = Names()
    assert code_and_address(names.answer(query("a.example", kind))) == (0, "")
    assert names.name_of("127.66.0.1") == "127.66.0.1"


@pytest.mark.parametrize("name", ["a b.example", "a\0.example", "xn--\xe9.example", "1.2.3.4", "0x7f.1", "-a.example"])
def test_a_text_that_is_no_host_name_has_no_address(name: str) -> None:
    assert code_and_address(Names().answer(query(name))) == (3, "")


def test_this_machine_keeps_its_name() -> None:
    assert code_and_address(Names().answer(query("localhost"))) == (0, "127.0.0.1")


@pytest.mark.parametrize(
    "asked",
    [
        query("a.example", count=0),
        query("a.example", count=2),
        query("a.example")[:-1],
        query("a.example")[:14],
        b"\x12\x34\x01\0\0\1" + bytes(6) + b"\xc0\x0c\0\1\0\1",
        b"\x12\x34\x01\0\0\1" + bytes(6) + b"\xc0\xff\0\1\0\1",
        b"\x12\x34\x01\0\0\1" + bytes(6) + b"\0\0\1\0\1",
        b"\x12\x34\x01\0\0\1" + bytes(6) + b"\xc0" + b"a" * 192 + b"\0\0\1\0\1",
        query(".".join("a" * 60 for _ in range(5))),
        query(".".join("a" for _ in range(130))),
        b"\x12\x34\x01\0\0\1" + bytes(6) + b"\x03a.b\0\0\1\0\1",
    ],
)
def test_what_cannot_be_read_is_a_format_error(asked: bytes) -> None:
    assert code_and_address(Names().answer(asked)) == (1, "")


@pytest.mark.parametrize("asked", [b"", b"\x12", bytes(11), query("a.example", flags=0x8180), bytes(LONGEST + 1)])
def test_what_is_no_query_gets_no_answer(asked: bytes) -> None:
    assert Names().answer(asked) is None


def test_other_operations_are_not_implemented() -> None:
    assert code_and_address(Names().answer(query("a.example", flags=0x2800))) == (4, "")


def test_a_query_with_more_behind_its_question_is_answered() -> None:
    edns = query("a.example")[:10] + b"\0\1" + question("a.example") + b"\0\0\x29\x10\0\0\0\0\0\0\0"
    assert code_and_address(Names().answer(edns)) == (0, "127.66.0.1")


def test_there_are_only_so_many_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_module, "MOST_NAMES", 2)
    names = Names()
    found = [code_and_address(names.answer(query(f"n{number}.example"))) for number in range(4)]
    assert found == [(0, "127.66.0.1"), (0, "127.66.0.2"), (2, ""), (2, "")]
    assert code_and_address(names.answer(query("n0.example"))) == (0, "127.66.0.1")


@pytest.mark.parametrize("address", ["127.66.0.0", "127.66.0.9", "127.0.0.1", "10.0.0.1", "x", "::1", ""])
def test_an_address_without_a_name_stays_one(address: str) -> None:
    assert Names().name_of(address) == address


def test_no_question_leaves() -> None:
    def leaving(*_: object, **__: object) -> None:
        raise AssertionError("a lookup")

    with patch.object(socket, "getaddrinfo", leaving), patch.object(socket, "socket", leaving):
        assert Names().answer(query("secret-data.evil.example")) is not None
