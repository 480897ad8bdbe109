"""Code made to take long, and numbers made to raise: there is an assessment all the same, and soon."""

from __future__ import annotations

import subprocess
import sys

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess
from tests.patience import HANGS

SIZE = 40_000
ASSESSES = """
import sys
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess
code = sys.stdin.read()
print(assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language(sys.argv[1]), code)).level.name)
"""
COSTLY = {
    "variables in a name": ("shell", "aa=x\n" + "$aa" * 40 + "-"),
    "many variables in a name": ("shell", "aa=x\n" + "$aa" * (SIZE // 3) + "-"),
    "awk": ("shell", "echo 1 | awk '{print " + " " * SIZE + "x'"),
    "sed": ("shell", "echo 1 | sed 's" + "a" * SIZE + "x'"),
    "styled letters": ("python", "# \uff41\uff42" + "a" * SIZE),
    "many styled letters": ("python", "# " + "\uff41\uff42a " * SIZE),
    "one letter that looks alike": ("python", "x = '" + "0123456789abcdef" * SIZE + "\u00e9'"),
    "words of another script": ("python", "# " + "\u4e2d" * SIZE),
    "joiners": ("python", "# " + "\u200d" * SIZE),
    "empty lines": ("python", "def f(:\n" + "\n" * SIZE),
    "spaces behind print": ("python", "print x" + " " * SIZE + "y"),
    "a format of zeros": ("python", 'x = "%' + "0" * SIZE + '" % 1'),
    "braces": ("shell", "echo a{" + "," * SIZE),
    "braces that become many": ("shell", "echo {" + "," * SIZE + "}" + "a" * SIZE),
    "pipes": ("shell", "a|" * SIZE),
    "brackets": ("shell", "a[" * (SIZE // 4)),
    "aliases": (
        "shell",
        "shopt -s expand_aliases\n" + "".join(f"alias a{n}='a{n + 1} b'\n" for n in range(1357)) + "a0",
    ),
}


@pytest.mark.parametrize("name", COSTLY)
def test_code_made_to_take_long_is_assessed(name: str) -> None:
    language, code = COSTLY[name]
    done = subprocess.run(
        [sys.executable, "-c", ASSESSES, language],
        input=code,
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS,
    )
    assert done.stdout.strip() in ("HIGH", "CRITICAL"), done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "range(99999999999999999999)",
        "for i in range(99999999999999999999): exec(chr(i))",
        "x=[1]\nx.insert(99999999999999999999, 2)",
        "x=[1]\nx.insert(-1e999, 2)",
        "'abc'.translate({97: -1})",
        "'abc'.translate({97: 99999999999999999999})",
        "'abc'[1e999:]",
        "'{\u00b2}'.format(1)",
        "'{" + "9" * 5000 + "}'.format(1)",
    ],
)
def test_numbers_out_of_bounds_in_python(code: str) -> None:
    assert assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, code)).level >= Level.HIGH


@pytest.mark.parametrize(
    "code", ["'abc'.slice(1e999)", "'abc'.slice(-1e400, 1e400)", "'a'.substr(-1e400)", "parseInt('a', 1e999)"]
)
def test_numbers_out_of_bounds_in_javascript(code: str) -> None:
    assert assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.JAVASCRIPT, code)).level >= Level.HIGH


@pytest.mark.parametrize(
    "code",
    [
        "x=(a b); echo ${x[--1]}",
        "x=abc; echo ${x:" + "9" * 5000 + "}",
        "echo ${" + "9" * 5000 + "}",
        "echo a b | awk '{print $" + "9" * 5000 + "}'",
    ],
)
def test_numbers_out_of_bounds_in_shell(code: str) -> None:
    assert assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, code)).level >= Level.HIGH


def test_a_pipeline_too_long_to_read_is_critical() -> None:
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.SHELL, "a|" * 40_000 + "a"))
    assert (found.level, [finding.id for finding in found.findings]) == (Level.CRITICAL, ["risk.too-large"])


RUNS_ITSELF = [
    (Language.PYTHON, "import timeit\ns = 'import timeit; timeit.timeit(s)'\ntimeit.timeit(s)"),
    (Language.SHELL, 'PAGER=\'PAGER="$PAGER" git log\'\nPAGER="$PAGER" git log'),
    (Language.SHELL, 'EDITOR=\'export EDITOR="$EDITOR"\'; export EDITOR="$EDITOR"'),
]


@pytest.mark.parametrize(("language", "code"), RUNS_ITSELF, ids=["timer", "pager", "editor"])
def test_a_text_that_runs_itself_is_not_followed_for_ever(language: Language, code: str) -> None:
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    assert "hidden.too-deep" in {one.id for one in found.findings}
