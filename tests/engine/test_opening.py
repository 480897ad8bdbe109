"""A part that cannot be opened is reported, and its unexpected error logged once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from runner.engine.foundation.bulletin import Bulletin
from runner.engine.foundation.opening import Opener


@pytest.mark.asyncio
async def test_an_error_is_logged_once_also_where_another_trouble_of_the_area_came_between() -> None:
    logged: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: logged.append(context))
    bulletin = Bulletin()
    opener = Opener(bulletin)
    errors: list[Exception | None] = [OSError("one"), OSError("one"), OSError("two"), None, OSError("two")]

    async def opened() -> None:
        if (error := errors.pop(0)) is not None:
            raise error

    for number, works in enumerate((False, False, False, True, False)):
        assert await opener.open("ledger", opened) is works
        if number == 0:
            bulletin.trouble("ledger", "The disk is full.", "Make room.")
    assert [str(context["exception"]) for context in logged] == ["one", "two", "two"]
