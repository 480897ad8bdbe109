"""What holds up a change: a test that fails twice, many that fail, a crash; not one that fails once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.patience import HANGS

ROOT = Path(__file__).resolve().parent.parent
MAKE = """#!/bin/sh
case "$1" in
test) exec "{python}" -B -m pytest ${{2#ARGS=}} ;;
*) echo "did $1" ;;
esac
"""
TESTS = {
    "once": "import os\n\ndef test_it():\n    mark = 'failed'\n    if not os.path.exists(mark):\n"
    "        open(mark, 'w').close()\n        raise OSError\n\ndef test_other(): pass\n",
    "twice": "def test_it(): assert 0\n\ndef test_other(): pass\n",
    "many": "import os, pytest\n\n@pytest.mark.parametrize('n', range(13))\ndef test_it(n):\n"
    "    mark = f'failed{n}'\n    if not os.path.exists(mark):\n        open(mark, 'w').close()\n"
    "        raise OSError\n\ndef test_other(): pass\n",
    "at its end": "import os, pytest\n\n@pytest.fixture\ndef left():\n    yield\n    mark = 'failed'\n"
    "    if not os.path.exists(mark):\n        open(mark, 'w').close()\n        raise OSError\n\n"
    "def test_it(left): pass\n",
    "ended": "import os\n\ndef test_it():\n    mark = 'failed'\n    if not os.path.exists(mark):\n"
    "        open(mark, 'w').close()\n        os._exit(3)\n",
    "never": "def test_it(): pass\n",
}


@pytest.mark.parametrize(
    ("which", "passes", "unstable"),
    [
        ("never", True, False),
        ("once", True, True),
        ("at its end", True, True),
        ("twice", False, False),
        ("many", False, False),
        ("ended", False, False),
    ],
)
def test_what_fails_once_is_named_and_what_fails_again_holds_up_a_change(
    tmp_path: Path, which: str, passes: bool, unstable: bool
) -> None:
    checkout, programs = tmp_path / "checkout", tmp_path / "programs"
    for folder in (checkout / ".ci", programs):
        folder.mkdir(parents=True)
    shutil.copy(ROOT / ".ci/run", checkout / ".ci/run")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    (checkout / "pytest.ini").write_text(
        f"[pytest]\naddopts = {' '.join(settings['addopts'])}\ncache_dir = {settings['cache_dir']}\n", "utf-8"
    )
    (checkout / "test_one.py").write_text(TESTS[which], "utf-8")
    (programs / "make").write_text(MAKE.format(python=sys.executable), "utf-8")
    (programs / "make").chmod(0o755)
    environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run(
        [checkout / ".ci/run"], env=environment, capture_output=True, text=True, timeout=HANGS, check=False
    )
    assert (done.returncode == 0) is passes, done.stdout + done.stderr
    assert ("did package-test" in done.stdout) is passes
    assert ("UNSTABLE" in done.stdout) is unstable
