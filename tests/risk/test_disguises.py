"""Danger in disguise stays CRITICAL, by construction: deeds rewritten by steps that leave what a program does."""

from __future__ import annotations

import itertools
import shutil
from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language
from tests.risk.disguises.disguise import Disguised, deeds, disguised
from tests.risk.disguises.measure import Result, chains, over_all, singles
from tests.risk.disguises.running import chains as marker_chains
from tests.risk.disguises.running import each_step, failed

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = range(4)
EVERY = 3
"""One in so many of all pairs of deed and step; the bench tries all."""


def key(program: Disguised) -> tuple[Language, str, str]:
    return program.deed.language, program.steps[0], program.deed.name


def test_a_step_alone_keeps_danger_critical() -> None:
    result = Result()
    for program in itertools.islice(singles("danger"), 0, None, EVERY):
        result.add(program, 1)
    assert over_all(result.kept, 1).whole > 1000
    assert [key(program) for program in result.wrong] == []


def test_chains_of_steps_keep_danger_and_raise_nothing_harmless() -> None:
    result = chains(SEEDS, (2, 4))
    assert over_all(result.kept, 2).percent >= 97
    assert over_all(result.kept, 4).percent >= 93
    assert over_all(result.raised, 2).percent <= 0.5
    # What is put together in four ways at once is not always worked out, and then it is called hidden.
    assert over_all(result.raised, 4).percent <= 1


def test_deeds_are_what_they_are_called() -> None:
    result = Result()
    for deed in (*deeds("danger"), *deeds("harmless")):
        result.add(Disguised(deed, (), deed.code), 0)
    assert not result.wrong
    assert over_all(result.kept, 0).whole >= 40
    assert over_all(result.tricked, 0).part == 0


@pytest.mark.parametrize("language", [Language.PYTHON, Language.JAVASCRIPT, Language.SHELL])
def test_steps_leave_what_a_program_does(language: Language, tmp_path: Path) -> None:
    if language is Language.JAVASCRIPT and shutil.which("node") is None:
        pytest.skip("there is no node")
    programs = [*each_step(language), *marker_chains(language, range(1000, 1003), 3)]
    assert [program.code for program in failed(language, programs, tmp_path)] == []


def test_a_step_that_changes_what_a_program_does_is_found(tmp_path: Path) -> None:
    first = next(each_step(Language.PYTHON))
    broken = Disguised(first.deed, first.steps, "import os\nos.system('echo nothing')")
    assert failed(Language.PYTHON, [broken], tmp_path) == [broken]


def test_the_same_seed_gives_the_same_program() -> None:
    for deed in deeds("danger"):
        assert disguised(deed, 3, 7) == disguised(deed, 3, 7)
    assert len({disguised(deeds("danger")[0], 3, seed).code for seed in range(9)}) > 6
