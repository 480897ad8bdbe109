"""One code for several requests that are alike: what differs has a number, and stands in a row of values elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.parts.text.code_painting import MarkedPlace

if TYPE_CHECKING:
    from app.parts.text.code import CodeView
    from runner.approval.pattern import CodePattern


def circled(number: int) -> str:
    """Return the sign of a value that differs, up to 20."""
    return chr(ord("\N{CIRCLED DIGIT ONE}") + number - 1)


def marked(found: CodePattern, down: int = 0) -> list[MarkedPlace]:
    """Return the places of what differs, `down` lines further down than in the code."""
    return [
        MarkedPlace(place.line - 1 + down, place.start, place.end, circled(number)) for place, number in found.places
    ]


def show_alike(view: CodeView, code: str, language: str, found: CodePattern) -> None:
    """Show `code`, of which `found` says what differs, once."""
    view.set_code(code, language)
    view.annotate([str(number) for number in range(1, view.line_count + 1)], marked(found))
