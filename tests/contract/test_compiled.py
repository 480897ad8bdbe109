"""Programs that are compiled first, in every sandbox that has what compiles them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runner.model.language_support import LANGUAGES, OWN
from runner.model.result import Outcome
from tests.contract.conftest import Lab, alike

if TYPE_CHECKING:
    from runner.model.language_support import LanguageSupport
    from runner.model.request import Language

COMPILED = {one: support for one, support in LANGUAGES.items() if one in OWN and support.toolchain is not None}


@alike
@pytest.mark.parametrize(("language", "support"), list(COMPILED.items()))
def test_it_runs_and_its_compiler_complains(lab: Lab, language: Language, support: LanguageSupport) -> None:
    ready = asyncio.run(lab.sandbox.check())
    there = ready.images or ready.versions
    if language not in there:
        pytest.skip("not required: the images of compilers have hundreds of megabytes")
    code, wanted = support.sample
    image = ready.images.get(language, "")
    # Twice: what the first leaves is no hindrance.
    for _ in range(2):
        found = lab.run(code, language, memory_mb=1024, disk_mb=256, processes=256, image=image)
        assert (found.outcome, found.stdout.strip()) == (Outcome.OK, wanted), found
    broken = lab.run("broken {\n", language, memory_mb=1024, disk_mb=256, processes=256, image=image)
    assert broken.outcome is Outcome.FAILED and broken.exit_code and "broken" in broken.stderr, broken
