"""Large inputs that once broke what reads the output of runs; small ones are files in `tests/fuzz/corpus`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from runner.sandbox.report import LIMIT
from tests.fuzz import file_records, marks, mutation, previews, reports

if TYPE_CHECKING:
    from pathlib import Path

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


def test_the_same_seed_tries_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation, "FAILED", tmp_path)
    for fuzzer in (marks, reports, file_records, previews):
        tries: list[list[bytes]] = [[], []]
        for tried in tries:
            mutation.generated("none", fuzzer.made, tried.append, 0.02, 3)
        assert tries[0][:1] == tries[1][:1] and tries[0]
