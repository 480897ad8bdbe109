"""Reads YAML written by a person into plain values with line numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runner.model.errors import KnownError
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1 << 18
"""Largest file. The parser takes some 10 s for a MiB, and the window waits for it."""
MOST_VALUES = 20_000
"""Most values. With aliases a few lines can mean millions; no file written by hand has this many."""
MOST_DEPTH = 32
REMEDY = "Correct the file."


@dataclass(frozen=True, slots=True)
class Node:
    """One value. A scalar is its text as written, without quotes; None where there is no text."""

    value: str | tuple[Node, ...] | Mapping[str, Node] | None
    line: int
    """Line number from 1; for the value of a key, the key's line."""
    repeated: tuple[tuple[str, int], ...] = ()
    """Repeated keys of a mapping, each with the line of a later one."""


class Unreadable(KnownError):
    """The file cannot be read at all."""


def read(path: Path) -> Node | None:
    """Return the file as one mapping; None where there is no file. Raises Unreadable."""
    try:
        data = read_file(path, MOST_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read: {error.strerror or error}.", REMEDY) from error
    return parse(data, path.name)


def parse(data: bytes | str, name: str) -> Node:
    """Return `data` as one mapping. `name` is its name in messages. Raises Unreadable."""
    # Imported here: most consoles have no file at first, and the window should not wait for a parser.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        if is_too_deep(text):
            raise Unreadable(f"{name} is nested too deeply.", REMEDY)
        yaml = YAML(typ="safe", pure=True)
        yaml.composer.warn_double_anchors = False  # It would print a warning for each on standard error.
        root = yaml.compose(text)
        node = Node({}, 1) if root is None else _Reader(name).node(root, _line(root), 0)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise Unreadable(f"{name}, line {line}: not UTF-8 text.", REMEDY) from error
    except YAMLError as error:
        raise Unreadable(described(error, name), REMEDY) from error
    except RecursionError:
        raise Unreadable(f"{name} is nested too deeply.", REMEDY) from None
    except (ValueError, TypeError, LookupError, AttributeError, AssertionError) as error:
        # The parser itself fails on some broken texts.
        raise Unreadable(f"{name} is not YAML ({error}).", REMEDY) from error
    if node.value is None:
        return Node({}, 1)
    if not isinstance(node.value, Mapping):
        raise Unreadable(f"{name}, line {node.line}: expected names with values.", REMEDY)
    return node


def is_too_deep(text: str) -> bool:
    """Return whether a YAML text is nested deeper than `MOST_DEPTH`.

    Asked before it is parsed: libyaml ends the process on thousands of levels, and ruamel takes seconds for them.
    What is no YAML is not too deep; the parser says what is wrong with it.
    """
    import yaml

    depth = 0
    try:
        for event in yaml.parse(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MOST_DEPTH:
                return True
    except (yaml.YAMLError, ValueError):
        pass
    return False


class _Reader:
    """Converts the parser's tree, and counts its values."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._left = MOST_VALUES

    def node(self, node: Any, line: int, depth: int) -> Node:
        self._left -= 1
        if self._left < 0 or depth > MOST_DEPTH:
            raise Unreadable(f"{self._name}, line {line}: too many values.", REMEDY)
        if node.id == "mapping":
            return self._mapping(node, line, depth)
        if node.id == "sequence":
            return Node(tuple(self.node(item, _line(item), depth + 1) for item in node.value), line)
        return Node(None if str(node.tag).endswith(":null") else str(node.value), line)

    def _mapping(self, node: Any, line: int, depth: int) -> Node:
        values: dict[str, Node] = {}
        repeated: list[tuple[str, int]] = []
        for key, value in node.value:
            at = _line(key)
            if key.id != "scalar":
                raise Unreadable(f"{self._name}, line {at}: a name must be a single word.", REMEDY)
            if key.value in values:
                repeated.append((key.value, at))
            values[str(key.value)] = self.node(value, at, depth + 1)
        return Node(values, line, tuple(repeated))


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


def described(error: Exception, name: str) -> str:
    """Return the parser's complaint about the file called `name`, as a sentence with its line."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    where = f", line {mark.line + 1}" if mark is not None else ""
    return f"{name}{where}: {what}."
