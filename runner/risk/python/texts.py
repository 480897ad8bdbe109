"""Python's functions that decode, encode and parse texts."""

from __future__ import annotations

import codecs
import re
import shlex
from typing import TYPE_CHECKING

from runner.risk.model import fold
from runner.risk.model.value import UNKNOWN, Value, concatenate, each, text
from runner.risk.python.arguments import first
from runner.risk.python.sequences import nothing_new

if TYPE_CHECKING:
    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine


def decoder(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return fold.decoded(called.name, args[0] if args else named.get("s", UNKNOWN))


def codec(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """codecs.decode(text, codec) and codecs.encode."""
    name = (args[1] if len(args) > 1 else UNKNOWN).text
    return recoded(first(args), name)


def coder(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """codecs.getdecoder(codec): a function, whose result is a pair."""
    made = Value(name="codec", items=None, labels=called.labels)
    made.fields = {"codec": first(args)}
    return made


def call_coder(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    name = (called.fields or {}).get("codec", UNKNOWN).text
    return Value(items=[recoded(first(args), name), UNKNOWN])


def recoded(value: Value, name: str) -> Value:
    """Return `value` through the codec called `name`."""
    try:
        codecs.lookup(name)
    except (LookupError, ValueError):
        return Value(value.texts, labels=value.labels)
    labels = fold.DECODED if fold.is_code(name) else ()
    return each(value, lambda known: fold.coded(known, name), labels=labels)


def template(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return Value(first(args).texts, "string.Template()", first(args).labels)


def substituted(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """string.Template(...).substitute(a="x")."""
    owner = called.owner
    if owner is None or not owner.texts:
        return None
    values = {**(first(args).fields or {}), **named}
    parts = re.split(r"(\$\w+|\$\{\w+\})", owner.text)
    pieces = [values.get(part.strip("${}"), UNKNOWN) if part[:1] == "$" and part[1:] else text(part) for part in parts]
    return concatenate(pieces).labelled(owner.labels)


def from_json(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    known = fold.parsed_json(value.exact) if value.exact is not None and len(value.exact) < 20_000 else None
    return known.labelled(value.labels) if known is not None else nothing_new(machine, called, args, named, place)


def shell_words(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    value = first(args)
    try:
        parts = shlex.split(value.exact or "")
    except ValueError:
        parts = []
    if not parts:
        return Value(labels=value.labels)
    return Value(items=[text(part, labels=value.labels) for part in parts], labels=value.labels)
