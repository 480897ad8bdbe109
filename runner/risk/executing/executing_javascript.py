"""The reasons for which JavaScript may run a text that it is handed, or start a program with it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import tree_sitter_javascript
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from runner.model.expression import expression
from runner.risk.model.held import until_forgotten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

JAVASCRIPT = Grammar(tree_sitter_javascript.language())
JS_WORDS = expression(
    r"\b(?:eval|Function|AsyncFunction|GeneratorFunction|__proto__|__defineGetter__|child_process|cluster|vm"
    r"|worker_threads|Worker|WebAssembly|repl|inspector|Reflect|Proxy|createRequire|getBuiltinModule|binding|_linkedBinding"
    r"|dlopen|mainModule|_load|_compile|runIn\w*Context|compileFunction|execPath|globalThis|global|window|self"
    r"|getPrototypeOf|setPrototypeOf|_extensions|Bun|Deno|arguments)\b|\bmodule\b(?!\s*\.\s*exports\b)"
)
ESCAPE = expression(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
NUMBERS = frozenset({"number"})


@lru_cache(maxsize=2)
def root_of(code: str) -> Node:
    """Return the root of the tree of code, as JavaScript; the last ones are held in memory until `forget`."""
    return Parser(JAVASCRIPT).parse(code.encode("utf-8", "surrogatepass")).root_node


until_forgotten(root_of.cache_clear)


def of_javascript(code: str, root: Node | None = None) -> str:
    """Return why `code` may run what it is handed, or '' where it only reads it; `root` is that of its tree if made."""
    plain = ESCAPE.sub(lambda found: chr(min(int(found[1] or found[2] or found[3], 16), 0x10FFFF)), code)
    for one in (code, plain):
        if (word := JS_WORDS.search(one)) is not None:
            return word.group()
    root = root_of(code) if root is None else root
    if root.has_error:
        return "it cannot be parsed"
    picked: set[bytes] = set()
    called: list[Node] = []
    constructors = 0
    for node in walk(root):
        if node.text == b"require" and (node.parent is None or node.parent.type != "call_expression"):
            return "require"
        if node.type == "identifier" and node.text == b"process" and not _is_member_of(node):
            return "process"
        constructors += node.type == "method_definition" and _named(node) == b"constructor"
        if node.type in ("variable_declarator", "assignment_expression"):
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            target = node.child_by_field_name("name") or node.child_by_field_name("left")
            if value is not None and target is not None and _picks(value):
                picked.add(target.text or b"")
        elif node.type in ("call_expression", "new_expression"):
            called.append(node)
    if plain.count("constructor") > constructors:
        return "constructor"
    return next(filter(None, (_calls_unknown(node, picked) for node in called)), "")


def _calls_unknown(node: Node, picked: set[bytes]) -> str:
    """Return why a call may be of anything; empty where it is of something known.

    `picked` are names of what was picked.
    """
    function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    if function is None or _picks(function) or function.text in picked:
        return "it calls what it picks by a name that is not fixed"
    if function.type == "call_expression" or (function.text in (b"require", b"import") and not _fixed(node)):
        return "it calls or loads what is not fixed"
    return ""


def _is_member_of(node: Node) -> bool:
    """Return whether only a member of it, of a fixed name, is used."""
    return node.parent is not None and node.parent.type == "member_expression"


def _named(node: Node) -> bytes:
    name = node.child_by_field_name("name")
    return b"" if name is None else name.text or b""


def _picks(node: Node) -> bool:
    """Return whether the value is `something[name]`, with a name that is no number."""
    while node.type in ("parenthesized_expression", "await_expression") and node.named_children:
        node = node.named_children[0]
    index = node.child_by_field_name("index")
    return node.type == "subscript_expression" and (index is None or index.type not in NUMBERS)


def _fixed(call: Node) -> bool:
    arguments = call.child_by_field_name("arguments")
    return arguments is not None and len(arguments.named_children) == 1 and arguments.named_children[0].type == "string"


def walk(root: Node) -> Iterator[Node]:
    todo: list[Node] = [root]
    while todo:
        node = todo.pop()
        yield node
        children: Sequence[Node] = node.children
        todo += reversed(children)
