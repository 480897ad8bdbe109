"""The methods of Python's texts, lists and mappings, as far as they shape names, commands and code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from runner.risk.model import fold
from runner.risk.model.bounds import bounded, is_beyond
from runner.risk.model.value import HOLE, UNKNOWN, Value, each, either, raw, text
from runner.risk.python.arguments import first
from runner.risk.python.formatting import formatted
from runner.risk.python.texts import recoded
from runner.risk.trace.values import each_of, element

if TYPE_CHECKING:
    from runner.risk.python.arguments import Args
    from runner.risk.trace.machine import Machine


Method = Callable[["Machine", Value, "Args"], Value | None]


def m_join(machine: Machine, owner: Value, args: Args) -> Value | None:
    values = first(args)
    if not owner.texts:
        return None
    if values.items is not None:
        return fold.joined(owner, values.items).labelled(values.labels)
    if values.texts:
        return each(values, owner.text.join)
    return Value(labels=values.labels | owner.labels, name=values.name)


def m_replace(machine: Machine, owner: Value, args: Args) -> Value | None:
    return fold.replaced(owner, args[0], args[1]) if owner.texts and len(args) >= 2 else None


def m_decode(machine: Machine, owner: Value, args: Args) -> Value | None:
    if not owner.texts:
        return None
    name = first(args).text or "utf-8"
    if fold.is_code(name):
        return recoded(owner, name)
    return each(owner, lambda known: fold.coded(known, name) if owner.binary else known)


def m_encode(machine: Machine, owner: Value, args: Args) -> Value | None:
    if not owner.texts:
        return None
    name = first(args).text
    if fold.is_code(name):
        return each(owner, lambda known: fold.coded(known, name))
    return Value(
        tuple(known if HOLE in known else fold.latin(known.encode("utf-8", "surrogatepass")) for known in owner.texts),
        labels=owner.labels,
        binary=True,
    )


def m_format(machine: Machine, owner: Value, args: Args) -> Value | None:
    return formatted(owner, args, {}) if owner.texts else None


def m_split(machine: Machine, owner: Value, args: Args) -> Value | None:
    return fold.split(owner, first(args)) if owner.texts else None


def m_lines(machine: Machine, owner: Value, args: Args) -> Value | None:
    return fold.split(owner, text("\n")) if owner.texts else None


def changed(change: Callable[[str], str]) -> Method:
    def method(machine: Machine, owner: Value, args: Args) -> Value | None:
        return each(owner, change, binary=owner.binary) if owner.texts else None

    return method


def m_strip(machine: Machine, owner: Value, args: Args) -> Value | None:
    cut = first(args).exact
    return each(owner, lambda known: known.strip(cut), binary=owner.binary) if owner.texts else None


def m_translate(machine: Machine, owner: Value, args: Args) -> Value | None:
    table = first(args).fields
    if not owner.texts or table is None:
        return Value(labels=owner.labels | fold.ASSEMBLED) if owner.texts else None
    try:
        change = {int(k): v.text or chr(int(v.number or 0)) for k, v in table.items() if k.isdecimal()}
    except (ValueError, OverflowError):  # it would raise there as well
        return Value(labels=owner.labels | fold.ASSEMBLED)
    return each(owner, lambda known: known.translate(change), labels=fold.ASSEMBLED)


def m_maketrans(machine: Machine, owner: Value, args: Args) -> Value | None:
    if len(args) >= 2 and args[0].exact is not None and args[1].exact is not None:
        pairs = zip(args[0].exact, args[1].exact, strict=False)
        return Value(fields={str(ord(a)): Value((b,), number=ord(b)) for a, b in pairs})
    return UNKNOWN


def m_append(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.items is None:
        return None
    if not is_beyond(machine.trail, owner.items, fold.MOST_ITEMS, "parts of a list"):
        owner.items.append(first(args))
    return UNKNOWN


def m_extend(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.items is None:
        return None
    more = first(args)
    if not is_beyond(machine.trail, owner.items, fold.MOST_ITEMS, "parts of a list"):
        owner.items.extend(bounded(machine.trail, more.items or [each_of(more)], fold.MOST_ITEMS, "parts of a list"))
    return UNKNOWN


def m_insert(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.items is None or len(args) < 2:
        return None
    place = args[0].number
    if isinstance(place, int | None):
        owner.items.insert(max(-len(owner.items), min(place or 0, len(owner.items))), args[1])
    return UNKNOWN


def m_reverse(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.items is None:
        return None
    owner.items.reverse()
    return UNKNOWN


def m_pop(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.items:
        return either(owner.items)
    return element(owner, first(args)) if owner.fields is not None else None


def m_get(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.fields is None:
        return None
    found = element(owner, first(args))
    return either((found, args[1])) if len(args) > 1 else found


def m_items(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.fields is None or owner.kind is not None:
        return None
    return Value(
        items=[Value(items=[UNKNOWN if key == "?" else text(key), value]) for key, value in owner.fields.items()],
        labels=owner.labels,
    )


def m_values(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.fields is None or owner.kind is not None:
        return None
    return Value(items=list(owner.fields.values()), labels=owner.labels)


def m_keys(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.fields is None or owner.kind is not None:
        return None
    return Value(items=[text(key) for key in owner.fields], labels=owner.labels)


def m_update(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.fields is None or owner.kind is not None:
        return None
    owner.fields.update(first(args).fields or {"?": Value(labels=first(args).labels)})
    return UNKNOWN


def m_setdefault(machine: Machine, owner: Value, args: Args) -> Value | None:
    if owner.fields is None or owner.kind is not None or len(args) < 2:
        return None
    key = args[0].exact or "?"
    return owner.fields.setdefault(key, args[1])


def m_hex(machine: Machine, owner: Value, args: Args) -> Value | None:
    return each(owner, lambda known: raw(known).hex()) if owner.texts else None


def m_fromhex(machine: Machine, owner: Value, args: Args) -> Value | None:
    return fold.decoded("bytes.fromhex", first(args)) if not owner.texts else None


def m_bytes(machine: Machine, owner: Value, args: Args) -> Value | None:
    """int.to_bytes: a text written as one long number."""
    length = first(args).number
    if not isinstance(owner.number, int) or not isinstance(length, int) or not 0 < length <= 4000 or owner.number < 0:
        return None
    order = "little" if len(args) > 1 and args[1].text == "little" else "big"
    try:
        data = owner.number.to_bytes(length, order)  # type: ignore[arg-type]
    except OverflowError:
        return None
    return Value((fold.latin(data),), labels=fold.DECODED, binary=True)


METHODS: dict[str, Method] = {
    "to_bytes": m_bytes,
    "join": m_join,
    "replace": m_replace,
    "decode": m_decode,
    "encode": m_encode,
    "format": m_format,
    "split": m_split,
    "rsplit": m_split,
    "splitlines": m_lines,
    "strip": m_strip,
    "rstrip": m_strip,
    "lstrip": m_strip,
    "lower": changed(str.lower),
    "upper": changed(str.upper),
    "swapcase": changed(str.swapcase),
    "title": changed(str.title),
    "capitalize": changed(str.capitalize),
    "casefold": changed(str.casefold),
    "expandtabs": changed(str.expandtabs),
    "translate": m_translate,
    "maketrans": m_maketrans,
    "append": m_append,
    "add": m_append,
    "appendleft": m_append,
    "extend": m_extend,
    "insert": m_insert,
    "reverse": m_reverse,
    "pop": m_pop,
    "get": m_get,
    "items": m_items,
    "values": m_values,
    "keys": m_keys,
    "update": m_update,
    "setdefault": m_setdefault,
    "hex": m_hex,
    "fromhex": m_fromhex,
    "copy": lambda machine, owner, args: owner,
    "__getitem__": lambda machine, owner, args: element(owner, first(args)),
}
