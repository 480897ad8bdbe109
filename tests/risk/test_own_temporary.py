"""What a program deletes is its own temporary file only where its path is surely one, or plainly below one."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL
IN_HOME = "import os, shutil, sys, tempfile\nd = tempfile.mkdtemp(dir=os.path.expanduser('~'))\n"
MADE = "import os, shutil, sys, tempfile\nd = tempfile.mkdtemp()\n"
AS_PATH = "import shutil, tempfile\nfrom pathlib import Path\nd = Path(tempfile.mkdtemp(dir=Path.home()))\n"
JS = "const fs = require('fs'), path = require('path'), os = require('os');\n"
ELSEWHERE = {
    "the folder of one": (P, IN_HOME + "shutil.rmtree(os.path.dirname(d))"),
    "the folder of one in /tmp": (P, MADE + "shutil.rmtree(os.path.dirname(d))"),
    "above one": (P, IN_HOME + "shutil.rmtree(os.path.join(d, '..', 'Documents'))"),
    "beside one": (P, AS_PATH + "shutil.rmtree(d.parent / 'Documents')"),
    "another name": (P, AS_PATH + "shutil.rmtree(d.with_name('Documents'))"),
    "a part that is not known": (P, MADE + "shutil.rmtree(os.path.join(d, sys.argv[1]))"),
    "a link in its place": (
        P,
        MADE + "os.rmdir(d)\nos.symlink(os.path.expanduser('~/Documents'), d)\n"
        "for n in os.listdir(d):\n    os.remove(os.path.join(d, n))",
    ),
    "above one in JavaScript": (
        J,
        JS + "const d = fs.mkdtempSync(path.join(os.homedir(), 'x-'));\n"
        "fs.rmSync(path.join(d, '..', 'Documents'), {recursive: true});",
    ),
    "above one in a script": (S, 'd=$(mktemp -d -p "$HOME"); rm -rf "$d/../Documents"'),
    "the folder of one in a script": (S, 'd=$(mktemp -d -p "$HOME"); rm -rf "$(dirname "$d")/Documents"'),
    "cut off in a script": (S, 'd=$(mktemp -d -p "$HOME"); rm -rf "${d%/*}/Documents"'),
    "the name of another one": (S, "d=$(mktemp -d); trap 'rm -rf \"$d\"' EXIT\nd=$HOME/Documents\n"),
    "a function at the end": (S, 'c() { rm -rf "$d"; }\nd=$(mktemp -d); trap c EXIT\nd=$HOME/Documents\n'),
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_what_leads_elsewhere_is_not_its_own(name: str) -> None:
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, *ELSEWHERE[name]))
    assert (found.attention or Level.LOW) >= Level.HIGH
    assert found.verdict.sentence != "Deletes its own temporary files."


OWN = [
    (P, MADE + "shutil.rmtree(d)"),
    (P, MADE + "shutil.rmtree(os.path.join(d, 'a', 'b'))"),
    (P, MADE + "for n in os.listdir(d):\n    os.remove(os.path.join(d, n))"),
    (P, "import os, tempfile\nf, name = tempfile.mkstemp(suffix='.txt')\nos.remove(name)"),
    (P, "import os, tempfile\nf = tempfile.NamedTemporaryFile(delete=False)\nos.unlink(f.name)"),
    (J, JS + "const d = fs.mkdtempSync(path.join(os.tmpdir(), 'x-'));\nfs.rmSync(d, {recursive: true});"),
    (S, 'd=$(mktemp -d)\ntrap \'rm -rf "$d"\' EXIT\necho hi > "$d/a"\n'),
    (S, 'd=$(mktemp -d /tmp/x.XXXXXX); rm -rf "$d/a" "$d"/*'),
]


@pytest.mark.parametrize(("language", "code"), OWN)
def test_its_own_files_are_no_reason_to_look(language: Language, code: str) -> None:
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    assert found.attention is None
    assert "its own temporary files" in found.verdict.sentence
