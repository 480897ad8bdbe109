"""LangChain, OpenAI Agents and FastMCP with the very program that `assent connect` prints for them."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.model.decision import Verdict
from runner.system.places import Places
from tests.commands.test_cli import Desk, assent
from tests.components import LIBRARIES_PYTHON, require
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.asyncio
CALLS = """

GIVEN = [{"language": "python", "code": code} for code in ("print(6 * 7)", "print('no')")]


async def tried(call):
    for given in GIVEN:
        try:
            print(await call(given))
        except Exception as error:
            print(type(error).__name__, error)
"""
DRIVEN = {
    "langchain": """
tool = next(tool for tool in tools if tool.name == "code_execute")
asyncio.run(tried(tool.ainvoke))
""",
    "openai-agents": """
import asyncio

async def all():
    async with server:
        print([tool.name for tool in await server.list_tools()])
        await tried(lambda given: server.call_tool("code_execute", given))

asyncio.run(main())
asyncio.run(all())
""",
    "fastmcp": """
import asyncio

async def all():
    async with client:
        await tried(lambda given: client.call_tool("code_execute", given))

asyncio.run(all())
""",
}
"""What a person would add to the program of each."""


@pytest_asyncio.fixture
async def desk(home: Path) -> AsyncIterator[Desk]:
    desk = Desk(Places.under(home))
    await desk.engine.start()
    yield desk
    await desk.engine.close("the test is over")


@pytest.mark.parametrize("library", DRIVEN)
async def test_the_program_that_is_printed_works_as_it_is(library: str, desk: Desk, tmp_path: Path) -> None:
    require("libraries")
    printed = await asyncio.to_thread(assent, "connect", library)
    assert printed.returncode == 0, printed.stderr
    program = tmp_path / "program.py"
    program.write_text(printed.stdout + CALLS + DRIVEN[library])
    process = await asyncio.create_subprocess_exec(
        str(LIBRARIES_PYTHON),
        str(program),
        # As a program of a person is started: nothing leads it to this checkout or this console but the text itself.
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(2 * HANGS):
            while desk.questions.empty():
                assert process.returncode is None, await process.communicate()
                await asyncio.sleep(0.05)
            assert await desk.answer(Verdict.APPROVED) == "print(6 * 7)"
            await desk.running.wait()
            desk.sandbox.runs[0].finish("forty-two\n")
            assert await desk.answer(Verdict.DENIED, "Not on a Friday.") == "print('no')"
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    sys.stderr.write(out.decode() + err.decode())
    assert process.returncode == 0, err.decode()
    assert "forty-two" in out.decode() and "Not on a Friday." in out.decode()
