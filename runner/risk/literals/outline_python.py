"""The literals of a Python program that may be others, for programs in which a value can reach nothing but data.

Everything here is a list of what is allowed: statements, built-in functions, modules with their functions, and the
names of attributes. No module, class of the program's own, or function by name is a value, so no text picks one.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING

from runner.model.expression import expression
from runner.risk.model.outline_data import WRITTEN, NoOutline, Span, is_data, require, words
from runner.risk.rules.knowledge import table

if TYPE_CHECKING:
    from collections.abc import Iterator

COOKIE = expression(r"^[ \t\f]*#.*?coding[:=]")
LISTED = table()["running"]["python"]
MODULES = {name: words(allowed) for name, allowed in LISTED["data-functions"].items()}
"""The functions of modules that do nothing with a text but read it, or the file that it names."""
ATTRIBUTES = words(" ".join(LISTED["data-attributes"].values()))
"""Attributes of what is no module: none writes a file whose name is a value, or reaches code."""
BUILTINS = words(LISTED["data-builtins"]) | {
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
}
NAMES = frozenset(vars(builtins)) | words("help copyright credits license")
"""Names that mean something before a program binds any."""
NODES = (
    *(ast.Module, ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While, ast.If, ast.With),
    *(ast.withitem, ast.Raise, ast.Try, ast.ExceptHandler, ast.Assert, ast.Global, ast.Nonlocal, ast.Pass, ast.Break),
    *(ast.Continue, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Delete, ast.Lambda, ast.BoolOp),
    *(ast.NamedExpr, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp),
    *(ast.GeneratorExp, ast.comprehension, ast.Yield, ast.YieldFrom, ast.Compare, ast.Call, ast.keyword),
    *(ast.FormattedValue, ast.JoinedStr, ast.Constant, ast.Attribute, ast.Subscript, ast.Starred, ast.Name, ast.List),
    *(ast.Tuple, ast.Slice, ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
    # not MatchClass: it reads attributes without naming them as such
    *(ast.Match, ast.match_case, ast.MatchValue, ast.MatchSingleton, ast.MatchSequence, ast.MatchMapping),
    *(ast.MatchStar, ast.MatchAs, ast.MatchOr),
)
READING = frozenset("rbt")
OPEN_OPTIONS = words("mode encoding errors newline buffering")
SPELLED = OPEN_OPTIONS - {"buffering"}
"""Keywords whose values count letter by letter."""
MAKES_FOLDERS = words("makedirs mkdir")


def spans(code: str) -> Iterator[Span]:
    """Yield the literals that may be others. Raises NoOutline, and SyntaxError and the like for what is no code."""
    if any(sign in code for sign in "\r\f\0") or any(COOKIE.match(line) for line in code.split("\n")[:2]):
        raise NoOutline
    begins = [0]
    for line in code.encode().split(b"\n"):
        begins.append(begins[-1] + len(line) + 1)
    for node in _Program(ast.parse(code)).literals():
        assert node.end_lineno is not None and node.end_col_offset is not None
        yield begins[node.lineno - 1] + node.col_offset, begins[node.end_lineno - 1] + node.end_col_offset


class _Program:
    """One pass over a program."""

    def __init__(self, tree: ast.Module) -> None:
        self._modules: dict[str, str] = {}
        """The modules by the names that the program gives them."""
        self._todo: list[tuple[ast.AST, bool]] = []
        """Nodes to look at, each with whether its literals count letter by letter."""
        self._import(tree)

    def literals(self) -> Iterator[ast.Constant]:
        while self._todo:
            node, counts = self._todo.pop()
            require(isinstance(node, NODES))
            match node:
                case ast.Constant(value):
                    if not counts and _is_data(value):
                        yield node
                case ast.Name(name):
                    require(name not in self._modules and name != "open" and (name not in NAMES or name in BUILTINS))
                    require(not name.startswith("__") or name in BUILTINS)
                case ast.Attribute():
                    self._attribute(node, counts)
                case ast.Call():
                    self._call(node, counts)
                case _:
                    self._bind(node)
                    self._below(node, counts)

    def _import(self, tree: ast.Module) -> None:
        """Take up the imports, which stand before all else: a module imported later may be one just written."""
        rest = list(tree.body)
        while rest and (isinstance(rest[0], (ast.Import, ast.ImportFrom)) or _is_text(rest[0])):
            match rest.pop(0):
                case ast.Import(names):
                    for one in names:
                        require(one.name in MODULES)
                        top = one.name.partition(".")[0]
                        self._name(one.asname or top, one.name if one.asname else top)
                case ast.ImportFrom(str(module), names, 0):
                    for one in names:
                        require(one.name in MODULES.get(module, ()) and one.name not in MAKES_FOLDERS)
                        if (inner := f"{module}.{one.name}") in MODULES:
                            self._name(one.asname or one.name, inner)
                        else:
                            self._own(one.asname or one.name)
                case ast.ImportFrom():
                    raise NoOutline
        self._todo = [(node, False) for node in rest]

    def _name(self, name: str, module: str) -> None:
        self._own_name(name)
        require(self._modules.setdefault(name, module) == module)

    def _own(self, name: str | None) -> None:
        """Require that the program may give this name to something: one of a module stays the module's."""
        require(name not in self._modules)
        self._own_name(name)

    def _own_name(self, name: str | None) -> None:
        require(name is None or not (name.startswith("__") or name == "open"))

    def _bind(self, node: ast.AST) -> None:
        match node:
            case ast.FunctionDef(name) | ast.ExceptHandler(name=name) | ast.arg(name):
                self._own(name)
            case ast.MatchAs(name=name) | ast.MatchStar(name) | ast.MatchMapping(rest=name):
                self._own(name)
            case ast.Global(names) | ast.Nonlocal(names):
                for name in names:
                    self._own(name)

    def _below(self, node: ast.AST, counts: bool) -> None:
        """Look at what is below; annotations and f-strings count, as they are code as much as text."""
        whole = counts or isinstance(node, ast.JoinedStr)
        for field, value in ast.iter_fields(node):
            spelled = whole or field in ("annotation", "returns")
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, ast.AST):
                    self._todo.append((one, spelled))

    def _module_of(self, node: ast.AST) -> str:
        """Return the module that `node` is; '' where it is none."""
        match node:
            case ast.Name(name):
                return self._modules.get(name, "")
            case ast.Attribute(value, name) if (above := self._module_of(value)) and f"{above}.{name}" in MODULES:
                return f"{above}.{name}"
            case _:
                return ""

    def _attribute(self, node: ast.Attribute, counts: bool) -> None:
        # A function of the library that is replaced would be given what only the library has.
        require(isinstance(node.ctx, ast.Load))
        if module := self._module_of(node.value):
            require(node.attr in MODULES[module] and node.attr not in MAKES_FOLDERS and not self._module_of(node))
        else:
            require(node.attr in ATTRIBUTES)
            self._todo.append((node.value, counts))

    def _call(self, node: ast.Call, counts: bool) -> None:
        plain = not any(isinstance(one, ast.Starred) for one in node.args) and all(one.arg for one in node.keywords)
        named = {one.arg: one.value for one in node.keywords}
        first = counts
        match node.func:
            case ast.Name("open"):
                require(plain and 1 <= len(node.args) <= 2 and named.keys() <= OPEN_OPTIONS)
                first = _opens(node.args[0], node.args[1] if len(node.args) > 1 else named.get("mode"))
            case ast.Attribute(value, "open") if not self._module_of(value):
                require(plain and len(node.args) <= 1 and named.keys() <= OPEN_OPTIONS)
                require(_is_reading(node.args[0] if node.args else named.get("mode")))
                self._todo.append((value, counts))
            case ast.Attribute(value, "replace") if not self._module_of(value):
                # With one argument it would rename a file.
                require(plain and (len(node.args) > 1 or (not node.args and bool(named))))
                self._todo.append((value, counts))
            case ast.Attribute(value, "copy") if not self._module_of(value):
                require(not (node.args or node.keywords))  # with one it would copy a file
                self._todo.append((value, counts))
            case ast.Attribute(value, name) if name in MAKES_FOLDERS and self._module_of(value) == "os":
                require(plain and len(node.args) == 1 and _is_text(node.args[0]))
                first = True
            case ast.Attribute(_, "encode" | "decode"):
                first = True
                self._todo.append((node.func, counts))
            case ast.Name() | ast.Attribute():
                self._todo.append((node.func, counts))
            case _:
                raise NoOutline
        self._todo += [(one, first if at == 0 else counts) for at, one in enumerate(node.args)]
        self._todo += [(one.value, counts or one.arg in SPELLED) for one in node.keywords]


def _opens(path: ast.expr, mode: ast.expr | None) -> bool:
    """Return whether the path counts letter by letter, which it does where it is written to."""
    if _is_reading(mode):
        return False
    match path, mode:
        case ast.Constant(str(name)), ast.Constant(str(letters)) if set(letters) <= READING | set("wax"):
            require(bool(WRITTEN.fullmatch(name)))
            return True
    raise NoOutline


def _is_reading(mode: ast.expr | None) -> bool:
    return mode is None or (
        isinstance(mode, ast.Constant) and isinstance(mode.value, str) and set(mode.value) <= READING
    )


def _is_text(node: ast.AST) -> bool:
    """Return whether `node` is a text, also one that stands for itself as a docstring does."""
    if isinstance(node, ast.Expr):
        node = node.value
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_data(value: object) -> bool:
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    return is_data(value) if isinstance(value, str) else type(value) in (int, float, complex)
