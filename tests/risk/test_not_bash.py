"""Another language in a shell script: said where Bash stops, and only there; bash itself is asked whether it does."""

from __future__ import annotations

import subprocess

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess
from runner.risk.shell.syntax import parse, stops_at

OTHER = [
    "npm test; fs.rmSync('a')",
    "npm ci\nfs.rmSync('a')\nls",
    "print('a')",
    "print(1)",
    'console.log("x");',
    "foo(bar, baz)",
    "f (a)",
    "f($x) && ls",
    "f(`ls`) > x",
    "a | b('c')",
    "! f(a)",
    "exit(0)",
    "if true; then print('a'); fi",
    "for i in 1; do print(i); done",
    "while true; do f(a); done",
    "case a in a) f('b');; esac",
    "f() { print('x'); }",
    "{ f (a); }",
    "(f(a))",
    "ls || exit 1\nprint('a')",
]
BASH = [
    "f() (ls)",
    "f ( ) ( ls )",
    "f()\n(ls)",
    "function f (ls)",
    "time (ls)",
    "time -p (ls)",
    "coproc (ls)",
    "coproc N (ls)",
    "! (ls)",
    "ls\n(ls)",
    "ls &\n(ls)",
    "ls |\n (ls)",
    "ls && (ls) || (ls)",
    "if (ls); then (ls); fi",
    "while (ls); do (ls); done",
    "a=(b c)",
    "declare -a x=(1)",
    "case a in f) ls;; (g) ls;; esac",
    "echo $(f) <(ls) >(cat)",
    "[[ a =~ (b) ]]",
    "x=$((1+(2)))",
    "echo 'f(a)'",
    "# f(a)\nls",
    "cat <<E\nprint('a')\nE",
    "cat > a <<'E' && (ls)\nfs.rm('a')\nE",
    "f\\(a\\)",
    "python3 -c \"print('a')\"",
]
CANNOT_TELL = [
    "shopt -s expand_aliases\nalias f='function g'\nf (ls)",
    "exit\nprint('a')",
    "{ ls; exit 0; }\nprint('a')",
    "shopt -s extglob\nls !(a)",
]


def _refuses(script: str) -> bool:
    return subprocess.run(["bash", "-n"], input=script.encode(), capture_output=True, check=False).returncode != 0


@pytest.mark.parametrize("script", OTHER)
def test_where_bash_stops_is_said_at_its_line(script: str) -> None:
    found = assess(Request("r", "a", Tool.CODE_EXECUTE, 0.0, Language.SHELL, script))
    at = next(number for number, line in enumerate(script.split("\n"), 1) if "(" in line)
    assert [one.span.line for one in found.findings if one.id == "noted.stops"] == [at]
    assert found.level >= Level.MEDIUM
    assert _refuses(script)


@pytest.mark.parametrize("script", BASH)
def test_nothing_is_said_of_what_bash_takes(script: str) -> None:
    assert stops_at(parse(script)) is None
    assert not _refuses(script)


@pytest.mark.parametrize("script", CANNOT_TELL)
def test_nothing_is_said_where_bash_may_read_on_or_need_not_read_it(script: str) -> None:
    assert stops_at(parse(script)) is None


def test_what_follows_counts_as_much_as_before() -> None:
    found = assess(Request("r", "a", Tool.CODE_EXECUTE, 0.0, Language.SHELL, "print('a')\nrm -rf /\n"))
    assert found.level == Level.CRITICAL
    assert "Deletes a whole system" in found.verdict.sentence
