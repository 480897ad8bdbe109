"""The drawings of icons and the style sheet, each read once: an update may replace or remove the files meanwhile."""

from __future__ import annotations

from functools import cache

from runner.system.places import resources


@cache
def drawing(name: str) -> str:
    """Return the icon `name` as SVG. Raises FileNotFoundError for a name without a drawing."""
    return (resources() / "icons" / f"{name}.svg").read_text("utf-8")


@cache
def sheet() -> str:
    """Return the style sheet, in which names of colours and sizes are still to be put in."""
    return (resources() / "themes" / "assent.qss").read_text("utf-8")


def read_all() -> None:
    """Read whatever could be wanted later."""
    sheet()
    for file in (resources() / "icons").glob("*.svg"):
        drawing(file.stem)
