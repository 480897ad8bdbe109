"""Following a JavaScript program by its syntax tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

from runner.risk.javascript.builtin import METHODS, SPECIALS, module
from runner.risk.model import fold
from runner.risk.model.acts import Place, Source
from runner.risk.model.value import HOLE, NO_LABELS, UNKNOWN, Value, concatenate, either, reference, text
from runner.risk.rules.targets import VARIABLES, WHO
from runner.risk.trace.machine import DEEPEST, Class, Function, Machine, TooDeep

if TYPE_CHECKING:
    from runner.risk.model.acts import Trail
    from runner.risk.rules.vocabulary import Vocabulary
    from runner.risk.trace.nested import Nested

GRAMMAR = Language(tree_sitter_javascript.language())
MOST_CRUMBS = 40
MANGLED = re.compile(r"\b_0x[0-9a-f]{4,}\b")
# Programs of brackets and marks alone, as `[][(![]+[])[+[]]...`.
SYMBOLS = re.compile(r"[\[\]()!+]{150,}|=~\[\];")
MOST_TURNS = 400
LISTENING = frozenset(("on", "once", "addListener", "addEventListener"))
KEYS = frozenset(("keydown", "keypress", "keyup"))
COUNTED = re.compile(
    rb"for\s*\(\s*(?:var|let)\s+(\w+)\s*=\s*(?P<start>\d{1,4})\s*[,;][^;]*?;?\s*\1\s*<(?P<equal>=?)[^;]*;\s*"
    rb"(?:\1\s*\+\+|\+\+\s*\1|\1\s*\+=\s*(?P<step>\d{1,3}))\s*\)"
)
COLLECTS = re.compile(rb"\+=|\.push\(|=\s*\w+\s*\+")
GLOBALS = frozenset(("globalThis", "window", "global", "self", "root", "top", "frames", "parent", "GLOBAL"))
ESCAPE = re.compile(r"\\(u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-7]{1,3}|\r?\n|.)", re.DOTALL)
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
FUNCTIONS = frozenset(
    (
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "arrow_function",
        "method_definition",
        "function",
    )
)


class JavaScript(Machine):
    """One JavaScript program. `run` goes through it; what it does is on the trail afterwards."""

    language = "javascript"
    specials = SPECIALS
    constructor = "constructor"

    def __init__(self, vocabulary: Vocabulary, trail: Trail, nested: Nested) -> None:
        super().__init__(vocabulary, trail, nested)
        self.broken = False
        self.crumbs = 0
        """Texts put together from pieces of a few letters."""
        self.this: list[Value] = []
        self.listeners: dict[str, list[Value]] = {}
        """Functions that wait for an event, by its name."""

    def run(self, code: str) -> Value:
        """Go through a program and then through the functions it does not call. The value of its last expression."""
        root = Parser(GRAMMAR).parse(code.encode("utf-8", "surrogatepass")).root_node
        self.broken = root.has_error
        self.mangled(root, code)
        value = self.block(root.named_children)
        self.leftovers()
        if self.crumbs >= MOST_CRUMBS:
            self.trail.add("crumbs", "", {}, place(root))
        return value

    def inner(self, code: str) -> Value:
        root = Parser(GRAMMAR).parse(code.encode("utf-8", "surrogatepass")).root_node
        return self.block(root.named_children)

    def enter(self, function: Function) -> None:
        body, patterns = cast("tuple[Node, list[tuple[str, Node]]]", function.body)
        for name, pattern in patterns:
            self.bind(pattern, self.scope.names.get(name, UNKNOWN))
        this = self.scope.names.get("this")
        if this is not None:
            self.this.append(this)
        try:
            if body.type == "statement_block":
                self.block(body.named_children)
            else:
                self.returned[-1].append(self.value(body))
        finally:
            if this is not None:
                self.this.pop()

    # Statements.

    def block(self, nodes: Sequence[Node]) -> Value:
        last = UNKNOWN
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        for node in nodes:
            if node.type in ("function_declaration", "generator_function_declaration"):
                self.declare(node)
        for node in nodes:
            self.budget.spend()
            last = self.statement(node)
        self.depth -= 1
        return last

    def branch(self, node: Node | None) -> None:
        if node is None:
            return
        self.branches += 1
        try:
            self.block(node.named_children if node.type in ("statement_block", "else_clause") else [node])
        finally:
            self.branches -= 1

    def statement(self, node: Node) -> Value:
        handler = STATEMENTS.get(node.type)
        if handler is not None:
            return handler(self, node) or UNKNOWN
        if node.type in IGNORED:
            return UNKNOWN
        if node.type in EXPRESSIONS or node.type in LEAVES:
            return self.value(node)
        return self.block(node.named_children)

    def expression(self, node: Node) -> Value:
        return self.value(node.named_children[0]) if node.named_children else UNKNOWN

    def declaration(self, node: Node) -> Value:
        for child in node.named_children:
            if child.type == "variable_declarator":
                value, name = child.child_by_field_name("value"), child.child_by_field_name("name")
                if name is not None:
                    self.bind(name, self.value(value) if value is not None else UNKNOWN)
        return UNKNOWN

    def declare(self, node: Node) -> Value:
        name = node.child_by_field_name("name")
        if name is not None:
            known = _source(name)
            self.scope.names[known] = self.define(node, known)
        return UNKNOWN

    def bind(self, target: Node, value: Value) -> None:
        """Store `value` where a pattern says."""
        match target.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                self._store_name(_source(target), value)
            case "object_pattern":
                for child in target.named_children:
                    self._bind_property(child, value)
            case "array_pattern":
                for i, child in enumerate(target.named_children):
                    self.bind(
                        child, self.element(value, Value(number=i)) if value.items is not None else self.each(value)
                    )
            case "assignment_pattern" | "object_assignment_pattern":
                left, right = target.child_by_field_name("left"), target.child_by_field_name("right")
                if left is not None:
                    self.bind(
                        left, either((value, self.value(right))) if right is not None and value.unknown else value
                    )
            case "rest_pattern":
                for child in target.named_children:
                    self.bind(child, value)
            case "member_expression":
                self._store_member(target, value)
            case "subscript_expression":
                owner, key = self._owner_and_key(target)
                self._store_element(target, owner, key, value)
            case "parenthesized_expression":
                if target.named_children:
                    self.bind(target.named_children[0], value)

    def _store_name(self, name: str, value: Value) -> None:
        scope = self.scope.holder(name)
        self.assign(name, value, scope)

    def _bind_property(self, child: Node, value: Value) -> None:
        if child.type == "pair_pattern":
            key, inner = child.child_by_field_name("key"), child.child_by_field_name("value")
            if key is not None and inner is not None:
                self.bind(inner, self.reach(value, self.key(key)))
        elif child.type == "rest_pattern":
            self.bind(child, value)
        else:
            left = child.child_by_field_name("left") if child.type == "object_assignment_pattern" else child
            if left is not None:
                self.bind(child, self.reach(value, _source(left)))

    def _store_member(self, target: Node, value: Value) -> None:
        owner_node, name_node = target.child_by_field_name("object"), target.child_by_field_name("property")
        if owner_node is None or name_node is None:
            return
        owner, name = self.value(owner_node), _source(name_node)
        if owner.name == "process.env":
            self.variables[name] = value
            return
        self._put(owner_node, owner, name, value)
        if owner.name:
            full = f"{owner.name}.{name}"
            self.trail.add("store", full, {"value": value, "target": text(full)}, place(target))
        if value.function is not None and name.startswith("on"):
            self.follow(value.function, [Value(labels=owner.labels)], {})

    def _put(self, owner_node: Node, owner: Value, name: str, value: Value) -> None:
        if owner.fields is None and owner_node.type == "identifier":
            held = Value(owner.texts, owner.name, owner.labels, owner.items, {})
            held.function, held.kind = owner.function, owner.kind
            self.scope.holder(_source(owner_node)).names[_source(owner_node)] = held
            owner = held
        if owner.fields is not None:
            old = owner.fields.get(name) if self.branches else None
            owner.fields[name] = value if old is None else value.labelled(old.labels)

    def _store_element(self, target: Node, owner: Value, key: Value, value: Value) -> None:
        node = target.child_by_field_name("object")
        if node is None:
            return
        if owner.items is not None and isinstance(key.number, int) and 0 <= key.number < len(owner.items):
            owner.items[key.number] = value
        elif key.texts:
            self._put(node, owner, key.text, value)
        elif owner.fields is not None:
            owner.fields["?"] = either((owner.fields.get("?", UNKNOWN), value))
        elif value.labels and node.type == "identifier":
            self._store_name(_source(node), owner.labelled(value.labels))

    def define(self, node: Node, name: str = "") -> Value:
        """A function with its parameters; patterns among them are bound when it is followed."""
        listed = node.child_by_field_name("parameters")
        single = node.child_by_field_name("parameter")
        body = node.child_by_field_name("body")
        nodes = [single] if single is not None else listed.named_children if listed is not None else []
        parameters: list[str] = []
        patterns: list[tuple[str, Node]] = []
        rest = ""
        defaults: dict[str, Value] = {}
        for i, parameter in enumerate(nodes):
            if parameter.type == "identifier":
                parameters.append(_source(parameter))
            elif parameter.type == "rest_pattern" and parameter.named_children:
                rest = _source(parameter.named_children[0])
            elif parameter.type == "assignment_pattern":
                left, right = parameter.child_by_field_name("left"), parameter.child_by_field_name("right")
                if left is not None and left.type == "identifier":
                    parameters.append(_source(left))
                    if right is not None:
                        defaults[parameters[-1]] = self.value(right)
                elif left is not None:
                    parameters.append(f"#{i}")
                    patterns.append((f"#{i}", left))
            elif parameter.type != "comment":
                parameters.append(f"#{i}")
                patterns.append((f"#{i}", parameter))
        function = Function(name, parameters, (body or node, patterns), self.scope, defaults, rest)
        function.simple = body is not None and body.type != "statement_block"
        if body is not None:
            self.functions.append(function)
        made = Value()
        made.function = function
        return made

    def class_(self, node: Node) -> Value:
        name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
        bases = [self.value(heritage.named_children[0])] if heritage is not None and heritage.named_children else []
        kind = Class(_source(name_node) if name_node is not None else "", bases, {})
        made = Value()
        made.kind = kind
        if name_node is not None:
            self.scope.names[kind.name] = made
        for member in body.named_children if body is not None else ():
            self._class_member(kind, member)
        return made

    def _class_member(self, kind: Class, member: Node) -> None:
        name = member.child_by_field_name("name") or member.child_by_field_name("property")
        if member.type == "method_definition" and name is not None:
            value = self.define(member, _source(name))
            if value.function is not None:
                value.function.self_name = "this"
            kind.members[self.key(name)] = value
        elif member.type == "field_definition" and name is not None:
            value_node = member.child_by_field_name("value")
            kind.members[_source(name)] = self.value(value_node) if value_node is not None else UNKNOWN
        elif member.type == "class_static_block":
            self.block(member.named_children)

    def import_(self, node: Node) -> Value:
        source = node.child_by_field_name("source")
        if source is None:
            return UNKNOWN
        name = module(self.value(source).text)
        self.trail.add("import", name, {"module": text(name)}, place(node))
        clause = next((child for child in node.named_children if child.type == "import_clause"), None)
        for child in clause.named_children if clause is not None else ():
            if child.type == "identifier":
                self.assign(_source(child), reference(name))
            elif child.type == "namespace_import" and child.named_children:
                self.assign(_source(child.named_children[0]), reference(name))
            elif child.type == "named_imports":
                for one in child.named_children:
                    original, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                    if original is not None:
                        known = _source(original)
                        self.assign(
                            _source(alias or original), reference(name if known == "default" else f"{name}.{known}")
                        )
        return UNKNOWN

    def returns(self, node: Node) -> Value:
        if node.named_children:
            value = self.value(node.named_children[0])
            if self.returned:
                self.returned[-1].append(value)
        return UNKNOWN

    def conditional(self, node: Node) -> Value:
        current: Node | None = node
        while current is not None:
            condition = current.child_by_field_name("condition")
            if condition is not None:
                self.value(condition)
            self.branch(current.child_by_field_name("consequence"))
            alternative = current.child_by_field_name("alternative")
            current = None
            if alternative is not None:
                inner = alternative.named_children
                if len(inner) == 1 and inner[0].type == "if_statement":
                    current = inner[0]
                else:
                    self.branch(alternative)
        return UNKNOWN

    def loop(self, node: Node) -> Value:
        for field in ("initializer", "condition", "increment"):
            part = node.child_by_field_name(field)
            if part is not None:
                self.statement(part)
        condition = node.child_by_field_name("condition")
        for turn in self.turns(node):
            self.bind(turn[0], Value(number=turn[1]))
            self.branch_free(node.child_by_field_name("body"))
        if (
            node.type == "while_statement"
            and condition is not None
            and _source(condition) in ("(true)", "(1)", "(!![])", "(!0)")
        ):
            self.trail.add("forever", "while", {}, place(condition))
        self.branch(node.child_by_field_name("body"))
        return UNKNOWN

    def loop_over(self, node: Node) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        over = self.value(right) if right is not None else UNKNOWN
        keys = any(child.type == "in" for child in node.children)
        body = node.child_by_field_name("body")
        turns = fold.spread(over) if not keys and body is not None and COLLECTS.search(body.text or b"") else None
        if left is not None and turns and len(turns) <= MOST_TURNS:
            for turn in turns:
                self.bind(left, turn)
                self.branch_free(body)
            return UNKNOWN
        if left is not None:
            met = (
                text(*list(over.fields)[:12])
                if keys and over.fields
                else Value(labels=over.labels)
                if keys
                else self.each(over)
            )
            self.bind(left, met)
        self.branch(node.child_by_field_name("body"))
        return UNKNOWN

    def branch_free(self, node: Node | None) -> None:
        """A body that certainly runs."""
        self.budget.spend(5)
        if node is not None:
            self.block(node.named_children if node.type == "statement_block" else [node])

    def turns(self, node: Node) -> list[tuple[Node, int]]:
        """The values of the counter of `for (let i = 0; i < n; i++) out += ...`, where a text or list grows by it."""
        body = node.child_by_field_name("body")
        match = COUNTED.match(node.text or b"")
        if match is None or body is None or not COLLECTS.search(body.text or b"") or len(body.named_children) > 4:
            return []
        condition = node.child_by_field_name("condition")
        while condition is not None and condition.type == "expression_statement":
            condition = condition.named_children[0] if condition.named_children else None
        counter = condition.child_by_field_name("left") if condition is not None else None
        end = condition.child_by_field_name("right") if condition is not None else None
        last = self.value(end).number if end is not None else None
        if counter is None or counter.type != "identifier" or not isinstance(last, int):
            return []
        step = int(match["step"] or 1)
        numbers = range(int(match["start"]), last + (match["equal"] == b"="), step if step > 0 else 1)
        return [(counter, number) for number in numbers] if len(numbers) <= MOST_TURNS else []

    def attempt(self, node: Node) -> Value:
        for field in ("body", "handler", "finalizer"):
            part = node.child_by_field_name(field)
            if part is not None:
                inner = part.child_by_field_name("body") or part
                if field == "handler":
                    caught = part.child_by_field_name("parameter")
                    if caught is not None:
                        self.bind(caught, either(self.raised[-4:]))
                    self.branch(inner)
                else:
                    self.block(inner.named_children)
        return UNKNOWN

    def switch(self, node: Node) -> Value:
        value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
        if value is not None:
            self.value(value)
        for case in body.named_children if body is not None else ():
            self.branches += 1
            self.block(case.named_children)
            self.branches -= 1
        return UNKNOWN

    # Expressions.

    def mangled(self, root: Node, code: str) -> None:
        """Names as only obfuscators make them (`_0x3fa2`), in the code itself and not in its texts."""
        if (symbols := SYMBOLS.search(code)) is not None:
            line = code.count("\n", 0, symbols.start()) + 1
            self.trail.add("mangled", "", {}, (line, 0, line, 1))
        if len(set(MANGLED.findall(code))) < 3:
            return
        found: dict[str, Node] = {}
        waiting = [root]
        while waiting and len(found) < 3:
            node = waiting.pop()
            self.budget.left -= 1
            if node.type == "identifier" and MANGLED.fullmatch(_source(node)):
                found.setdefault(_source(node), node)
            waiting += node.named_children
        if len(found) >= 3:
            first = next(iter(found.values()))
            self.trail.add("mangled", _source(first), {}, place(first))

    def value(self, node: Node) -> Value:
        """What is known of the expression."""
        self.budget.left -= 1
        kind = node.type
        leaf = LEAVES.get(kind)
        if leaf is not None:
            return leaf(self, node)
        handler = EXPRESSIONS.get(kind)
        if handler is None:
            if kind in FUNCTIONS:
                return self.define(node)
            if node.named_child_count and kind not in IGNORED:
                return self.statement(node) if kind in STATEMENTS else self._all(node)
            return UNKNOWN
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        try:
            return handler(self, node)
        finally:
            self.depth -= 1

    def _all(self, node: Node) -> Value:
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep
        value = UNKNOWN
        for child in node.named_children:
            value = self.value(child)
        self.depth -= 1
        return value

    def name(self, node: Node) -> Value:
        name = _source(node)
        found = self.scope.get(name)
        if found is not None:
            return found
        return reference("globalThis" if name in GLOBALS else name)

    def own(self, node: Node) -> Value:
        found = self.scope.get("this")
        if found is None:
            found = self.this[-1] if self.this else reference("this" if self.returned else "globalThis")
        return found

    def member(self, node: Node) -> Value:
        owner, name = node.child_by_field_name("object"), node.child_by_field_name("property")
        if owner is None or name is None:
            return UNKNOWN
        return self.reach(self.value(owner), _source(name))

    def reach(self, owner: Value, name: str, labels: frozenset[str] = NO_LABELS) -> Value:
        """`owner.name`, with the many ways to one thing made one."""
        if owner.name == "globalThis":
            known = self.scope.top.names.get(name)
            return known if known is not None else reference("globalThis" if name in GLOBALS else name, labels)
        if (owner.name == "process" and name == "mainModule") or (
            owner.name == "module" and name in ("constructor", "children")
        ):
            return reference("module", labels)
        if "\\u" in name:
            name = ESCAPE.sub(_unescape, name)
        if name == "length" and (owner.items is not None or owner.exact is not None):
            return Value(number=len(owner.items if owner.items is not None else owner.text))
        if name == "constructor" and (
            owner.function is not None
            or owner.name.endswith("constructor")
            or owner.name in ("Function", "Object", "Array", "String")
        ):
            return reference("Function", owner.labels | fold.ASSEMBLED)
        if name == "constructor" and owner.kind is None and owner.name in ("", "globalThis"):
            made = reference("constructor", owner.labels)
            made.owner, made.attribute = owner, name
            return made
        if owner.name == "process.env" and name in self.variables:
            return self.variables[name]
        if owner.name == "process.env" and owner.fields is None:
            return self.environment(name)
        return self.attribute(owner, name, labels)

    def environment(self, name: str) -> Value:
        folder = VARIABLES.get(name.lower())
        if folder is not None:
            return text(folder)
        labels = {f"${name}", Source.HOST_INFO} if name in WHO else {f"${name}"}
        return Value(name=f"process.env.{name}", labels=frozenset(labels))

    def _owner_and_key(self, node: Node) -> tuple[Value, Value]:
        owner, index = node.child_by_field_name("object"), node.child_by_field_name("index")
        return (self.value(owner) if owner is not None else UNKNOWN), (
            self.value(index) if index is not None else UNKNOWN
        )

    def subscript(self, node: Node) -> Value:
        owner, key = self._owner_and_key(node)
        index = node.child_by_field_name("index")
        literal = index is not None and index.type in ("string", "number") and b"\\" not in (index.text or b"")
        if key.texts and (owner.name or owner.fields is not None or owner.texts) and not key.text.isdigit():
            labels = NO_LABELS if literal else fold.ASSEMBLED
            return self.reach(owner, key.text, labels if owner.name else NO_LABELS)
        if owner.name == "process.env":
            return Value(name="process.env[]", labels=frozenset({Source.ENVIRONMENT}))
        return self.element(owner, key)

    def calls(self, node: Node) -> Value:
        function, listed = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None:
            return UNKNOWN
        called = reference("require") if function.type == "import" else self.value(function)
        args = self.arguments(listed)
        if function.type == "super" and self.this:
            return UNKNOWN
        return self.invoke(called, args, place(node), listed)

    def invoke(self, called: Value, args: list[Value], where: Place, listed: Node | None = None) -> Value:
        """A call, with `call`, `apply` and `bind` seen through."""
        owner = called.owner
        if called.name == "Reflect.apply" and len(args) >= 3:
            return self.invoke(args[0], args[2].items or [args[2]], where)
        if called.attribute in ("call", "apply", "bind") and owner is not None and (owner.name or owner.function):
            rest = args[1:]
            if called.attribute == "apply":
                rest = (rest[0].items or [rest[0]]) if rest else []
            if called.attribute == "bind":
                if owner.function is not None or not rest:
                    return owner
                return Value(name="bound", items=[owner, *rest], labels=owner.labels)
            return self.invoke(owner, list(rest), where)
        if called.attribute in LISTENING and len(args) > 1 and args[0].exact and args[1].function is not None:
            self.listeners.setdefault(args[0].exact, []).append(args[1])
            if args[0].exact in KEYS:
                self.follow(args[1].function, [Value(labels=frozenset({"captured"}))], {}, args[1].owner)
        if called.attribute == "emit" and args and args[0].exact:
            for listener in self.listeners.get(args[0].exact, [])[:8]:
                self.call(listener, list(args[1:]), {}, where)
        if called.name == "bound" and called.items:
            return self.invoke(called.items[0], [*called.items[1:], *args], where)
        if called.name == "constructor":
            called = reference("Function", called.labels | fold.ASSEMBLED)
        if called.name in (
            "require",
            "module.require",
            "module._load",
            "module.Module._load",
            "globalThis.require",
            "process.mainModule.require",
            "createRequire()",
            "process.binding",
            "process.getBuiltinModule",
        ):
            return self.require(called, args, where, listed)
        return self.call(called, args, {}, where)

    def require(self, called: Value, args: list[Value], where: Place, listed: Node | None) -> Value:
        wanted = args[0] if args else UNKNOWN
        known = wanted.exact
        self.trail.add("import", module(known or ""), {"module": wanted}, where, called.labels)
        if known is None:
            return Value(name="require()", labels=wanted.labels)
        written = listed.named_children[0] if listed is not None and listed.named_children else None
        plain = written is not None and written.type in ("string", "identifier") and b"\\" not in (written.text or b"")
        hidden = NO_LABELS if plain and not wanted.labels else fold.ASSEMBLED
        name = module(known)
        if called.name == "process.binding":
            name = f"process.binding.{name}"
        return reference(name, (wanted.labels & {Source.DECODED, Source.ASSEMBLED}) | hidden)

    def arguments(self, listed: Node | None) -> list[Value]:
        if listed is None:
            return []
        if listed.type == "template_string":
            whole = self.template(listed)
            return [Value(whole.texts, labels=whole.labels, items=[whole])]
        args: list[Value] = []
        for child in listed.named_children:
            if child.type == "spread_element" and child.named_children:
                spread = self.value(child.named_children[0])
                args += spread.items if spread.items is not None else [self.each(spread)]
            elif child.type != "comment":
                args.append(self.value(child))
        return args

    def new(self, node: Node) -> Value:
        made = node.child_by_field_name("constructor")
        called = self.value(made) if made is not None else UNKNOWN
        args = self.arguments(node.child_by_field_name("arguments"))
        if (
            called.name == "Array"
            and len(args) == 1
            and isinstance(args[0].number, int)
            and 0 <= args[0].number <= 1000
        ):
            return Value(items=[UNKNOWN] * args[0].number)
        return self.invoke(called, args, place(node))

    def binary(self, node: Node) -> Value:
        # Chains such as "a" + "b" + ... lean to the left; their length is no nesting.
        chain = [node]
        while (left := chain[-1].child_by_field_name("left")) is not None and left.type == "binary_expression":
            chain.append(left)
        left = chain[-1].child_by_field_name("left")
        value = self.value(left) if left is not None else UNKNOWN
        for step in reversed(chain):
            right, operator = step.child_by_field_name("right"), step.child_by_field_name("operator")
            other = self.value(right) if right is not None else UNKNOWN
            value = self.operate(value, other, operator.type if operator is not None else "?")
        return value

    def operate(self, left: Value, right: Value, operator: str) -> Value:
        self.budget.left -= 1
        if operator in ("||", "??", "&&"):
            return either((left, right))
        if operator == "+" and left.texts and right.texts and len(right.text) < 4 and len(left.text) < 60:
            self.crumbs += 1
        if operator in ("==", "===", "!=", "!==", "<", ">", "<=", ">=", "in", "instanceof"):
            return UNKNOWN
        return self.weighed(fold.added(left, right, operator))

    def assignment(self, node: Node) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return UNKNOWN
        value = self.value(right)
        self.bind(left, value)
        return value

    def augmented(self, node: Node) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None:
            return UNKNOWN
        kind = _source(operator)[:-1] if operator is not None else "+"
        value = self.operate(self.value(left), self.value(right), kind)
        self.bind(left, value)
        return value

    def template(self, node: Node) -> Value:
        parts = []
        for child in node.named_children:
            match child.type:
                case "template_substitution":
                    parts.append(self.value(child.named_children[0]) if child.named_children else text(""))
                case "string_fragment":
                    parts.append(text(_source(child)))
                case "escape_sequence":
                    parts.append(text(ESCAPE.sub(_unescape, _source(child))))
        return concatenate(parts) if parts else text("")

    def array(self, node: Node) -> Value:
        items: list[Value] = []
        for child in node.named_children:
            if child.type == "spread_element" and child.named_children:
                items += self.value(child.named_children[0]).items or [UNKNOWN]
            elif child.type != "comment":
                items.append(self.value(child))
        return Value(items=items)

    def object_(self, node: Node) -> Value:
        made = Value(fields={})
        fields = made.fields
        assert fields is not None
        for child in node.named_children:
            match child.type:
                case "pair":
                    key, value = child.child_by_field_name("key"), child.child_by_field_name("value")
                    if key is not None and value is not None:
                        fields[self.key(key)] = self.value(value)
                case "shorthand_property_identifier":
                    fields[_source(child)] = self.name(child)
                case "method_definition":
                    name = child.child_by_field_name("name")
                    value_of = self.define(child)
                    if value_of.function is not None:
                        value_of.function.self_name = "this"
                        value_of.owner = made
                    fields[self.key(name) if name is not None else "?"] = value_of
                case "spread_element" if child.named_children:
                    spread = self.value(child.named_children[0])
                    fields.update(spread.fields or {"?": Value(labels=spread.labels, name=spread.name)})
                    made.name = made.name or (spread.name if spread.fields is None else "")
        return made

    def key(self, node: Node) -> str:
        if node.type in ("string", "template_string", "number"):
            return self.value(node).text or _source(node)
        if node.type == "computed_property_name" and node.named_children:
            return self.value(node.named_children[0]).text or "?"
        return _source(node)

    def choice(self, node: Node) -> Value:
        parts = [node.child_by_field_name(field) for field in ("condition", "consequence", "alternative")]
        values = [self.value(part) for part in parts if part is not None]
        return either(values[1:])

    def sequence(self, node: Node) -> Value:
        # `a, b, c` is nested to the left or right by grammar; its length is no nesting.
        value = UNKNOWN
        for child in _flat(node):
            value = self.value(child)
        return value

    def yielded(self, node: Node) -> Value:
        value = self.passed(node)
        if self.returned:
            self.returned[-1].append(Value(items=[value], labels=value.labels))
        return UNKNOWN

    def throws(self, node: Node) -> Value:
        thrown = node.named_children[0] if node.named_children else None
        value = self.value(thrown) if thrown is not None else UNKNOWN
        listed = thrown.child_by_field_name("arguments") if thrown is not None else None
        if listed is not None and listed.named_children and thrown is not None and thrown.type == "new_expression":
            value = Value(fields={"message": self.value(listed.named_children[0])}, labels=value.labels)
        self.raised.append(value)
        return UNKNOWN

    def passed(self, node: Node) -> Value:
        return self.value(node.named_children[-1]) if node.named_children else UNKNOWN

    def unary(self, node: Node) -> Value:
        value = self._all(node)
        operator = node.child_by_field_name("operator")
        if operator is not None and operator.type == "-" and value.number is not None:
            return Value(number=-value.number)
        if operator is not None and operator.type in ("typeof", "!", "delete", "void"):
            return UNKNOWN
        return Value(labels=value.labels, number=value.number)

    def method(self, owner: Value, name: str, args: list[Value], where: Place) -> Value | None:
        handler = METHODS.get(name)
        return handler(self, owner, args, where) if handler is not None else None


def _flat(node: Node) -> list[Node]:
    found: list[Node] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type == "sequence_expression":
            waiting += reversed(one.named_children)
        else:
            found.append(one)
    return found


def _string(machine: JavaScript, node: Node) -> Value:
    raw = _source(node)[1:-1]
    if machine.nested.escapes:
        machine.nested.written_out(raw, place(node))
    if machine.nested.mentions is not None:
        machine.nested.mentioned(raw, place(node))
    return text(ESCAPE.sub(_unescape, raw)) if "\\" in raw else text(raw)


def _number(machine: JavaScript, node: Node) -> Value:
    raw = _source(node).replace("_", "").rstrip("n").lower()
    try:
        if raw[:2] in ("0x", "0o", "0b"):
            return Value(number=int(raw, 0)) if len(raw) < 40 else UNKNOWN
        return Value(number=int(raw)) if raw.isdigit() and len(raw) < 20 else Value(number=float(raw))
    except (ValueError, OverflowError):
        return UNKNOWN


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    try:
        if code[0] == "u" and len(code) > 1:
            return chr(int(code[1:].strip("{}"), 16))
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        if code.isdigit() and code != "0":
            return chr(int(code, 8)) if not re.search("[89]", code) else code
    except (ValueError, OverflowError):
        return HOLE
    return "" if code[0] in "\r\n" else LETTERS.get(code, code)


def _regex(machine: JavaScript, node: Node) -> Value:
    return Value(name="regex", fields={"pattern": text(_source(node))})


def _source(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def place(node: Node) -> Place:
    start, end = node.start_point, node.end_point
    return start[0] + 1, start[1], end[0] + 1, end[1]


Handler = Callable[[JavaScript, Node], Value]

IGNORED = frozenset(
    (
        "comment",
        "empty_statement",
        "debugger_statement",
        "statement_identifier",
        "hash_bang_line",
        "property_identifier",
        "break_statement",
        "continue_statement",
    )
)
LEAVES: dict[str, Handler] = {
    "identifier": JavaScript.name,
    "this": JavaScript.own,
    "string": _string,
    "number": _number,
    "regex": _regex,
    "undefined": lambda machine, node: UNKNOWN,
    "null": lambda machine, node: UNKNOWN,
    "true": lambda machine, node: Value(name="True", number=1),
    "false": lambda machine, node: Value(name="False", number=0),
}
STATEMENTS: dict[str, Handler] = {
    "expression_statement": JavaScript.expression,
    "lexical_declaration": JavaScript.declaration,
    "variable_declaration": JavaScript.declaration,
    "function_declaration": lambda machine, node: UNKNOWN,
    "generator_function_declaration": lambda machine, node: UNKNOWN,
    "class_declaration": JavaScript.class_,
    "import_statement": JavaScript.import_,
    "return_statement": JavaScript.returns,
    "if_statement": JavaScript.conditional,
    "for_statement": JavaScript.loop,
    "while_statement": JavaScript.loop,
    "do_statement": JavaScript.loop,
    "for_in_statement": JavaScript.loop_over,
    "try_statement": JavaScript.attempt,
    "switch_statement": JavaScript.switch,
    "throw_statement": JavaScript.throws,
}
EXPRESSIONS: dict[str, Handler] = {
    "member_expression": JavaScript.member,
    "subscript_expression": JavaScript.subscript,
    "call_expression": JavaScript.calls,
    "new_expression": JavaScript.new,
    "binary_expression": JavaScript.binary,
    "assignment_expression": JavaScript.assignment,
    "augmented_assignment_expression": JavaScript.augmented,
    "template_string": JavaScript.template,
    "array": JavaScript.array,
    "object": JavaScript.object_,
    "ternary_expression": JavaScript.choice,
    "sequence_expression": JavaScript.sequence,
    "parenthesized_expression": JavaScript.passed,
    "await_expression": JavaScript.passed,
    "yield_expression": JavaScript.yielded,
    "spread_element": JavaScript.passed,
    "unary_expression": JavaScript.unary,
    "class": JavaScript.class_,
}
