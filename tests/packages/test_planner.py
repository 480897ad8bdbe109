"""Plans of Python packages: what pip would choose for this interpreter, found without running anything of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.model.plan import Plan, Registry
from runner.network.authorities import Authorities
from runner.packages.failures import NoPlan
from runner.packages.installing import PackageSet, Stale
from runner.packages.planner import PackageQuestion, Planner
from tests.packages.registry import LoopbackRegistry, certificate, served, wheel

if TYPE_CHECKING:
    from pathlib import Path

    from runner.packages.target import PythonTarget

pytestmark = pytest.mark.asyncio
Make = "Callable[..., Planner]"
NOTHING = PackageSet(Registry.PYPI)


async def planned(planner: Planner, target: PythonTarget, *asked: str, before: PackageSet = NOTHING) -> Plan:
    return await planner.plan("claude", PackageQuestion(Registry.PYPI, asked, target, before))


def chosen(plan: Plan) -> list[str]:
    return [package.title for package in plan.packages]


@pytest.mark.parametrize("html", [False, True])
async def test_the_newest_that_fits_together_is_chosen(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget, html: bool
) -> None:
    registry.html = html
    registry.add("app", "1.0", needs=["lib>=1", "tool; python_version < '3'", "fast; extra == 'speed'"])
    registry.add("app", "2.0rc1")
    registry.add("lib", "1.0")
    registry.add("lib", "1.5")
    registry.add("lib", "2.0", requires_python="<3.9")
    registry.add("fast", "1.0", needs=["lib<1.5"])
    # A page in HTML has no conditions on Python here: then the newest one counts.
    newest = "lib 2.0" if html else "lib 1.5"
    assert chosen(await planned(planner(registry), target, "app")) == ["app 1.0", newest]
    assert chosen(await planned(planner(registry), target, "App[Speed]")) == ["app 1.0", "fast 1.0", "lib 1.0"]
    assert chosen(await planned(planner(registry), target, "app>=2.0rc1")) == ["app 2.0rc1"]


async def test_what_a_person_is_shown_comes_from_the_registry(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0", needs=["requets"])
    registry.add("app", "1.1", yanked="broke everything", upload_time="2021-01-01T00:00:00Z")
    registry.add("requets", "1.0")
    plan = await planned(planner(registry), target, "app==1.1")
    assert plan.packages[0].yanked == "broke everything" and plan.packages[0].versions == 2
    assert "! Its authors withdrew this version: broke everything." in plan.text
    with pytest.raises(NoPlan, match=r"No version fits app>1\."):
        await planned(planner(registry), target, "app>1")


async def test_a_name_that_looks_like_a_known_one_is_marked(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0", needs=["requets"])
    registry.add("requets", "1.0")
    plan = await planned(planner(registry), target, "app")
    assert [package.mistaken_for for package in plan.packages] == ["", "requests"]
    assert plan.packages[1].wanted_by == ("app",)


async def test_a_plan_is_prepared_from_the_files_that_were_planned(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    files = {"app/__init__.py": "", "app/data.bin": b"\0\1", "evil.pth": "import os", "app-1.0.data/scripts/run": "x"}
    points = {"app-1.0.dist-info/entry_points.txt": "[console_scripts]\napp = app:main\nbad/name = app:main\n"}
    registry.add("app", "1.0", wheel("app", "1.0", files | points))
    maker = planner(registry)
    plan = await planned(maker, target, "app")
    before = len(registry.asked)
    prepared = await maker.prepare("claude", plan, NOTHING)
    assert len(registry.asked) == before, "it was fetched again although it is kept"
    places = {member.place for archive in prepared.bundle.archives for member in archive.members}
    assert {"app/__init__.py", "app/data.bin"} <= places and not places & {"evil.pth", "run"}
    assert [place for place, _ in prepared.bundle.commands] == ["bin/app"]
    assert set(prepared.left_out) == {"evil.pth", "app-1.0.data/scripts/run"}
    assert prepared.after.names == ("app",) and prepared.bundle.modules.keys() == {"app/__init__.py"}
    with pytest.raises(Stale):
        await maker.prepare("claude", plan, prepared.after)


async def test_the_registry_of_a_company_is_asked_over_https_with_its_credentials(
    tmp_path: Path, planner: Make, target: PythonTarget
) -> None:
    context, authority = certificate(tmp_path)
    with served(LoopbackRegistry(), context) as registry:
        registry.add("app", "1.0")
        maker = planner(registry)
        with pytest.raises(NoPlan, match="cannot be trusted"):
            await planned(maker, target, "app")
        trusting = Authorities((str(authority),))
        assert chosen(await planned(planner(registry, authorities=trusting), target, "app")) == ["app 1.0"]
        gone = Authorities((str(tmp_path / "none.pem"),))
        with pytest.raises(NoPlan, match="certificates that this machine trusts cannot be read"):
            await planned(planner(registry, authorities=gone), target, "app")


async def test_one_agent_is_planned_for_one_at_a_time_and_another_does_not_wait(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0")
    maker = planner(registry)
    plans = [await planned(maker, target, "app") for _ in range(2)]
    assert plans[0] is plans[1], "the same question was asked of the registry twice"
