"""The reasons for which a shell script may run a text that it is handed, or start a program with it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import tree_sitter_bash
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from runner.model.expression import expression
from runner.risk.executing.executing_javascript import walk
from runner.risk.executing.running import FIXED_WORDS, SCRIPTS, STEERED, takes_data
from runner.risk.model.bounds import excerpt
from runner.risk.model.held import until_forgotten
from runner.risk.model.outline_data import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

BASH = Grammar(tree_sitter_bash.language())
BY_WORDS = FIXED_WORDS.keys() | SCRIPTS.keys()
"""Commands that are told by their words."""
PLAIN_NODES = words(
    "program word raw_string ansi_c_string string string_content simple_expansion variable_name special_variable_name "
    "command_substitution pipeline list redirected_statement file_redirect heredoc_redirect heredoc_start heredoc_body "
    "heredoc_end heredoc_content herestring_redirect file_descriptor if_statement elif_clause else_clause "
    "while_statement do_group case_statement case_item comment number concatenation compound_statement "
    "subshell negated_command command_name extglob_pattern function_definition process_substitution regex "
    "test_operator unary_expression binary_expression parenthesized_expression negation_expression"
)
ARITHMETIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
FIXED_NODES = frozenset({"word", "raw_string", "number", "ansi_c_string"})
SIMPLE_EXPANSION = expression(rb"\$\{#?\w+(?::?[-=+?][\w ./-]*)?\}")


@lru_cache(maxsize=2)
def root_of(code: str) -> Node:
    """Return the root of the tree of a script as it stands; the last ones are held in memory until `forget`."""
    return Parser(BASH).parse(code.encode("utf-8", "surrogatepass")).root_node


until_forgotten(root_of.cache_clear)


def steered(code: str) -> list[str]:
    """Return the variables that shell code sets and that tell programs what to load or start."""
    root = root_of(code)
    assigned = (node.child_by_field_name("name") for node in walk(root) if node.type == "variable_assignment")
    names = ((name.text or b"").decode("utf-8", "replace") for name in assigned if name is not None)
    return [name for name in names if STEERED.fullmatch(name)]


def of_shell(code: str) -> str:
    """Return why `code` may run what it is handed, or '' where it only reads it."""
    root = root_of(code)
    if root.has_error:
        return "it cannot be parsed"
    defined = {
        (name.text or b"").decode("utf-8", "replace")
        for node in walk(root)
        if node.type == "function_definition" and (name := node.child_by_field_name("name")) is not None
    }
    return next((found for node in walk(root) if node.is_named and (found := _of_shell(node, defined))), "")


def _of_shell(node: Node, defined: Set[str]) -> str:
    match node.type:
        case "command":
            return _command(node, defined)
        case "variable_assignment":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if name is not None and name.text == b"IFS" and (value is None or _word(value) is not None):
                return ""  # `while IFS= read -r line` only splits
            if name is None or name.type != "variable_name" or STEERED.fullmatch((name.text or b"").decode()):
                return _said(node)
            return ""
        case "declaration_command":
            kind = (node.children[0].text or b"").decode()
            plain = all(
                child.type in ("variable_assignment", "variable_name") or child.text == b"-r"
                for child in node.named_children
            )
            return "" if plain and kind in ("export", "local", "readonly") else _said(node)
        case "for_statement":
            name = node.child_by_field_name("variable")
            return _said(node) if name is None or STEERED.fullmatch((name.text or b"").decode()) else ""
        case "expansion":
            return "" if SIMPLE_EXPANSION.fullmatch(node.text or b"") else _said(node)
        case "test_command":
            return _test(node)
        case "compound_statement" if node.children[0].type == "((":
            return _said(node)
        case kind if kind in PLAIN_NODES:
            return ""
        case _:
            return _said(node)


def _command(node: Node, defined: Set[str]) -> str:
    name = node.child_by_field_name("name")
    if name is None:
        return ""
    parts = name.named_children
    if len(parts) != 1 or parts[0].type != "word":
        return _said(name)
    known = (name.text or b"").decode("utf-8", "replace")
    arguments = [*node.children_by_field_name("argument"), *_behind(node)]
    if known in defined or takes_data(known, [_word(one) for one in arguments]):
        return ""
    return _said(node) if known in BY_WORDS else excerpt(known, 60)


def _behind(command: Node) -> list[Node]:
    """Return the arguments that stand behind a redirection of the command, which the grammar takes for a part of it."""
    around = command.parent
    if around is None or around.type != "redirected_statement":
        return []
    found: list[Node] = []
    for child in around.named_children:
        if child.type == "file_redirect":
            found += child.children_by_field_name("destination")[1:]
        elif child.type == "heredoc_redirect":
            found += child.children_by_field_name("argument")
    return found


def _test(node: Node) -> str:
    """`[ ... ]` and `[[ ... ]]`: the second one calculates, and calculating runs what stands in an index."""
    double = node.children[0].type != "["
    for one in walk(node):
        text = (one.text or b"").decode("utf-8", "replace")
        operator = one.type == "test_operator" or not one.is_named
        if operator and (text in ("-v", "-R", "((") or (double and text in ARITHMETIC)):
            return _said(node)
        if one.type in ("word", "raw_string", "string") and text.strip("'\"") in ("-v", "-R"):
            return _said(node)
        if not double and one.type == "simple_expansion" and (one.parent is None or one.parent.type != "string"):
            return _said(node)
    return ""


def _word(node: Node) -> str | None:
    """Return the word as fixed text; None where it is not."""
    text = (node.text or b"").decode("utf-8", "replace")
    if node.type == "string" and all(child.type == "string_content" for child in node.named_children):
        return text[1:-1]
    if node.type in FIXED_NODES:
        return text.strip("'") if node.type == "raw_string" else text
    return None


def _said(node: Node) -> str:
    text = " ".join((node.text or b"").decode("utf-8", "replace").split())
    return text if len(text) <= 60 else excerpt(text, 59) + "\N{HORIZONTAL ELLIPSIS}"


COUNTING = words("wc date stat nproc seq expr basename id")
"""Commands of which the output is no text that was read."""
CALCULATING = words("arithmetic_expansion c_style_for_statement subscript")
PROMPTED = expression(rb"\$\{!|@P\}")


def calculates(code: str) -> str:
    """Return where a script calculates with a variable that holds what it has read; '' where it does not.

    The shell runs the command in `a[$(command)]` wherever it takes a text for a number or for the name of a variable.
    """
    root = root_of(code)
    nodes = [*walk(root)]
    held = {name for node in nodes for name in _filled(node)}
    for node in nodes if held else ():
        if _takes_number(node) and (mentioned := held & _names(node)):
            return f"{_said(node)}, which calculates with {min(mentioned)}"
    return ""


def _filled(node: Node) -> Iterator[str]:
    """Yield the variables that get what is read."""
    if node.type == "command":
        name, given = node.child_by_field_name("name"), [_word(one) for one in node.children_by_field_name("argument")]
        if name is not None and name.text in (b"read", b"mapfile", b"readarray"):
            yield from (word for word in given if word is not None and word.isidentifier())
    elif node.type in ("variable_assignment", "for_statement"):
        name = node.child_by_field_name("name") or node.child_by_field_name("variable")
        values = [one for one in node.named_children if one != name and one.type != "do_group"]
        reads = any(one.type == "command_substitution" and _gives_text(one) for value in values for one in walk(value))
        if reads and name is not None:
            yield (name.text or b"").decode("utf-8", "replace").partition("[")[0]


def _gives_text(substitution: Node) -> bool:
    """Return whether the output of a command substitution may be a text that was read."""
    last = [one for one in walk(substitution) if one.type == "command"]
    name = last[-1].child_by_field_name("name") if last else None
    return name is None or (name.text or b"").decode("utf-8", "replace") not in COUNTING


def _takes_number(node: Node) -> bool:
    if node.type == "command":
        name = (node.child_by_field_name("name") or node).text or b""
        by_option = name in (b"test", b"[", b"printf") and b" -v" in (node.text or b"")
        return by_option or name in (b"let", b"unset", b"read")
    if node.type == "test_command":
        return node.children[0].type != "[" and _test(node) != ""
    if node.type == "declaration_command":
        return b" -i" in (node.text or b"")
    if node.type == "compound_statement":
        return node.children[0].type == "(("
    if node.type == "expansion":
        return PROMPTED.search(node.text or b"") is not None
    return node.type in CALCULATING


def _names(node: Node) -> set[str]:
    """Return the variables in a node, and the words of it that may be the name of one; not the names that it fills."""
    if node.type == "command" and (node.child_by_field_name("name") or node).text == b"read":
        return {name for one in walk(node) if one.type in ("simple_expansion", "expansion") for name in _names(one)}
    kinds = ("variable_name", "word")
    return {(one.text or b"").decode("utf-8", "replace") for one in walk(node) if one.type in kinds}
