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


def test_without_bubblewrap_nothing_runs_over_a_project(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("as root nothing runs without bubblewrap at all")
    with pytest.raises(KnownError, match="bubblewrap"):
        asyncio.run(LocalSandbox(tmp_path, bubblewrap=False).protections_over(mounted=True))
