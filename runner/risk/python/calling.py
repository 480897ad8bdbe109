"""Python's functions that call what they are given: code as text, functions, methods by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.model import fold
from runner.risk.model.value import UNKNOWN, Value, text
from runner.risk.python.arguments import first
from runner.risk.python.names import reach
from runner.risk.python.sequences import listed, nothing_new
from runner.risk.trace.values import each_of

if TYPE_CHECKING:
    from runner.risk.model.acts import Place
    from runner.risk.python.arguments import Args, Named
    from runner.risk.trace.machine import Machine, Special


def run_text(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """exec, eval, compile: the text is code of this program."""
    code = args[0] if args else named.get("source", UNKNOWN)
    if called.name == "compile":
        return Value(code.texts, "compiled", code.labels, binary=code.binary)
    name = "exec" if code.name == "compiled" else called.name
    fields = {"code": code, "language": text("python"), "how": text(called.name), "text": code}
    done = machine.trail.add("execute", name, fields, place, called.labels)
    return machine.nested.executed(machine.walker, done, code)


def mapped(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    if len(args) < 2:
        return None
    function, values = args[0], args[1]
    if values.exact is not None:
        values = listed(machine, called, [values], {}, place) or values
    if values.items is not None and len(values.items) <= 4000:
        return Value(items=[machine.call(function, [item], {}, place) for item in values.items], labels=values.labels)
    return Value(labels=machine.call(function, [each_of(values)], {}, place).labels | values.labels)


def partial(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    if not args:
        return None
    bound = args[0].labelled(())
    made = Value(name="partial", labels=bound.labels, items=[*args])
    made.fields = dict(named)
    return made


def call_partial(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    if not called.items:
        return None
    return machine.call(called.items[0], [*called.items[1:], *args], {**(called.fields or {}), **named}, place)


def caller(*names: str) -> Special:
    """Return the handler of a call that calls a function it gets: threads, executors, timers."""

    def call(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
        target = next((named[name] for name in names if name in named), None)
        given = named.get("args", UNKNOWN)
        rest = given.items or []
        if target is None and args:
            position = next((i for i, arg in enumerate(args) if arg.function or arg.name), None)
            if position is None:
                return None
            target = args[position]
            rest = rest or args[position + 1 :]
            if len(rest) == 1 and rest[0].items is not None:
                rest = rest[0].items
        if target is None:
            return None
        result = machine.call(target, rest, (named.get("kwargs", UNKNOWN).fields or {}), place)
        return Value(name=f"{called.name}()", labels=result.labels)

    return call


def reduced(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """functools.reduce(function, values)."""
    items = args[1].items if len(args) > 1 else None
    if not items or len(items) > 200:
        return None
    value = items[0]
    for item in items[1:]:
        value = machine.call(args[0], [value, item], {}, place)
    return value


def ordered(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """sorted(values, key=function): the function gets each of them."""
    if (key := named.get("key")) is not None and (key.name or key.function):
        machine.call(key, [each_of(first(args))], {}, place)
    return nothing_new(machine, called, args, named, place)


def method_caller(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    return Value(name=called.name.replace("operator.", ""), items=[*args], fields=dict(named))


def call_method(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """Return what operator.methodcaller and operator.attrgetter make, called with an object."""
    if not called.items or not args or not called.items[0].texts:
        return None
    member = reach(machine, args[0], called.items[0].text, fold.ASSEMBLED)
    if called.name == "attrgetter":
        return member
    return machine.call(member, called.items[1:], called.fields or {}, place)
