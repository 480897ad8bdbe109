"""The images: what is in them, that they come out alike, and builds that do not end well."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.commands.images import main
from runner.model.errors import KnownError
from runner.model.request import Language
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.docker import image_store
from runner.sandbox.images.archive import LIST
from runner.sandbox.images.build import LOADING, Builder, ImageState
from runner.sandbox.images.recipe import names, recipe
from runner.sandbox.images.rootfs import DEBIAN, Here, InContainer, source
from tests import container_engine as engine

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator

    from runner.sandbox.images.build import Progress
    from runner.sandbox.images.recipe import Recipe

SHELL = recipe("shell")
TELLS_VERSION = {
    "python": ("python3", "-c", "import platform; print(platform.python_version())"),
    "javascript": ("node", "-p", "process.versions.node"),
    "shell": ("bash", "-c", "echo ${BASH_VERSION%(*}"),
}
STAND_IN = engine.KEPT / "debian.tar"
"""A Debian that stands for the registry's."""
LOOKS_AROUND = """
id -u; pwd; touch /workspace/x && echo writes
find / -xdev -perm /6000 2>/dev/null
ls /usr/bin/apt* /usr/bin/dpkg* /usr/bin/perl* /var/lib/apt /var/lib/dpkg /usr/share/man 2>/dev/null
"""


@pytest.fixture
def address() -> str:
    engine.client()
    return engine.address()


@pytest.fixture
def own() -> Iterator[tuple[str, Path]]:
    """An engine that a test may kill, and its folder."""
    with _engine_of_its_own() as at:
        yield at


@contextlib.contextmanager
def _engine_of_its_own() -> Iterator[tuple[str, Path]]:
    with tempfile.TemporaryDirectory(prefix="assent-") as folder:
        at = Path(folder) / "e"
        try:
            yield engine.started(at), at
        finally:
            engine.stopped(at)
            assert not at.exists()


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where builds put what they are working on; nothing may be left there."""
    folder = tmp_path / "room"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []
    assert str(folder) not in Path("/proc/self/mountinfo").read_text()


@pytest.mark.parametrize("name", engine.IMAGES)
def test_an_image_says_what_it_is_and_holds_nothing_more(address: str, name: str) -> None:
    told = json.loads(docker(address, "image", "inspect", recipe(name).tag))[0]["Config"]
    labels = told["Labels"]
    assert (told["User"], told["WorkingDir"], labels["assent.language"]) == ("1000:1000", "/workspace", name)
    assert labels["org.opencontainers.image.version"] == labels["assent.version"]
    assert run(address, name, *TELLS_VERSION[name]).split() == [labels["assent.version"]]
    assert run(address, name, "sh", "-c", LOOKS_AROUND).split() == ["1000", "/workspace", "writes"]


def test_python_of_an_image_is_compiled_ahead(address: str) -> None:
    code = "import os, json; print(os.access(json.__cached__, os.R_OK))"
    assert run(address, "python", "python3", "-c", code) == "True\n"


HAS_OF_PYTHON = {"python": "relay python3\n", "javascript": "relay\n", "shell": "relay\n"}


@pytest.mark.parametrize("name", engine.IMAGES)
def test_every_image_has_what_the_relay_needs_and_hides_it_where_python_is_not_wanted(address: str, name: str) -> None:
    relay = "/usr/lib/assent/python3 -I -S -c 'import _socket, select, struct' && echo relay"
    found = run(address, name, "bash", "-c", f"{relay}; type -P python3 >/dev/null && echo python3; exit 0")
    assert " ".join(found.split()) + "\n" == HAS_OF_PYTHON[name]
    assert run(address, name, "curl", "--version").startswith("curl ")


def test_python_of_the_image_has_the_library_that_wheels_are_linked_against(address: str) -> None:
    assert run(address, "python", "python3", "-c", "import ctypes; ctypes.CDLL('libstdc++.so.6'); print(1)") == "1\n"


def test_what_is_missing_or_made_from_an_earlier_recipe_is_reported(address: str) -> None:
    builder = engine.builder(address)
    other = dataclasses.replace(SHELL, name="never-built")
    changed = dataclasses.replace(SHELL, remove=("usr/games",))
    states = [asyncio.run(builder.state(each)) for each in (SHELL, other, changed)]
    assert states == [ImageState.READY, ImageState.MISSING, ImageState.OLD]


@dataclasses.dataclass(frozen=True)
class _Command:
    """What the command said when it built an image, when it was there, and where no engine is."""

    at: str
    first: subprocess.CompletedProcess[str]
    again: subprocess.CompletedProcess[str]
    nowhere: subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def command() -> Iterator[_Command]:
    """`make images` on an engine that has none yet."""

    def images(at: str) -> subprocess.CompletedProcess[str]:
        # Where gVisor is installed, images would else go to its folders.
        environment = {**os.environ, "DOCKER_HOST": at, "SANDBOX_TYPE": "docker"}
        words = [sys.executable, "-m", "runner.commands.images", "shell"]
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False)

    with _engine_of_its_own() as (at, _):
        yield _Command(at, images(at), images(at), images("unix:///nowhere"))


def test_the_command_builds_what_is_missing_and_tells_how_far_it_is(command: _Command) -> None:
    lines = [line.split("\t") for line in command.first.stdout.splitlines()]
    assert [int(part) for _, part, _ in lines] == sorted(int(part) for _, part, _ in lines)
    assert (lines[0], lines[-1]) == (["shell", "0", "starting"], ["shell", "100", "ready"])
    assert command.again.stdout == "shell\t100\tready\n"
    assert (command.nowhere.returncode, command.nowhere.stdout) == (1, "")
    assert "Docker daemon not available." in command.nowhere.stderr


def test_the_command_lists_what_is_in_which_image(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert listed.keys() == {recipe(name).tag for name in names()}
    assert "pandas" in listed["assent-python-data:1"] and "curl" in listed["assent-shell:1"]
    assert main(["--list", "none"]) == 1


@pytest.mark.timeout(400)  # the first time the stand-in is built too, from packages that are fetched
def test_an_image_is_the_same_from_a_registry_and_from_a_mirror(command: _Command, room: Path) -> None:
    """The registry's Debian is built here as well: what matters is that another Debian does the work."""
    here = engine.builder(command.at)
    assert isinstance(here.source, Here)
    if not STAND_IN.exists():
        part = STAND_IN.with_suffix(f".{os.getpid()}")
        mirrors = here.source.mirrors.splitlines()
        subprocess.run(["mmdebstrap", "--quiet", "--variant=apt", "--format=tar", "trixie", part, *mirrors], check=True)
        part.replace(STAND_IN)
    docker(command.at, "import", str(STAND_IN), DEBIAN)
    image = ("image", "inspect", "--format", "{{.Id}}", SHELL.tag)
    before = docker(command.at, *image)
    steps = build(Builder(here.store, InContainer(here.store.environment, here.source.mirrors)), SHELL)
    assert steps[1].doing == "preparing"
    assert docker(command.at, *image) == before
    assert not docker(command.at, "ps", "--all", "--quiet")


def test_a_build_for_which_the_disk_is_too_small_says_so(address: str, room: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", room], check=True)
    try:
        with pytest.raises(KnownError) as error:
            build(engine.builder(address, keep=None), SHELL)
        assert list(room.iterdir()) == []
    finally:
        subprocess.run(["umount", room], check=True)
    assert error.value.what == "The disk is full."
    assert "Free some space" in error.value.remedy


def test_a_build_that_nobody_waits_for_any_more_ends(address: str, room: Path) -> None:
    async def body() -> str:
        steps = maker.build(SHELL)
        async with contextlib.aclosing(steps):
            async for step in steps:
                if step.part > 0.3:
                    return step.doing
        return ""

    maker = engine.builder(address, keep=None)
    assert asyncio.run(body()) == "unpacking packages"


@pytest.mark.parametrize("moment", ["before", "in the middle"])
def test_an_engine_that_dies_while_it_gets_an_image_is_reported(own: tuple[str, Path], room: Path, moment: str) -> None:
    at, folder = own
    daemon = int((folder / "docker.pid").read_text())

    def kill(step: Progress) -> None:
        if step.part > LOADING or moment == "before":
            os.kill(daemon, signal.SIGKILL)

    with pytest.raises(KnownError) as error:
        build(engine.builder(at), recipe("javascript"), kill)
    assert error.value.what == "Docker daemon not available."
    assert "start the Docker daemon" in error.value.remedy


def test_an_engine_that_hangs_while_it_gets_an_image_is_reported(
    own: tuple[str, Path], room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at, folder = own
    daemon = int((folder / "docker.pid").read_text())
    monkeypatch.setattr(image_store, "STALL_SECONDS", 0.3)

    def halt(step: Progress) -> None:
        if step.part > LOADING:
            os.kill(daemon, signal.SIGSTOP)

    try:
        with pytest.raises(KnownError, match="does not answer"):
            build(engine.builder(at), recipe("javascript"), halt)
    finally:
        os.kill(daemon, signal.SIGCONT)


def test_an_engine_whose_disk_is_full_is_reported(address: str) -> None:
    with tempfile.TemporaryDirectory(prefix="assent-") as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", folder], check=True)
        try:
            own = Path(folder) / "e"
            builder = engine.builder(engine.started(own))
            with pytest.raises(KnownError, match=r"The container engine's disk is full\. .*docker system df"):
                build(builder, recipe("javascript"))
        finally:
            engine.stopped(own)
            subprocess.run(["umount", folder], check=True)


def test_packages_that_cannot_be_fetched_are_reported(address: str, room: Path) -> None:
    nowhere = asyncio.run(source({}, "file:///nowhere"))
    assert nowhere == Here("deb copy:///nowhere trixie main")
    with pytest.raises(KnownError, match=r"packages cannot be fetched\. .*--mirror"):
        build(Builder(engine.builder(address).store, nowhere), SHELL)


def test_an_image_takes_the_place_of_the_one_before_it_unless_that_is_in_use(address: str) -> None:
    """Images of one file, which is enough for an engine."""
    what = dataclasses.replace(SHELL, name="test-replaced")
    ids = []
    try:
        for version in ("1.0", "2.0", "3.0"):
            build(Builder(engine.builder(address).store, _Tiny(version)), what)
            ids.append(docker(address, "image", "inspect", "--format", "{{.Id}}", what.tag).strip())
            if version == "2.0":
                container = docker(address, "create", "--network=none", what.tag).strip()
        left = docker(address, "images", "--all", "--quiet", "--no-trunc").split()
        assert [id in left for id in ids] == [False, True, True]
    finally:
        docker(address, "rm", container)
        docker(address, "image", "rm", *ids[1:])


@pytest.mark.parametrize("content", [b"", b"no archive"])
def test_what_is_no_root_file_system_does_not_become_an_image(address: str, room: Path, content: bytes) -> None:
    with pytest.raises(KnownError, match=r"What was built is no image shell: .*Build it again"):
        build(Builder(engine.builder(address).store, _Tiny("1.0", content)), SHELL)
    assert asyncio.run(engine.builder(address).state(SHELL)) is ImageState.READY


def test_sandboxes_start_from_these_images() -> None:
    assert {language: recipe(language.value).tag for language in Language} == OWN_IMAGES
    assert {recipe(name).language for name in names()} == {language.value for language in Language}


def test_there_is_no_image_of_another_name() -> None:
    every = "go, java, javascript, python, python-data, rust, shell"
    with pytest.raises(KnownError, match=rf"no image named '\.\./etc'.*{every}"):
        recipe("../etc")
    assert all(recipe(name).packages for name in names())


def build(builder: Builder, what: Recipe, at: Callable[[Progress], None] = lambda step: None) -> list[Progress]:
    async def body() -> list[Progress]:
        steps = []
        async with contextlib.aclosing(builder.build(what)) as told:
            async for step in told:
                at(step)
                steps.append(step)
        return steps

    return asyncio.run(body())


def run(address: str, name: str, *command: str) -> str:
    limits = ("--rm", "--network=none", "--read-only", "--tmpfs=/workspace:uid=1000,gid=1000", "--cap-drop=ALL")
    return docker(address, "run", *limits, recipe(name).tag, *command)


def docker(address: str, *command: str) -> str:
    done = subprocess.run(["docker", "--host", address, *command], capture_output=True, check=False)
    assert done.returncode == 0 or command[0] == "run", done.stderr
    return done.stdout.decode()


@dataclasses.dataclass(frozen=True)
class _Tiny:
    """A root file system that is nothing but the list of packages."""

    version: str
    content: bytes | None = None

    async def unpack(self, recipe: Recipe, root: Path) -> AsyncGenerator[str]:
        yield "I: creating tarball..."
        if self.content is not None:
            root.write_bytes(self.content)
            return
        listed = f"{recipe.version}_{self.version}-1_amd64\n".encode()
        with tarfile.open(root, "w") as tar:
            entry = tarfile.TarInfo(LIST)
            entry.size = len(listed)
            tar.addfile(entry, io.BytesIO(listed))
