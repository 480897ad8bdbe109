"""What is printed on a terminal cannot command it."""

from __future__ import annotations

import pytest

from runner.terminal import visible


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\u202e", "\r", "\x9b1m", "\u200b"])
def test_nothing_a_terminal_obeys_or_hides_gets_through(hostile: str) -> None:
    shown = visible(f"a{hostile}b")
    assert hostile[0] not in shown
    assert f"\\u{{{ord(hostile[0]):x}}}" in shown


def test_ordinary_text_stays() -> None:
    assert visible("größe\tπ\n") == "größe\tπ\n"
