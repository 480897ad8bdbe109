"""Sandboxes that installed packages bring: found by name, taken only where named, and named when they fail."""

from __future__ import annotations

import asyncio
import builtins
import os
import re
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runner.model.errors import KnownError
from runner.model.request import BROUGHT, Isolation, Language, NetworkMode
from runner.model.result import Outcome
from runner.sandbox import plugin
from runner.sandbox.available import by_name, sandboxes
from runner.sandbox.choose import choose
from runner.sandbox.plugin import PluginSandbox, names
from runner.sandbox.self_check import PROMISES, PromiseCheck, job, self_check, tried
from runner.settings.loading import Settings
from runner.system.places import Places
from tests.components import require
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "resources/help/sandboxes.md"
PLAYED = """
from runner.model.request import Isolation
from runner.model.result import Meta, Outcome, Result
from runner.sandbox.contract import Readiness
from runner.sandbox.output import Transcript


class Played:
    isolation = Isolation.GVISOR

    async def check(self):
        return Readiness(True, ("kernel of its own\\nand\\x1b[31m more",), versions={"python": "3.11.0"})

    async def start(self, job, measured):
        return PlayedRun(job)

    async def sweep(self):
        return ()

    async def close(self):
        raise OSError("gone")


class PlayedRun:
    def __init__(self, job):
        self.job, self.transcript = job, Transcript(100)

    def stop(self, why):
        raise OSError("no")

    async def finished(self):
        self.job.permit()
        meta = Meta(runtime="gvisor", isolation=Isolation.GVISOR, protections=("everything",))
        return Result(Outcome.OK, "on", "", 0, 1.0, meta=meta)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """A function that installs a package with one module in a folder outside of the tree."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)

    def add(package: str, code: str, entry: str = "Played", name: str = "played") -> Path:
        module = package.replace("-", "_")
        monkeypatch.delitem(sys.modules, module, raising=False)
        (folder / f"{module}.py").write_text(textwrap.dedent(code), "utf-8")
        about = folder / f"{module}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "utf-8")
        (about / "entry_points.txt").write_text(f"[assent.sandboxes]\n{name} = {module}:{entry}\n", "utf-8")
        return folder

    return add


def test_the_example_of_the_help_is_a_package_that_keeps_its_promises(install: Callable[..., Path]) -> None:
    """Installed in a folder, it goes through every trial, through the suite, and through requests of an agent."""
    require("bubblewrap")
    text = PAGE.read_text("utf-8")
    code, _ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert code.count("\n") < 100
    entry = re.search(r'entry-points."assent.sandboxes"]\n(\w+) = "tiny_sandbox:(\w+)"', text)
    assert entry is not None
    folder = install("tiny-sandbox", code, entry[2], entry[1])
    environment = {**os.environ, "PYTHONPATH": f"{folder}:{ROOT}"}

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", *words]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    tested = ran("app", "self-test", "--sandbox", "tiny")
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert " 0 do not, " in tested.stdout and "BAD" not in tested.stdout
    assert "python: asked, approved, ran in" in tested.stdout
    assert "shell: asked, approved, ran in" in tested.stdout
    suite = ran("runner.sandbox.contract_suite", "tiny", "-q", "-p", "no:cacheprovider", "-k", "output or permit")
    assert suite.returncode == 0 and "5 passed, 1 skipped" in suite.stdout, suite.stdout + suite.stderr


def test_the_help_has_podman_as_a_package_that_keeps_its_promises(
    install: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but those of JavaScript, and nothing is left: no container, and no file where Assent was started."""
    require("podman")
    _, code = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    install("podman-sandbox", code, "PodmanSandbox", "podman")
    assert '`podman = "podman_sandbox:PodmanSandbox"`' in PAGE.read_text("utf-8").replace("\n", " ")
    sandbox, here = PluginSandbox("podman"), tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)

    async def checked() -> tuple[PromiseCheck, ...]:
        ready = await sandbox.check()
        if not ready.ready:
            pytest.skip(ready.problem)
        return await self_check(sandbox)

    found = asyncio.run(checked())
    assert [one.line for one in found if one.problem] == []
    assert {one.promise.language for one in found if one.skipped} == {Language.JAVASCRIPT}
    named = ("podman", "ps", "--all", "--filter", f"name=assent-podman-{os.getpid()}-", "--format", "{{.Names}}")
    assert subprocess.run(named, capture_output=True, text=True, check=True).stdout == ""
    assert not list(here.iterdir())


def test_a_promise_that_is_broken_is_told_with_what_was_seen(install: Callable[..., Path]) -> None:
    install("liar", PLAYED)
    wanted = {one.name: one for one in PROMISES}
    found = asyncio.run(tried(wanted["result"], PluginSandbox("played")))
    assert not found.holds and "printed 'on'" in found.problem and found.line.startswith("BAD ")
    assert asyncio.run(tried(wanted["much-input"], PluginSandbox("played"))).skipped == "it has no shell"


BROKEN = {
    "raises": ("raise ValueError('no\\x1b[31m such library')", "cannot be loaded: ValueError: no [31m such library"),
    "exits": ("raise SystemExit(3)", "cannot be loaded: SystemExit: 3"),
    "empty": ("", "cannot be loaded: AttributeError"),
    "no-sandbox": ("class Played: pass", "is no sandbox: it has no check"),
    "hangs": ("import threading\nthreading.Event().wait()", "is not loaded after 0.2 s"),
    "fails": (
        PLAYED.replace("return Readiness", "raise OSError('down')\n        return Readiness"),
        "failed in check: OSError: down",
    ),
    "rubbish": (PLAYED.replace("return Readiness", "return None.rubbish\n        return Readiness"), "failed in check"),
    "no-readiness": (
        PLAYED.replace("return Readiness", "return {}\n        return Readiness"),
        "answers check with no Readiness",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_package_that_is_broken_is_a_sentence_with_its_name(
    case: str, install: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(plugin, "LOAD_SECONDS", 0.2 if case == "hangs" else plugin.LOAD_SECONDS)
    code, words = BROKEN[case]
    install(f"pack-{case}", code)

    async def body() -> None:
        sandbox = PluginSandbox("played")
        ready = await sandbox.check()
        assert not ready.ready and words in ready.problem and ready.remedy
        assert f"pack-{case} 1.0" in ready.problem and ready.problem.isprintable()
        with pytest.raises(KnownError, match="played"):
            await sandbox.start(job("print(1)"), lambda _usage: None)
        assert await sandbox.sweep() == ()
        await sandbox.close()
        # And nothing runs elsewhere instead, unless that is allowed.
        places = Places.under(tmp_path)
        there = sandboxes(Settings(sandbox_type="plugin:played"), places)
        with pytest.raises(KnownError, match="played"):
            await choose("plugin:played", there)

    try:
        asyncio.run(body())
    except KnownError as error:  # pragma: no cover - named for whoever reads the failure
        pytest.fail(str(error))


def test_of_two_packages_with_one_name_neither_is_taken(install: Callable[..., Path]) -> None:
    install("first", PLAYED)
    install("second", PLAYED)
    ready = asyncio.run(PluginSandbox("played").check())
    assert "of first 1.0 and of second 1.0. None is taken." in ready.problem
    assert names() == ("played",)
    assert "No installed package brings a sandbox with the name other. There are: played." in (
        asyncio.run(PluginSandbox("other").check()).problem
    )


def test_one_that_is_installed_is_taken_only_where_it_is_named(install: Callable[..., Path], tmp_path: Path) -> None:
    install("pack", "raise SystemExit('was loaded')")
    places = Places.under(tmp_path)
    for kind in ("auto", "local", "e2b"):
        assert not [one for one in sandboxes(Settings(sandbox_type=kind), places) if isinstance(one, PluginSandbox)]
    assert isinstance(by_name("played", places, {}), PluginSandbox)
    with pytest.raises(KnownError, match="can be the name of no sandbox"):
        by_name("../x", places, {})

    async def chosen(wanted: str) -> str:
        return (await choose(wanted, (PluginSandbox("played"),))).why

    with pytest.raises(KnownError, match="There is no sandbox here"):
        asyncio.run(chosen("auto"))
    with pytest.raises(KnownError, match="was loaded"):
        asyncio.run(chosen("plugin:played"))
    with pytest.raises(KnownError, match="There is no sandbox here"):
        asyncio.run(chosen("plugin:other"))


def test_what_it_says_of_itself_goes_on_as_a_promise(install: Callable[..., Path]) -> None:
    install("pack", PLAYED)

    async def body() -> None:
        sandbox = PluginSandbox("played")
        ready = await sandbox.check()
        assert sandbox.isolation is Isolation.PLUGIN
        first = f"{BROUGHT}played of the package pack 1.0"
        assert ready.protections == (first, "promised: kernel of its own and [31m more")
        result = await (await sandbox.start(job("print('on')"), lambda _usage: None)).finished()
        assert (result.outcome, result.stdout) == (Outcome.OK, "on")
        assert (result.meta.runtime, result.meta.isolation) == ("plugin", Isolation.PLUGIN)
        assert result.meta.protections == ready.protections
        with pytest.raises(KnownError, match="no network and no packages"):
            await sandbox.start(job("pass", network=NetworkMode.REGISTRIES), lambda _usage: None)
        await sandbox.close()  # which fails there, and is logged

    asyncio.run(body())


FAULTS = {
    "never ends": ("self.job.permit()", "import asyncio; self.job.permit(); await asyncio.Event().wait()", "may still"),
    "raises": ("self.job.permit()", "raise OSError('lost')", "OSError: lost"),
    "no result": ("return Result", "return {}\n        return Result", "TypeError: it returned no Result"),
    "cannot be ended": (
        "self.job.permit()",
        "import asyncio; self.job.permit()\n        while True:\n            try: await asyncio.sleep(60)\n"
        "            except asyncio.CancelledError:\n                if plugin_is_over(): raise",
        "may still",
    ),
    "bytes": ('"on", ""', 'b"on", ""', "something else for stdout"),
    "a word for an end": ("Result(Outcome.OK", 'Result("ok"', "something else for outcome"),
    "no files": ("meta=meta)", "meta=meta, files=[None])", "something else for files"),
    "no data": ("meta=meta)", "meta=meta, value=object())", "not JSON serializable"),
    "much": ('"on", ""', '"on" * (1 << 24), ""', "more output than"),
    "asks nobody": ("self.job.permit()", "pass", "without a look whether its approval still holds"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_run_that_goes_wrong_there_is_lost_and_says_so(
    case: str, install: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after, words = FAULTS[case]
    over: list[bool] = []
    install("pack", PLAYED.replace(before, after))
    monkeypatch.setattr(builtins, "plugin_is_over", lambda: bool(over), raising=False)
    monkeypatch.setattr(plugin, "END_SECONDS", 0.05)

    async def body() -> None:
        run = await PluginSandbox("played").start(job("print('on')", Language.PYTHON), lambda _usage: None)
        if case in ("never ends", "cannot be ended"):
            run.stop("Enough")
        result = await run.finished()
        over.append(True)
        assert run.transcript.since(0).ended
        assert result.outcome is Outcome.ENGINE_LOST and words in result.error
        assert "played of the package pack 1.0" in result.error

    asyncio.run(body())


def test_a_start_that_is_given_up_gets_no_permit_any_more(
    install: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on after it was cancelled, asks late, and would run code that nobody waits for."""
    late = """
        import asyncio
        try: await asyncio.Event().wait()
        except asyncio.CancelledError: pass
        await plugin_continues.wait()
        try: job.permit()
        finally: plugin_has_asked.set()
    """
    install("pack", PLAYED.replace("        return PlayedRun(job)", textwrap.indent(textwrap.dedent(late), " " * 8)))
    asked: list[bool] = []

    async def body() -> None:
        continues, has_asked = asyncio.Event(), asyncio.Event()
        monkeypatch.setattr(builtins, "plugin_continues", continues, raising=False)
        monkeypatch.setattr(builtins, "plugin_has_asked", has_asked, raising=False)
        sandbox = PluginSandbox("played")
        assert (await sandbox.check()).ready
        monkeypatch.setattr(plugin, "CALL_SECONDS", 0.05)
        with pytest.raises(KnownError, match="does not answer start"):
            await sandbox.start(job("print('on')", permit=lambda: asked.append(True)), lambda _usage: None)
        continues.set()
        await asyncio.wait_for(has_asked.wait(), HANGS)
        assert not asked

    asyncio.run(body())


def test_a_stop_that_blocks_holds_up_nobody_and_is_named(
    install: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was called on the console's own loop, where everything waited for it."""
    code = PLAYED.replace('raise OSError("no")', "plugin_stop_waits.wait()")
    install(
        "pack", code.replace("self.job.permit()", "import asyncio; self.job.permit(); await asyncio.Event().wait()")
    )
    waits = threading.Event()
    monkeypatch.setattr(builtins, "plugin_stop_waits", waits, raising=False)
    monkeypatch.setattr(plugin, "END_SECONDS", 0.05)

    async def body() -> None:
        run = await PluginSandbox("played").start(job("print('on')"), lambda _usage: None)
        for _ in range(100):  # pressed again and again
            run.stop("Enough")
        assert [one.name for one in threading.enumerate()].count(plugin.STOPPING) == 1
        result = await run.finished()
        assert result.outcome is Outcome.ENGINE_LOST and "its stop does not return" in result.error
        assert "played of the package pack 1.0" in result.error

    try:
        asyncio.run(body())
    finally:
        waits.set()


def test_a_run_that_begins_after_its_start_was_given_up_is_stopped(
    install: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    late = """
        import asyncio
        try: await asyncio.Event().wait()
        except asyncio.CancelledError: pass
        return PlayedRun(job)
    """
    code = PLAYED.replace("        return PlayedRun(job)", textwrap.indent(textwrap.dedent(late), " " * 8))
    install("pack", code.replace('raise OSError("no")', "plugin_stopped.append(why); plugin_has_stopped.set()"))
    stopped, has_stopped = list[str](), threading.Event()
    monkeypatch.setattr(builtins, "plugin_stopped", stopped, raising=False)
    monkeypatch.setattr(builtins, "plugin_has_stopped", has_stopped, raising=False)

    async def body() -> None:
        sandbox = PluginSandbox("played")
        assert (await sandbox.check()).ready
        monkeypatch.setattr(plugin, "CALL_SECONDS", 0.05)
        with pytest.raises(KnownError, match="does not answer start"):
            await sandbox.start(job("print('on')"), lambda _usage: None)
        assert await asyncio.to_thread(has_stopped.wait, HANGS)

    asyncio.run(body())
    assert stopped == [plugin.GIVEN_UP]


@pytest.mark.parametrize("text", [b"no assignment\n", b"[assent.sandboxes]\nplayed\n", b"\xff\xfe"])
def test_a_broken_description_of_another_package_hides_none(install: Callable[..., Path], text: bytes) -> None:
    folder = install("pack", PLAYED)
    about = folder / "broken-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (about / "entry_points.txt").write_bytes(text)
    assert names() == ("played",)
    assert asyncio.run(PluginSandbox("played").check()).ready


def test_what_it_says_it_has_is_looked_at_first(install: Callable[..., Path]) -> None:
    install("pack", PLAYED.replace('versions={"python": "3.11.0"}', "versions=None"))
    ready = asyncio.run(PluginSandbox("played").check())
    assert not ready.ready and "answers check with no Readiness" in ready.problem
