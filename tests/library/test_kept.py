"""Sandboxes that Python programs keep: the seven methods (spec E3), who decides, and what is left."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runner import KnownError, Level, Outcome, Refused, SandboxManager
from runner.library.kept import NotApproved
from runner.model.request import Tool
from runner.system.places import Places
from runner.system.tasks import spawn

if TYPE_CHECKING:
    from runner import Assessment, Request

pytestmark = pytest.mark.asyncio


async def test_everything_that_the_source_document_names() -> None:
    async with SandboxManager() as manager:
        box = await manager.create_sandbox("python", "mine", max_memory_mb=256)
        assert box == "mine"
        written = await manager.write_file(box, "data/numbers.txt", "1\n2\n3\n")
        assert (written.path, written.size) == ("data/numbers.txt", 6)
        result = await manager.execute_code(
            box, "result = [int(n) * k for n in open('data/numbers.txt')]", timeout=20, context={"k": 2}
        )
        assert (result.outcome, result.value, result.meta.limits.memory_mb) == (Outcome.OK, [2, 4, 6], 256)
        shell = await manager.execute_code(box, "cat > copy.txt", language="shell", stdin="from stdin")
        assert shell.exit_code == 0
        read = await manager.read_file(box, "copy.txt")
        assert (read.content, read.encoding, read.size, read.left_out) == ("from stdin", "utf-8", 10, 0)
        part = await manager.read_file(box, "copy.txt", max_bytes=4)
        assert (part.content, part.left_out) == ("from", 6)
        listed = await manager.list_files(box)
        assert {"data/", "copy.txt"} <= {*listed.files}
        await manager.destroy_sandbox(box)
        with pytest.raises(Refused, match="no sandbox 'mine'"):
            await manager.execute_code(box, "print(1)")
    assert not Places.standard().ledger.exists(), "only the console has a history"


async def test_ask_decides_about_each_thing_and_a_no_runs_nothing() -> None:
    seen: list[tuple[Tool, Level]] = []

    async def ask(request: Request, assessment: Assessment) -> bool:
        seen.append((request.tool, assessment.level))
        return "no" not in request.code

    async with SandboxManager(ask) as manager:
        box = await manager.create_sandbox("python")
        await manager.write_file(box, "a.txt", "yes")
        assert (await manager.execute_code(box, "print(open('a.txt').read())")).stdout == "yes\n"
        with pytest.raises(NotApproved, match="did not approve"):
            await manager.execute_code(box, "open('b.txt', 'w').write('no')")
        with pytest.raises(NotApproved):
            await manager.write_file(box, "b.txt", "no")
        assert (await manager.list_files(box)).files == ("a.txt",)
    assert (Tool.CODE_EXECUTE, Level.HIGH) in seen and (Tool.CODE_WRITE_FILE, Level.MEDIUM) in seen


@pytest.mark.parametrize("answer", [None, 1, "yes", object()])
async def test_only_true_approves(answer: object) -> None:
    async with SandboxManager(lambda *_: answer) as manager:  # type: ignore[arg-type, return-value]
        box = await manager.create_sandbox("python")
        with pytest.raises(NotApproved):
            await manager.execute_code(box, "print(1)")


async def test_what_ask_raises_comes_out_and_approves_nothing() -> None:
    def ask(*_: object) -> bool:
        raise ZeroDivisionError

    async with SandboxManager(ask) as manager:
        box = await manager.create_sandbox("python")
        with pytest.raises(ZeroDivisionError):
            await manager.execute_code(box, "print(1)")


async def test_rules_of_the_person_count_here_too() -> None:
    places = Places.standard()
    places.make()
    (places.config / "rules.yaml").write_text("rules: [{name: no-box, action: deny, tools: [code_create_sandbox]}]")
    async with SandboxManager() as manager:
        with pytest.raises(NotApproved, match="no-box"):
            await manager.create_sandbox("python")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ASSENT_ENABLED": "false"}, "switched off"),
        ({"SANDBOX_TYPE": "nonsense"}, "Nothing was run"),
        ({"SANDBOX_TYPE": "e2b"}, "no key for E2B"),
        ({"ASSENT_SECURITY_LEVEL": "strict", "SANDBOX_TYPE": "local"}, "docker or stronger"),
    ],
)
async def test_settings_that_forbid_it_fail_closed(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], words: str
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    manager = SandboxManager()
    try:
        with pytest.raises(KnownError, match=words):
            await manager.execute_code(await manager.create_sandbox("python"), "print(1)")
    finally:
        await manager.close()


async def test_limits_of_the_sandbox_cannot_be_exceeded_by_a_run() -> None:
    async with SandboxManager() as manager:
        box = await manager.create_sandbox("python", max_memory_mb=256)
        assert (await manager.execute_code(box, "print(1)", max_memory_mb=256)).exit_code == 0
        with pytest.raises(Refused, match="Memory and disk of a sandbox"):
            await manager.execute_code(box, "print(1)", max_memory_mb=512)
        with pytest.raises(Refused, match="timeout"):
            await manager.execute_code(box, "print(1)", timeout=10**6)
        for name in ("", "x"):
            with pytest.raises(Refused):
                await manager.create_sandbox("python", name) if not name else await manager.create_sandbox(
                    "python", allowed_domains=["example.com"]
                )


async def test_a_cancelled_call_ends_its_run_and_closing_leaves_nothing() -> None:
    manager = SandboxManager()
    box = await manager.create_sandbox("python")
    folder = manager._folder
    call = spawn("cancelled", manager.execute_code(box, "import time\ntime.sleep(600)"))
    engine = manager._engine
    assert engine is not None and folder is not None
    while not any(case.transcript for case in engine._cases.active()):
        await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    await manager.close()
    await manager.close()
    assert not folder.exists()


async def test_a_program_keeps_as_many_as_it_likes() -> None:
    async with SandboxManager() as manager:
        boxes = [await manager.create_sandbox("shell") for _ in range(5)]
        assert len({*boxes}) == 5


@pytest.mark.parametrize("name", ["ASSENT_SANDBOXES_PER_AGENT", "ASSENT_SANDBOXES"])
async def test_keeping_none_is_switched_off_in_words(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "0")
    async with SandboxManager() as manager:
        with pytest.raises(Refused, match="Keeping sandboxes is switched off in the settings of Assent") as raised:
            await manager.create_sandbox("python")
    assert "code_" not in str(raised.value)


async def test_errors_name_no_tools_of_agents() -> None:
    async with SandboxManager() as manager:
        with pytest.raises(Refused, match="no sandbox 'none'") as raised:
            await manager.execute_code("none", "print(1)")
        assert "code_" not in str(raised.value)
        box = await manager.create_sandbox("python")
        for wrong in (
            manager.execute_code(box, None),  # type: ignore[arg-type]
            manager.execute_code(box, "print(1)", timeout="5"),  # type: ignore[arg-type]
            manager.write_file(box, "a.txt", b"x"),  # type: ignore[arg-type]
            manager.read_file(box, 5),  # type: ignore[arg-type]
            manager.install_package(box, None),  # type: ignore[arg-type]
            manager.list_files(5),  # type: ignore[arg-type]
        ):
            with pytest.raises(Refused, match="is of type"):
                await wrong
