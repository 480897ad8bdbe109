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
from runner.model.language_support import LANGUAGES, language_of
from runner.model.plan import Registry
from runner.model.request import Language, Request, Tool
from runner.packages.installing import PackageSet
from runner.risk.tools import writes
from runner.sandbox.container import trial
from runner.sandbox.local.sandbox import LocalSandbox
from runner.sandbox.programs import inside
from runner.settings.declared import Settings
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
    assert tuple(language.value for language in Language) == catalog.LANGUAGES
    assert trial.CODE.keys() == LocalSandbox()._given.keys() == set(Language)
    settings = set(Settings.__dataclass_fields__)
    for support in LANGUAGES.values():
        assert support.image in settings
        if (packages := support.packages) is not None:
            assert packages.setting in settings and inside(packages.checker) and inside(packages.builder)
    assert [language_of(registry) for registry in Registry] == [Language.PYTHON, Language.JAVASCRIPT]


def test_no_ending_and_no_interpreter_is_of_two_languages() -> None:
    for named in ("endings", "also", "programs"):
        every = [one for support in LANGUAGES.values() for one in getattr(support, named)]
        assert len(every) == len(set(every)), named
