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


HOST_SETTINGS = {"pid": "--pid=host", "hostPID": "--pid=host", "privileged": "--privileged"}
"""Settings of a container, and the options of its engine for the same."""
TRUE = ("true", "True", "yes", "host")


def containers(content: str, most: int) -> Iterator[tuple[int, str]]:
    """Yield line, from 0, and the command of a container engine for what containers are given of the machine.

    That is of services of Docker Compose and of pods alike. Raises ValueError for what is no YAML.
    """
    if is_too_deep(content):
        raise ValueError("nested too deeply")
    try:
        todo: list[Any] = list(yaml.compose_all(content, LOADER))
    except yaml.YAMLError as error:
        raise ValueError("it is no YAML") from error
    seen: set[int] = set()
    while todo and len(seen) <= 20 * most:
        node = todo.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            todo += node.value
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                todo.append(value)
                yield from _given(str(key.value), value)


def _given(key: str, value: Any) -> Iterator[tuple[int, str]]:
    """Yield what one setting gives to a container."""
    if isinstance(value, yaml.ScalarNode) and key in HOST_SETTINGS and value.value in TRUE:
        yield value.start_mark.line, f"docker run {HOST_SETTINGS[key]} image"
    elif key == "volumes" and isinstance(value, yaml.SequenceNode):
        for one in value.value:
            if isinstance(one, yaml.ScalarNode) and ":" in one.value:
                yield one.start_mark.line, f"docker run -v {shlex.quote(one.value)} image"
    elif key in ("hostPath", "cap_add") and not isinstance(value, yaml.ScalarNode):
        parts = value.value if key == "cap_add" else [part for name, part in value.value if name.value == "path"]
        for part in parts:
            if isinstance(part, yaml.ScalarNode):
                option = f"--cap-add={part.value}" if key == "cap_add" else f"-v {part.value}:/host"
                yield part.start_mark.line, f"docker run {shlex.join(shlex.split(option))} image"
