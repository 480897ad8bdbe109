"""Ruby from outside: the package of the help is installed, named in the settings, read and run; faults are told."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.language_support import LANGUAGES, OWN
from runner.model.request import Language
from runner.settings.loading import load
from runner.settings.package_languages import with_languages
from runner.system import language_packages
from runner.system.places import Places
from tests.components import require

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "resources/help/code-languages.md"
NAMED = {"SANDBOX_SUPPORTED_LANGUAGES": "python,plugin:ruby"}
RUN = """
import asyncio, os, sys
from runner.model.request import Language, Limits
from runner.model.language_support import LANGUAGES
from runner.risk.worker.assessor import Assessor
from runner.sandbox.contract import Job
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.settings.package_languages import with_languages
from runner.system.places import Places
from pathlib import Path

async def run():
    sandbox = LocalSandbox(Path(sys.argv[1]))
    code, wanted = LANGUAGES[Language("ruby")].sample
    job = Job("test", Language("ruby"), code, Limits(seconds=60))
    result = await (await sandbox.start(job, lambda usage: None)).finished()
    await sandbox.close()
    print(result.stdout.strip() == wanted, result.meta.versions["ruby"][:2], result)

assert not with_languages(load(Places.standard(), os.environ)).problems
asyncio.run(run())
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places.under(tmp_path / "home")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of imports with the package of the help, built and installed by pip."""
    text = PAGE.read_text("utf-8")
    source, folder = tmp_path_factory.mktemp("assent-ruby"), tmp_path_factory.mktemp("site")
    parts = [re.search(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("toml", "python")]
    for name, part in zip(("pyproject.toml", "assent_ruby.py"), parts, strict=True):
        assert part is not None and part[1].count("\n") < 150
        (source / name).write_text(part[1], "utf-8")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, "--target", str(folder), str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A function that installs a package that brings a language."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)

    def add(code: str, name: str = "toy", package: str = "toy-language") -> None:
        module = package.replace("-", "_")
        monkeypatch.delitem(sys.modules, module, raising=False)
        (folder / f"{module}.py").write_text(textwrap.dedent(code), "utf-8")
        about = folder / f"{module}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "utf-8")
        (about / "entry_points.txt").write_text(f"[assent.languages]\n{name} = {module}:TOY\n", "utf-8")

    yield add
    assert tuple(LANGUAGES) == OWN == tuple(Language), "a language of another test is left"


def test_ruby_is_assessed_by_a_command_and_nothing_else_loads_it(site: Path, tmp_path: Path) -> None:
    file = tmp_path / "program.rb"
    file.write_text('name = "/etc/" + "passwd"\nFile.delete(name)\nputs 6 * 7\nsneak(1)\n', "utf-8")

    def assessed(**more: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": f"{site}:{ROOT}", "ASSENT_HOME": str(tmp_path / "home"), **more}
        command = [sys.executable, "-m", "app", "assess", str(file)]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    found = assessed(**NAMED)
    assert "CRITICAL" in found.stdout and "/etc/passwd" in found.stdout, found
    off = assessed()
    assert off.returncode != 0 and "is not clear" in off.stdout + off.stderr, "the settings do not name it"


def test_ruby_runs_in_the_local_sandbox(site: Path, tmp_path: Path) -> None:
    require("ruby")
    require("bubblewrap")
    environment = {**os.environ, "PYTHONPATH": f"{site}:{ROOT}", "ASSENT_HOME": str(tmp_path / "home"), **NAMED}
    command = [sys.executable, "-c", RUN, str(tmp_path / "runs")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("True "), done


def test_doctor_names_it(site: Path, tmp_path: Path) -> None:
    require("ruby")
    require("bubblewrap")
    environment = {**os.environ, "PYTHONPATH": f"{site}:{ROOT}", "ASSENT_HOME": str(tmp_path / "home"), **NAMED}
    command = [sys.executable, "-m", "app", "doctor"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "ok    Ruby: Version " in done.stdout, done


def test_the_process_that_reads_code_finds_the_language_by_itself(site: Path, tmp_path: Path) -> None:
    code = (
        "import asyncio, os\nfrom runner.model.request import *\nfrom runner.risk.worker.assessor import Assessor\n"
        "from runner.settings.loading import load\nfrom runner.settings.package_languages import with_languages\n"
        "from runner.system.places import Places\nplaces = Places.standard()\n"
        "async def main():\n"
        "    assessor = Assessor(places.own_rules)\n"
        "    try:\n"
        "        await assessor.assess(Request('', '', Tool.CODE_EXECUTE, 0.0, Language.SHELL, 'ls'))\n"
        "        with_languages(load(places, os.environ))\n"
        "        asked = Request('', '', Tool.CODE_EXECUTE, 0.0, Language('ruby'), 'File.delete(\"/etc/passwd\")')\n"
        "        print((await assessor.assess(asked)).verdict.sentence)\n"
        "    finally:\n"
        "        await assessor.close()\n"
        "asyncio.run(main())\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{site}:{ROOT}", "ASSENT_HOME": str(tmp_path / "home"), **NAMED}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("Deletes files of the operating system (/etc/passwd)"), done


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit(3)", "cannot be loaded: SystemExit: 3."),
        ("1 / 0", "cannot be loaded: ZeroDivisionError: division by zero."),
        ("OTHER = 1", "cannot be loaded: AttributeError"),
        ("TOY = 1", "is no language."),
        (
            "from runner.model.language_support import *\nTOY = LANGUAGES[Language.SHELL]",
            "has to bring how it is run and read",
        ),
        (
            """
            from dataclasses import replace
            from runner.model.language_support import *
            go = LANGUAGES[Language.GO]
            TOY = replace(go, title="Toy", toolchain=replace(go.toolchain, reading={"grammar": "x"}))
            """,
            "has .go, which Go has.",
        ),
    ],
)
def test_what_is_wrong_with_a_package_is_a_problem_of_the_settings(
    install: Callable[..., None], places: Places, code: str, said: str
) -> None:
    install(code)
    loaded = with_languages(load(places, {"SANDBOX_SUPPORTED_LANGUAGES": "python,plugin:toy"}))
    assert len(loaded.problems) == 1 and said in loaded.problems[0] and "toy-language 1.0" in loaded.problems[0]
    assert loaded.settings.languages == ("python",) and loaded.ask_everything


def test_no_package_takes_the_place_of_a_language_and_two_of_one_name_are_none(
    install: Callable[..., None], places: Places
) -> None:
    install("raise AssertionError('it was loaded')", name="python")
    loaded = with_languages(load(places, {"SANDBOX_SUPPORTED_LANGUAGES": "plugin:python"}))
    assert not loaded.problems and loaded.settings.languages == ("python",)
    for package in ("one", "two"):
        install("raise AssertionError('it was loaded')", package=package)
    with pytest.raises(KnownError, match=r"More than one language has the name toy: of one 1\.0 and of two 1\.0"):
        language_packages.load("toy")
    with pytest.raises(KnownError, match="No installed package brings a language with the name pearl"):
        language_packages.load("pearl")
    assert load(places, {"SANDBOX_SUPPORTED_LANGUAGES": "python,pearl"}).problems, (
        "without plugin: it is a typing error"
    )
