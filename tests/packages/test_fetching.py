"""The bound of a plan holds for files that are fetched at the same time, none of which exceeds it alone."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from runner.model.plan import Registry
from runner.packages.failures import NoPlan
from runner.packages.installing import PackageSet
from runner.packages.limits import PlanLimits
from runner.packages.planner import PackageQuestion
from runner.packages.target import NodeTarget

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.packages.planner import Planner
    from tests.packages.registry import LoopbackRegistry

pytestmark = pytest.mark.asyncio
MEBI = 1 << 20
NAMES = ("one", "two", "three", "four")


async def test_files_that_are_fetched_together_do_not_exceed_the_bound_of_the_plan(
    registry: LoopbackRegistry, planner: Callable[..., Planner]
) -> None:
    dice = random.Random(1)
    for name in NAMES:
        registry.add_npm(name, "1.0.0", {"data.txt": f"{dice.randbytes(3 * MEBI // 4).hex()}"})
    question = PackageQuestion(
        Registry.NPM, NAMES, NodeTarget("linux", "x64", "glibc", "22.0.0"), PackageSet(Registry.NPM)
    )
    sizes = [len(data) for data in registry.files.values()]
    enough = PlanLimits(file_bytes=2 * MEBI, plan_bytes=sum(sizes))
    assert len((await planner(registry, enough).plan("claude", question)).packages) == len(NAMES)
    little = PlanLimits(file_bytes=2 * MEBI, plan_bytes=2 * MEBI)
    assert max(sizes) < little.plan_bytes < sum(sizes)
    with pytest.raises(NoPlan, match="more than 2 MB"):
        await planner(registry, little).plan("claude", question)
