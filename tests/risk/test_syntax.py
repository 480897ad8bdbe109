"""Python code as a tree: parsed once for each question, and given up after it."""

from __future__ import annotations

import ast
from unittest import mock

from runner.model.request import KnownFile, Language
from runner.risk.inputs.known_files import used
from runner.risk.model import held
from runner.risk.python import python2, syntax
from runner.risk.user_rules import Own
from runner.risk.worker.calls import HEADER, FindUsed, Used, pack, unpack
from runner.risk.worker.worker import _answered

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
    assert syntax.as_written.cache_info().currsize == 0
