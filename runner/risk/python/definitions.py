"""Functions and classes that a Python program defines, with what their decorators make of them.

Nothing of a body is looked at where it stands: `define` keeps it with its parameters and the scope around it, and
`Machine.follow` goes through it for each call. Of a class the body is gone through at once, as Python does; functions
in it then become methods, which get their object as the first parameter.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.risk.model.value import Class, Function, Scope, Value
from runner.risk.python.mocking import mocked_by
from runner.risk.python.names import assign
from runner.risk.python.records import parts_of
from runner.risk.python.replaced_in_tests import asked_for, in_tests_of, kept_by_fixture, of_decorated, rows_put_back
from runner.risk.python.syntax import place
from runner.risk.trace.machine import SET_UP

if TYPE_CHECKING:
    from runner.risk.python.walker import Python


def anonymous(walker: Python, node: ast.Lambda) -> Value:
    return define(walker, "", node.args, node.body, simple=True)


def define(walker: Python, name: str, arguments: ast.arguments, body: object, simple: bool = False) -> Value:
    parameters = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(zip(reversed(parameters), map(walker.value, reversed(arguments.defaults)), strict=False))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[argument.arg] = walker.value(default)
    function = Function(
        name, parameters, body, walker.machine.scope, defaults, simple=simple, reduces=name.startswith("__reduce")
    )
    function.by_name = [argument.arg for argument in arguments.kwonlyargs]
    if arguments.vararg is not None:
        function.rest = arguments.vararg.arg
    walker.machine.functions.append(function)
    made = Value()
    made.function = function
    return made


def function(walker: Python, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    made = define(walker, node.name, node.args, node.body)
    if made.function is not None:
        made.function.short = isinstance(node.body[0], ast.Return)
        made.function.later = isinstance(node, ast.AsyncFunctionDef)
    unseen = True
    for decorator in reversed(node.decorator_list):
        called = walker.value(decorator)
        known = called.function is not None or called.name in ("staticmethod", "classmethod", "property")
        if not known or called.function is not None:
            if made.function is not None and unseen:
                made.function.mocked += mocked_by(walker, decorator, called) + rows_put_back(walker, node, decorator)
            # Another one below may keep the function as it is without what is replaced, to call it later.
            unseen = unseen and called.name.startswith(("unittest.mock.", "pytest.mark."))
            result = walker.machine.call(called, [made], {}, place(decorator))
            if called.function is not None and _takes_its_place(walker, result):
                made = result
        elif called.name == "property" and made.function is not None:
            made.function.getter = True
        if called.name.startswith("pytest.fixture") and made.function is not None and not walker.machine.scope.parent:
            walker.fixtures[node.name] = made.function
            if replaced := kept_by_fixture(walker, node):
                walker.keeping[node.name] = replaced
    if made.function is not None and unseen and (replaced := asked_for(walker, node)):
        made.function.mocked += replaced
    assign(walker.machine, node.name, made)


def _takes_its_place(walker: Python, result: Value) -> bool:
    """Return whether it is known what a decorator has put in a function's place."""
    if result.function is not None or result.kind is not None or result.texts or result.items is not None:
        return True
    return result.fields is not None or walker.vocabulary.knows(result.name) or result.name in walker.specials


def classes(walker: Python, node: ast.ClassDef) -> None:
    bases = [walker.value(base) for base in node.bases]
    kind = Class(node.name, bases, {}, parts_of(node, bases))
    made = Value()
    made.kind = kind
    machine = walker.machine
    inside = Scope(machine.scope)
    assign(machine, node.name, made)
    outside, machine.scope = machine.scope, inside
    try:
        walker.block(node.body)
    finally:
        machine.scope = outside
    replaced, decorated = in_tests_of(walker, node, bases), of_decorated(walker, node)
    kind.members = inside.names
    for member, value in inside.names.items():
        if (function := value.function) is not None and function.scope is inside:
            function.scope = outside
            static = _static(node, member)
            if replaced and member.startswith("test") and not static:
                function.mocked += replaced
            if decorated and (member.startswith("test") or member in SET_UP):
                function.mocked += decorated
            if function.parameters and not static:
                function.self_name = function.parameters.pop(0)
                function.of = kind
    for keyword in node.keywords:
        walker.value(keyword.value)
    given = made
    for decorator in reversed(node.decorator_list):
        given = machine.call(walker.value(decorator), [given], {}, place(decorator))


def _static(node: ast.ClassDef, member: str) -> bool:
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name == member:
            return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in statement.decorator_list)
    return False
