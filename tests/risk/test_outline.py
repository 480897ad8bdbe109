"""Outlines: literals that can only be data may be others, and no literal that could do something."""

from __future__ import annotations

import pytest

from runner.model.request import Language
from runner.risk.literals.outline import outline

P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        (
            P,
            "import csv\nprint(sum(1 for _ in open('a.csv')), 3)",
            "import csv\nprint(sum(1 for _ in open('b.csv')), 4)",
        ),
        (P, "x = {'one': 1}\nprint(x['one'], b'alpha')", "x = {'two': 2}\nprint(x['two'], b'beta')"),
        (
            J,
            "const fs = require('fs');\nconsole.log(fs.readFileSync('a.txt','utf8').length * 2)",
            "const fs = require('fs');\nconsole.log(fs.readFileSync('b.txt','utf8').length * 3)",
        ),
        (J, "(async () => { console.log('alpha') })()", "(async () => { console.log('beta') })()"),
        (S, "grep -c 'alpha' \"a.txt\" | head -n 5", "grep -c 'beta' \"b.txt\" | head -n 6"),
        (S, "grep 'alpha' a.txt > out.txt 2>&1", "grep 'beta' a.txt > out.txt 2>&1"),
        (S, "cd 'here'; grep 'alpha' a.txt 2>/dev/null", "cd 'there'; grep 'beta' a.txt 2>/dev/null"),
    ],
)
def test_other_data_is_the_same_program(language: Language, one: str, other: str) -> None:
    assert outline(language, one) == outline(language, other) != ""
    assert outline(language, one) != outline(language, one + "\n")


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        (P, "exec('print(1)')", "exec('print(2)')"),
        (S, "printf 'one' > run", "printf 'two' > run"),
        (S, "printf 'one' >> ~/.bashrc", "printf 'two' >> ~/.bashrc"),
        (S, "printf 'one' &> Makefile", "printf 'two' &> Makefile"),
        (S, "printf 'one' >| \"$F\"", "printf 'two' >| \"$F\""),
        (S, "cd 'out'; echo 'one' > notes.txt", "cd '.git/hooks'; echo 'two' > notes.txt"),
        (S, "echo 'one' > notes.txt; cd 'out'", "echo 'two' > notes.txt; cd 'hooks'"),
        (S, "uniq 'in.txt' 'out.txt'", "uniq 'in.txt' 'Makefile'"),
        (S, "date -s 'now'", "date -s 'then'"),
        (S, "file -C -m 'one'", "file -C -m 'two'"),
        (P, "import os\nos.system('ls')", "import os\nos.system('rm -rf x')"),
        (P, "import subprocess\nsubprocess.run(['ls'])", "import subprocess\nsubprocess.run(['rm'])"),
        (P, "e = eval\ne('1')", "e = eval\ne('2')"),
        (P, "x=1\nprint(f'{x} a')", "x=1\nprint(f'{x} b')"),
        (P, "x=1\nprint(f'{x}', 1)", "x=1\nprint(f'{x+1}', 1)"),
        (P, "print('a')", "print('__import__')"),
        (P, "open('a','r')", "open('a','w')"),
        (P, "print('a.txt')", "print('json.py')"),
        (P, "import pickle\npickle.loads(b'a')", "import pickle\npickle.loads(b'b')"),
        (P, "# coding: utf-7\nprint('a')", "# coding: utf-7\nprint('b')"),
        (P, "[].__class__\nprint('a')", "[].__class__\nprint('b')"),
        (P, "import pathlib\npathlib.os.system('a')", "import pathlib\npathlib.os.system('b')"),
        (P, "{}['a']('x')", "{}['b']('y')"),
        (P, "import os as o\no.system('a')", "import os as o\no.system('b')"),
        (P, "from os import system as s\ns('a')", "from os import system as s\ns('b')"),
        (
            P,
            "import json\njson.codecs.sys.modules['os'].system('a')",
            "import json\njson.codecs.sys.modules['os'].system('b')",
        ),
        (P, "'{}'.format(1)", "'{}'.format(2)"),
        (P, "import os\nx=os\nprint('a')", "import os\nx=os\nprint('b')"),
        (P, "def f(x: 'int'): return 1", "def f(x: 'str'): return 1"),
        (P, "import os\nprint(os.environ['A'])", "import os\nprint(os.environ['B'])"),
        (J, "eval('1')", "eval('2')"),
        (J, "require('fs')", "require('os')"),
        (J, "x['a']('b')", "x['c']('b')"),
        (J, "new Function('a')()", "new Function('b')()"),
        (J, "const {exec}=require('child_process');exec('ls')", "const {exec}=require('child_process');exec('rm')"),
        (J, "process.env['A']", "process.env['B']"),
        (J, "console.log(`a`)", "console.log(`b`)"),
        (J, "import('fs')", "import('os')"),
        (J, "const a={'b':1}", "const a={'c':1}"),
        (J, "f('a')('b')", "f('a')('c')"),
        (J, "const r=require; r('fs')", "const r=require; r('os')"),
        (S, "eval 'ls'", "eval 'rm'"),
        (S, "bash -c 'ls'", "bash -c 'rm'"),
        (S, "x='a'; rm $x", "x='b'; rm $x"),
        (S, "rm 'a'", "rm 'b'"),
        (S, "echo 'a' | bash", "echo 'b' | bash"),
        (S, "echo a", "echo b"),
        (S, 'echo "$(ls)"', 'echo "$(rm x)"'),
        (S, "echo 'a' > 'x'", "echo 'a' > 'y'"),
        (S, "PATH='a' ls 'x'", "PATH='b' ls 'x'"),
        (S, "echo() { bash -c \"$1\"; }; echo 'a'", "echo() { bash -c \"$1\"; }; echo 'b'"),
        (S, "$x 'a'", "$x 'b'"),
        (S, "'ls' 'a'", "'rm' 'a'"),
        (S, "head 'a'", "head '-c1'"),
        (S, "cat <<E\na\nE", "cat <<E\nb\nE"),
        (S, "cat <(echo 'a')", "cat <(bash 'a')"),
        (S, "cd 'a' && source 'x'", "cd 'a' && source 'y'"),
    ],
)
def test_what_could_do_something_counts_letter_by_letter(language: Language, one: str, other: str) -> None:
    assert not outline(language, one) or outline(language, one) != outline(language, other)
