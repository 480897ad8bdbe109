"""Languages that are known by values alone, in the local sandbox: they compile, run, complain, and are bound."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from runner.model.language_support import LANGUAGES, OWN
from runner.model.request import Isolation, Language, Limits
from runner.model.result import Outcome, Result
from runner.sandbox import toolchain
from runner.sandbox.contract import Collect, Job
from runner.sandbox.local.sandbox import LocalSandbox
from tests.components import require
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.model.result import Usage

COMPILED = [one for one in OWN if LANGUAGES[one].toolchain is not None]
LISTS = {
    "go": 'package main\n\nimport (\n\t"fmt"\n\t"io"\n\t"os"\n)\n\nfunc main() {\n\tgiven, _ := io.ReadAll(os.Stdin)\n'
    '\tfmt.Println(string(given), os.Getenv("note"), len(os.Args))\n\tos.WriteFile("left.txt", given, 0o644)\n'
    "\tos.Exit(3)\n}\n",
    "rust": "use std::io::Read;\nfn main() {\n    let mut given = String::new();\n"
    "    std::io::stdin().read_to_string(&mut given).unwrap();\n"
    '    println!("{} {} {}", given, std::env::var("note").unwrap(), std::env::args().count());\n'
    '    std::fs::write("left.txt", &given).unwrap();\n    std::process::exit(3);\n}\n',
    "java": "import java.nio.file.*;\nclass Main {\n  public static void main(String[] given) throws Exception {\n"
    "    String text = new String(System.in.readAllBytes());\n"
    '    System.out.println(text + " " + System.getenv("note") + " " + (given.length + 1));\n'
    '    Files.writeString(Path.of("left.txt"), text);\n    System.exit(3);\n  }\n}\n',
}
"""Prints its input, a variable and the number of its arguments with its own name, leaves a file, and ends with 3."""
WITHOUT_END = {
    "go": "package main\n\nfunc main() {\n\tfor {\n\t}\n}\n",
    "rust": "fn main() {\n    loop {}\n}\n",
    "java": "class Main {\n  public static void main(String[] given) {\n    while (true) {}\n  }\n}\n",
}


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
    broken = LANGUAGES[language].sample[0].replace("6 * 7", "sixTimesSeven()")
    line = next(at for at, text in enumerate(broken.split("\n"), 1) if "sixTimesSeven" in text)
    found = ran(sandbox, language, broken)
    assert found.outcome is Outcome.FAILED and found.exit_code in (1, 2) and found.stdout == ""
    assert f"{line}" in found.stderr and "sixTimesSeven" in found.stderr


def test_a_compiler_and_what_it_makes_are_bound_by_the_limits_of_the_run(sandbox: LocalSandbox) -> None:
    require("go")
    assert ran(sandbox, Language.GO, WITHOUT_END["go"], seconds=8.0).outcome is Outcome.TIMED_OUT
    # A table of a gigabyte is made by the linker, long before the program starts.
    wide = "package main\n\nvar wide = [1 << 30]byte{1, 1 << 29: 1}\n\nfunc main() { println(wide[3]) }\n"
    found = ran(sandbox, Language.GO, wide, memory_mb=128, disk_mb=64)
    assert found.outcome is not Outcome.OK and not found.stdout


def test_nothing_of_the_workspace_decides_how_go_compiles(sandbox: LocalSandbox, tmp_path: Path) -> None:
    require("go")
    code = 'package main\n\n// #include <stdlib.h>\nimport "C"\n\nfunc main() { C.system(C.CString("echo no")) }\n'
    found = ran(sandbox, Language.GO, code, context='{"cgo_enabled": "1"}')
    assert found.outcome is Outcome.FAILED and "no" not in found.stdout
    outside = 'package main\n\nimport "github.com/nobody/sneak"\n\nfunc main() { sneak.Away() }\n'
    found = ran(sandbox, Language.GO, outside)
    assert found.outcome is Outcome.FAILED and "github.com/nobody/sneak" in found.stderr


def test_a_language_without_a_toolchain_is_none() -> None:
    with pytest.raises(KeyError):
        toolchain.of(Language.PYTHON)
    assert toolchain.version("go version go1.24.4 linux/amd64") == "1.24.4" and toolchain.version("none") == ""
