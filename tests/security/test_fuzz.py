"""A moment of each fuzzer, and the inputs that once broke what they try; `run` of each can go on for hours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from runner.sandbox.report import LIMIT
from tests.fuzz import file_records, marks, previews, reports
from tests.fuzz.clock import TooSlow, tried

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

INTERPRETER, KEEPER, _ = marks.HEADS
CORPUS: dict[str, tuple[Any, bytes]] = {
    "a length below zero, which never ended": (marks, INTERPRETER + b"E-0000001\nabc"),
    "a length below zero of the keeper": (marks, KEEPER + b"C-000ffff\nabc"),
    "a length with a prefix": (marks, INTERPRETER + b"R0x000001\nabc"),
    "a status that the interpreter claims": (marks, INTERPRETER + b"C00000003\n000"),
    "a frame of 4 GB": (marks, b"\2\0\0\0\xff\xff\xff\xff" + KEEPER + b"C00000003\n000"),
    "a peak of 4,000 digits": (reports, b'{"peak": 1' + b"0" * 4000 + b"}"),
    "two million blocked names": (reports, b'{"blocked": [' + b"1," * 520_000 + b"1]}"),
    "a value nested 900 deep": (reports, b'{"value": ' + b"[" * 900 + b"]" * 900 + b"}"),
    "half a million small values": (reports, b'{"value": [' + b"1," * (LIMIT // 2 - 10) + b"1]}"),
    "a name that is empty": (file_records, b"f1 \0\0x"),
    "a name that leads out": (file_records, b"f1 ../../../etc/passwd\0f1 /etc/passwd\0\0xy"),
    "a name that comes twice": (file_records, b"f1 a\0f2 a\0\0xyz"),
    "a size beyond all": (file_records, b"f9999999999999999999 a\0f1 b\0\0x"),
    "a text that is never closed": (previews, b'"' * 200_000),
    "a table of one quote": (previews, b'"' + b"a,\n" * 50_000),
}


@pytest.mark.parametrize("name", CORPUS)
def test_what_once_broke(name: str) -> None:
    fuzzer, data = CORPUS[name]
    fuzzer.check(data)


@pytest.mark.parametrize("fuzzer", [marks, reports, file_records, previews], ids=lambda fuzzer: fuzzer.__name__[11:])
def test_a_moment_of(fuzzer: Any) -> None:
    assert fuzzer.run(0.2, 7) > 0


def test_the_same_seed_tries_the_same() -> None:
    for fuzzer in (marks, reports, file_records, previews):
        tries: list[list[bytes]] = [[], []]
        for tried_now in tries:
            tried(0.02, 3, fuzzer.made, tried_now.append)
        assert tries[0][:1] == tries[1][:1] and tries[0]


def test_an_input_that_never_ends_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.clock.SLOWEST", 0.05)

    def endless(_data: bytes) -> None:
        while True:
            pass

    def always(_source: random.Random) -> bytes:
        return b"the input"

    with pytest.raises(TooSlow) as found:
        tried(1.0, 5, always, endless)
    assert found.value.__notes__ == ["seed 5, input 0: b'the input'"]


def test_a_finding_names_its_input() -> None:
    def fails(data: bytes) -> None:
        assert len(data) > 10**6

    wrong: Callable[[bytes], None] = fails
    with pytest.raises(AssertionError) as found:
        tried(1.0, 5, marks.made, wrong)
    assert found.value.__notes__[0].startswith("seed 5, input 0: b'")
