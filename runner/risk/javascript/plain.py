"""Plain JavaScript programs as the Python that means the same, so that one reading of loops does for both languages.

Only what is known becomes something: a program with anything else in it is `NotPlain`, and an expression of which the
value is not known becomes one of which nothing is said. Every binding gets a name of its own, so that names of
different blocks are never taken for each other.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from runner.risk.javascript import plain_names as names
from runner.risk.javascript.plain_pieces import negated, unknown
from runner.risk.javascript.plain_scopes import FUNCTIONS, NotPlain, PlainScope, of_type
from runner.risk.javascript.plain_values import PlainValues, is_async, operator_of, part
from runner.risk.javascript.syntax import code_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

LIBRARY = ("os", "shutil", "time")


class ListStep(NamedTuple):
    """`filter` or `map` on the way from a listing to a loop."""

    method: str
    function: Node
    scope: PlainScope


def as_python(root: Node) -> ast.Module:
    """Return the Python program. Raises NotPlain."""
    return ast.Module([ast.Import([ast.alias(one) for one in LIBRARY]), *_Program(root).all()], [])


class _Program(PlainValues):
    def all(self) -> list[ast.stmt]:
        scope = PlainScope()
        self.hoist(self.root, scope)
        found = self.block(self.root.named_children, scope)
        self.settle()
        return found

    # ---- statements ----

    def block(self, nodes: Sequence[Node], scope: PlainScope) -> list[ast.stmt]:
        for node in nodes:
            match node.type:
                case "lexical_declaration":
                    self.declare_all(node, scope)
                case "function_declaration":
                    self.declare(scope, self.met(part(node, "name")))
                case "import_statement":
                    self.load(node, scope)
        found: list[ast.stmt] = []
        for node in nodes:
            before, self.waiting = self.waiting, []
            done = self._statement(node, scope)
            found += [*self.waiting, *done]
            self.waiting = before
        return found

    def _inner(self, node: Node | None, scope: PlainScope) -> list[ast.stmt]:
        """Return a block, or one statement in place of one; never empty."""
        if node is None:
            return [ast.Pass()]
        inside = node.named_children if node.type == "statement_block" else [node]
        return self.block(inside, PlainScope(scope)) or [ast.Pass()]

    def _statement(self, node: Node, scope: PlainScope) -> list[ast.stmt]:
        if node.type in names.TYPES_ALONE or node.type == "import_statement":
            return []
        handler = STATEMENTS.get(node.type)
        if handler is None:
            raise NotPlain
        return handler(self, node, scope)

    def _standing(self, node: Node, scope: PlainScope) -> list[ast.stmt]:
        return self.expression(node.named_children[0], scope)

    def _defined(self, node: Node, scope: PlainScope) -> list[ast.stmt]:
        return [self.function(node, scope, self.declare(scope, self.met(part(node, "name"))))]

    def _if(self, node: Node, scope: PlainScope) -> list[ast.stmt]:
        other = node.child_by_field_name("alternative")
        test = self.value(part(node, "condition"), scope)
        body = self._inner(node.child_by_field_name("consequence"), scope)
        return [ast.If(test, body, [] if other is None else self._inner(other.named_children[-1], scope))]

    def _leaves(self, node: Node, scope: PlainScope) -> list[ast.stmt]:
        given = [one for one in node.named_children if one.type != "comment"]
        match node.type, given:
            case "return_statement", [*found]:
                return [ast.Return(self.value(found[0], scope) if found else None)]
            case "throw_statement", [thrown]:
                return [ast.Raise(self.value(thrown, scope))]
            case "continue_statement", []:
                return [ast.Continue()]
            case "break_statement", []:
                return [ast.Break()]
            case _:
                raise NotPlain  # it leaves something further out

    def expression(self, node: Node, scope: PlainScope) -> list[ast.stmt]:
        operator = operator_of(node)
        if node.type == "binary_expression" and operator in ("&&", "||"):
            test = self.value(part(node, "left"), scope)
            done = self.expression(part(node, "right"), scope)
            return [ast.If(test if operator == "&&" else negated(test), done, [])]
        if (loop := self._each(node, scope)) is not None:
            return loop
        return [ast.Expr(self.value(node, scope))]

    def _declared(self, node: Node, scope: PlainScope) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for one in of_type(node, "variable_declarator"):
            name, value = part(one, "name"), one.child_by_field_name("value")
            holder = scope.holder(code_of(name)) if name.type == "identifier" else None
            if holder is None or code_of(name) in holder.library:
                continue  # a part of the library
            own = holder.own[code_of(name)]
            if value is not None and value.type in FUNCTIONS:
                found.append(self.function(value, scope, own))
            else:
                given = unknown() if value is None else self.value(value, scope)
                found.append(ast.Assign([ast.Name(own, ast.Store())], given))
        return found

    def _while(self, node: Node, outer: PlainScope) -> list[ast.stmt]:
        scope = PlainScope(outer)
        first = node.child_by_field_name("initializer")
        begun = self.block([first], scope) if first is not None else []
        condition, step = node.child_by_field_name("condition"), node.child_by_field_name("increment")
        while condition is not None and condition.type in ("expression_statement", "empty_statement"):
            condition = condition.named_children[0] if condition.named_children else None
        body = self._inner(node.child_by_field_name("body"), scope)
        if step is not None:
            body.append(ast.Expr(self.value(step, scope)))
        return [*begun, ast.While(unknown() if condition is None else self.value(condition, scope), body, [])]

    def _try(self, node: Node, scope: PlainScope) -> list[ast.stmt]:
        handlers: list[ast.ExceptHandler] = []
        if (caught := node.child_by_field_name("handler")) is not None:
            inner, parameter = PlainScope(scope), caught.child_by_field_name("parameter")
            if parameter is not None and parameter.type != "identifier":
                raise NotPlain
            name = None if parameter is None else self.declare(inner, self.met(parameter))
            handlers.append(ast.ExceptHandler(None, name, self._inner(caught.child_by_field_name("body"), inner)))
        last = node.child_by_field_name("finalizer")
        final = self._inner(last.child_by_field_name("body"), scope) if last is not None else []
        return [ast.Try(self._inner(node.child_by_field_name("body"), scope), handlers, [], final)]

    def _switch(self, node: Node, outer: PlainScope) -> list[ast.stmt]:
        scope = PlainScope(outer)
        about = self.value(part(node, "value"), scope)
        cases = [one for one in part(node, "body").named_children if one.type != "comment"]
        values = [one.child_by_field_name("value") for one in cases]
        bodies = [[inner for inner in one.children_by_field_name("body") if inner.is_named] for one in cases]
        leave = [[inner.type for inner in body if inner.type != "comment"] for body in bodies]
        if all(values) and cases and leave[-1] and all(one in ([], ["continue_statement"]) for one in leave):
            wanted = [self.value(one, scope) for one in values if one is not None]
            inside = [one for body in bodies for one in body]
            return [ast.If(ast.Compare(about, [ast.In()], [ast.List(wanted)]), self.block(inside, scope), [])]
        found: list[ast.stmt] = [ast.Expr(about)]
        for value, body in zip(values, bodies, strict=True):
            test = unknown() if value is None else unknown(self.value(value, scope))
            found.append(ast.If(test, self.block(body, scope) or [ast.Pass()], []))
        return found

    # ---- loops ----

    def _for(self, node: Node, scope: PlainScope) -> list[ast.stmt]:
        target, inner = part(node, "left"), PlainScope(scope)
        declared = any(child.type in ("const", "let", "var") for child in node.children)
        if target.type != "identifier" or not declared:
            raise NotPlain
        over = part(node, "right")
        if any(child.type == "in" for child in node.children):
            listed: list[ast.stmt] = [ast.Expr(self.value(over, scope))]
            own = ast.Name(self.declare(inner, self.met(target)), ast.Store())
            return [*listed, ast.For(own, unknown(), self._inner(node.child_by_field_name("body"), inner), [])]
        streamed = any(child.type == "await" for child in node.children)
        begun = _Begun(self, over, scope, streamed=streamed)
        own = ast.Name(self.declare(inner, self.met(target)), ast.Store())
        body = [ast.Assign([own], begun.each), *self._inner(node.child_by_field_name("body"), inner)]
        return [begun.loop(body)]

    def _each(self, node: Node, scope: PlainScope) -> list[ast.stmt] | None:
        """Return the loop that `listing.forEach(f)` or `Promise.all(listing.map(f))` is; None for anything else."""
        node = self.bare(node)
        called, given = _called(node)
        if called is None or len(given) != 1:
            return None
        method = "forEach"
        if self.part_of_library(called, scope) in ("Promise.all", "Promise.allSettled"):
            node, method = self.bare(given[0]), "map"
            called, given = _called(node)
        if called is None or called.type != "member_expression" or len(given) != 1 or given[0].type not in FUNCTIONS:
            return None
        if code_of(called.named_children[-1]) != method or self.part_of_library(called, scope):
            return None
        begun = _Begun(self, called.named_children[0], scope)
        return [begun.loop(self._turn(given[0], begun, scope))]

    def _turn(self, function: Node, begun: _Begun, scope: PlainScope) -> list[ast.stmt]:
        """Return what a function does that is called for each thing in a list."""
        inner = PlainScope(scope)
        return [*_given(self.parameters(function, inner), begun.each), *self.body(function, inner, returns=False)]


STATEMENTS: dict[str, Callable[[_Program, Node, PlainScope], list[ast.stmt]]] = {
    "expression_statement": _Program._standing,
    "lexical_declaration": _Program._declared,
    "variable_declaration": _Program._declared,
    "function_declaration": _Program._defined,
    "statement_block": _Program._inner,
    "if_statement": _Program._if,
    "for_in_statement": _Program._for,
    "for_statement": _Program._while,
    "while_statement": _Program._while,
    "do_statement": _Program._while,
    "try_statement": _Program._try,
    "switch_statement": _Program._switch,
    "return_statement": _Program._leaves,
    "throw_statement": _Program._leaves,
    "continue_statement": _Program._leaves,
    "break_statement": _Program._leaves,
}


class _Begun:
    """A loop over a listing, with what `filter` and `map` make of each thing in it before its own statements."""

    def __init__(self, program: _Program, over: Node, scope: PlainScope, *, streamed: bool = False) -> None:
        self._program = program
        self._before: list[ast.stmt] = []
        self._name = program.fresh(scope)
        self.each: ast.expr = ast.Name(self._name, ast.Load())
        """What a turn is about."""
        node, steps, within = self._steps(over, scope)
        listing = program.value(node, within, awaited=streamed)
        self._listing = listing
        for step in reversed(steps):
            self._step(step)

    def loop(self, body: list[ast.stmt]) -> ast.stmt:
        return ast.For(ast.Name(self._name, ast.Store()), self._listing, [*self._before, *body], [])

    def _steps(self, node: Node, scope: PlainScope) -> tuple[Node, list[ListStep], PlainScope]:
        """Return the listing itself, the steps after it with the last one first, and where its names are declared."""
        steps: list[ListStep] = []
        while True:
            inner = self._program.bare(node, calls=False)
            if inner.type == "identifier":
                holder = scope.holder(code_of(inner))
                declared = holder.constants.get(code_of(inner)) if holder is not None else None
                if declared is None or holder is None or self._program.seen[code_of(inner)] != 2:
                    return node, steps, scope
                self._program.met(inner)
                node, scope = declared, holder
                continue
            called, given = _called(inner)
            if called is None or called.type != "member_expression" or self._program.part_of_library(called, scope):
                return node, steps, scope
            method = code_of(called.named_children[-1])
            if method in ("filter", "map") and len(given) == 1 and given[0].type in FUNCTIONS:
                steps.append(ListStep(method, given[0], scope))
            elif method not in names.ORDERS:
                return node, steps, scope
            else:
                self._before += [ast.Expr(self._program.value(one, scope)) for one in given]
            node = called.named_children[0]

    def _step(self, step: ListStep) -> None:
        program, inner = self._program, PlainScope(step.scope)
        if is_async(step.function):
            raise NotPlain  # a promise is always true
        self._before += _given(program.parameters(step.function, inner), self.each)
        *before, last = program.body(step.function, inner)
        if not isinstance(last, ast.Return) or last.value is None or not all(map(_is_declaration, before)):
            raise NotPlain
        self._before += before
        if step.method == "filter":
            self._before.append(ast.If(negated(last.value), [ast.Continue()], []))
        else:
            made = program.fresh(inner)
            self._before.append(ast.Assign([ast.Name(made, ast.Store())], last.value))
            self.each = ast.Name(made, ast.Load())


def _given(parameters: Sequence[str], first: ast.expr) -> list[ast.stmt]:
    """Return the statements that give parameters their values: the first is known, which place it has is not."""
    values = [first, *(unknown() for _ in parameters[1:])]
    return [ast.Assign([ast.Name(one, ast.Store())], value) for one, value in zip(parameters, values, strict=False)]


def _is_declaration(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign | ast.FunctionDef)


def _called(node: Node) -> tuple[Node | None, list[Node]]:
    """Return what a call calls and its arguments; None where it is no call."""
    given = node.child_by_field_name("arguments") if node.type == "call_expression" else None
    if given is None or given.type != "arguments":
        return None, []
    return node.child_by_field_name("function"), [one for one in given.named_children if one.type != "comment"]
