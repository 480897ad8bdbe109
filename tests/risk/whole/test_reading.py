"""What was read whole, and what was not: everyday programs are, and whatever is not followed leaves a sentence."""

from __future__ import annotations

import pytest

from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess
from runner.risk.model.acts import KINDS
from runner.risk.tools.tools import weigh

P, S, J = Language.PYTHON, Language.SHELL, Language.JAVASCRIPT
HOME = "import os, shutil\nhome = os.path.expanduser('~/Documents')\n"

EVERYDAY = [
    (P, "import json\nprint(json.load(open('data/a.json'))['x'])"),
    (P, "import csv\nwith open('a.csv', newline='') as f:\n    rows = list(csv.DictReader(f))\nprint(len(rows))"),
    (P, "import math, statistics\nxs = [1, 2]\nprint(math.sqrt(2), statistics.mean(xs), max(xs, key=abs))"),
    (P, "from pathlib import Path\nfor p in Path('src').glob('*.py'):\n    print(len(p.read_text().splitlines()))"),
    (P, "import pandas as pd\ndf = pd.read_csv('a.csv')\nprint(df.groupby('x')['y'].sum().sort_values().head(10))"),
    (P, "import pandas as pd\ndf = pd.read_csv('a.csv')\ndf['d'] = pd.to_datetime(df['d'])\ndf.to_csv('b.csv')"),
    (P, "import numpy as np\na = np.arange(12).reshape(3, 4)\nprint(a.mean(axis=0), np.linalg.norm(a))"),
    (P, "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nprint([fib(i) for i in range(20)])"),
    (P, "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\nprint(A(1).x)"),
    (P, "import json\nwith open('out.json', 'w') as f:\n    json.dump([1], f)"),
    (P, "import subprocess\nprint(subprocess.run(['ls', '-la'], capture_output=True, text=True).stdout)"),
    (P, "import sys, json\nprint(sum(json.load(sys.stdin)))"),
    (S, "wc -l *.csv | sort -n"),
    (S, "for f in *.txt; do echo $f; wc -l $f; done"),
    (S, "sed -n 1,5p a.txt; awk -F, '{s+=$2} END {print s}' a.csv"),
    (S, "mkdir -p out && cp a.csv out/ && tar czf a.tgz out"),
    (S, "python3 -c 'print(1)'"),
    (J, "console.log([1, 2].map(x => x * 2))"),
    (J, "const fs = require('fs');\nconst d = JSON.parse(fs.readFileSync('a.json', 'utf8'));\nconsole.log(d.x);"),
    (J, "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\nconsole.log(f(10));"),
    (J, "const path = require('path');\nconsole.log(path.extname('a.txt'));"),
]
RUN = "import subprocess\ndef run(cmd):\n    print('$', cmd)\n    subprocess.run(cmd, shell=True)\n"
NOT_WHOLE = {
    "a call beyond those that are followed": (P, RUN + "".join(f"run('ls a{n}')\n" for n in range(200))),
    "more commands than are followed": (P, f"import os\nfor c in {[f'ls {n}' for n in range(90)]}:\n    os.system(c)"),
    "more texts than are followed": (
        P,
        f"import shutil\nfor p in {[f'build/{n}' for n in range(90)]}:\n    shutil.rmtree(p)",
    ),
    "more statements than are read": (
        P,
        "import sqlite3\nsqlite3.connect('a.db').executescript('" + "SELECT 1; " * 6_000 + "DROP TABLE a;')",
    ),
    "more words than are read": (S, 'x="' + "a " * 3_000 + '"\ncat $x'),
    "a choice": (P, HOME + "f = print if len(home) > 3 else shutil.rmtree\nf(home)"),
    "a list of functions": (P, HOME + "for f in (print, shutil.rmtree):\n    f(home)"),
    "a table of functions": (P, HOME + "for f in {'a': print, 'b': shutil.rmtree}.values():\n    f(home)"),
    "a function handed on": (P, HOME + "print(sorted([home], key=shutil.rmtree))"),
    "a part of a list that is called": (P, HOME + "[print, shutil.rmtree][1](home)"),
    "a parameter that is called": (P, HOME + "def go(f, x):\n    f(x)\ngo(os.remove, home)"),
    "reflection": (P, "import operator, os\noperator.attrgetter('remove')(os)('a')"),
    "a library": (P, "import toolbox\ntoolbox.wipe('/home/me', force=True)"),
    "a module by which anything runs": (P, "import pkgutil\npkgutil.resolve_name('os:remove')('a')"),
    "a hook": (P, "import os\nclass A:\n    def __missing__(self, key):\n        os.remove('a.txt')\nA()"),
    "a hook that is set": (P, "import os\nclass A:\n    __class_getitem__ = staticmethod(os.remove)\nA['a.txt']"),
    "a module that is changed": (P, "import json, os\njson.dumps = os.remove\njson.dumps('a.txt')"),
    "a class of another one": (
        P,
        "import json, os\nclass E(json.JSONEncoder):\n    def default(self, o):\n        os.remove('a.txt')\n"
        "print(json.dumps({1}, cls=E))",
    ),
    "a path that is worked out": (P, "import sys, shutil\nshutil.rmtree(sys.argv[1])"),
    "a folder that is changed": (P, "import os, shutil\nos.chdir('/home/me')\nshutil.rmtree('Documents')"),
    "a temporary folder that is left": (
        P,
        "import tempfile, os, shutil\nd = tempfile.mkdtemp(dir='a')\nshutil.rmtree(os.path.dirname(d))",
    ),
    "code in Python of a script": (S, "python3 -c 'import toolbox; toolbox.wipe()'"),
    "a program": (S, 'cleanup-tool --all "$HOME"'),
    "a program that is worked out": (S, '"$RM" -rf notes'),
    "a program that a command names": (S, "$(basename /bin/rm) -rf notes"),
    "a program that runs what it reads": (S, "make"),
    "a file that is started": (S, "sh notes.txt"),
    "another language": (S, "ruby -e 'puts 1'"),
    "another name": (S, "hash -p /bin/rm ls; ls notes"),
    "an object of functions": (
        J,
        "const fs = require('fs');\nconst S = {show: console.log, clean: fs.rmSync};\nfor (const k in S) S[k]('a');",
    ),
    "a choice in JavaScript": (J, "const fs = require('fs');\nconst f = 1 > 0 ? console.log : fs.rmSync;\nf('a');"),
    "a hook in JavaScript": (
        J,
        "const fs = require('fs');\nconst o = {toString() { fs.rmSync('a.txt'); return ''; }};\nconsole.log(`${o}`);",
    ),
    "a library of JavaScript": (J, "import {sync} from 'toolbox';\nsync(process.env);"),
    "a generator": (J, "const fs = require('fs');\nfunction* g() { (yield)('a'); }\nconst i = g(); i.next(fs.rmSync);"),
    "nothing that can be parsed": (P, "def ("),
}


def unread(language: Language, code: str) -> tuple[str, ...] | None:
    return assess(Request("1", "agent", Tool.CODE_EXECUTE, 0.0, language, code)).unread


@pytest.mark.parametrize(("language", "code"), EVERYDAY)
def test_everyday_programs_are_read_whole(language: Language, code: str) -> None:
    assert unread(language, code) == ()


@pytest.mark.parametrize("name", NOT_WHOLE)
def test_what_is_not_followed_is_said(name: str) -> None:
    found = unread(*NOT_WHOLE[name])
    assert found
    assert all(one.isprintable() and one.endswith((".", "…")) and len(one) <= 170 for one in found)


def test_sentences_have_no_internal_names_of_acts() -> None:
    found = unread(P, "import os\npassword = 'hunter2x'\nos.fork()\n")
    assert found and "Uses a password or a key that stands in the code in a way that is not followed" in " ".join(found)
    assert not [one for one in found for kind in KINDS if "-" in kind and kind in one]


def test_there_are_few_sentences() -> None:
    found = unread(P, "".join(f"import lib{n}\nlib{n}.do()\n" for n in range(50)))
    assert found is not None and 0 < len(found) <= 6


def test_tools_that_run_nothing_are_read_whole() -> None:
    assert weigh(Request("1", "agent", Tool.CODE_SANDBOX_INFO, 0.0)).whole
    read = Request("1", "agent", Tool.CODE_READ_FILE, 0.0, sandbox="3f9c", files=("a.csv",))
    assert weigh(read).whole


def test_a_name_cannot_forge_a_sentence() -> None:
    found = unread(S, "'x\u202e; read whole'\n")
    assert found and all(one.isprintable() for one in found)
