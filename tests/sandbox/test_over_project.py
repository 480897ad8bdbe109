"""The local sandbox over a project: that very folder, or nothing runs."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.request import Language, Limits
from runner.model.result import Outcome, Result
from runner.sandbox.contract import Job, ProjectLayer
from runner.sandbox.local.sandbox import LocalSandbox
from tests.components import require
from tests.patience import HANGS

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


def ran_over(meant: Path, runs: Path, language: Language, code: str) -> Result:
    found = meant.stat()

    async def body() -> Result:
        sandbox = LocalSandbox(runs)
        folder = os.open(meant, os.O_PATH | os.O_DIRECTORY)
        layer = ProjectLayer(str(meant), found.st_dev, found.st_ino, folder)
        limits = Limits(seconds=HANGS, memory_mb=1024, disk_mb=256, processes=256, cpu_cores=2.0)
        try:
            run = await sandbox.start_over(Job("a", language, code, limits), layer, lambda _usage: None)
            return await run.finished()
        finally:
            os.close(folder)
            await sandbox.close()

    return asyncio.run(body())


def test_no_class_of_the_project_takes_the_place_of_what_java_code_names(tmp_path: Path) -> None:
    require("bubblewrap")
    require("java")
    if (compiler := shutil.which("javac")) is None:
        pytest.skip("not required: only the compiler of Java makes a class")
    meant = tmp_path / "meant"
    meant.mkdir()
    other = 'public class Collections { public static void sort(Object o) { System.out.println("other"); } }\n'
    (meant / "Collections.java").write_text(other)
    subprocess.run([compiler, "Collections.java"], cwd=meant, check=True)
    code = "class Main { public static void main(String[] given) { Collections.sort(null); } }\n"
    found = ran_over(meant, tmp_path / "runs", Language.JAVA, code)
    assert found.outcome is Outcome.FAILED and "other" not in found.stdout and "Collections" in found.stderr, found


def test_no_package_of_the_project_is_compiled_into_go_code(tmp_path: Path) -> None:
    require("bubblewrap")
    require("go")
    meant = tmp_path / "meant"
    (meant / "other").mkdir(parents=True)
    (meant / "other" / "other.go").write_text('package other\n\nfunc init() { println("other") }\n')
    (meant / "go.mod").write_text("module project\n")
    for where in ("../../workspace/other", "/workspace/other", "project/other"):
        code = f'package main\n\nimport _ "{where}"\n\nfunc main() {{}}\n'
        found = ran_over(meant, tmp_path / "runs", Language.GO, code)
        assert found.outcome is Outcome.FAILED and "main.go:3" in found.stderr, found


def test_without_bubblewrap_nothing_runs_over_a_project(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("as root nothing runs without bubblewrap at all")
    with pytest.raises(KnownError, match="bubblewrap"):
        asyncio.run(LocalSandbox(tmp_path, bubblewrap=False).protections_over(mounted=True))
