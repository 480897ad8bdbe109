"""`super()`: the object that a method is called on, as one of the classes that its own inherits from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model.value import UNKNOWN, Value

if TYPE_CHECKING:
    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine


def parent_object(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Return the object of the method that is being followed, as it would be without the class of that method."""
    method = next((one for one in reversed(machine.following) if one.of is not None and one.self_name), None)
    if method is None or method.of is None:
        return None
    owner = machine.scope.get(method.self_name) or UNKNOWN
    found = [_as_one_of(base, owner) for base in method.of.bases if base.kind is not None or base.name]
    if not found:
        return None
    found[0].others = tuple(found[1:])
    return found[0]


def _as_one_of(base: Value, owner: Value) -> Value:
    """Return the object with the methods of `base` alone. Its attributes are those of `owner`, not copies of them."""
    if base.kind is None:
        return Value(name=f"{base.name}()", labels=owner.labels, fields=owner.fields)
    made = Value(labels=owner.labels, fields=owner.fields if owner.fields is not None else {})
    made.kind = base.kind
    return made
