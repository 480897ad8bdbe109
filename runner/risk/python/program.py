"""Following a Python program by its `ast`."""

from __future__ import annotations

import ast
import builtins
import warnings
from typing import TYPE_CHECKING, Any, cast

from runner.risk.model import fold
from runner.risk.model.acts import Place, Source
from runner.risk.model.value import NO_LABELS, UNKNOWN, Value, concatenate, either, labels_of, reference, text
from runner.risk.python.builtin import METHODS, SPECIALS
from runner.risk.python.python2 import modern
from runner.risk.trace.machine import DEEPEST, Class, Function, Machine, Scope, TooDeep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.risk.model.acts import Trail
    from runner.risk.rules.vocabulary import Vocabulary
    from runner.risk.trace.nested import Nested

KNOWN_NAMES = frozenset(dir(builtins)) | {
    "unicode",
    "unichr",
    "xrange",
    "raw_input",
    "execfile",
    "reload",
    "long",
    "__builtins__",
}
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitXor: "^",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Pow: "**",
}
DUNDERS = {
    "+": "__add__",
    "-": "__sub__",
    "*": "__mul__",
    "/": "__truediv__",
    "%": "__mod__",
    "|": "__or__",
    "&": "__and__",
    "^": "__xor__",
    ">>": "__rshift__",
    "<<": "__lshift__",
}
LARGE, GIANT = 10_000_000, 20_000_000_000
# The name that stands for every way of reaching the built-in functions.
BUILTINS = ("builtins", "__builtins__", "__builtin__", "__builtins__.__dict__", "builtins.__dict__")


class Unparsed(Exception):
    """Not Python, not even of another version."""


def parse(code: str) -> tuple[ast.Module, bool]:
    """The tree of `code`, and whether it had to be made readable first (Python 2, a notebook cell).

    Raises Unparsed.
    """
    try:
        return _tree(code), False
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass
    try:
        return _tree(modern(code)), True
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise Unparsed(str(error)) from None


def _tree(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


class Python(Machine):
    """One Python program. `run` goes through it; what it does is on the trail afterwards."""

    language = "python"
    specials = SPECIALS

    def __init__(self, vocabulary: Vocabulary, trail: Trail, nested: Nested) -> None:
        super().__init__(vocabulary, trail, nested)
        self.stars: list[str] = []
        self.lines: list[str] = []
        """The code, where it matters how it is written."""
        self.endless = 0
        """Loops without end around what is looked at."""
        self.module = Scope()
        self.scope = self.module

    def run(self, tree: ast.Module) -> Value:
        """Go through a module and then through the functions it does not call. The value of its last expression."""
        value = self.block(tree.body)
        self.leftovers()
        return value

    def inner(self, code: str) -> Value:
        tree, _ = parse(code.lstrip())
        return self.block(tree.body)

    def enter(self, function: Function) -> None:
        if function.simple:
            self.returned[-1].append(self.value(cast("ast.expr", function.body)))
        else:
            self.block(cast("Sequence[ast.stmt]", function.body))

    # Statements.

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
            name = f"{module}.{alias.name}"
            if module in BUILTINS or (module in ("io", "codecs") and alias.name == "open"):
                name = alias.name
            self.assign(alias.asname or alias.name, reference(name))

    def assignment(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.bind(target, value)

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.bind(node.target, self.value(node.value))

    def augmented(self, node: ast.AugAssign) -> None:
        left = self.value(node.target)
        right = self.value(node.value)
        value = self.weighed(fold.added(left, right, OPERATORS.get(type(node.op), "?")))
        if value.texts and len(value.text) > 3:
            value = Value(value.texts, labels=value.labels - fold.ASSEMBLED | left.labels | right.labels)
        self.bind(node.target, value)

    def bind(self, target: ast.expr, value: Value) -> None:
        """Store `value` where `target` says."""
        match target:
            case ast.Name(id=name):
                self.assign(name, value)
            case ast.Attribute():
                owner = self.value(target.value)
                if owner.fields is not None:
                    old = owner.fields.get(target.attr) if self.branches else None
                    owner.fields[target.attr] = value if old is None else value.labelled(old.labels)
                self.stored(f"{owner.name}.{target.attr}" if owner.name else "", value, target)
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
        if owner.name == "os.environ" and key.exact:
            self.variables[key.exact] = value
        if owner.name and key.texts:
            self.stored(f"{owner.name}[{key.text}]", value, target)

    def stored(self, name: str, value: Value, node: ast.expr) -> None:
        """A store into something the program did not make itself, such as `sys.stdout` or `os.environ[...]`."""
        if name:
            self.trail.add("store", name, {"value": value, "target": text(name)}, place(node))

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        made = self.define(node.name, node.args, node.body)
        for decorator in reversed(node.decorator_list):
            called = self.value(decorator)
            known = called.function is not None or called.name in ("staticmethod", "classmethod", "property")
            if not known or called.function is not None:
                result = self.call(called, [made], {}, place(decorator))
                if called.function is not None and not result.unknown | (result.name != ""):
                    made = result
        self.scope.names[node.name] = made

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

    def classes(self, node: ast.ClassDef) -> None:
        bases = [self.value(base) for base in node.bases]
        kind = Class(node.name, bases, {})
        made = Value()
        made.kind = kind
        inside = Scope(self.scope)
        self.scope.names[node.name] = made
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
        for keyword in node.keywords:
            self.value(keyword.value)
        given = made
        for decorator in reversed(node.decorator_list):
            given = self.call(self.value(decorator), [given], {}, place(decorator))

    def returns(self, node: ast.Return) -> None:
        if node.value is not None:
            value = self.value(node.value)
            if self.returned:
                self.returned[-1].append(value)

    def conditional(self, node: ast.If) -> None:
        current: ast.If = node
        while True:
            self.value(current.test)
            self.branch(current.body)
            if len(current.orelse) == 1 and isinstance(current.orelse[0], ast.If):
                current = current.orelse[0]
                continue
            self.branch(current.orelse)
            return

    def loop(self, node: ast.For | ast.AsyncFor) -> None:
        over = self.value(node.iter)
        turns = fold.spread(over) if _collects(node.body) else None
        if turns:
            # A text that grows turn by turn: how names and commands are put together.
            for turn in turns:
                self.budget.spend(5)
                self.bind(node.target, turn)
                self.block(node.body)
            return
        self.bind(node.target, self.each(over))
        self.branch(node.body)
        self.branch(node.orelse)

    def repeat(self, node: ast.While) -> None:
        self.value(node.test)
        endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
        if endless:
            self.trail.add("forever", "while", {}, place(node.test))
        self.endless += endless
        self.branch(node.body)
        self.endless -= endless
        self.branch(node.orelse)

    def attempt(self, node: ast.Try) -> None:
        self.block(node.body)
        for handler in node.handlers:
            if handler.name is not None:
                self.assign(handler.name, either(self.raised[-4:]))
            self.branch(handler.body)
        self.branch(node.orelse)
        self.block(node.finalbody)

    def using(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            value = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value)
        self.block(node.body)

    def globals(self, node: ast.Global | ast.Nonlocal) -> None:
        self.scope.outer = (self.scope.outer or set()) | set(node.names)

    def removes(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.value(target)

    def raises(self, node: ast.Raise) -> None:
        if node.exc is not None:
            raised = self.value(node.exc)
            if isinstance(node.exc, ast.Call) and node.exc.args and raised.kind is None:
                raised = self.value(node.exc.args[0])
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
                    self.assign(part.name, subject)
            self.branch(case.body)

    # Expressions.

    def value(self, node: ast.expr) -> Value:
        """What is known of the expression."""
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

    def written(self, node: ast.Constant) -> str:
        """How a literal stands in the code, as far as its line and some more."""
        if node.lineno > len(self.lines):
            return ""
        line = self.lines[node.lineno - 1].encode("utf-8", "replace")
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return line[node.col_offset : end].decode("utf-8", "replace")

    def name(self, name: str) -> Value:
        if (value := self.scope.get(name)) is not None:
            return value
        for module in self.stars:
            if self.vocabulary.knows(f"{module}.{name}"):
                return reference(f"{module}.{name}")
        # Python folds names to NFKC, and so must whoever looks them up.
        if not name.isascii():
            import unicodedata

            name = unicodedata.normalize("NFKC", name)
        if name in KNOWN_NAMES:
            return reference(name)
        return reference(name, frozenset({f"${name}"}))

    def member(self, node: ast.Attribute) -> Value:
        owner = self.value(node.value)
        return self.reach(owner, node.attr)

    def reach(self, owner: Value, name: str, labels: frozenset[str] = NO_LABELS) -> Value:
        """`owner.name`, with the many ways to the same built-in made one."""
        if owner.name in BUILTINS and name != "__dict__":
            return reference(name, owner.labels | labels)
        if name == "__dict__" and owner.name and owner.kind is None:
            return reference(owner.name, owner.labels)
        if name == "__call__":
            return owner
        if name in ("f_globals", "f_builtins"):
            return reference("globals()" if name == "f_globals" else "builtins", owner.labels | fold.ASSEMBLED)
        if name in (
            "__globals__",
            "__builtins__",
            "__subclasses__",
            "__bases__",
            "__mro__",
            "__base__",
        ):
            return self.attribute(owner, name, fold.ASSEMBLED)
        if owner.name in ("io", "codecs") and name == "open":
            return reference("open", labels)
        return self.attribute(owner, name, labels)

    def subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            ends = [
                self.value(end) if end is not None else UNKNOWN
                for end in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            return fold.sliced(owner, *ends)
        key = self.value(node.slice)
        if key.texts and (owner.name in BUILTINS or owner.name.endswith(("__globals__", "__builtins__"))):
            return reference(key.text, owner.labels | fold.ASSEMBLED)
        if key.texts and owner.name in ("sys.modules", "globals()", "locals()", "vars()"):
            return self.name(key.text).labelled(owner.labels | _hidden(node.slice))
        if owner.name == "os.environ" and key.texts:
            return self.call(self.attribute(owner, "get"), [key], {}, place(node))
        if (
            key.texts
            and owner.name
            and owner.fields is None
            and all(label.startswith("$") for label in owner.labels)
            and self.vocabulary.knows(f"{owner.name}.{key.text}")
        ):
            return reference(f"{owner.name}.{key.text}", fold.ASSEMBLED)
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
        if called.name == "getattr" and len(node.args) >= 2 and len(args) >= 2 and args[1].texts:
            owner, name = args[0], args[1].text
            hidden = fold.ASSEMBLED if owner.name in BUILTINS else _hidden(node.args[1]) if owner.name else NO_LABELS
            return self.reach(owner, name, hidden)
        if called.name == "getattr" and len(args) >= 2 and args[0].name in ("os", "subprocess", "builtins"):
            return reference(f"{args[0].name}[]", args[1].labels)
        if called.attribute in ("format", "format_map") and called.owner is not None and called.owner.texts:
            mapping = args[0].fields if called.attribute == "format_map" and args else named
            return self.weighed(fold.formatted(called.owner, args, dict(mapping or {})))
        if called.name in ("__import__", "importlib.import_module", "importlib.__import__") and args:
            return self._module(args[0], node, _hidden(node.args[0]))
        return self.call(called, args, named, place(node))

    def _module(self, module: Value, node: ast.Call, hidden: frozenset[str]) -> Value:
        known = module.exact
        self.trail.add("import", known or "", {"module": module}, place(node))
        if known is None:
            return Value(labels=module.labels)
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

    def _operate(self, left: Value, right: Value, operator: ast.operator) -> Value:
        self.budget.left -= 1
        kind = OPERATORS.get(type(operator), "?")
        if (method := DUNDERS.get(kind)) and (own := self.dunder(left, method)) is not None:
            return self.call(own, [right], {}, (1, 0, 1, 0))
        if kind == "%" and left.texts:
            return fold.percent(left, right)
        if kind == "/" and (left.name.startswith("pathlib") or right.name.startswith("pathlib")):
            whole = concatenate((left, right), "/")
            return Value(whole.texts, left.name or right.name, whole.labels)
        return self.weighed(fold.added(left, right, kind))

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

    def choice(self, node: ast.IfExp) -> Value:
        self.value(node.test)
        return either((self.value(node.body), self.value(node.orelse)))

    def either_of(self, node: ast.BoolOp) -> Value:
        return either([self.value(part) for part in node.values])

    def named(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self.assign(node.target.id, value)
        return value

    def passed(self, node: ast.Await | ast.YieldFrom | ast.Starred) -> Value:
        return self.value(node.value)

    def yielded(self, node: ast.Yield) -> Value:
        value = self.value(node.value) if node.value is not None else UNKNOWN
        if self.returned:
            self.returned[-1].append(Value(items=[value], labels=value.labels))
        return UNKNOWN

    def unary(self, node: ast.UnaryOp) -> Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub) and value.number is not None:
            return Value(number=-value.number)
        return Value(labels=value.labels)

    def comparison(self, node: ast.Compare) -> Value:
        values = [self.value(node.left), *map(self.value, node.comparators)]
        labels = labels_of(values)
        for value in values:
            if value.texts and len(value.text) < 60 and labels:
                self.trail.add("compare", "", {"text": value, "with": Value(labels=labels)}, place(node))
        return Value(labels=labels - {Source.DOWNLOADED, Source.SECRET})

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        outside, self.scope = self.scope, Scope(self.scope)
        try:
            first = node.generators[0]
            whole = self.value(first.iter)
            turns = fold.spread(whole) if len(node.generators) == 1 and not first.ifs else None
            if turns:
                return self._unrolled(first.target, node.elt, Value(items=turns, labels=whole.labels))
            for generator in node.generators:
                self.bind(generator.target, self.each(whole if generator is first else self.value(generator.iter)))
                for condition in generator.ifs:
                    self.value(condition)
            met = self.value(node.elt)
            return Value(
                items=None, name=f"{met.name}*" if met.name else "", labels=met.labels | whole.labels, texts=()
            )
        finally:
            self.scope = outside

    def _unrolled(self, target: ast.expr, element: ast.expr, whole: Value) -> Value:
        """`[f(x) for x in known]`, item by item: how texts are assembled from numbers."""
        assert whole.items is not None
        items: list[Value] = []
        for item in whole.items:
            self.budget.spend(5)
            self.bind(target, item)
            items.append(self.value(element))
        return Value(items=items, labels=whole.labels)

    def map_comprehension(self, node: ast.DictComp) -> Value:
        outside, self.scope = self.scope, Scope(self.scope)
        try:
            for generator in node.generators:
                self.bind(generator.target, self.each(self.value(generator.iter)))
            key, value = self.value(node.key), self.value(node.value)
            return Value(fields={key.text if key.texts else "?": value})
        finally:
            self.scope = outside

    def method(self, owner: Value, name: str, args: list[Value], place: Place) -> Value | None:
        handler = METHODS.get(name)
        return handler(self, owner, args) if handler is not None else None


def _collects(body: Sequence[ast.stmt]) -> bool:
    """Whether a loop's body is short and adds to a text or a list."""
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


def place(node: ast.stmt | ast.expr) -> Place:
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


def constant(value: object) -> Value:
    if isinstance(value, str):
        return Value((value,))
    if isinstance(value, bytes):
        return Value((value.decode("latin-1"),), binary=True)
    if isinstance(value, bool):
        return Value(number=int(value), name="True" if value else "False")
    if isinstance(value, int | float):
        return Value(number=value)
    return UNKNOWN


def _hidden(node: ast.expr) -> frozenset[str]:
    """A name that is not written out as one word is a name that is hidden."""
    return NO_LABELS if isinstance(node, ast.Constant | ast.Name) else fold.ASSEMBLED


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
EXPRESSIONS: dict[type[ast.expr], Any] = {
    ast.Attribute: Python.member,
    ast.Subscript: Python.subscript,
    ast.Call: Python.calls,
    ast.BinOp: Python.binary,
    ast.JoinedStr: Python.template,
    ast.FormattedValue: Python.hole,
    ast.List: Python.sequence,
    ast.Tuple: Python.sequence,
    ast.Set: Python.sequence,
    ast.Dict: Python.mapping,
    ast.Lambda: Python.anonymous,
    ast.IfExp: Python.choice,
    ast.BoolOp: Python.either_of,
    ast.NamedExpr: Python.named,
    ast.Await: Python.passed,
    ast.YieldFrom: Python.passed,
    ast.Starred: Python.passed,
    ast.Yield: Python.yielded,
    ast.UnaryOp: Python.unary,
    ast.Compare: Python.comparison,
    ast.ListComp: Python.comprehension,
    ast.SetComp: Python.comprehension,
    ast.GeneratorExp: Python.comprehension,
    ast.DictComp: Python.map_comprehension,
}
