"""`with (object) { ... }`: names that are read as properties of an object first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from runner.risk.javascript.properties import PROXY, reach
from runner.risk.model.value import UNKNOWN, Scope, Value

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.walker import JavaScript


class _Properties(dict[str, Value]):
    """The names of a block, and after them the properties of the object that it reads its names from."""

    def __init__(self, walker: JavaScript, owner: Value) -> None:
        super().__init__()
        self._walker = walker
        self._owner = owner

    def get(self, name: str, default: Any = None) -> Any:
        found = super().get(name)
        if found is None and self._has(name):
            found = reach(self._walker, self._owner, name)
            found = None if found.unknown and found.function is None and found.kind is None else found
        return default if found is None else found

    def _has(self, name: str) -> bool:
        owner, vocabulary = self._owner, self._walker.vocabulary
        if owner.name == PROXY or name in (owner.fields or {}):
            return True
        full = f"{owner.name}.{name}"
        known = full in self._walker.specials or full in vocabulary.attributes or vocabulary.knows(full)
        return bool(owner.name) and known


def with_statement(walker: JavaScript, node: Node) -> Value:
    owner, body = node.child_by_field_name("object"), node.child_by_field_name("body")
    inside = Scope(walker.machine.scope)
    names = _Properties(walker, walker.value(owner) if owner is not None else UNKNOWN)
    inside.names = cast("dict[str, Value]", names)
    outside, walker.machine.scope = walker.machine.scope, inside
    try:
        walker.certain_body(body)
    finally:
        walker.machine.scope = outside
    for name, value in names.items():
        outside.names[name] = value  # what is declared inside is known after it
    return UNKNOWN
