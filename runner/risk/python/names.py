"""What the names of a Python program stand for: its own, imported ones and those of the language.

There are many ways to one function, and all must give the same: `os.system`, `__import__("os").system`,
`subprocess.os.system` and `vars(os)["system"]` are `os.system`. `reach` goes the step from an owner to its member.
"""

from __future__ import annotations

import builtins
import unicodedata
from typing import TYPE_CHECKING

from runner.model.modules import is_standard
from runner.risk.model import fold
from runner.risk.model.value import HOLE, NO_LABELS, UNKNOWN, Scope, Value, each, either, reference, text
from runner.risk.python.derived_paths import A_PATH
from runner.risk.python.files import upper_folder
from runner.risk.python.held_modules import HELD, PATHS, SAME, full_name
from runner.risk.python.syntax import hidden_name, place
from runner.risk.trace.members import members
from runner.risk.trace.search_path import note_programs
from runner.risk.trace.values import dunder, member_of

if TYPE_CHECKING:
    import ast

    from runner.risk.trace.machine import Machine


KNOWN_NAMES = frozenset(dir(builtins)) | {
    "unicode",
    "unichr",
    "xrange",
    "raw_input",
    "execfile",
    "reload",
    "long",
    "__builtins__",
}
EXCEPTIONS = frozenset(
    name for name, one in vars(builtins).items() if isinstance(one, type) and issubclass(one, BaseException)
)
MOST_PARENTS = 6
BUILTINS = ("builtins", "__builtins__", "__builtin__", "__builtins__.__dict__", "builtins.__dict__")
"""Names that stand for every way of reaching the built-in functions."""
OF_NAMESPACES = ("__dict__", "__getattribute__", "copy", "get", "items", "keys", "values")
"""What is no function of Python's own, but of the namespace or object that holds those."""


def assign(machine: Machine, name: str, value: Value, scope: Scope | None = None) -> None:
    """Let a name stand for a value; in a branch it may still stand for what Python or a module has of that name."""
    at = scope or machine.scope
    at = at.top if at.outer and name in at.outer else at
    if machine.branches and at.parent is None and name not in at.names:
        before = lookup(machine, name)
        if calls_for_sure(machine, before):
            at.names[name] = before
    machine.assign(name, value, scope)


def calls_for_sure(machine: Machine, value: Value) -> bool:
    """Return whether a value is a function of the program's own, or one of which it is known what it does."""
    return value.function is not None or value.name in machine.specials or machine.vocabulary.knows(value.name)


def got(machine: Machine, args: list[Value], node: ast.Call) -> Value | None:
    """Return what `getattr` gives; None where nothing is known of it."""
    owner, name = args[:2]
    if name.texts:
        hidden = (
            fold.ASSEMBLED if owner.name in BUILTINS else hidden_name(node.args[:2][-1]) if owner.name else NO_LABELS
        )
        return either([reach(machine, owner, known, hidden) for known in name.texts])
    return reference(f"{owner.name}[]", name.labels) if owner.name in ("os", "subprocess", "builtins") else None


def lookup(machine: Machine, name: str) -> Value:
    """Return what a name stands for where the program is."""
    if (value := machine.scope.get(name)) is not None:
        return value
    for module in machine.stars:
        if machine.vocabulary.knows(f"{module}.{name}"):
            return reference(f"{module}.{name}")
    # Python folds names to NFKC, and so must whoever looks them up.
    if not name.isascii():
        name = unicodedata.normalize("NFKC", name)
    if name in KNOWN_NAMES:
        return reference(name)
    return reference(name, frozenset({f"${name}"}))


def reach(machine: Machine, owner: Value, name: str, labels: frozenset[str] = NO_LABELS) -> Value:
    """`owner.name`, with the many ways to the same built-in made one."""
    if owner.name in BUILTINS and name not in OF_NAMESPACES:
        return reference(name, owner.labels | labels)
    if name == "__dict__" and owner.name and owner.kind is None:
        return reference(owner.name, owner.labels | members(machine.vocabulary, owner))
    if name == "__all__":
        labels |= members(machine.vocabulary, owner)
    if name == "__call__":
        return owner
    if name == "argv":
        machine.has_arguments = True
    if name in ("f_globals", "f_builtins"):
        return reference("globals()" if name == "f_globals" else "builtins", owner.labels | fold.ASSEMBLED)
    if name in (
        "__globals__",
        "__builtins__",
        "__subclasses__",
        "__bases__",
        "__mro__",
        "__base__",
    ):
        return machine.attribute(owner, name, fold.ASSEMBLED)
    if (other := _otherwise(machine, owner, name, labels)) is not None:
        return other
    if owner.name in ("io", "codecs") and name == "open":
        return reference("open", labels)
    if name in ("parent", "parents") and owner.name.startswith("pathlib." if owner.texts else A_PATH):
        return _above(owner, labels, 1 if name == "parent" else MOST_PARENTS)
    if owner.kind is not None and owner.fields is not None and name not in owner.fields:
        return _of_instance(machine, owner, name, labels)
    return machine.attribute(owner, name, labels)


def _otherwise(machine: Machine, owner: Value, name: str, labels: frozenset[str]) -> Value | None:
    """Return what a module holds of another one, or what the program put there; None for what is its own."""
    if name == "__file__" and owner.is_plain and not is_standard(owner.name.partition(".")[0]):
        return text(f"site-packages/{owner.name.replace('.', '/')}/__init__.py", labels=labels)
    if owner.name in SAME or name.lstrip("_") in HELD or name in PATHS:
        full = full_name(owner.name, name)
        if full != f"{owner.name}.{name}":
            module, _, last = full.rpartition(".")
            return reach(machine, reference(module, owner.labels), last, labels) if module else reference(full, labels)
    return machine.replaced.get(f"{owner.name}.{name}") if machine.replaced else None


def _of_instance(machine: Machine, owner: Value, name: str, labels: frozenset[str]) -> Value:
    """Return an attribute of an object of the program: by a descriptor, of its class, or by `__getattr__`."""
    assert owner.kind is not None
    found = member_of(owner.kind, name)
    if found is None and (other := dunder(owner, "__getattr__")) is not None:
        return machine.call(other, [text(name)], {}, (1, 0, 1, 0)).labelled(labels)
    if found is not None and (reads := dunder(found, "__get__")) is not None:
        return machine.call(reads, [owner, UNKNOWN], {}, (1, 0, 1, 0)).labelled(labels)
    return machine.attribute(owner, name, labels)


def stored(machine: Machine, name: str, value: Value, node: ast.expr) -> None:
    """A store into something the program did not make itself, such as `sys.stdout` or `os.environ[...]`."""
    if name == "sys.argv":
        machine.has_arguments = True
    if name in machine.specials or name == "sys.argv":
        machine.replaced[name] = value
    if name:
        machine.trail.add("store", name, {"value": value, "target": text(name)}, place(node))
    if name == "os.environ[PATH]":
        note_programs(machine.trail, value, place(node))


def _above(path: Value, labels: frozenset[str], most: int) -> Value:
    """Return the folder that holds a path, or of more than one all that do, the nearest first."""
    found = []
    if not path.texts:
        path = Value((HOLE,), A_PATH, path.labels)
    for _ in range(most):
        above = each(path, upper_folder)
        path = Value(above.texts, path.name, above.labels | labels)
        found.append(path)
    return path if most == 1 else Value(items=found)
