"""Commands in data that is written as YAML."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import yaml

from runner.system.document import is_too_deep

if TYPE_CHECKING:
    from collections.abc import Iterator

# libyaml is ten times as fast; it is part of every wheel of PyYAML, but not of every build.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def commands(content: str, keys: frozenset[str], most: int) -> Iterator[tuple[int, str]]:
    """Yield line, from 0, and text of the commands under `keys`. Raises ValueError for what is no YAML.

    With many more than `most` of them not all are looked for.
    """
    if is_too_deep(content):
        raise ValueError("nested too deeply")
    try:
        for document in yaml.compose_all(content, LOADER):
            for node, command in _Search(keys, 20 * most).within(document):
                yield node.start_mark.line + (getattr(node, "style", None) in ("|", ">")), command
    except yaml.YAMLError as error:
        raise ValueError("it is no YAML") from error


class _Search:
    """Looks for commands in one document, at each node once."""

    def __init__(self, keys: frozenset[str], most: int) -> None:
        self._keys, self._most = keys, most
        self._seen: set[int] = set()

    def within(self, node: Any) -> Iterator[tuple[Any, str]]:
        """Yield the scalars under names of commands, and lists of words as one command."""
        if node is None or id(node) in self._seen or len(self._seen) > self._most:
            return
        self._seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            for part in node.value:
                yield from self.within(part)
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value in self._keys and isinstance(value, yaml.ScalarNode):
                    yield value, value.value
                elif key.value in self._keys and isinstance(value, yaml.SequenceNode):
                    yield from self._listed(value)
                else:
                    yield from self.within(value)

    def _listed(self, node: Any) -> Iterator[tuple[Any, str]]:
        """Yield a list of commands one by one, and `[sh, -c, ...]` as one."""
        plain = [part.value for part in node.value if isinstance(part, yaml.ScalarNode)]
        if node.flow_style and plain and len(plain) == len(node.value):
            yield node, shlex.join(plain)
            return
        for part in node.value:
            if isinstance(part, yaml.ScalarNode):
                yield part, part.value
            else:
                yield from self.within(part)
