"""What Assent starts inside sandboxes is that of its own version, also after an update has replaced the files."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from runner.sandbox import programs
from runner.system.places import resources

SANDBOX = Path(programs.__file__).parent
ASSENT = SANDBOX.parents[1]
FOLDERS = ("runner/sandbox/inside", "runner/sandbox/container/inside", "resources/seccomp")
UPDATED = """
import asyncio, sys
from pathlib import Path
from runner.model.request import Language, Limits
from runner.sandbox.container import starter
from runner.sandbox.container.shape import seccomp
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox

top, root, python, *folders = sys.argv[1:]
for folder in folders:
    for file in Path(top, folder).iterdir():
        file.write_text("the next version's own")

async def main():
    limits = Limits(seconds=20, memory_mb=512, disk_mb=64, processes=64)
    for bubblewrap in (True, False):
        sandbox = LocalSandbox(Path(root, str(bubblewrap)), python=python, bubblewrap=bubblewrap)
        for language, code in ((Language.PYTHON, "print('ran')"), (Language.JAVASCRIPT, "console.log('ran')")):
            job = Job("test", language, code, limits)
            result = await (await sandbox.start(job, lambda usage: None)).finished()
            print(result.meta.isolation.value, language.value, result.stdout.strip(), result.stderr)
        await sandbox.close()
    for language in Language:
        assert "next version" not in "".join(starter.command(language, limits))
    assert "SCMP_ACT" in seccomp()

asyncio.run(main())
"""


@pytest.mark.parametrize("changed", FOLDERS)
def test_every_program_is_as_it_is_in_the_folder(changed: str) -> None:
    read = {"inside": programs.inside, "seccomp": programs.seccomp}[changed.rpartition("/")[2]]
    read = programs.script if "container" in changed else read
    files = [file for file in (ASSENT / changed).iterdir() if file.is_file()]
    assert files
    assert all(read(file.name) == file.read_text("utf-8") for file in files)


def test_an_update_of_the_files_changes_nothing_in_a_running_console(tmp_path: Path) -> None:
    for name in ("runner", "resources"):
        shutil.copytree(ASSENT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    # Root without bubblewrap runs only what every user can reach.
    python = "/usr/bin/python3" if os.geteuid() == 0 else ""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with tempfile.TemporaryDirectory(prefix="assent-test-") as runs:  # which other users can reach, as pytest's is not
        Path(runs).chmod(0o755)
        command = [sys.executable, "-c", UPDATED, tmp_path, runs, python, *FOLDERS]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "local python ran ",
        "local javascript ran ",
        "process python ran ",
        "process javascript ran ",
    ], done.stderr


def test_nothing_else_of_the_sandbox_is_read_from_the_installation() -> None:
    """Only the recipes of images are, whose names hold a hash of what they say."""
    readers = [
        file.relative_to(SANDBOX).as_posix()
        for file in SANDBOX.rglob("*.py")
        if file.parent.name != "inside"
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Name) and node.id in ("__file__", resources.__name__)
    ]
    assert set(readers) == {"programs.py", "images/recipe.py"}
