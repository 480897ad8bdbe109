"""The colors of the two themes, and the measure by which they are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.model.assessment import Level


@dataclass(frozen=True, slots=True)
class Tokens:
    """Colors as `#rrggbb`. Every ink reads on every ground and tint with at least 4.5 to 1 (WCAG 2.1, 1.4.3 AA)."""

    background: str
    surface: str
    border: str
    edge: str
    """Outline of fields and boxes, at least 3 to 1 on the surface (WCAG 2.1, 1.4.11)."""
    hover: str
    text: str
    muted: str
    disabled: str
    accent: str
    """Fills and strokes."""
    accent_ink: str
    """The accent as text."""
    on_accent: str
    """Text on an accent fill."""
    selection: str
    bar: str
    """Behind a number, as long as it is large."""
    neutral: str
    """Of a request in which nothing was found."""
    low: str
    medium: str
    high: str
    critical: str
    neutral_tint: str
    low_tint: str
    medium_tint: str
    high_tint: str
    critical_tint: str
    code: str
    gutter: str
    keyword: str
    string: str
    comment: str
    number: str
    function: str
    builtin: str
    teal: str
    """Of output alone: the cyan of terminals, which is no color of code."""

    def ink(self, level: Level | None) -> str:
        """Return the color of text and marks for `level`; None where nothing was found."""
        return (self.neutral, self.low, self.medium, self.high, self.critical)[level or 0]

    def tint(self, level: Level | None) -> str:
        """Return the ground behind text about `level`; None where nothing was found."""
        return (self.neutral_tint, self.low_tint, self.medium_tint, self.high_tint, self.critical_tint)[level or 0]


LIGHT = Tokens(
    background="#f6f7f9",
    surface="#ffffff",
    border="#dfe3e8",
    edge="#868f9c",
    hover="#eef1f5",
    text="#1d2129",
    muted="#5f6877",
    disabled="#9aa2ae",
    accent="#2f6fed",
    accent_ink="#2861cf",
    on_accent="#ffffff",
    selection="#e8f0fe",
    bar="#cfdffc",
    neutral="#4a655a",
    low="#177545",
    medium="#955900",
    high="#c12e2a",
    critical="#8f1d8a",
    neutral_tint="#eef3f0",
    low_tint="#e3f4ea",
    medium_tint="#fdf0dc",
    high_tint="#fde7e6",
    critical_tint="#f6e4f5",
    code="#fbfbfc",
    gutter="#f1f3f5",
    keyword="#c9202c",
    string="#0a774b",
    comment="#606871",
    number="#0550ae",
    function="#6f42c1",
    builtin="#953800",
    teal="#0e7490",
)

DARK = Tokens(
    background="#16181d",
    surface="#1c1f26",
    border="#2e333d",
    edge="#6c7686",
    hover="#262b34",
    text="#e4e7ec",
    muted="#9aa3b2",
    disabled="#616a79",
    accent="#6ea0ff",
    accent_ink="#6ea0ff",
    on_accent="#10131a",
    selection="#25324d",
    bar="#2c4370",
    neutral="#9fb9ac",
    low="#5fcf95",
    medium="#f0b35a",
    high="#ff7b72",
    critical="#e08bdc",
    neutral_tint="#20282a",
    low_tint="#17352a",
    medium_tint="#3a2d16",
    high_tint="#41201f",
    critical_tint="#3a1f3a",
    code="#181b21",
    gutter="#1d2128",
    keyword="#ff7b9c",
    string="#8fd39e",
    comment="#959ca8",
    number="#79c0ff",
    function="#c9a6ff",
    builtin="#ffb37a",
    teal="#67e8f9",
)


def legible(ink: str, ground: str, towards: str, least: float) -> str:
    """Return `ink` as `#rrggbb`, moved towards another color until it stands apart from `ground` by `least` to 1."""
    parts = [[int(color[at : at + 2], 16) for at in (1, 3, 5)] for color in (ink, towards)]
    for step in range(_STEPS):
        share = step / _STEPS
        mixed = "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(*parts, strict=True))
        if contrast(mixed, ground) >= least:
            return mixed
    return towards


_STEPS = 16


def contrast(one: str, other: str) -> float:
    """Return how well two `#rrggbb` colors stand apart, from 1 to 21 (WCAG 2.1, *contrast ratio*)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    red, green, blue = (_linear(int(color[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)
