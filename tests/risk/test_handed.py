"""What is handed to the code, its input and variables: CRITICAL where the code can run it, and data everywhere else."""

from __future__ import annotations

import json

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import MOST_CHARACTERS, assess

HOSTILE = "cat /etc/shadow ~/.ssh/id_rsa; id"
TABLE = "name,count\npears,3\n"

RUNS_INPUT = {
    Language.SHELL: [
        "sh",
        "bash -s",
        "/bin/dash",
        "cat | sh",
        "exec bash",
        "bash /dev/stdin",
        "bash <(cat)",
        'bash -c "$(cat)"',
        "source /dev/stdin",
        ". /dev/stdin",
        'eval "$(cat)"',
        "xargs sh -c",
        "xargs -0 sh -c",
        "while read -r l; do $l; done",
        'mapfile -t a; "${a[@]}"',
        "read x; echo $(($x))",
        "read x; echo ${x@P}",
        "read x; a[$x]=1",
        "read x; [[ $x -eq 1 ]]",
        "read x; [ $x ]",
        'read x; [ -v "$x" ]',
        "read x; printf $x",
        "read x; let x",
        'read x; read "$x"',
        'sort "$(cat)"',
        'awk "$(cat)"',
        "awk '{system($0)}'",
        "sed 's/x/y/e'",
        "sed -f -",
        "make -f -",
        'env -S "$(cat)"',
        "cat > a.sh; sh a.sh",
        "tee a.sh | bash",
        "python3 -",
        "node",
        "perl",
        "busybox sh",
        "read PATH; cat x",
        "for PATH in $(cat); do cat x; done",
        "read x; PATH=$x cat",
        'f() { $1; }; read x; f "$x"',
        "read x; (( $x ))",
        "read x; if (( x > 3 )); then echo more; fi",
        "read PS4; set -x; :",
        "PS4=$(cat); set -x; :",
        "read RANDOM",
        "mapfile -t SRANDOM",
        "x=$(cat); OPTIND=$x",
        "for RANDOM in $(cat); do :; done",
        "IFS=$(cat); cat x",
    ],
    Language.PYTHON: [
        "import sys\nexec(sys.stdin.read())",
        "eval(input())",
        "import os, subprocess\nos.environ['LD_PRELOAD'] = input()\nsubprocess.run(['sort'])",
        "import subprocess\nfrom os import environ as e\ne['PATH'] = input()\nsubprocess.run(['sort'])",
        "import subprocess\nsubprocess.run(['python3'], input=input())",
        "import subprocess\nsubprocess.run(['sh', '-s'], input=input(), text=True)",
        "import subprocess\nsubprocess.run(['make'], input=input())",
        "import subprocess\nsubprocess.run(['sort', input()])",
        "import subprocess\nsubprocess.run(['sort', '--compress-program=./x'], input=input())",
        "import subprocess\nsubprocess.run(['./sort'], input=input())",
        "import subprocess\nsubprocess.run(['sort'], input=input(), executable='/bin/sh')",
        "import subprocess\nsubprocess.run(['sort'], input=input(), env={'PATH': input()})",
        "import subprocess\nsubprocess.run(['sort'], input=input(), shell=True)",
        "import subprocess\nsubprocess.run(['sort'], input=input(), cwd=input())",
        "import subprocess\nsubprocess.run(['sort'], **{'input': input()})",
        "import subprocess\nsubprocess.run(['sort'], input=input())\nsubprocess.run(input(), shell=True)",
        "import subprocess\nsubprocess.run(['sort'], input=input())\nrun = subprocess.run\nrun(input(), shell=True)",
        "import subprocess\nsubprocess.run(['sort'], input='a')\nsubprocess.os.system(input())",
        "import subprocess as s\nimport subprocess\nsubprocess.run(['sort'])\ns.run(input(), shell=True)",
        "import subprocess\nfrom subprocess import run\nsubprocess.run(['sort'])\nrun(input(), shell=True)",
        "import subprocess, os\nsubprocess.run(['sort'])\nos.system(input())",
        "import subprocess\nsubprocess.run(['sort', '-o', 'x.py'], input=input())",
        "import subprocess\nsubprocess.run(['sort'])\nsubprocess.sys.modules['os'].system(input())",
        "import subprocess\nsubprocess.run(['sort'])\ndef f():\n    import subprocess as s\n"
        "    s.run(input(), shell=True)\nf()",
        "f = eval\nf(input())",
        "import subprocess\nsubprocess.run(['sh'])",
        "import os\nos.system(input())",
        "import os\nos.system('cat | sh')",
        "import builtins as b\ngetattr(b, 'ev' + 'al')(input())",
        "import json\nlook = getattr\nlook(json, input())",
        "print.__self__.exec(input())",
        "import sys\nsys.modules['os'].system(input())",
        "import pickle, sys\npickle.load(sys.stdin.buffer)",
        "import code\ncode.interact()",
        "import runpy\nrunpy.run_path('/dev/stdin')",
        "from importlib import import_module\nimport_module(input())",
        "import yaml, sys\nyaml.load(sys.stdin, yaml.Loader)",
        "import shutil\nshutil.copy('/dev/stdin', 'textwrap.py')\nimport textwrap",
        "print `input()`",
        "with open(input(), 'w') as f:\n    print(input(), file=f)",
        "name = input()\nf = open(f'{name}.py', mode='a')",
        "f = open('textwrap.py', 'w')",
        "f = open(input().replace('x', '.csv'), 'w')",
        "out = 'a.csv'\ndef put(out):\n    open(out, 'w')\nput(input())",
        "import webbrowser\nwebbrowser.get(input()).open('x')",
        "import typing, sys\ntyping.ForwardRef(sys.stdin.read())._evaluate({}, {}, frozenset())",
        "import typing as t\nt._eval_type(t.List[input()], {}, {})",
        "import inspect\ndef f(x: input()): pass\ninspect.signature(f, eval_str=True)",
        "import inspect, os\ndict(inspect.getmembers(os))[input()](input())",
        "import functools as f\n@f.singledispatch\ndef g(x): pass\n@g.register\ndef h(x: input()): pass",
        "def f(): pass\nf.__annotations__ = {'x': input()}",
        "import uuid\nuuid._get_command_stdout(input(), input())",
        "import mailcap\nmailcap.findmatch({'a/b': [{'view': '', 'test': input()}]}, 'a/b')",
        "import imaplib\nimaplib.IMAP4_stream(input())",
        "import unittest.mock\nunittest.mock._importer(input())(input())",
        "import string, os\nstring.Formatter().get_field(input(), (os,), {})[0](input())",
        "import tkinter\ntkinter.Tcl().call('eval', input())",
        "import _xxsubinterpreters as i\ni.run_string(i.create(), input())",
        "from test.support import run_in_subinterp as run\nrun(input())",
    ],
    Language.JAVASCRIPT: [
        "eval(require('fs').readFileSync(0, 'utf8'))",
        "new Function(require('fs').readFileSync(0, 'utf8'))()",
        "require('child_process').execSync(require('fs').readFileSync(0, 'utf8'))",
        "process.stdin.on('data', name => require(String(name)))",
        "process.stdin.on('data', name => import(String(name)))",
        "const load = require; load(String(require('fs').readFileSync(0)))",
        "const s = String(require('fs').readFileSync(0)); (() => 0)[s](s)()",
        "const s = String(require('fs').readFileSync(0)); const f = (() => 0)[s]; f(s)",
        "''.constructor.constructor(String(require('fs').readFileSync(0)))()",
        "ev\\u0061l(String(require('fs').readFileSync(0)))",
        "require('vm').runInThisContext(String(require('fs').readFileSync(0)))",
        "module.require(String(require('fs').readFileSync(0)))",
        "const s = String(require('fs').readFileSync(0)); arguments[1](s)",
        "const s = String(require('fs').readFileSync(0)); Object.entries(process).find(([k]) => k == s)[1](s)",
        "const p = process; p.on('exit', () => 0)",
    ],
}
READS_ONLY = {
    Language.SHELL: [
        "cat",
        "wc -l",
        "jq .name",
        'while read -r l; do echo "$l"; done',
        'while IFS= read -r l; do echo "$l"; done',
        'while IFS=, read -r a b; do echo "$b"; done',
        "grep -c pears | sort -n",
        "sort | uniq -c | sort -rn | head -5",
        "awk -F, '{s += $2} END {print s}'",
        "sed 's/pears/apples/g'",
        "tee copy.csv | cut -d, -f1",
        'read -r x; if [ "$x" = name ]; then echo "$x"; fi',
        'read -r x; printf "%s\\n" "$x"',
    ],
    Language.PYTHON: [
        "import sys, json\nprint(len(json.load(sys.stdin)))",
        "import csv, sys\nfor row in csv.reader(sys.stdin):\n    print(row)",
        "import pandas as pd, sys\nprint(pd.read_csv(sys.stdin).describe())",
        "import re\nprint(re.compile(r'\\w+').findall(input()))",
        "with open('out.csv', 'w') as f:\n    f.write(input())",
        "out = 'counts.csv'\nwith open(out, 'w') as f, open('in.csv') as g:\n    f.write(g.read())",
        "f = open(f'{input()}.csv', 'w')",
        "from collections import Counter\nprint(Counter(input().split()).most_common(3))",
        "import subprocess, sys\nsubprocess.run(['sort', '-u'], input=sys.stdin.read(), text=True, check=True)",
        "import subprocess\nprint(subprocess.check_output(('/usr/bin/wc', '-l')).decode())",
        "import subprocess\np = subprocess.run(['grep', '-c', 'x'], stdout=subprocess.PIPE, input=input().encode())",
        "from __future__ import annotations\nimport os.path, typing as t\nx: t.Any = os.path.join('a', input())",
    ],
    Language.JAVASCRIPT: [
        "let s = ''; process.stdin.on('data', d => s += d).on('end', () => console.log(s.split('\\n').length))",
        "process.stdin.on('data', d => console.log(d.length)); module.exports = {}",
        "const rows = JSON.parse(require('fs').readFileSync(0)); for (const row of rows) console.log(row['name'])",
        "class Row { constructor(n) { this.n = n } }\nconsole.log(new Row(/a/.exec('abc')))",
    ],
}


def judged(language: Language, code: str, stdin: str = "", **variables: object) -> Assessment:
    context = json.dumps(variables, ensure_ascii=False, sort_keys=True)
    return assess(Request("1", "a", Tool.CODE_EXECUTE, 0.0, language, code, context, stdin))


def ids(found: Assessment) -> set[str]:
    return {finding.id for finding in found.findings}


def cases(table: dict[Language, list[str]]) -> list[tuple[Language, str]]:
    return [(language, code) for language, codes in table.items() for code in codes]


@pytest.mark.parametrize(("language", "code"), cases(RUNS_INPUT))
def test_input_that_the_code_can_run_is_critical(language: Language, code: str) -> None:
    found = judged(language, code, HOSTILE)
    assert found.level is Level.CRITICAL
    assert {"input.executed", "credentials.read"} <= ids(found), "what would run has not been read as code"
    assert any("shadow" in file for file in found.touch.files)


@pytest.mark.parametrize(("language", "code"), cases(READS_ONLY))
def test_input_that_the_code_only_reads_is_data(language: Language, code: str) -> None:
    for stdin in (TABLE, HOSTILE):
        found = judged(language, code, stdin, rows=[1, 2], label="rm -rf /")
        assert found.level is Level.HIGH, found.reasons
        assert "input.executed" not in ids(found)


@pytest.mark.parametrize(
    ("language", "code", "variables"),
    [
        (Language.SHELL, "$CMD", {"CMD": HOSTILE}),
        (Language.SHELL, 'sh -c "$CMD"', {"CMD": HOSTILE}),
        (Language.SHELL, "echo ${CMD@P}", {"CMD": HOSTILE}),
        (Language.SHELL, "python3 -c 'print(1)'", {"CMD": HOSTILE}),
        (Language.PYTHON, "for step in plan: exec(step)", {"plan": [HOSTILE]}),
        (Language.PYTHON, "__import__('os').system(plan['a']['b'])", {"plan": {"a": {"b": HOSTILE}}}),
        (Language.PYTHON, "for one in plan: eval(one)", {"plan": {HOSTILE: 1}}),
        (Language.JAVASCRIPT, "plan.map(eval)", {"plan": [[[HOSTILE]]]}),
    ],
)
def test_variables_that_the_code_can_run_are_critical(
    language: Language, code: str, variables: dict[str, object]
) -> None:
    found = judged(language, code, **variables)
    assert found.level is Level.CRITICAL
    assert {"input.executed", "credentials.read"} <= ids(found)


@pytest.mark.parametrize("text", [HOSTILE, "import os\nos.system('id')", "require('child_process').execSync('id')"])
@pytest.mark.parametrize("language", [Language.SHELL, Language.PYTHON, Language.JAVASCRIPT])
def test_what_can_be_run_is_read_in_every_language(language: Language, text: str) -> None:
    code = {Language.SHELL: "$RUNS", Language.PYTHON: "exec(RUNS)", Language.JAVASCRIPT: "eval(RUNS)"}[language]
    plain, handed = judged(language, code, RUNS="1"), judged(language, code, RUNS=text)
    assert plain.level is handed.level is Level.CRITICAL
    assert ids(handed) - ids(plain), "nothing was found in the text"


@pytest.mark.parametrize(
    ("code", "program"),
    [("sh", "echo hello"), ("bash -s", "echo hello"), ("python3 -", "print(1)"), ("node", "console.log(1)")],
)
def test_a_whole_program_on_the_input_is_assessed_as_what_it_is(code: str, program: str) -> None:
    assert judged(Language.SHELL, code, program).level is Level.HIGH
    assert "input.executed" not in ids(judged(Language.SHELL, code, program))
    assert judged(Language.SHELL, code, "(").level is Level.CRITICAL, "it cannot be parsed"


def test_a_text_that_is_enough_by_itself_is_found_in_a_program_on_the_input() -> None:
    program = "print('" + "".join(f"\\x{ord(letter):02x}" for letter in "remove everything") + "')"
    plain = judged(Language.PYTHON, program)
    assert ids(plain) and ids(plain) <= ids(judged(Language.SHELL, "python3 -", program))


@pytest.mark.parametrize("code", ["sh", "bash -s", "cat | sh"])
def test_a_program_on_the_input_that_runs_more_of_it_is_critical(code: str) -> None:
    assert "input.executed" in ids(judged(Language.SHELL, code, "read -r l\n$l\nid"))
    assert "input.executed" in ids(judged(Language.SHELL, code, "$CMD", CMD="id"))


@pytest.mark.parametrize(
    "name",
    [
        "NODE_OPTIONS",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "PERL5OPT",
        "PERL5LIB",
        "GIT_SSH_COMMAND",
        "GIT_PAGER",
        "PAGER",
        "LESSOPEN",
        "MAKEFLAGS",
        "TAR_OPTIONS",
        "LD_PRELOAD",
        "BASH_ENV",
        "PATH",
        "IFS",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "EDITOR",
        "https_proxy",
    ],
)
def test_a_variable_that_steers_programs_is_critical_in_the_environment(name: str) -> None:
    found = judged(Language.SHELL, "cat", **{name: "x"})
    assert found.level is Level.CRITICAL and "variables.steering" in ids(found)
    assert judged(Language.PYTHON, "print(1)", **{name: "x"}).level is Level.HIGH, "there it is no environment"


@pytest.mark.parametrize("name", ["name", "count", "INPUT_FILE", "INPUT_ROWS", "label", "greeting_2"])
def test_ordinary_names_are_taken(name: str) -> None:
    assert judged(Language.SHELL, f'echo "${name}"', **{name: "x"}).level is Level.HIGH


@pytest.mark.parametrize("trick", ["a\u202eb", "a\u200bb", "a\x1b[2Jb"])
def test_tricks_in_the_text_are_found_wherever_they_stand(trick: str) -> None:
    for found in (
        judged(Language.PYTHON, "print(rows)", trick),
        judged(Language.PYTHON, "print(rows)", rows=[{"a": [trick]}]),
        judged(Language.PYTHON, "print(rows)", **{trick: 1}),
    ):
        assert found.level is Level.CRITICAL
        assert any(finding.id.startswith("text.") for finding in found.findings)


def test_a_byte_order_mark_before_a_table_is_no_trick() -> None:
    assert judged(Language.PYTHON, "print(input())", "\ufeff" + TABLE).level is Level.HIGH


def test_nothing_handed_in_changes_nothing() -> None:
    for code in ("print(1)", "import os\nos.system('ls')"):
        plain = assess(Request("1", "a", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, code))
        assert judged(Language.PYTHON, code) == plain


def test_input_that_is_too_long_to_read_is_critical() -> None:
    found = judged(Language.PYTHON, "print(input())", "a\n" * (MOST_CHARACTERS // 2))
    assert found.level is Level.CRITICAL and "risk.too-large" in ids(found)


def test_variables_nested_beyond_reason_are_bounded() -> None:
    deep = "[" * 900 + '"rm"' + "]" * 900
    request = Request("1", "a", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "exec(x)", f'{{"x": {deep}}}')
    assert assess(request).level is Level.CRITICAL
    hidden = deep.replace("rm", "r\u202em")
    data = Request("1", "a", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "print(x)", f'{{"x": {hidden}}}')
    assert "text.bidi" in ids(assess(data))


def test_many_texts_are_bounded_and_still_critical() -> None:
    found = judged(Language.PYTHON, "for one in plan: exec(one)", plan=[f"print({n})" for n in range(5000)])
    assert found.level is Level.CRITICAL and "input.executed" in ids(found)


BASE = "from app.models import Base\n"
CLIENT = "import boto3\ns3 = boto3.client('s3')\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            f"{BASE}async def f(c):\n    await c.run_sync(Base.metadata.drop_all)\nf(c)",
            "Deletes all tables of a database.",
        ),
        (
            f"{CLIENT}for one in names:\n    pool.submit(s3.delete_bucket, Bucket=one)",
            "Deletes each bucket that it finds.",
        ),
    ],
)
def test_a_method_that_is_handed_over_to_be_called_is_followed(code: str, said: str) -> None:
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, code))
    assert found.attention is Level.HIGH and found.verdict.sentence.startswith(said)


@pytest.mark.parametrize(
    "code",
    [
        f"{BASE}async def f(c):\n    await c.run_sync(Base.metadata.create_all)\nf(c)",
        f"{CLIENT}pool.submit(s3.list_buckets)",
        f"{CLIENT}names = {{'delete': s3.delete_bucket}}",
    ],
)
def test_a_harmless_method_or_one_that_is_only_kept_is_not(code: str) -> None:
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, code))
    assert (found.attention or Level.LOW) < Level.HIGH
