"""Where a program chooses among functions, each of them counts, however it chooses."""

from __future__ import annotations

import pytest

from runner.model.assessment import Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J = Language.PYTHON, Language.JAVASCRIPT
HOME = "import os, shutil, sys\nhome = os.path.expanduser('~/Documents')\n"
JS_HOME = "const fs = require('fs');\nconst home = process.env.HOME + '/Documents';\n"
TREE = "{recursive: true}"
CHOICES = {
    "one of two": (P, "f = print if len(sys.argv) > 3 else shutil.rmtree\nf(home)"),
    "a branch, the harmless one last": (P, "if sys.argv:\n    f = shutil.rmtree\nelse:\n    f = print\nf(home)"),
    "a branch of own functions": (
        P,
        "def wipe(p):\n    shutil.rmtree(p)\ndef show(p):\n    print(p)\n"
        "if sys.argv:\n    f = wipe\nelse:\n    f = show\nf(home)",
    ),
    "or": (P, "f = None or shutil.rmtree\nf(home)"),
    "a place in a list": (P, "[print, shutil.rmtree][len(sys.argv) < 3](home)"),
    "a loop over functions": (P, "for f in (print, shutil.rmtree):\n    f(home)"),
    "a loop over pairs": (P, "for f, a in [(print, 'a'), (shutil.rmtree, home)]:\n    f(a)"),
    "a table": (P, "for f in {'show': print, 'clean': shutil.rmtree}.values():\n    f(home)"),
    "a table by names": (P, "S = {'show': print, 'clean': shutil.rmtree}\nfor k in ('show', 'clean'):\n    S[k](home)"),
    "a table by input": (P, "S = {'show': print, 'clean': shutil.rmtree}\nS[sys.argv[1]](home)"),
    "a table with something else": (P, "S = {'a': str, 'clean': shutil.rmtree}\nS.get(sys.argv[1], str)(home)"),
    "a large table": (
        P,
        "S = {" + ", ".join(f"'a{n}': (lambda p: p)" for n in range(61)) + ", 'z': shutil.rmtree}\n"
        "for f in S.values():\n    f(home)",
    ),
    "a module": (P, "m = os if len(sys.argv) > 3 else shutil\nm.rmtree(home)"),
    "an object": (
        P,
        "class A:\n    def go(self, p):\n        print(p)\nclass B:\n    def go(self, p):\n        shutil.rmtree(p)\n"
        "for one in (A(), B()):\n    one.go(home)",
    ),
    "a name of an attribute": (P, "for name in ('getcwd', 'rmtree'):\n    getattr(shutil, name)(home)"),
    "what is handed on": (P, "f = print if sys.argv else shutil.rmtree\nlist(map(f, [home]))"),
    "one of two in JavaScript": (J, f"const f = process.argv.length > 3 ? console.log : fs.rmSync;\nf(home, {TREE})"),
    "a loop in JavaScript": (J, f"for (const f of [console.log, fs.rmSync]) f(home, {TREE});"),
    "pairs in JavaScript": (J, f"for (const [f, a] of [[console.log, 'a'], [fs.rmSync, home]]) f(a, {TREE});"),
    "an object by names": (
        J,
        f"const S = {{show: console.log, clean: fs.rmSync}};\nfor (const k of ['show', 'clean']) S[k](home, {TREE});",
    ),
    "values of an object": (
        J,
        f"const S = {{show: console.log, clean: fs.rmSync}};\nfor (const f of Object.values(S)) f(home, {TREE});",
    ),
    "a branch in JavaScript": (J, f"let f;\nif (home) f = fs.rmSync; else f = console.log;\nf(home, {TREE});"),
}


@pytest.mark.parametrize("name", CHOICES)
def test_each_function_of_a_choice_is_followed(name: str) -> None:
    language, code = CHOICES[name]
    code = (HOME if language is P else JS_HOME) + code
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    assert found.attention is Level.CRITICAL
    assert found.verdict.sentence.startswith("Deletes a whole system or home folder")


HARMLESS = [
    (P, "f = max if 1 < 2 else min\nprint(f([1, 2]))"),
    (P, "for f in (len, sum, max):\n    print(f([1, 2]))"),
    (J, "for (const f of [Math.max, Math.min]) console.log(f(1, 2));"),
]


@pytest.mark.parametrize(("language", "code"), HARMLESS)
def test_a_choice_among_what_computes_computes(language: Language, code: str) -> None:
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    assert found.verdict.sentence == "Computes and prints; touches no files, no network."
