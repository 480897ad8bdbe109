"""Several registries on one machine: who is asked for which name, and nobody takes another's name."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

import pytest

from runner.model.assessment import Level
from runner.model.network import Destination
from runner.packages.failures import NoPlan
from runner.risk.context.planned import planned as findings
from tests.packages import test_npm
from tests.packages.registry import LoopbackRegistry, send, served
from tests.packages.test_planner import chosen, planned
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import BaseHTTPRequestHandler

    from runner.packages.planner import Planner
    from runner.packages.target import PythonTarget

pytestmark = pytest.mark.asyncio
Make = "Callable[..., Planner]"


@pytest.fixture
def other() -> Iterator[LoopbackRegistry]:
    with served(LoopbackRegistry()) as found:
        yield found


def both(planner: Make, first: LoopbackRegistry, second: LoopbackRegistry) -> Planner:
    here = frozenset({Destination("127.0.0.1", second.port)})
    return planner(first, also=here, further=(second.url,))


def place(registry: LoopbackRegistry) -> str:
    return f"127.0.0.1:{registry.port}"


async def test_a_further_index_is_asked_for_what_the_first_has_not(
    registry: LoopbackRegistry, other: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0", needs=["lib"])
    other.add("lib", "3.0")
    plan = await planned(both(planner, registry, other), target, "app")
    first, second = place(registry), place(other)
    assert chosen(plan) == ["app 1.0", "lib 3.0"]
    assert [one.index for one in plan.packages] == [first, second]
    assert f"All indexes were asked for each name; the first that has it counts: {first}, {second}" in plan.text
    assert f"  found in {second}" in plan.text and "! " not in plan.text and not list(findings(plan, 2e9))
    with pytest.raises(NoPlan, match=f"{first} and {second} have no package gone"):
        await planned(both(planner, registry, other), target, "gone")


async def test_one_index_says_nothing_of_an_order(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0")
    plan = await planned(planner(registry), target, "app")
    assert plan.indexes == () and plan.packages[0].index == "" and "found in" not in plan.text


async def test_a_name_that_two_indexes_have_is_critical_unless_it_is_the_same_file(
    registry: LoopbackRegistry, other: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0", needs=["lib", "shared"])
    registry.add("lib", "1.0")
    other.add("lib", "99.0")
    for one in (registry, other):
        one.add("shared", "2.0")
    other.add("shared", "3.0")
    plan = await planned(both(planner, registry, other), target, "app")
    assert chosen(plan) == ["app 1.0", "lib 1.0", "shared 2.0"]
    said = f"Also in {place(other)}, with other files than in {place(registry)}: which one is meant?"
    [found] = findings(plan, 2e9)
    assert (found.id, found.level, found.evidence, found.reason) == (
        "package.ambiguous", Level.CRITICAL, "lib 1.0", said,
    )  # fmt: skip
    assert f"lib 1.0 (needed by app)\n  ! {said}" in plan.text


async def test_what_a_build_uses_is_looked_for_in_all_indexes_too(
    registry: LoopbackRegistry, other: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add_source("app", "1.0")
    other.add("tinybuild", "99.0", files={"tinybuild.py": "import evil"})
    plan = await planned(both(planner, registry, other), target, "app")
    assert [one.title for one in plan.packages[0].build_files] == ["tinybuild 1.0"]
    assert [one.reason for one in findings(plan, 2e9) if one.id == "package.ambiguous"] == [
        f"tinybuild, which its build uses, is also in {place(other)}, with other files than in {place(registry)}: "
        "which one is meant?"
    ]


async def test_an_index_without_hashes_has_never_the_same_file(
    registry: LoopbackRegistry, other: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    for one in (registry, other):
        one.add("app", "1.0")
    other.projects["app"][0]["hashes"] = {}
    plan = await planned(both(planner, registry, other), target, "app")
    assert [one.id for one in findings(plan, 2e9)] == ["package.ambiguous"]


async def test_all_indexes_are_asked_at_once(
    registry: LoopbackRegistry, other: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    both_ask = threading.Barrier(2, timeout=HANGS)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        both_ask.wait()
        send(handler, b"", status=404)

    for one in (registry, other):
        one.answers["/simple/gone/"] = answer
    with pytest.raises(NoPlan, match="have no package gone"):
        await planned(both(planner, registry, other), target, "gone")


async def test_indexes_on_one_host_are_told_apart_by_their_paths(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0")
    registry.answers["/inner/simple/app/"] = lambda handler: send(handler, *registry.page("app"))
    maker = planner(registry, further=(f"{registry.root}/inner/simple/",))
    plan = await planned(maker, target, "app")
    assert plan.indexes == (f"{place(registry)}/simple", f"{place(registry)}/inner/simple")


async def test_nobody_takes_the_name_of_a_package_in_the_first_index(
    registry: LoopbackRegistry, other: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0")
    other.add("app", "99.0")
    maker = both(planner, registry, other)
    assert chosen(await planned(maker, target, "app")) == ["app 1.0"]
    with pytest.raises(NoPlan, match=f"{place(registry)} is the first index of this machine that has it"):
        await planned(maker, target, "app>1")
    # One that has a name without a wheel has the name.
    registry.projects["bare"] = []
    other.add("bare", "1.0")
    with pytest.raises(NoPlan, match="has no files of bare"):
        await planned(maker, target, "bare")
    assert not any(path.startswith("/files/") for path in other.asked)


@pytest.mark.parametrize("status", [401, 403, 500, 503])
async def test_an_index_that_fails_is_not_passed_over(
    registry: LoopbackRegistry, other: LoopbackRegistry, planner: Make, target: PythonTarget, status: int
) -> None:
    for fails, has in ((registry, other), (other, registry)):
        fails.answers["/simple/app/"] = lambda handler: send(handler, b"", status=status)
        has.add("app", "99.0")
        said = f"answers with status {status}. All indexes of this machine have to answer."
        with pytest.raises(NoPlan, match=re.escape(said)):
            await planned(both(planner, registry, other), target, "app")
        del fails.answers["/simple/app/"]
    assert not any(path.startswith("/files/") for path in (*registry.asked, *other.asked))


async def test_the_packages_of_a_scope_come_from_its_registry_alone(
    registry: LoopbackRegistry, other: LoopbackRegistry, planner: Make
) -> None:
    other.add_npm("@corp/app", "1.0.0", dependencies={"lib": "1.0.0"})
    registry.add_npm("@corp/app", "99.0.0")
    registry.add_npm("@corp/gone", "99.0.0")
    registry.add_npm("lib", "1.0.0")
    registry.add_npm("@free/lib", "2.0.0")
    here = frozenset({Destination("127.0.0.1", other.port)})
    maker = planner(registry, also=here, scopes={"@corp": f"{other.root}/"})
    plan = await test_npm.planned(maker, "@corp/app", "@free/lib")
    assert test_npm.places(plan) == {"@corp/app": "1.0.0", "lib": "1.0.0", "@free/lib": "2.0.0"}
    with pytest.raises(NoPlan, match=r"has no package @corp/gone"):
        await test_npm.planned(maker, "@corp/gone")
    assert not any("corp" in path for path in registry.asked)
    broken = planner(registry, scopes={"@corp": "registry.corp/"})
    with pytest.raises(NoPlan, match="no usable host"):
        await test_npm.planned(broken, "@corp/gone")
    assert not any("corp" in path for path in registry.asked)


async def test_what_is_deprecated_is_a_finding(registry: LoopbackRegistry, planner: Make) -> None:
    registry.add_npm("app", "1.0.0", deprecated="use other\ninstead", description="For a test.")
    plan = await test_npm.planned(planner(registry), "app")
    assert plan.packages[0].deprecated == "use other instead" and plan.packages[0].summary == "For a test."
    assert "! Its authors advise against it: use other instead." in plan.text
    assert [one.id for one in findings(plan, 2e9)] == ["package.deprecated"]
