"""The start of code whose language is known by values alone: texts for Bash, the same in every sandbox."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.model.language_support import LANGUAGES, Toolchain

if TYPE_CHECKING:
    from runner.model.request import Language

VERSION = re.compile(r"[0-9]{1,4}\.[0-9]{1,5}(?:\.[0-9]{1,5})?")
CACHE = "/usr/lib/assent/cache"
"""Folder of an image with what was compiled ahead."""


def of(language: Language) -> Toolchain:
    """Return how a language is started that has no part of the program to itself. Raises KeyError for another one."""
    toolchain = LANGUAGES[language].toolchain
    if toolchain is None:
        raise KeyError(language)
    return toolchain


def version(said: str) -> str:
    """Return the version in what a program says of itself; '' where there is none."""
    found = VERSION.search(said)
    return "" if found is None else found[0]
