"""Packages of the registry that this machine is configured with, in the local sandbox; skipped where none answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.model.answer import Status
from runner.model.errors import KnownError
from runner.model.request import Tool
from runner.model.submission import Submission
from runner.network.registries import of_this_machine
from tests.engine.test_installing import out, run
from tests.stages.kept import house

if TYPE_CHECKING:
    from tests.stages.kept import House

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(200)]
__all__ = ["house"]


@pytest.mark.parametrize(
    ("package", "code", "says"),
    [
        ("idna", "import idna; print(idna.encode('\\u00e4.example').decode())", "xn--4ca.example"),
        ("numpy", "import numpy; print(int(numpy.arange(5).sum()))", "10"),
    ],
)
async def test_a_real_package_is_installed_and_imported(house: House, package: str, code: str, says: str) -> None:
    if not of_this_machine().pypi:
        pytest.skip("pip is not configured here")
    id = await house.create()
    try:
        ticket = await house.engine.submit(
            Submission("claude", Tool.CODE_INSTALL_PACKAGE, sandbox_id=id, packages=(package,))
        )
    except KnownError as error:
        if "cannot be reached" in str(error) or "cannot be looked up" in str(error) or "in time" in str(error):
            pytest.skip(f"the configured registry does not answer: {error}")
        raise
    answer = await ticket.answered(120)
    assert answer is not None and answer.status is Status.FINISHED, answer
    assert out(await run(house, code, id)) == f"{says}\n"
