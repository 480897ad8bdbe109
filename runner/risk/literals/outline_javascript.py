"""The literals of a JavaScript program that may be others.

Modules and their functions are a list, as in Python. The language has more ways to a function that runs text than can
be listed: a value names no property, and the properties on the way to such a function are named nowhere.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import WRITTEN, NoOutline, Span, is_plain, require, text, words
from runner.risk.rules.knowledge import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

LISTED = table()["running"]["javascript"]
MODULES = {name: words(allowed) for name, allowed in LISTED["data-functions"].items()}
WRITES = words("writeFileSync appendFileSync")
"""Allowed where they are called with a constant path."""
DENIED = words(LISTED["names"])
OF_PROCESS = words(LISTED["data-process"])
IDENTIFIERS = words(
    "identifier property_identifier shorthand_property_identifier shorthand_property_identifier_pattern "
    "private_property_identifier statement_identifier"
)
NUMBERS_ONLY = words("- * / % ** & | ^ << >> >>>")
"""Operators whose result is a number, whatever they are given."""
BINDINGS = words(
    "variable_declarator formal_parameters rest_pattern assignment_expression for_in_statement arrow_function "
    "catch_clause array_pattern object_assignment_pattern assignment_pattern pair_pattern import_specifier "
    "import_clause namespace_import function_declaration function_expression generator_function_declaration "
    "class_declaration class"
)
PLAIN_NAME = expression(r"[A-Za-z_$][\w$]*", re.ASCII)


def spans(nodes: Iterable[Node]) -> Iterator[Span]:
    """Yield the literals that may be others. Raises NoOutline."""
    yield from _Script(tuple(nodes)).spans()


class _Script:
    """One pass over the nodes of a program."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self._nodes = nodes
        self._modules: dict[str, str] = {}
        """The modules by the names that the program gives them."""
        for node in nodes:
            self._take_up(node)
        self._counters = self._numbers()

    def spans(self) -> Iterator[Span]:
        for node in self._nodes:
            self._check(node)
            if (node.type == "number" or node.type == "string") and self._is_data(node):
                yield node.start_byte, node.end_byte

    # ---- names ----

    def _take_up(self, node: Node) -> None:
        """Take up the modules that are required or imported here."""
        if node.type == "variable_declarator":
            if module := self._module_of(node.child_by_field_name("value")):
                self._declare(node.child_by_field_name("name"), module)
        elif node.type == "import_statement":
            module = _module(node)
            for one in _below(node):
                if one.type in ("import_clause", "namespace_import"):
                    for name in (inner for inner in one.named_children if inner.type == "identifier"):
                        self._bind(text(name), module)
                elif one.type == "import_specifier":
                    require(text(one.named_children[0]) in MODULES[module] - {"promises"})

    def _declare(self, name: Node | None, module: str) -> None:
        if name is not None and name.type == "identifier":
            self._bind(text(name), module)
            return
        require(name is not None and name.type == "object_pattern")
        for one in name.named_children if name is not None else ():
            key = one.child_by_field_name("key") if one.type == "pair_pattern" else one
            require(key is not None and key.type in IDENTIFIERS and text(key) in MODULES[module] - {"promises"})

    def _bind(self, name: str, module: str) -> None:
        require(self._modules.setdefault(name, module) == module)

    def _module_of(self, node: Node | None) -> str:
        """Return the module that an expression is; '' where it is none."""
        if node is None:
            return ""
        if node.type == "identifier":
            return self._modules.get(text(node), "")
        if node.type == "call_expression" and _called(node) == "require":
            return _module(node.child_by_field_name("arguments"))
        if node.type == "member_expression" and self._module_of(node.child_by_field_name("object")) == "fs":
            return "fs/promises" if _property(node) == "promises" else ""
        return ""

    def _numbers(self) -> frozenset[str]:
        """Return the names that only ever are numbers: counters of loops."""
        counters, others = set[str](), set[str]()
        for node in self._nodes:
            parent = node.parent
            if node.type not in IDENTIFIERS or parent is None or parent.type not in (*BINDINGS, *COUNTING):
                continue
            value = parent.child_by_field_name("value") or parent.child_by_field_name("right")
            if parent.type == "update_expression":
                continue
            if parent.type == "augmented_assignment_expression":
                counts = value is not None and (value.type == "number" or value == node)
            else:
                counts = parent.type == "variable_declarator" and value is not None and value.type == "number"
            (counters if counts else others).add(text(node))
        return frozenset(counters - others)

    # ---- checks ----

    def _check(self, node: Node) -> None:
        """Raise NoOutline for what could run text."""
        if node.type in IDENTIFIERS:
            self._check_name(node)
            return
        match node.type:
            case "call_expression" | "new_expression":
                called = node.child_by_field_name("function") or node.child_by_field_name("constructor")
                require(called is not None and (called.type in CALLED or _is_function(called)))
                require(not self._module_of(node) or _is_used(node))
            case "pair" | "pair_pattern" if (key := node.child_by_field_name("key")) is not None:
                require(key.type != "string" or self._is_key(key))
            case "subscript_expression":
                require(self._is_key(node.child_by_field_name("index")))
            case "computed_property_name":
                require(self._is_key(node.named_children[0]))
            case "member_expression" if module := self._module_of(node.child_by_field_name("object")):
                name = _property(node)
                require(not self._module_of(node) or _is_used(node))
                require(
                    node.parent is None or node.parent.child_by_field_name("left") != node or not _assigns(node.parent)
                )
                require(name in MODULES[module] or (module == "fs" and name in WRITES and _writes_named(node)))
            case "export_statement":
                require(node.child_by_field_name("source") is None)
            case "this" | "super" | "with_statement" | "html_comment" | "class_heritage" | "meta_property":
                raise NoOutline
            case "import":
                require(node.parent is not None and node.parent.type == "import_statement")

    def _check_name(self, node: Node) -> None:
        name, parent = text(node), node.parent
        require(name not in DENIED and bool(PLAIN_NAME.fullmatch(name)))
        if name == "process":
            require(_is_object(node) and parent is not None and _property(parent) in OF_PROCESS)
        elif name == "require":
            require(parent is not None and parent.type == "call_expression" and _called(parent) == "require")
        elif name in self._modules and node.type == "identifier" and parent is not None:
            asserts = self._modules[name] == "assert" and parent.type == "call_expression" and _called(parent) == name
            bound = parent.type in ("import_clause", "namespace_import") or (
                parent.type == "variable_declarator" and _called(parent.child_by_field_name("value")) == "require"
            )
            require(_is_object(node) or asserts or bound)
        elif node.type.startswith("shorthand_property_identifier"):
            require(name not in self._modules)

    def _is_key(self, node: Node | None) -> bool:
        """Return whether a computed key can only be a number, or is a text that counts letter by letter."""
        if node is None:
            return False
        if node.type == "string":
            inside = text(node)[1:-1]
            return inside not in DENIED and "\\" not in inside
        return self._is_number(node)

    def _is_number(self, node: Node | None) -> bool:
        if node is None:
            return False
        if node.type == "number":
            return True
        if node.type == "identifier":
            return text(node) in self._counters
        operator = _operator(node)
        if node.type == "binary_expression":
            sides = node.child_by_field_name("left"), node.child_by_field_name("right")
            return operator in NUMBERS_ONLY or (operator == "+" and all(map(self._is_number, sides)))
        if node.type == "parenthesized_expression":
            return self._is_number(node.named_children[0])
        return (node.type == "unary_expression" and operator in ("+", "-", "~")) or node.type == "update_expression"

    def _is_data(self, node: Node) -> bool:
        parent = node.parent
        above = parent.type if parent is not None else ""
        if above in ("import_statement", "import_attribute", "expression_statement"):
            return False
        if node.type == "number":
            return True
        if parent is None or above in KEYED:
            return False
        if above in ("pair", "pair_pattern") and parent.child_by_field_name("key") == node:
            return False
        call = parent.parent if above == "arguments" else None
        if call is not None and (_called(call) == "require" or _writes_named(call.child_by_field_name("function"))):
            return False
        return is_plain(node)


CALLED = words("identifier member_expression")
COUNTING = words("update_expression augmented_assignment_expression")
KEYED = words("subscript_expression method_definition field_definition computed_property_name")


def _module(node: Node | None) -> str:
    """Return the module that the only text below `node` names. Raises NoOutline for any that is not on the list."""
    names = [one for one in node.named_children if one.type == "string"] if node is not None else []
    given = node.named_children if node is not None and node.type == "arguments" else names
    require(len(names) == len(given) == 1)
    name = text(names[0])[1:-1].removeprefix("node:")
    require(name in MODULES)
    return name


def _writes_named(function: Node | None) -> bool:
    """Return whether a file is written whose whole path is in the program. Raises NoOutline for any other path."""
    if function is None or function.type != "member_expression" or _property(function) not in WRITES:
        return False
    call = function.parent
    given = call.child_by_field_name("arguments") if call is not None and call.type == "call_expression" else None
    require(given is not None and bool(given.named_children) and given.named_children[0].type == "string")
    require(given is not None and bool(WRITTEN.fullmatch(text(given.named_children[0])[1:-1])))
    return True


def _is_function(node: Node) -> bool:
    """Return whether the node is a function that is called where it is defined."""
    inner = node.named_children
    kinds = ("arrow_function", "function_expression")
    return node.type == "parenthesized_expression" and len(inner) == 1 and inner[0].type in kinds


def _is_object(node: Node) -> bool:
    """Return whether only a property of the node is used."""
    parent = node.parent
    return parent is not None and parent.type == "member_expression" and parent.child_by_field_name("object") == node


def _is_used(node: Node) -> bool:
    """Return whether a module is given a name, or only a property of it is used."""
    return _is_object(node) or (node.parent is not None and node.parent.type == "variable_declarator")


def _assigns(node: Node) -> bool:
    return node.type in ("assignment_expression", "augmented_assignment_expression", "for_in_statement")


def _property(node: Node) -> str:
    name = node.child_by_field_name("property")
    return text(name) if name is not None else ""


def _operator(node: Node) -> str:
    name = node.child_by_field_name("operator")
    return text(name) if name is not None else ""


def _called(node: Node | None) -> str:
    function = node.child_by_field_name("function") if node is not None else None
    return "" if function is None else text(function)


def _below(node: Node) -> Iterator[Node]:
    todo = list(node.named_children)
    while todo:
        one = todo.pop()
        yield one
        todo += one.named_children
