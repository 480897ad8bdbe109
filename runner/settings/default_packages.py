"""The packages that every new sandbox of a language starts with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.request import Language

if TYPE_CHECKING:
    from runner.settings.declared import Settings


def default_packages(language: Language | None, settings: Settings) -> tuple[str, ...]:
    """Return the packages that the settings give a sandbox for `language`; none for shell."""
    match language:
        case Language.PYTHON:
            return settings.python_packages
        case Language.JAVASCRIPT:
            return settings.javascript_packages
        case _:
            return ()
