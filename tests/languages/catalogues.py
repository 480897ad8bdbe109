"""The catalogues: read, brought up to date with the texts of the window, written and compiled."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from tests.languages.texts import ROOT, texts

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "resources/languages"
WIDTH = 110
_NEVER = datetime(2026, 1, 1, tzinfo=UTC)
"""Instead of the moment of writing: what has not changed is written as it was."""


def begun(language: str) -> Catalog:
    """Return the catalogue of a language without any text."""
    return Catalog(language, project="Assent", fuzzy=False, creation_date=_NEVER, revision_date=_NEVER)


def catalogue(file: Path) -> Catalog:
    """Return a catalogue as it was written."""
    with file.open("rb") as stream:
        return read_po(stream, locale=file.stem, abort_invalid=True)


def brought_up_to_date(old: Catalog) -> Catalog:
    """Return the catalogue with every text of the window and no other, translated as far as `old` has them."""
    made = begun(str(old.locale))
    for (one, several), places in sorted(texts().items()):
        before = old.get(one)
        same = before is not None and (before.id[1] if isinstance(before.id, tuple) else "") == several
        said = before.string if before is not None and same else None
        made.add((one, several) if several else one, said, [(place, 0) for place in sorted(places)])
    return made


def write(made: Catalog, file: Path) -> None:
    """Write a catalogue, and beside it what the window reads."""
    with file.open("wb") as stream:
        write_po(stream, made, width=WIDTH, sort_output=True, include_lineno=False)
    with file.with_suffix(".mo").open("wb") as stream:
        write_mo(stream, made)
