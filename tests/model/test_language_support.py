"""What is known of a language stands in one place: one that the program does not know is named right everywhere."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import cast

import pytest

from app import phrases
from runner.commands import fixes
from runner.commands import run as run_command
from runner.engine.shared import integrity
from runner.engine.supply.planning import registry_of
from runner.gateway import catalog
from runner.model.errors import Refused
from runner.model.language_support import LANGUAGES, OWN, language_of
from runner.model.plan import Registry
from runner.model.request import Language, Request, Tool
from runner.packages.installing import PackageSet
from runner.risk.by_calls.reading import reading_of
from runner.risk.tools import writes
from runner.sandbox import toolchain
from runner.sandbox.container import trial
from runner.sandbox.images.recipe import recipe
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.programs import inside
from runner.settings.declared import Settings, declared
from runner.settings.default_packages import default_packages


class Toy(StrEnum):
    """A language of another package."""

    TOY = "toy"


TOY = cast("Language", Toy.TOY)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Language:
    support = replace(
        LANGUAGES[Language.SHELL], title="Toy", endings=(".toy",), also=(".play",), programs=("toy",), package="toys"
    )
    monkeypatch.setitem(LANGUAGES, TOY, support)
    return TOY


def test_a_language_from_outside_has_its_name_its_files_and_its_package(toy: Language) -> None:
    assert phrases.language(toy) == "Toy"
    assert run_command.language_of("a.toy", "") is toy and run_command.language_of("a", "#!/usr/bin/env toy\n") is toy
    assert writes.language_of("a.play", "") is toy and writes.language_of("a", "#!/usr/bin/toy\n") is toy
    assert "toys" in fixes.interpreter(toy)
    assert default_packages(toy, Settings()) == ()
    with pytest.raises(Refused):
        registry_of(toy)
    asked = Request("r", "a", Tool.CODE_EXECUTE, 0.0, toy, "import six")
    assert not integrity.mentions(asked, PackageSet(Registry.PYPI, (), {}, {}, ("six",)))


def test_every_language_is_in_the_table_and_offered() -> None:
    assert LANGUAGES.keys() == set(Language)
    assert Settings().languages == catalog.LANGUAGES, "what is not on from the beginning is not told to agents"
    by_itself = {one for one, support in LANGUAGES.items() if support.toolchain is None}
    assert trial.CODE.keys() == LocalSandbox()._given.keys() == by_itself
    settings = {one.name: one for one in declared()}
    assert settings["supported_languages"].choices == settings["warm_languages"].choices == tuple(OWN)
    for language, support in LANGUAGES.items():
        assert support.image in settings or (support.toolchain is not None and not support.image)
        assert recipe(language.value).language == language and trial.code(language)
        if support.toolchain is not None:
            assert reading_of(language).title == support.title and toolchain.of(language) is support.toolchain
        if (packages := support.packages) is not None:
            assert packages.setting in settings and inside(packages.checker) and inside(packages.builder)
    assert [language_of(registry) for registry in Registry] == [Language.PYTHON, Language.JAVASCRIPT]


def test_no_ending_and_no_interpreter_is_of_two_languages() -> None:
    for named in ("endings", "also", "programs"):
        every = [one for support in LANGUAGES.values() for one in getattr(support, named)]
        assert len(every) == len(set(every)), named


def test_agents_are_told_of_the_languages_that_are_on() -> None:
    (tool,) = [one for one in catalog.offered("x", languages=("python", "go", "java")) if one["name"] == "code_execute"]
    assert tool["inputSchema"]["properties"]["language"]["enum"] == ["python", "go", "java"]
    assert tool["description"].startswith(
        "Run Python, Go or Java code in a sandbox after a person approved it. Go/Java "
    )
    assert catalog.offered("x") == catalog.offered("x", languages=catalog.LANGUAGES)
