"""What a loop over a folder spares of what it deletes: names that it leaves out, and what is not old enough.

Only what surely holds is noted: the condition stands in the same loop, before the deletion, and is about the same file.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

from runner.model.expression import expression
from runner.risk.model.value import Value, text
from runner.risk.outline_data import words
from runner.risk.python.ages import Ages
from runner.risk.python.plain import PlainProgram
from runner.risk.python.syntax import place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.risk.model.acts import Act, Place

FILE, NAME = ast.Name("a file"), ast.Name("a name")
"""What stands for the file that a turn of the loop is about, and for its name alone."""
WORKING = ast.Constant(".")
"""The folder in which a name alone is the path of a file."""
MOST_LOOPS = 40
DEEPEST = 12
MOST_NAMES = 60
PLAIN = expression(r"[\w.@+-]+", re.ASCII)
ORDERED = words("sorted list tuple set frozenset reversed")
TREES = words("shutil.rmtree")
DELETERS = TREES | words("os.remove os.unlink os.rmdir")
LEAVING = (ast.Continue, ast.Break, ast.Return, ast.Raise)
OPPOSITE: dict[type[ast.cmpop], ast.cmpop] = {
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Lt: ast.GtE(),
    ast.LtE: ast.Gt(),
    ast.Gt: ast.LtE(),
    ast.GtE: ast.Lt(),
}


class Spared(NamedTuple):
    """What is known of every file that a deletion is about."""

    names: frozenset[str] = frozenset()
    """None of these is its name."""
    older: int = 0
    """It was changed longer ago than so many seconds; 0 where that is not known."""

    def also(self, other: Spared) -> Spared:
        return Spared(self.names | other.names, max(self.older, other.older))


NOTHING = Spared()


def note_spared(tree: ast.Module, acts: Sequence[Act]) -> None:
    """Note at the deletions of a program what their loops spare, where nothing in the program can change that."""
    deletions = [act for act in acts if act.kind == "delete"]
    if not deletions:
        return
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    if not 0 < len(loops) <= MOST_LOOPS or not (program := PlainProgram(tree)).plain:
        return
    found: dict[Place, Spared] = {}
    for loop in loops:
        found.update(_Loop(program, loop).deletions())
    for act in deletions:
        spared = found.get(act.place, NOTHING)
        # A name that no file has, or that only looks like another, spares nothing that a reader would think of.
        if names := sorted(name for name in spared.names if PLAIN.fullmatch(name)):
            act.fields["spares"] = Value(items=[text(name) for name in names])
        if spared.older:
            act.fields["older"] = Value(number=spared.older)


class _Loop:
    """One loop over what is in a folder."""

    def __init__(self, program: PlainProgram, loop: ast.For) -> None:
        self._program = program
        self._loop = loop
        self._listed: ast.expr | None = None
        """The folder whose names are listed, without their paths."""
        self._deep = False
        """Whether it goes into the folders of the folder: a name that is left out may be that of one of those."""
        self._found: dict[Place, Spared] = {}

    def deletions(self) -> dict[Place, Spared]:
        """Return what is spared at each deletion of what the loop is about."""
        loop = self._loop
        if not isinstance(loop.target, ast.Name) or (begun := self._listing(loop.iter)) is None:
            return {}
        own = loop.target.id
        inside = [node for statement in loop.body for node in ast.walk(statement)]
        if any(_is_bound(node, own) for node in inside):
            return {}
        self._block(loop.body, {own: begun}, NOTHING)
        return self._found

    def _listing(self, node: ast.expr, depth: int = 0) -> ast.expr | None:
        """Return what each turn is about, the file or its name, where the loop goes over a folder."""
        match node:
            case ast.Call(func=ast.Name(id=name), args=[inner]) if name in ORDERED and depth < DEEPEST:
                return self._listing(inner, depth + 1)
            case ast.Name(id=name) if depth < DEEPEST and self._program.read[name] == 1:
                value = self._program.value(name)
                return None if value is None else self._listing(value, depth + 1)
            case ast.Call(func=ast.Attribute(attr="iterdir"), args=[], keywords=[]):
                return FILE
            case ast.Call(func=ast.Attribute(attr="glob" | "rglob" as how), args=[ast.Constant(value=str(names))]):
                self._deep = how == "rglob" or "**" in names or "/" in names
                return None if self._program.called(node.func) or ".." in names else FILE
            case ast.Call(func=function, args=[folder]) if self._program.called(function) == "os.scandir":
                self._listed = folder
                return FILE
            case ast.Call(func=function, args=[folder]) if self._program.called(function) == "os.listdir":
                self._listed = folder
                return NAME
            case _:
                return None

    # ---- what is known where ----

    def _block(
        self, statements: Sequence[ast.stmt], known: dict[str, ast.expr], spared: Spared, depth: int = 0
    ) -> None:
        """Go through statements; `known` are names that stand for something in this turn of the loop."""
        for statement in statements if depth < DEEPEST else ():
            match statement:
                case ast.If(test=test, body=body, orelse=orelse):
                    self._note([test], known, spared)
                    where = _Condition(self._program, known, self._listed)
                    holds, fails = where.spares(test), where.spares(test, holds=False)
                    self._block(body, known, spared.also(holds), depth + 1)
                    self._block(orelse, known, spared.also(fails), depth + 1)
                    if isinstance(body[-1], LEAVING):
                        spared = spared.also(fails)
                    if orelse and isinstance(orelse[-1], LEAVING):
                        spared = spared.also(holds)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._note([value], known, spared)
                    if self._program.once(name) and len(known) < MOST_NAMES:
                        known = {**known, name: value}
                case ast.FunctionDef():
                    pass
                case _:
                    blocks = list(_blocks(statement))
                    for block in blocks:
                        self._block(block, known, spared, depth + 1)
                    if not blocks:
                        self._note([statement], known, spared)

    def _note(self, nodes: Sequence[ast.AST], known: dict[str, ast.expr], spared: Spared) -> None:
        where = _Condition(self._program, known, self._listed)
        for call in [one for node in nodes for one in _calls_now(node)]:
            deleted = self._deleted(call)
            if deleted is None or not where.is_file(deleted):
                continue
            tree = self._program.called(call.func) in TREES
            if self._deep:
                self._found[place(call)] = NOTHING if tree else Spared(older=spared.older)
            else:
                self._found[place(call)] = spared

    def _deleted(self, call: ast.Call) -> ast.expr | None:
        match call:
            case ast.Call(func=function, args=[path, *_]) if self._program.called(function) in DELETERS:
                return path
            case ast.Call(func=ast.Attribute(value=path, attr="unlink" | "rmdir"), args=[]):
                return path
            case _:
                return None


class _Condition:
    """Reads conditions about the file of one turn."""

    def __init__(self, program: PlainProgram, known: dict[str, ast.expr], listed: ast.expr | None) -> None:
        self._program = program
        self._known = known
        self._listed = listed
        self._ages = Ages(program, self.is_file, self._meant)

    def spares(self, test: ast.expr, *, holds: bool = True, depth: int = 0) -> Spared:
        """Return what is spared where `test` holds, or where it does not."""
        self._program.steps -= 1
        if depth > DEEPEST or self._program.steps < 0:
            return NOTHING
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self.spares(inner, holds=not holds, depth=depth + 1)
            case ast.BoolOp(op=sign, values=parts):
                whole = NOTHING
                if isinstance(sign, ast.And) is holds:
                    for part in parts:
                        whole = whole.also(self.spares(part, holds=holds, depth=depth + 1))
                return whole
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                opposite = OPPOSITE.get(type(sign))
                return self._compared(left, sign, right) if holds else self._compared(left, opposite, right)
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
                return self._asked(name, argument, holds, depth)
            case _:
                return NOTHING

    def _compared(self, left: ast.expr, sign: ast.cmpop | None, right: ast.expr) -> Spared:
        match sign:
            case ast.NotIn() if self._is_name(left):
                return Spared(names=self._names(right))
            case ast.NotEq():
                one, other = (left, right) if self._is_name(left) else (right, left)
                match self._meant(other):
                    case ast.Constant(value=str(name)) if self._is_name(one):
                        return Spared(names=frozenset((name,)))
                return NOTHING
            case None | ast.NotIn():
                return NOTHING
            case _:
                return Spared(older=self._ages.older_than(left, sign, right))

    def _asked(self, name: str, argument: ast.expr, holds: bool, depth: int) -> Spared:
        """Look into a function of the program that returns one condition."""
        function = self._program.function(name)
        given = FILE if self.is_file(argument) else NAME if self._is_name(argument) else None
        match function:
            case ast.FunctionDef(
                args=ast.arguments(
                    posonlyargs=[], args=[parameter], vararg=None, kwonlyargs=[], kwarg=None, defaults=[]
                ),
                body=[*before, ast.Return(value=ast.expr() as condition)],
                decorator_list=[],
            ) if given is not None and all(isinstance(one, ast.Expr) and _is_text(one) for one in before):
                inner = _Condition(self._program, {parameter.arg: given}, None)
                return inner.spares(condition, holds=holds, depth=depth + 1)
            case _:
                return NOTHING

    def _names(self, node: ast.expr) -> frozenset[str]:
        """Return the texts of a collection that nothing changes; none where one of them is no text."""
        if isinstance(node, ast.Name):
            value = self._program.value(node.id)
            changeable = not isinstance(value, ast.Tuple)
            if value is None or (changeable and self._program.read[node.id] != self._program.compared[node.id]):
                return frozenset()
            node = value
        match node:
            case ast.Call(func=ast.Name(id="set" | "frozenset" | "tuple" | "list"), args=[inner], keywords=[]):
                node = inner
        if not isinstance(node, ast.Set | ast.List | ast.Tuple) or len(node.elts) > MOST_NAMES:
            return frozenset()
        names = [one.value for one in node.elts if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        return frozenset(names if len(names) == len(node.elts) else ())

    # ---- what names stand for ----

    def _meant(self, node: ast.expr) -> ast.expr:
        """Return what a name stands for: in this turn, or in the whole program."""
        for _ in range(DEEPEST):
            if not isinstance(node, ast.Name) or node is FILE or node is NAME:
                break
            value = self._known.get(node.id)
            if value is None:
                value = self._program.value(node.id)
                if value is not None and not self._program.made_of(node.id).isdisjoint(self._known):
                    break  # it was made in a turn before
            if value is None:
                break
            node = value
        return node

    def is_file(self, node: ast.expr, depth: int = 0) -> bool:
        """Return whether an expression is the path of the file."""
        node = self._meant(node)
        if depth > DEEPEST:
            return False
        match node:
            case ast.Attribute(value=of, attr="path"):
                return self.is_file(of, depth + 1)
            case ast.Call(func=function, args=[path], keywords=[]) if self._program.called(function) in PATHS:
                return self.is_file(path, depth + 1)
            case ast.Call(func=function, args=[folder, name], keywords=[]):
                joined = self._program.called(function) in ("os.path.join", "pathlib.Path")
                return joined and self._is_listed(folder) and self._is_name(name, depth + 1)
            case ast.BinOp(left=folder, op=ast.Div(), right=name):
                return self._is_listed(folder) and self._is_name(name, depth + 1)
            case _:
                return node is FILE or (node is NAME and self._is_listed(WORKING))

    def _is_listed(self, folder: ast.expr) -> bool:
        """Return whether it is the folder whose names are listed."""
        match folder, self._listed:
            case ast.Name(id=one), ast.Name(id=other):
                return one == other and self._program.once(one)
            case ast.Constant(value=str(one)), ast.Constant(value=str(other)):
                return one == other
            case _:
                return False

    def _is_name(self, node: ast.expr, depth: int = 0) -> bool:
        """Return whether an expression is the name of the file, without its folder."""
        node = self._meant(node)
        match node:
            case ast.Attribute(value=of, attr="name"):
                return self._meant(of) is not NAME and self.is_file(of, depth + 1)
            case ast.Call(func=function, args=[path], keywords=[]):
                return self._program.called(function) == "os.path.basename" and self.is_file(path, depth + 1)
            case _:
                return node is NAME


PATHS = words("str os.fspath pathlib.Path")
"""Functions that give the same path."""


def _calls_now(node: ast.AST) -> Iterator[ast.Call]:
    """Yield the calls that are made where they stand, not in a later turn of the loop."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.Call):
            yield one
        if not isinstance(one, ast.Lambda | ast.GeneratorExp):
            waiting += ast.iter_child_nodes(one)


def _is_text(statement: ast.Expr) -> bool:
    return isinstance(statement.value, ast.Constant)


def _is_bound(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Name(id=bound, ctx=ast.Store() | ast.Del()) | ast.arg(arg=bound) | ast.FunctionDef(name=bound):
            return bound == name
        case ast.ExceptHandler(name=str(bound)):
            return bound == name
        case _:
            return False


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a statement that is not a branch."""
    for field in ("body", "orelse", "finalbody"):
        if block := getattr(statement, field, None):
            yield block
    for handler in getattr(statement, "handlers", ()):
        yield handler.body
