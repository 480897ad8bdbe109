"""What a run prints is drawn with bounded work, and with every character of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QPainter, QPixmap

from app.parts.text import output_painting
from app.parts.text.ansi import MOST_CHANGES, parse, text_alone
from app.parts.text.glyphs import Glyphs
from app.parts.text.matches import Matches
from app.parts.text.output_painting import MOST_STYLED, OutputPainting
from app.parts.text.scrollback import OutputLine
from app.parts.text.selection import TextSelection
from runner.sandbox.output import Stream

if TYPE_CHECKING:
    from app.look.look import Look

PARTS = ("a", "\x1b[31m", "\x1b[38;2;1;2;3m", "\x1b[0m", "\x1b[2J", "\x1b]0;t\x07", "\r", "\x08", "\x1b", "\u202e")


@given(st.lists(st.sampled_from(PARTS), max_size=40))
def test_the_text_alone_is_that_beside_the_colors(parts: list[str]) -> None:
    line = "".join(parts)
    assert text_alone(line) == parse(line)[0]
    many = "\x1b[31m#\x1b[32m" * MOST_CHANGES + line
    assert text_alone(many) == parse(many)[0]


def test_changes_of_color_beyond_the_bound_cost_no_character() -> None:
    text, stretches = parse("".join(f"\x1b[3{number % 7 + 1}m{number % 10}" for number in range(3 * MOST_CHANGES)))
    assert text == "".join(str(number % 10) for number in range(3 * MOST_CHANGES))
    assert len(stretches) == MOST_CHANGES


@pytest.mark.parametrize("part", ["\x1b[31ma", "a\u202e"])
def test_a_look_at_colors_or_escapes_everywhere_lays_out_a_bounded_number(
    look: Look, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """A screen of them took half a second, at every look at a run that printed more."""
    styled: list[int] = []
    drawn: list[str] = []

    def made(text: str, font: Any, styles: Any) -> Glyphs:
        styled.append(len(styles))
        drawn.append(text)
        return Glyphs(text, font, styles)

    monkeypatch.setattr(output_painting, "Glyphs", made)
    painting = OutputPainting(look, TextSelection(), Matches())
    lines = [OutputLine(Stream.OUT, f"{number} {part * 250}".encode(), 0) for number in range(40)]
    canvas = QPixmap(400, 400)
    painter = QPainter(canvas)
    painting.draw(painter, 0, lines, 0)
    painting.draw(painter, 0, lines, 0)
    painter.end()
    assert 0.9 * MOST_STYLED < sum(styled) <= MOST_STYLED
    assert len(drawn) == len(lines)
    assert all(text.count("a") == 250 for text in drawn)
