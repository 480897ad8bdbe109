"""The names of a plain JavaScript program: where each is declared, and which are parts of the library."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from runner.risk.javascript import plain_names as names
from runner.risk.javascript.syntax import code_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

MOST_NODES = 20_000
DEEPEST = 100
FUNCTIONS = frozenset({"function_declaration", "function_expression", "arrow_function"})


class NotPlain(Exception):
    """Something in the program is not known, so that it could change what its names stand for."""


class PlainScope:
    """The names of one block: the name of its own that each has got, or the part of the library that it is."""

    def __init__(self, outer: PlainScope | None = None) -> None:
        self.outer = outer
        self.own: dict[str, str] = {}
        self.library: dict[str, str] = {}
        self.constants: dict[str, Node] = {}
        """What names are declared to be that cannot change."""

    def take(self, name: str, library: str) -> None:
        """Note that a name is a part of the library, and nothing else."""
        if name in self.own or name in self.library:
            raise NotPlain
        self.library[name] = library

    def holder(self, name: str) -> PlainScope | None:
        """Return the scope that declares the name."""
        scope: PlainScope | None = self
        while scope is not None and name not in scope.own and name not in scope.library:
            scope = scope.outer
        return scope


class PlainNames:
    """One program; everything has to be taken over in the order in which it stands."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self._made = 0
        self.seen: Counter[str] = Counter()
        """How often each name stands in the program."""
        self._left: set[int] = set()
        """Where the names stand that have not been taken over."""
        nodes = [(root, 0)]
        for count, (node, depth) in enumerate(nodes):  # grows as it is gone through
            if count > MOST_NODES or depth > DEEPEST:
                raise NotPlain
            if node.type in ("identifier", "shorthand_property_identifier"):
                self.seen[code_of(node)] += 1
                self._left.add(node.start_byte)
            nodes += [(child, depth + 1) for child in node.named_children]

    def met(self, node: Node) -> str:
        """Return a name that is taken over."""
        self._left.discard(node.start_byte)
        return code_of(node)

    def settle(self) -> None:
        """Raise NotPlain where a part of the program was left out: it could do anything."""
        if self._left:
            raise NotPlain

    def declare(self, scope: PlainScope, name: str) -> str:
        if name in scope.library:
            raise NotPlain
        if name not in scope.own:
            self._made += 1
            scope.own[name] = f"{name}@{self._made}"
        return scope.own[name]

    def fresh(self, scope: PlainScope) -> str:
        self._made += 1
        return self.declare(scope, f"#{self._made}")

    def hoist(self, node: Node, scope: PlainScope) -> None:
        """Declare what `var` declares anywhere in a function."""
        for child in node.named_children:
            if child.type == "variable_declaration":
                self.declare_all(child, scope)
            if child.type not in FUNCTIONS:
                self.hoist(child, scope)

    def declare_all(self, node: Node, scope: PlainScope) -> None:
        constant = node.type == "lexical_declaration" and node.children[0].type == "const"
        for one in of_type(node, "variable_declarator"):
            name, value = one.child_by_field_name("name"), one.child_by_field_name("value")
            if name is None:
                raise NotPlain
            library = self.part_of_library(value, scope) if value is not None else ""
            if library in names.NAMED_AGAIN:
                for bound, part in self._bound(name):
                    scope.take(bound, _part(library, part))
            elif name.type == "identifier":
                self.declare(scope, self.met(name))
                if constant and value is not None:
                    scope.constants[code_of(name)] = value
            else:
                raise NotPlain

    def load(self, node: Node, scope: PlainScope) -> None:
        source = node.child_by_field_name("source")
        library = names.MODULES.get((text_of(source) or "").removeprefix("node:")) if source is not None else None
        clauses = of_type(node, "import_clause")
        if library is None or any(child.type == "type" for child in node.children):
            raise NotPlain
        for child in (child for clause in clauses for child in clause.named_children):
            match child.type:
                case "identifier":
                    scope.take(self.met(child), library)
                case "namespace_import":
                    scope.take(self.met(child.named_children[0]), library)
                case "named_imports":
                    for one in child.named_children:
                        original, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                        if original is None:
                            raise NotPlain
                        known = self.met(original)
                        scope.take(self.met(alias or original), _part(library, known))
                case _:
                    raise NotPlain

    def part_of_library(self, node: Node, scope: PlainScope) -> str:
        """Return the full name of a part of the library; '' for anything else."""
        match node.type:
            case "identifier":
                name = self.met(node)
                if (holder := scope.holder(name)) is not None:
                    return holder.library.get(name, "")
                return name if name in names.GLOBALS else ""
            case "member_expression" if is_plain_member(node):
                owner = self.part_of_library(node.named_children[0], scope)
                return f"{owner}.{code_of(node.named_children[-1])}" if owner else ""
            case "call_expression":
                function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
                if (
                    function is None
                    or function.type != "identifier"
                    or self.met(function) != "require"
                    or scope.holder("require") is not None
                ):
                    return ""
                wanted = text_of(given.named_children[0]) if given is not None and given.named_children else None
                library = names.MODULES.get((wanted or "").removeprefix("node:"))
                if library is None:
                    raise NotPlain
                return library
            case "parenthesized_expression":
                return self.part_of_library(node.named_children[0], scope)
            case _:
                return ""

    def _bound(self, pattern: Node) -> Iterator[tuple[str, str]]:
        """Yield the names that a declaration of a part of the library binds, and what of it each is."""
        if pattern.type == "identifier":
            yield self.met(pattern), ""
            return
        for one in pattern.named_children if pattern.type == "object_pattern" else ():
            match one.type, one.named_children:
                case "shorthand_property_identifier_pattern", _:
                    yield code_of(one), code_of(one)
                case "pair_pattern", [key, value] if key.type == "property_identifier" and value.type == "identifier":
                    yield self.met(value), code_of(key)
                case _:
                    raise NotPlain
        if pattern.type != "object_pattern":
            raise NotPlain


def _part(library: str, name: str) -> str:
    return library if name in ("", "default") else f"{library}.{name}"


def is_plain_member(node: Node) -> bool:
    """Return whether it is `owner.name`, and not `owner?.name`."""
    return [child.type for child in node.children if child.type != "comment"][1:] == [".", "property_identifier"]


def of_type(node: Node, kind: str) -> list[Node]:
    return [child for child in node.named_children if child.type == kind]


def text_of(node: Node | None) -> str | None:
    """Return the text of a string without escapes; None for anything else."""
    if node is None or node.type != "string" or b"\\" in (node.text or b"\\"):
        return None
    return code_of(node)[1:-1]
