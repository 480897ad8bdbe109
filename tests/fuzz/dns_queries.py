"""Queries for names: each answer belongs to its question, is bounded, and no name has another's address."""

from __future__ import annotations

from runner.model.network import canonical_host
from runner.network.names import LONGEST, Names
from tests.fuzz.mutation import fuzz
from tests.network.test_names import query

WORDS = (b"\xc0\x0c", b"\x3f", b"\x40", b"\0", b"\x01a", b"\0\x1c\0\x01", b"localhost", b"\xff")
HEAD, RECORD = 12, 16
"""Bytes of a message's head, and of an answer with one address."""
KEPT = Names()
"""Over many queries, as those of a run."""


def check(data: bytes) -> None:
    for names in (Names(), KEPT):
        answer = names.answer(data)
        if answer is None:
            continue
        assert answer[:2] == data[:2] and answer[2] & 0x80
        assert HEAD <= len(answer) <= min(len(data), LONGEST) + RECORD
        found = int.from_bytes(answer[6:8], "big")
        assert answer[8:12] == bytes(4)
        question = answer[HEAD : len(answer) - RECORD * found]
        assert data[HEAD:].startswith(question)
        if found:
            address = ".".join(map(str, answer[-4:]))
            name = names.name_of(address)
            assert address == "127.0.0.1" or (name != address and canonical_host(name) == name)


def run(seconds: float, seed: int) -> int:
    seeds = [query("a.example"), query("b.c.example", 28), query("localhost"), query("x" * 63 + ".example")]
    return fuzz("dns_queries", check, seeds, seconds, seed, WORDS)
