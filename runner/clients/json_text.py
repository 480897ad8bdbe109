"""Changes single values of a JSON file in its text: all else, comments included, stays as it is to the byte."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from runner.clients.json_tree import JsonTree, Unparsable, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

EMPTY = "{}\n"
"""A file without any setting."""
INDENTED = re.compile(r"\n([ \t]+)[^ \t\r\n]")


def read(text: str) -> dict[str, object]:
    """Return the values of a file. Raises Unparsable."""
    data = parse(text).data
    if not isinstance(data, dict):
        raise Unparsable("line 1: an object is expected.")
    return data


def put(text: str, path: Sequence[str], value: object) -> str:
    """Return `text` with the member at `path` set to `value`; objects on the way are made. Raises Unparsable."""
    tree, left = _walk(parse(text), path)
    if not left:
        return text[: tree.start] + _written(text, value, _indent(text, tree.start)) + text[tree.end :]
    if not isinstance(tree.data, dict):
        raise Unparsable(f"{'.'.join(path[: len(path) - len(left)]) or 'it'} is not an object.")
    for key in reversed(left[1:]):
        value = {key: value}
    return _insert(text, tree, left[0], value)


def drop(text: str, path: Sequence[str]) -> str:
    """Return `text` without the member at `path`; unchanged where there is none. Raises Unparsable."""
    tree, left = _walk(parse(text), path[:-1])
    if left:
        return text
    at = next((number for number, entry in enumerate(tree.entries) if entry.key == path[-1]), -1)
    return text if at < 0 else _cut(text, tree, at)


def add(text: str, path: Sequence[str], item: object) -> str:
    """Return `text` with `item` at the end of the list at `path`, which is made. Raises Unparsable."""
    tree, left = _walk(parse(text), path)
    if left:
        return put(text, path, [item])
    if not isinstance(tree.data, list):
        raise Unparsable(f"{'.'.join(path)} is not a list.")
    if not tree.entries:
        return put(text, path, [item])
    last = tree.entries[-1]
    apart = "\n" in text[tree.start : last.start]
    indent = _indent(text, last.start)
    gap = _newline(text) + indent if apart else " "
    written = _written(text, item, indent, single=not apart)
    return text[: last.value.end] + "," + gap + written + text[last.value.end :]


def take(text: str, path: Sequence[str], index: int) -> str:
    """Return `text` without one item of the list at `path`. Raises Unparsable."""
    tree, left = _walk(parse(text), path)
    return text if left or not 0 <= index < len(tree.entries) else _cut(text, tree, index)


def _walk(tree: JsonTree, path: Sequence[str]) -> tuple[JsonTree, list[str]]:
    """Return the deepest value on `path` that is there, and the rest of the path."""
    left = list(path)
    while left and (entry := tree.entry(left[0])) is not None:
        tree, left = entry.value, left[1:]
    return tree, left


def _insert(text: str, tree: JsonTree, key: str, value: object) -> str:
    """Return `text` with a new first member, which needs nothing of what is there to change."""
    outer = _indent(text, tree.start)
    name = json.dumps(key, ensure_ascii=False)
    inside = text[tree.start + 1 : tree.end - 1]
    if "\n" not in text[tree.start : tree.entries[0].start] if tree.entries else _is_single(text):
        member = f"{name}: {_written(text, value, '', single=True)}" + ("," if tree.entries else "")
        return text[: tree.start + 1] + member + text[tree.start + 1 :]
    indent = _indent(text, tree.entries[0].start) if tree.entries else outer + _unit(text)
    newline = _newline(text)
    member = f"{newline}{indent}{name}: {_written(text, value, indent)}"
    if tree.entries:
        member += ","
    elif "\n" not in inside:
        member += newline + outer
    return text[: tree.start + 1] + member + text[tree.start + 1 :]


def _cut(text: str, tree: JsonTree, at: int) -> str:
    """Return `text` without one entry and the comma that belongs to it."""
    entry = tree.entries[at]
    before = tree.entries[at - 1].comma + 1 if at else tree.start + 1
    # A comment between the comma before and this entry is about it, or about the one before: it stays.
    begin = before if not text[before : entry.start].strip() else entry.start
    if entry.comma >= 0:
        return text[:begin] + text[entry.comma + 1 :]
    rest = text[entry.value.end : tree.end - 1]
    if at:
        comma = tree.entries[at - 1].comma
        return text[:comma] + text[comma + 1 : begin] + text[entry.value.end :]
    if begin == before and not rest.strip():
        return text[:begin] + text[tree.end - 1 :]
    return text[:begin] + rest + text[tree.end - 1 :]


def _written(text: str, value: object, indent: str, *, single: bool = False) -> str:
    """Return `value` as JSON in the style of `text`; lines after the first begin with `indent`."""
    if single or _is_single(text):
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return (_newline(text) + indent).join(lines)


def _is_single(text: str) -> bool:
    """Return whether all values of a file are on one line."""
    return "\n" not in text.strip() and len(text.strip()) > len("{}")


def _indent(text: str, at: int) -> str:
    """Return the space at the beginning of the line that `at` is in."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    found = INDENTED.search(text)
    return found[1] if found else "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
