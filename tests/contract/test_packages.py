"""Packages in every kind of sandbox: unpacked inside, imported as they were installed, counted, and not collected."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.model.plan import Plan, PlannedPackage, Registry
from runner.model.request import Language
from runner.model.result import Outcome
from runner.packages.installing import PackageSet, prepare
from tests.contract.conftest import alike
from tests.contract.test_session import ran, within
from tests.packages.registry import tarball, wheel

if TYPE_CHECKING:
    from runner.model.bundle import Bundle
    from runner.sandbox.contract import Session
    from tests.contract.conftest import Lab

PYTHON_FILES = {
    "alpha/__init__.py": "from alpha import inner\nVALUE = inner.VALUE",
    "alpha/inner.py": "VALUE = 42",
    "alpha/data.bin": "x" * 100_000,
    "alpha-1.0.dist-info/entry_points.txt": "[console_scripts]\nalpha = alpha:main\n",
}
USE = "import sys, alpha\nprint(alpha.VALUE, 'zipfile' in sys.modules, open('made', 'w').write('x'))"


def bundle(registry: Registry, data: bytes, place: str = "") -> Bundle:
    sha256 = hashlib.sha256(data).hexdigest()
    file = "alpha-1.0-py3-none-any.whl" if registry is Registry.PYPI else "alpha-1.0.0.tgz"
    package = PlannedPackage("alpha", "1.0", file, sha256, len(data), "", place)
    return prepare(Plan(registry, (), (package,)), PackageSet(registry), lambda _package: data).bundle


PYTHON = bundle(Registry.PYPI, wheel("alpha", "1.0", PYTHON_FILES))


@alike
def test_a_run_gets_its_packages_and_nothing_of_their_unpacking(lab: Lab) -> None:
    done = lab.run(USE, bundle=PYTHON, packages=PYTHON.modules, own_modules=False, stdin="input")
    assert (done.outcome, done.stdout) == (Outcome.OK, "42 False 1\n"), done.stderr
    assert [file.path for file in done.files] == ["made"] and "packages" in done.files_left_out


@alike
def test_node_gets_its_packages(lab: Lab) -> None:
    data = tarball({"package.json": '{"main": "lib/main.js"}', "lib/main.js": "module.exports = 42"})
    code = "const fs = require('fs'); console.log(require('alpha'), fs.readFileSync(0, 'utf8'))"
    done = lab.run(code, Language.JAVASCRIPT, bundle=bundle(Registry.NPM, data, "alpha"), stdin="input")
    assert (done.outcome, done.stdout) == (Outcome.OK, "42 input\n"), done.stderr


@alike
def test_packages_count_against_the_disk(lab: Lab) -> None:
    large = bundle(Registry.PYPI, wheel("alpha", "1.0", {f"alpha/{n}": b"\0" * (4 << 20) for n in range(6)}))
    done = lab.run("print(1)", bundle=large, packages=large.modules, disk_mb=8)
    assert done.outcome in (Outcome.OUT_OF_DISK, Outcome.OUT_OF_MEMORY) and done.stdout == "", done


@pytest.mark.parametrize("language", [Language.PYTHON, Language.JAVASCRIPT])
@alike
def test_what_is_not_what_was_approved_is_not_unpacked(lab: Lab, language: Language) -> None:
    data = tarball({"package.json": "{}"})
    good = PYTHON if language is Language.PYTHON else bundle(Registry.NPM, data, "alpha")
    first = good.archives[0]
    changed = replace(first, data=bytes([first.data[0] ^ 1]) + first.data[1:])
    done = lab.run("print(1)", language, bundle=replace(good, archives=(changed,)))
    assert done.outcome is Outcome.FAILED and "hash" in done.stderr and done.stdout == ""
    outside = replace(first, members=(replace(first.members[0], place="../evil"),))
    done = lab.run("print(1)", language, bundle=replace(good, archives=(outside,)))
    assert done.outcome is Outcome.FAILED and "outside" in done.stderr


@alike
def test_a_kept_sandbox_keeps_them_and_loads_only_what_was_installed(lab: Lab) -> None:
    async def body(session: Session) -> None:
        await ran(session, "import os; os.mkdir('.packages'); open('.packages/alpha.py', 'w').write('print(666)')")
        done = await ran(session, "pass", bundle=PYTHON, own_modules=False)
        assert done.outcome is Outcome.OK, done.stderr
        given = {"packages": PYTHON.modules, "own_modules": False}
        assert (await ran(session, "import alpha; print(alpha.VALUE)", **given)).stdout == "42\n"
        assert (await ran(session, "import alpha", own_modules=False)).outcome is Outcome.FAILED
        await ran(session, "open('/workspace/.packages/alpha/inner.py', 'w').write('print(666)')")
        done = await ran(session, "import alpha", **given)
        assert done.outcome is Outcome.FAILED and "not as it was installed" in done.stderr and not done.stdout
        # Not written over what is there: the sandbox is distinguished from one without packages.
        again = await ran(session, "print(1)", bundle=replace(PYTHON, clean=False), own_modules=False)
        assert again.outcome is Outcome.FAILED and "exists" in again.stderr
        again = await ran(session, "import alpha; print(alpha.VALUE)", bundle=PYTHON, **given)
        assert again.stdout == "42\n", again.stderr

    within(lab, body)
