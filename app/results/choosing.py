"""The choice of a run's files for cards: which, in which order, and what is said of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.files.kinds import JSON, LANGUAGES, PAGES, PICTURES, TABLES, TEXTS, VECTORS, ending
from runner.model.translation import numeral, plural, tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runner.model.result import CapturedFile

MOST_CARDS = 12
MOST_BYTES = 8 << 20
"""Of a file that is read for a card. Those that are larger stand under Files."""
DRAWN = (*PICTURES, *VECTORS, *TABLES, *JSON, *PAGES)


@dataclass(frozen=True, slots=True)
class ChosenFiles:
    shown: tuple[CapturedFile, ...]
    """In the order in which they were changed last; those of an unknown time at the end."""
    others: int
    too_large: int
    """How many of the others are of a kind that is drawn, and have more than `MOST_BYTES`."""

    @property
    def said(self) -> str:
        """What is not shown, in words; empty where all is."""
        if not self.others:
            return ""
        large = (
            tr(", {too_large} of them too large to draw here", too_large=numeral(self.too_large))
            if self.too_large
            else ""
        )
        return plural(
            "{count} more file under Files{large}", "{count} more files under Files{large}", self.others, large=large
        )


def choose(files: Iterable[CapturedFile]) -> ChosenFiles:
    """Return which of `files` are shown: what is drawn goes before what is only text."""
    drawn: list[CapturedFile] = []
    texts: list[CapturedFile] = []
    count = too_large = 0
    for file in files:
        count += 1
        kind = ending(file.path)
        if kind not in DRAWN and kind not in TEXTS and kind not in LANGUAGES:
            continue
        if file.size > MOST_BYTES:
            too_large += 1
        elif file.size:
            (drawn if kind in DRAWN else texts).append(file)
    wanted = [*drawn[:MOST_CARDS], *texts[: max(0, MOST_CARDS - len(drawn))]]
    wanted.sort(key=lambda file: (file.at is None, file.at or 0.0))
    return ChosenFiles(tuple(wanted), count - len(wanted), too_large)


def thumbnail_of(files: Iterable[CapturedFile]) -> CapturedFile | None:
    """Return the file that stands for all of them in a list: the picture that was changed last."""
    pictures = [file for file in files if ending(file.path) in (*PICTURES, *VECTORS) and 0 < file.size <= MOST_BYTES]
    return max(pictures, key=lambda file: file.at or 0.0, default=None)
