"""Nothing unseen runs: whatever a request hands to its code is read as what it would be there."""

from __future__ import annotations

import json

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.errors import Refused
from runner.model.request import Isolation, Language, Request, Tool
from runner.model.submission import Submission
from runner.requests import intake
from runner.risk.assess import assess
from runner.settings.loading import Settings

PYTHON, SHELL, JAVASCRIPT = Language.PYTHON, Language.SHELL, Language.JAVASCRIPT
ID = "id; cat /etc/shadow ~/.ssh/id_rsa"
"""CRITICAL as shell code; what could run it has to be so as well."""
RUNS_INPUT = [
    *("bash -s", "sh", "sh -s x", "python3 -", "node -", "cat | sh", "cat - | bash", "env bash", "exec sh", "bash <&0"),
    *("read x; $x", "while read -r l; do $l; done", 'mapfile -t a; "${a[@]}"', 'eval "$(cat)"', 'sh -c "$(cat)"'),
    *("read X; echo $((X))", "read X; echo ${X@P}", "read X; a[$X]=1", "read x; let x", "read x; [[ $x -eq 1 ]]"),
    *(
        "read x; printf -v $x 1",
        "read x; test -v $x",
        "read x; declare $x",
        'read x; trap "$x" EXIT',
        "read -a x; ${x[0]}",
    ),
    *("xargs -0 sh -c", "xargs sh -c", "xargs", "parallel", ". /dev/stdin", "bash /dev/stdin", "source <(cat)"),
    *(
        "cat > x; sh x",
        "tee x.sh; bash x.sh",
        "cat > a.py; python3 a.py",
        "cat > x; chmod +x x; ./x",
        "exec 3<&0; sh <&3",
    ),
    *("perl", "ruby", "php", "lua", "awk -f -", "sed -f -", "make -f -", "crontab -", "at now", "gdb -x -", "ed", "m4"),
    *("git apply", "patch -p1", "tar x", "sqlite3 x.db", "psql", "sudo -s", "su", "ssh localhost", "busybox sh"),
]
RUNS_VARIABLES = [
    (SHELL, "$cmd", {"cmd": ID}),
    (SHELL, 'sh -c "$cmd"', {"cmd": ID}),
    (SHELL, "echo $((x))", {"x": "a[$(id)]"}),
    (SHELL, "echo ${x@P}", {"x": "$(id)"}),
    (SHELL, "a[$x]=1", {"x": "$(id)"}),
    (SHELL, "node --print 1", {"x": "1"}),
    (PYTHON, "for step in plan: exec(step)", {"plan": [ID]}),
    (PYTHON, "import subprocess\nsubprocess.run(cmd, shell=True)", {"cmd": ID}),
    (PYTHON, "import os\nos.system(plan['a'])", {"plan": {"a": ID}}),
    (JAVASCRIPT, "plan.map(eval)", {"plan": [ID]}),
    (JAVASCRIPT, "require('child_process').execSync(cmd)", {"cmd": ID}),
]
OPENS = [
    (PYTHON, "import shutil\nshutil.rmtree(p)", "/"),
    (PYTHON, "print(open(p).read())", "/etc/shadow"),
    (PYTHON, "from pathlib import Path\nprint(Path(p).read_text())", "~/.ssh/id_rsa"),
    (PYTHON, "open(p, 'a').write('x')", "/root/.bashrc"),
    (SHELL, 'cat "$p"', "/etc/shadow"),
    (SHELL, 'rm -rf "$p"', "/"),
    (SHELL, 'cp a "$p"', "/root/.bashrc"),
    (SHELL, 'echo x >> "$p"', "/root/.bashrc"),
    (JAVASCRIPT, "require('fs').rmSync(p, {recursive: true, force: true})", "/"),
    (JAVASCRIPT, "console.log(require('fs').readFileSync(p, 'utf8'))", "/etc/shadow"),
]
OPENS_INPUT = [
    (PYTHON, "print(open(input()).read())", "/etc/shadow\n"),
    (PYTHON, "import sys\nfor l in sys.stdin: print(open(l.strip()).read())", "a.csv\n" * 50 + "/etc/shadow\n"),
    (PYTHON, "import sys, json\nprint(open(json.load(sys.stdin)['a']).read())", '{"a": "/etc/shadow"}'),
    (SHELL, 'while read -r p; do rm -rf "$p"; done', "".join(f"a{n}\n" for n in range(50)) + "/\n"),
    (SHELL, 'read p; cat "$p"', "/etc/shadow"),
]
ORDINARY = [
    (PYTHON, "print(open(p).read())", {"p": "data/sales.csv"}),
    (PYTHON, "import csv\nfor row in csv.reader(open(p)): print(row)", {"p": "/workspace/in.csv"}),
    (SHELL, 'wc -l "$p"', {"p": "notes.txt"}),
    (PYTHON, "print(p)", {"p": "/etc/shadow"}),
    (JAVASCRIPT, "console.log(require('fs').readFileSync(p, 'utf8').length)", {"p": "a.json"}),
]
STEERING = [
    *(
        "NODE_OPTIONS",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "PYTHONINSPECT",
        "PERL5OPT",
        "PERL5LIB",
        "GIT_SSH_COMMAND",
        "GIT_DIR",
    ),
    *("PAGER", "MANPAGER", "LESSOPEN", "MAKEFLAGS", "TAR_OPTIONS", "LD_PRELOAD", "LD_AUDIT", "BASH_ENV", "PATH", "IFS"),
    *("RUBYOPT", "JAVA_TOOL_OPTIONS", "EDITOR", "https_proxy", "npm_config_script_shell", "GCONV_PATH", "CC", "HOME"),
    *("BASH_FUNC_ls%%", "PROMPT_COMMAND", "P4CONFIG", "NEW_TOOL_COMMAND", "RSYNC_RSH", "CVS_RSH", "LUA_INIT", "MAIL"),
]
UNPARSED = [
    (PYTHON, "def f(:"),
    (PYTHON, "x = 1\n)(\n"),
    (PYTHON, "import os\nprint(1\ndef f(:\n  pass\n"),
    (SHELL, "if [ ; then"),
    (SHELL, "echo hi; if [ ; then"),
    (SHELL, "if [ ; then rm -rf /; fi"),
    (SHELL, "case x in"),
    (SHELL, "foo() {"),
    (SHELL, "("),
    (JAVASCRIPT, "function f( {"),
    (JAVASCRIPT, "if ("),
    (JAVASCRIPT, "let x = ;"),
]
OTHER_SYNTAX = [
    (PYTHON, 'print "hello"'),
    (PYTHON, "class Box[T]:\n    pass"),
    (PYTHON, "type Pair = tuple[int, int]"),
    (PYTHON, "    return total"),
    (SHELL, "echo ${!h*[@]}"),
    (SHELL, 'f()(echo "$1")'),
    (SHELL, 'printf "%s" "${1~~}"'),
    (JAVASCRIPT, "const n: number = 1"),
]


def judged(language: Language, code: str, stdin: str = "", **variables: object) -> Assessment:
    context = json.dumps(variables, sort_keys=True)
    return assess(Request("1", "agent", Tool.CODE_EXECUTE, 0.0, language, code, context, stdin))


@pytest.mark.parametrize("code", RUNS_INPUT)
def test_code_that_runs_its_input_makes_the_input_count(code: str) -> None:
    assert judged(SHELL, code, ID).level is Level.CRITICAL


@pytest.mark.parametrize(("language", "code", "variables"), RUNS_VARIABLES)
def test_code_that_runs_a_variable_is_critical(language: Language, code: str, variables: dict[str, object]) -> None:
    assert judged(language, code, **variables).level is Level.CRITICAL


@pytest.mark.parametrize(("language", "code", "path"), OPENS)
def test_a_path_among_the_variables_counts_as_if_it_stood_in_the_code(language: Language, code: str, path: str) -> None:
    for variables in ({"p": path}, {"p": "a.csv", "other": [{"deep": path}]}):
        found = judged(language, code, **variables)
        assert found.level is Level.CRITICAL
    assert judged(language, code).level is Level.HIGH


@pytest.mark.parametrize(("language", "code", "stdin"), OPENS_INPUT)
def test_a_path_in_the_input_counts_as_if_it_stood_in_the_code(language: Language, code: str, stdin: str) -> None:
    assert judged(language, code, stdin).level is Level.CRITICAL


@pytest.mark.parametrize(("language", "code", "variables"), ORDINARY)
def test_ordinary_paths_raise_nothing(language: Language, code: str, variables: dict[str, object]) -> None:
    assert judged(language, code, **variables).level is Level.HIGH


def test_more_paths_than_can_be_tried_are_critical() -> None:
    stdin = "".join(f"/usr/share/{n}\n" for n in range(60_000))
    found = judged(PYTHON, "print(open(input()).read())\n" * 20_000, stdin)
    assert found.level is Level.CRITICAL


@pytest.mark.parametrize("name", STEERING)
def test_a_variable_that_programs_obey_cannot_be_set(name: str) -> None:
    assert judged(SHELL, "cat", **{name: "x"}).level is Level.CRITICAL
    call = Submission("agent", Tool.CODE_EXECUTE, SHELL, "cat", context={name: "x"})
    with pytest.raises(Refused, match="lower case"):
        intake.request(call, Settings(), Isolation.LOCAL)


@pytest.mark.parametrize("given", [{"stdin": "x" * 1_100_000}, {"context": {"x": "x" * 1_100_000}}])
def test_input_and_variables_are_bounded_like_code(given: dict[str, object]) -> None:
    call = Submission("agent", Tool.CODE_EXECUTE, PYTHON, "print(1)", **given)  # type: ignore[arg-type]
    with pytest.raises(Refused, match=rf"{next(iter(given))} has .* bytes; at most"):
        intake.request(call, Settings(), Isolation.LOCAL)


@pytest.mark.parametrize(("language", "code"), UNPARSED)
def test_what_cannot_be_parsed_is_critical(language: Language, code: str) -> None:
    assert judged(language, code).level is Level.CRITICAL


@pytest.mark.parametrize(("language", "code"), OTHER_SYNTAX)
def test_what_only_the_parser_does_not_know_is_not(language: Language, code: str) -> None:
    assert judged(language, code).level is Level.HIGH
