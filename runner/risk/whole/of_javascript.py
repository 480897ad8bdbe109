"""Parts of a JavaScript program that are not understood: ambiguous calls, hooks, names, libraries."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.executing import executing_javascript as executing
from runner.risk.executing.executing_javascript import walk
from runner.risk.javascript.syntax import parse
from runner.risk.literals.outline_javascript import MODULES as MODULES_READING
from runner.risk.model.outline_data import words
from runner.risk.verdict.computing import JS_ROOTS, is_known_call
from runner.risk.verdict.naming import one_word, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Node

    from runner.risk.model.acts import Trail

MODULES = words("fs path os util assert url querystring string_decoder events readline crypto zlib buffer perf_hooks")
"""Modules of Node.js of which what reaches outside is known by name."""
HOOKS = words("toString valueOf toJSON then get set next return throw asyncDispose dispose inspect")
"""Methods that the language calls by itself."""
CONSTANTS = words("sep EOL constants promises argv delimiter")
NAME_NODES = words("identifier shorthand_property_identifier_pattern")
HANDING = words("array pair ternary_expression arguments binary_expression return_statement")
"""Where a function stands that is handed on."""
ODD_NODES = words(
    "generator_function generator_function_declaration yield_expression with_statement meta_property class_static_block"
)
REQUIRED = expression(r"require\([^()]*\)(?:\.promises)?")
FUNCTIONS = words("function_declaration arrow_function function_expression function class_declaration class")
BIND_BY_NAME = words(
    "defineProperty defineProperties assign promisify bind call apply create entries values fromEntries"
)


def of_javascript(code: str, trail: Trail) -> tuple[Iterable[str], Iterable[str]]:
    """Return what is not understood, and what matters only where the program does more than to look."""
    root = parse(code)
    program = _Program(root)
    return _hard(code, root, trail, program), chain.from_iterable(map(program.soft, program.nodes))


def _hard(code: str, root: Node, trail: Trail, program: _Program) -> Iterator[str]:
    if root.has_error:
        yield "A part of it cannot be parsed."
    elif how := executing.of_javascript(code, root):
        yield f"Uses {shown(how, 40)}, by which code may be anything."
    for node in program.nodes:
        yield from program.hard(node)
    for name in sorted(trail.called):
        if not is_known_call(name, javascript=True) and not program.is_own(name) and not _reads(name):
            yield f"Calls {one_word(name, 60)}, which is not known."


def _reads(name: str) -> bool:
    """Return whether it is a function that only reads, of a module of Node.js."""
    module, _, function = name.removeprefix("node:").partition(".")
    return function in MODULES_READING.get(module, ())


TELLING = (
    FUNCTIONS
    | ODD_NODES
    | words(
        "variable_declarator assignment_expression augmented_assignment_expression formal_parameters array_pattern "
        "object_pattern catch_clause for_in_statement import_clause namespace_import import_specifier call_expression "
        "new_expression import_statement "
        "member_expression template_string method_definition pair identifier class_heritage"
    )
)
"""Kinds of nodes that are looked at."""


class _Program:
    """One program: its nodes, and what each of its names stands for."""

    def __init__(self, root: Node) -> None:
        self.nodes = [node for node in walk(root) if node.type in TELLING]
        self._bound: Counter[str] = Counter()
        self._own: set[str] = set()
        self._modules: set[str] = set()
        for node in self.nodes:
            self._bind(node)

    def _bind(self, node: Node) -> None:
        match node.type:
            case "function_declaration" | "class_declaration":
                known = _text(node.child_by_field_name("name"))
                self._own.add(known)
                self._bound[known] += 1
            case "variable_declarator":
                self._declare(node.child_by_field_name("name"), node.child_by_field_name("value"))
            case "assignment_expression" | "augmented_assignment_expression":
                self._bound[_text(node.child_by_field_name("left"))] += 1
            case "formal_parameters" | "array_pattern" | "object_pattern" | "catch_clause":
                self._bound.update(_text(child) for child in node.named_children if child.type in NAME_NODES)
            case "for_in_statement" | "arrow_function":
                only = node.child_by_field_name("left") or node.child_by_field_name("parameter")
                self._bound[_text(only)] += only is not None
            case "import_clause" | "namespace_import" | "import_specifier":
                names = [_text(child) for child in node.named_children if child.type == "identifier"]
                self._bound.update(names)
                self._modules.update(names)
            case _:
                pass

    def _declare(self, name: Node | None, value: Node | None) -> None:
        if name is None or name.type != "identifier":
            return
        self._bound[_text(name)] += 1
        if value is not None and value.type in FUNCTIONS:
            self._own.add(_text(name))
        elif value is not None and REQUIRED.fullmatch(_text(value)):
            self._modules.add(_text(name))

    def is_own(self, name: str) -> bool:
        return name.partition(".")[0] in self._own and "." not in name

    def hard(self, node: Node) -> list[str]:
        match node.type:
            case "call_expression" | "new_expression":
                return self._called(node)
            case "import_statement":
                return self._loads(_text(node.child_by_field_name("source")).strip("'\""))
            case "member_expression" if not _is_called(node):
                root, name = node.child_by_field_name("object"), _text(node.child_by_field_name("property"))
                if _text(root) in self._modules and name not in CONSTANTS:
                    return [f"Hands on {shown(_text(node), 60)}; with what it is called is not followed."]
            case "object_pattern" if "require(" in _text(node.parent):
                return ["Takes functions out of a module under names of its own."]
            case "assignment_expression":
                return self._changes(node.child_by_field_name("left"))
            case kind if kind in ODD_NODES:
                return ["Goes on piece by piece; in which order is not followed."]
            case "template_string" if node.parent is not None and node.parent.type == "call_expression":
                return ["Calls a function by a text."]
            case _:
                pass
        return []

    def _changes(self, left: Node | None) -> list[str]:
        root = left
        while root is not None and root.type in ("member_expression", "subscript_expression"):
            root = root.child_by_field_name("object")
        known = _text(root) in JS_ROOTS | self._modules | self._own or "prototype" in _text(left)
        return [f"Changes what {shown(_text(root), 40)} does."] if root is not left and known else []

    def _called(self, node: Node) -> list[str]:
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        if function is None:
            return ["Calls what is worked out at run time."]
        name = _text(function)
        if function.type == "identifier":
            if name == "require":
                arguments = node.child_by_field_name("arguments")
                return self._loads(_text(arguments).strip("()'\"` "))
            once = self._bound[name] == 1 and name in self._own
            return [] if once or (name in JS_ROOTS and not self._bound[name]) else _several(name)
        if function.type != "member_expression":
            return ["Calls what is worked out at run time."] if function.type != "import" else ["Loads a module late."]
        method = _text(function.child_by_field_name("property"))
        if method in BIND_BY_NAME:
            inner = function.child_by_field_name("object")
            if _text(inner) == "Object" or method in ("bind", "call", "apply", "promisify"):
                return [f"Uses {shown(method, 40)}, by which code may be anything."]
        return []

    def _loads(self, module: str) -> list[str]:
        plain = module.removeprefix("node:").partition("/")[0]
        return [] if plain in MODULES else [f"Loads {one_word(module, 40)}, which is not known."]

    def soft(self, node: Node) -> list[str]:
        match node.type:
            case "method_definition" | "pair":
                return _defines(node)
            case "identifier" if self._own and _around(node) in HANDING and _text(node) in self._own:
                return [f"Hands on its function {shown(_text(node), 40)}; who calls it with what is not followed."]
            case "class_heritage":
                return ["Defines a class from another one, whose methods others may call."]
            case kind if kind in FUNCTIONS and _around(node) in ("array", "ternary_expression"):
                return ["Keeps functions in a list; which of them is called is not followed."]
            case _:
                return []


def _around(node: Node) -> str:
    return node.parent.type if node.parent is not None else ""


def _defines(node: Node) -> list[str]:
    """Return what a method, or a function in an object, is called by besides its name."""
    name = _text(node.child_by_field_name("name") or node.child_by_field_name("key"))
    value = node.child_by_field_name("value")
    if node.type == "pair" and (value is None or value.type not in FUNCTIONS):
        return []
    if name in HOOKS or name.startswith("[") or _text(node).startswith(("get ", "set ")):
        return [f"Defines {shown(name, 40)}, which the language calls by itself."]
    return ["Keeps functions in an object; which of them is called is not followed."] if node.type == "pair" else []


def _several(name: str) -> list[str]:
    return [f"Calls {shown(name, 40)}, which may be several things."]


def _is_called(node: Node) -> bool:
    above = node.parent
    if above is None or above.type == "member_expression":
        return True
    return above.type in ("call_expression", "new_expression") and (
        (above.child_by_field_name("function") or above.child_by_field_name("constructor")) == node
    )


def _text(node: Node | None) -> str:
    return "" if node is None else (node.text or b"").decode("utf-8", "replace")
