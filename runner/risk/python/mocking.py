"""Functions that a Python test replaces, by a decorator or in a `with`: they do nothing while that lasts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from runner.risk.model.outline_data import words

if TYPE_CHECKING:
    from runner.risk.model.value import Value
    from runner.risk.python.walker import Python

OF_REQUESTS = ("requests.", "urllib.request.", "urllib3.", "http.client.", "httpx.")
MOCKERS: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("responses.activate", "responses.RequestsMock", "requests_mock.Mocker", "respx.mock", "httpretty.activate"),
    OF_REQUESTS,
) | dict.fromkeys(
    ("moto.mock_aws", *(f"moto.mock_{name}" for name in ("s3", "dynamodb", "sqs", "sns", "ec2", "secretsmanager"))),
    ("boto3.", "botocore.", "aioboto3."),
)
"""Decorators and contexts in which requests go nowhere, and what the names of those functions begin with."""


GIVES_BACK = words(
    "side_effect wraps new_callable stopall temp_original configure_mock attach_mock reload setattr __setattr__ "
    "__dict__ vars exec eval compile globals importlib modules ctypes stop"
)
"""Names by which what a test replaces may do, after all, what it did before."""


def mocked_by(walker: Python, node: ast.expr, value: Value) -> tuple[str, ...]:
    """Return what the decorator or context at `node`, which is `value`, replaces while it lasts.

    Of `patch("module.function")` that is the function, unless what takes its place may be given.
    """
    if known := MOCKERS.get(value.name.removesuffix("()")):
        return known
    match node:
        case ast.Call(args=[ast.Constant(value=str(target))], keywords=named) if (
            value.name == "unittest.mock.patch()"
            and all(one.arg == "return_value" for one in named)
            and not _gives_back(walker)
        ):
            return (target,)
        case _:
            return ()


def _gives_back(walker: Python) -> bool:
    """Return whether the program has a name by which what a test replaces may do, after all, what it did before."""
    if walker.gives_back is None:
        found = (one for part in walker.body for one in ast.walk(part))
        walker.gives_back = any(not GIVES_BACK.isdisjoint(_names(one)) for one in found)
    return walker.gives_back


def _names(node: ast.AST) -> tuple[str, ...]:
    """Return the names that a part of a program has in itself, and what it stores `patch` in."""
    match node:
        case ast.Attribute(ctx=ast.Store() | ast.Del(), value=ast.Name(id=owner)) if owner != "self":
            return ("setattr",)
        case ast.Name(id="patch", ctx=ast.Store()):
            return ("setattr",)
        case ast.GeneratorExp() if any(isinstance(one, ast.Call) for one in ast.walk(node)):
            return ("setattr",)  # it may run after the test
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return (name,)
        case ast.keyword(arg=str(name)) | ast.alias(name=name) | ast.ImportFrom(module=str(name)):
            return (name,)
        case ast.Constant(value=str(written)):
            return (written,) if written in GIVES_BACK else ()
        case ast.FunctionDef(name="patch") | ast.ClassDef(name="patch"):
            return ("setattr",)
        case _:
            return ()
