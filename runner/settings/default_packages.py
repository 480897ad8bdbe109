"""The packages that every new sandbox of a language starts with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.language_support import LANGUAGES

if TYPE_CHECKING:
    from runner.model.request import Language
    from runner.settings.declared import Settings


def default_packages(language: Language | None, settings: Settings) -> tuple[str, ...]:
    """Return the packages that the settings give a sandbox for `language`; none for shell."""
    name = "" if language is None else LANGUAGES[language].packages
    return tuple(getattr(settings, name)) if name else ()
