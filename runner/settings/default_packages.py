"""The packages that every new sandbox of a language starts with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.language_support import packages_of

if TYPE_CHECKING:
    from runner.model.request import Language
    from runner.settings.declared import Settings


def default_packages(language: Language | None, settings: Settings) -> tuple[str, ...]:
    """Return the packages that the settings give a sandbox for `language`; none for shell."""
    packages = packages_of(language)
    return () if packages is None else tuple(getattr(settings, packages.setting))
