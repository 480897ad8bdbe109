"""The settings to change in one configuration file, and its text with them set or taken back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from runner.clients import json_text, toml_text, whole_text, yaml_text
from runner.clients.entries import SERVER
from runner.clients.hook_protocol import HOOK_FAILED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


class Syntax(Protocol):
    """How values are changed in the text of a kind of file. Every function raises Unparsable."""

    EMPTY: str

    def read(self, text: str) -> dict[str, object]: ...

    def put(self, text: str, path: Sequence[str], value: object) -> str: ...

    def drop(self, text: str, path: Sequence[str]) -> str: ...

    def add(self, text: str, path: Sequence[str], item: object) -> str: ...

    def take(self, text: str, path: Sequence[str], index: int) -> str: ...


SYNTAXES: dict[str, Syntax] = {".json": json_text, ".toml": toml_text, ".yaml": yaml_text, ".js": whole_text}


@dataclass(frozen=True, slots=True)
class Edit:
    """One value that is set: the member at `path`, or with `listed` an item of the list there."""

    path: tuple[str, ...]
    value: object
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Made:
    """One value that was set, as it is remembered to be taken back."""

    path: tuple[str, ...]
    listed: bool
    sha256: str
    """Of the value, so that it need not be stored: it has a token."""
    containers: int
    """How many of the tables or lists around it were made for it."""


@dataclass(frozen=True, slots=True)
class FileEdits:
    """The edits of one file; they may depend on what is there."""

    path: Path
    edits: Callable[[dict[str, object]], Sequence[Edit]]
    private: bool = False
    """Whether a token is written into it."""

    @property
    def syntax(self) -> Syntax:
        return SYNTAXES[self.path.suffix]


def applied(syntax: Syntax, text: str, edits: Sequence[Edit]) -> tuple[str, tuple[Made, ...]]:
    """Return `text` with `edits`, and those that changed anything. Raises Unparsable."""
    made: list[Made] = []
    text = text if text.strip() else syntax.EMPTY
    for edit in edits:
        values = syntax.read(text)
        depth = _depth(values, edit.path)
        found = _at(values, edit.path) if depth == len(edit.path) else None
        wrapped = len(edit.path) - depth - (0 if edit.listed else 1)
        if edit.listed:
            index = _own_index(found, edit.value)
            if index >= 0 and isinstance(found, list):
                if found[index] == edit.value:
                    continue
                text = syntax.take(text, edit.path, index)
            text = syntax.add(text, edit.path, edit.value)
        elif depth == len(edit.path) and found == edit.value:
            continue
        else:
            text = syntax.put(text, edit.path, edit.value)
        made.append(Made(edit.path, edit.listed, digest(edit.value), max(0, wrapped)))
    return text, tuple(made)


def taken_back(syntax: Syntax, text: str, made: Sequence[Made]) -> str:
    """Return `text` without what was made: an item of a list only as it was written. Raises Unparsable."""
    for one in reversed(made):
        values = syntax.read(text)
        if _depth(values, one.path) < len(one.path):
            continue
        found = _at(values, one.path)
        if not one.listed:
            text = syntax.drop(text, one.path)
        elif isinstance(found, list):
            index = next((at for at, item in enumerate(found) if digest(item) == one.sha256 or is_hook(item)), -1)
            if index < 0:
                continue
            text = syntax.take(text, one.path, index)
        text = _without_empty(syntax, text, one)
    return text


def own_edits(values: dict[str, object], edits: Sequence[Edit]) -> tuple[Made, ...]:
    """Return those of `edits` of which `values` has a form that nobody else writes: the server, and the hook."""
    found = []
    for edit in edits:
        if _depth(values, edit.path) < len(edit.path):
            continue
        there = _at(values, edit.path)
        if edit.listed:
            items = there if isinstance(there, list) else []
            found += [Made(edit.path, True, digest(item), 0) for item in items if is_hook(item)]
        elif (isinstance(edit.value, dict) and edit.path[-1] == SERVER) or (is_hook(edit.value) and is_hook(there)):
            found.append(Made(edit.path, False, "", 0))
    return tuple(found)


def hooks_in(values: dict[str, object], edits: Sequence[Edit]) -> list[tuple[object, object]]:
    """Return each hook of ours that is there, with the one that `edits` would set in its place."""
    found: list[tuple[object, object]] = []
    for edit in edits:
        if is_hook(edit.value) and _depth(values, edit.path) == len(edit.path):
            there = _at(values, edit.path)
            found += [(one, edit.value) for one in (there if isinstance(there, list) else [there]) if is_hook(one)]
    return found


def digest(value: object) -> str:
    """Return the SHA-256 (hex) of a value as it is compared."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _without_empty(syntax: Syntax, text: str, one: Made) -> str:
    """Return `text` without the containers that were made for a value, where nothing is left in them."""
    around = one.path if one.listed else one.path[:-1]
    for count in range(one.containers):
        path = around[: len(around) - count]
        values = syntax.read(text)
        if not path or _depth(values, path) < len(path) or _at(values, path):
            break
        text = syntax.drop(text, path)
    return text


def _depth(values: object, path: Sequence[str]) -> int:
    """Return how many names of `path` are there."""
    for depth, key in enumerate(path):
        if not isinstance(values, dict) or key not in values:
            return depth
        values = values[key]
    return len(path)


def _at(values: object, path: Sequence[str]) -> object:
    for key in path:
        assert isinstance(values, dict)
        values = values[key]
    return values


def _own_index(items: object, value: object) -> int:
    """Return where a list has `value`, or another version of our hook; -1 where it has neither."""
    if not isinstance(items, list):
        return -1
    return next((at for at, item in enumerate(items) if item == value or (is_hook(value) and is_hook(item))), -1)


def is_hook(item: object) -> bool:
    """Return whether a value is a hook of ours: an item of a list, or the text of a plugin."""
    if isinstance(item, str):
        return HOOK_FAILED in item
    return isinstance(item, dict) and HOOK_FAILED in json.dumps(item, ensure_ascii=False, default=str)
