"""Packages built in every kind of sandbox, at a gate that refuses every host."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from typing import TYPE_CHECKING

from runner.engine.supply.building import PackageBuilder
from runner.engine.supply.networking import Networking
from runner.model.plan import BuildFile, Plan, PlannedPackage, Registry
from runner.model.request import Language, Limits, Request, Tool
from runner.packages.building import PlanBuild
from runner.packages.installing import PackageSet, prepare
from runner.packages.npm_scripts import programs
from runner.packages.sdist import Sdist
from runner.packages.tarball import Tarball
from runner.packages.target import NODE_PROBE, PROBE, NodeTarget, PythonTarget
from runner.settings.declared import Settings
from runner.system.places import Places
from tests.contract.conftest import alike
from tests.doubles import SilentRecord
from tests.packages.registry import BACKEND, sdist, tarball, wheel

if TYPE_CHECKING:
    from pathlib import Path

    from runner.model.result import Result
    from runner.packages.installing import Built
    from runner.sandbox.contract import Job
    from tests.contract.conftest import Lab

FETCH = """
import urllib.request
try:
    urllib.request.urlopen("http://files.example/x", timeout=60)
except OSError as error:
    print(error)
from tinybuild import build_wheel
"""
TOML = "[build-system]\nrequires = ['tinybuild']\nbuild-backend = 'own'\nbackend-path = ['.']\n"


def package(name: str, file: str, data: bytes, **more: object) -> PlannedPackage:
    return PlannedPackage(name, "1.0.0", file, hashlib.sha256(data).hexdigest(), len(data), "", **more)  # type: ignore[arg-type]


def built(lab: Lab, folder: Path, plan: Plan, files: tuple[bytes, ...]) -> tuple[dict[str, Built], list[Result]]:
    results: list[Result] = []
    python = plan.registry is Registry.PYPI
    printed = lab.run(PROBE if python else NODE_PROBE, Language.PYTHON if python else Language.JAVASCRIPT).stdout
    target = (PythonTarget if python else NodeTarget).read(printed)

    async def body() -> dict[str, Built]:
        async def nothing(*_given: object) -> tuple[()]:
            return ()

        async def run(_title: str, job: Job) -> Result:
            results.append(await (await lab.sandbox.start(job, lambda _usage: None)).finished())
            return results[-1]

        record = SilentRecord()
        networking = Networking(record, Settings, nothing, nothing, time.time)
        builder = PackageBuilder(Places.under(folder), Settings, networking, record)
        limits = Limits(seconds=20.0, memory_mb=256, disk_mb=64, cpu_cores=2.0)
        request = Request("one", "claude", Tool.CODE_INSTALL_PACKAGE, 0.0, limits=limits, plan=plan)
        work = PlanBuild(plan, PackageSet(plan.registry), {hashlib.sha256(one).hexdigest(): one for one in files})
        made = await builder.build(request, work, target, run)
        taken = builder.taken("one")
        assert taken is not None
        results[-1] = taken
        return made

    return asyncio.run(body()), results


@alike
def test_a_wheel_is_built_without_network(lab: Lab, tmp_path: Path) -> None:
    source = sdist("app", "1.0.0", {"own.py": FETCH, "pyproject.toml": TOML})
    tool = wheel("tinybuild", "1.0", {"tinybuild.py": BACKEND})
    needs = BuildFile("tinybuild", "1.0", "tinybuild-1.0-py3-none-any.whl", hashlib.sha256(tool).hexdigest(), 1, "")
    own = Sdist("app-1.0.0.tar.gz", source).programs()
    one = package("app", "app-1.0.0.tar.gz", source, programs=own, build_files=(needs,))
    plan = Plan(Registry.PYPI, (), (one,))
    made, (result,) = built(lab, tmp_path, plan, (source, tool))
    assert [(one.host, one.allowed) for one in result.contacts] == [("files.example", False)], result
    assert "Blocked by Assent" in result.stdout
    bundle = prepare(plan, PackageSet(Registry.PYPI), lambda _one: source, made).bundle
    done = lab.run("import app; print(app.BUILT)", bundle=bundle, packages=bundle.modules, own_modules=False)
    assert done.stdout == "True\n", done.stderr


@alike
def test_install_scripts_run_within_their_package(lab: Lab, tmp_path: Path) -> None:
    manifest = '{"name": "app", "version": "1.0.0", "scripts": {"install": "pwd; echo \'exports.made = 1\' > made.js"}}'
    source = tarball({"package.json": manifest})
    read = Tarball(source)
    one = package("app", "app-1.0.0.tgz", source, place="app", programs=programs(read, read.manifest()))
    plan = Plan(Registry.NPM, (), (one,))
    made, (result,) = built(lab, tmp_path, plan, (source,))
    assert result.stdout.splitlines() == ["> app install", "/workspace/node_modules/app"]
    bundle = prepare(plan, PackageSet(Registry.NPM), lambda _one: source, made).bundle
    done = lab.run("console.log(require('app/made').made)", Language.JAVASCRIPT, bundle=bundle)
    assert done.stdout == "1\n", done.stderr


@alike
def test_a_package_cannot_put_a_command_before_the_programs_that_its_script_names(lab: Lab, tmp_path: Path) -> None:
    manifest = {
        "name": "app",
        "version": "1.0.0",
        "bin": {"node": "own.sh", "sh": "own.sh", "made": "own.sh"},
        "scripts": {"install": "node install.js; sh -c 'echo shell'; made"},
    }
    files = {
        "package.json": json.dumps(manifest),
        "install.js": "console.log('node')",
        "own.sh": "#!/bin/sh\necho own\n",
    }
    source = tarball(files)
    read = Tarball(source)
    one = package("app", "app-1.0.0.tgz", source, place="app", programs=programs(read, read.manifest()))
    _, (result,) = built(lab, tmp_path, Plan(Registry.NPM, (), (one,)), (source,))
    assert result.stdout.splitlines() == ["> app install", "node", "shell", "own"]
