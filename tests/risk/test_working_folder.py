"""A relative path means what it means in the folder that the program stands in by then."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL
HOME = "import contextlib, os, shutil, subprocess\nhome = os.path.expanduser('~')\n"
JS = "const fs = require('fs'), {execSync, spawnSync} = require('child_process');\nconst home = process.env.HOME;\n"
TREE = "{recursive: true}"
OUTSIDE = {
    "chdir": (P, HOME + "os.chdir(home)\nshutil.rmtree('Documents')"),
    "chdir of what is in it": (P, HOME + "os.chdir(home)\nos.chdir('Documents')\nshutil.rmtree('.')"),
    "a context": (P, HOME + "with contextlib.chdir(home):\n    shutil.rmtree('Documents')"),
    "cwd of a program": (P, HOME + "subprocess.run(['rm', '-rf', 'Documents'], cwd=home)"),
    "cwd of a script": (P, HOME + "subprocess.run('rm -rf Documents', shell=True, cwd=home)"),
    "a folder for a while and back": (
        P,
        HOME + "os.chdir(home)\nhere = os.getcwd()\nos.chdir('/tmp')\nos.chdir(here)\nshutil.rmtree('Documents')",
    ),
    "a function before and after": (
        P,
        HOME + "def clean():\n    shutil.rmtree('Documents')\nclean()\nos.chdir(home)\nclean()",
    ),
    "a branch": (P, HOME + "if os.environ.get('X'):\n    os.chdir(home)\nshutil.rmtree('Documents')"),
    "chdir in JavaScript": (J, f"{JS}process.chdir(home);\nfs.rmSync('Documents', {TREE});"),
    "cwd in JavaScript": (J, f"{JS}execSync('rm -rf Documents', {{cwd: home}});"),
    "cwd of a list in JavaScript": (J, f"{JS}spawnSync('rm', ['-rf', 'Documents'], {{cwd: home}});"),
    "cd": (S, 'cd "$HOME"; rm -rf Documents'),
    "cd back": (S, 'cd "$HOME"; cd /tmp; cd -; rm -rf Documents'),
    "popd": (S, 'cd "$HOME"; pushd /tmp; popd; rm -rf Documents'),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_relative_path_is_one_of_the_folder_that_was_gone_to(name: str) -> None:
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, *OUTSIDE[name]))
    assert found.attention is Level.CRITICAL


HERE = [
    (P, HOME + "shutil.rmtree('Documents')\nos.chdir(home)"),
    (P, HOME + "with contextlib.chdir(home):\n    print(os.listdir('.'))\nshutil.rmtree('Documents')"),
    (P, HOME + "here = os.getcwd()\nos.chdir('/tmp')\nos.chdir(here)\nshutil.rmtree('Documents')"),
    (P, HOME + "subprocess.run(['ls'], cwd=home)\nshutil.rmtree('Documents')"),
    (P, HOME + "os.chdir('build')\nshutil.rmtree('Documents')"),
    (J, f"{JS}execSync('ls', {{cwd: home}});\nfs.rmSync('Documents', {TREE});"),
    (S, 'cd "$HOME"; cd -; rm -rf Documents'),
    (S, "pushd build; popd; rm -rf Documents"),
]


@pytest.mark.parametrize(("language", "code"), HERE)
def test_it_is_one_of_its_own_folder_before_and_afterwards(language: Language, code: str) -> None:
    assert assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code)).attention is None
