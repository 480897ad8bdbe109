"""Reads the imports of Python code before it runs and says which are not allowed (spec R6)."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.sandbox.contract import Imports

INSTEAD = {
    "os": "pathlib for paths, or the variables handed to the code for its environment",
    "subprocess": "a shell request, which is shown to the person as what it is",
    "shutil": "pathlib to move and remove files",
    "socket": "nothing: there is no network here",
}
"""What does the job of a commonly blocked module. Given only where the rule itself allows it."""


@dataclass(frozen=True, slots=True)
class Import:
    module: str
    line: int


def refused(code: str, rule: Imports) -> tuple[Import, ...]:
    """Imports in `code` that `rule` does not allow, in order. Code that does not parse has none: it will not run.

    Sees `import`, `from`, and `__import__` and `import_module` called with a literal; what is computed is
    refused while the code runs.
    """
    if rule.allowed is None and not rule.blocked:
        return ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
        found = [entry for node in ast.walk(tree) for entry in _imported(node)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(sorted((e for e in found if not permitted(e.module, rule)), key=lambda entry: entry.line))


def permitted(module: str, rule: Imports) -> bool:
    """Whether `module` may be imported: a rule for `a` is one for `a.b` as well."""
    parts = module.split(".")
    names = {".".join(parts[: count + 1]) for count in range(len(parts))}
    if names & set(rule.blocked):
        return False
    return rule.allowed is None or parts[0] == "__future__" or bool(names & set(rule.allowed))


def hint(rule: Imports) -> str:
    """What may be imported, in a sentence."""
    if rule.allowed is not None:
        free = [name for name in rule.allowed if permitted(name, rule)]
        return f"Allowed: {', '.join(free) or 'nothing'}."
    return f"Blocked: {', '.join(rule.blocked)}."


def told(found: tuple[Import, ...], rule: Imports) -> str:
    """The refusal for whoever sent the code: which module on which line, and what may be used."""
    lines = [f"Blocked import: {entry.module} (line {entry.line})" for entry in found]
    for root in dict.fromkeys(entry.module.partition(".")[0] for entry in found):
        if rule.allowed is None and root in INSTEAD:
            lines.append(f"Instead of {root}: {INSTEAD[root]}.")
    return "\n".join([*lines, hint(rule), "Nothing was run."]) + "\n"


def _imported(node: ast.AST) -> Iterator[Import]:
    match node:
        case ast.Import(names=names):
            yield from (Import(alias.name, node.lineno) for alias in names)
        case ast.ImportFrom(module=str(module), level=0, names=names):
            yield Import(module, node.lineno)
        case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]) if _imports(function):
            if not name.startswith("."):
                yield Import(name, node.lineno)


def _imports(function: ast.expr) -> bool:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in ("__import__", "import_module")
    return False
