"""Which runsc is taken: a recent one that only root can replace, and in which `ls -l` works."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.commands.images import main
from runner.model.errors import KnownError
from runner.model.request import Isolation, Language
from runner.sandbox import choose, image_stores
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container import trial
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.gvisor import program
from runner.sandbox.gvisor.engine import DirectEngine
from runner.sandbox.gvisor.program import Runsc, is_old, located
from runner.sandbox.images.build import ImageState, Progress
from runner.sandbox.images.folder_store import FolderStore
from runner.sandbox.images.recipe import names, recipe
from runner.sandbox.local import trusted
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.declared import Settings
from runner.system.places import Places
from tests import direct_gvisor

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from runner.sandbox.images.recipe import Recipe

BLIND = 'case "$1" in -la) echo "ls: cannot access \'.\': Invalid argument" >&2; exit 2;; esac\n'


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)
    return path


def runsc(path: Path, version: str) -> Path:
    return executable(path, f"echo runsc version {version}\necho spec: 1.0.2-dev\n")


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder in which programs are looked for; all in it counts as root's."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(trusted, "FOLDERS", ())
    monkeypatch.setattr(trusted, "replaceable", lambda path: "" if str(path).startswith(str(tmp_path)) else "/")
    return tmp_path


@pytest.mark.parametrize(
    ("version", "old"),
    [
        ("0.0~20221219.0", True),
        ("release-20231218.0", True),
        ("release-20240101.0", False),
        ("0.0~20240729.0", False),
        ("20250512.0", False),
        ("1.2.3", False),
        ("0.0~20241399.0", False),
    ],
)
def test_the_year_of_a_version_says_whether_it_is_too_old(version: str, old: bool) -> None:
    assert is_old(version) is old


def test_a_recent_one_counts_before_an_old_one_wherever_they_are(places: Path) -> None:
    assert located() == ""
    old = runsc(places / "bin/runsc", "0.0~20221219.0")
    assert located() == str(old), "the only one, to be named"
    kept = runsc(Places.standard().runsc, "0.0~20240729.0")
    assert located() == str(kept)
    assert Runsc.found().version == "0.0~20240729.0"
    recent = runsc(places / "bin/runsc", "release-20250101.0")
    assert located() == str(recent)


def test_one_that_was_fetched_is_taken_only_where_nobody_but_root_can_replace_it(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = runsc(places / "bin/runsc", "0.0~20221219.0")
    kept = runsc(Places.standard().runsc, "0.0~20240729.0")
    monkeypatch.setattr(trusted, "replaceable", lambda path: "/" if str(path) == str(kept) else "")
    assert located() == str(old)


def test_an_old_one_is_passed_over_with_words_that_name_it_and_what_to_do(places: Path) -> None:
    old = runsc(places / "bin/runsc", "0.0~20221219.0")
    with pytest.raises(KnownError) as raised:
        Runsc.found()
    assert raised.value.what == (
        f"{old}, version 0.0~20221219.0, is too old: `ls -l` and `stat` fail in gVisor from before 2024."
    )
    assert "assent images --gvisor" in raised.value.remedy

    async def body() -> choose.ChosenSandbox:
        direct = ContainerSandbox(
            Isolation.GVISOR_DIRECT, OWN_IMAGES, DirectEngine(FolderStore(places / "images")), own=True
        )
        local = LocalSandbox(places / "runs", python="/usr/bin/python3", bubblewrap=False)
        chosen = await choose.choose(choose.AUTO, (local, direct))
        with pytest.raises(KnownError, match="is too old"):
            await choose.choose("gvisor-direct", (local, direct))
        await direct.close()
        await local.close()
        return chosen

    chosen = asyncio.run(body())
    assert chosen.sandbox.isolation is Isolation.PROCESS
    assert f"gvisor-direct: {raised.value.what}" in chosen.why


@pytest.mark.parametrize(("language", "words"), [
    (Language.PYTHON, (sys.executable, "-c")),
    (Language.JAVASCRIPT, ("node", "-e")),
    (Language.SHELL, ("bash", "-c")),
])  # fmt: skip
def test_the_trial_fails_where_ls_cannot_see_files(language: Language, words: tuple[str, ...], tmp_path: Path) -> None:
    def status(path: str) -> int:
        made = tmp_path / "workspace"
        made.mkdir(exist_ok=True)
        environment = {**os.environ, "PATH": path}
        command = [*words, trial.CODE[language]]
        return subprocess.run(command, cwd=made, env=environment, capture_output=True, check=False).returncode

    usual = os.environ["PATH"]
    assert status(usual) == 0
    executable(tmp_path / "ls/ls", BLIND)
    assert status(f"{tmp_path}/ls:{usual}") == trial.BLIND_STATUS
    executable(tmp_path / "stat/stat", "exit 1\n")
    assert status(f"{tmp_path}/stat:{usual}") == trial.BLIND_STATUS


def test_a_real_gvisor_in_which_ls_fails_does_not_work_whatever_version_it_names(tmp_path: Path) -> None:
    """Debian 12's own, which is told what it does not know and says that it is a recent one."""
    old = direct_gvisor.old_program()
    lying = executable(
        tmp_path / "runsc",
        'case "$1" in --version) echo "runsc version release-20990101.0"; exit;; esac\n'
        'for word; do shift; [ "$word" = --overlay2=none ] || set -- "$@" "$word"; done\n'
        f'exec {old} "$@"\n',
    )
    with tempfile.TemporaryDirectory(prefix="assent-test-") as folder:
        sandbox = direct_gvisor.sandbox(Path(folder), str(lying))
        found = asyncio.run(sandbox.check())
        asyncio.run(sandbox.close())
    assert (found.ready, found.problem) == (False, f"The gVisor that is here {program.TOO_OLD}.")
    assert "assent images --gvisor" in found.remedy


MMDEBSTRAP = """echo "$@" >>{folder}/asked
cd {folder} && mkdir -p usr/bin && printf '#!/bin/sh\\necho runsc version {version}\\n' >usr/bin/runsc
chmod 755 usr/bin/runsc && tar -c ./usr
{end}
"""


def test_the_command_fetches_one_and_says_how_it_is_put_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only mmdebstrap is a stand-in."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    kept = Places.standard().runsc

    def fetch(version: str, *more: str, end: str = "") -> int:
        executable(tmp_path / "bin/mmdebstrap", MMDEBSTRAP.format(folder=tmp_path, version=version, end=end))
        return main(["--gvisor", *more])

    assert fetch("0.0~20240729.0", "--mirror", "https://mirror.example/debian") == 0
    assert program.version_of(str(kept)) == "0.0~20240729.0"
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    assert f"Next: sudo install -m 755 {kept} /usr/local/bin/runsc\n" in capsys.readouterr().out
    asked = (tmp_path / "asked").read_text()
    assert "--include=runsc" in asked and asked.endswith("trixie - deb https://mirror.example/debian trixie main\n")
    monkeypatch.setattr(trusted, "replaceable", lambda _path: "")
    assert fetch("0.0~20250101.0") == 0
    assert "sudo" not in capsys.readouterr().out
    assert fetch("0.0~20260101.0", end="echo E: the mirror is gone >&2; exit 1") == 1
    assert "the mirror is gone" in capsys.readouterr().err
    assert fetch("0.0~20221219.0") == 1
    assert "has gVisor of version 0.0~20221219.0 only" in capsys.readouterr().err
    assert program.version_of(str(kept)) == "0.0~20250101.0", "what was there stays"
    assert [one.name for one in kept.parent.iterdir()] == [kept.name]


def test_bringing_it_says_how_far_it_is_and_ends_where_only_root_can_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only mmdebstrap is a stand-in."""
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    monkeypatch.setattr(trusted, "FOLDERS", ())
    monkeypatch.setattr(trusted, "replaceable", lambda path: "" if str(path).startswith("/usr") else "/")
    monkeypatch.setattr(image_stores, "located", lambda: "")
    said = MMDEBSTRAP.format(folder=tmp_path, version="0.0~20250101.0", end="")
    executable(tmp_path / "bin/mmdebstrap", f"echo 'I: downloading packages with apt...' >&2\n{said}")

    async def brought() -> list[str]:
        return [f"{one.image} {one.part:.2f} {one.doing}" async for one in image_stores.bring_gvisor(Settings())]

    assert asyncio.run(brought()) == ["gVisor 0.00 starting", "gVisor 0.04 downloading packages"]
    assert program.version_of(str(Places.standard().runsc)) == "0.0~20250101.0"
    executable(tmp_path / "bin/mmdebstrap", "echo 'E: failed to fetch it' >&2; exit 1")
    with pytest.raises(KnownError, match=r"The packages cannot be fetched\. Check the network"):
        asyncio.run(brought())


def test_bringing_it_builds_the_images_that_are_missing_where_it_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    executable(tmp_path / "bin/mmdebstrap", MMDEBSTRAP.format(folder=tmp_path, version="0.0~20250101.0", end=""))
    monkeypatch.setattr(image_stores, "located", lambda: str(Places.standard().runsc))

    class Maker:
        async def state(self, one: Recipe) -> ImageState:
            return ImageState.READY if one.name == "python" else ImageState.MISSING

        async def build(self, one: Recipe) -> AsyncGenerator[Progress]:
            yield Progress(one.name, 1.0, "ready")

    async def builder(_settings: Settings, _mirror: str) -> Maker:
        return Maker()

    monkeypatch.setattr(image_stores, "builder", builder)

    async def brought() -> list[Progress]:
        return [one async for one in image_stores.bring_gvisor(Settings())]

    steps = asyncio.run(brought())
    on = set(Settings().languages)
    wanted = [name for name in names() if name != "python" and recipe(name).language in on]
    assert [one.image for one in steps] == ["gVisor", *wanted]
    assert steps[-1].part == pytest.approx(1.0) and sorted(one.part for one in steps) == [one.part for one in steps]
