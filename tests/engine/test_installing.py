"""Packages through the real engine, ledger and local sandbox: planned, shown, approved, installed, imported."""

from __future__ import annotations

import asyncio
import py_compile
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from runner.engine.supply.installing import Installing
from runner.model.answer import Status
from runner.model.assessment import Level
from runner.model.decision import Decider, Verdict
from runner.model.errors import KnownError, Refused
from runner.model.events import QuestionAsked
from runner.model.request import Language, Tool
from runner.model.result import Outcome
from runner.model.submission import Submission
from runner.policy.grants import Choice, Subject
from runner.sandbox import programs
from tests.engine.test_known_files import out, refused, request
from tests.packages.registry import LoopbackRegistry, served, wheel
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from runner.model.answer import Answer
    from runner.model.request import Request
    from runner.packages.installing import Prepared
    from runner.sandbox.contract import Session
    from tests.stages.kept import House

pytestmark = pytest.mark.asyncio
USE = "import alpha, beta\nprint(alpha.VERSION, beta.VERSION)"


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackRegistry]:
    """A registry that this machine is configured with: alpha needs beta."""
    with served(LoopbackRegistry()) as found:
        found.add("alpha", "1.0")
        found.add("alpha", "1.5", needs=["beta<3"])
        found.add("beta", "2.0")
        found.add("beta", "3.0")
        for name in ("PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PIP_INDEX_URL", found.url)
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", found.root + "/")
        yield found


async def install(house: House, id: str, package: str, **more: str) -> Answer:
    return await house.call(Tool.CODE_INSTALL_PACKAGE, sandbox_id=id, packages=(package,), **more)


async def run(house: House, code: str, id: str = "", **more: object) -> Answer:
    return await house.call(Tool.CODE_EXECUTE, language=Language.PYTHON, code=code, sandbox_id=id, **more)


async def javascript(house: House, code: str, id: str) -> Answer:
    return await house.call(Tool.CODE_EXECUTE, language=Language.JAVASCRIPT, code=code, sandbox_id=id)


async def test_a_package_is_installed_in_a_kept_sandbox_and_imported(house: House, registry: LoopbackRegistry) -> None:
    id = await house.create()
    answer = await install(house, id, "alpha")
    assert answer.status is Status.FINISHED and answer.facts is not None, answer
    assert answer.facts["installed"] == {"alpha": "1.5", "beta": "2.0"}
    asked = request(house, answer)
    assert house.level(asked.id) is Level.HIGH
    shown = next(part.text for part in asked.parts if part.name == "Packages")
    assert "alpha 1.5 (asked for)" in shown and "beta 2.0 (needed by alpha)" in shown
    ran = await run(house, USE, id)
    assert (house.level(ran.request_id), out(ran)) == (Level.HIGH, "1.5 2.0\n")
    assert request(house, ran).installed is not None


async def test_a_run_of_its_own_gets_its_packages(house: House, registry: LoopbackRegistry) -> None:
    ran = await run(house, USE, packages=("alpha==1.5",))
    assert (house.level(ran.request_id), out(ran)) == (Level.HIGH, "1.5 2.0\n")
    assert out(await run(house, "try:\n    import alpha\nexcept ImportError:\n    print('none')")) == "none\n"


async def test_nothing_is_fetched_for_what_was_denied(house: House, registry: LoopbackRegistry) -> None:
    id = await house.create()
    house.says = Verdict.DENIED
    assert (await install(house, id, "alpha")).status is Status.DENIED
    house.says = Verdict.APPROVED
    ran = await run(house, "import os; print(os.path.exists('/workspace/.packages'))", id)
    assert out(ran) == "False\n"


def changed(folder: Path) -> None:
    with (folder / "alpha/__init__.py").open("a") as file:
        file.write("print('evil'.upper())")


def moved(folder: Path) -> None:
    (folder / "beta").rename(folder / "gone")
    (folder / "alpha").rename(folder / "beta")


def hidden(folder: Path) -> None:
    """Python takes such a compiled file without looking at its source."""
    (folder / "x").write_text("print('evil'.upper())")
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    for name in (f"__pycache__/__init__.{sys.implementation.cache_tag}.pyc", "__init__.pyc"):
        py_compile.compile(str(folder / "x"), str(folder / "alpha" / name), invalidation_mode=mode)


def linked(folder: Path) -> None:
    (folder.parent / "other").mkdir()
    (folder.parent / "other/__init__.py").write_text("print('evil'.upper())")
    (folder / "alpha").rename(folder / "gone")
    (folder / "alpha").symlink_to("../other")


@pytest.mark.parametrize(
    ("change", "code", "says"),
    [
        (changed, USE, "not as it was"),
        (lambda folder: (folder / "alpha.py").write_text("print('evil'.upper())"), USE, "1.5 2.0"),
        (lambda folder: (folder / "json.py").write_text("print('evil'.upper())"), f"import json\n{USE}", "1.5 2.0"),
        (moved, "import beta; print(beta.VERSION)", "not as it was"),
        (hidden, USE, "1.5 2.0"),
        (linked, USE, "not as it was"),
    ],
)
async def test_only_what_was_installed_is_imported(
    house: House, registry: LoopbackRegistry, change: Callable[[Path], object], code: str, says: str
) -> None:
    id = await house.create()
    await install(house, id, "alpha")
    change(next(house.folder.glob("*/workspace/.packages")))
    ran = await run(house, code, id)
    assert says in out(ran) and "EVIL" not in out(ran), out(ran)


LIBRARY = "alpha.libs/libx.so.1"


def replaced(folder: Path) -> None:
    (folder / LIBRARY).write_bytes(b"another")


def preferred(folder: Path) -> None:
    """The system's loader takes it before the one that was installed."""
    there = folder / "alpha.libs/glibc-hwcaps/x86-64-v2"
    there.mkdir(parents=True)
    (there / "libx.so.1").write_bytes(b"\x7fELF")
    for one in (there, there.parent, there / "libx.so.1"):  # as if a run had made it
        shutil.chown(one, folder.stat().st_uid, folder.stat().st_gid)


def led_away(folder: Path) -> None:
    (folder / "alpha.libs/glibc-hwcaps").symlink_to("/tmp")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (replaced, LIBRARY),
        (lambda folder: (folder / LIBRARY).unlink(), LIBRARY),
        (preferred, "alpha.libs/glibc-hwcaps/x86-64-v2/libx.so.1"),
        (led_away, "alpha.libs/glibc-hwcaps"),
    ],
)
async def test_a_library_that_a_run_has_changed_is_named_and_nothing_runs(
    house: House, registry: LoopbackRegistry, change: Callable[[Path], object], place: str
) -> None:
    files = {"alpha/__init__.py": "print('imported')", LIBRARY: b"\x7fELF library"}
    registry.add("alpha", "1.6", data=wheel("alpha", "1.6", files))
    id = await house.create()
    await install(house, id, "alpha==1.6")
    assert out(await run(house, "import alpha", id)) == "imported\n"
    change(next(house.folder.glob("*/workspace/.packages")))
    assert out(await run(house, "print('not of them')", id)) == "not of them\n"
    ran = await run(house, "import alpha", id)
    assert f"/workspace/.packages/{place} is not as it was installed" in out(ran), out(ran)
    assert ran.result is not None and ran.result.outcome is Outcome.KILLED
    assert await refused(house, id, "import alpha", Language.PYTHON) is Level.CRITICAL
    house.says = Verdict.APPROVED
    await install(house, id, "alpha==1.6")
    assert out(await run(house, "import alpha", id)) == "imported\n"


async def test_a_module_planted_beside_packages_is_not_imported(house: House, registry: LoopbackRegistry) -> None:
    id = await house.create()
    await install(house, id, "alpha")
    (next(house.folder.glob("*/workspace/.packages")) / "evil.py").write_text("print('evil'.upper())")
    assert await refused(house, id, "import evil", Language.PYTHON) is Level.CRITICAL
    house.says = Verdict.APPROVED
    ran = await run(house, "try:\n    import geopandas\nexcept ImportError:\n    print('none')", id)
    assert out(ran) == "none\n"


async def test_what_was_planned_for_other_packages_is_not_installed(house: House, registry: LoopbackRegistry) -> None:
    id = await house.create()
    registry.add("gamma", "1.0", needs=["beta"])
    house.says = None
    waits = await house.engine.submit(
        Submission("claude", Tool.CODE_INSTALL_PACKAGE, sandbox_id=id, packages=("gamma",))
    )
    await house.until(lambda: isinstance(house.heard[-1], QuestionAsked))
    house.says = Verdict.APPROVED
    await install(house, id, "alpha")
    question = next(one for one in house.engine.desk.waiting() if one.request_id == waits.request_id)
    house.engine.answer(question.request_id, question.digest, Verdict.APPROVED, "")
    answer = await waits.answered(HANGS)
    assert answer is not None and "other packages" in answer.problem, answer
    again = await install(house, id, "gamma")
    assert again.facts is not None and again.facts["installed"] == {"gamma": "1.0"}
    assert out(await run(house, "import gamma, beta; print(beta.VERSION)", id)) == "2.0\n"


async def test_what_does_not_fit_what_is_installed_is_refused(house: House, registry: LoopbackRegistry) -> None:
    id = await house.create()
    await install(house, id, "alpha")
    with pytest.raises(Refused, match=r"beta 2\.0 already"):
        await install(house, id, "beta==3.0")


@pytest.mark.parametrize(
    ("package", "more", "says"),
    [
        ("nothing-of-the-kind", {}, "no package"),
        ("./alpha", {}, "not a package"),
        ("alpha @ http://127.0.0.1/x.whl", {}, "address"),
        ("--index-url=http://127.0.0.1", {}, "not a package"),
        ("alpha", {"registry": "npm"}, "registry"),
        ("alpha==9", {}, "No version"),
    ],
)
async def test_what_cannot_be_planned_is_refused_with_the_reason(
    house: House, registry: LoopbackRegistry, package: str, more: dict[str, str], says: str
) -> None:
    id = await house.create()
    heard = len(house.heard)
    with pytest.raises(Refused, match=says):
        await install(house, id, package, **more)
    assert len(house.heard) == heard, "a request was made of it"


async def test_packages_for_a_run_in_a_kept_sandbox_are_refused(house: House, registry: LoopbackRegistry) -> None:
    id = await house.create()
    with pytest.raises(Refused, match="of its own"):
        await run(house, USE, id, packages=("alpha",))
    with pytest.raises(Refused, match="Python and JavaScript"):
        await house.call(Tool.CODE_EXECUTE, language=Language.SHELL, code="ls", packages=("alpha",))


async def test_the_same_files_are_remembered_and_no_others(house: House, registry: LoopbackRegistry) -> None:
    ids = [await house.create() for _ in range(3)]
    house.says = None
    ticket = await house.engine.submit(
        Submission("claude", Tool.CODE_INSTALL_PACKAGE, sandbox_id=ids[0], packages=("alpha",))
    )
    await house.until(lambda: isinstance(house.heard[-1], QuestionAsked))
    question = house.engine.desk.waiting()[0]
    for subject in (Subject.EXACT, Subject.TEXT, Subject.KIND):
        with pytest.raises(KnownError):
            await house.engine.remembering.add(question.request_id, question.digest, Choice(subject, 1, 600.0))
    choice = Choice(Subject.PACKAGES, uses=3, seconds=600.0)
    await house.engine.remembering.add(question.request_id, question.digest, choice)
    house.engine.answer(question.request_id, question.digest, Verdict.DENIED, "")
    await ticket.answered(HANGS)
    house.says = Verdict.DENIED
    again = await install(house, ids[1], "alpha")
    assert (again.status, again.decision.by) == (Status.FINISHED, Decider.GRANT)
    registry.projects["beta"] = registry.projects["beta"][:1]
    registry.add("beta", "2.1")
    house.engine.installing.planning.planner.forget()
    assert (await install(house, ids[2], "alpha")).status is Status.DENIED, "other files were installed by the grant"


async def test_javascript_gets_its_packages(house: House, registry: LoopbackRegistry) -> None:
    registry.add_npm("lib", "1.0.0", {"index.js": "exports.answer = 42"})
    registry.add_npm(
        "app", "1.0.0", {"index.js": "exports.twice = 2 * require('lib').answer"}, dependencies={"lib": "^1"}
    )
    code = "console.log(require('app').twice)"
    ran = await house.call(Tool.CODE_EXECUTE, language=Language.JAVASCRIPT, code=code, packages=("app",))
    assert (house.level(ran.request_id), out(ran)) == (Level.HIGH, "84\n")
    id = await house.create(Submission("claude", Tool.CODE_CREATE_SANDBOX, Language.JAVASCRIPT))
    answer = await install(house, id, "app")
    assert answer.facts is not None and answer.facts["installed"] == {"app": "1.0.0", "lib": "1.0.0"}
    for text in (code, "import('app').then((one) => console.log(one.default.twice))"):
        ran = await javascript(house, text, id)
        assert (house.level(ran.request_id), out(ran)) == (Level.HIGH, "84\n")
    folder = next(house.folder.glob("*/workspace/node_modules"))
    # Node.js would look there first.
    (folder / "app/node_modules/lib").mkdir(parents=True)
    (folder / "app/node_modules/lib/index.js").write_text("console.log(666)")
    ran = await javascript(house, code, id)
    assert "lib/index.js is not as it was installed" in out(ran) and "666" not in out(ran), out(ran)
    (folder / "lib/index.js").write_text("console.log(666)")
    ran = await javascript(house, code, id)
    assert "/workspace/node_modules/lib/index.js is not as it was installed" in out(ran), out(ran)
    assert await refused(house, id, code, Language.JAVASCRIPT) is Level.CRITICAL


@pytest.mark.parametrize(("name", "load"), [("index.js", "require('lib')"), ("more.mjs", "import('lib/more.mjs')")])
async def test_javascript_does_not_load_packages_that_it_changes_itself(
    house: House, registry: LoopbackRegistry, name: str, load: str
) -> None:
    registry.add_npm("lib", "1.0.0", {"index.js": "exports.answer = 42", "more.mjs": "export const answer = 42"})
    id = await house.create(Submission("claude", Tool.CODE_CREATE_SANDBOX, Language.JAVASCRIPT))
    await install(house, id, "lib")
    ran = await javascript(
        house, f"require('fs').writeFileSync('node_modules/lib/{name}', 'console.log(666)'); {load}", id
    )
    assert f"{name} is not as it was installed" in out(ran) and "666" not in out(ran), out(ran)


class Halting:
    """A session whose unpacking waits; `begun` is set by then, and `stop` of it is the real one's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = asyncio.Event()
        original = programs.inside

        def inside(name: str) -> str:
            text = original(name)
            return f"import time\ntime.sleep(60)\n{text}" if name == "unpacking.py" else text

        monkeypatch.setattr(programs, "inside", inside)
        unpack = Installing.unpack

        async def watched(installing: Installing, session: Session, *given: object) -> None:
            start = session.start

            async def started(*job: object) -> object:
                run = await start(*job)  # type: ignore[arg-type]
                asyncio.get_running_loop().call_soon(self.begun.set)
                return run

            monkeypatch.setattr(session, "start", started)
            await unpack(installing, session, *given)  # type: ignore[arg-type]

        monkeypatch.setattr(Installing, "unpack", watched)


@pytest.mark.parametrize("how", ["one", "all"])
async def test_stop_ends_an_installation_that_is_unpacking(
    house: House, registry: LoopbackRegistry, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    id = await house.create()
    with monkeypatch.context() as patched:
        halting = Halting(patched)
        ticket = await house.engine.submit(
            Submission("claude", Tool.CODE_INSTALL_PACKAGE, sandbox_id=id, packages=("alpha",))
        )
        async with asyncio.timeout(HANGS):
            await halting.begun.wait()
        if how == "one":
            house.engine.runs.stop(ticket.request_id, "enough")
        else:
            house.engine.stop_all("enough")
        answer = await ticket.answered(HANGS)
    assert answer is not None and "The installation was stopped: enough" in answer.problem, answer
    assert house.engine.installing.active == () == house.engine.installing.unpacking
    # Nothing of it counts, and the next one begins with an empty folder.
    assert (await install(house, id, "alpha")).facts is not None
    assert out(await run(house, USE, id)) == "1.5 2.0\n"


async def test_stop_ends_an_installation_before_it_unpacks(
    house: House, registry: LoopbackRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = await house.create()
    assert (await install(house, id, "beta")).facts is not None
    prepared = Installing.prepared

    async def stopping(installing: Installing, asked: Request, *given: Any) -> Prepared:
        house.engine.runs.stop(asked.id, "enough")
        return await prepared(installing, asked, *given)

    with monkeypatch.context() as patched:
        patched.setattr(Installing, "prepared", stopping)
        answer = await install(house, id, "alpha")
    assert "The installation was stopped: enough" in answer.problem, answer
    assert "Nothing was changed" in answer.problem
    # What was installed before counts as it did. Else an import would be CRITICAL, which nobody can approve here.
    ran = await run(house, "import beta\nprint(beta.VERSION)", id)
    assert (house.level(ran.request_id), out(ran)) == (Level.HIGH, "3.0\n")
