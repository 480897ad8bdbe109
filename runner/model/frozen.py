"""Frozen dataclasses whose methods are compiled when they are first used.

The standard library compiles seven methods for each class when its module is loaded: of what a command loads before it
does anything, that was nearly half. Most of these classes it does not use, and of few both comparison and text.
"""

from __future__ import annotations

import dataclasses
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

OPTIONS = {"frozen": True, "slots": True}
"""The only options for which it is done: those of nearly all classes here."""
COMPILED = ("__init__", "__repr__", "__eq__", "__hash__")


def _made(kind: type | None = None, /, **options: bool) -> Any:
    """Stand for `dataclasses.dataclass`, where `dataclass` is imported from here."""
    if kind is None:
        return lambda given: _made(given, **options)
    if options != OPTIONS or "__post_init__" in vars(kind):
        return dataclasses.dataclass(**options)(kind)
    return _frozen(kind)


def _frozen(kind: type) -> type:
    """Return the class with slots, and with methods that make way for the standard library's at their first use."""
    own = vars(kind).copy()
    if own.get("__hash__", ...) is None and "__eq__" in own:
        del own["__hash__"]  # Python's own doing
    text = kind.__doc__
    # Without a text it would be given one that names all parameters, which takes as long again.
    kind.__doc__ = text or kind.__name__
    made: type = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(kind)
    made.__doc__ = text
    further = {
        **{name: _later(made, name) for name in COMPILED},
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _state,
        "__setstate__": _set_state,
    }
    for name, method in further.items():
        if name not in own:
            setattr(made, name, method)
    return made


def _later(made: type, name: str) -> Callable[..., Any]:
    """Return what stands for a method until it is called."""

    def method(self: object, *values: Any, **named: Any) -> Any:
        whole = _compiled(made)
        for one in COMPILED:
            # Once for all; a class of its own may have some of them.
            if getattr(vars(made).get(one), "stands_for", "") == one:
                setattr(made, one, getattr(whole, one))
        return vars(made)[name](self, *values, **named)

    method.stands_for = name  # type: ignore[attr-defined]
    return method


def _compiled(made: type) -> type:
    """Return a class with the same fields, made by the standard library."""
    kept = ("default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only")
    fields = [
        (one.name, one.type, dataclasses.field(**{name: getattr(one, name) for name in kept}))
        for one in dataclasses.fields(made)
    ]
    return dataclasses.make_dataclass(made.__name__, fields, frozen=True)


def _refuse_to_set(_self: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _made
