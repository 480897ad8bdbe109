"""Every promise of the contract on every kind of sandbox: the suite that a package uses for its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runner.sandbox.self_check import PROMISES, Promise, tried

if TYPE_CHECKING:
    from tests.contract.conftest import Lab


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_promise(promise: Promise, lab: Lab) -> None:
    found = asyncio.run(tried(promise, lab.sandbox))
    assert found.holds, found.line
