"""Every pair of ink and ground that the style sheet and the painters use, measured in both themes (WCAG 2.1 AA)."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING

import pytest

from app.look.tokens import DARK, LIGHT, Tokens, contrast
from app.parts import agent
from runner.system.places import resources

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT, SHAPE = 4.5, 3.0
LEVELS = ("neutral", "low", "medium", "high", "critical")
TINTS = tuple(f"{level}_tint" for level in LEVELS)
GROUNDS = ("background", "surface")
ROWS = ("surface", "hover", "selection")
"""What a line of a list stands on: at rest, under the pointer, chosen."""
CODE_INKS = ("text", "keyword", "string", "comment", "number", "function", "builtin")

PAINTED: dict[str, tuple[tuple[str, ...], tuple[str, ...], float]] = {
    "titles in lists": (("text",), ROWS, TEXT),
    "small print in lists": (("muted",), ROWS, TEXT),
    "what became of it": ((*LEVELS, "accent_ink"), ROWS, TEXT),
    "numbers over their bars": (("text",), ("bar", "high_tint"), TEXT),
    "countdowns": (("muted", "high"), ROWS, TEXT),
    "rings and bars": (("accent", *LEVELS), ROWS, SHAPE),
    "frame of what is selected": (("accent",), ROWS, SHAPE),
    "code": (CODE_INKS, ("code", *TINTS, "selection"), TEXT),
    "line numbers": (("muted", "text"), ("gutter",), TEXT),
    "remarks below": (LEVELS, ("code",), TEXT),
    "escapes": (("surface",), ("critical",), TEXT),
    "changes": (("muted", "text", "high", "low"), ("code", "surface"), TEXT),
    "chips and the link of the verdict": (("low", "medium", "muted", "accent_ink"), TINTS, TEXT),
    "counts on the rail": (("on_accent",), ("accent", *LEVELS), TEXT),
    "terminal colors": (("teal",), ("code",), TEXT),
    "output": (("text", "muted"), ("code", "selection", "medium_tint"), TEXT),
    "bar of standard error": (("high",), ("code",), SHAPE),
    "curves": (("accent", "medium", "high"), ("surface",), SHAPE),
    "ring of the focus": (("accent",), ("background", "surface", "code", "gutter"), SHAPE),
    "icons": (("muted", "high", "accent_ink"), (*GROUNDS, "hover", "selection"), SHAPE),
    "words of the held button": (("on_accent",), ("accent", "critical"), TEXT),
}
"""Inks, grounds and the least contrast, by what paints them."""


@pytest.fixture(params=[LIGHT, DARK], ids=["light", "dark"])
def tokens(request: pytest.FixtureRequest) -> Tokens:
    theme: Tokens = request.param
    return theme


def weak(tokens: Tokens, inks: tuple[str, ...], grounds: tuple[str, ...], least: float) -> list[str]:
    pairs = (
        (ink, ground, contrast(getattr(tokens, ink), getattr(tokens, ground))) for ink, ground in product(inks, grounds)
    )
    return [f"{ink} on {ground}: {found:.2f}" for ink, ground, found in pairs if found < least]


@pytest.mark.parametrize("what", PAINTED)
def test_what_is_painted_can_be_read(tokens: Tokens, what: str) -> None:
    assert weak(tokens, *PAINTED[what]) == []


def test_levels_read_on_their_own_tints(tokens: Tokens) -> None:
    for level in LEVELS:
        assert weak(tokens, (level, "text"), (f"{level}_tint",), TEXT) == []


def test_dots_of_agents_stand_out(tokens: Tokens) -> None:
    for inks in agent._INKS:
        ink = inks[tokens is DARK]
        assert all(contrast(ink, getattr(tokens, ground)) >= SHAPE for ground in ROWS), ink


def rules() -> Iterator[tuple[str, dict[str, str]]]:
    """Selectors of the style sheet with what they set."""
    text = re.sub(r"/\*.*?\*/", "", (resources() / "themes" / "assent.qss").read_text("utf-8"), flags=re.S)
    for selector, body in re.findall(r"([^{}]+)\{([^}]*)\}", text):
        pairs = (part.split(":", 1) for part in body.split(";") if ":" in part)
        yield " ".join(selector.split()), {name.strip(): value.strip() for name, value in pairs}


def token(value: str) -> str:
    found = re.search(r"@(\w+)", value)
    return found[1] if found and hasattr(LIGHT, found[1]) else ""


def test_text_of_the_style_sheet_can_be_read(tokens: Tokens) -> None:
    wrong, seen = [], 0
    for selector, body in rules():
        ink, ground = token(body.get("color", "")), token(body.get("background", ""))
        # What cannot be used is exempt (1.4.3).
        if ink and ":disabled" not in selector:
            seen += 1
            wrong += [f"{selector}: {one}" for one in weak(tokens, (ink,), (ground,) if ground else GROUNDS, TEXT)]
    assert wrong == []
    assert seen > 20


CONTROLS = re.compile(
    r"QPushButton|QToolButton|QLineEdit|QPlainTextEdit|QSpinBox|QComboBox|QDateEdit|::indicator|:focus"
)
POPUP = "QAbstractItemView"


def test_borders_of_controls_and_of_the_focus_stand_out(tokens: Tokens) -> None:
    wrong, seen = [], 0
    for selector, body in rules():
        if not CONTROLS.search(selector) or ":disabled" in selector or POPUP in selector:
            continue
        for name in ("border", "border-color"):
            if ink := token(body.get(name, "")):
                seen += 1
                wrong += [f"{selector}: {one}" for one in weak(tokens, (ink,), GROUNDS, SHAPE)]
    assert wrong == []
    assert seen > 15
