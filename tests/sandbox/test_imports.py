"""Reading imports before a run."""

from __future__ import annotations

import pytest

from runner.risk.inputs.imported import Import
from runner.sandbox.contract import ImportRule
from runner.sandbox.imports import explained, hint, permitted, refused

BLOCK = ImportRule(None, ("os", "subprocess"))


@pytest.mark.parametrize(
    "code",
    [
        "import os",
        "import json, os.path as p",
        "from os import path",
        "from os.path import join",
        "def f():\n    import os",
        "__import__('os')",
        "import importlib; importlib.import_module('os.path')",
        "import builtins; builtins.__import__('os')",
    ],
)
def test_found(code: str) -> None:
    assert [entry.module.partition(".")[0] for entry in refused(code, BLOCK)] == ["os"]


@pytest.mark.parametrize("code", ["# import os", "x = 'import os'", "import osmium", "from . import os", "import json"])
def test_not_found(code: str) -> None:
    assert refused(code, BLOCK) == ()


def test_lines_in_order() -> None:
    found = refused("import json\nimport subprocess\n\nimport os\n", BLOCK)
    assert found == (Import("subprocess", 2), Import("os", 4))


@pytest.mark.parametrize(
    "code", ["import os\n(", "import os\n\0", "import os\n" + "(" * 5000, "x = " + "-" * 200_000 + "1"]
)
def test_code_that_does_not_parse_is_left_to_python(code: str) -> None:
    assert refused(code, BLOCK) == ()


def test_allow_list() -> None:
    rule = ImportRule(("math", "xml.dom"), ("math.evil",))
    assert permitted("math", rule)
    assert permitted("xml.dom.minidom", rule)
    assert permitted("__future__", rule)
    assert not permitted("xml", rule)
    assert not permitted("json", rule)
    assert not permitted("math.evil", rule)


def test_words() -> None:
    text = explained((Import("os.path", 3),), BLOCK)
    assert text.startswith("Blocked import: os.path (line 3)\nInstead of os: pathlib")
    assert text.endswith("Nothing was run.\n")
    assert hint(ImportRule(())) == "Allowed: nothing."
    assert hint(ImportRule(("math", "os"), ("os",))) == "Allowed: math."


def test_what_is_known_to_be_imported_is_not_looked_for_again() -> None:
    assert refused("import os", BLOCK, ()) == ()
    assert refused("", BLOCK, (Import("os", 1), Import("json", 2))) == (Import("os", 1),)
