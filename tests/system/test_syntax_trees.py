"""Trees of Python code are made in one thread at a time: CPython 3.11 counts the depth of all in one place."""

from __future__ import annotations

import ast
import threading
from typing import TYPE_CHECKING

from runner.network import pip_settings
from runner.system import syntax_trees

if TYPE_CHECKING:
    import pytest

PARSE = ast.parse


def test_no_two_threads_make_trees_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    first_inside, others = threading.Event(), threading.Event()
    inside: list[int] = []

    def parse(*given: object, **named: object) -> object:
        inside.append(len(inside))
        first_inside.set()
        others.wait()
        return PARSE(*given, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(ast, "parse", parse)
    threads = [threading.Thread(target=syntax_trees.syntax_tree, args=("a = 1",)) for _ in range(2)]
    threads[0].start()
    first_inside.wait()
    alone = syntax_trees._ONE_AT_A_TIME.locked()
    threads[1].start()
    others.set()
    for one in threads:
        one.join()
    assert alone and inside == [0, 1]


def test_the_settings_of_pip_are_parsed_once_for_each_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are asked for with each request, in any thread."""
    source = "PyPI = PackageIndex('https://one.example/', file_storage_domain='files.one.example')\n"
    counted: list[str] = []
    monkeypatch.setattr(ast, "parse", lambda text, **named: counted.append(text) or PARSE(text, **named))
    pip_settings._package_index.cache_clear()
    for _ in range(3):
        assert pip_settings._package_index(source) == ("https://one.example/simple", "files.one.example")
    assert counted == [source]
