"""Turns the values that travel into JSON data and back."""

from __future__ import annotations

import math
import types
import typing
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum, IntEnum
from functools import cache
from typing import Any, TypeVar, cast

from runner.errors import KnownError

T = TypeVar("T")

DEEPEST = 100
"""Levels of nesting kept of data that code handed back; json itself gives up at about 1,000."""


class Unreadable(KnownError):
    """Stored data that this version cannot turn into a value."""


def encode(value: object) -> dict[str, Any]:
    """A frozen dataclass as JSON data: enums by value, ordered enums by name, tuples as lists.

    Never fails for what `Result.value` can hold: what JSON lacks (infinities, other objects, endless nesting)
    becomes text. Raises TypeError when `value` is no dataclass.
    """
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"{type(value).__name__} is no dataclass")
    return {field.name: _plain(getattr(value, field.name), 0) for field in fields(value)}


def decode(kind: type[T], data: object) -> T:
    """The value of type `kind` that `encode` made `data` from.

    Names that `kind` does not have are passed over, and missing ones take their defaults, so that records of newer
    and older versions can be read. Raises Unreadable, naming the field, for anything else that does not fit.
    """
    return cast("T", _typed(kind, data, kind.__name__))


def _plain(value: object, depth: int) -> object:
    if depth > DEEPEST:
        return "... (nested too deeply to be kept)"
    match value:
        case IntEnum():
            return value.name
        case Enum():
            return value.value
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else repr(value)
        case dict():
            return {str(_plain(key, depth)): _plain(item, depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item, depth + 1) for item in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {field.name: _plain(getattr(value, field.name), depth + 1) for field in fields(value)}
        case _:
            return repr(value)


def _typed(kind: Any, data: Any, where: str) -> Any:
    """`data` as a `kind`, which is any annotation that the values use."""
    if kind is object or kind is Any:
        return data
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        (inner,) = (one for one in arguments if one is not types.NoneType)
        return None if data is None else _typed(inner, data, where)
    if origin is tuple and isinstance(data, list):
        return tuple(_typed(arguments[0], item, f"{where}[{place}]") for place, item in enumerate(data))
    if origin is dict and isinstance(data, dict):
        return {str(key): _typed(arguments[1], item, f"{where}[{key!r}]") for key, item in data.items()}
    if isinstance(kind, type):
        return _one(kind, data, where)
    raise _misfit(where, data)


def _one(kind: type, data: Any, where: str) -> Any:
    """`data` as a plain class: a dataclass, an enum, or one of JSON's own types."""
    if is_dataclass(kind) and isinstance(data, dict):
        return _filled(kind, data, where)
    if issubclass(kind, Enum):
        return _member(kind, data, where)
    if kind is float and isinstance(data, int | float | str) and not isinstance(data, bool):
        try:
            return float(data)
        except ValueError:
            raise _misfit(where, data) from None
    if type(data) is kind:
        return data
    raise _misfit(where, data)


def _filled(kind: type, data: dict[str, Any], where: str) -> Any:
    given = {}
    for name, (annotation, required) in _shape(kind).items():
        if name in data:
            given[name] = _typed(annotation, data[name], f"{where}.{name}")
        elif required:
            raise Unreadable(f"{where}.{name} is missing from the record.", "Run `assent verify` on the ledger.")
    return kind(**given)


def _member(kind: type[Enum], data: Any, where: str) -> Enum:
    try:
        return kind[data] if issubclass(kind, IntEnum) else kind(data)
    except (KeyError, ValueError):
        raise _misfit(where, data) from None


@cache
def _shape(kind: Any) -> dict[str, tuple[Any, bool]]:
    """Annotation of each field, and whether it must be there."""
    hints = typing.get_type_hints(kind)
    return {
        field.name: (hints[field.name], field.default is MISSING and field.default_factory is MISSING)
        for field in fields(kind)
    }


def _misfit(where: str, data: object) -> Unreadable:
    return Unreadable(
        f"{where} cannot be {repr(data)[:60]}.",
        "The record is damaged or was written by a newer Assent: run `assent verify`, or update.",
    )
