"""Copilot CLI, opencode, Goose and Qwen Code with `assent connect --hook`: their shells do only what is approved.

They are started so that they themselves ask nobody. Each goes through all cases in one session.
"""

from __future__ import annotations

import asyncio
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from runner.model.decision import Verdict
from runner.model.request import Tool
from runner.system.places import Places
from runner.system.tasks import spawn
from tests.components import require
from tests.path.mock_model import conversing
from tests.path.test_further_clients import PROGRAMS, environment_of, started
from tests.path.test_real_hooks import console

if TYPE_CHECKING:
    from pathlib import Path

    from tests.path.dialects import Brought
    from tests.path.mock_model import Conversation

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(300)]
UNASKED = {"copilot-cli": ["--allow-all-tools"], "qwen-code": ["--approval-mode=yolo"]}
SHELLS = {"copilot-cli": "bash", "opencode": "bash", "goose": "shell", "qwen-code": "run_shell_command"}


class Session:
    """A client at work, whose shell is told to make files."""

    def __init__(self, client: str, model: Conversation, folder: Path) -> None:
        self._tool = SHELLS[client]
        self._model = model
        self._folder = folder
        self._number = 0

    def run(self) -> tuple[asyncio.Task[Brought], Path]:
        """Have the shell make a file; return the call and the file."""
        self._number += 1
        file = self._folder / f"made-{self._number}"
        given = {"command": f"touch {shlex.quote(str(file))}; echo from-the-shell", "description": "d"}
        return spawn("shell", self._model.call(self._tool, given)), file

    async def refused(self, says: str) -> None:
        calling, file = self.run()
        assert says in (await calling).text
        assert not file.exists()


def connect(client: str, home: Path) -> None:
    words = [sys.executable, "-m", "app", "connect", client, "--hook", "--yes", "--no-wait"]
    # A hook looks for the console in the account's true home folder, or where it was told when it was set up.
    environment = environment_of(home) | {"ASSENT_HOME": str(home / "assent")}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("client", SHELLS)
async def test_a_clients_own_shell_does_only_what_was_approved(client: str, tmp_path: Path) -> None:
    require(client)
    home, folder = tmp_path / "home", tmp_path / "home" / "wo rk"
    folder.mkdir(parents=True)
    places = Places.under(home / "assent")
    with conversing() as model:
        command, more = PROGRAMS[client](home, model)
        await asyncio.to_thread(connect, client, home)
        command += UNASKED.get(client, [])
        async with started(command, {**environment_of(home), **more}, folder):
            session = Session(client, model, folder)
            async with console(places) as desk:
                calling, file = session.run()
                assert str(file) in await desk.answer(Verdict.APPROVED)
                assert "from-the-shell" in (await calling).text and file.exists()
                calling, file = session.run()
                await desk.answer(Verdict.DENIED, "Not on a Friday.")
                assert "Not on a Friday." in (await calling).text and not file.exists()
            await session.refused("not running")
    assert {request.tool for request in desk.requests.values()} == {Tool.CLIENT_SHELL}
    assert desk.sandbox.runs == [], "Assent ran it, too"
