"""Functions of a script that surely take the place of a program, and only say what they were called with.

    aws() { echo "aws $*"; }

After this line no `aws` of the script starts the program, where nothing in it goes around its functions. What starts
other programs, as `xargs` and `env` do, sees no functions: that is looked at where the command is started.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import words
from runner.risk.shell.syntax import source

if TYPE_CHECKING:
    from tree_sitter import Node

ONLY_SAY = words("echo printf true false : return local shift test [ cat tee")
"""Commands that such a function may consist of."""
GOES_AROUND = expression(
    r"(?<![\w./-])(?:unset|builtin|eval|exec|source|alias|shopt|enable|command|which|type|hash|whence|typeset|declare)(?![\w-])"
    r"|(?m:^|[;&|({])[ \t]*\.\s|\\[a-z]"
)
"""Words by which a script takes a function away, or gets at the program behind it."""


def surely_replaces(node: Node) -> bool:
    """Return whether the definition of a function at `node` is in force from there on, and only says its arguments.

    That is so where the script `keeps_functions`.
    """
    root, body, behind = node.parent, node.child_by_field_name("body"), node.next_sibling
    if source(node).startswith("function") or (behind is not None and behind.type == "&"):
        return False  # not every shell knows the word; in a subshell it is gone at once
    if root is None or root.type != "program" or body is None or body.type != "compound_statement":
        return False
    return all(source(name) in ONLY_SAY for name in commands_of(body)) and not _has_inner(body)


def keeps_functions(root: Node) -> bool:
    """Return whether nothing in a whole script goes around its functions; each name of a command is written out."""
    # `\n` in what a function prints is no way to a program.
    if GOES_AROUND.search(source(root).replace("\\n", "").replace("\\t", "")) is not None:
        return False
    return all(one.named_children and one.named_children[0].type == "word" for one in commands_of(root))


def commands_of(body: Node) -> list[Node]:
    """Return the names of the commands in a part of a script."""
    found, left = [], [body]
    while left:
        one = left.pop()
        if one.type == "command_name":
            found.append(one)
        left += one.named_children
    return found


def _has_inner(body: Node) -> bool:
    """Return whether a body has a script inside of it, or commands that feed each other."""
    left = [body]
    while left:
        one = left.pop()
        if one.type in ("command_substitution", "process_substitution", "function_definition", "subshell"):
            return True
        left += one.named_children
    return False
