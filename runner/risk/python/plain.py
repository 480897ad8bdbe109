"""Programs so plain that what their names stand for can be read off them: nothing in them can change it unseen.

What is said of a loop ("except dist") has to hold whatever the rest of the program does, so a program counts as plain
only where everything in it is known: few modules, few of their functions, no classes, no attribute that is set.
"""

from __future__ import annotations

import ast
from collections import Counter
from typing import TYPE_CHECKING

from runner.risk.outline_data import words

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULES: dict[str, frozenset[str]] = {
    "os": words("path environ getenv listdir scandir remove unlink rmdir stat lstat getcwd sep fspath makedirs mkdir"),
    "os.path": words(
        "join exists isdir isfile islink basename dirname getmtime getctime getsize expanduser expandvars abspath "
        "normpath splitext sep"
    ),
    "shutil": words("rmtree disk_usage"),
    "time": words("time strftime localtime gmtime ctime sleep monotonic perf_counter"),
    "datetime": words("datetime timedelta date timezone UTC"),
    "pathlib": words("Path PurePath PosixPath"),
    "glob": words("glob iglob"),
    "sys": words("argv exit stdout stderr"),
    "argparse": words("ArgumentParser"),
    "logging": words("info warning debug error basicConfig getLogger INFO DEBUG WARNING"),
}
"""Modules that a plain program may import, and what it may take of each."""
BUILTINS = words(
    "print len sorted list tuple set frozenset dict str int float bool sum min max any all enumerate zip range "
    "reversed isinstance round abs repr open input exit quit Exception OSError IOError PermissionError "
    "FileNotFoundError NotADirectoryError ValueError KeyError KeyboardInterrupt SystemExit RuntimeError "
    "__name__ __file__"
)
CHANGES = words("utime rename renames replace symlink_to hardlink_to link_to copy copy2 copystat move move_into touch")
"""Methods that give a file another name or another time."""
LONGEST_DOTTED = 3
MOST_STEPS = 20_000
NEVER = (
    ast.ClassDef,
    ast.AsyncFunctionDef,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Await,
    ast.Global,
    ast.Nonlocal,
    ast.Delete,
    ast.Match,
)


class PlainProgram:
    """What the names of a plain program stand for."""

    def __init__(self, tree: ast.Module) -> None:
        self.bound: Counter[str] = Counter()
        """How often each name is bound, in whatever function."""
        self.read: Counter[str] = Counter()
        self.compared: Counter[str] = Counter()
        """How often it is only looked into: `x in NAME`."""
        self.functions: dict[str, ast.FunctionDef] = {}
        self.steps = MOST_STEPS
        """How many more parts of conditions are looked at."""
        self._values: dict[str, ast.expr] = {}
        self._made_of: dict[str, frozenset[str]] = {}
        self._imported: dict[str, str] = {}
        self._of_modules: Counter[str] = Counter()
        self.plain = self._imports(tree) and all(map(self._take, ast.walk(tree))) and self._settled()

    def once(self, name: str) -> bool:
        """Return whether one statement alone binds the name."""
        return self.bound[name] == 1

    def value(self, name: str) -> ast.expr | None:
        """Return what is assigned to a name that is assigned once; None where that is not known."""
        return self._values.get(name) if self.once(name) else None

    def made_of(self, name: str) -> frozenset[str]:
        """Return the names in what is assigned to `name`."""
        if name not in self._made_of:
            parts = ast.walk(self._values[name]) if name in self._values else ()
            self._made_of[name] = frozenset(one.id for one in parts if isinstance(one, ast.Name))
        return self._made_of[name]

    def function(self, name: str) -> ast.FunctionDef | None:
        return self.functions.get(name) if self.once(name) else None

    def called(self, node: ast.expr) -> str:
        """Return the full name of a function of the library or the language; '' for any other."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute) and len(attributes) < LONGEST_DOTTED:
            attributes.insert(0, node.attr)
            node = node.value
        match node:
            case ast.Name(id=name) if name in self._imported:
                return ".".join((self._imported[name], *attributes))
            case ast.Name(id=name) if name in BUILTINS and not attributes:
                return name
            case _:
                return ""

    # ---- reading it ----

    def _imports(self, tree: ast.Module) -> bool:
        """Take the imports, which come before anything else is done; return whether all are known."""
        begun = False
        for at, statement in enumerate(tree.body):
            match statement:
                case ast.Import(names=names):
                    taken = [(one.asname or one.name.partition(".")[0], one.asname, one.name) for one in names]
                    if begun or not all(name in MODULES for _, _, name in taken):
                        return False
                    for bound, renamed, name in taken:
                        self._imported[bound] = name if renamed else bound
                case ast.ImportFrom(module=module, names=names, level=0):
                    if module == "__future__":
                        continue
                    if begun or not all(one.name in MODULES.get(module or "", ()) for one in names):
                        return False
                    for one in names:
                        self._imported[one.asname or one.name] = f"{module}.{one.name}"
                case ast.Expr(value=ast.Constant()) if at == 0:
                    pass
                case ast.ImportFrom():
                    return False
                case _:
                    begun = True
        return True

    def _take(self, node: ast.AST) -> bool:
        """Take over what a node says of names; return whether a plain program may have it."""
        for name in _binds(node):
            self.bound[name] += 1
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self.read[name] += 1
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                return False
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._values[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                self._values[name] = value
            case ast.FunctionDef(name=name):
                self.functions[name] = node
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Name(id=name)]):
                self.compared[name] += 1
        return not isinstance(node, NEVER)

    def _attribute(self, node: ast.Attribute) -> bool:
        if not isinstance(node.ctx, ast.Load) or node.attr.startswith("_"):
            return False
        owner = self.called(node.value)
        if owner in MODULES:
            if isinstance(node.value, ast.Name):
                self._of_modules[node.value.id] += 1
            return node.attr in MODULES[owner]
        return node.attr not in CHANGES

    def _settled(self) -> bool:
        """Return whether every name is known, and modules are used for nothing but what they hold."""
        if any(self.bound[name] != 1 for name in self._imported):
            return False
        if any(
            name in MODULES and self.read[bound] != self._of_modules[bound] for bound, name in self._imported.items()
        ):
            return False
        return all(self.bound[name] or name in BUILTINS for name in self.read) and not any(
            self.bound[name] for name in BUILTINS
        )


def _binds(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.arg(arg=name) | ast.FunctionDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)):
            yield name
        case ast.alias(name=name, asname=renamed):
            yield renamed or name.partition(".")[0]
