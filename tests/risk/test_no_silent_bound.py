"""Nothing that the classifier looks at is cut short without a word: all bounds go through `model/bounds.py`."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

if TYPE_CHECKING:
    from collections.abc import Iterator

RISK = Path(__file__).parents[2] / "runner" / "risk"
SHOWS = (
    *("verdict", "worker", "literals", "rules/manual", "context/planned", "model/bounds", "tried"),
    *("explain/class_reasons", "explain/reason_sentences", "explain/disputed"),
)
"""What only says, shows or stores what was decided, or says itself what it left out, by the beginning of its path."""
MANY = 8
"""Parts from which on a slice is a bound and no place in something, but for what is known to be a list of anything."""
OF_ANYTHING = frozenset(("texts", "items", "operands", "arguments", "paths", "options", "words_of"))
ALLOWED = {
    (
        "tools/diffs.py",
        "(*operands, *folders)[:MOST_FILES]",
    ): "where there are more, the patch says TOO_MANY, two lines below",
    ("context/programs.py", "pairs[:MOST_READ]"): "where there are more, that is a finding, two lines below",
    ("explain/foreseen.py", "found[:MOST_UNFORESEEN]"): "how many more is said in the same line",
    (
        "inputs/kept_files.py",
        "itertools.islice(_named(language, trail, use, installed), MOST)",
    ): "each is a finding of the same level",
    (
        "rules/trojan_source.py",
        "itertools.islice(trick.find(text), MOST_PER_TRICK)",
    ): "each is a finding of the same level",
    ("shell/commands/asked.py", "plain[:LATEST]"): "the words by which a command is known",
    ("recipes/sql.py", "islice(CONDITION.finditer(statement), 2)"): "it only asks whether there is one",
    ("shell/commands/databases.py", "operands[:3]"): "the words by which a command is known",
    ("shell/commands/system.py", "command.arguments[:3]"): "the words by which a command is known",
}


def cuts(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that leave out what is beyond a number."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(slice=ast.Slice(upper=ast.Constant(value=int() as end)), value=of):
                name = getattr(of, "attr", getattr(of, "id", ""))
                if end >= MANY or (end > 2 and name in OF_ANYTHING):
                    yield node
            case ast.Subscript(slice=ast.Slice(upper=ast.Name(id=name))) if name.isupper():
                yield node
            case ast.Call(func=ast.Name(id="islice") | ast.Attribute(attr="islice"), args=[_, *_, end]):
                # One more than a bound is what `bounded` tells the bound from.
                if not isinstance(end, ast.BinOp):
                    yield node


def found() -> Iterator[tuple[str, str]]:
    for path in sorted(RISK.rglob("*.py")):
        name = path.relative_to(RISK).as_posix()
        if not name.startswith(SHOWS):
            yield from ((name, ast.unparse(node)) for node in cuts(ast.parse(path.read_text(encoding="utf-8"))))


def test_every_bound_is_noted() -> None:
    assert sorted({*found()} - ALLOWED.keys()) == []


def test_every_exception_is_still_there() -> None:
    assert sorted(ALLOWED.keys() - {*found()}) == []


@pytest.mark.parametrize(
    "code", ["a[:20]", "a[5:MOST]", "b.texts[:3]", "list(islice(a, 40))", "itertools.islice(a, 0, MOST)"]
)
def test_a_bound_is_recognized(code: str) -> None:
    assert [*cuts(ast.parse(code))]


P, J, S = Language.PYTHON, Language.JAVASCRIPT, Language.SHELL
RUN = "import subprocess\ndef run(cmd):\n    print('$', cmd)\n    subprocess.run(cmd, shell=True)\n"
JS_RUN = "const { execSync } = require('child_process');\nfunction run(cmd) {\n  execSync(cmd);\n}\n"
HOME = "rm -rf ~/Documents"
KEY = "/root/.ssh/id_rsa"


def assessed(language: Language, code: str) -> Assessment:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))


def listed(count: int, last: str, form: str = "make step{}") -> str:
    return ", ".join(repr(one) for one in [*map(form.format, range(count)), last])


def behind(count: int) -> dict[str, tuple[Language, str]]:
    """Return programs that do harm in the last of their calls, commands, texts or operands."""
    own = " ".join(f"build/{n}" for n in range(count))
    show = "def show(p):\n    print(open(p).read())\n"
    connect = "import psycopg2\ncur = psycopg2.connect('x').cursor()\n"
    select = "".join(f"SELECT {n};\n" for n in range(count))
    return {
        "a call": (P, RUN + "".join(f"run('make {n}')\n" for n in range(count)) + f"run({HOME!r})"),
        "a call of JavaScript": (J, JS_RUN + "".join(f"run('make {n}');\n" for n in range(count)) + f"run({HOME!r})"),
        "a call that reads": (P, show + "".join(f"show('docs/{n}.md')\n" for n in range(count)) + f"show({KEY!r})"),
        "a command": (P, f"import os\nfor c in [{listed(count, HOME)}]:\n    os.system(c)"),
        "a command of JavaScript": (J, f"{JS_RUN}for (const c of [{listed(count, HOME)}]) execSync(c);"),
        "a list of words": (
            P,
            "import subprocess\nfor c in ["
            + "".join(f"['make', 's{n}'], " for n in range(count))
            + "['rm', '-rf', '/home/me']]:\n    subprocess.run(c)",
        ),
        "a word of a loop": (S, f'for c in {listed(count, HOME).replace(",", "")}; do eval "$c"; done'),
        "a path": (P, f"import shutil\nfor p in [{listed(count, '/home/me', 'build/{}')}]:\n    shutil.rmtree(p)"),
        "an operand that is read": (S, f"cat {own} ~/.ssh/id_rsa"),
        "an operand that is moved": (S, f"mv {own} ~/.ssh /tmp/x"),
        "a statement": (S, f"psql shop <<'Q'\n{select}DROP TABLE customers;\nQ"),
        "a query": (
            P,
            f"{connect}for q in [{listed(count, 'DROP TABLE customers', 'SELECT {}')}]:\n    cur.execute(q)",
        ),
        "a long query": (
            P,
            connect + "cur.execute('''INSERT INTO t VALUES (1" + ",1" * count * 100 + ");DROP TABLE a''')",
        ),
        "a long path": (S, "cat ~/" + "./" * count * 20 + ".ssh/id_rsa"),
    }


@pytest.mark.parametrize("count", [4, 30, 300])
@pytest.mark.parametrize("name", behind(1))
def test_what_comes_last_is_seen_or_said_to_be_unseen(name: str, count: int) -> None:
    found = assessed(*behind(count)[name])
    assert (found.attention or Level.LOW) >= Level.HIGH
    assert found.verdict.sentence


def test_what_is_beyond_a_bound_is_said() -> None:
    steps = ", ".join(repr(f"make step{n}") for n in range(300))
    found = assessed(P, f"import os\nfor c in [{steps}]:\n    os.system(c)")
    assert found.attention is Level.HIGH
    assert found.unread
    assert not found.whole


def test_a_table_of_numbers_is_nothing_to_be_said() -> None:
    numbers = ", ".join(map(str, range(6_000)))
    found = assessed(P, f"table = [{numbers}]\nprint(sum(n * n for n in table))")
    assert found.verdict.sentence == "Computes and prints; touches no files, no network."
