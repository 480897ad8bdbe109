"""Functions that a Python test replaces, by a decorator or in a `with`: they do nothing while that lasts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.risk.model.outline_data import words

if TYPE_CHECKING:
    from runner.risk.model.value import Value
    from runner.risk.python.walker import Python

MOCKERS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("responses.activate", "responses.RequestsMock", "requests_mock.Mocker"), ("requests.",)),
    "respx.mock": ("httpx.",),
    "httpretty.activate": ("requests.", "urllib.request.", "urllib3.", "http.client.", "httpx."),
    **dict.fromkeys(
        ("moto.mock_aws", *(f"moto.mock_{name}" for name in ("s3", "dynamodb", "sqs", "sns", "ec2", "secretsmanager"))),
        ("boto3.", "botocore.", "aioboto3."),
    ),
}
"""Decorators and contexts in which requests go nowhere, and what the names of those functions begin with."""


GIVES_BACK = words(
    "side_effect wraps new_callable stopall temp_original configure_mock attach_mock reload setattr vars exec eval "
    "compile globals importlib modules ctypes stop undo unwrap gc FunctionType"
)
"""Names by which what a test replaces may do, after all, what it did before, beside those with an underscore."""
PLAIN = words("__init__ __name__ __file__ __doc__ __main__ __all__ __version__ __enter__")
PASSES_ON = words(
    "add_passthru passthru_prefixes passthrough pass_through real_http allow_net_connect enable_passthrough "
    "passthru add_passthrough core mock_config __wrapped__ unwrap"
)
"""Names by which a library that replaces requests makes some of them after all."""
ANY = "*"
"""Stands for every function."""
SETS = "monkeypatch.setattr"
"""Stands for what a test of pytest puts in the place of something until it is over."""


def mocked_by(walker: Python, node: ast.expr, value: Value) -> tuple[str, ...]:
    """Return what the decorator or context at `node`, which is `value`, replaces while it lasts.

    Of `patch("module.function")` that is the function, unless what takes its place may be given.
    """
    if known := MOCKERS.get(mocker := value.name.removesuffix("()")):
        return () if (PASSES_ON | {SETS, mocker.rpartition(".")[2]}) & given_back(walker) else known
    match node:
        case ast.Call(args=[ast.Constant(value=str(target))], keywords=named) if (
            value.name == "unittest.mock.patch()"
            and all(one.arg == "return_value" for one in named)
            and not {ANY, SETS, target.rpartition(".")[2]} & given_back(walker)
        ):
            return (target,)
        case _:
            return ()


def given_back(walker: Python) -> frozenset[str]:
    """Return the names that the program may give back what a test has replaced; `ANY` for all of them."""
    if walker.gives_back is None:
        found = (one for part in walker.body for one in ast.walk(part))
        walker.gives_back = frozenset(name for one in found for name in _names(one))
    return walker.gives_back


def _names(node: ast.AST) -> tuple[str, ...]:
    """Return what a part of a program may give back by itself."""
    match node:
        case ast.Attribute(attr="return_value"):
            return ()
        case ast.Attribute(value=ast.Name(id="monkeypatch"), attr="setattr"):
            return (SETS,)
        case ast.Attribute(ctx=ast.Store() | ast.Del(), value=owner, attr=name):
            if name == "patch" or (isinstance(owner, ast.Name) and owner.id != "self"):
                return (ANY, name)
            return (name, *_named(name))
        case ast.Attribute(value=ast.Name(id="self")):
            return ()
        case ast.Name(id="patch", ctx=ast.Store()):
            return (ANY,)
        case ast.GeneratorExp() if any(isinstance(one, ast.Call) for one in ast.walk(node)):
            return (ANY,)  # it may run after the test
        case ast.FunctionDef(name="patch") | ast.ClassDef(name="patch"):
            return (ANY,)
        case (
            ast.Attribute(attr=name)
            | ast.Name(id=name)
            | ast.keyword(arg=str(name))
            | ast.alias(name=name)
            | ast.ImportFrom(module=str(name))
            | ast.Constant(value=str(name))
        ):
            return _named(name)
        case _:
            return ()


def _named(name: str) -> tuple[str, ...]:
    passes = (name,) if name in PASSES_ON else ()
    inner = name.startswith("_") and name.isidentifier() and name.strip("_") and name not in PLAIN
    return (*passes, ANY) if inner or name in GIVES_BACK else passes
