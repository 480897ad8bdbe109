"""Code with stand-ins, tried by an ordinary account: in the local sandbox, and in gVisor without root."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests import direct_gvisor
from tests.components import require
from tests.container_engine import KEPT
from tests.other_account import ORDINARY, ROOT, account_of
from tests.patience import HANGS
from tests.sandbox.test_trying import DEEDS


@pytest.mark.parametrize("kind", ["local", "gvisor-direct"])
def test_an_ordinary_account_has_code_tried(kind: str) -> None:
    require("bubblewrap")
    require("node")
    account = account_of(ORDINARY)
    with tempfile.TemporaryDirectory(prefix="assent-test-") as made:
        folder, runsc = Path(made), ""
        (folder / "home").mkdir()
        if kind == "gvisor-direct":
            runsc = str(shutil.copy(direct_gvisor.program(), folder / "runsc"))
            direct_gvisor.images()
            shutil.copytree(KEPT / "folders", folder / "images", symlinks=True)
        subprocess.run(["chown", "-R", f"{account}:{account}", folder], check=True)
        become = ("setpriv", f"--reuid={account}", f"--regid={account}", "--clear-groups")
        packages = os.pathsep.join((str(ROOT), *(one for one in sys.path if one.endswith("site-packages"))))
        done = subprocess.run(
            (*become, "/usr/bin/python3", "-m", "tests.sandbox.trying_as", made, runsc),
            env={"HOME": f"{made}/home", "PATH": os.defpath, "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=HANGS,
            check=False,
        )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    found = {name: ({tuple(act) for act in acts}, error) for name, acts, error in told}
    assert set(found) == set(DEEDS), done.stderr
    for name, (_, _, deeds) in DEEDS.items():
        assert deeds <= found[name][0], (name, found[name])
