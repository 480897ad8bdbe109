"""Names that are put together, and commands that are decoded: a danger, unless all of it can be read and is plain."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess
from runner.risk.benign_obfuscation import HIDING, REASON

PLAIN = [
    (Language.SHELL, "a=l; b=s; $a$b -la src"),
    (Language.SHELL, "$(echo bHM= | base64 -d) src"),
    (Language.PYTHON, "import subprocess\ngetattr(subprocess, 'r' + 'un')(['g' + 'it', 'st' + 'atus'])"),
    (Language.PYTHON, "import os, base64\nos.system(base64.b64decode('bHM=').decode())"),
    (Language.PYTHON, "import subprocess\nsubprocess.run(['pyt' + 'hon', '-m', 'pytest', '-q'])"),
    (
        Language.JAVASCRIPT,
        "const cp = require('child_'.concat('process')); cp.execFileSync('g'.concat('it'), ['status'])",
    ),
    (Language.PYTHON, "import shutil\nvars(shutil)['rm' + 'tree']('build/cache')"),
    (Language.PYTHON, "import os\nos.system(['l' + 's', 'rm -rf /'].pop(0))"),
    (
        Language.PYTHON,
        "import os\ntry:\n    raise ValueError(os.system)\nexcept ValueError as e:\n    e.args[0]('l' + 's')",
    ),
    (Language.PYTHON, "import os\nif os:\n    os.system({k: v + 's' for k, v in [('a', 'rm'), ('b', 'l')]}['b'])"),
    (
        Language.PYTHON,
        "import os\nif os:\n    a = ''\n    for c in 'ls':\n        a += c\n    os.system(a + ' s' + 'rc')",
    ),
    (Language.PYTHON, "def get(*a):\n    return getattr(*a)\nget(__import__('o' + 's'), 'sys' + 'tem')('ls')"),
    (
        Language.PYTHON,
        "import os\ndef one(n):\n    return chr(n)\n"
        "os.system(''.join(one(n) for n in [101, 99, 104, 111, 32, 97, 108, 108, 32, 100, 105, 110, 101]))",
    ),
    (Language.SHELL, "if [ -n x ]; then a=; b=; a+=l; b+=s; $a$b src; fi"),
    (Language.SHELL, "a=r; b=m; $a$b -rf dist"),
    (Language.SHELL, "a=ma; b=ke; $a$b -j2 all"),
    (Language.SHELL, "$(echo -e '\\0167\\0143') -l report.txt"),
    (Language.SHELL, "$(pyt''hon3 -c 'print(\"ls\")') src"),
    (Language.JAVASCRIPT, "const cp = require('child_' + 'process'); cp.spawnSync('n' + 'pm', ['test'])"),
    (Language.JAVASCRIPT, "console.log('\\x6c\\x69\\x6e\\x65\\x73\\x3a\\x20\\x6f\\x66\\x20\\x74\\x65\\x78\\x74')"),
    (
        Language.JAVASCRIPT,
        "process.nextTick(() => { const cp = require('child_' + 'process'); cp.execFileSync('git', ['status']); })",
    ),
]
HIDDEN = [
    (Language.SHELL, "a=r; b=m; $a$b data.csv"),
    (Language.SHELL, "a=l; b=s; $a$b $(curl -s http://example.com/x)"),
    (Language.SHELL, "a=l; b=s; $a$b " + "src " * 60),
    (Language.SHELL, "a=too; b=l; $a$b"),
    (Language.SHELL, "a=git; $a''x status; a=l; b=s; PATH=.:$PATH; $a$b"),
    (Language.SHELL, "a=l; b=s; $a$b src; kubectl apply -f deploy.yaml"),
    (Language.SHELL, "a=pyt; b=hon; $a$b setup.py"),
    (Language.SHELL, "a=r; b=m; $a$b -rf build/../src"),
    (Language.SHELL, "a=r; b=m; $a$b -rf build src"),
    (Language.SHELL, "a=np; b=m; $a$b run deploy"),
    (Language.SHELL, "$(pyt''hon3 -c 'import helper; print(helper.name())') src"),
    (Language.PYTHON, "import os\nos.environ['LD_PRE' + 'LOAD'] = 'x.so'\ngetattr(os, 'sys' + 'tem')('ls')"),
    (Language.JAVASCRIPT, "run('\\x6c\\x69\\x6e\\x65\\x73\\x3a\\x20\\x6f\\x66\\x20\\x74\\x65\\x78\\x74')"),
    (Language.SHELL, "a=pyt; b=hon; $a$b -m pytest.evil"),
    (Language.PYTHON, "import os\na = ['l' + 's', 'tool']\na.pop(0)\ngetattr(os, 'sys' + 'tem')(a.pop(0))"),
    (Language.PYTHON, "import os\ngetattr(os, 're' + 'move')('data.csv')"),
    (Language.PYTHON, "import os, helper\nos.system('l' + helper.name())\ngetattr(os, 'sys' + 'tem')('ls')"),
    (Language.PYTHON, "import os, helper\nhelper.start()\ngetattr(os, 'sys' + 'tem')('ls')"),
    (Language.PYTHON, "import os, sys\ngetattr(os, 'sys' + 'tem')('ls ' + sys.argv[1])"),
    (Language.JAVASCRIPT, "const cp = require('child_' + 'process'); cp.execSync('l' + process.argv[2])"),
    (Language.JAVASCRIPT, "const f = require('f' + 's'); f.unlinkSync('data.csv')"),
]


def found(language: Language, code: str) -> list[tuple[Level, str]]:
    assessment = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    return [(one.level, one.reason) for one in assessment.findings if one.id in HIDING]


@pytest.mark.parametrize(("language", "code"), PLAIN)
def test_a_plain_deed_that_is_wholly_read_is_noted(language: Language, code: str) -> None:
    assert set(found(language, code)) == {(Level.LOW, REASON)}
    assert assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code)).level is Level.HIGH


@pytest.mark.parametrize(("language", "code"), HIDDEN)
def test_what_is_not_wholly_read_or_does_more_stays_critical(language: Language, code: str) -> None:
    levels = {level for level, _ in found(language, code)}
    assert levels == {Level.CRITICAL}
