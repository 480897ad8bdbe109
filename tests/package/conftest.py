"""These tests install the package in bare systems; `make package-test` builds it and runs them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.package.bare_root import BareRoot
from tests.package.given import PACKAGE, SUITES
from tests.package.screen import Screen, virtual_screen

if TYPE_CHECKING:
    from collections.abc import Iterator

if "ASSENT_PACKAGES" not in os.environ:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session", params=SUITES)
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareRoot]:
    """A bare system with the package, for all tests of one release of Debian; the last one removes the package."""
    if os.geteuid() != 0:
        pytest.fail("bare systems can be made by root only: sudo make package-test")
    root = BareRoot(request.param, tmp_path_factory.mktemp("bare") / request.param)
    try:
        assert root.run("which", "python3", "node", "docker", "bwrap", check=False).stdout == ""
        root.apt("update")
        root.install(PACKAGE)
        yield root
    finally:
        root.close()


@pytest.fixture(scope="session")
def screen() -> Iterator[Screen]:
    """A virtual screen."""
    with virtual_screen() as screen:
        yield screen
