"""A deletion of what is not known is worth a look, of one file as of a folder, however the path came to be unknown."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL
GROUPS = """\
from collections import defaultdict
from pathlib import Path
groups = defaultdict(list)
for path in (Path.home() / "Pictures").rglob("*"):
    groups[path.suffix, path.stat().st_size // 1024].append(path)"""
"""How programs look for what there is twice."""


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (P, "import os, sys\nos.remove(sys.argv[1])"),
        (P, "import shutil\nfor line in open('list.txt'):\n    shutil.rmtree(line.strip())"),
        (P, "import os, re\nre.sub('.*', lambda found: os.remove(found.group()), input())"),
        (P, "def clean(paths):\n    for one in paths:\n        one.unlink()\nimport sys\nclean(sys.argv)"),
        (P, f"{GROUPS}\nfor files in groups.values():\n    for one in files[1:]:\n        one.unlink()"),
        (P, f"{GROUPS}\nfor files in groups.values():\n    files[1].rmdir()"),
        (J, "require('fs').unlinkSync(process.argv[2])"),
        (J, "process.on('uncaughtException', (path) => require('fs').rmSync(path, {recursive: true}))"),
        (S, 'rm -f "$1"'),
        (S, 'rm -rf "$TARGET"'),
    ],
)
def test_deleting_what_is_not_known_is_high(language: Language, code: str) -> None:
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    assert found.attention is Level.HIGH
    assert "Deletes" in found.verdict.sentence


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (P, "import os\nos.remove('a.txt')"),
        (P, "import glob, os\nfor path in glob.glob('build/*.o'):\n    os.remove(path)"),
        (
            P,
            "from multiprocessing import shared_memory\nm = shared_memory.SharedMemory(None, True, 9)\nm.unlink()",
        ),
        (P, "import tempfile, shutil\nd = tempfile.mkdtemp()\nshutil.rmtree(d)"),
        (J, "const fs = require('fs');\nfor (const f of fs.readdirSync('out')) fs.unlinkSync('out/' + f);"),
        (J, "test('it', () => { expect(require('fs').unlinkSync).toHaveBeenCalledTimes(1); });"),
        (S, 'd=$(mktemp -d); rm -rf "$d"'),
        (S, 'for f in build/*.o; do rm -f "$f"; done'),
    ],
)
def test_deleting_what_is_known_is_not(language: Language, code: str) -> None:
    assert assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code)).attention is None
