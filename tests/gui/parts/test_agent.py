"""The initials of agents, on the color of each."""

from __future__ import annotations

from app.look.tokens import DARK, LIGHT, contrast
from app.parts.agent import _INKS, initials


def test_the_letters_can_be_read_on_every_color() -> None:
    for light, dark in _INKS:
        assert contrast(light, LIGHT.on_accent) >= 4.5
        assert contrast(dark, DARK.on_accent) >= 4.5


def test_initials() -> None:
    assert [initials(name) for name in ("claude-code", "codex", "a", "x_y.z", "...", "")] == [
        "CC",
        "CO",
        "A",
        "XY",
        "",
        "",
    ]
