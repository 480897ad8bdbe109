"""Files that an agent wrote into its sandbox run as they were approved, or not at all (spec X5, R1)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.model.answer import Status
from runner.model.assessment import Level
from runner.model.decision import Verdict
from runner.model.events import RequestArrived
from runner.model.request import Language, Tool
from runner.model.submission import Submission
from tests.patience import HANGS

if TYPE_CHECKING:
    from runner.model.answer import Answer
    from runner.model.request import Request
    from tests.stages.kept import House

pytestmark = pytest.mark.asyncio
PYTHON, SHELL = Language.PYTHON, Language.SHELL
MAIN = "import json\nprint(json.dumps({'answer': 42}))"


async def write(house: House, id: str, path: str, content: str) -> None:
    answer = await house.call(Tool.CODE_WRITE_FILE, sandbox_id=id, file_path=path, content=content)
    assert answer.status is Status.FINISHED, answer


async def run(house: House, id: str, code: str, language: Language = SHELL) -> Answer:
    return await house.call(Tool.CODE_EXECUTE, language=language, code=code, sandbox_id=id)


async def refused(house: House, id: str, code: str, language: Language = SHELL) -> Level:
    """The level of a request that is denied."""
    house.says = Verdict.DENIED
    return house.level((await run(house, id, code, language)).request_id)


def request(house: House, answer: Answer) -> Request:
    arrived = (event.request for event in house.heard if isinstance(event, RequestArrived))
    return next(one for one in arrived if one.id == answer.request_id)


def out(answer: Answer) -> str:
    assert answer.result is not None, answer
    return answer.result.stdout or answer.result.stderr


async def test_what_was_approved_runs_and_is_shown_with_the_request(house: House) -> None:
    id = await house.create()
    await write(house, id, "main.py", MAIN)
    await write(house, id, "in.csv", "a,b\n")
    ran = await run(house, id, "python3 main.py; wc -l in.csv")
    assert (house.level(ran.request_id), out(ran)) == (Level.HIGH, '{"answer": 42}\n1 in.csv\n')
    asked = request(house, ran)
    assert [(part.name, part.text) for part in asked.parts][1:] == [("File main.py", MAIN)]
    assert asked.digest != replace(asked, known=()).digest


async def test_modules_are_found_by_python_code_whatever_else_lies_there(house: House) -> None:
    id = await house.create()
    await write(house, id, "helper.py", "def answer(): return 42")
    await run(house, id, "mkdir helper; echo 'print(1)' > helper/__init__.py; echo 'print(1)' > json.py")
    ran = await run(house, id, "import json, helper\nprint(json.dumps(helper.answer()))", PYTHON)
    assert (house.level(ran.request_id), out(ran)) == (Level.HIGH, "42\n")
    await run(house, id, "echo 'print(1)' > geopandas.py")
    ran = await run(house, id, "try:\n    import geopandas\nexcept ImportError:\n    print('none')", PYTHON)
    assert (house.level(ran.request_id), out(ran)) == (Level.HIGH, "none\n"), "an unread file was imported"
    assert await refused(house, id, "import other", PYTHON) is Level.CRITICAL


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("echo 'print(1)' > main.py", "changed"),
        ("echo >> main.py", "changed"),
        ("rm main.py", "no file"),
        ("mv main.py other.py; ln -s other.py main.py", "link"),
    ],
)
async def test_a_file_that_was_changed_meanwhile_does_not_run(house: House, change: str, why: str) -> None:
    id = await house.create()
    await write(house, id, "main.py", MAIN)
    house.says = None
    waits = await house.engine.submit(Submission("claude", Tool.CODE_EXECUTE, SHELL, "python3 main.py", sandbox_id=id))
    changes = await house.engine.submit(Submission("claude", Tool.CODE_EXECUTE, SHELL, change, sandbox_id=id))
    for ticket in (changes, waits):
        await house.until(ticket.position)
        (question,) = (one for one in house.engine.desk.waiting() if one.request_id == ticket.request_id)
        house.engine.answer(question.request_id, question.digest, Verdict.APPROVED, "")
        answer = await ticket.answered(HANGS)
        assert answer is not None and answer.result is not None
    assert why in answer.result.error and answer.result.stdout == ""
    assert await refused(house, id, "python3 main.py") is Level.CRITICAL, "what is there now is not known"


async def test_many_and_large_files_are_remembered_within_bounds(house: House) -> None:
    id = await house.create()
    kept = house.engine.sandboxes
    for number in range(3):
        await write(house, id, f"{number}.py", f"x = {number}\n" + "y = 1\n" * 70_000)
    assert [file.path for file in kept.written(id)] == ["1.py", "2.py"]
    await write(house, id, "1.py", MAIN)
    assert [file.path for file in kept.written(id)] == ["2.py", "1.py"]
    assert out(await run(house, id, "python3 1.py")) == '{"answer": 42}\n'


async def test_files_of_another_sandbox_are_not_known(house: House) -> None:
    first, second = await house.create(), await house.create()
    await write(house, first, "main.py", MAIN)
    assert await refused(house, second, "python3 main.py") is Level.CRITICAL


JAVASCRIPT = Language.JAVASCRIPT
JS = Submission("claude", Tool.CODE_CREATE_SANDBOX, JAVASCRIPT)
MODULES = {
    "helper.js": "const { twice } = require('./lib/more');\nexports.answer = twice(require('./data.json').half);",
    "lib/more.cjs": "exports.nothing = 1;",
    "lib/more.js": "exports.twice = (n) => 2 * n;",
    "data.json": '{"half": 21}',
    "main.mjs": "export * from './other.mjs';\nimport path from 'node:path';",
    "other.mjs": "export const answer = 42;",
}
SHADOWS = "echo 'console.log(666)' | tee helper lib/more lib/package.json node_modules.js > package.json.js"


async def javascript(house: House) -> str:
    id = await house.create(JS)
    for path, content in MODULES.items():
        await write(house, id, path, content)
    return id


@pytest.mark.parametrize(
    "code",
    [
        "console.log(require('./helper').answer)",
        "console.log(require('/workspace/helper.js').answer)",
        "import('./helper.js').then((found) => console.log(found.default.answer))",
        "import('./main.mjs').then((found) => console.log(found.answer))",
    ],
)
async def test_javascript_loads_the_texts_that_were_approved(house: House, code: str) -> None:
    id = await javascript(house)
    await run(house, id, SHADOWS)
    ran = await run(house, id, code, JAVASCRIPT)
    assert (house.level(ran.request_id), out(ran)) == (Level.HIGH, "42\n")
    assert request(house, ran).known


@pytest.mark.parametrize(
    "code",
    [
        "require('./unknown')",
        "import('./unknown.mjs')",
        "require('./lib/' + name)",
        "require('./shell')",
        "import fs from 'graceful-fs'",
    ],
)
async def test_javascript_that_loads_anything_else_is_critical(house: House, code: str) -> None:
    id = await javascript(house)
    await write(house, id, "shell.js", "require('child_process').execSync('id')\nrequire('./unknown')")
    assert await refused(house, id, code, JAVASCRIPT) is Level.CRITICAL


@pytest.mark.parametrize(
    ("load", "says"),
    [
        ("require('./helper.js')", "42"),
        ("require('./helper')", "42"),
        ("import('./other.mjs').then((one) => console.log(one.answer))", "42"),
    ],
)
async def test_what_the_code_itself_changes_is_not_what_it_loads(house: House, load: str, says: str) -> None:
    id = await javascript(house)
    code = "const fs = require('fs');\nfor (const one of ['helper.js', 'helper', 'other.mjs'])"
    code += f" fs.writeFileSync(one, 'console.log(666)');\nconst found = {load};\nconsole.log(found.answer);"
    ran = await run(house, id, code, JAVASCRIPT)
    assert says in out(ran) and "666" not in out(ran), out(ran)
