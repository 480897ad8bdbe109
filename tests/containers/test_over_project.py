"""A container whose workspace is a copy of a project: the engine binds that very folder, or nothing runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.request import Isolation, Language
from runner.model.result import Outcome
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Job, ProjectLayer
from runner.sandbox.docker.client import EngineClient
from runner.sandbox.docker.endpoint import Endpoint
from tests import container_engine as engine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ACCOUNT = 4321


@pytest.fixture(params=[Isolation.DOCKER, Isolation.GVISOR])
def sandbox(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ContainerSandbox:
    engine.have_patience(monkeypatch)
    return ContainerSandbox(request.param, OWN_IMAGES, engine.client())


@pytest.fixture
def layer(tmp_path: Path) -> Iterator[ProjectLayer]:
    """A copy of a project of an ordinary account."""
    folder = tmp_path / "copy"
    folder.mkdir()
    (folder / "helper.py").write_text("ANSWER = 42\n")
    (folder / "helper.js").write_text("module.exports = 42;\n")
    for path in (folder, *folder.iterdir()):
        os.chown(path, ACCOUNT, ACCOUNT)
    with opened(folder) as found:
        yield found


@contextlib.contextmanager
def opened(folder: Path) -> Iterator[ProjectLayer]:
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    found = os.fstat(descriptor)
    try:
        yield ProjectLayer(str(folder), found.st_dev, found.st_ino, descriptor)
    finally:
        os.close(descriptor)


def test_the_code_finds_the_files_and_leaves_its_own_alone(sandbox: ContainerSandbox, layer: ProjectLayer) -> None:
    python = "import helper, os; print(helper.ANSWER, os.getuid()); open('py', 'w').write('x')"
    script = "console.log(require('./helper')); require('fs').writeFileSync('js', 'x')"
    codes = {Language.PYTHON: python, Language.JAVASCRIPT: script, Language.SHELL: "pwd; echo x > sh; rm helper.py"}

    async def body() -> list[str]:
        said = []
        for language, code in codes.items():
            run = await sandbox.start_over(Job("a" * 32, language, code), layer, lambda _usage: None)
            result = await run.finished()
            assert result.outcome is Outcome.OK, result
            said.append(result.stdout)
        await sandbox.close()
        return said

    assert asyncio.run(body()) == [f"42 {ACCOUNT}\n", "42\n", "/workspace\n"]
    assert sorted(os.listdir(layer.path)) == ["helper.js", "js", "py", "sh"]
    assert {os.stat(os.path.join(layer.path, one)).st_uid for one in os.listdir(layer.path)} == {ACCOUNT}


def test_what_the_project_holds_for_a_home_is_not_obeyed(sandbox: ContainerSandbox, layer: ProjectLayer) -> None:
    for name in (".bash_profile", ".profile", ".bashrc"):
        with open(os.path.join(layer.path, name), "w") as file:
            file.write("echo OBEYED\n")
    home = {
        Language.SHELL: "bash -lc 'touch ~/.cache; echo $HOME'",
        Language.PYTHON: "import pathlib; h = pathlib.Path.home(); (h / '.cache').write_text(''); print(h)",
        Language.JAVASCRIPT: "const os = require('os'), fs = require('fs');"
        "const h = os.homedir(); fs.writeFileSync(h + '/.c', ''); console.log(h)",
    }

    async def body() -> list[str]:
        said = []
        for language, code in home.items():
            run = await sandbox.start_over(Job("c" * 32, language, code), layer, lambda _usage: None)
            said.append((await run.finished()).stdout)
        await sandbox.close()
        return said

    assert asyncio.run(body()) == ["/tmp\n"] * 3
    assert not {".cache", ".c"} & {*os.listdir(layer.path)}


def test_another_folder_of_that_name_is_never_run_over(
    sandbox: ContainerSandbox, layer: ProjectLayer, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()

    async def body() -> None:
        with pytest.raises(KnownError, match="does not show the project"):
            await sandbox.start_over(
                Job("b" * 32, Language.SHELL, "touch ran"), replace(layer, path=str(other)), lambda _usage: None
            )
        await sandbox.close()

    asyncio.run(body())
    assert os.listdir(other) == []


@pytest.mark.parametrize(
    ("address", "mounted", "why"),
    [
        ("unix:///nowhere", True, "mounted for the program alone"),
        ("tcp://machine.example:2375", False, "on another machine"),
    ],
)
def test_what_an_engine_cannot_see_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, address: str, mounted: bool, why: str
) -> None:
    sandbox = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, EngineClient(Endpoint(address)))

    async def ready() -> object:
        from runner.sandbox.contract import Readiness

        return Readiness(True)

    monkeypatch.setattr(sandbox, "check", ready)
    with pytest.raises(KnownError, match=why) as refused:
        asyncio.run(sandbox.protections_over(mounted=mounted))
    assert "own shell" in str(refused.value)
