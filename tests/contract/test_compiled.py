"""Programs that are compiled first, in every sandbox: their images are built where they are missing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.request import Isolation, Language, Limits
from runner.model.result import Outcome
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.contract import Lasting
from tests import container_engine, direct_gvisor
from tests.compiled import COMPILED, LISTS, WITHOUT_END, broken
from tests.components import require
from tests.contract.conftest import alike, job
from tests.patience import HANGS, until_it_speaks

if TYPE_CHECKING:
    from runner.model.result import Result
    from tests.contract.conftest import Lab

LIMITS: dict[str, Any] = {"memory_mb": 1024, "disk_mb": 256, "processes": 256}
BUILDING_SECONDS = 1800
"""For an image on a busy machine: Go compiles its whole library for its own. It is built once for each machine."""

pytestmark = pytest.mark.timeout(BUILDING_SECONDS)
each = pytest.mark.parametrize("language", COMPILED)
one = pytest.mark.parametrize("language", [Language.GO])
"""For what is decided above the language."""
WIDE = "package main\n\nvar wide = [1 << 30]byte{1, 1 << 29: 1}\n\nfunc main() { println(wide[3]) }\n"
"""A table of a gigabyte, which the linker makes, long before the program starts."""


@pytest.fixture
def there(lab: Lab, language: Language) -> Lab:
    """A sandbox with what compiles the language."""
    if lab.kind == "local":
        require(language.value)
    elif isinstance(lab.sandbox, ContainerSandbox):
        if lab.sandbox.isolation is Isolation.GVISOR_DIRECT:
            direct_gvisor.images((language.value,))
        else:
            container_engine.fill(container_engine.address(), (language.value,))
        if language not in lab.built:  # there may have been an earlier one
            asyncio.run(lab.sandbox.examine())
            lab.built.add(language)
    ready = asyncio.run(lab.sandbox.check())
    if language not in (ready.images or ready.versions):
        assert lab.kind == "e2b", ready
        pytest.skip("not required: a template at E2B has what it has")
    return lab


@each
def test_it_gets_what_any_code_gets(there: Lab, language: Language) -> None:
    found = there.run(LISTS[language], language, stdin="äh", context='{"note": "x y"}', **LIMITS)
    assert (found.stdout, found.stderr) == ("äh x y 1\n", ""), found
    assert (found.outcome, found.exit_code, found.error) == (Outcome.FAILED, 3, "Exit code 3"), found
    assert [file.path for file in found.files] == ["left.txt"], "nothing of the compiler is among them"


@each
def test_what_its_compiler_complains_about_is_there_with_its_line(there: Lab, language: Language) -> None:
    code, line = broken(language)
    found = there.run(code, language, **LIMITS)
    assert (found.outcome, found.stdout) == (Outcome.FAILED, "") and found.exit_code in (1, 2), found
    assert f":{line}" in found.stderr and "sixTimesSeven" in found.stderr, found


@one
@alike
def test_its_time_is_up(there: Lab, language: Language) -> None:
    def run(seconds: float) -> Result:
        return there.run(WITHOUT_END[language], language, seconds=seconds, **LIMITS)

    found, _ = until_it_speaks(run, 2.0)
    assert (found.outcome, found.stdout, found.exit_code) == (Outcome.TIMED_OUT, "on\n", -1), found


@one
def test_its_compiler_is_bound_by_the_limits_of_the_run(there: Lab, language: Language) -> None:
    found = there.run(WIDE, language, **{**LIMITS, "memory_mb": 128, "disk_mb": 64})
    assert found.outcome is not Outcome.OK and not found.stdout, found
    assert (found.peak_memory or 0) < 512 << 20


@each
@alike
def test_in_a_kept_sandbox_what_one_left_is_no_hindrance_to_the_next(there: Lab, language: Language) -> None:
    code = LISTS[language]

    async def body() -> None:
        assert isinstance(there.sandbox, Lasting)
        session = await there.sandbox.open(language, Limits(seconds=HANGS, cpu_cores=2.0, **LIMITS), "")
        try:
            for given in ("first", "second"):
                wanted = job(code, language, stdin=given, context='{"note": "x"}', **LIMITS)
                found = await (await session.start(wanted, lambda _usage: None)).finished()
                assert found.stdout == f"{given} x 1\n", found
                assert (await session.read("left.txt", 0, 100)).data == given.encode()
        finally:
            await session.close()

    asyncio.run(body())
