"""Follows a Python program by its `ast`, statement by statement."""

from __future__ import annotations

import ast
import contextlib
from typing import TYPE_CHECKING, Any, cast

from runner.risk.model import fold
from runner.risk.model.bounds import excerpt
from runner.risk.model.outline_data import words
from runner.risk.model.value import UNKNOWN, Class, Function, Scope, Value, either, reference, text
from runner.risk.python.conditions import depends_on, floods
from runner.risk.python.expressions import PythonExpressions
from runner.risk.python.held_modules import full_name
from runner.risk.python.names import BUILTINS
from runner.risk.python.operators import OPERATORS
from runner.risk.python.records import parts_of
from runner.risk.python.statements_run import examples
from runner.risk.python.syntax import Unparsed, parse, place
from runner.risk.python.syntax import place as at
from runner.risk.trace.conditions import note_condition
from runner.risk.trace.machine import DEEPEST, TooDeep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Place


class Python(PythonExpressions):
    """One Python program. `run` goes through it; what it does is on the trail afterwards."""

    _statements: Sequence[ast.stmt] = ()
    _may_give_back: bool | None = None

    def run(self, tree: ast.Module) -> Value:
        """Go through a module and then through the functions it does not call. The value of its last expression."""
        self._statements = tree.body
        value = self.block(tree.body)
        if any(act.kind == "import" and act.name == "doctest" for act in self.trail.acts):
            self._doctest(tree)
        self.leftovers()
        return value

    def _doctest(self, tree: ast.Module) -> None:
        """Follow the examples in docstrings, which `doctest` runs."""
        if code := examples(tree.body):
            with self.trail.inside((1, 0, 1, 0), excerpt(code, 200), "python"), contextlib.suppress(Unparsed):
                self.inner(code)

    def inner(self, code: str) -> Value:
        tree, _ = parse(code.lstrip())
        return self.block(tree.body)

    def enter(self, function: Function) -> None:
        if function.simple:
            self.returned[-1].append(self.value(cast("ast.expr", function.body)))
        else:
            self.block(cast("Sequence[ast.stmt]", function.body))

    def runs_later(self, function: Function) -> bool:
        body = [] if function.simple else cast("Sequence[ast.stmt]", function.body)
        return function.later or any(
            isinstance(one, ast.Yield | ast.YieldFrom) for part in body for one in ast.walk(part)
        )

    def block(self, statements: Sequence[ast.stmt]) -> Value:
        last = UNKNOWN
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        for statement in statements:
            self.budget.spend()
            handler = STATEMENTS.get(type(statement))
            if handler is not None:
                last = handler(self, statement) or UNKNOWN
        self.depth -= 1
        return last

    def branch(self, statements: Sequence[ast.stmt]) -> None:
        self.branches += 1
        try:
            self.block(statements)
        finally:
            self.branches -= 1

    def expression(self, node: ast.Expr) -> Value:
        return self.value(node.value)

    def imports(self, node: ast.Import) -> None:
        for alias in node.names:
            self.trail.add("import", alias.name, {"module": text(alias.name)}, place(node))
            if alias.asname:
                self.assign(alias.asname, reference(alias.name))
            else:
                first = alias.name.partition(".")[0]
                self.assign(first, reference(first))

    def imports_from(self, node: ast.ImportFrom) -> None:
        module = "." * node.level + (node.module or "")
        self.trail.add("import", module, {"module": text(module)}, place(node))
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
                continue
            name = full_name(module, alias.name)
            self.has_arguments = self.has_arguments or name == "sys.argv"
            if module in BUILTINS or (module in ("io", "codecs") and alias.name == "open"):
                name = alias.name
            self.assign(alias.asname or alias.name, reference(name))

    def assignment(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.bind(target, value)

    def annotated(self, node: ast.AnnAssign) -> None:
        if any(isinstance(part, ast.Call) for part in ast.walk(node.annotation)):
            self.value(node.annotation)  # it is worked out as well
        if node.value is not None:
            self.bind(node.target, self.value(node.value))

    def augmented(self, node: ast.AugAssign) -> None:
        left = self.value(node.target)
        right = self.value(node.value)
        value = self.weighed(fold.added(left, right, OPERATORS.get(type(node.op), "?")))
        if value.texts and len(value.text) > 3:
            value = Value(value.texts, labels=value.labels - fold.ASSEMBLED | left.labels | right.labels)
        self.bind(node.target, value)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        made = self.define(node.name, node.args, node.body)
        if made.function is not None:
            made.function.short = isinstance(node.body[0], ast.Return)
            made.function.later = isinstance(node, ast.AsyncFunctionDef)
        for decorator in reversed(node.decorator_list):
            called = self.value(decorator)
            known = called.function is not None or called.name in ("staticmethod", "classmethod", "property")
            if not known or called.function is not None:
                if made.function is not None:
                    named = MOCKERS.get(called.name.removesuffix("()"), ())
                    made.function.mocked += named or self._patched(decorator, called)
                result = self.call(called, [made], {}, place(decorator))
                if called.function is not None and self._takes_its_place(result):
                    made = result
            elif called.name == "property" and made.function is not None:
                made.function.getter = True
            if called.name.startswith("pytest.fixture") and made.function is not None and not self.scope.parent:
                self.fixtures[node.name] = made.function
        self.assign(node.name, made)

    def _takes_its_place(self, result: Value) -> bool:
        """Return whether it is known what a decorator has put in a function's place."""
        if result.function is not None or result.kind is not None or result.texts or result.items is not None:
            return True
        return result.fields is not None or self.vocabulary.knows(result.name) or result.name in self.specials

    def classes(self, node: ast.ClassDef) -> None:
        bases = [self.value(base) for base in node.bases]
        kind = Class(node.name, bases, {}, parts_of(node, bases))
        made = Value()
        made.kind = kind
        inside = Scope(self.scope)
        self.assign(node.name, made)
        outside, self.scope = self.scope, inside
        try:
            self.block(node.body)
        finally:
            self.scope = outside
        kind.members = inside.names
        for member, value in inside.names.items():
            if (function := value.function) is not None and function.scope is inside:
                function.scope = outside
                static = _static(node, member)
                if function.parameters and not static:
                    function.self_name = function.parameters.pop(0)
                    function.of = kind
        for keyword in node.keywords:
            self.value(keyword.value)
        given = made
        for decorator in reversed(node.decorator_list):
            given = self.call(self.value(decorator), [given], {}, place(decorator))

    def answer_place(self, function: Function, place: Place) -> Place:
        """Return where a function returns last."""
        body = function.body
        for statement in reversed(body) if isinstance(body, list) else ():
            if isinstance(statement, ast.Return):
                return at(statement)
        return place

    def returns(self, node: ast.Return) -> None:
        if node.value is not None:
            value = self.value(node.value)
            if self.returned:
                self.returned[-1].append(value)

    def conditional(self, node: ast.If) -> None:
        current: ast.If = node
        while True:
            test, start = self.value(current.test), len(self.trail.acts)
            self.branch(current.body)
            if test.labels:
                note_condition(self.trail, depends_on(current.test, test), start, place(current.test))
            if len(current.orelse) == 1 and isinstance(current.orelse[0], ast.If):
                current = current.orelse[0]
                continue
            self.branch(current.orelse)
            return

    def loop(self, node: ast.For | ast.AsyncFor) -> None:
        over = self.value(node.iter)
        turns = fold.spread(over) if _collects(node.body) else None
        before = self.scope.names.get(node.target.id) if isinstance(node.target, ast.Name) and self.branches else None
        with self.turn_by_turn(len(turns or ())) as one_by_one:
            # A text that grows turn by turn: how names and commands are put together.
            for turn in (turns or ()) if one_by_one else ():
                self.budget.spend(5)
                self._bind_turn(node.target, turn)
                with self.trail.again() if _is_given(node.iter) else contextlib.nullcontext():
                    self.block(node.body)
        if turns and one_by_one:
            if isinstance(node.target, ast.Name) and before is not None:
                self.scope.names[node.target.id] = self._merged(before, self.scope.names[node.target.id])
            return
        if isinstance(node.target, ast.Name):
            self._perhaps(node.target.id, self.each(over))
        else:
            self.bind(node.target, self.each(over))
        self.again(node.body)
        self.branch(node.orelse)

    def _perhaps(self, name: str, value: Value) -> None:
        """Assign what may never be assigned: a function that the name stood for may still be called by it."""
        before = self.name(name)
        self.assign(name, value)
        if self.calls_for_sure(before):
            self.scope.names[name] = either((self.scope.names.get(name, value), before))

    def _bind_turn(self, target: ast.expr, turn: Value) -> None:
        """Bind the names of one turn: each turn sets them, also in a branch."""
        branches, self.branches = self.branches, 0
        try:
            self.bind(target, turn)
        finally:
            self.branches = branches

    def again(self, statements: Sequence[ast.stmt]) -> None:
        """Go through the body of a loop."""
        with self.trail.again():
            self.branch(statements)

    def repeat(self, node: ast.While) -> None:
        self.value(node.test)
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        if endless:
            self.trail.add("forever", "while", {}, place(node.test))
            if (flood := floods(node.body)) is not None:
                self.trail.add("flood", "while", {"what": text(flood[1])}, place(flood[0]))
        self.endless += endless
        self.again(node.body)
        self.endless -= endless
        self.branch(node.orelse)

    def attempt(self, node: ast.Try) -> None:
        before = len(self.raised)
        self.branch(node.body)
        caught = self.caught(before)
        for handler in node.handlers:
            if handler.name is not None:
                self._perhaps(handler.name, caught)
            self.branch(handler.body)
        self.branch(node.orelse)
        self.block(node.finalbody)

    def using(self, node: ast.With | ast.AsyncWith) -> None:
        kept, folder, moved = self.mocked, self.trail.folder, False
        for item in node.items:
            value = self.value(item.context_expr)
            if value.name == "contextlib.chdir()":
                self.trail.go((value.fields or {}).get("path", UNKNOWN))
                moved = True
            self.mocked += MOCKERS.get(value.name.removesuffix("()"), ()) or self._patched(item.context_expr, value)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        self.block(node.body)
        self.mocked = kept
        if moved:
            self.trail.folder = folder

    def _patched(self, node: ast.expr, value: Value) -> tuple[str, ...]:
        """Return the function that `patch("module.function")` replaces, unless what takes its place may be given."""
        match node:
            case ast.Call(args=[ast.Constant(value=str(target))], keywords=named) if (
                value.name == "unittest.mock.patch()"
                and all(one.arg == "return_value" for one in named)
                and not self._gives_back()
            ):
                return (target,)
            case _:
                return ()

    def _gives_back(self) -> bool:
        """Return whether the program has a name by which what a test replaces may do, after all, what it did before."""
        if self._may_give_back is None:
            found = (one for part in self._statements for one in ast.walk(part))
            self._may_give_back = any(not GIVES_BACK.isdisjoint(_names(one)) for one in found)
        return self._may_give_back

    def globals(self, node: ast.Global | ast.Nonlocal) -> None:
        self.scope.outer = (self.scope.outer or set()) | set(node.names)

    def removes(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.value(target)
            if isinstance(target, ast.Name) and (own := self.scope.names.pop(target.id, None)) is not None:
                # Without the program's own, the name stands for what Python has of it.
                before = self.name(target.id)
                self.scope.names[target.id] = either((own, before)) if self.calls_for_sure(before) else own

    def raises(self, node: ast.Raise) -> None:
        if node.exc is not None:
            raised = self.value(node.exc)
            if isinstance(node.exc, ast.Call) and node.exc.args and (raised.kind is None or raised.fields is not None):
                given = [self.value(one) for one in node.exc.args]
                fields = {"args": Value(items=given), **(raised.fields or {})}
                made = Value(given[0].texts, labels=given[0].labels, fields=fields)
                made.kind = raised.kind
                raised = made
            self.raised.append(raised)

    def asserts(self, node: ast.Assert) -> None:
        self.value(node.test)
        if node.msg is not None:
            self.value(node.msg)

    def matches(self, node: ast.Match) -> None:
        subject = self.value(node.subject)
        for case in node.cases:
            for part in ast.walk(case.pattern):
                if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name:
                    self._perhaps(part.name, subject)
            self.branch(case.body)


GIVES_BACK = words(
    "side_effect wraps new_callable stopall temp_original configure_mock attach_mock reload setattr __setattr__ "
    "__dict__ vars exec eval compile globals importlib modules ctypes stop"
)


def _names(node: ast.AST) -> tuple[str, ...]:
    """Return the names that a part of a program has in itself, and what it stores `patch` in."""
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del(), value=ast.Name(id=owner)) if owner != "self":
            return ("setattr",)
        case ast.Name(id="patch", ctx=ast.Store()):
            return ("setattr",)
        case ast.GeneratorExp() if any(isinstance(one, ast.Call) for one in ast.walk(node)):
            return ("setattr",)  # it may run after the test
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return (name,)
        case ast.keyword(arg=str(name)) | ast.alias(name=name) | ast.ImportFrom(module=str(name)):
            return (name,)
        case ast.Constant(value=str(written)):
            return (written,) if written in GIVES_BACK else ()
        case ast.FunctionDef(name="patch") | ast.ClassDef(name="patch"):
            return ("setattr",)
        case _:
            return ()


OF_REQUESTS = ("requests.", "urllib.request.", "urllib3.", "http.client.", "httpx.")
MOCKERS: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("responses.activate", "responses.RequestsMock", "requests_mock.Mocker", "respx.mock", "httpretty.activate"),
    OF_REQUESTS,
) | dict.fromkeys(
    ("moto.mock_aws", *(f"moto.mock_{name}" for name in ("s3", "dynamodb", "sqs", "sns", "ec2", "secretsmanager"))),
    ("boto3.", "botocore.", "aioboto3."),
)
"""Decorators and contexts in which requests go nowhere, and what the names of those functions begin with."""


def _collects(body: Sequence[ast.stmt]) -> bool:
    """Return whether a loop's body is short and adds to a text or a list."""
    return len(body) <= 4 and any(
        isinstance(statement, ast.AugAssign)
        or (isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp | ast.Call))
        or (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and isinstance(statement.value.func, ast.Attribute)
            and statement.value.func.attr == "append"
        )
        for statement in body
    )


def _is_given(node: ast.expr) -> bool:
    """Return whether what a loop goes through is what a call gives, which may be more than what is known of it."""
    return isinstance(node, ast.Call) and not (
        isinstance(node.func, ast.Name) and node.func.id in ("range", "enumerate")
    )


def _static(node: ast.ClassDef, member: str) -> bool:
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and statement.name == member:
            return any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in statement.decorator_list)
    return False


STATEMENTS: dict[type[ast.stmt], Any] = {
    ast.Expr: Python.expression,
    ast.Import: Python.imports,
    ast.ImportFrom: Python.imports_from,
    ast.Assign: Python.assignment,
    ast.AnnAssign: Python.annotated,
    ast.AugAssign: Python.augmented,
    ast.FunctionDef: Python.function,
    ast.AsyncFunctionDef: Python.function,
    ast.ClassDef: Python.classes,
    ast.Return: Python.returns,
    ast.If: Python.conditional,
    ast.For: Python.loop,
    ast.AsyncFor: Python.loop,
    ast.While: Python.repeat,
    ast.Try: Python.attempt,
    ast.TryStar: Python.attempt,
    ast.With: Python.using,
    ast.AsyncWith: Python.using,
    ast.Global: Python.globals,
    ast.Nonlocal: Python.globals,
    ast.Delete: Python.removes,
    ast.Raise: Python.raises,
    ast.Assert: Python.asserts,
    ast.Match: Python.matches,
}
