"""Tricks that make code look different from what it is."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.risk.model.lines import Lines
from runner.risk.rules.trojan_source import tricks


@pytest.mark.parametrize(
    ("code", "trick"),
    [
        ('if role != "user\u202e \u2066// only admins\u2069 \u2066":\n    grant()', "text.bidi"),
        ("total\u200b = 1", "text.invisible"),
        ("na\u200dme = 1", "text.joiner"),
        ("print('x')\x1b[2K\x1b[1A", "text.terminal"),
        ("x = 1 # note\rimport os", "text.line-break"),
        ("\u0430dmin = True", "text.look-alike"),
        ("\U0001d41e\U0001d431\U0001d41e\U0001d41c('1')", "text.styled"),
        ("import math" + " " * 160 + ";import os", "text.padding"),
        ("a = 1\n" + "\n" * 80 + "b = 2", "text.empty-lines"),
        ("x = '\udcff'", "text.surrogate"),
    ],
)
def test_a_trick_is_found(code: str, trick: str) -> None:
    assert trick in {finding.id for finding in tricks(Lines(code))}


@pytest.mark.parametrize(
    "code",
    [
        "print('\U0001f468\u200d\U0001f469\u200d\U0001f467 family')",
        "ΔT = 3\nλ = 2",
        "print('привет, мир')",
        "# naïve café 東京\nx = 1\r\ny = 2\r\n",
        "x = 1" + " " * 160 + "# a comment far to the right",
        "table = [\n" + "\n" * 20 + "]",
        "print('\\x1b[31mred\\x1b[0m')",
    ],
)
def test_ordinary_text_raises_nothing(code: str) -> None:
    assert list(tricks(Lines(code))) == []


def test_a_finding_says_where_and_names_the_character() -> None:
    (finding,) = tricks(Lines("a = 1\nb\u200b = 2"))
    assert (finding.span.line, finding.span.column, finding.span.end_column) == (2, 1, 2)
    assert finding.evidence == "<U+200B ZERO WIDTH SPACE>"
    assert finding.level is Level.CRITICAL
