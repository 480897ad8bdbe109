"""The literals of the window that look like words for a person, and that no catalogue gets."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from tests.languages.texts import ONE, SEVERAL, called

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = re.compile(r"[A-Za-z]{2,} | [A-Za-z]{2,}|^[A-Z][a-z]|[a-z]\N{HORIZONTAL ELLIPSIS}$")
"""Two words, a word with a blank beside it, or one that begins large: keys, names of icons and inks are small."""
SHOWING = {
    "QCheckBox",
    "QLabel",
    "QPushButton",
    "QRadioButton",
    "addAction",
    "addItem",
    "addMenu",
    "addTab",
    "setAccessibleDescription",
    "setAccessibleName",
    "setPlaceholderText",
    "setStatusTip",
    "setTabText",
    "setText",
    "setTitle",
    "setToolTip",
    "setWindowTitle",
}
"""What shows whatever it gets: there a small word is one for a person too."""
UNSHOWN = {
    "attempt",
    "compile",
    "endswith",
    "index",
    "info",
    "key_text",
    "page",
    "record",
    "removeprefix",
    "setObjectName",
    "setProperty",
    "setStyle",
    "setStyleSheet",
    "show_page",
    "start",
    "startswith",
    "strftime",
    "warning",
    "Errands",
    "Interrupted",
    "PageTasks",
    "QFont",
    "QKeySequence",
    "Reader",
    "ToPage",
    "TypeVar",
    "_bind",
    "_format",
    "_key",
    "_shown",
    "call",
    "cast",
    "in_daemon",
    "new_method_call",
    "property",
    "spawn",
}
"""What shows nothing of a literal that it gets: keys of pages, names of tasks, reports of faults, expressions."""


def literals(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each literal that may come on screen as it is."""
    above = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Constant) and isinstance(node.value, str)) or id(node) in documented:
            continue
        use = _use(node, above)
        small = use in SHOWING or use in ONE or use == SEVERAL
        if use is not None and (WORDS.search(node.value) or (small and re.search("[A-Za-z]{2}", node.value))):
            yield node.lineno, node.value


def _use(node: ast.AST, above: dict[ast.AST, ast.AST]) -> str | None:
    """Return the name of what gets a literal, '' for none in particular; None where it is not shown as it is."""
    inner, outer = node, above.get(node)
    while outer is not None:
        match outer:
            case ast.Call() if inner is not outer.func:
                name = called(outer) or (outer.func.attr if isinstance(outer.func, ast.Attribute) else "")
                place = outer.args.index(inner) if inner in outer.args else -1
                if (name in ONE and place == 0) or (name == SEVERAL and place in (0, 1)):
                    return None
                if name == "partial" and isinstance(outer.args[0], ast.Name) and outer.args[0].id == SEVERAL:
                    return None
                if name == "partial":
                    return None
                return None if name in UNSHOWN else name
            case ast.keyword():
                call = above[outer]
                return (called(call) if isinstance(call, ast.Call) else "") or ""
            case ast.Compare() | ast.MatchValue() | ast.Assert() | ast.Raise():
                return None
            case ast.Subscript() if inner is outer.slice:
                return None
            case ast.AnnAssign() | ast.arg() if inner is outer.annotation:
                return None
            case ast.FunctionDef() | ast.AsyncFunctionDef() if inner is outer.returns:
                return None
            case ast.Dict() if inner in outer.keys and not WORDS.search(getattr(inner, "value", "")):
                return None
            case ast.FormattedValue() if inner is outer.format_spec:
                return None
            case ast.stmt():
                return ""
            case _:
                pass
        inner, outer = outer, above.get(outer)
    return ""
