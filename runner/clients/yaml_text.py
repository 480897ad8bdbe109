"""Changes entries of a YAML file's mappings in its text: all else, comments included, stays as it is to the byte."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from runner.clients.json_tree import Unparsable

if TYPE_CHECKING:
    from collections.abc import Sequence

EMPTY = ""
"""A file without any setting."""
BEYOND = "it is written in a way that cannot be changed without changing more than this."


def read(text: str) -> dict[str, object]:
    """Return the values of a file. Raises Unparsable."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    from runner.system.document import described, is_too_deep

    if is_too_deep(text):
        raise Unparsable("it is nested too deeply.")
    try:
        values = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise Unparsable(described(error, "it")) from error
    except (ValueError, TypeError, LookupError, AttributeError, AssertionError, RecursionError) as error:
        raise Unparsable(f"it is not YAML ({error}).") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise Unparsable("line 1: names with values are expected.")
    return values


def put(text: str, path: Sequence[str], value: object) -> str:
    """Return `text` with the entry of two levels at `path` set to `value`. Raises Unparsable."""
    wanted = read(text)
    above, name = path
    section = wanted.get(above)
    if section is None:
        section = wanted[above] = {}
    if not isinstance(section, dict):
        raise Unparsable(f"{above} holds no entries.")
    shorter = drop(text, path) if name in section else text
    section[name] = value
    return _checked(_inserted(shorter, above, name, value), wanted)


def drop(text: str, path: Sequence[str]) -> str:
    """Return `text` without the entry at `path`; unchanged where there is none. Raises Unparsable."""
    wanted = read(text)
    inner: Any = wanted
    for key in path[:-1]:
        inner = inner.get(key) if isinstance(inner, dict) else None
    if not isinstance(inner, dict) or path[-1] not in inner:
        return text
    del inner[path[-1]]
    node: Any = _compose(text)
    for key in path[:-1]:
        node = next(value for name, value in node.value if name.value == key)
    if node.flow_style:
        raise Unparsable(BEYOND)
    at = next(number for number, (name, _) in enumerate(node.value) if name.value == path[-1])
    lines = text.splitlines(keepends=True)
    first = node.value[at][0].start_mark.line
    last = _last_line(first, node.value[at][1], lines)
    return _checked("".join(lines[:first] + lines[last + 1 :]), wanted)


def add(text: str, path: Sequence[str], item: object) -> str:
    """Raise Unparsable: no client that is configured in YAML has a list to be added to."""
    raise Unparsable(f"{'.'.join(path)}: {BEYOND}")


def take(text: str, path: Sequence[str], index: int) -> str:
    """Return `text`: nothing is ever added to a list."""
    return text


def _compose(text: str) -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).compose(text)


def _last_line(first: int, value: Any, lines: Sequence[str]) -> int:
    """Return the last line of an entry that begins on `first`. The parser ends a block where the next thing begins."""
    last = int(value.end_mark.line)
    if last >= len(lines) or not lines[last][: value.end_mark.column].strip():
        last -= 1
    while last > first and (not lines[last].strip() or lines[last].lstrip().startswith("#")):
        last -= 1
    return max(first, last)


def _inserted(text: str, above: str, name: str, value: object) -> str:
    """Return `text` with a new entry at the head of the section `above`."""
    root = _compose(text)
    lines = text.splitlines(keepends=True)
    found = None if root is None else next(((key, node) for key, node in root.value if key.value == above), None)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    if found is None:
        return "".join([*lines, f"{above}:\n", *_block(name, value, "  ")])
    key, node = found
    at = key.start_mark.line + 1
    if node.id == "mapping" and node.value:
        if node.flow_style:
            raise Unparsable(BEYOND)
        indent = " " * node.value[0][0].start_mark.column
        at = node.value[0][0].start_mark.line
    elif node.id == "mapping" and lines[at - 1].rstrip().endswith("{}"):
        # An empty section is written out, to have entries below it.
        lines[at - 1] = lines[at - 1].rstrip().removesuffix("{}").rstrip() + "\n"
        indent = "  "
    else:
        indent = "  "
    return "".join([*lines[:at], *_block(name, value, indent), *lines[at:]])


def _block(name: str, value: object, indent: str) -> list[str]:
    """Return the lines of an entry. A value on one line is JSON, which YAML takes."""
    if not isinstance(value, dict):
        return [f"{indent}{name}: {json.dumps(value)}\n"]
    inside = [line for key, inner in value.items() for line in _block(key, inner, indent + "  ")]
    return [f"{indent}{name}:\n", *inside] if inside else [f"{indent}{name}: {{}}\n"]


def _checked(text: str, wanted: dict[str, object]) -> str:
    """Return `text` where it reads as `wanted`, an empty section being none. Raises Unparsable."""
    now = read(text)
    for key in {*wanted, *now}:
        if (wanted.get(key) or None) != (now.get(key) or None):
            raise Unparsable(BEYOND)
    return text
