"""The local sandbox over a project: that very folder, or nothing runs."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.request import Language
from runner.sandbox.contract import Job, ProjectLayer
from runner.sandbox.local.sandbox import LocalSandbox
from tests.components import require

if TYPE_CHECKING:
    from pathlib import Path


def test_another_folder_of_that_name_is_never_run_over(tmp_path: Path) -> None:
    require("bubblewrap")
    shown, meant = tmp_path / "shown", tmp_path / "meant"
    shown.mkdir()
    meant.mkdir()
    found = meant.stat()

    async def body() -> None:
        sandbox = LocalSandbox(tmp_path / "runs")
        folder = os.open(meant, os.O_PATH | os.O_DIRECTORY)
        layer = ProjectLayer(str(shown), found.st_dev, found.st_ino, folder)
        try:
            with pytest.raises(KnownError, match="does not show the project"):
                await sandbox.start_over(Job("a", Language.SHELL, "touch ran"), layer, lambda _usage: None)
        finally:
            os.close(folder)
            await sandbox.close()

    asyncio.run(body())
    assert os.listdir(shown) == os.listdir(meant) == []


CODES = {
    Language.SHELL: "bash -lc 'echo $HOME; touch ~/.cache'; sh -lc true; bash -ic true 2>/dev/null; echo ~sandbox",
    Language.PYTHON: "import os, pathlib; h = pathlib.Path.home(); print(h); (h / '.cache').write_text(''); "
    "print(os.path.expanduser('~sandbox'))",
    Language.JAVASCRIPT: "const os = require('os'), h = os.homedir(); console.log(h);"
    "require('fs').writeFileSync(h + '/.c', ''); console.log(os.userInfo().homedir)",
}


@pytest.mark.parametrize("language", CODES, ids=str)
def test_what_the_project_holds_for_a_home_is_not_obeyed(tmp_path: Path, language: Language) -> None:
    require("bubblewrap")
    meant = tmp_path / "meant"
    meant.mkdir()
    for name in (".bash_profile", ".profile", ".bashrc"):
        (meant / name).write_text("echo OBEYED >/workspace/obeyed; echo OBEYED\n")
    found = meant.stat()

    async def body() -> str:
        sandbox = LocalSandbox(tmp_path / "runs")
        folder = os.open(meant, os.O_PATH | os.O_DIRECTORY)
        layer = ProjectLayer(str(meant), found.st_dev, found.st_ino, folder)
        try:
            run = await sandbox.start_over(Job("a", language, CODES[language]), layer, lambda _usage: None)
            result = await run.finished()
            assert not result.stderr, result
            return result.stdout
        finally:
            os.close(folder)
            await sandbox.close()

    assert asyncio.run(body()) == "/tmp\n/tmp\n"
    assert sorted(os.listdir(meant)) == [".bash_profile", ".bashrc", ".profile"]


def test_without_bubblewrap_nothing_runs_over_a_project(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("as root nothing runs without bubblewrap at all")
    with pytest.raises(KnownError, match="bubblewrap"):
        asyncio.run(LocalSandbox(tmp_path, bubblewrap=False).protections_over(mounted=True))
