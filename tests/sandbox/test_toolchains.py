"""Languages that are known by values alone, in the local sandbox: they compile, run, complain, and are bound."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.request import Isolation, Language, Limits
from runner.model.result import Outcome, Result
from runner.sandbox import toolchain
from runner.sandbox.contract import Collect, Job
from runner.sandbox.local.sandbox import LocalSandbox
from tests.compiled import COMPILED, LISTS, broken
from tests.components import require
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.model.result import Usage


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalSandbox]:
    require("bubblewrap")
    made = LocalSandbox(tmp_path_factory.mktemp("runs"))
    yield made
    asyncio.run(made.close())


def ran(sandbox: LocalSandbox, language: Language, code: str, **changes: Any) -> Result:
    limits = Limits(**{"seconds": HANGS, "memory_mb": 1024, "disk_mb": 256, "processes": 256, "cpu_cores": 2.0} | {
        name: changes.pop(name) for name in list(changes) if name in Limits.__slots__
    })  # fmt: skip
    readings: list[Usage] = []

    async def body() -> Result:
        return await (await sandbox.start(Job("test", language, code, limits, **changes), readings.append)).finished()

    return asyncio.run(body())


@pytest.mark.parametrize("language", COMPILED)
def test_it_is_compiled_and_gets_what_any_code_gets(sandbox: LocalSandbox, language: Language, tmp_path: Path) -> None:
    require(language.value)
    given = ran(sandbox, language, LISTS[language], stdin="äh", context='{"note": "x y"}', collect=Collect(tmp_path))
    assert given.stdout == "äh x y 1\n" and not given.stderr, given
    assert (given.outcome, given.exit_code, given.error) == (Outcome.FAILED, 3, "Exit code 3")
    assert [file.path for file in given.files] == ["left.txt"], "nothing of the compiler is among them"
    assert given.meta.isolation is Isolation.LOCAL and toolchain.VERSION.fullmatch(given.meta.versions[language.value])


@pytest.mark.parametrize("language", COMPILED)
def test_what_the_compiler_complains_about_is_there_with_its_line(sandbox: LocalSandbox, language: Language) -> None:
    require(language.value)
    code, line = broken(language)
    found = ran(sandbox, language, code)
    assert found.outcome is Outcome.FAILED and found.exit_code in (1, 2) and found.stdout == ""
    assert f"{line}" in found.stderr and "sixTimesSeven" in found.stderr


def test_nothing_of_the_workspace_decides_how_go_compiles(sandbox: LocalSandbox, tmp_path: Path) -> None:
    require("go")
    code = 'package main\n\n// #include <stdlib.h>\nimport "C"\n\nfunc main() { C.system(C.CString("echo no")) }\n'
    found = ran(sandbox, Language.GO, code, context='{"cgo_enabled": "1"}')
    assert found.outcome is Outcome.FAILED and "no" not in found.stdout
    outside = 'package main\n\nimport "github.com/nobody/sneak"\n\nfunc main() { sneak.Away() }\n'
    found = ran(sandbox, Language.GO, outside)
    assert found.outcome is Outcome.FAILED and "github.com/nobody/sneak" in found.stderr


def test_a_language_that_is_added_while_the_console_is_open_is_named_with_its_version(tmp_path: Path) -> None:
    require("go")
    require("bubblewrap")
    on = [Language.PYTHON]
    sandbox = LocalSandbox(tmp_path / "runs", languages=lambda: tuple(on))

    async def body() -> None:
        assert "go" not in (await sandbox.check()).versions
        on.append(Language.GO)
        assert toolchain.VERSION.fullmatch((await sandbox.check()).versions["go"])
        on.remove(Language.GO)
        assert "go" not in (await sandbox.check()).versions
        await sandbox.close()

    asyncio.run(body())


def test_a_language_without_a_toolchain_is_none() -> None:
    with pytest.raises(KeyError):
        toolchain.of(Language.PYTHON)
    assert toolchain.version("go version go1.24.4 linux/amd64") == "1.24.4" and toolchain.version("none") == ""
