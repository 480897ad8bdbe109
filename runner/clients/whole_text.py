"""A file that is ours as a whole, such as a plugin: its one value is its text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EMPTY = ""
"""A file without any setting."""
PATH = ("text",)


def read(text: str) -> dict[str, object]:
    """Return the values of a file."""
    return {PATH[0]: text} if text.strip() else {}


def put(_text: str, _path: Sequence[str], value: object) -> str:
    return str(value)


def drop(_text: str, _path: Sequence[str]) -> str:
    return EMPTY


def add(_text: str, _path: Sequence[str], _item: object) -> str:
    raise TypeError("such a file has no lists")


take = add
