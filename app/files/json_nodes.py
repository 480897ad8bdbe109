"""A value of JSON as a tree of bounded size, each of whose lines shows every character."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from app.files.found import MOST_NODES, JsonNode, JsonRows
from app.parts.text.visible_characters import expose
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST = 200
"""Characters of a name or a value."""
DEEPEST = 30
"""Levels that are shown; what lies deeper is a number."""


class JsonNumber(str):
    """A number as it was written."""

    __slots__ = ()


class JsonPairs(list[tuple[str, object]]):
    """An object with its names in their order, also those that come twice."""


def read(text: str) -> object:
    """Return the value of `text`, in which nothing is altered. Raises ValueError, RecursionError."""
    found: object = json.loads(
        text, parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=JsonNumber, object_pairs_hook=JsonPairs
    )
    return found


def tree(value: object) -> JsonRows:
    """Return `value` as rows."""
    nodes: list[JsonNode] = []
    whole = True
    for node in _nodes(value):
        if len(nodes) == MOST_NODES:
            whole = False
            break
        nodes.append(node)
    return JsonRows(
        tuple(nodes),
        _extent(value) if whole else plural("The first {count} value", "The first {count} values", MOST_NODES),
    )


def _extent(value: object) -> str:
    if isinstance(value, JsonPairs | dict):
        return plural("{count} name", "{count} names", len(value))
    return plural("{count} item", "{count} items", len(value)) if isinstance(value, list | tuple) else tr("1 value")


def _nodes(value: object) -> Iterator[JsonNode]:
    """Without recursion: a value may be nested as deep as its reader lets it be."""
    yield _node(0, "", value)
    waiting = [_inside(value)]
    while waiting:
        for name, one in waiting[-1]:
            depth = len(waiting)
            yield _node(depth, name, one)
            if depth < DEEPEST and isinstance(one, list | tuple | dict) and one:
                waiting.append(_inside(one))
                break
        else:
            waiting.pop()


def _inside(value: object) -> Iterator[tuple[str, object]]:
    pairs: Iterable[tuple[str, object]]
    if isinstance(value, JsonPairs):
        pairs = value
    elif isinstance(value, dict):
        pairs = ((str(name), one) for name, one in value.items())
    elif isinstance(value, list | tuple):
        pairs = ((f"{number}", one) for number, one in enumerate(value))
    else:
        pairs = ()
    return iter(pairs)


def _node(depth: int, name: str, value: object) -> JsonNode:
    words, kind = _value(value)
    return JsonNode(depth, f"{_cut(name)}: {words}" if depth else words, kind)


def _value(value: object) -> tuple[str, str]:
    if isinstance(value, JsonNumber):
        return _cut(value), "number"
    if isinstance(value, str):
        return f'"{_cut(value)}"', "string"
    if isinstance(value, JsonPairs | dict):
        return (f"{{ {plural('{count} name', '{count} names', len(value))} }}" if value else "{ }"), ""
    if isinstance(value, list | tuple):
        return (f"[ {plural('{count} item', '{count} items', len(value))} ]" if value else "[ ]"), ""
    if value is None or isinstance(value, bool):
        return json.dumps(value), "builtin"
    return _cut(_number(value)), "number"


def _number(value: object) -> str:
    try:
        return str(value)
    except ValueError:  # Python writes no number of thousands of digits
        return tr("a number too long to be shown")


def _cut(text: str) -> str:
    shown = expose(text[:LONGEST]).text
    return shown + ("\N{HORIZONTAL ELLIPSIS}" if len(text) > LONGEST else "")
