"""Python code as a tree: parsed once for each question, and given up after it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from tree_sitter import Parser

from runner.model.request import KnownFile, Language, Request, Tool
from runner.risk.assess import assess
from runner.risk.executing import executing_javascript, executing_shell
from runner.risk.inputs.known_files import used
from runner.risk.javascript import syntax as javascript
from runner.risk.model import held
from runner.risk.python import python2, syntax
from runner.risk.shell import syntax as shell
from runner.risk.user_rules import Own
from runner.risk.worker.calls import HEADER, FindUsed, Used, pack, unpack
from runner.risk.worker.worker import _answered

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Tree

KNOWN = (KnownFile("helper.py", "import json"),)


def test_code_is_parsed_once_however_often_it_is_asked_for() -> None:
    held.forget()
    with mock.patch.object(ast, "parse", wraps=ast.parse) as parse:
        assert used(Language.PYTHON, "import helper", KNOWN).modules == KNOWN
        syntax.parse("import helper")
    assert [call.args[0] for call in parse.call_args_list] == ["import helper", "import json"]


def test_code_that_is_not_python_is_not_repaired_to_find_files() -> None:
    with mock.patch.object(python2, "modern", side_effect=AssertionError):
        assert used(Language.PYTHON, "print 'hello'\nimport helper", KNOWN).files == ()


def test_nothing_is_held_after_a_question_was_answered() -> None:
    length = HEADER.size
    call = pack(FindUsed(Language.PYTHON, "import helper", KNOWN))[length:]
    with mock.patch.object(ast, "parse", wraps=ast.parse) as parse:
        assert unpack(Used, _answered(call, mock.create_autospec(Own))[length:]) == Used(("helper.py",))
    assert parse.called
    assert syntax._read.cache_info().currsize == 0


@pytest.mark.parametrize(
    ("language", "code"),
    [
        (Language.JAVASCRIPT, "const fs = require('fs');\nfs.rmSync('a');\neval('1 + 1');\neval('1 + 1');"),
        (Language.JAVASCRIPT, "enum A { B }\nconst name: string = process.env.HOME!;\nconsole.log(name as string);"),
        (Language.SHELL, "bash -c 'make a'\nbash -c 'make b'\nbash -c 'make c'\n" * 2),
        (Language.PYTHON, "import os\nfor n in range(9):\n    os.system('make a')\n    os.system('make b')"),
        (Language.PYTHON, "import os\nprint 'a'\nos.remove('a')"),
    ],
)
def test_code_is_parsed_once(language: Language, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By each grammar that is tried: of JavaScript, where that fails, those of TypeScript are."""
    met: list[object] = []

    class Counting:
        def __init__(self, grammar: Grammar) -> None:
            self._grammar = grammar

        def parse(self, data: bytes) -> Tree:
            met.append((id(self._grammar), data))
            return Parser(self._grammar).parse(data)

    for module in (executing_javascript, executing_shell, javascript, shell):
        monkeypatch.setattr(module, "Parser", Counting)
    tree = syntax._tree
    monkeypatch.setattr(syntax, "_tree", lambda code: met.append(code) or tree(code))
    held.forget()
    assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))
    assert met
    assert len(met) == len(set(met))
