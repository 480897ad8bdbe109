"""A function that does harm and is handed on is worth a look where nobody sees with what it is called."""

from __future__ import annotations

import pytest

from runner.model.assessment import Assessment, Level
from runner.model.request import Language, Request, Tool
from runner.risk.assess import assess

P, J = Language.PYTHON, Language.JAVASCRIPT


def assessed(language: Language, code: str) -> Assessment:
    return assess(Request("id", "agent", Tool.CODE_EXECUTE, 0.0, language, code))


HANDED_ON = [
    "import os\nclass A:\n    __class_getitem__ = staticmethod(os.remove)\nA['a.txt']",
    "import os\nfrom json import JSONEncoder\nclass E(JSONEncoder):\n    default = staticmethod(os.remove)\nE()",
    "import configparser, os\nc = configparser.ConfigParser(converters={'words': os.remove})",
    "import argparse, shutil\np = argparse.ArgumentParser()\np.add_argument('path', type=shutil.rmtree)",
    "from os import unlink as u\nclass A:\n    hook = u",
]


@pytest.mark.parametrize("code", HANDED_ON)
def test_a_grave_function_that_is_handed_on_is_said(code: str) -> None:
    found = assessed(P, code)
    assert found.attention is Level.HIGH
    assert found.verdict.sentence.startswith("Hands on ")
    assert not found.whole


NOT = [
    "import os\nos.remove('a.txt')",
    "import os\nfor path in ('a.txt', 'b.txt'):\n    list(map(os.remove, [path]))",
    "import os\nfrom unittest import mock\nwith mock.patch('os.remove'):\n    print(1)",
    "def remove(x):\n    return x\nprint(list(map(remove, [1])))",
    "run = 1\nprint(run)",
]


@pytest.mark.parametrize("code", NOT)
def test_one_that_is_seen_called_is_not(code: str) -> None:
    assert not any(one.id == "hidden.handed-on" for one in assessed(P, code).findings)


STRONG = "touches no files, no network"
NOT_PROVED = [
    (P, "import json\ndef open(*a): return None\ndel open\nopen('a.txt')"),
    (P, "class A:\n    def __getattr__(self, name):\n        return print\nimport json\njson.dumps = A().x\nprint(1)"),
    (P, "print(().__class__.__base__)"),
    (J, "console.log([].constructor.constructor)"),
]


@pytest.mark.parametrize(("language", "code"), NOT_PROVED)
def test_nothing_is_said_to_touch_nothing_without_proof(language: Language, code: str) -> None:
    assert STRONG not in assessed(language, code).verdict.sentence


PROVED = [
    (P, "name = input()\nprint(name.upper())"),
    (P, "def apply(f, x):\n    return f(x)\nprint(apply(len, 'abc'))"),
    (
        P,
        "class P:\n    def __init__(self, x):\n        self.x = x\n"
        "    def __add__(self, o):\n        return P(self.x + o.x)\n"
        "print((P(1) + P(2)).x)",
    ),
    (J, "const twice = (f, x) => f(f(x));\nconsole.log(twice(x => x + 1, 1));"),
]


@pytest.mark.parametrize(("language", "code"), PROVED)
def test_what_only_computes_is_still_said_to_touch_nothing(language: Language, code: str) -> None:
    assert STRONG in assessed(language, code).verdict.sentence
