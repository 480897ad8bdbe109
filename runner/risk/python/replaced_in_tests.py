"""What libraries for tests put in the place of files, rows and clients, where the code itself proves that they do.

In `with Stubber(client):` no request of that client leaves; below `setUpPyfakefs()` files are in memory; rows that a
`django.test.TestCase` deletes are put back; what `monkeypatch.setattr` has replaced by a function of the test is not
called. Each only while it lasts, and only where nothing in the program may end or go around it.
"""

from __future__ import annotations

import ast
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runner.risk.model.outline_data import words
from runner.risk.model.value import UNKNOWN
from runner.risk.python.mocking import ANY, given_back, mocked_by
from runner.risk.python.not_reached import names_set
from runner.risk.trace.machine import FAKE_FILES, FAKE_ROWS, MOCKED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from runner.risk.model.acts import Place
    from runner.risk.model.value import Value
    from runner.risk.python.arguments import Args, Named
    from runner.risk.python.walker import Python
    from runner.risk.trace.machine import Machine

OF_PYFAKEFS = "pyfakefs.fake_filesystem_unittest.TestCase"
OF_DJANGO = words("django.test.TestCase django.test.testcases.TestCase")
SHOWS_REAL_FILES = words(
    "pause resume Pause add_real_directory add_real_file add_real_paths add_real_symlink add_package_metadata "
    "skip_names additional_skip_names tearDownPyfakefs real_fs use_known_patches modules_to_patch modules_to_reload "
    "fs_reload fcopyfile"
)
"""Names by which pyfakefs lets a test at real files."""
KEEPS_ROWS = words("commit on_commit connection connections transaction setup main captureOnCommitCallbacks atomic")
"""Names by which a test of Django's may change rows for good, or may be run with another database."""
ADDS_ANSWERS = words("add_response add_client_error assert_no_pending_responses")
"""Methods of a stubber that leave it in force."""


def in_tests_of(walker: Python, node: ast.ClassDef, bases: Sequence[Value]) -> tuple[str, ...]:
    """Return what is replaced while the tests of a class run that nothing but a runner of tests calls."""
    if len(bases) != 1 or node.decorator_list or walker.machine.scope.parent is not None:
        return ()
    base = bases[0].name
    if base != OF_PYFAKEFS and base not in OF_DJANGO:
        return ()
    named = _names_of(walker)
    if node.name in named or ANY in given_back(walker):
        return ()
    if base in OF_DJANGO:
        return () if named & KEEPS_ROWS else (FAKE_ROWS,)
    begun = any(isinstance(one, ast.FunctionDef) and one.name == "setUp" and _begins(one) for one in node.body)
    return (FAKE_FILES,) if begun and not named & (SHOWS_REAL_FILES | {"setUpPyfakefs "}) else ()


def _begins(method: ast.FunctionDef) -> bool:
    """Return whether the first thing that a method does is to put files in memory."""
    match method.body[0]:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr="setUpPyfakefs"), args=[])):
            return not method.body[0].value.keywords and not method.decorator_list  # type: ignore[attr-defined]
        case _:
            return False


def _names_of(walker: Python) -> frozenset[str]:
    """Return the names that a program uses: variables that it reads, attributes but for those it calls on `self`."""
    if walker.names_used is not None:
        return walker.names_used
    found: set[str] = set()
    for part in walker.body:
        for one in ast.walk(part):
            match one:
                case ast.Name(id=name, ctx=ast.Load()):
                    found.add(name)
                case ast.Attribute(attr="setUpPyfakefs", ctx=ast.Store()) | ast.FunctionDef(name="setUpPyfakefs"):
                    found.add("setUpPyfakefs ")
                case ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.alias(name=name):
                    found.add(name.rpartition(".")[2])
                case ast.Constant(value=str(name)) if name.isidentifier():
                    found.add(name)
    walker.names_used = frozenset(found)
    return walker.names_used


def patcher(walker: Python, node: ast.expr, value: Value) -> tuple[str, ...]:
    """Return what `with Patcher():` of pyfakefs replaces while it lasts."""
    if value.name != "pyfakefs.fake_filesystem_unittest.Patcher()" or not isinstance(node, ast.Call):
        return ()
    given = node.args or node.keywords or ANY in given_back(walker) or _names_of(walker) & SHOWS_REAL_FILES
    return () if given else (FAKE_FILES,)


@contextmanager
def stubbed(walker: Python, node: ast.With | ast.AsyncWith, item: ast.withitem, value: Value) -> Iterator[None]:
    """While the body of `with Stubber(client)` is looked at, in which no request of that client leaves."""
    names = walker.machine.scope.names
    client = _stubbed_client(walker, node, item) if value.name == "botocore.stub.Stubber()" else ""
    kept = names.get(client)
    if not client or kept is None:
        yield
        return
    names[client] = kept.labelled(MOCKED)
    try:
        yield
    finally:
        names[client] = kept


def _stubbed_client(walker: Python, node: ast.With | ast.AsyncWith, item: ast.withitem) -> str:
    """Return the name of the client for which all requests in the body are answered by a stubber; '' for none."""
    match item:
        case ast.withitem(ast.Call(args=[ast.Name(id=client)], keywords=[]), None | ast.Name() as target):
            stubber = target.id if isinstance(target, ast.Name) else ""
        case _:
            return ""
    if client == stubber or len(node.items) != 1 or ANY in given_back(walker):
        return ""
    called: set[int] = set()
    for one in (inner for part in node.body for inner in ast.walk(part)):
        match one:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef() | ast.GeneratorExp():
                return ""  # it may run after the body
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name) as owner, attr=method)) if name in (
                client,
                stubber,
            ):
                if name == stubber and method not in ADDS_ANSWERS:
                    return ""
                if name == client and (method.startswith("_") or method in ("close", "get_paginator", "get_waiter")):
                    return ""
                called.add(id(owner))
            case ast.Name(id=name) if name in (client, stubber) and id(one) not in called:
                return ""  # `ast.walk` meets the call first
    return client


def replaces(machine: Machine, called: Value, args: Args, named: Named, place: Place) -> Value | None:
    """`monkeypatch.setattr(module, "function", lambda: ...)` in a test that pytest alone calls."""
    match args:
        case [module, name, by] if module.is_plain and module.name and name.exact:
            target = f"{module.name}.{name.exact}"
        case [whole, by] if whole.exact and "." in whole.exact:
            target = whole.exact
        case _:
            machine.mocked = ()
            return UNKNOWN
    machine.mocked = tuple(one for one in machine.mocked if one != target)
    walker = machine.walker
    own = by.function is not None and not by.others
    if own and not machine.branches and not named and _only_sets(walker):  # type: ignore[arg-type]
        machine.mocked += (target,)
    return UNKNOWN


def _only_sets(walker: Python) -> bool:
    """Return whether a program uses `monkeypatch` for nothing but to replace something until the test is over."""
    if given_back(walker) & {ANY}:
        return False
    used = sets = 0
    for part in walker.body:
        for one in ast.walk(part):
            used += isinstance(one, ast.Name) and one.id == "monkeypatch"
            match one:
                case ast.Attribute(value=ast.Name(id="monkeypatch"), attr="setattr" | "setenv" | "delenv" | "chdir"):
                    sets += 1
    return used == sets


def kept_by_fixture(walker: Python, node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """Return what a fixture of pytest replaces while the tests run that ask for it.

    That is what `with mock_aws():` replaces, where the fixture yields inside of it and nowhere else.
    """
    outer = [one for one in node.body if isinstance(one, ast.With)]
    yields = [one for part in node.body for one in ast.walk(part) if isinstance(one, ast.Yield | ast.YieldFrom)]
    if len(outer) != 1 or len(yields) != 1 or isinstance(yields[0], ast.YieldFrom):
        return ()
    inside = {id(one) for part in outer[0].body for one in ast.walk(part)}
    nested = any(isinstance(one, ast.FunctionDef | ast.Lambda) for part in outer[0].body for one in ast.walk(part))
    if id(yields[0]) not in inside or nested:
        return ()
    return tuple(
        name
        for item in outer[0].items
        for name in mocked_by(walker, item.context_expr, walker.value(item.context_expr))
    )


def asked_for(walker: Python, node: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """Return what the fixtures replace that a test asks for, which nothing but pytest calls."""
    if not walker.keeping or not node.name.startswith("test") or node.name in _names_of(walker):
        return ()
    names = {one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
    return tuple(replaced for name in sorted(names & _set_once(walker)) for replaced in walker.keeping.get(name, ()))


def _set_once(walker: Python) -> frozenset[str]:
    """Return the names that a program defines once, parameters aside: of two fixtures of one name the last counts."""
    if walker.set_once is None:
        counts: Counter[str] = Counter()
        for one in (inner for part in walker.body for inner in ast.walk(part)):
            match one:
                case ast.arg():
                    pass
                case ast.keyword(arg="name", value=ast.Constant(value=str(name))):
                    counts[name] += 1
                case _:
                    counts.update(names_set(one))
        walker.set_once = frozenset(name for name, count in counts.items() if count == 1)
    return walker.set_once


def rows_put_back(walker: Python, node: ast.FunctionDef | ast.AsyncFunctionDef, decorator: ast.expr) -> tuple[str, ...]:
    """Return that the rows a test changes are put back, which `@pytest.mark.django_db` without more says."""
    match decorator:
        case ast.Attribute(value=ast.Attribute(value=ast.Name(id="pytest"), attr="mark"), attr="django_db"):
            names = _names_of(walker)
            own = node.name.startswith("test") and node.name not in names and ANY not in given_back(walker)
            return (FAKE_ROWS,) if own and not names & KEEPS_ROWS else ()
        case _:
            return ()


def of_decorated(walker: Python, node: ast.ClassDef) -> tuple[str, ...]:
    """Return what a decorator of a class of tests replaces in each of them: `@mock_aws`."""
    found: tuple[str, ...] = ()
    for decorator in node.decorator_list:
        value = walker.value(decorator)
        if value.name.startswith("moto."):
            found += mocked_by(walker, decorator, value)
    return found
