"""Expressions and functions of a plain JavaScript program as those of Python."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.javascript import plain_names as names
from runner.risk.javascript.plain_pieces import (
    call,
    is_in,
    joined,
    milliseconds,
    moment_now,
    negated,
    number,
    plain_folder,
    unknown,
)
from runner.risk.javascript.plain_scopes import FUNCTIONS, NotPlain, PlainNames, PlainScope, is_plain_member, text_of
from runner.risk.javascript.syntax import code_of, place

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tree_sitter import Node

COMPARED: dict[str, type[ast.cmpop]] = {
    "===": ast.Eq,
    "==": ast.Eq,
    "!==": ast.NotEq,
    "!=": ast.NotEq,
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
}
OPERATED: dict[str, type[ast.operator]] = {"+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div}
FOUND = {"!== -1": True, "!= -1": True, "> -1": True, ">= 0": True, "=== -1": False, "== -1": False, "< 0": False}
"""What is compared with `indexOf`, and whether that means that the thing is there."""
ENTRIES = expression(r"\{\s*+withFileTypes\s*+:\s*+true\s*+(?:,\s*+)?\}")
UTF8 = expression(r"""['"]utf-?8['"]""")


class PlainValues(PlainNames, ABC):
    """What expressions of one program are."""

    def __init__(self, root: Node) -> None:
        super().__init__(root)
        self.waiting: list[ast.stmt] = []
        """Functions without a name, which come before the statement that has them."""

    @abstractmethod
    def block(self, nodes: Sequence[Node], scope: PlainScope) -> list[ast.stmt]:
        """Return statements that stand together."""

    @abstractmethod
    def expression(self, node: Node, scope: PlainScope) -> list[ast.stmt]:
        """Return an expression that stands for itself as statements."""

    def bare(self, node: Node, *, calls: bool = True) -> Node:
        """Return what is in brackets or, with `calls`, awaited."""
        while node.type in names.WITH_TYPES or (calls and node.type == "await_expression"):
            node = node.named_children[0]
        return node

    def value(self, node: Node, scope: PlainScope, *, awaited: bool = False) -> ast.expr:
        """Return an expression. Raises NotPlain."""
        if node.type in names.WITH_TYPES or node.type == "await_expression":
            return self.value(node.named_children[0], scope, awaited=awaited or node.type == "await_expression")
        if node.type == "call_expression":
            return self._call(node, scope, awaited=awaited)
        handler = EXPRESSIONS.get(node.type)
        if handler is None:
            raise NotPlain
        return handler(self, node, scope)

    def _literal(self, node: Node, scope: PlainScope) -> ast.expr:
        known = text_of(node)
        return number(code_of(node)) if node.type == "number" else unknown() if known is None else ast.Constant(known)

    def _unary(self, node: Node, scope: PlainScope) -> ast.expr:
        if operator_of(node) not in ("!", "-", "+", "typeof", "void"):
            raise NotPlain
        inner = self.value(part(node, "argument"), scope)
        return negated(inner) if operator_of(node) == "!" else unknown(inner)

    def _ternary(self, node: Node, scope: PlainScope) -> ast.expr:
        fields = ("condition", "consequence", "alternative")
        return unknown(*(self.value(part(node, field), scope) for field in fields))

    def _unnamed(self, node: Node, scope: PlainScope) -> ast.expr:
        name = self.fresh(scope)
        self.waiting.append(self.function(node, scope, name))
        return ast.Name(name, ast.Load())

    def _array(self, node: Node, scope: PlainScope) -> ast.expr:
        return ast.List([self.value(one, scope) for one in _arguments(node)], ast.Load())

    def _name(self, node: Node, scope: PlainScope) -> ast.expr:
        name = self.met(node)
        holder = scope.holder(name)
        if holder is not None and name in holder.own:
            return ast.Name(holder.own[name], ast.Load())
        if holder is None and name in names.EMPTY:
            return unknown()
        return _library_value(self.part_of_library(node, scope))

    def _template(self, node: Node, scope: PlainScope) -> ast.expr:
        parts: list[str | ast.expr] = []
        for child in node.named_children:
            if child.type == "template_substitution":
                parts.append(self.value(child.named_children[0], scope))
            elif child.type == "string_fragment":
                parts.append(code_of(child))
            else:
                parts.append(unknown())
        return joined(parts)

    def _binary(self, node: Node, scope: PlainScope) -> ast.expr:
        sign, left, right = operator_of(node), part(node, "left"), part(node, "right")
        if sign in ("&&", "||"):
            boolean = ast.And() if sign == "&&" else ast.Or()
            return ast.BoolOp(boolean, [self.value(left, scope), self.value(right, scope)])
        found = FOUND.get(f"{sign} {code_of(right)}")
        if found is not None and (looked := self._looked_for(left, scope)) is not None:
            return looked if found else negated(looked)
        if sign == "+":
            return self._added(node, scope)
        # A moment is a number where it is compared or where something is taken off it, and a text where one is added.
        moments = sign in ("-", "<", "<=", ">", ">=")
        one = (self._moment(left, scope) if moments else None) or self.value(left, scope)
        other = (self._moment(right, scope) if moments else None) or self.value(right, scope)
        if sign in COMPARED:
            return ast.Compare(one, [COMPARED[sign]()], [other])
        return ast.BinOp(one, OPERATED[sign](), other) if sign in OPERATED else unknown(one, other)

    def _added(self, node: Node, scope: PlainScope) -> ast.expr:
        leaves: list[Node] = []
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if one.type == "binary_expression" and operator_of(one) == "+":
                waiting += [part(one, "right"), part(one, "left")]
            else:
                leaves.append(one)
        if any(one.type in ("string", "template_string") for one in leaves):
            return joined([text_of(one) or self.value(one, scope) for one in leaves])
        return ast.BinOp(self.value(part(node, "left"), scope), ast.Add(), self.value(part(node, "right"), scope))

    def _moment(self, node: Node, scope: PlainScope) -> ast.expr | None:
        """Return the milliseconds of a `Date` that stands here itself; None for anything else."""
        inner = self.bare(node, calls=False)
        if inner.type == "new_expression" and self._is_language(inner, "constructor", "Date", scope):
            return moment_now() if not _arguments(inner.child_by_field_name("arguments")) else None
        if inner.type == "member_expression" and is_plain_member(inner):
            name = code_of(inner.named_children[-1])
            if name in names.CHANGED_DATES and not self.part_of_library(inner, scope):
                return milliseconds(self.value(inner.named_children[0], scope))
        return None

    def _is_language(self, node: Node, field: str, name: str, scope: PlainScope) -> bool:
        return self.met(part(node, field)) == name and scope.holder(name) is None

    def _looked_for(self, node: Node, scope: PlainScope) -> ast.expr | None:
        """Return `thing in list` for `list.indexOf(thing)`."""
        inner = self.bare(node, calls=False)
        called = inner.child_by_field_name("function") if inner.type == "call_expression" else None
        given = _arguments(inner.child_by_field_name("arguments")) if called is not None else []
        if called is None or not is_plain_member(called) or len(given) != 1:
            return None
        if code_of(called.named_children[-1]) != "indexOf":
            return None
        return is_in(self.value(given[0], scope), self.value(called.named_children[0], scope))

    def _object(self, node: Node, scope: PlainScope) -> ast.expr:
        values: list[ast.expr] = []
        for one in _arguments(node):
            match one.type:
                case "pair" if one.named_children[0].type in ("property_identifier", "string"):
                    values.append(self.value(one.named_children[1], scope))
                case "shorthand_property_identifier":
                    values.append(self._name(one, scope))
                case _:
                    raise NotPlain
        return unknown(*values)

    def _assigned(self, node: Node, scope: PlainScope) -> ast.expr:
        """Bind a name twice, so that nothing is said of what it stands for: nobody knows in which order it changes."""
        target = node.child_by_field_name("left") or part(node, "argument")
        holder = scope.holder(self.met(target)) if target.type == "identifier" else None
        if holder is None or code_of(target) not in holder.own:
            raise NotPlain
        own, right = holder.own[code_of(target)], node.child_by_field_name("right")
        given = unknown() if right is None else self.value(right, scope)
        changed: list[ast.expr] = [ast.NamedExpr(ast.Name(own, ast.Store()), one) for one in (given, unknown())]
        return unknown(*changed)

    def _member(self, node: Node, scope: PlainScope) -> ast.expr:
        owner = part(node, "object")
        if node.type == "subscript_expression":
            index = part(node, "index")
            plain = index.type == "number" or self.part_of_library(owner, scope) == "process.env"
            if not plain or node.child_by_field_name("optional_chain") is not None:
                raise NotPlain
            return unknown(self.value(owner, scope), self.value(index, scope))
        if not is_plain_member(node):
            raise NotPlain
        if library := self.part_of_library(node, scope):
            return _library_value(library)
        name = code_of(node.named_children[-1])
        if name in names.CHANGED:
            return milliseconds(self.value(owner, scope))
        if name in names.PROPERTIES:
            attribute = "name" if name == "name" else "other"
            return ast.Attribute(self.value(owner, scope), attribute, ast.Load())
        if name in names.CHANGED_DATES:
            return unknown(self.value(owner, scope))
        raise NotPlain

    def _new(self, node: Node, scope: PlainScope) -> ast.expr:
        name = self.met(part(node, "constructor"))
        given = [self.value(one, scope) for one in _arguments(node.child_by_field_name("arguments"))]
        if scope.holder(name) is not None or name not in ("Set", "Date", "Error"):
            raise NotPlain
        if name == "Set" and len(given) == 1:
            return ast.Call(ast.Name("set", ast.Load()), given, [])
        return unknown(*given)

    # ---- calls ----

    def _call(self, node: Node, scope: PlainScope, *, awaited: bool) -> ast.expr:
        function, listed = part(node, "function"), part(node, "arguments")
        if listed.type != "arguments" or node.child_by_field_name("optional_chain") is not None:
            raise NotPlain
        given = _arguments(listed)
        if library := self.part_of_library(function, scope):
            return self._called(library, node, given, scope, awaited=awaited)
        if function.type != "member_expression":
            bare = self.bare(function)
            if bare.type not in (*FUNCTIONS, "identifier"):
                raise NotPlain
            return ast.Call(self.value(bare, scope), [self.value(one, scope) for one in given], [])
        method = code_of(function.named_children[-1])
        if not is_plain_member(function) or method not in names.METHODS:
            raise NotPlain
        if method in ("getTime", "valueOf") and (moment := self._moment(function.named_children[0], scope)) is not None:
            return moment
        owner = self.value(function.named_children[0], scope)
        values = [self.value(one, scope) for one in given]
        return is_in(values[0], owner) if method in ("has", "includes") and len(given) == 1 else unknown(owner, *values)

    def _called(self, name: str, node: Node, given: list[Node], scope: PlainScope, *, awaited: bool) -> ast.expr:
        """Return the call of a function of the library."""
        values = [self.value(one, scope) for one in given]
        answers = awaited or not name.startswith("fs.promises.")
        match values:
            case [path] if name in names.NAMES_OF and answers:
                return call("os.listdir", plain_folder(path))
            case [path, _] if name in names.NAMES_OF and answers and UTF8.fullmatch(code_of(given[1])):
                return call("os.listdir", plain_folder(path))
            case [path, _] if name in names.NAMES_OF and answers and ENTRIES.fullmatch(code_of(given[1])):
                return call("os.scandir", plain_folder(path))
            case [path] if name in names.ENTRIES_OF and awaited:
                return call("os.scandir", plain_folder(path))
            case [path] if name in names.STATS and answers:
                return call("os.stat", path)
            case [_, *_] if name in names.DELETES:
                deletion = call("os.remove", *values)
                deletion.lineno, deletion.col_offset, deletion.end_lineno, deletion.end_col_offset = place(node)
                return deletion
            case [path, leaf] if name in names.JOINS:
                return call("os.path.join", plain_folder(path), leaf)
            case [path] if name == "path.basename":
                return call("os.path.basename", path)
            case [] if name == "Date.now":
                return moment_now()
            case [ast.List() as texts] if name == "Object.freeze":
                return texts
        if name in names.NAMED_AGAIN:
            return unknown(*values)
        raise NotPlain

    # ---- functions ----

    def function(self, node: Node, scope: PlainScope, name: str) -> ast.FunctionDef:
        """Return a function, called `name`."""
        inner = PlainScope(scope)
        given = [ast.arg(one) for one in self.parameters(node, inner)]
        body = self.body(node, inner)
        if is_async(node):
            body.insert(0, ast.Pass())  # it gives a promise, and not what it returns
        return ast.FunctionDef(name, ast.arguments([], given, None, [], [], None, []), body, [])

    def parameters(self, node: Node, inner: PlainScope) -> list[str]:
        """Declare the parameters of a function and return them."""
        alone = node.child_by_field_name("parameter")
        declared: list[str] = []
        for one in [alone] if alone is not None else _arguments(node.child_by_field_name("parameters")):
            pattern = one.child_by_field_name("pattern") or one.child_by_field_name("left") or one
            default = one.child_by_field_name("value") or one.child_by_field_name("right")
            if default is not None:
                self.waiting.append(ast.Expr(self.value(default, inner)))
            if pattern.type != "identifier" or code_of(pattern) in inner.own:
                raise NotPlain
            declared.append(self.declare(inner, self.met(pattern)))
        return declared

    def body(self, node: Node, inner: PlainScope, *, returns: bool = True) -> list[ast.stmt]:
        """Return what a function does; without `returns`, what it gives is not of use to anybody."""
        inside = part(node, "body")
        if inside.type == "statement_block":
            self.hoist(inside, inner)
            return self.block(inside.named_children, inner) or [ast.Pass()]
        waiting, self.waiting = self.waiting, []
        done = self.expression(inside, inner) if not returns else [ast.Return(self.value(inside, inner))]
        before, self.waiting = self.waiting, waiting
        return [*before, *done]


EXPRESSIONS: dict[str, Callable[[PlainValues, Node, PlainScope], ast.expr]] = {
    "identifier": PlainValues._name,
    "template_string": PlainValues._template,
    "binary_expression": PlainValues._binary,
    "unary_expression": PlainValues._unary,
    "ternary_expression": PlainValues._ternary,
    "array": PlainValues._array,
    "object": PlainValues._object,
    "member_expression": PlainValues._member,
    "subscript_expression": PlainValues._member,
    "new_expression": PlainValues._new,
    **dict.fromkeys(FUNCTIONS, PlainValues._unnamed),
    **dict.fromkeys(names.LITERALS, PlainValues._literal),
    **dict.fromkeys(names.ASSIGNMENTS, PlainValues._assigned),
}


def part(node: Node, field: str) -> Node:
    """Return a part of a node. Raises NotPlain where it has none."""
    found = node.child_by_field_name(field)
    if found is None:
        raise NotPlain
    return found


def operator_of(node: Node) -> str:
    found = node.child_by_field_name("operator")
    return "" if found is None else code_of(found)


def is_async(node: Node) -> bool:
    return any(child.type == "async" for child in node.children)


def _arguments(listed: Node | None) -> list[Node]:
    return [] if listed is None else [one for one in listed.named_children if one.type != "comment"]


def _library_value(name: str) -> ast.expr:
    if name in names.VALUES or name.startswith("process.env."):
        return unknown()
    raise NotPlain
