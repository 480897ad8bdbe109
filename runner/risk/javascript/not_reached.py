"""Branches that are not taken as the code stands: `const DRY_RUN = true` above, and `if (!DRY_RUN)` here.

A `const` holds what it is given; it counts where no other part of the program has a variable of that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.risk.javascript.syntax import code_of
from runner.risk.model.outline_data import words

if TYPE_CHECKING:
    from tree_sitter import Node

    from runner.risk.javascript.walker import JavaScript

ONLY_USES = words(
    "unary_expression parenthesized_expression template_substitution arguments binary_expression ternary_expression "
    "pair"
)
"""Where a name stands that is only read."""


def taken(walker: JavaScript, condition: Node | None) -> bool | None:
    """Return whether a condition is met as the code stands; None where that is not proved."""
    inner = condition
    while inner is not None and inner.type == "parenthesized_expression" and inner.named_children:
        inner = inner.named_children[0]
    if inner is None:
        return None
    if inner.type == "unary_expression" and code_of(inner)[:1] == "!":
        return None if (known := taken(walker, inner.child_by_field_name("argument"))) is None else not known
    if inner.type != "identifier":
        return None
    if walker.constants is None:
        walker.constants = _constants(inner)
    return walker.constants.get(code_of(inner))


def _constants(inside: Node) -> dict[str, bool]:
    """Return the names that hold the same truth value all the time, in the program around a node."""
    root = inside
    while root.parent is not None:
        root = root.parent
    found: dict[str, bool | None] = {}
    left = [root]
    while left:
        one = left.pop()
        left += one.named_children
        if one.type == "with_statement" or (one.type == "identifier" and code_of(one) in ("eval", "Function")):
            return {}  # it may have variables of its own
        if not one.type.endswith(("identifier", "identifier_pattern")):
            continue
        parent = one.parent
        if one.type != "identifier" or parent is None or parent.type not in ONLY_USES:
            name = code_of(one)
            found[name] = None if name in found else _declared(one)
    return {name: value for name, value in found.items() if value is not None}


def _declared(name: Node) -> bool | None:
    """Return what a name is declared to be: `const name = true` at the beginning of the program's statements."""
    declarator = name.parent
    held = declarator.parent if declarator is not None else None
    if declarator is None or held is None or declarator.type != "variable_declarator":
        return None
    outermost = held.parent is not None and held.parent.type == "program"
    if not outermost or held.type != "lexical_declaration" or not code_of(held).startswith("const"):
        return None
    given = declarator.child_by_field_name("value")
    return {"true": True, "false": False}.get(given.type) if given is not None else None
