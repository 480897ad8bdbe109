"""The outline of a program: its text letter by letter, but for texts and numbers that can only be data.

Where a program runs text, starts programs, or reaches what could, it has no outline: there every letter counts. What
is not known to be harmless counts as such, so that a new way to run text gives no outline rather than a wrong one.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from tree_sitter import Parser

from runner.model.request import Language
from runner.risk.javascript import syntax as javascript
from runner.risk.shell import syntax as shell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

HOLE = "\0"
"""Stands where a literal stood. No code that is taken in has one (`runner.requests.intake`)."""
Span = tuple[int, int]
"""Where a literal begins and ends, in bytes."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TELLING = re.compile(
    r"__\w+__|^[rwaxbt+]{1,4}$|\.(?:py|pyc|pyw|pyd|pth|so|sh|bash|js|mjs|cjs|node|zip|egg|whl|rb|pl)$"
    r"|\b(?:eval|exec|import|require|system|popen|subprocess|lambda|constructor|prototype)\b",
    re.IGNORECASE,
)
"""Literals that read like code, name a file that is code, or say whether a file is written, count letter by letter."""
COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=]")

MODULES = _words(
    "__future__ base64 bisect calendar collections copy csv dataclasses datetime decimal enum fractions functools glob "
    "hashlib heapq io itertools json math numbers numpy os pandas pathlib pprint random re statistics string sys "
    "textwrap time typing unicodedata uuid zoneinfo"
)
OF_OS = _words("path listdir getcwd makedirs mkdir walk scandir stat sep linesep cpu_count")
OF_SYS = _words("argv stdout stderr stdin exit version version_info maxsize byteorder platform")
DENIED = _words(
    # what runs text or reaches names by text
    "exec eval compile getattr setattr delattr globals locals vars breakpoint open_code get_type_hints ForwardRef "
    "make_dataclass methodcaller attrgetter Formatter format format_map query load read_pickle read_hdf read_sql "
    "read_sql_query read_sql_table f2py ctypeslib ctypes testing distutils import_module modules meta_path path_hooks "
    # what starts programs, or takes away
    "system popen Popen fork forkpty posix_spawn startfile putenv environ getenv unlink rmdir rmtree chmod chown "
    "symlink_to hardlink_to symlink link kill subprocess builtins importlib _os _sys"
)
NAMED = frozenset({"__name__", "__file__", "__doc__"})
"""Names of that kind that lead nowhere."""

JS_MODULES = _words("assert crypto events fs fs/promises os path readline url util")
JS_DENIED = _words(
    "eval Function AsyncFunction GeneratorFunction constructor prototype __proto__ __defineGetter__ __defineSetter__ "
    "global globalThis window self module Reflect Proxy WebAssembly Worker createRequire binding dlopen mainModule "
    "unlink unlinkSync rm rmSync rmdir rmdirSync chmod chmodSync chown chownSync symlink symlinkSync link linkSync "
    "env kill fetch XMLHttpRequest WebSocket"
)
OF_PROCESS = _words("stdout stderr stdin argv exit exitCode cwd hrtime memoryUsage")

COMMANDS = _words(
    "[ basename cat cd cut date df diff dirname du echo false file grep head ls md5sum mkdir printf pwd seq sha256sum "
    "sleep stat tail test tr true uniq wc"
)


class _None(Exception):
    """The code has no outline."""


@lru_cache(maxsize=8)
def outline(language: Language | None, code: str) -> str:
    """Pure; '' where there is none, or where nothing in `code` could be another."""
    try:
        match language:
            case Language.PYTHON:
                spans = list(_python(code))
            case Language.JAVASCRIPT:
                spans = list(_javascript(code))
            case Language.SHELL:
                spans = list(_shell(code))
            case None:
                return ""
    except (_None, SyntaxError, ValueError, RecursionError, MemoryError, UnicodeError):
        return ""
    return _without(code.encode(), spans) if spans else ""


def _without(data: bytes, spans: list[Span]) -> str:
    parts, at = [], 0
    for begin, end in sorted(spans):
        parts += [data[at:begin], HOLE.encode()]
        at = end
    return b"".join([*parts, data[at:]]).decode()


# ---- Python ----


def _python(code: str) -> Iterator[Span]:
    if any(sign in code for sign in "\r\f\0") or any(COOKIE.match(line) for line in code.split("\n")[:2]):
        raise _None
    begins = [0]
    for line in code.encode().split(b"\n"):
        begins.append(begins[-1] + len(line) + 1)
    todo: list[ast.AST] = [ast.parse(code)]
    while todo:
        node = todo.pop()
        _check_python(node)
        if isinstance(node, ast.Constant):
            if type(node.value) in (int, float, complex) or _tells_nothing(node.value):
                assert node.end_lineno is not None and node.end_col_offset is not None
                yield begins[node.lineno - 1] + node.col_offset, begins[node.end_lineno - 1] + node.end_col_offset
        elif isinstance(node, ast.JoinedStr):
            # An f-string is code as much as text: all of it counts, and so does what it calls.
            _check_all(node)
        elif isinstance(node, (ast.arg, ast.AnnAssign)):
            # An annotation in quotes can be run: that of `functools.singledispatch` is.
            if node.annotation is not None:
                _check_all(node.annotation)
            todo += [one for one in ast.iter_child_nodes(node) if one is not node.annotation]
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.returns is not None:
                _check_all(node.returns)
            todo += [one for one in ast.iter_child_nodes(node) if one is not node.returns]
        else:
            todo += ast.iter_child_nodes(node)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("os", "sys"):
                todo.remove(node.value)  # checked with its attribute


def _check_all(root: ast.AST) -> None:
    for node in ast.walk(root):
        if not isinstance(node, ast.Name) or node.id not in ("os", "sys"):
            _check_python(node)


def _tells_nothing(value: object) -> bool:
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return isinstance(value, str) and TELLING.search(value) is None


def _check_python(node: ast.AST) -> None:
    """Raise _None for what could run text."""
    match node:
        case ast.Import(names):
            ok = all(_known(one.name) and not (one.asname and one.name in ("os", "sys")) for one in names)
        case ast.ImportFrom(module, names, level):
            ok = not level and _known(module or "") and all(_may_take(module or "", one.name) for one in names)
        case ast.Attribute(ast.Name("os"), name):
            ok = name in OF_OS
        case ast.Attribute(ast.Name("sys"), name):
            ok = name in OF_SYS
        case ast.Attribute(ast.Name("json"), "load"):
            ok = True
        case ast.Attribute(_, name):
            ok = name not in ("os", "sys") and _may_name(name)
        case ast.Name(name):
            ok = name not in ("os", "sys") and _may_name(name)
        case ast.Call(func):
            ok = isinstance(func, (ast.Name, ast.Attribute))
        case _:
            ok = True
    if not ok:
        raise _None


def _known(module: str) -> bool:
    return module.split(".")[0] in MODULES and all(_may_name(part) for part in module.split(".")[1:])


def _may_take(module: str, name: str) -> bool:
    allowed = {"os": OF_OS, "sys": OF_SYS}.get(module)
    return name != "*" and (name in allowed if allowed is not None else _may_name(name) and name not in ("os", "sys"))


def _may_name(name: str) -> bool:
    return name not in DENIED and (not name.startswith("__") or name in NAMED)


# ---- JavaScript ----


def _javascript(code: str) -> Iterator[Span]:
    for node in _tree(javascript.GRAMMAR, code):
        _check_javascript(node)
        if (node.type == "number" or node.type == "string") and _is_js_data(node):
            yield node.start_byte, node.end_byte


def _is_js_data(node: Node) -> bool:
    parent = node.parent
    above = parent.type if parent is not None else ""
    if above in ("import_statement", "export_statement", "import_attribute", "expression_statement"):
        return False
    if node.type == "number":
        return True
    if parent is None or above in ("subscript_expression", "method_definition", "field_definition"):
        return False
    if above == "pair" and parent.child_by_field_name("key") == node:
        return False
    call = parent.parent if above == "arguments" else None
    return (call is None or _called(call) != "require") and _plain(node)


def _check_javascript(node: Node) -> None:
    """Raise _None for what could run text."""
    ok = True
    match node.type:
        case "identifier" | "property_identifier" | "shorthand_property_identifier" | "private_property_identifier":
            ok = _text(node) not in JS_DENIED and (_text(node) != "process" or _is_harmless_process(node))
            ok = ok and (_text(node) != "require" or _requires_known(node))
        case "call_expression" | "new_expression":
            called = node.child_by_field_name("function") or node.child_by_field_name("constructor")
            ok = called is not None and (called.type in ("identifier", "member_expression") or _is_function(called))
        case "import_statement" | "export_statement":
            source = node.child_by_field_name("source")
            ok = source is None or _module(source)
        case "with_statement" | "import" | "html_comment":
            ok = node.type == "import" and node.parent is not None and node.parent.type == "import_statement"
    if not ok:
        raise _None


def _is_function(node: Node) -> bool:
    """Return whether the node is a function that is called where it is defined."""
    inner = node.named_children
    kinds = ("arrow_function", "function_expression")
    return node.type == "parenthesized_expression" and len(inner) == 1 and inner[0].type in kinds


def _is_harmless_process(node: Node) -> bool:
    parent = node.parent
    if parent is None or parent.type != "member_expression" or parent.child_by_field_name("object") != node:
        return False
    name = parent.child_by_field_name("property")
    return name is not None and _text(name) in OF_PROCESS


def _requires_known(node: Node) -> bool:
    call = node.parent
    if call is None or call.type != "call_expression":
        return False
    given = call.child_by_field_name("arguments")
    return given is not None and len(given.named_children) == 1 and _module(given.named_children[0])


def _module(node: Node) -> bool:
    return node.type == "string" and _text(node)[1:-1].removeprefix("node:") in JS_MODULES


def _called(node: Node) -> str:
    function = node.child_by_field_name("function")
    return "" if function is None else _text(function)


# ---- shell ----


def _shell(code: str) -> Iterator[Span]:
    for node in _tree(shell.GRAMMAR, code):
        if node.type == "function_definition" or (node.type == "command" and _name(node) not in COMMANDS):
            raise _None
        parent = node.parent
        if parent is None or parent.type != "command":
            continue
        # Only what stands by itself as an argument: words without quotes, assignments and redirections count.
        if node.type == "number" or (node.type in ("string", "raw_string") and _plain(node)):
            yield node.start_byte, node.end_byte


def _name(command: Node) -> str:
    name = command.child_by_field_name("name")
    one = name.named_children[0] if name is not None and len(name.named_children) == 1 else None
    return _text(one) if one is not None and one.type == "word" else ""


# ---- trees ----


def _tree(grammar: object, code: str) -> Iterator[Node]:
    root = Parser(grammar).parse(code.encode()).root_node  # type: ignore[arg-type]
    if root.has_error or HOLE in code or "\r" in code:
        raise _None
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        todo += node.children


def _plain(node: Node) -> bool:
    """Return a quoted text with nothing in it that is read again: no expansion, no number of a character, no option."""
    inside = _text(node)[1:-1]
    if any(sign in inside for sign in "\\$`!") or inside.startswith("-"):
        return False
    return TELLING.search(inside) is None


def _text(node: Node) -> str:
    return "" if node.text is None else node.text.decode()
