"""Python's functions that make lists and mappings and go through them."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from runner.risk.model import fold
from runner.risk.model.value import UNKNOWN, Value, labels_of, text
from runner.risk.python.arguments import first
from runner.risk.trace.values import each_of

if TYPE_CHECKING:
    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine


def listed(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    if value.items is not None:
        return Value(items=list(value.items), labels=value.labels)
    if value.exact is not None and len(value.exact) <= 20_000:
        if value.binary:
            return Value(items=[Value(number=ord(c)) for c in value.exact], labels=value.labels)
        return Value(items=[Value((c,), labels=value.labels) for c in value.exact], labels=value.labels)
    return None


def dictionary(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    given = first(args)
    if given.fields is None and not named:
        return Value(name=given.name, labels=labels_of(args))
    return Value(fields={**(given.fields or {}), **named}, labels=labels_of(args))


def backwards(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    if value.exact is not None:
        return Value(items=[text(c) for c in value.exact[::-1]], labels=value.labels | fold.ASSEMBLED)
    return fold.reversed_text(value)


def ranged(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    ends = [arg.number for arg in args]
    if not ends or len(ends) > 3 or not all(isinstance(end, int) for end in ends):
        return None
    try:
        numbers = range(*(int(end or 0) for end in ends))
        return Value(items=list(_numbers(numbers))) if len(numbers) <= fold.MOST_TURNS else None
    except (ValueError, OverflowError):
        return None


@lru_cache(16)
def _numbers(numbers: range) -> tuple[Value, ...]:
    return tuple(Value(number=n) for n in numbers)


def numbered(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    values = listed(machine, called, args[:1], {}, place)
    if values is None or values.items is None:
        return Value(items=None, labels=first(args).labels)
    return Value(
        items=[Value(items=[Value(number=i), item]) for i, item in enumerate(values.items)], labels=values.labels
    )


def zipped(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    lists = [(listed(machine, called, [arg], {}, place) or UNKNOWN).items for arg in args]
    if not lists or any(items is None for items in lists):
        return None
    known = [items for items in lists if items is not None]
    return Value(items=[Value(items=list(row)) for row in zip(*known, strict=False)], labels=labels_of(args))


def nothing_new(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Return the argument of a call: its result is equivalent here."""
    value = first(args)
    return Value(value.texts, value.name, labels_of(args), value.items, value.fields, binary=value.binary)


def buffer(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Return a buffer in memory: what it begins with, or one that is empty."""
    return nothing_new(machine, called, args, named, place) if args else Value(name=f"{called.name}()")


def next_of(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return each_of(first(args))
