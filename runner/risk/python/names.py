"""What the names of a Python program stand for."""

from __future__ import annotations

import builtins
import unicodedata
from typing import TYPE_CHECKING

from runner.model.modules import is_standard
from runner.risk.model import fold
from runner.risk.model.value import HOLE, NO_LABELS, UNKNOWN, Function, Scope, Value, each, either, reference, text
from runner.risk.python.builtin import SPECIALS
from runner.risk.python.derived_paths import A_PATH
from runner.risk.python.files import upper_folder
from runner.risk.python.held_modules import HELD, PATHS, SAME, full_name
from runner.risk.python.methods import METHODS
from runner.risk.python.syntax import hidden_name, place
from runner.risk.trace.machine import Machine
from runner.risk.trace.members import members
from runner.risk.trace.search_path import note_programs

if TYPE_CHECKING:
    import ast

    from runner.risk.model.acts import Place, Trail
    from runner.risk.rules.vocabulary import Vocabulary
    from runner.risk.trace.world import World

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


class PythonNames(Machine):
    """The names of one Python program: its own, imported ones and those of the language."""

    language = "python"
    specials = SPECIALS
    keepers = EXCEPTIONS

    def __init__(self, vocabulary: Vocabulary, trail: Trail, nested: World) -> None:
        super().__init__(vocabulary, trail, nested)
        self.stars: list[str] = []
        """Modules of which all names are imported."""
        self.lines: list[str] = []
        """The code, where it matters how it is written."""
        self.replaced: dict[str, Value] = {}
        """What the program put into modules in the place of functions that are known here."""
        self.fixtures: dict[str, Function] = {}
        """Functions of the program that give pytest the values of parameters of their names."""
        self.module = Scope()
        self.scope = self.module

    def assign(self, name: str, value: Value, scope: Scope | None = None) -> None:
        """Let a name stand for a value; in a branch it may still stand for what Python or a module has of that name."""
        at = scope or self.scope
        at = at.top if at.outer and name in at.outer else at
        if self.branches and at.parent is None and name not in at.names:
            before = self.name(name)
            if self.calls_for_sure(before):
                at.names[name] = before
        super().assign(name, value, scope)

    def calls_for_sure(self, value: Value) -> bool:
        """Return whether a value is a function of the program's own, or one of which it is known what it does."""
        return value.function is not None or value.name in self.specials or self.vocabulary.knows(value.name)

    def got(self, args: list[Value], node: ast.Call) -> Value | None:
        """Return what `getattr` gives; None where nothing is known of it."""
        owner, name = args[:2]
        if name.texts:
            hidden = (
                fold.ASSEMBLED
                if owner.name in BUILTINS
                else hidden_name(node.args[:2][-1])
                if owner.name
                else NO_LABELS
            )
            return either([self.reach(owner, known, hidden) for known in name.texts])
        return reference(f"{owner.name}[]", name.labels) if owner.name in ("os", "subprocess", "builtins") else None

    def written(self, node: ast.Constant) -> str:
        """Return how a literal stands in the code, as far as its line and some more."""
        if node.lineno > len(self.lines):
            return ""
        line = self.lines[node.lineno - 1].encode("utf-8", "replace")
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return line[node.col_offset : end].decode("utf-8", "replace")

    def unbound(self, parameter: str, labels: frozenset[str]) -> Value:
        """Return the value of a parameter; those that pytest fills in have temporary folders."""
        if parameter in ("tmp_path", "tmpdir"):
            made = self.trail.own.made(0, 0, text("/tmp")).labelled(labels)
            return Value(made.texts, "pathlib.Path()", made.labels)
        if (fixture := self.fixtures.get(parameter)) is not None and not fixture.active:
            return self.each(made) if (made := self.follow(fixture, [], {})).attribute == "yield" else made
        return super().unbound(parameter, labels)

    def name(self, name: str) -> Value:
        if (value := self.scope.get(name)) is not None:
            return value
        for module in self.stars:
            if self.vocabulary.knows(f"{module}.{name}"):
                return reference(f"{module}.{name}")
        # Python folds names to NFKC, and so must whoever looks them up.
        if not name.isascii():
            name = unicodedata.normalize("NFKC", name)
        if name in KNOWN_NAMES:
            return reference(name)
        return reference(name, frozenset({f"${name}"}))

    def reach(self, owner: Value, name: str, labels: frozenset[str] = NO_LABELS) -> Value:
        """`owner.name`, with the many ways to the same built-in made one."""
        if owner.name in BUILTINS and name not in OF_NAMESPACES:
            return reference(name, owner.labels | labels)
        if name == "__dict__" and owner.name and owner.kind is None:
            return reference(owner.name, owner.labels | members(self.vocabulary, owner))
        if name == "__all__":
            labels |= members(self.vocabulary, owner)
        if name == "__call__":
            return owner
        if name == "argv":
            self.has_arguments = True
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
            return self.attribute(owner, name, fold.ASSEMBLED)
        if (other := self._otherwise(owner, name, labels)) is not None:
            return other
        if owner.name in ("io", "codecs") and name == "open":
            return reference("open", labels)
        if name in ("parent", "parents") and owner.name.startswith("pathlib." if owner.texts else A_PATH):
            return _above(owner, labels, 1 if name == "parent" else MOST_PARENTS)
        if owner.kind is not None and owner.fields is not None and name not in owner.fields:
            return self._of_instance(owner, name, labels)
        return self.attribute(owner, name, labels)

    def _otherwise(self, owner: Value, name: str, labels: frozenset[str]) -> Value | None:
        """Return what a module holds of another one, or what the program put there; None for what is its own."""
        if name == "__file__" and owner.is_plain and not is_standard(owner.name.partition(".")[0]):
            return text(f"site-packages/{owner.name.replace('.', '/')}/__init__.py", labels=labels)
        if owner.name in SAME or name.lstrip("_") in HELD or name in PATHS:
            full = full_name(owner.name, name)
            if full != f"{owner.name}.{name}":
                module, _, last = full.rpartition(".")
                return self.reach(reference(module, owner.labels), last, labels) if module else reference(full, labels)
        return self.replaced.get(f"{owner.name}.{name}") if self.replaced else None

    def _of_instance(self, owner: Value, name: str, labels: frozenset[str]) -> Value:
        """Return an attribute of an object of the program: by a descriptor, of its class, or by `__getattr__`."""
        assert owner.kind is not None
        found = self._member(owner.kind, name)
        if found is None and (other := self.dunder(owner, "__getattr__")) is not None:
            return self.call(other, [text(name)], {}, (1, 0, 1, 0)).labelled(labels)
        if found is not None and (reads := self.dunder(found, "__get__")) is not None:
            return self.call(reads, [owner, UNKNOWN], {}, (1, 0, 1, 0)).labelled(labels)
        return self.attribute(owner, name, labels)

    def stored(self, name: str, value: Value, node: ast.expr) -> None:
        """A store into something the program did not make itself, such as `sys.stdout` or `os.environ[...]`."""
        if name == "sys.argv":
            self.has_arguments = True
        if name in self.specials or name == "sys.argv":
            self.replaced[name] = value
        if name:
            self.trail.add("store", name, {"value": value, "target": text(name)}, place(node))
        if name == "os.environ[PATH]":
            note_programs(self.trail, value, place(node))

    def method(self, owner: Value, name: str, args: list[Value], place: Place) -> Value | None:
        handler = METHODS.get(name)
        return handler(self, owner, args) if handler is not None else None


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
