"""Tried against package plans: answers of a registry that are small to send and take long or much to read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from runner.packages import index, npm_registry
from runner.packages.failures import NoPlan, Unusable
from runner.packages.limits import PlanLimits
from runner.packages.python_project import project
from runner.packages.semver import NotARange, range_of, version
from tests.packages.conftest import planner, registry, target
from tests.security.test_packages import planned

if TYPE_CHECKING:
    from runner.packages.target import PythonTarget
    from tests.packages.registry import LoopbackRegistry

__all__ = ["planner", "registry", "target"]
Make = "Callable[..., Planner]"


def test_tags_that_multiply_are_not_unfolded(target: PythonTarget) -> None:
    """26 times 26 times 26 tags in one name, and 50,000 names on a page: that would be long."""
    many = ".".join("abcdefghijklmnopqrstuvwxyz")
    names = [f"app-{number}-{many}-{many}-{many}.whl" for number in range(400)]
    found = [index.ProjectFile(name, "https://x.example/", "0" * 64) for name in names]
    good = index.ProjectFile("app-1.0-py2.py3-none-any.whl", "https://x.example/", "0" * 64)
    began = time.process_time()
    assert [str(one.version) for one in project("app", [*found, good], target).releases] == ["1.0"]
    assert time.process_time() - began < 2, "they were unfolded"


@pytest.mark.parametrize("values", [b"[]," * 1_100_000, b"0," * 4_100_000])
def test_an_answer_of_nothing_but_values_is_not_read(values: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    page = b'{"files": [%s1]}' % values
    monkeypatch.setattr(index.json, "loads", lambda _data: pytest.fail("it was read"))
    with pytest.raises(Unusable):
        index.files(page, "application/json", "https://x.example/")
    with pytest.raises(Unusable):
        npm_registry.read(page, "app", "https://x.example/")


@pytest.mark.parametrize("text", ["1.٢.3", "1.2.3-١", "१.0.0"])
def test_versions_have_plain_digits(text: str) -> None:
    assert version(text) is None
    with pytest.raises(NotARange):
        range_of(text)


@pytest.mark.asyncio
async def test_choosing_versions_ends_with_the_time_of_the_plan(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    """Many versions, each held against hundreds of conditions: nothing is waited for meanwhile."""
    conditions = ",".join(f"!=9.{number}" for number in range(100))
    registry.add("app", "1.0", needs=[f"wide{conditions}"])
    registry.add("wide", "1.0")
    first = registry.projects["wide"][0]
    for number in range(9_000):
        registry.projects["wide"].append({**first, "filename": f"wide-2.{number}-py3-none-any.whl"})
    with pytest.raises(NoPlan, match="in time"):
        await planned(planner(registry, PlanLimits(seconds=0.7)), target)
