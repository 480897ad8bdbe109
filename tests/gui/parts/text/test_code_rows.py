"""Code in rows: lines break between words and go on further in, and the end of the text is no line of its own."""

from __future__ import annotations

import pytest

from app.parts.text.code_tools import as_markdown, path_at
from app.parts.text.listing import HANG, CodeLayout, CodeListing
from app.parts.text.visible_characters import expose, segments
from tests.gui import feed


def rows(text: str, width: int, hang: int = 0) -> list[str]:
    return [expose(text).text[start:end] for start, end in segments(expose(text), width, hang)]


@pytest.mark.parametrize(
    ("text", "width", "wanted"),
    [
        ("process.version and more", 16, ["process.version ", "and more"]),
        ("process.version", 10, ["process.", "version"]),
        ("x" * 25, 10, ["x" * 10, "x" * 10, "x" * 5]),
        ("short", 10, ["short"]),
        ("", 10, [""]),
        ("a b c d e f", 4, ["a b ", "c d ", "e f"]),
        ("\u4e00" * 5, 4, ["\u4e00\u4e00", "\u4e00\u4e00", "\u4e00"]),
    ],
)
def test_lines_break_between_words_and_lose_nothing(text: str, width: int, wanted: list[str]) -> None:
    assert rows(text, width) == wanted


@pytest.mark.parametrize("text", ["a" * 300, "word " * 80, "\u202e" * 40, "x\u0301" * 90, "(" * 77 + "\u4e00 b" * 30])
@pytest.mark.parametrize("width", [1, 7, 20])
def test_whatever_the_text_its_rows_are_all_of_it_and_none_is_too_wide(text: str, width: int) -> None:
    shown = expose(text)
    pieces = segments(shown, width, 3)
    assert [start for start, _ in pieces] == [0, *(end for _, end in pieces[:-1])]
    assert pieces[-1][1] == len(shown.text)
    assert all(end - start <= max(width, 1) or not shown.text.isascii() for start, end in pieces)


def test_no_row_begins_within_an_escape_that_has_room_in_one() -> None:
    shown = expose("name = '\u202e \u2066 \u2069 \u202e'")
    cuts = {start for start, _ in segments(shown, 14)}
    assert not any(begin < cut < end for begin, end in shown.escapes for cut in cuts)


def test_the_next_rows_of_a_line_stand_further_in_and_have_that_much_less() -> None:
    listing = CodeListing("    call(" + "argument, " * 12 + ")", "python", ())
    layout = CodeLayout(listing, 40, lambda cells: 0.0, lambda text: 0.0)
    assert layout.hang(0) == 4 + HANG
    first, *others = layout.pieces(0)
    assert first[1] - first[0] <= 40 and all(end - start <= 40 - layout.hang(0) for start, end in others)
    assert CodeLayout(listing, 9, lambda cells: 0.0, lambda text: 0.0).hang(0) == 3, "however far in a line begins"


@pytest.mark.parametrize(
    ("code", "lines"), [("a\nb\n", 2), ("a\nb", 2), ("a\n\n", 2), ("\n", 1), ("", 1), ("a\r\nb\r\n", 2)]
)
def test_the_line_break_at_the_end_begins_no_line(code: str, lines: int) -> None:
    assert len(CodeListing(code, "python", ()).lines) == lines


def test_a_line_as_markdown_stays_within_its_fence() -> None:
    text = as_markdown(4, "print('```')  # ````", "python", (feed.finding(5, "Prints."),))
    assert text == "About line 5 of your code:\n- High: Prints.\n\n`````python\nprint('```')  # ````\n`````\n"


def test_what_looks_like_a_path_is_offered_whole() -> None:
    line = "shutil.rmtree('/home/me/old files') or open(\"data/in.csv\")"
    assert path_at(line, line.index("home")) == "/home/me/old"
    assert path_at(line, line.index("in.csv")) == "data/in.csv"
    assert path_at(line, 2) == ""
