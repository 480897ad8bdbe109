"""Several registries on one machine: who is asked for which name, and nobody takes another's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.model.network import Destination
from runner.packages.failures import NoPlan
from runner.risk.planned import planned as findings
from tests.packages import test_npm
from tests.packages.registry import LoopbackRegistry, send, served
from tests.packages.test_planner import chosen, planned

if TYPE_CHECKING:
    from collections.abc import Iterator

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


async def test_a_further_index_is_asked_for_what_the_first_has_not(
    registry: LoopbackRegistry, other: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0", needs=["lib"])
    other.add("lib", "3.0")
    plan = await planned(both(planner, registry, other), target, "app")
    assert chosen(plan) == ["app 1.0", "lib 3.0"]
    assert other.asked[0] == "/simple/lib/" and "/simple/app/" not in other.asked
    assert "found in 127.0.0.1, the first index of this machine that has the name" in plan.text
    with pytest.raises(NoPlan, match=r"127\.0\.0\.1 and 127\.0\.0\.1 have no package gone"):
        await planned(both(planner, registry, other), target, "gone")


async def test_nobody_takes_the_name_of_a_package_in_the_first_index(
    registry: LoopbackRegistry, other: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0")
    other.add("app", "99.0")
    maker = both(planner, registry, other)
    assert chosen(await planned(maker, target, "app")) == ["app 1.0"]
    with pytest.raises(NoPlan, match=r"127\.0\.0\.1 is the first index of this machine that has it"):
        await planned(maker, target, "app>1")
    # One that has a name without a wheel has the name.
    registry.projects["bare"] = []
    other.add("bare", "1.0")
    with pytest.raises(NoPlan, match="has no files of bare"):
        await planned(maker, target, "bare")
    assert other.asked == []


@pytest.mark.parametrize("status", [401, 403, 500, 503])
async def test_an_index_that_fails_is_not_passed_over(
    registry: LoopbackRegistry, other: LoopbackRegistry, planner: Make, target: PythonTarget, status: int
) -> None:
    registry.answers["/simple/app/"] = lambda handler: send(handler, b"", status=status)
    other.add("app", "99.0")
    with pytest.raises(NoPlan, match=f"status {status}"):
        await planned(both(planner, registry, other), target, "app")
    assert other.asked == []


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
