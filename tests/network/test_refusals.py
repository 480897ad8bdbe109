"""The words for a program whose connection does not go through."""

from __future__ import annotations

import pytest

from runner.network.refusals import UNRECOGNIZED_NAME, Blocked, http_answer, reason, tls_answer, unreachable


def test_the_sentence_names_host_and_port() -> None:
    assert reason(Blocked(), "a.example", 443) == "Blocked by Assent: a.example:443 is not allowed for this sandbox"
    assert reason(Blocked(), "::1", 80) == "Blocked by Assent: [::1]:80 is not allowed for this sandbox"
    assert reason(unreachable("has no address"), "a.example", 443) == "Assent: a.example:443 has no address"


@pytest.mark.parametrize("text", ["a\r\nSet-Cookie: x", "a\n\nbody", "\0", "é\u202e"])
def test_nothing_from_inside_or_outside_makes_a_header_of_its_own(text: str) -> None:
    head = http_answer(unreachable(text), "a.example", 443).partition(b"\r\n\r\n")[0]
    names = [line.partition(b":")[0] for line in head.split(b"\r\n")[1:]]
    assert names == [b"Content-Type", b"Content-Length", b"Connection"]
    assert head.isascii() and b"\0" not in head


def test_the_address_is_not_for_the_code() -> None:
    blocked = Blocked("leads to a private address", address="10.1.2.3")
    assert b"10.1.2.3" not in http_answer(blocked, "a.example", 443)


def test_an_alert_is_a_record_of_its_own() -> None:
    assert tls_answer(Blocked()) == b"\x15\x03\x03\x00\x02\x02\x31"
    assert tls_answer(Blocked(alert=UNRECOGNIZED_NAME))[-1] == 112
