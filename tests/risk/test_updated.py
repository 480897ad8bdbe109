"""Files of Assent that are replaced while it is open: no worker of another version is believed."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from runner.risk.worker import worker
from runner.system import sources

ROOT = Path(__file__).resolve().parents[2]
LOADED = """\
import sys
import runner.risk.worker.worker
print("\\n".join(sorted(name for name in sys.modules if name.startswith("runner."))))
"""
STORY = """\
import asyncio, sys
from pathlib import Path
from runner.model.request import Language, Request, Tool
from runner.risk.worker.assessor import Assessor

changed = Path(sys.argv[1])
before = changed.read_bytes()
request = Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "print(1)")


async def main():
    assessor = Assessor(Path("/nonexistent"))

    async def said():
        found = await assessor.assess(request)
        print(found.level.name, found.reasons[0], sep="|")

    await said()
    await said()  # by a process that has loaded everything
    changed.write_bytes(sys.argv[2].encode() + before)
    await said()  # by the process that was started before
    assessor.reload()
    await said()
    await said()
    changed.write_bytes(before)
    await said()
    await assessor.close()

asyncio.run(main())
"""
UPDATED = "CRITICAL|Assent was updated while it was open, so nobody can say what this code does. Restart Assent."


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the workers load, that can be replaced."""
    for name in ("runner", "resources"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "readme"))
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ("resources/rules/targets.yaml", "# another version\n"),
        ("runner/risk/literals/outline.py", "# another version\n"),
        ("runner/risk/worker/worker.py", "import what_came_later\n"),
    ],
)
def test_after_an_update_nothing_is_assessed_by_processes_of_the_new_version(
    tree: Path, changed: str, text: str
) -> None:
    command = [sys.executable, "-B", "-c", STORY, str(tree / changed), text]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(command, env=environment, cwd=tree, capture_output=True, text=True, timeout=120, check=True)
    first, second, same, after, again, back = done.stdout.splitlines()
    assert first == second == same == back
    assert first.startswith("HIGH|")
    assert after == again == UPDATED


def test_the_digest_covers_everything_that_a_worker_loads() -> None:
    command = [sys.executable, "-c", LOADED]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    parts = tuple(part.replace("/", ".") for part in sources.PARTS)
    assert [name for name in names if not f"{name}.".startswith(tuple(f"{part}." for part in parts))] == []
    suffixes = {file.suffix for part in sources.PARTS for file in (ROOT / part).rglob("*") if file.is_file()}
    assert suffixes - {".pyc", ".md"} <= set(sources.SUFFIXES), "no worker reads a page for people"


def test_what_is_imported_later_is_known_and_none_of_it_is_missing_where_a_worker_is_complete() -> None:
    """After the first call nothing of another version can come in."""
    found: set[str] = set()
    for path in (*(ROOT / "runner" / "risk").rglob("*.py"), *(ROOT / "runner" / "model").rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef):
                names = [node.module or "" for node in ast.walk(function) if isinstance(node, ast.ImportFrom)]
                found.update(name for name in names if name.startswith("runner."))
    assert found == {*worker.LATER, "runner.risk.rules.written"}, "the last is read before the first call"


def test_files_that_cannot_be_read_count_as_replaced(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "resources", lambda: tree / "resources")
    sources.at_start.cache_clear()
    try:
        sources.at_start()
        assert not sources.replaced()
        file = tree / "runner/risk/literals/outline.py"
        file.unlink()
        file.symlink_to(tree / "nowhere")
        assert sources.replaced()
    finally:
        sources.at_start.cache_clear()
