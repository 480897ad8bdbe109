"""The contract of sandboxes as tests: one for each promise of `self_check`.

For a sandbox that an installed package brings, or one of Assent's own; what follows the name is for pytest:

    python -m runner.sandbox.contract_suite NAME -x

In a package's own tests, on a sandbox made there:

    from runner.sandbox.contract_suite import loop, test_promise

    @pytest.fixture(scope="module")
    def sandbox():
        return MySandbox()

Nothing of Assent imports this module but its tests: it needs pytest, which Assent does not.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from runner.sandbox.available import by_name
from runner.sandbox.self_check import PROMISES, Promise, tried
from runner.system.places import Places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.sandbox.contract import Sandbox


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    """One loop for all, as in Assent."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.name)
def test_promise(promise: Promise, sandbox: Sandbox, loop: asyncio.Runner) -> None:
    found = loop.run(tried(promise, sandbox))
    if found.skipped:
        pytest.skip(found.skipped)
    assert found.holds, f"{promise.words}: {found.problem}"


def named(name: str) -> ModuleType:
    """Return a plugin of pytest with the sandbox of that name."""

    @pytest.fixture(scope="module")
    def sandbox(loop: asyncio.Runner) -> Iterator[Sandbox]:
        with tempfile.TemporaryDirectory() as home:
            found = by_name(name, Places.under(Path(home)))
            yield found
            loop.run(found.close())

    plugin = ModuleType("named")
    vars(plugin)["sandbox"] = sandbox
    return plugin


if __name__ == "__main__":
    first, *others = sys.argv[1:] or sys.exit("Name a sandbox.")
    sys.exit(pytest.main(["--pyargs", "runner.sandbox.contract_suite", *others], plugins=[named(first)]))
