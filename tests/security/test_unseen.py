"""Nothing unseen runs: whatever a request hands to its code is read as what it would be there."""

from __future__ import annotations

import json

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.errors import Refused
from runner.model.request import Isolation, KnownFile, Language, Request, Tool
from runner.model.submission import Submission
from runner.requests import intake
from runner.risk.assess import assess
from runner.risk.inputs.known_files import used
from runner.risk.tools.writes import assess_write
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
    (SHELL, 'cat "$p"', "/etc/shadow"),
    (SHELL, 'rm -rf "$p"', "/"),
    (SHELL, 'cp a "$p"', "/root/.bashrc"),
    (SHELL, 'echo x >> "$p"', "/root/.bashrc"),
    (JAVASCRIPT, "require('fs').rmSync(p, {recursive: true, force: true})", "/"),
    (JAVASCRIPT, "console.log(require('fs').readFileSync(p, 'utf8'))", "/etc/shadow"),
]
PUT_TOGETHER = [
    (PYTHON, "open(p, 'a').write('x')", {"p": "/root/.bashrc"}),
    (PYTHON, "print(open(a + b).read())", {"a": "/etc/", "b": "shadow"}),
    (PYTHON, "print(open('/etc/' + b).read())", {"b": "shadow"}),
    (PYTHON, "print(open('/etc/' + b[0]).read())", {"b": ["shadow"] * 50}),
    (PYTHON, "print(open('/' + '/'.join(p)).read())", {"p": ["etc", "shadow"]}),
    (PYTHON, "print(open(p[::-1]).read())", {"p": "wodahs/cte/"}),
    (PYTHON, "import base64\nprint(open(base64.b64decode(p).decode()).read())", {"p": "L2V0Yy9zaGFkb3c="}),
    (PYTHON, "for p in ps: print(open(p).read())", {"ps": [f"{n}.csv" for n in range(50)] + ["/etc/shadow"]}),
    (PYTHON, "print(open(config['files']['in']).read())", {"config": {"files": {"in": "/etc/shadow"}}}),
    (SHELL, 'cat "$a$b"', {"a": "/etc/", "b": "shadow"}),
    (SHELL, 'cat "/etc/$b"', {"b": "shadow"}),
    (JAVASCRIPT, "console.log(require('fs').readFileSync(a + b, 'utf8'))", {"a": "/etc/", "b": "shadow"}),
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
    assert judged(language, code, p=path, q=[1] * 50).level is Level.CRITICAL
    assert judged(language, code).level is Level.HIGH
    assert judged(language, code, p="a.csv", q=path).level is Level.HIGH, "this path is not the one that is opened"


@pytest.mark.parametrize(("language", "code", "variables"), PUT_TOGETHER)
def test_a_path_that_is_put_together_from_variables_counts_too(
    language: Language, code: str, variables: dict[str, object]
) -> None:
    assert judged(language, code, **variables).level is Level.CRITICAL


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


STARTS_FILES = [
    *(
        (SHELL, one)
        for one in ("bash notes.txt", "python3 data.json", ". ./env", "source env", "./x", "sh < x", "node x.js")
    ),
    *(
        (SHELL, one)
        for one in ("cat x | sh", 'bash -c "$(cat x)"', 'eval "$(cat x)"', "xargs -a x sh -c", "awk -f x a")
    ),
    *((SHELL, one) for one in ("make", "git status", "pytest", "npm test", "python3 -m helper", "env python3 main.py")),
    *(
        (SHELL, one)
        for one in ("python3 -c 'import helper'", 'f=notes.txt; bash "$f"', "bash *.txt", "chmod +x x; ./x")
    ),
    *(
        (SHELL, one)
        for one in ("LD_PRELOAD=./x.so ls", "PATH=.:$PATH ls", "export PATH=$PWD; foo", "enable -f ./x.so x")
    ),
    *(
        (SHELL, one)
        for one in ("tar --checkpoint-action=exec=x cf a b", 'trap "$(cat x)" EXIT', 'alias ls="$(cat x)"; ls')
    ),
    *((PYTHON, one) for one in ("import pickle\npickle.load(open('x', 'rb'))", "import shelve\nshelve.open('x')['a']")),
    *(
        (PYTHON, one)
        for one in ("import zipimport\nzipimport.zipimporter('a.zip')", "import os\nos.execv('./x', ['x'])")
    ),
    (JAVASCRIPT, "WebAssembly.instantiate(require('fs').readFileSync('x.wasm'))"),
    *(
        (SHELL, f"echo 'echo hi' > x; {one}; sh x")
        for one in ("cp a x", "cp a $b", "sed -i s/a/b/ x", "cat a >> x", "cat a > $b", "dd if=a of=x", "cd sub", "foo")
    ),
    (SHELL, "echo 'echo hi' >> x; sh x"),
    *(
        (SHELL, one)
        for one in (
            "python3 -E -c 'import json'",
            "env -i python3 -c 'import json'",
            "env -u PYTHONSAFEPATH python3 -c 'import json'",
            "unset PYTHONSAFEPATH; python3 -c 'import json'",
            "unset PYTHON''SAFEPATH; python3 -c 'import json'",
            "export -n PYTHONSAFEPATH; python3 -c 'import json'",
            "declare +x PYTHONSAFEPATH; python3 -c 'import json'",
            "exec -c python3 -c 'import json'",
            "PYTHONSAFEPATH= python3 -c 'import json'",
            "python3.11 -E -c 'import json'",
        )
    ),
    *(
        (SHELL, one)
        for one in (
            *("node -r ./x.js -e 0", "node --require ./x -e 0", "node -e 0 -r ./x.js", "nodejs -r ./x.js -e 0"),
            *("perl -I. -MX -e 1", "perl -Mlib=. -MX -e 1", "perl -I. -e 'use X'", """perl -e 'require "./X.pm"'"""),
            *("perl -ne 'system $_' d", "sed e d", "sed 's/.*/&/e' d", "sed -e e d", "sed --expression=e d"),
            *("awk '{system($0)}' d", "awk '{while (($0 | getline l) > 0) print l}' d", "sed -f f d"),
            *(
                f"python3 -m {module}"
                for module in (
                    *("unittest", "unittest discover", "cProfile x.py", "profile x.py", "trace --trace x.py"),
                    *("pdb -c c x.py", "doctest x.py", "pydoc ./x.py", "code < p", "asyncio < p", "runpy x"),
                )
            ),
            *("exec < d; sh", "exec 3<d; sh <&3", "exec 0<d; bash", "exec {f}<d; sh <&$f", "exec < p; python3"),
            *("tee < d >(sh)", "cat d | tee >(sh)", "cat d > >(sh)", "exec > >(sh); cat d"),
            *("`<d`", "$(<d)", "`< d` x", "time `<d`", "exec `<d`", "f() { `<d`; }; f", "bash -c '`<d`'"),
            *("xargs < d env", "env < d sh", "f() { sh; }; f < d", "bash --init-file d -i", "compgen -W '$(<d)'"),
            *("read x < a; ((x))", "read x < a; echo $((x))", "read x < a; [[ $x -eq 1 ]]", "x=$(<a); let x"),
            *('read x < a; test -v "y[$x]"', 'read x < a; echo "${!x}"', 'x=$(<d); echo "${x@P}"'),
        )
    ),
    (PYTHON, "import helper"),
    (PYTHON, "from . import helper"),
    (PYTHON, "exec(open('x').read())"),
    (PYTHON, "import runpy\nrunpy.run_path('x')"),
    (PYTHON, "import subprocess\nsubprocess.run(['bash', 'notes.txt'])"),
    (PYTHON, "import os\nos.system('. ./env')"),
    (PYTHON, "import importlib\nimportlib.import_module(name)"),
    (JAVASCRIPT, "require('./x')"),
    (JAVASCRIPT, "import x from './x.mjs'"),
    (JAVASCRIPT, "import('./x.mjs')"),
    (JAVASCRIPT, "require('helper')"),
    (JAVASCRIPT, "eval(require('fs').readFileSync('x', 'utf8'))"),
]
STARTS_NONE = [
    (SHELL, "wc -l *.csv | sort -n"),
    (SHELL, "printf 'echo hi\\n' > x.sh; sh x.sh"),
    (SHELL, "printf 'echo hi\\n' > ./x.sh; chmod +x x.sh; ./x.sh"),
    (SHELL, "mkdir -p sub && cd sub && echo 'echo hi' > x.sh && sh x.sh"),
    (SHELL, "bash -c 'echo hi'"),
    (SHELL, "python3 -c 'import json; print(1)'"),
    (SHELL, "awk -F, '{print $2}' in.csv"),
    *(
        (SHELL, one)
        for one in (
            *("sed -n 1,5p d", "sed 's/theme/green/' d", "sed -i 's/old/new/' d", "perl -pe 's/a/b/' d"),
            *("python3 -m json.tool d", "python3 -m zipfile -l x.zip", "node --version", "awk '/a|b/ {print}' d"),
            *('x=`<d`; echo "$x"', "exec 3< d; read -r l <&3", "cat d | tee >(wc -l)", "exec > log.txt; ls"),
            *("ffmpeg -i a b", "tar xzf x.tgz", "n=$(wc -l < d); echo $((n + 1))", "set -- *.csv; echo $#"),
            *('for f in *.txt; do echo "${f%.txt}"; done', 'if [ "$(wc -l < d)" -gt 3 ]; then echo many; fi'),
        )
    ),
    (PYTHON, "import csv, json\nprint(json.dumps(list(csv.reader(open('in.csv')))))"),
    (PYTHON, "import os\nprint(os.listdir('.'))\nopen('busy', 'w')\nos.remove('busy')"),
    (JAVASCRIPT, "const fs = require('node:fs'); console.log(fs.readFileSync('in.csv', 'utf8').length)"),
]


def in_kept_sandbox(language: Language, code: str) -> Assessment:
    return assess(Request("1", "agent", Tool.CODE_EXECUTE, 0.0, language, code, sandbox="3f9c"))


@pytest.mark.parametrize(("language", "code"), STARTS_FILES)
def test_files_of_a_kept_sandbox_that_were_not_read_are_critical_to_start(language: Language, code: str) -> None:
    found = in_kept_sandbox(language, code)
    assert found.level is Level.CRITICAL
    assert "kept.unread" in {finding.id for finding in found.findings}
    assert "kept.unread" not in {finding.id for finding in judged(language, code).findings}


@pytest.mark.parametrize(("language", "code"), STARTS_NONE)
def test_a_run_in_a_kept_sandbox_that_starts_no_file_is_as_elsewhere(language: Language, code: str) -> None:
    assert in_kept_sandbox(language, code).level is Level.HIGH


SAFE = "print(1)"
KNOWN_FILES = {
    "main.py": "import helper\nprint(helper.answer())",
    "plain.py": "import json, numpy\nprint(json.dumps(1))",
    "helper.py": "def answer():\n    return 42",
    "pkg/__init__.py": "from .sub import value",
    "pkg/sub.py": "value = 1",
    "data.txt": SAFE,
    "build.sh": "echo hi | wc -l",
    "writes.sh": "cp notes.txt out.txt\necho hi",
    "env.sh": "greeting=hi",
    "main.js": "console.log(require('fs').readdirSync('.').length)",
    "passes.mjs": "export * from './gone.mjs'",
    "twice/a.js": "require('./b')",
    "b.js": "1",
    "started": "#!/usr/bin/env python3\nprint(1)",
    "strange": "#!/workspace/other\nprint(1)",
    "needs.py": "import other",
    "bad.py": "open('/etc/shadow').read()",
    "bad.sh": "cat /etc/shadow",
    "late.py": "import unread_module",
    "six.py": "import other",
    "old.py": "print 'hello'",
}
USES_KNOWN = [
    *(
        (JAVASCRIPT, one)
        for one in ("require('./main.js')", "require('/workspace/main')", "import('./main.js')", "import './main.js'")
    ),
    *(
        (SHELL, one)
        for one in (
            *(
                "python3 plain.py",
                "python3 ./plain.py --fast 3",
                "python3 /workspace/plain.py",
                "cd /workspace && python3 plain.py",
            ),
            *(
                "python3 data.txt",
                "set -e\necho start\npython3 plain.py 2>&1 | tail -n 20",
                "python3 -u plain.py > out.txt; cat out.txt",
            ),
            *(
                "bash build.sh",
                "sh build.sh",
                ". ./env.sh; echo $greeting",
                "source env.sh",
                "node main.js",
                "./started",
            ),
            *(
                "timeout 20 python3 plain.py < in.csv",
                "chmod +x started && ./started",
                "python3 plain.py && wc -l out.txt",
            ),
        )
    ),
    *(
        (PYTHON, one)
        for one in (
            "import helper\nprint(helper.answer())",
            "from helper import answer",
            "import main",
            "import pkg.sub",
            *(
                "from pkg import sub",
                "print(1)\ndef f():\n    import helper",
                "exec(open('main.py').read())",
                "import numpy, helper",
            ),
            *(
                "import runpy\nrunpy.run_path('main.py', run_name='__main__')",
                "import sys\nimport helper\nprint(sys.argv)",
            ),
        )
    ),
]
USES_OTHERS = [
    *(
        (SHELL, one)
        for one in (
            *(
                "python3 main.py",
                "python3 Plain.py",
                "python3 pl\u0430in.py",
                "python3 sub/plain.py",
                "python3 ../plain.py",
            ),
            *(
                "cd sub && python3 plain.py",
                "cp notes.txt plain.py; python3 plain.py",
                "python3 plain.py & cp notes.txt plain.py",
            ),
            "cat notes.txt > out.txt; python3 plain.py",
            "python3 plain.py | cat notes.txt > out.txt",
            "./strange",
            *(
                "python3 plain.py && python3 data.txt",
                "python3 plain.py; sh notes.txt",
                "bash writes.sh",
                "bash data.txt",
                "bash build.sh >> build.sh",
                "bash build.sh | tee -a build.sh",
                "bash build.sh >> log.txt",
            ),
            *(
                "sed -i s/1/2/ plain.py && python3 plain.py",
                "x() { python3 plain.py; }; x",
                "bash bad.sh",
                "python3 bad.py",
            ),
            *(
                "PYTHONPATH=. python3 plain.py",
                "python3 -i plain.py",
                "python3 plain.py `sh notes.txt`",
                "python3 old.py",
            ),
            *(
                "python3 -m plain",
                "bash -x build.sh notes.txt; python3 other.py",
                "for i in 1 2; do python3 plain.py; cp a plain.py; done",
            ),
        )
    ),
    *(
        (PYTHON, one)
        for one in (
            *(
                "import needs",
                "import bad",
                "import helper, other",
                "import sys\nsys.path.insert(0, 'sub')\nimport json",
            ),
            *(
                "import os\nos.sys.path.append('.')\nimport numpy",
                "from sys import path\npath.append('.')",
                "import pkg.other.x.y",
            ),
            *(
                "import shutil\nshutil.copy('a', 'main.py')\nexec(open('main.py').read())",
                "exec(open('other.py').read())",
            ),
            *(
                "import late",
                "import six",
                "import sys as s\nt = s\nt.path.append('.')",
                "from . import other",
                "import old",
            ),
            *(
                "import runpy\nrunpy.run_path('main.py')\nrunpy.run_path('other.py')",
                "name = 'helper'\n__import__(name)",
            ),
        )
    ),
    *(
        (JAVASCRIPT, one)
        for one in (
            "require('./gone')",
            "require('./sub/main.js')",
            "require('main.js')",
            "import('./passes.mjs')",
            "require('./twice/a'); require('./b')",
        )
    ),
]


def with_known(language: Language, code: str, **files: str) -> Assessment:
    known = tuple(KnownFile(path, text) for path, text in (KNOWN_FILES | files).items())
    carried = used(language, code, known).files
    return assess(Request("1", "agent", Tool.CODE_EXECUTE, 0.0, language, code, sandbox="3f9c", known=carried))


@pytest.mark.parametrize(("language", "code"), USES_KNOWN)
def test_known_files_are_read_as_if_they_stood_in_the_code(language: Language, code: str) -> None:
    found = with_known(language, code)
    assert found.level is Level.HIGH, found.findings
    assert in_kept_sandbox(language, code).level is Level.CRITICAL


@pytest.mark.parametrize(("language", "code"), USES_OTHERS)
def test_files_that_are_not_known_or_may_have_changed_stay_critical(language: Language, code: str) -> None:
    assert with_known(language, code).level is Level.CRITICAL


@pytest.mark.parametrize(
    "code",
    [
        "printf 'import os\\nos.system(\"cat /etc/shadow\")' > data.json; python3 data.json",
        "echo 'cat /etc/shadow' > notes.txt; bash notes.txt",
        "echo 'cat /etc/shadow' > env; . ./env",
        'echo \'require("child_process").execSync("cat /etc/shadow")\' > a.txt; node a.txt',
    ],
)
def test_a_file_that_the_code_writes_is_read_in_the_language_that_starts_it(code: str) -> None:
    assert judged(SHELL, code).level is Level.CRITICAL


@pytest.mark.parametrize("first", ["#!/usr/bin/env node", "#!/usr/bin/node --no-warnings --stack-size=2000 -r fs"])
def test_a_script_that_is_written_is_read_in_the_language_of_its_first_line(first: str) -> None:
    script = f"{first}\nrequire('child_process').execSync('cat /etc/shadow')"
    assert judged(PYTHON, f"with open('run', 'w') as file: file.write({script!r})").level is Level.CRITICAL


@pytest.mark.parametrize("encoding", ["utf-7", "rot13", "hz", "raw_unicode_escape", "shift_jis", "iso2022_jp", "idna"])
@pytest.mark.parametrize("first", ["", "#!/usr/bin/env python3\n", "\n"])
def test_code_that_python_would_read_in_another_encoding_is_critical(first: str, encoding: str) -> None:
    assert judged(PYTHON, f"{first}# -*- coding: {encoding} -*-\nprint(1)\n# +AAo-import os").level is Level.CRITICAL


@pytest.mark.parametrize("encoding", ["utf-8", "UTF_8", "ascii", "latin-1", "iso-8859-15", "cp1252", "windows-1251"])
def test_encodings_that_change_no_code_are_not(encoding: str) -> None:
    assert judged(PYTHON, f"# vim: set fileencoding={encoding} :\nprint('hi')").level is Level.HIGH


PROGRAMS = [
    *("a.rb", "a.pl", "a.php", "a.lua", "a.pth", "a.so", "a.service", "a.ps1", "Jenkinsfile", "Dockerfile", ".envrc"),
    *("package.json", "sub/package.json", "pyproject.toml", ".git/config", ".gitattributes", "build.gradle", "a.ipynb"),
    *("a.ts", "Makefile", "rules.mk", "a.py", "a.PY", "a.sh", "a.mjs"),
]


@pytest.mark.parametrize("path", PROGRAMS)
def test_a_file_that_tools_run_is_no_ordinary_file(path: str) -> None:
    assert assess_write(path, "x\n").level >= Level.HIGH


@pytest.mark.parametrize(
    ("path", "content", "executable"),
    [
        ("run", ID, True),
        ("Makefile", f"all:\n\t@{ID}\n", False),
        ("a.ts", "const n: number = 1\nrequire('child_process').execSync('cat /etc/shadow')", False),
    ],
)
def test_a_file_is_read_in_the_language_in_which_it_would_be_run(path: str, content: str, executable: bool) -> None:
    assert assess_write(path, content, executable=executable).level is Level.CRITICAL


@pytest.mark.parametrize("path", ["notes.txt", "data/sales.csv", "README.md", "a.json", ".gitignore", "a.html"])
def test_ordinary_files_stay_ordinary(path: str) -> None:
    assert assess_write(path, ID).level is Level.MEDIUM
