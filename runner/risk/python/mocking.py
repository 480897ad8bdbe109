"""Functions that a Python test replaces, by a decorator or in a `with`: they do nothing while that lasts."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.risk.model.value import Value

OF_REQUESTS = ("requests.", "urllib.request.", "urllib3.", "http.client.", "httpx.")
MOCKERS: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("responses.activate", "responses.RequestsMock", "requests_mock.Mocker", "respx.mock", "httpretty.activate"),
    OF_REQUESTS,
) | dict.fromkeys(
    ("moto.mock_aws", *(f"moto.mock_{name}" for name in ("s3", "dynamodb", "sqs", "sns", "ec2", "secretsmanager"))),
    ("boto3.", "botocore.", "aioboto3."),
)
"""Decorators and contexts in which requests go nowhere, and what the names of those functions begin with."""


def mocked_by(node: ast.expr, value: Value) -> tuple[str, ...]:
    """Return what the decorator or context at `node`, which is `value`, replaces while it lasts.

    Of `patch("module.function")` that is the function, unless what takes its place is given.
    """
    if known := MOCKERS.get(value.name.removesuffix("()")):
        return known
    match node:
        case ast.Call(args=[ast.Constant(value=str(target))], keywords=named) if (
            value.name == "unittest.mock.patch()" and all(one.arg == "return_value" for one in named)
        ):
            return (target,)
        case _:
            return ()
