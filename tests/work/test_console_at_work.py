"""Approved code over the working copy of a program at work: asked by its door, run over its layer, never elsewhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from runner.workspace.working_copy import all_below
from tests.components import require

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.workspace.working_copy import WorkingCopy

ROOT = Path(__file__).parents[2]
ACCOUNT = 4321
pytestmark = pytest.mark.timeout(180)


class Found(NamedTuple):
    """What came of a story."""

    told: list[Any]
    requests: list[dict[str, Any]]
    more: dict[str, Any]
    errors: str


class Desk:
    """The home folder of one account with a project in it."""

    def __init__(self, home: Path, account: int) -> None:
        self.account, self.home = account, home
        self.project = home / "dev" / "project"
        for folder in (self.project, home / "assent", home / "bin"):
            folder.mkdir(parents=True)
        (self.project / "old").write_text("old\n")
        (self.project / "helper.js").write_text("module.exports = 42;\n")
        (self.project / "helper.py").write_text("ANSWER = 42\n")
        for path in (home, *home.rglob("*")):
            os.chown(path, account, account)

    def run(self, story: str, code: str) -> Found:
        become: tuple[str, ...] = ()
        if self.account != os.geteuid():
            become = ("setpriv", f"--reuid={self.account}", f"--regid={self.account}", "--clear-groups")
        interpreter = sys.executable if self.account == os.geteuid() else "/usr/bin/python3"
        path = os.pathsep.join((str(ROOT), *(one for one in sys.path if one.endswith("site-packages"))))
        done = subprocess.run(
            (*become, interpreter, "-m", "tests.work.console_driver", str(self.home), story, code),
            env={"HOME": str(self.home), "PATH": os.defpath, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "FOUND " in done.stdout, done.stdout + done.stderr
        found = json.loads(done.stdout.partition("FOUND ")[2])
        return Found(found.pop("told"), found.pop("requests"), found, done.stderr)

    @property
    def copy(self) -> WorkingCopy:
        (copy,) = all_below(self.home / "assent" / "data" / "work")
        return copy

    def changed(self) -> dict[str, str]:
        return {one.path.decode(): one.how.value for one in self.copy.changes().changes}


@pytest.fixture(params=["this account", "ordinary account"])
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    require("bubblewrap")
    account = os.geteuid()
    if request.param == "ordinary account":
        folders = [ROOT, *ROOT.parents, *(Path(one) for one in sys.path if one.endswith("site-packages"))]
        if account or not all(one.stat().st_mode & 1 for one in folders) or sys.version_info[:2] != (3, 11):
            pytest.skip("another account cannot run the tests' own code here")
        account = ACCOUNT
    with tempfile.TemporaryDirectory(prefix="assent-test-") as place:
        os.chmod(place, 0o755)
        yield Desk(Path(place) / "home", account)


def test_approved_code_runs_over_the_project_as_the_program_sees_it(desk: Desk) -> None:
    found = desk.run(
        "approving",
        "server = Server()\n"
        "shell('echo of the shell > made; rm old')\n"
        "tell(server.run('pwd; ls; cat made; echo of the run > ran; id -u'))\n"
        "tell(shell('cat ran; ls'))\n",
    )
    assert found.told == [], found
