"""The words of the window in the language of the person: the English text is the key.

What agents get, the history, digests and the terminal are English, whatever is chosen here. A language counts for a
whole process: it is chosen before the first text is asked for.
"""

from __future__ import annotations

import re
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gettext import GNUTranslations
    from pathlib import Path

ENGLISH = "en"
LARGEST = 8_000_000
"""Bytes of a catalogue; a larger one is not read."""
_PART = re.compile(r"\{([a-z_][a-z0-9_]*)\}")
_NAME = re.compile(r"[a-z]{2,3}(?:_[A-Z]{2})?")
"""What a language may be called, so that a name is never a path."""


class Translation:
    """One language: a compiled catalogue of GNU gettext, or English, which needs none."""

    def __init__(self, language: str = ENGLISH, folder: Path | None = None) -> None:
        self._catalogue = None if folder is None else _read(language, folder)
        self.language = language if self._catalogue else ENGLISH
        self._sound: dict[tuple[str, str], str] = {}
        """Translations that were looked at, by themselves and the English text."""

    def text(self, english: str, parts: dict[str, object]) -> str:
        """Return `english` in this language, with `parts` in the places of their names."""
        found = english
        if self._catalogue is not None and english:
            found = self._checked(english, self._catalogue.gettext(english), english)
        return _insert(found, parts)

    def count(self, one: str, many: str, count: int, parts: dict[str, object]) -> str:
        """Return the form of this language for `count`, which is the part `count` too, with separated thousands."""
        english = one if count == 1 else many
        found = english
        if self._catalogue is not None:
            with suppress(ArithmeticError):  # the rule that says which form it is comes from the catalogue
                found = self._checked(many, self._catalogue.ngettext(one, many, count), english)
        return _insert(found, {"count": numeral(count), **parts})

    def known(self, english: str) -> str:
        """Return the translation, with the names of its parts; empty where there is none."""
        found = english if self._catalogue is None or not english else self._catalogue.gettext(english)
        return "" if found == english else self._checked(english, found, "")

    def _checked(self, pattern: str, found: str, english: str) -> str:
        """Return `found` where it has the parts of `pattern`, and no other; else the `english` text."""
        if found == english or not found:
            return english
        if (kept := self._sound.get((pattern, found))) is None:
            fits = part_names(found) - {"count"} == part_names(pattern) - {"count"}
            kept = self._sound[pattern, found] = found if fits else ""
        return kept or english


def part_names(text: str) -> set[str]:
    """Return the names of the parts of a text: `{"name"}` for `Deny {name}`."""
    return set(_PART.findall(text))


def _insert(text: str, parts: dict[str, object]) -> str:
    """Return `text` with its parts, in one pass: what a part holds is never read as a name."""
    if not parts or "{" not in text:
        return text
    return _PART.sub(lambda found: format(parts[found[1]]) if found[1] in parts else found[0], text)


def _read(language: str, folder: Path) -> GNUTranslations | None:
    """Return the catalogue of a language; None for English, and where there is none that can be read."""
    if language == ENGLISH or not _NAME.fullmatch(language):
        return None
    from gettext import GNUTranslations

    file = folder / f"{language}.mo"
    try:
        if file.stat().st_size > LARGEST:
            return None
        with file.open("rb") as stream:
            return GNUTranslations(stream)
    except (OSError, ValueError, LookupError, EOFError, ArithmeticError, RecursionError, struct.error):
        return None


_now = Translation()


def choose(language: str, folder: Path) -> str:
    """Have this process speak `language`, whose catalogue is in `folder`; return what it speaks now.

    That is English where there is no catalogue, or one that cannot be read.
    """
    global _now
    _now = Translation(language, folder)
    return _now.language


def chosen() -> str:
    """Return the language of this process: `de`."""
    return _now.language


def available(folder: Path) -> tuple[str, ...]:
    """Return the languages that can be chosen, English first."""
    return (ENGLISH, *sorted(file.stem for file in folder.glob("*.mo") if _NAME.fullmatch(file.stem)))


def tr(text: str, /, **parts: object) -> str:
    """Return a text in the chosen language, with `parts` in place of their names: `tr("Deny {name}", name=name)`.

    The text is a literal, so that it gets into the catalogues. A translation without one of its parts, or with another,
    counts as none; so does a catalogue that is missing or broken.
    """
    return _now.text(text, parts)


def plural(one: str, many: str, count: int, /, **parts: object) -> str:
    """Return the text for a count: `plural("{count} line", "{count} lines", 3)`. A catalogue says which forms."""
    return _now.count(one, many, count, parts)


def translated(text: str, /, **parts: object) -> str:
    """Return a text that is no literal here in the chosen language, as it is where that does not have it.

    It is a `to_translate` one, or one that the engine speaks, such as the reason of a rule.
    """
    return _now.text(text, parts)


def known(text: str, /) -> str:
    """Return the translation of a text; empty where the chosen language has none, as English has."""
    return _now.known(text)


def to_translate(text: str, /) -> str:
    """Return a text as it is, for the catalogues to have it: a key, shown by `translated` where it comes on screen."""
    return text


def capital(text: str) -> str:
    """Return a text with a capital at its beginning, and the rest as it is: not every language writes nouns small."""
    return text[:1].upper() + text[1:]


def within(text: str) -> str:
    """Return a text that begins a line as it stands within one: English makes its first letter small.

    An abbreviation such as CPU keeps its letters.
    """
    return text if _now.language != ENGLISH or text[1:2].isupper() else text[:1].lower() + text[1:]


SAMPLE = "1,234.5"
"""A text of each catalogue: its translation shows what parts thousands and decimals, as `1.234,5`."""


def numeral(value: float, form: str = ",") -> str:
    """Return a number as the chosen language writes it, in a `form` of Python's: `1,204`, in German `1.204`."""
    text = format(value, form)
    if _now.language == ENGLISH:
        return text
    sample = translated(SAMPLE)
    return text.translate({ord(","): sample[1], ord("."): sample[-2]})
