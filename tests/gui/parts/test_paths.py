"""Long paths in sentences are short enough to be read, and say where they lead."""

from __future__ import annotations

import pytest

from app.parts.paths import short_paths


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("No path / here, and/or none there", "No path / here, and/or none there"),
        ("In /home/me/notes.txt.", "In ~/notes.txt."),
        ("In /home/meadow/notes.txt.", "In /home/meadow/notes.txt."),
        (
            "(/home/me/.local/share/assent/ledger.sqlite3): full",
            "(~/\N{HORIZONTAL ELLIPSIS}/assent/ledger.sqlite3): full",
        ),
        ("/srv/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q", "/srv/\N{HORIZONTAL ELLIPSIS}/p/q"),
        ("/srv/" + "x" * 60 + " and /tmp/a", "/srv/" + "x" * 60 + " and /tmp/a"),
        ("Address http://127.0.0.1:17317/mcp is taken.", "Address http://127.0.0.1:17317/mcp is taken."),
        ("Line one\n/home/me/a\nend", "Line one\n~/a\nend"),
    ],
)
def test_a_path_keeps_its_beginning_and_its_end(text: str, shown: str) -> None:
    assert short_paths(text, "/home/me") == shown


def test_without_a_home_only_the_middle_goes() -> None:
    assert short_paths("/home/me/notes.txt", "/") == "/home/me/notes.txt"
    assert short_paths("/home/me/notes.txt", "") == "/home/me/notes.txt"
