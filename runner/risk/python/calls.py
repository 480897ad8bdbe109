"""Calls in a Python program: what is called, with what, and by which of the ways that only Python has.

`getattr(os, "sys" + "tem")("ls")` is two calls. The inner one is answered here, by `names.got`: the function
`os.system`, labelled as one whose name was put together. The outer one goes to `Machine.call`, which knows what
`os.system` does, as any call does of which nothing here says more.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import words
from runner.risk.model.value import NO_LABELS, Value, reference
from runner.risk.python.formatting import formatted
from runner.risk.python.names import got, lookup, reach
from runner.risk.python.syntax import hidden_name, is_written_out, place
from runner.risk.trace.shown import note_written
from runner.risk.trace.stores import ANY_CONDITION, ROWS_OF
from runner.risk.trace.values import each_of, element

if TYPE_CHECKING:
    from runner.risk.python.walker import Python


FINDERS = words(
    "__import__ importlib.import_module importlib.__import__ pydoc.locate pydoc.resolve pkgutil.resolve_name "
    "unittest.mock._importer"
)
"""Functions that give the module, or what is in it, whose name they get."""


def calls(walker: Python, node: ast.Call) -> Value:
    called = walker.value(node.func)
    args, named = _given(walker, node)
    if called.attribute == "pop" and called.owner is not None and is_written_out(node.func):
        return element(called.owner, args[0] if args else Value(number=-1))
    if called.attribute == "__getattribute__" and called.owner is not None and args and args[0].texts:
        return reach(
            walker.machine, called.owner, args[0].text, hidden_name(node.args[0]) if called.owner.name else NO_LABELS
        )
    if called.name == "getattr" and len(args) >= 2 and (found := got(walker.machine, args, node)) is not None:
        return found
    if called.attribute in ("format", "format_map") and called.owner is not None and called.owner.texts:
        mapping = args[0].fields if called.attribute == "format_map" and args else named
        return walker.machine.weighed(formatted(called.owner, args, dict(mapping or {})))
    if called.name == "getattr()" or ("module-by-data" in called.labels and ")" not in called.name):
        walker.trail.add("by-data", "getattr", {"what": Value(labels=called.labels)}, place(node))
    elif type(node.func) is ast.Subscript and called.function is None and type(node.func.slice) is not ast.Constant:
        _by_data(walker, node.func.slice, node)
    if called.name in FINDERS and args:
        return _module(walker, args[0], node, hidden_name(node.args[0]))
    made = _called_here(walker, node, called, args, named)
    if called.attribute in CONDITIONS or called.attribute == "query" or called.name in OF_ROWS:
        return _about_rows(called, made, args, node)
    return made


TRIED = "DryRun"


def _given(walker: Python, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    """Return the arguments of a call, by place and by name; a password that is written among them is noted."""
    args: list[Value] = []
    for arg in node.args:
        if type(arg) is ast.Starred:
            spread = walker.value(arg.value)
            args += spread.items if spread.items is not None else [each_of(spread)]
        else:
            args.append(walker.value(arg))
    named: dict[str, Value] = {}
    for keyword in node.keywords:
        value = walker.value(keyword.value)
        if keyword.arg is None:
            # What is in a mapping by now is not always known: what it would only try is taken for done.
            named.update({key: one for key, one in (value.fields or {}).items() if key != TRIED})
            continue
        named[keyword.arg] = value
        if type(keyword.value) is ast.Constant:
            note_written(walker.trail, keyword.arg, value.text, place(node))
    return args, named


def _about_rows(called: Value, made: Value, args: list[Value], node: ast.Call) -> Value:
    """Label what a call gives that is about rows of a table: which, and whether there may be no condition."""
    if called.attribute in CONDITIONS and _is_open(node):
        return made.labelled((ANY_CONDITION,))
    model = next((one.name.rpartition(".")[2] for one in args[:1] if CLASS.fullmatch(one.name)), "")
    return made.labelled((f"{ROWS_OF}{model}",)) if model and called.attribute not in CONDITIONS else made


CONDITIONS = words("filter filter_by exclude where")
"""Methods that choose among the rows of a table."""
OF_ROWS = words(
    "sqlalchemy.delete sqlalchemy.update sqlalchemy.sql.delete sqlalchemy.sql.update sqlalchemy.sql.expression.delete"
)
"""Functions that begin a statement about the rows of what they are given."""
CLASS = expression(r"(?:[\w.]{0,100}\.)?[A-Z]\w{0,60}")


def _is_open(node: ast.Call) -> bool:
    """Return whether there may be no condition at all: none is written, but perhaps taken from a list or a mapping."""
    written = [one for one in node.args if not isinstance(one, ast.Starred)]
    return not written and all(one.arg is None for one in node.keywords)


def _called_here(walker: Python, node: ast.Call, called: Value, args: list[Value], named: dict[str, Value]) -> Value:
    """Call what is written here as a call, and not handed to something that calls it."""
    machine = walker.machine
    if machine.mocked and _is_stand_in(walker, called, node.func):
        return Value(name=f"{called.name}()")
    machine.direct = called.function is not None
    machine.written = _names_of(node)
    result = machine.call(called, args, named, place(node))
    machine.direct = False
    return result


def _names_of(node: ast.Call) -> str:
    """Return the names that the program has for what a method is called on and for its first argument, `-` for none."""
    on = node.func.value if isinstance(node.func, ast.Attribute) else None
    first = node.args[0] if node.args else None
    return f"{on.id if isinstance(on, ast.Name) else '-'} {first.id if isinstance(first, ast.Name) else '-'}"


def _is_stand_in(walker: Python, called: Value, written: ast.expr) -> bool:
    """Return whether a test has replaced a function that is called here as one of its module, `shutil.rmtree(...)`.

    A name of its own, got before, would still stand for the function itself.
    """
    match written:
        case ast.Attribute(value=ast.Name(id=name)) if called.name in walker.machine.mocked:
            module = lookup(walker.machine, name)
            return module.is_plain and called.name == f"{module.name}.{written.attr}"
        case _:
            return False


def _by_data(walker: Python, key: ast.expr, node: ast.Call) -> None:
    """Note a call of whatever a value names: `globals()[name]()`."""
    what = walker.value(key)
    if what.labels and what.exact is None:
        walker.trail.add("by-data", "[]", {"what": Value(labels=what.labels)}, place(node))


def _module(walker: Python, module: Value, node: ast.Call, hidden: frozenset[str]) -> Value:
    known = module.exact.replace(":", ".") if module.exact is not None else None
    walker.trail.add("import", known or "", {"module": module}, place(node))
    if known is None:
        return Value(labels=module.labels | {"module-by-data"})
    return reference(known, hidden)
