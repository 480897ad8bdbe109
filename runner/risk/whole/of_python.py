"""Parts of a Python program that are not understood: ambiguous calls, hooks, names, libraries."""

from __future__ import annotations

import ast
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from runner.model.modules import is_standard
from runner.risk.executing.executing_python import PYTHON_ATTRIBUTES, PYTHON_DATA_MODULES, PYTHON_NAMES
from runner.risk.literals.outline_python import ATTRIBUTES, BUILTINS
from runner.risk.literals.outline_python import MODULES as READING
from runner.risk.model.outline_data import words
from runner.risk.python.syntax import Unparsed, nodes_of
from runner.risk.verdict.computing import is_known_call
from runner.risk.verdict.naming import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from runner.risk.model.acts import Trail
    from runner.risk.rules.knowledge import Knowledge

LIBRARIES = words(
    "numpy pandas matplotlib scipy sklearn seaborn statsmodels tabulate tqdm dateutil pytz networkx more_itertools "
    "sortedcontainers humanize polars shapely plotly"
)
"""Libraries of which what reaches outside is known by name, and the rest computes."""
PURE = words(
    "csv dataclasses collections itertools math statistics datetime re json textwrap decimal fractions random string "
    "time typing enum uuid hashlib base64 bisect heapq copy pprint argparse calendar cmath html unicodedata"
)
"""Modules of Python's library that only compute, with what they are given."""
MODULES = PYTHON_DATA_MODULES | {"subprocess"}
CALLED_PLAINLY = words("system popen")
REFLECTS = PYTHON_ATTRIBUTES - CALLED_PLAINLY | words("__class__ __call__ __setattr__ co_names make_dataclass")
NAMES = PYTHON_NAMES | words("getattr setattr delattr input")
HANDED_ON = words("open print")
"""Functions of Python's own that reach outside, wherever they are handed to."""
MADE = words("__init__ __post_init__ __main__ __name__ __file__ __doc__ __version__ __all__")
DECORATORS = words("property staticmethod classmethod dataclass cache lru_cache wraps abstractmethod total_ordering")
FORMATS = words("apply applymap transform pipe agg aggregate")
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def of_python(code: str, trail: Trail, knowledge: Knowledge) -> tuple[Iterable[str], Iterable[str]]:
    """Return what is not understood, and what matters only where the program does more than to look."""
    try:
        nodes, repaired = nodes_of(code)
    except Unparsed:
        return ["A part of it cannot be parsed."], ()
    if repaired:
        return ["A part of it cannot be parsed."], ()
    program = _Program(nodes, knowledge)
    return chain(program.hard(), _unknown_calls(trail, program.modules)), program.soft()


def _unknown_calls(trail: Trail, modules: dict[str, str]) -> Iterator[str]:
    for name in sorted(trail.called):
        parts = name.lstrip("~").replace("()", "").replace("[]", "").rstrip("*").split(".")
        of_library = modules.get(parts[0], parts[0]).partition(".")[0] in LIBRARIES
        private = any(part.startswith("_") for part in parts)
        if not is_known_call(name) and not (not private and (of_library or _computes(parts, modules))):
            yield f"Calls {shown('.'.join(parts), 60)}, which is not known."


def _computes(parts: list[str], modules: dict[str, str]) -> bool:
    """Return whether it is a function of a module that computes, or one that only reads of another one."""
    whole = [*modules.get(parts[0], parts[0]).split("."), *parts[1:]]
    for length in range(len(whole) - 1, 0, -1):
        module, name, rest = ".".join(whole[:length]), whole[length], whole[length + 1 :]
        if module in PURE or name in READING.get(module, ()):
            return ATTRIBUTES.issuperset(rest)
    return False


TELLING = frozenset(
    (
        ast.Import,
        ast.ImportFrom,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Assign,
        ast.Name,
        ast.arg,
        ast.Call,
        ast.Attribute,
        ast.ExceptHandler,
        ast.keyword,
        ast.Lambda,
        ast.Yield,
        ast.YieldFrom,
        ast.Await,
    )
)
"""Kinds of nodes that are looked at."""


class _Program:
    """One program: its nodes, and what each of its names stands for."""

    def __init__(self, nodes: Iterable[ast.AST], knowledge: Knowledge) -> None:
        self._knows = knowledge.python.knows
        self.nodes = [node for node in nodes if type(node) in TELLING]
        self.modules: dict[str, str] = {}
        """Names by which the program has modules, or what is in one."""
        self._bound: Counter[str] = Counter()
        self._own: set[str] = set()
        """Functions, classes and names of functions without one."""
        self._called: set[int] = set()
        """Nodes that are called, or are a part of a longer name."""
        for node in self.nodes:
            self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names):
                for one in names:
                    top = one.asname or one.name.partition(".")[0]
                    self.modules[top] = one.name if one.asname else top
                    self._bound[top] += 1
            case ast.ImportFrom(module, names):
                for one in names:
                    self.modules[one.asname or one.name] = f"{module or '.'}.{one.name}"
                    self._bound[one.asname or one.name] += 1
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self._own.add(name)
                self._bound[name] += 1
                self._called.update(id(one) for one in node.decorator_list)
            case ast.Assign(targets=[ast.Name(name)], value=ast.Lambda()):
                self._own.add(name)
            case ast.Name(name, ast.Store() | ast.Del()):
                self._bound[name] += 1
            case ast.arg(name):
                self._bound[name] += 1
            case ast.Call(func=func):
                self._called.add(id(func))
            case ast.Attribute(value=value):
                self._called.add(id(value))
            case ast.ExceptHandler(name=str(name)):
                self._bound[name] += 1
            case _:
                pass

    def hard(self) -> Iterator[str]:
        for node in self.nodes:
            match node:
                case ast.Name(name):
                    yield from self._mentions(node)
                    if name in NAMES and not self._bound[name]:
                        yield f"Uses {name}, by which code may be anything."
                case ast.Attribute(attr=name):
                    yield from self._mentions(node)
                    if name in REFLECTS or (
                        name.startswith("__") and name not in MADE and not isinstance(node.value, ast.Call)
                    ):
                        yield f"Looks into programs by {shown(name, 40)}."
                case ast.Call():
                    yield from self._calls(node)
                case ast.Import() | ast.ImportFrom():
                    yield from self._imports(node)
                case ast.Assign(targets=targets):
                    yield from self._changes(targets)
                case ast.keyword(arg="eval_str" | "allow_pickle" | "converters" | "preexec_fn" | "executable"):
                    yield f"Gives {node.arg} to a call, by which code may be anything."
                case ast.keyword(arg="cwd" | "dir"):
                    yield f"Works in a folder that a call gets by {node.arg}."
                case _:
                    pass

    def soft(self) -> Iterator[str]:
        for node in self.nodes:
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) if (
                    name.startswith("__") and name not in MADE
                ):
                    yield f"Defines {name}, which Python calls by itself."
                case ast.ClassDef(bases=[_, *_]) | ast.ClassDef(keywords=[_, *_]):
                    yield f"Defines a class from another one ({shown(node.name, 40)}), whose methods others may call."
                case ast.Name(name, ast.Load()) if name in self._own and id(node) not in self._called:
                    yield f"Hands on its function {shown(name, 40)}; who calls it with what is not followed."
                case ast.Lambda():
                    yield "Hands on a function without a name; who calls it with what is not followed."
                case ast.Yield() | ast.YieldFrom() | ast.Await():
                    yield "Goes on piece by piece; in which order is not followed."
                case ast.FunctionDef(decorator_list=[_, *_]) | ast.ClassDef(decorator_list=[_, *_]) if not all(
                    _plain_decorator(one) for one in node.decorator_list
                ):
                    yield "Changes its own functions by what stands before them."
                case _:
                    pass

    def _imports(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import(names):
                named = [one.name for one in names]
            case ast.ImportFrom(module, names, level):
                named = [module or ""]
                if level or any(one.name == "*" for one in names):
                    yield "Imports what its text does not name."
                for one in names:
                    if one.name in REFLECTS or one.name in NAMES:
                        yield f"Uses {shown(one.name, 40)}, by which code may be anything."
            case _:
                return
        for name in named:
            top = name.partition(".")[0]
            if top in MODULES or top in LIBRARIES:
                continue
            known = "by which code may be anything" if is_standard(top) else "which is not known"
            yield f"Imports {shown(name, 40)}, {known}."

    def _calls(self, node: ast.Call) -> Iterator[str]:
        match node.func:
            case ast.Name(name):
                known = name in BUILTINS or name in HANDED_ON or name in ("super", "type") or name in NAMES
                bound = self._bound[name]
                single = bound == 1 and (name in self._own or name in self.modules)
                if not (single or (known and not bound)):
                    yield f"Calls {shown(name, 40)}, which may be several things."
            case ast.Attribute():
                pass
            case _:
                yield "Calls what is worked out at run time."

    def _mentions(self, node: ast.Name | ast.Attribute) -> Iterator[str]:
        """Yield functions that reach outside and are handed on, where nobody sees with what they are called."""
        if id(node) in self._called or not isinstance(node.ctx, ast.Load):
            return
        name = self._dotted(node)
        if name in HANDED_ON and not self._bound[name]:
            yield f"Hands on {name}; with what it is called is not followed."
        elif name.partition(".")[2] and self._knows(name):
            yield f"Hands on {shown(name, 60)}; with what it is called is not followed."

    def _dotted(self, node: ast.expr) -> str:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ".".join(reversed(parts)) if parts and parts[0] in ("unlink", "rmdir", "rename", "system") else ""
        return ".".join((self.modules.get(node.id, node.id), *reversed(parts)))

    def _changes(self, targets: list[ast.expr]) -> Iterator[str]:
        for target in targets:
            if isinstance(target, ast.Attribute):
                root = target.value
                while isinstance(root, ast.Attribute):
                    root = root.value
                if isinstance(root, ast.Name) and (root.id in self.modules or root.id in self._own):
                    yield f"Changes what {shown(root.id, 40)} does."
            elif isinstance(target, ast.Name) and target.id.startswith("__") and target.id not in MADE:
                yield f"Sets {shown(target.id, 40)}, which Python calls by itself."


def _plain_decorator(node: ast.expr) -> bool:
    inner = node.func if isinstance(node, ast.Call) else node
    name = inner.attr if isinstance(inner, ast.Attribute) else inner.id if isinstance(inner, ast.Name) else ""
    return name in DECORATORS
