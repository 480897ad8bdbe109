"""Programs made so that "the same code, other values" would run other code: none may have an outline in common."""

from __future__ import annotations

import importlib
import types
from typing import NamedTuple

import pytest

from runner.model.request import Language
from runner.risk.literals.outline import outline
from runner.risk.literals.outline_python import MODULES

P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL


class Pair(NamedTuple):
    """A program to be remembered, with `@1` and `@2` for values, and the values by which it would do something else."""

    name: str
    program: str
    harmless: tuple[str, ...]
    harmful: tuple[str, ...]
    language: Language = P


REPORT = """
import json
settings = {"name": @1, "ending": @2}
rows = ["total = 0", "print(total)"]
with open(settings["name"] + "." + settings["ending"], "w") as file:
    file.write("\\n".join(rows))
import textwrap
print(textwrap.fill("done"))
"""
PAIRS = (
    # A module that is written first and imported later, by name or lazily by the library.
    Pair("an import after a file", REPORT, ("'monthly'", "'csv'"), ("'textwrap'", "'py'")),
    Pair(
        "an import in a function",
        "def done():\n    import textwrap\n    print(textwrap.fill('x'))\nopen(@1 + @2, 'w').write('y')\ndone()",
        ("'a'", "'.csv'"),
        ("'textwrap.'", "'py'"),
    ),
    Pair(
        "a name that is put together",
        "import datetime\nopen(@1 + @2, 'w').write('y')\nprint(datetime.datetime.strptime('2026', '%Y'))",
        ("'out'", "'.csv'"),
        ("'_strptime.p'", "'y'"),
    ),
    Pair(
        "a name that is folded",
        "from collections import Counter\nopen(@1[::-1], 'w').write('y')\nprint(Counter('aab').most_common(1))",
        ("'vsc.a'",),
        ("'yp.qpaeh'",),
    ),
    Pair("a mode that is put together", "open(@1, @2.strip(' ')).write('x')", ("'a'", "'r '"), ("'heapq'", "'w '")),
    Pair("a mode that is cut out", "open('a', 'rwr'[@1])", ("0",), ("1",)),
    Pair("a mode by a variable", "mode = @1\nopen('a', mode)", ("'r0'[:1]",), ("'w0'[:1]",)),
    Pair("options of open by a table", "open('a', **{@1: @2})", ("'mode'", "'r0'[:1]"), ("'mode'", "'w0'[:1]")),
    Pair("open by another name", "for f in [open]: f(@1, @2)", ("'a'", "'r1'[0]"), ("'b.tsv'", "'w1'[0]")),
    Pair("the renaming of a path", "from pathlib import Path\nPath('a.csv').replace(@1)", ("'b.csv'",), ("'b.tsv'",)),
    Pair("the copy of a path", "from pathlib import Path\nPath('a.csv').copy(@1)", ("'b.csv'",), ("'b.tsv'",)),
    Pair("the text of a path", "from pathlib import Path\nPath(@1).write_text('x')", ("'b.csv'",), ("'b.tsv'",)),
    Pair(
        "rows into any file",
        "import csv\ncsv.writer(open(@1, 'w')).writerow([1])",
        ("'a.csv'",),
        ("'sitecustom' 'ize'",),
    ),
    Pair("data into any file", "import json\njson.dump([1], open(@1, 'w'))", ("'a.json'",), ("'package.json'",)),
    Pair("a folder", "import os\nos.makedirs(@1)", ("'out'",), ("'heapq'",)),
    Pair("help by a name", "help(@1)", ("'len'",), ("'antigravity'",)),
    # Private functions of the library that run text or start programs.
    Pair(
        "a command of uuid",
        "import uuid\nprint(uuid._get_command_stdout(@1, @2))",
        ("'uname'", "'-s'"),
        ("'sh'", "'-c' 'id'"),
    ),
    Pair("an evaluated type", "import typing\ntyping._eval_type(typing.List[@1], {}, {})", ("'int'",), ("'print(1)'",)),
    Pair("a generated function", "import dataclasses\ndataclasses._create_fn(@1, [], ['pass'])", ("'f'",), ("'g'",)),
    Pair(
        "a module of a module", "import dataclasses\ndataclasses.inspect.dis._try_compile(@1, '')", ("'1'",), ("'2'",)
    ),
    Pair("the system by way of paths", "import os.path\nos.path.genericpath.os.system(@1)", ("'ls'",), ("'id'",)),
    Pair("a module under another name", "import os.path as p\np.os.system(@1)", ("'ls'",), ("'id'",)),
    Pair(
        "a module as a value",
        "import json\nm = [json][0]\nprint(m.codecs.open(@1, @2))",
        ("'a'", "'rr'"),
        ("'b'", "'ww'"),
    ),
    Pair("attributes by names", "import functools\nfunctools.update_wrapper(print, len, [@1])", ("'a'",), ("'b'",)),
    Pair("an expression on a table", "import pandas\npandas.DataFrame().eval(@1)", ("'a'",), ("'@b'",)),
    Pair("a stored object", "import numpy\nnumpy.load(@1, allow_pickle=True)", ("'a.npy'",), ("'b.npy'",)),
    # Ways to attributes and functions that name none.
    Pair(
        "a pattern that reads attributes",
        "match print:\n    case object(__self__=b):\n        f = vars(b)[@1 + @2]\n        f('1')",
        ("'pri'", "'nt'"),
        ("'ev'", "'al'"),
    ),
    Pair("the frame of a generator", "g = (x for x in [1])\ng.gi_frame.f_builtins[@1]('1')", ("'abs'",), ("'input'",)),
    Pair(
        "a format that reads attributes",
        "def f(): pass\nprint(@1.format(f))",
        ("'{0}'",),
        ("'{0.__globals__}'",),
    ),
    Pair("a class of its own", "class A:\n    name = @1\nprint(A.name)", ("'a'",), ("'b'",)),
    Pair("a class made of a text", "print(type(@1, (), {}))", ("'a'",), ("'b'",)),
    Pair("a built-in name that is also bound", "if 0:\n    eval = print\neval(@1)", ("'1'",), ("'2'",)),
    Pair("a variable of the interpreter", "__builtins__.get(@1)('1')", ("'abs'",), ("'input'",)),
    Pair("a function that is replaced", "import re\nre.compile = lambda one: one(@1)", ("'1'",), ("'2'",)),
    Pair("a stream that is replaced", "import sys\nsys.stdout = sys.stdin\nprint(@1)", ("'1'",), ("'2'",)),
    Pair("a module that is bound again", "import re\nre = print\nre(@1)", ("'1'",), ("'2'",)),
    Pair("an encoding", "print(b'x'.decode(@1))", ("'utf-8'",), ("'utf-7'",)),
    Pair("the encoding of a file", "print(open('a', encoding=@1).read())", ("'utf-8'",), ("'utf-7'",)),
    Pair("the environment", "import os\nos.putenv(@1, @2)", ("'A'", "'1'"), ("'PATH'", "'.'")),
    # JavaScript: properties by texts, modules as values, files by texts.
    Pair(
        "a property by a text",
        "const f = Math.abs\nconst g = f[@1 + @2]\nconsole.log(g(@3))",
        ("'to'", "'String'", "'1'"),
        ("'constr'", "'uctor'", "'return 1'"),
        J,
    ),
    Pair(
        "a property by a text in a pattern",
        "const k = @1 + @2\nconst { [k]: g } = Math.abs\nconsole.log(g(@3))",
        ("'na'", "'me'", "'1'"),
        ("'constr'", "'uctor'", "'return 1'"),
        J,
    ),
    Pair("a function that is replaced", "const p = require('path')\np.join = (a) => a(@1)", ("'a'",), ("'b'",), J),
    Pair("a named property", "const { 'constructor': g } = Math.abs\ng(@1)", ("'1'",), ("'return 2'",), J),
    Pair("an escaped name", "const g = Math.abs.\\u0063onstructor\ng(@1)", ("'1'",), ("'return 2'",), J),
    Pair(
        "a function of a module by number",
        "const fs = require('fs')\nconst f = Object.values(fs)[@1]\nf(@2)",
        ("1", "'a'"),
        ("2", "'b'"),
        J,
    ),
    Pair("the promises of files", "const f = require('fs').promises\nf.writeFile(@1, 'x')", ("'a'",), ("'b'",), J),
    Pair("promises taken out", "const { promises } = require('fs')\npromises.rm(@1)", ("'a'",), ("'b'",), J),
    Pair("a file by a text", "const fs = require('fs')\nfs.writeFileSync(@1, 'x')", ("'a.csv'",), ("'b.csv'",), J),
    Pair("the object of all", "const all = (function () { return this })()\nall.x(@1)", ("'a'",), ("'b'",), J),
    Pair(
        "a descriptor",
        "const d = Object.getOwnPropertyDescriptors(Math.abs)\nObject.values(d)[@1].value(@2)",
        ("0", "'1'"),
        ("1", "'2'"),
        J,
    ),
    # Shell: texts that are read again as names or expressions.
    Pair("an expression", "x=$(cat @1)\necho $((x))", ("'a'",), ("'b'",), S),
    Pair("a test that evaluates", "x=$(cat @1)\n[[ $x -eq 1 ]] && echo @2", ("'a'", "'1'"), ("'b'", "'2'"), S),
    Pair("a variable by its name", "printf -v @1 @2", ("'x'", "'1'"), ("'PATH'", "'/workspace'"), S),
    Pair("a prompt", 'x=$(cat @1)\necho "${x@P}"', ("'a'",), ("'b'",), S),
    Pair("an indirect variable", 'x=$(cat @1)\necho "${!x}"', ("'a'",), ("'b'",), S),
    Pair("a number that is declared", "x=$(cat @1)\ndeclare -i y=$x", ("'a'",), ("'b'",), S),
    Pair("an element", "x=$(cat @1)\na[$x]=1", ("'a'",), ("'b'",), S),
    Pair("the locale", "import locale\nlocale.setlocale(0, @1)", ("'C'",), ("'../x'",)),
)


def filled(pair: Pair, values: tuple[str, ...]) -> str:
    code = pair.program
    for number, value in enumerate(values, 1):
        code = code.replace(f"@{number}", value)
    return code


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_the_other_values_are_another_program(pair: Pair) -> None:
    before = outline(pair.language, filled(pair, pair.harmless))
    assert not before or before != outline(pair.language, filled(pair, pair.harmful))


ORDINARY = """
'''Totals by month.'''
from __future__ import annotations
import csv, json, sys
import datetime as dt
from collections import Counter
from pathlib import Path

LIMIT = 10

def month(row: dict[str, str]) -> str:
    return dt.datetime.strptime(row["date"], "%Y-%m-%d").strftime("%Y-%m").replace("-", "/", 1)

def main() -> None:
    totals = Counter()
    with open("sales.csv", newline="") as file:
        for row in csv.DictReader(file):
            try:
                totals[month(row)] += int(row["amount"])
            except (KeyError, ValueError) as error:
                print("skipped", error, file=sys.stderr)
    for name, total in totals.most_common(LIMIT):
        print(f"{name}: {total:>8}")
    with open("out.json", "w") as file:
        json.dump(sorted(totals.items(), key=lambda item: -item[1]), file, indent=2)
    if Path("notes.txt").exists() and "draft" in Path("notes.txt").read_text():
        sys.exit(1)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("one", "other"),
    [("'sales.csv'", "'other.csv'"), ("LIMIT = 10", "LIMIT = 20"), ("notes.txt", "todo.txt"), ("draft", "final")],
)
def test_an_ordinary_program_may_have_other_values(one: str, other: str) -> None:
    one, other = one.replace("'", '"'), other.replace("'", '"')
    assert outline(P, ORDINARY) == outline(P, ORDINARY.replace(one, other)) != ""


@pytest.mark.parametrize("late", ["import json", "from json import dumps", "import os.path"])
def test_what_is_imported_after_the_first_statement_may_be_what_that_has_written(late: str) -> None:
    assert outline(P, f"{late}\nprint('monday')")
    assert not outline(P, f"print('monday')\n{late}\nprint('tuesday')")


SCRIPT = """
const fs = require('node:fs'), { join } = require('path');
const rows = fs.readFileSync(join('data', 'sales.csv'), 'utf8').split(';').map((row) => row.split(','));
let total = 0;
for (let i = 1; i < rows.length; i++) { total += Number(rows[i][2]) * 10; console.log(rows[i - 1][0], `${i}`); }
fs.writeFileSync('out.json', JSON.stringify({ total, last: rows[rows.length - 1] }));
"""


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("sales.csv", "other.csv", True),
        ("* 10", "* 20", True),
        ("';'", "'#'", True),
        ("out.json", "in.json", False),
        ("[i - 1]", "[i + total]", False),
        ("[i][2]", "[i]['x']", False),
    ],
)
def test_an_ordinary_script_may_have_other_values(one: str, other: str, same: bool) -> None:
    assert outline(J, SCRIPT)
    assert (outline(J, SCRIPT) == outline(J, SCRIPT.replace(one, other))) is same


@pytest.mark.parametrize(
    ("one", "other"), [('"out.json"', '"package.json"'), ('"w"', '"a"'), ("{total:>8}", "{total!r}"), ("main()", "f()")]
)
def test_what_it_writes_and_does_stays(one: str, other: str) -> None:
    assert outline(P, ORDINARY) != outline(P, ORDINARY.replace(one, other))


RUNS_CODE = {
    "exec",
    "eval",
    "compile",
    "__import__",
    "import_module",
    "Popen",
    "system",
    "popen",
    "check_output",
    "fork",
}
OWN = {("re", "_compile"): {"compile"}}
"""A function of that name that compiles no code."""


def _functions(value: object) -> list[types.FunctionType]:
    """The functions that make up a function or class."""
    value = getattr(value, "__func__", getattr(value, "__wrapped__", value))
    if isinstance(value, type):
        return [one for inside in vars(value).values() for one in _functions(inside) if not isinstance(inside, type)]
    if isinstance(value, property):
        return [one for part in (value.fget, value.fset) if part for one in _functions(part)]
    return [value] if isinstance(value, types.FunctionType) else []


def test_no_function_on_the_list_reaches_one_that_runs_code() -> None:
    """By the names in its code and in that of all functions it calls by name: 30 did when it was a list of denials."""
    reached: dict[tuple[str, str], set[str]] = {}
    seen: set[types.FunctionType] = set()
    todo = [
        function
        for module, names in MODULES.items()
        for name in names
        if f"{module}.{name}" not in MODULES
        for function in _functions(getattr(importlib.import_module(module), name, None))
    ]
    while todo:
        function = todo.pop()
        if function in seen:
            continue
        seen.add(function)
        codes = [function.__code__]
        while codes:
            code = codes.pop()
            codes += [one for one in code.co_consts if isinstance(one, types.CodeType)]
            if found := RUNS_CODE & set(code.co_names):
                reached.setdefault((function.__module__.partition(".")[0], function.__qualname__), set()).update(found)
            todo += [one for name in code.co_names for one in _functions(function.__globals__.get(name))]
    assert reached == OWN
    assert len(seen) > 200
