"""Methods of texts and arrays, as far as they shape names, commands and code."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runner.model.expression import expression
from runner.risk.javascript.syntax import code_of
from runner.risk.model import fold
from runner.risk.model.acts import Place
from runner.risk.model.bounds import bounded
from runner.risk.model.fold import MOST_ITEMS
from runner.risk.model.value import HOLE, UNKNOWN, Value, concatenate, each, either, labels_of, raw, readable, text
from runner.risk.trace.machine import MOST_CALLS, MOST_SIMPLE_CALLS
from runner.risk.trace.values import element

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.model.value import Function
    from runner.risk.trace.machine import Machine

Args = list[Value]

Method = Callable[["Machine", Value, Args, Place], Value | None]


def first(args: Args) -> Value:
    return args[0] if args else UNKNOWN


def m_join(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if owner.items is None:
        return None
    separator = first(args) if args else text(",")
    return fold.joined(separator, owner.items)


def m_reverse(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if owner.items is None:
        return None
    return Value(items=owner.items[::-1], labels=owner.labels | fold.ASSEMBLED)


def m_split(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if not owner.texts:
        return None
    separator = first(args)
    if separator.exact == "" and owner.exact is not None and len(owner.exact) <= 20_000:
        return Value(items=[text(c, labels=owner.labels) for c in owner.exact], labels=owner.labels)
    return fold.split(owner, separator)


def m_replace(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if len(args) > 1 and args[1].name and not args[1].texts and args[1].function is None:
        machine.call(args[1], [owner], {}, place)  # a function of a library, which gets what was found
    if not owner.texts or len(args) < 2:
        return None
    if args[0].name == "regex" and args[1].exact is not None and (found := _regex(args[0])) is not None:
        into = re.sub(r"\$(\d)", r"\\\1", args[1].exact.replace("\\", "\\\\"))
        return each(owner, lambda known: found[0].sub(into, known, count=found[1]), labels=fold.ASSEMBLED)
    if args[0].name == "regex" or args[1].function is not None:
        return Value((HOLE,), labels=owner.labels)
    return fold.replaced(owner, args[0], args[1])


def _regex(value: Value) -> tuple[Any, int] | None:
    """Return a regular expression, and how many places it changes (0 for all).

    RE2 takes linear time, whatever it is.
    """
    source = (value.fields or {}).get("pattern", UNKNOWN).text
    body, _, flags = source[1:].rpartition("/")
    if len(body) > 200:
        return None
    # Imported here: few programs have such an expression.
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(f"(?i){body}" if "i" in flags else body, options), 0 if "g" in flags else 1
    except re2.error:
        return None


def m_match(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    """text.match(/../g) on a known text."""
    found = _regex(args[0]) if owner.exact is not None and args and args[0].name == "regex" else None
    if found is None or found[1]:
        return None
    matches = (match.group() for match in found[0].finditer(owner.exact))
    parts = [text(one, labels=owner.labels) for one in itertools.islice(matches, MOST_ITEMS + 1)]
    return Value(items=bounded(machine.trail, parts, MOST_ITEMS, "parts of a text"))


def m_get(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    # What has a name is of a library, such as a client that knows its address: its `get` asks for something.
    return element(owner, first(args)) if owner.fields is not None and args and not owner.name else None


def m_slice(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    ends = [*args[:2], UNKNOWN, UNKNOWN][:2]
    return fold.sliced(owner, ends[0], ends[1], UNKNOWN) if owner.texts or owner.items is not None else None


def m_substr(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if len(args) > 1 and isinstance(args[0].number, int) and isinstance(args[1].number, int):
        return fold.sliced(owner, args[0], Value(number=args[0].number + args[1].number), UNKNOWN)
    return m_slice(machine, owner, args[:1], place)


def m_char(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    return element(owner, first(args)) if owner.texts else None


def m_code(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    index = first(args).number if args else 0
    if owner.exact is not None and isinstance(index, int) and 0 <= index < len(owner.exact):
        return Value(number=ord(owner.exact[index]))
    return UNKNOWN


def m_concat(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if owner.items is not None:
        return Value(
            items=[*owner.items, *(item for arg in args for item in (arg.items or [arg]))], labels=owner.labels
        )
    return concatenate((owner, *args)).labelled(fold.ASSEMBLED) if owner.texts else None


def m_text(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    """buffer.toString(encoding), number.toString(radix)."""
    radix = first(args).number
    if isinstance(owner.number, int) and isinstance(radix, int) and 2 <= radix <= 36 and owner.number >= 0:
        return text(_in_base(owner.number, radix), labels=fold.ASSEMBLED)
    if not owner.texts and owner.name != "Buffer":
        return None
    encoding = first(args).text.lower()
    if encoding == "base64":
        return each(owner, fold.packed, labels={"encoded"})
    if encoding == "hex":
        return each(owner, lambda known: raw(known).hex(), labels={"encoded"})
    return each(owner, readable) if owner.texts else Value(labels=owner.labels)


def _in_base(number: int, radix: int) -> str:
    digits = ""
    while number:
        number, rest = divmod(number, radix)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits or "0"


def m_push(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if owner.items is None:
        return None
    if len(owner.items) < 20_000:
        owner.items.extend(args)
    return UNKNOWN


def m_pop(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    return either(owner.items) if owner.items else None


def m_shift(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    """Return the first item, which is gone afterwards; in a branch nobody knows how often that happens."""
    if not owner.items or machine.branches:
        return m_pop(machine, owner, args, place)
    return owner.items.pop(0)


def m_reduce(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    function = first(args).function
    if function is None or not owner.items:
        return m_each(machine, owner, args, place)
    items = [*args[1:2], *owner.items]
    with machine.turn_by_turn(len(items)) as one_by_one:
        if not one_by_one:
            return m_each(machine, owner, args, place)
        value = items[0]
        for at, item in enumerate(items[1:]):
            value = machine.follow(function, [value, item, Value(number=at)], {}, first(args).owner)
    return value.labelled(owner.labels)


def m_filter(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    """Return the items for which a short function is not known to give false; all where that is not known of any."""
    function = first(args).function
    if function is None or owner.items is None or not _decides_alone(function) or len(owner.items) > MOST_SIMPLE_CALLS:
        met = m_each(machine, owner, args, place)
        chosen = met is not None or bool(first(args).name)
        return Value(items=owner.items, labels=owner.labels) if owner.items and chosen else met
    kept = [
        item
        for at, item in enumerate(owner.items)
        if machine.follow(function, [item, Value(number=at), owner], {}, first(args).owner).name != "False"
    ]
    return Value(items=kept, labels=owner.labels) if kept else m_each(machine, owner, args, place)


def _decides_alone(function: Function) -> bool:
    """Return whether an arrow function uses nothing but its parameters, so that no name from outside has changed."""
    if not function.simple or not isinstance(function.body, tuple):
        return False
    waiting = [function.body[0]]
    while waiting:
        node = waiting.pop()
        if node.type == "identifier" and code_of(node) not in function.parameters:
            return False
        waiting += node.named_children
    return True


def m_next(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    """Return what a generator gives next, whichever of its values that is."""
    return Value(fields={"value": either(owner.items)}) if owner.items else None


MOST_COMMANDS = 24
"""Lists in one list of which each is followed alone: put together, what is behind the first would not be read."""


STARTS = expression(rb"(?i)exec|spawn|\$`|\brun\b|command")
"""What code has in it that starts programs, or calls something that does."""


def are_commands(over: Value, body: Node | None) -> bool:
    """Return whether it is a list of arguments, or parts of them, of several commands that `body` starts."""
    items = over.items or ()
    if not 1 < len(items) <= MOST_COMMANDS:
        return False
    if all(one.items is not None and any(part.texts for part in one.items) for one in items):
        return True
    known = all(one.exact is not None or one.items is not None or one.fields is not None for one in items)
    return known and body is not None and STARTS.search(body.text or b"") is not None


def m_each(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    """map, forEach, filter, reduce over a known array."""
    chosen = first(args)
    if chosen.function is None or owner.items is None:
        return None
    body = chosen.function.body[0] if isinstance(chosen.function.body, tuple) else None
    if are_commands(owner, body) and not chosen.others:
        with machine.turn_by_turn(len(owner.items)) as one_by_one:
            made = [machine.follow(chosen.function, [one], {}, chosen.owner) for one in owner.items if one_by_one]
        if made:
            return Value(labels=labels_of(made) | owner.labels, name=made[-1].name)
    met = either(owner.items)
    functions = [(one.function, one.owner) for one in (chosen, *chosen.others) if one.function is not None]
    result = either([machine.follow(one, [met, UNKNOWN, owner], {}, whose) for one, whose in functions])
    return Value(labels=result.labels | owner.labels, name=result.name)


def m_find(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    """Return any of the items, of which the function chooses one."""
    met = m_each(machine, owner, args, place)
    return either(owner.items).labelled(owner.labels) if owner.items and met is not None else met


def mapped(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
    if owner.items is None or not args:
        return None
    if args[0].function is None:
        if args[0].name:
            with machine.turn_by_turn(len(owner.items)) as one_by_one:
                if one_by_one:
                    return Value(items=[machine.call(args[0], [item], {}, place) for item in owner.items])
            return machine.call(args[0], [either(owner.items)], {}, place)
        return None
    if args[0].others or len(owner.items) > (MOST_SIMPLE_CALLS if args[0].function.simple else MOST_CALLS):
        return m_each(machine, owner, args, place)
    function = args[0].function
    with machine.turn_by_turn(len(owner.items)) as one_by_one:
        if not one_by_one:
            return m_each(machine, owner, args, place)
        items = [machine.follow(function, [item, Value(number=i), owner], {}) for i, item in enumerate(owner.items)]
    return Value(items=items, labels=owner.labels)


def changed(change: Callable[[str], str]) -> Method:
    def method(machine: Machine, owner: Value, args: Args, place: Place) -> Value | None:
        return each(owner, change) if owner.texts else None

    return method


METHODS: dict[str, Method] = {
    "join": m_join,
    "reverse": m_reverse,
    "toReversed": m_reverse,
    "split": m_split,
    "replace": m_replace,
    "replaceAll": m_replace,
    "match": m_match,
    "get": m_get,
    "slice": m_slice,
    "substring": m_slice,
    "subarray": m_slice,
    "substr": m_substr,
    "charAt": m_char,
    "at": m_char,
    "charCodeAt": m_code,
    "codePointAt": m_code,
    "concat": m_concat,
    "toString": m_text,
    "push": m_push,
    "unshift": m_push,
    "pop": m_pop,
    "shift": m_shift,
    "forEach": m_each,
    "filter": m_filter,
    "next": m_next,
    "find": m_find,
    "reduce": m_reduce,
    "some": m_each,
    "every": m_each,
    "flatMap": m_each,
    "map": mapped,
    "trim": changed(str.strip),
    "toLowerCase": changed(str.lower),
    "toUpperCase": changed(str.upper),
    "valueOf": lambda machine, owner, args, place: owner,
}
