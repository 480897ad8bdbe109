"""What ordinary programs did and reading made too little of, and what it made too much of."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL


def attention(language: Language, code: str) -> Level:
    said = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    return said.attention or Level.LOW


BY_NAME_ALONE = [
    "def run(*args, check=True):\n    subprocess.run(list(args), check=check)\n",
    "def run(*args, check=True, cwd=None):\n    subprocess.run([*args], cwd=cwd)\n",
    "class Tool:\n    def run(self, *args, check):\n        subprocess.run(args)\nrun = Tool().run\n",
    "def run(first, *rest, quiet=False):\n    subprocess.run([first, *rest])\n",
]


@pytest.mark.parametrize("wrapper", BY_NAME_ALONE)
def test_a_parameter_that_is_given_by_name_takes_none_of_the_others(wrapper: str) -> None:
    code = f"import os, subprocess\n{wrapper}run('rm', '-rf', os.path.expanduser('~/Documents'))\n"
    assert attention(P, code) is Level.CRITICAL


def test_a_parameter_that_is_given_by_name_is_known() -> None:
    code = "import shutil, os\ndef f(*args, where='build'):\n    shutil.rmtree(where)\nf(1, where=os.path.expanduser('~'))\n"
    assert attention(P, code) is Level.CRITICAL
    assert attention(P, "import shutil\ndef f(*args, where='build'):\n    shutil.rmtree(where)\nf('/')\n") is Level.LOW
