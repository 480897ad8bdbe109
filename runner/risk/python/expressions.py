"""What the expressions of a Python program give, by their `ast`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, cast

from runner.risk.model import fold
from runner.risk.model.acts import Source
from runner.risk.model.outline_data import words
from runner.risk.model.temporary import TEMPORARY
from runner.risk.model.value import (
    NO_LABELS,
    UNKNOWN,
    Function,
    Scope,
    Value,
    chosen,
    concatenate,
    either,
    labels_of,
    reference,
    text,
    yields,
)
from runner.risk.python.files import below
from runner.risk.python.formatting import formatted, percent
from runner.risk.python.names import BUILTINS, PythonNames
from runner.risk.python.operators import DUNDERS, OPERATORS, compared
from runner.risk.python.syntax import constant, hidden_name, is_written_out, place
from runner.risk.trace.conditions import difference
from runner.risk.trace.everything import choice
from runner.risk.trace.machine import DEEPEST, TooDeep
from runner.risk.trace.remote import opened_to
from runner.risk.trace.shown import hint_of

if TYPE_CHECKING:
    from runner.risk.model.acts import Trail
    from runner.risk.rules.vocabulary import Vocabulary
    from runner.risk.trace.world import World

LARGE, GIANT = 10_000_000, 20_000_000_000
"""Repetitions of a text or list that fill the memory: in a loop without end, and at once."""

HOLD_NAMES = ("__globals__", "__builtins__", ".f_builtins", ".f_globals")
"""How the names of mappings end that hold the functions of Python and of a program."""
FINDERS = words(
    "__import__ importlib.import_module importlib.__import__ pydoc.locate pydoc.resolve pkgutil.resolve_name "
    "unittest.mock._importer"
)
"""Functions that give the module, or what is in it, whose name they get."""


class PythonExpressions(PythonNames):
    """The expressions of one Python program: their values, and what evaluating them does."""

    def __init__(self, vocabulary: Vocabulary, trail: Trail, nested: World) -> None:
        super().__init__(vocabulary, trail, nested)
        self.endless = 0
        """Loops without end around what is looked at."""

    def value(self, node: ast.expr) -> Value:
        """Return what is known of the expression."""
        self.budget.left -= 1
        if type(node) is ast.Constant:
            if self.nested.mentions is not None and isinstance(node.value, str):
                self.nested.mentioned(node.value, place(node))
            if self.nested.escapes and isinstance(node.value, str | bytes):
                self.nested.written_out(self.written(node), place(node))
            return constant(node.value)
        if type(node) is ast.Name:
            return self.name(node.id)
        handler = EXPRESSIONS.get(type(node))
        if handler is None:
            return UNKNOWN
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        try:
            return cast("Value", handler(self, node))
        finally:
            self.depth -= 1

    def member(self, node: ast.Attribute) -> Value:
        owner = self.value(node.value)
        return self.reach(owner, node.attr)

    def subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            ends = [
                self.value(end) if end is not None else UNKNOWN
                for end in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            part = fold.sliced(owner, *ends)
            return hint_of(part) if part.labels and fold.is_hint(*ends[:2]) else part
        key = self.value(node.slice)
        if key.texts and (owner.name in BUILTINS or owner.name.endswith(HOLD_NAMES)):
            return either([reference(known, owner.labels | fold.ASSEMBLED) for known in key.texts])
        if key.texts and owner.name in ("sys.modules", "globals()", "locals()", "vars()"):
            found = either([self.name(known) for known in key.texts])
            return found.labelled(owner.labels | hidden_name(node.slice))
        if owner.name == "os.environ" and key.texts:
            return self.call(self.attribute(owner, "get"), [key], {}, place(node))
        if (
            key.texts
            and owner.name
            and owner.fields is None
            and all(label.startswith("$") for label in owner.labels)
            and any(self.vocabulary.knows(f"{owner.name.replace('()', '')}.{known}") for known in key.texts)
        ):
            return either([reference(f"{owner.name}.{known}", fold.ASSEMBLED) for known in key.texts])
        if (own := self.dunder(owner, "__getitem__")) is not None:
            return self.call(own, [key], {}, place(node))
        return self.element(owner, key)

    def calls(self, node: ast.Call) -> Value:
        called = self.value(node.func)
        args: list[Value] = []
        for arg in node.args:
            if type(arg) is ast.Starred:
                spread = self.value(arg.value)
                args += spread.items if spread.items is not None else [self.each(spread)]
            else:
                args.append(self.value(arg))
        named: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg is not None:
                named[keyword.arg] = value
            else:
                named.update(value.fields or {})
        if called.attribute == "pop" and called.owner is not None and is_written_out(node.func):
            return self.element(called.owner, args[0] if args else Value(number=-1))
        if called.attribute == "__getattribute__" and called.owner is not None and args and args[0].texts:
            return self.reach(called.owner, args[0].text, hidden_name(node.args[0]) if called.owner.name else NO_LABELS)
        if called.name == "getattr" and len(args) >= 2 and (got := self.got(args, node)) is not None:
            return got
        if called.attribute in ("format", "format_map") and called.owner is not None and called.owner.texts:
            mapping = args[0].fields if called.attribute == "format_map" and args else named
            return self.weighed(formatted(called.owner, args, dict(mapping or {})))
        if called.name == "getattr()" or ("module-by-data" in called.labels and ")" not in called.name):
            self.trail.add("by-data", "getattr", {"what": Value(labels=called.labels)}, place(node))
        elif type(node.func) is ast.Subscript and called.function is None and type(node.func.slice) is not ast.Constant:
            self._by_data(node.func.slice, node)
        if called.name in FINDERS and args:
            return self._module(args[0], node, hidden_name(node.args[0]))
        return self._called_here(node, called, args, named)

    def _called_here(self, node: ast.Call, called: Value, args: list[Value], named: dict[str, Value]) -> Value:
        """Call what is written here as a call, and not handed to something that calls it."""
        if self.mocked and self._is_stand_in(called, node.func):
            return Value(name=f"{called.name}()")
        self.direct = called.function is not None
        result = self.call(called, args, named, place(node))
        self.direct = False
        return result

    def _is_stand_in(self, called: Value, written: ast.expr) -> bool:
        """Return whether a test has replaced a function that is called here as one of its module, `shutil.rmtree(...)`.

        A name of its own, got before, would still stand for the function itself.
        """
        match written:
            case ast.Attribute(value=ast.Name(id=name)):
                module = self.name(name)
                return called.name in self.mocked and module.is_plain and called.name == f"{module.name}.{written.attr}"
            case _:
                return False

    def _by_data(self, key: ast.expr, node: ast.Call) -> None:
        """Note a call of whatever a value names: `globals()[name]()`."""
        what = self.value(key)
        if what.labels and what.exact is None:
            self.trail.add("by-data", "[]", {"what": Value(labels=what.labels)}, place(node))

    def _module(self, module: Value, node: ast.Call, hidden: frozenset[str]) -> Value:
        known = module.exact.replace(":", ".") if module.exact is not None else None
        self.trail.add("import", known or "", {"module": module}, place(node))
        if known is None:
            return Value(labels=module.labels | {"module-by-data"})
        return reference(known, hidden)

    def binary(self, node: ast.BinOp) -> Value:
        # Chains such as "a" + "b" + ... lean to the left; their length is no nesting.
        chain = [node]
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        value = self.value(chain[-1].left)
        for step in reversed(chain):
            other = self.value(step.right)
            if isinstance(step.op, ast.Mult):
                self.swells(value, other, node)
            value = self._operate(value, other, step.op)
        return value

    def swells(self, left: Value, right: Value, node: ast.expr) -> None:
        """Note a text or list that fills the memory: a giant one, or a large one again and again."""
        times, what = (left, right) if left.number is not None else (right, left)
        if (what.texts or what.items) and (times.number or 0) >= (LARGE if self.endless else GIANT):
            self.trail.add("swell", "*", {}, place(node))

    def _operate(self, left: Value, right: Value, sign: ast.operator) -> Value:
        self.budget.left -= 1
        kind = OPERATORS.get(type(sign), "?")
        if (method := DUNDERS.get(kind)) and (own := self.dunder(left, method)) is not None:
            return self.call(own, [right], {}, (1, 0, 1, 0))
        if kind == "%" and left.texts:
            return percent(left, right)
        if kind == "/" and (left.name.startswith("pathlib") or right.name.startswith("pathlib")):
            whole = concatenate((below(left), right), "/")
            return Value(whole.texts, left.name or right.name, whole.labels)
        made = self.weighed(fold.added(left, right, kind))
        return difference(left, right, made) if kind == "-" and made.labels else made

    def template(self, node: ast.JoinedStr) -> Value:
        return concatenate(self.value(part) for part in node.values) if node.values else text("")

    def hole(self, node: ast.FormattedValue) -> Value:
        return self.value(node.value)

    def sequence(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        items: list[Value] = []
        for part in node.elts:
            value = self.value(part.value if isinstance(part, ast.Starred) else part)
            items += value.items or [] if isinstance(part, ast.Starred) else [value]
        return Value(items=items)

    def mapping(self, node: ast.Dict) -> Value:
        fields: dict[str, Value] = {}
        for key, part in zip(node.keys, node.values, strict=True):
            value = self.value(part)
            if key is None:
                fields.update(value.fields or {"?": value})
                continue
            known = self.value(key)
            name = known.text if known.texts else str(known.number) if known.number is not None else "?"
            fields[name] = value if name != "?" or name not in fields else either((fields[name], value))
        return Value(fields=fields)

    def anonymous(self, node: ast.Lambda) -> Value:
        return self.define("", node.args, node.body, simple=True)

    def define(self, name: str, arguments: ast.arguments, body: object, simple: bool = False) -> Value:
        parameters = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        defaults = dict(zip(reversed(parameters), map(self.value, reversed(arguments.defaults)), strict=False))
        for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            parameters.append(argument.arg)
            if default is not None:
                defaults[argument.arg] = self.value(default)
        function = Function(
            name, parameters, body, self.scope, defaults, simple=simple, reduces=name.startswith("__reduce")
        )
        if arguments.vararg is not None:
            function.rest = arguments.vararg.arg
        self.functions.append(function)
        made = Value()
        made.function = function
        return made

    def choice(self, node: ast.IfExp) -> Value:
        self.value(node.test)
        return chosen((self._perhaps_reached(node.body), self._perhaps_reached(node.orelse)))

    def either_of(self, node: ast.BoolOp) -> Value:
        return chosen([self.value(node.values[0]), *map(self._perhaps_reached, node.values[1:])])

    def _perhaps_reached(self, node: ast.expr) -> Value:
        """Return what is known of an expression that may never be evaluated."""
        self.branches += 1
        try:
            return self.value(node)
        finally:
            self.branches -= 1

    def named(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.assign(node.target.id, value)
        return value

    def passed(self, node: ast.Await | ast.Starred) -> Value:
        return self.value(node.value)

    def yielded(self, node: ast.Yield | ast.YieldFrom) -> Value:
        value = self.value(node.value) if node.value is not None else UNKNOWN
        value = self.each(value) if isinstance(node, ast.YieldFrom) else value
        if self.returned:
            yields(self.returned[-1], value)
        return UNKNOWN

    def unary(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub) and value.number is not None:
            return Value(number=-value.number)
        return Value(labels=value.labels)

    def comparison(self, node: ast.Compare) -> Value:
        values = [self.value(node.left), *map(self.value, node.comparators)]
        labels = labels_of(values)
        choice(self.trail, values, place(node))
        for value in values:
            if value.texts and len(value.text) < 60 and labels:
                self.trail.add("compare", "", {"text": value, "with": Value(labels=labels)}, place(node))
        known = compared(values[0], node.ops[0], values[1]) if len(node.ops) == 1 else None
        if known is not None:
            return Value(number=int(known), name=str(known))
        return Value(labels=labels - {Source.DOWNLOADED, Source.SECRET})

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        outside = self.scope, self.branches
        self.scope, self.branches = Scope(self.scope), 0  # its names are its own, and each turn sets them
        try:
            first = node.generators[0]
            whole = self.value(first.iter)
            turns = fold.spread(whole) if len(node.generators) == 1 else None
            with self.turn_by_turn(len(turns or ())) as one_by_one:
                if turns and one_by_one:
                    return self._unrolled(first, node.elt, Value(items=turns, labels=whole.labels))
            for generator in node.generators:
                self.bind(generator.target, self.each(whole if generator is first else self.value(generator.iter)))
                for condition in generator.ifs:
                    self.value(condition)
            met = self.value(node.elt)
            return Value(
                items=None, name=f"{met.name}*" if met.name else "", labels=met.labels | whole.labels, texts=()
            )
        finally:
            self.scope, self.branches = outside

    def _unrolled(self, generator: ast.comprehension, element: ast.expr, whole: Value) -> Value:
        """`[f(x) for x in known]`, item by item: how texts are assembled from numbers."""
        assert whole.items is not None
        items: list[Value] = []
        for item in whole.items:
            chosen = self._chosen(generator, item)
            # What the element does is noted whether it is taken or not: a condition may have changed meanwhile.
            value = self.value(element)
            if chosen:
                items.append(value)
        return Value(items=items if items else None, labels=whole.labels)

    def _chosen(self, generator: ast.comprehension, item: Value) -> bool:
        """Take one turn of a comprehension; return whether its conditions may hold."""
        self.budget.spend(5)
        self.bind(generator.target, item)
        own = {node.id for node in ast.walk(generator.target) if isinstance(node, ast.Name)}
        chosen = True
        for condition in generator.ifs:
            value = self.value(condition)
            # A name from outside may hold something else by now; then a wrong text would be taken for the right one.
            names = {node.id for node in ast.walk(condition) if isinstance(node, ast.Name)}
            chosen = chosen and not (value.name == "False" and names <= own)
        return chosen

    def map_comprehension(self, node: ast.DictComp) -> Value:
        outside = self.scope, self.branches
        self.scope, self.branches = Scope(self.scope), 0
        try:
            first = node.generators[0]
            whole = self.value(first.iter)
            turns = fold.spread(whole) if len(node.generators) == 1 else None
            with self.turn_by_turn(len(turns or ())) as one_by_one:
                if turns and one_by_one:
                    made = [(self._chosen(first, one), self.value(node.key), self.value(node.value)) for one in turns]
                    fields = {key.text if key.texts else "?": value for chosen, key, value in made if chosen}
                    return Value(fields=fields)
            for generator in node.generators:
                self.bind(generator.target, self.each(whole if generator is first else self.value(generator.iter)))
            key, value = self.value(node.key), self.value(node.value)
            return Value(fields={key.text if key.texts else "?": value})
        finally:
            self.scope, self.branches = outside

    def bind(self, target: ast.expr, value: Value) -> None:
        """Store `value` where `target` says."""
        match target:
            case ast.Name(id=name):
                self.assign(name, value)
            case ast.Attribute():
                owner = self.value(target.value)
                if target.attr == "__code__":
                    self.trail.add("replaced-code", owner.name, {}, place(target))
                if owner.kind is not None and owner.fields is None:
                    owner.kind.members[target.attr] = value
                if owner.fields is not None:
                    old = owner.fields.get(target.attr) if self.branches else None
                    owner.fields[target.attr] = value if old is None else value.labelled(old.labels)
                self.stored(f"{owner.name}.{target.attr}" if owner.name else "", value, target)
                self._set_inside(owner, target, value)
            case ast.Subscript():
                owner, key = self.value(target.value), self.value(target.slice)
                self._store_element(target, owner, key, value)
            case ast.Starred():
                self.bind(target.value, value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                starred = next((i for i, part in enumerate(parts) if isinstance(part, ast.Starred)), len(parts))
                for i, part in enumerate(parts):
                    if value.items is not None and i < len(value.items) and i < starred:
                        self.bind(part, value.items[i])
                    else:
                        self.bind(part, self.each(value))

    def _set_inside(self, owner: Value, target: ast.Attribute, value: Value) -> None:
        """Note a setting of an object of a library: what it works on is something else from here on."""
        whose = owner.name
        if any(label.startswith(TEMPORARY) for label in owner.labels):
            whose = "tempfile.TemporaryDirectory()"
            self.trail.own.replaced(owner)
        if whose.endswith("()") and owner.kind is None and (opened := opened_to(target.attr, value)):
            fields = {"at": text("the cloud"), "opens": text(opened)}
            self.trail.add("configure", f"{whose}.{target.attr}", fields, place(target))
        if whose.endswith("()") and owner.kind is None:
            self.nested.handed(f"{whose}.{target.attr}", [value], NO_LABELS, place(target), python=True)

    def _store_element(self, target: ast.Subscript, owner: Value, key: Value, value: Value) -> None:
        if owner.fields is None and owner.items is None and isinstance(target.value, ast.Name):
            owner = Value(owner.texts, owner.name, owner.labels, fields={})
            self.assign(target.value.id, owner)
        if owner.fields is not None:
            for known in key.texts or ("?",):
                old = owner.fields.get(known)
                owner.fields[known] = value if old is None or known != "?" else value.labelled(old.labels)
        elif owner.items is not None and value.labels and isinstance(target.value, ast.Name):
            self.assign(target.value.id, owner.labelled(value.labels))
        if owner.name in ("globals()", "locals()", "vars()") and key.exact:
            self.assign(key.exact, value, self.module if owner.name == "globals()" else None)
        if owner.name == "os.environ" and key.exact:
            self.variables[key.exact] = value
        if owner.name and key.texts:
            self.stored(f"{owner.name}[{key.text}]", value, target)


EXPRESSIONS: dict[type[ast.expr], Any] = {
    ast.Attribute: PythonExpressions.member,
    ast.Subscript: PythonExpressions.subscript,
    ast.Call: PythonExpressions.calls,
    ast.BinOp: PythonExpressions.binary,
    ast.JoinedStr: PythonExpressions.template,
    ast.FormattedValue: PythonExpressions.hole,
    ast.List: PythonExpressions.sequence,
    ast.Tuple: PythonExpressions.sequence,
    ast.Set: PythonExpressions.sequence,
    ast.Dict: PythonExpressions.mapping,
    ast.Lambda: PythonExpressions.anonymous,
    ast.IfExp: PythonExpressions.choice,
    ast.BoolOp: PythonExpressions.either_of,
    ast.NamedExpr: PythonExpressions.named,
    ast.Await: PythonExpressions.passed,
    ast.YieldFrom: PythonExpressions.yielded,
    ast.Starred: PythonExpressions.passed,
    ast.Yield: PythonExpressions.yielded,
    ast.UnaryOp: PythonExpressions.unary,
    ast.Compare: PythonExpressions.comparison,
    ast.ListComp: PythonExpressions.comprehension,
    ast.SetComp: PythonExpressions.comprehension,
    ast.GeneratorExp: PythonExpressions.comprehension,
    ast.DictComp: PythonExpressions.map_comprehension,
}
