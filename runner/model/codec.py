"""Converts the model's values to JSON data and back."""

from __future__ import annotations

import math
import sys
import types
import typing
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum, IntEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    Reader = Callable[[Any], Any]

T = TypeVar("T")

DEEPEST = 100
"""Most levels of nesting in data that code returned; json itself fails at about 1,000."""


class UnreadableValue(KnownError):
    """Stored data that this version cannot turn into a value."""


def encode(value: object) -> dict[str, Any]:
    """Return a frozen dataclass as JSON data: enums by value, ordered enums by name, tuples as lists.

    Never fails for what `Result.value` can hold: what JSON lacks (infinities, other objects, endless nesting)
    becomes text. Raises TypeError when `value` is no dataclass.
    """
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"{type(value).__name__} is no dataclass")
    return {field.name: _plain(getattr(value, field.name), 0) for field in fields(value)}


def decode(kind: type[T], data: object) -> T:
    """Return the value of type `kind` that `encode` made `data` from.

    Names that `kind` does not have are ignored, and missing ones take their defaults, so that records of newer
    and older versions can be read. Raises UnreadableValue, naming the field, for anything else that does not fit.
    """
    try:
        return cast("T", _reader(cast("Hashable", kind))(data))
    except _Misfit as misfit:
        remedy = "The record is damaged or was written by a newer Assent: run `assent verify`, or update."
        raise UnreadableValue(f"{kind.__name__}{misfit.where} {misfit.what}.", remedy) from None


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


class _Misfit(Exception):
    """Data that does not fit; `where` is completed as it propagates, so that reading valid data costs nothing."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.where = ""

    def within(self, step: str) -> _Misfit:
        self.where = step + self.where
        return self


def _not_fitting(data: object) -> _Misfit:
    return _Misfit(f"cannot be {repr(data)[:60]}")


@cache
def _reader(kind: Hashable) -> Reader:
    """Return the function that reads a `kind`, which is any annotation that the values use."""
    if kind is object or kind is Any:
        return _as_it_is
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        (inner,) = (one for one in arguments if one is not types.NoneType)
        return _optional(_reader(inner))
    if origin is tuple:
        if arguments[-1] is not Ellipsis:
            return _row(tuple(_reader(one) for one in arguments))
        return _sequence(_reader(arguments[0]))
    if origin is dict:
        return _mapping(_reader(arguments[1]))
    assert isinstance(kind, type), kind
    if is_dataclass(kind):
        return _record(kind)
    if issubclass(kind, Enum):
        return _member(kind)
    return _number if kind is float else _exactly(kind)


def _as_it_is(data: Any) -> Any:
    return data


def _exactly(kind: type) -> Reader:
    def read(data: Any) -> Any:
        if type(data) is kind:
            return data
        raise _not_fitting(data)

    return read


def _number(data: Any) -> float:
    """Return a number: integers are valid, and so are infinities, which JSON can only hold as text."""
    if type(data) in (float, int, str):
        try:
            return float(data)
        except ValueError:
            pass
    raise _not_fitting(data)


def _optional(inner: Reader) -> Reader:
    return lambda data: None if data is None else inner(data)


def _sequence(inner: Reader) -> Reader:
    def read(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise _not_fitting(data)
        return tuple(_inside(inner, item, place) for place, item in enumerate(data))

    return read


def _row(inner: tuple[Reader, ...]) -> Reader:
    def read(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, list) or len(data) != len(inner):
            raise _not_fitting(data)
        return tuple(_inside(one, item, place) for place, (one, item) in enumerate(zip(inner, data, strict=True)))

    return read


def _mapping(inner: Reader) -> Reader:
    def read(data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise _not_fitting(data)
        return {str(key): _inside(inner, item, key) for key, item in data.items()}

    return read


def _inside(inner: Reader, item: Any, place: object) -> Any:
    try:
        return inner(item)
    except _Misfit as misfit:
        raise misfit.within(f"[{place!r}]") from None


def _member(kind: type[Enum]) -> Reader:
    known: dict[Any, Enum] = {one.name if issubclass(kind, IntEnum) else one.value: one for one in kind}

    def read(data: Any) -> Enum:
        try:
            return known[data] if data in known or issubclass(kind, IntEnum) else kind(data)
        except (KeyError, TypeError, ValueError):
            raise _not_fitting(data) from None

    return read


def _record(kind: type) -> Reader:
    # A module that loads what its annotations name only where it is needed has a function that does.
    named: dict[str, type] = getattr(sys.modules[kind.__module__], "annotated", dict)()
    hints = typing.get_type_hints(kind, localns=named)
    # Recursive values would need their readers made later; there are none.
    parts = [
        (field.name, _reader(hints[field.name]), field.default is MISSING and field.default_factory is MISSING)
        for field in fields(kind)
    ]

    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise _not_fitting(data)
        given = {}
        for name, inner, required in parts:
            if name in data:
                try:
                    given[name] = inner(data[name])
                except _Misfit as misfit:
                    raise misfit.within(f".{name}") from None
            elif required:
                raise _Misfit("is missing").within(f".{name}")
        return kind(**given)

    return read
