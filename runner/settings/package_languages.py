"""Loads the languages of installed packages that the settings name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.settings.declared import PREFIX
from runner.system import language_packages

if TYPE_CHECKING:
    from runner.settings.loading import Loaded


def with_languages(loaded: Loaded) -> Loaded:
    """Load the languages of packages that the settings name. Returns the settings without those that cannot be loaded.

    Each of these is a problem of the settings. Blocks while packages are imported, once in each process.
    """
    kept: list[str] = []
    problems: list[str] = []
    for name in loaded.settings.supported_languages:
        try:
            if name.startswith(PREFIX):
                language_packages.load(name.removeprefix(PREFIX))
        except KnownError as error:
            problems.append(f"{error.what} {error.remedy}".strip())
        else:
            kept.append(name)
    if not problems:
        return loaded
    settings = replace(loaded.settings, supported_languages=tuple(kept))
    return replace(loaded, settings=settings, problems=(*loaded.problems, *problems))
