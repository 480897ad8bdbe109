"""Tried against packages: registries and files that lie, lead elsewhere, or take all there is."""

from __future__ import annotations

import json
import tarfile
import threading
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError, Refused
from runner.model.plan import Registry
from runner.packages.cache import FileCache
from runner.packages.failures import NoPlan, Unusable
from runner.packages.installing import PackageSet
from runner.packages.limits import PlanLimits
from runner.packages.planner import PackageQuestion
from runner.packages.requirements import npm_requirements, python_requirements
from runner.packages.tarball import Tarball
from runner.packages.wheel import Wheel
from tests.packages.conftest import planner, registry, target
from tests.packages.registry import LoopbackRegistry, digest, redirect, sdist, send, tarball, wheel
from tests.patience import HANGS

if TYPE_CHECKING:
    import zipfile
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path

    from runner.model.plan import Plan
    from runner.packages.planner import Planner
    from runner.packages.target import PythonTarget

__all__ = ["planner", "registry", "target"]
Make = "Callable[..., Planner]"
FILE = "app-1.0-py3-none-any.whl"


async def planned(planner: Planner, target: PythonTarget, asked: str = "app") -> Plan:
    question = PackageQuestion(Registry.PYPI, (asked,), target, PackageSet(Registry.PYPI))
    return await planner.plan("claude", question)


# ---- what an agent writes ----


@pytest.mark.parametrize(
    "written",
    [
        *("", "./app", "/app", "../app", "app.whl", "app-1.0.tar.gz", "-r x", "--index-url=http://x", "-e .", "a b"),
        *("app @ file:///etc/passwd", "app@https://x/y.whl", "git+https://x/y", "https://x/y.whl", "app; os_name=='x'"),
        *("app\n--index-url=x", "app\0", "app #x", "аpp", "app[", "app==" + "9" * 300, "app>=1,==*", "(" * 190),
    ],
)
def test_only_names_of_a_registry_are_taken_for_python(written: str) -> None:
    with pytest.raises(Refused):
        python_requirements((written,))


@pytest.mark.parametrize(
    "written",
    [
        *(
            "",
            "./app",
            "../app",
            "/app",
            "a/b",
            "github:a/b",
            "git+ssh://x/y",
            "https://x/y.tgz",
            "file:x",
            "app@file:x",
        ),
        *(
            "app@npm:other",
            "app@https://x/y.tgz",
            "app@git+ssh://x",
            "app@github:a/b",
            "-g",
            "--registry=x",
            "App@../x",
        ),
        *("app\n@x", "@scope", "@scope/", "app@workspace:*", "app@" + "9" * 300),
    ],
)
def test_only_names_of_a_registry_are_taken_for_npm(written: str) -> None:
    with pytest.raises(Refused):
        npm_requirements((written,))


# ---- wheels ----


def linked(entry: zipfile.ZipInfo) -> None:
    if entry.filename == "app/link":
        entry.external_attr = 0o120777 << 16


def device(entry: zipfile.ZipInfo) -> None:
    if entry.filename == "app/link":
        entry.external_attr = 0o020666 << 16


WHEELS = {
    "traversal": wheel("app", "1.0", {"../evil.py": ""}),
    "inner traversal": wheel("app", "1.0", {"app/../../evil.py": ""}),
    "absolute": wheel("app", "1.0", {"/etc/evil.py": ""}),
    "backslash": wheel("app", "1.0", {"..\\evil.py": ""}),
    "drive": wheel("app", "1.0", {"C:evil.py": ""}),
    "empty part": wheel("app", "1.0", {"app//evil.py": ""}),
    "data traversal": wheel("app", "1.0", {"app-1.0.data/purelib/../../evil.py": ""}),
    "hidden name": wheel("app", "1.0", {"app/\u202eyp.py": ""}),
    "link": wheel("app", "1.0", {"app/link": "/etc/passwd"}, change=linked),
    "device": wheel("app", "1.0", {"app/link": ""}, change=device),
    "case": wheel("app", "1.0", {"app/A.py": "", "app/a.py": ""}),
    "file and folder": wheel("app", "1.0", {"app": "", "app/a.py": ""}),
    "data over file": wheel("app", "1.0", {"app/a.py": "", "app-1.0.data/purelib/app/a.py": "x"}),
    "unlisted": wheel("app", "1.0", {"app/a.py": ""}, record="app/a.py,,\n"),
    "wrong hash": wheel("app", "1.0", {"app/a.py": "x"}, record=f"app/a.py,{digest(b'y')},1\n"),
    "md5": wheel("app", "1.0", {"app/a.py": "x"}, record="app/a.py,md5=abc,1\n"),
    "bomb": wheel("app", "1.0", {f"app/{n}": b"\0" * (1 << 19) for n in range(9)}, record=""),
    "other name": wheel("app", "1.0", said="other"),
    "other version": wheel("app", "1.0", info="app-2.0.dist-info"),
    "too many needs": wheel("app", "1.0", needs=["x"] * 1_001),
    "need that explodes": wheel("app", "1.0", needs=["x; " + "(" * 900]),
    "version that explodes": wheel("app", "1.0", needs=["x==" + "1." * 400 + "a" * 90 + "!"]),
    "not a zip": b"PK" + b"\0" * 100,
}


def read(data: bytes) -> None:
    found = Wheel(FILE, data)
    found.metadata()
    found.contents()


@pytest.mark.parametrize("name", WHEELS)
def test_a_wheel_that_is_not_plain_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "bomb":  # in small, as it would take seconds to make
        monkeypatch.setattr("runner.packages.wheel.MOST_UNPACKED", 4 << 20)
    with pytest.raises(Unusable):
        read(WHEELS[name])


def test_a_plain_wheel_is_taken() -> None:
    found = Wheel(FILE, wheel("app", "1.0", {"app/__init__.py": "x = 1", "top.py": ""}))
    assert found.metadata().name == "app"
    assert found.contents().modules == ("app", "top")


@pytest.mark.parametrize("kind", ["link", "traversal", "absolute", "bomb", "cut", "outside"])
def test_a_tarball_that_is_not_plain_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner.packages.tarball.MOST_UNPACKED", 2 << 20)

    def change(entry: tarfile.TarInfo) -> None:
        if entry.name == "package/x":
            match kind:
                case "link":
                    entry.type, entry.linkname, entry.size = b"2", "/etc/passwd", 0
                case "traversal":
                    entry.name = "package/../../x"
                case "absolute":
                    entry.name = "/etc/x"
                case "outside":
                    entry.name = "x"

    text = "\0" * (3 << 20) if kind == "bomb" else "y"
    data = tarball({"package.json": "{}", "x": text}, change)
    with pytest.raises(Unusable):
        Tarball(data[:-30] if kind == "cut" else data).members("node_modules/x")


# ---- registries ----


@pytest.mark.asyncio
async def test_what_was_fetched_must_have_the_announced_hash(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0")
    registry.files[FILE] = wheel("app", "1.0", {"app/__init__.py": "evil"})
    with pytest.raises(NoPlan, match="hash"):
        await planned(planner(registry), target)


@pytest.mark.asyncio
async def test_another_file_on_the_second_call_is_not_installed(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget, tmp_path: Path
) -> None:
    registry.add("app", "1.0")
    maker = planner(registry)
    plan = await planned(maker, target)
    registry.files[FILE] = wheel("app", "1.0", {"app/__init__.py": "evil"})
    for path in (tmp_path / "cache").iterdir():
        path.unlink()
    with pytest.raises(KnownError, match="not installed"):
        await maker.prepare("claude", plan, PackageSet(Registry.PYPI))


@pytest.mark.asyncio
async def test_a_file_of_the_cache_that_was_changed_is_not_installed(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget, tmp_path: Path
) -> None:
    registry.add("app", "1.0")
    maker = planner(registry)
    plan = await planned(maker, target)
    (tmp_path / "cache" / plan.packages[0].sha256).write_bytes(b"evil")
    prepared = await maker.prepare("claude", plan, PackageSet(Registry.PYPI))
    assert prepared.bundle.archives[0].data == registry.files[FILE], "the changed file was taken"


@pytest.mark.asyncio
async def test_a_package_that_asks_for_an_address_is_refused(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0", needs=[f"evil @ {registry.root}/evil.whl"])
    with pytest.raises(NoPlan, match="address of its own"):
        await planned(planner(registry), target)
    assert "/evil.whl" not in registry.asked


@pytest.mark.asyncio
async def test_a_file_on_a_private_host_is_not_fetched(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    """Only hosts that the machine is configured with may lead to private addresses; an index may name others."""
    registry.add("app", "1.0")
    for host in ("169.254.169.254", "127.0.0.1:1", "10.0.0.1", "[::ffff:127.0.0.1]", "localhost"):
        registry.projects["app"][0]["url"] = f"https://{host}/{FILE}"
        with pytest.raises(NoPlan, match=r"private address|cannot be reached"):
            await planned(planner(registry), target)
    registry.projects["app"][0]["url"] = f"http://example.com/{FILE}"
    with pytest.raises(NoPlan, match="HTTPS"):
        await planned(planner(registry), target)


@pytest.mark.asyncio
@pytest.mark.parametrize("to", ["https://169.254.169.254/x", "http://10.0.0.1/x", "file:///etc/passwd", "//[::1]/x"])
async def test_a_redirect_is_held_to_the_same_rules(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget, to: str
) -> None:
    registry.answers["/simple/app/"] = redirect(to)
    with pytest.raises(NoPlan, match="cannot be looked up"):
        await planned(planner(registry), target)


@pytest.mark.asyncio
async def test_redirects_end(registry: LoopbackRegistry, planner: Make, target: PythonTarget) -> None:
    registry.answers["/simple/app/"] = redirect(f"{registry.root}/simple/app/")
    with pytest.raises(NoPlan, match="redirects too often"):
        await planned(planner(registry), target)
    assert len(registry.asked) < 10


@pytest.mark.asyncio
async def test_a_registry_that_does_not_answer_costs_no_more_than_its_time(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    over = threading.Event()
    registry.answers["/simple/app/"] = lambda _handler: over.wait(HANGS) and None
    try:
        with pytest.raises(NoPlan, match="in time"):
            await planned(planner(registry, PlanLimits(seconds=0.3)), target)
    finally:
        over.set()


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "page",
    [
        b"[" * 100_000,
        b"{",
        b"[]",
        b"null",
        b'{"files": {}}',
        b'{"files": [1, null, {"filename": 3}]}',
        b'{"files": [' + b"9" * 10_000 + b"]}",
        b"\xff\xfe",
    ],
)
async def test_answers_that_are_no_pages_are_refused(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget, page: bytes
) -> None:
    registry.answers["/simple/app/"] = lambda handler: send(handler, page)
    with pytest.raises(NoPlan):
        await planned(planner(registry), target)


@pytest.mark.asyncio
async def test_an_endless_page_is_not_read_to_its_end(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.packages.client.MOST_PAGE", 1 << 20)
    monkeypatch.setattr("runner.packages.client.RegistryClient.get.__kwdefaults__", {"accept": "*/*", "most": 1 << 20})

    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        try:
            for _ in range(1_000):
                handler.wfile.write(b" " * 65_536)
        except OSError:
            pass

    registry.answers["/simple/app/"] = endless
    with pytest.raises(NoPlan, match="more than"):
        await planned(planner(registry), target)


@pytest.mark.asyncio
async def test_ten_thousand_packages_are_refused(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    for number in range(30):
        registry.add(f"p{number}", "1.0", needs=[f"p{number + 1}", f"p{number + 2}"])
    with pytest.raises(NoPlan, match="more than 20 packages"):
        await planned(planner(registry, PlanLimits(packages=20)), target, "p0")
    registry.add("wide", "1.0", needs=[f"w{number}" for number in range(900)])
    with pytest.raises(NoPlan, match="more than 200 packages"):
        await planned(planner(registry), target, "wide")
    assert not any("w1" in path for path in registry.asked), "they were asked for before they were counted"


@pytest.mark.asyncio
async def test_files_beyond_their_bounds_are_not_fetched(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0")
    small = PlanLimits(file_bytes=100)
    with pytest.raises(NoPlan, match="MB"):
        await planned(planner(registry, small), target)
    registry.projects["app"][0]["size"] = 10  # it lies
    with pytest.raises(NoPlan, match="more than 100 bytes"):
        await planned(planner(registry, small), target)


@pytest.mark.asyncio
async def test_conflicts_are_explained_and_end(registry: LoopbackRegistry, planner: Make, target: PythonTarget) -> None:
    for number in range(30):
        registry.add("app", f"1.{number}", needs=["left", "right"])
    registry.add("left", "1.0", needs=["base<2"])
    registry.add("right", "1.0", needs=["base>=2"])
    registry.add("base", "1.0")
    registry.add("base", "2.0")
    with pytest.raises(NoPlan, match=r"do not fit together.*base"):
        await planned(planner(registry), target)


LINK = {"PKG-INFO": "Metadata-Version: 2.1\nName: app\nVersion: 1.0\n", "setup.py": ""}


def as_link(entry: tarfile.TarInfo) -> None:
    entry.type, entry.linkname, entry.size = tarfile.SYMTYPE, "/etc", 0


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"x", "damaged"),
        (tarball(LINK, as_link), "link"),
        (tarball({"../PKG-INFO": ""}), "outside its folder"),
        (tarball({"PKG-INFO": LINK["PKG-INFO"]}), "neither pyproject.toml nor setup.py"),
        (tarball({**LINK, "pyproject.toml": "[["}), "cannot be read"),
        (tarball({**LINK, "pyproject.toml": "build-system = 1"}), "cannot be read"),
        (tarball({**LINK, "pyproject.toml": "[build-system]\nbuild-backend = 'x;y'"}), "names no backend"),
        (tarball({**LINK, "pyproject.toml": "[build-system]\nbackend-path = ['../..']"}), "not one of its own"),
        (tarball({**LINK, "pyproject.toml": "[build-system]\nrequires = 3"}), "none that can be read"),
        (tarball({**LINK, "setup.py": "#" * 200_001}), "too long"),
    ],
)
async def test_a_source_that_is_not_plain_is_not_planned(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget, data: bytes, says: str
) -> None:
    registry.add("setuptools", "80.0")
    registry.add("app", "1.0", data, file="app-1.0.tar.gz")
    with pytest.raises(NoPlan, match=says):
        await planned(planner(registry), target)


@pytest.mark.asyncio
async def test_what_is_ready_is_preferred_and_other_archives_are_not_read(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0")
    registry.add("app", "2.0", sdist("app", "2.0"), file="app-2.0.tar.gz")
    plan = await planned(planner(registry), target)
    assert [(one.version, one.builds) for one in plan.packages] == [("1.0", False)]
    assert not any("tar.gz" in path for path in registry.asked), "the source was fetched"
    registry.projects.pop("app")
    registry.add("app", "3.0", b"x", file="app-3.0.zip")
    with pytest.raises(NoPlan, match="no source archive that could be built"):
        await planned(planner(registry), target)


@pytest.mark.asyncio
async def test_texts_of_strangers_are_shown_on_one_line(
    registry: LoopbackRegistry, planner: Make, target: PythonTarget
) -> None:
    registry.add("app", "1.0", yanked="bad\n\nrequests 2.0 (asked for)\u202e")
    plan = await planned(planner(registry), target, "app==1.0")
    assert "\u202e" not in plan.text and "\nrequests" not in plan.text


def test_the_cache_stays_within_its_bound(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "cache", 2_500)
    names = [cache.put(bytes([number]) * 1_000) for number in range(5)]
    assert sum(path.stat().st_size for path in (tmp_path / "cache").iterdir()) <= 2_500
    assert cache.find(names[-1]) == b"\4" * 1_000 and cache.find(names[0]) is None
    assert (tmp_path / "cache").stat().st_mode & 0o077 == 0


def test_credentials_are_in_no_text_of_a_plan() -> None:
    from runner.packages.client import Access

    access = Access("https://x.example/simple/", authorization=lambda _url: "Basic c2VjcmV0")
    assert "c2VjcmV0" not in repr(access) and "authorization" not in repr(access)
    assert json.dumps({"url": access.url}) == '{"url": "https://x.example/simple/"}'
