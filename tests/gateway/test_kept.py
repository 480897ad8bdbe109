"""A sandbox that an agent keeps, by the official client of both eras: gateway, engine, ledger and sandbox are real."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from runner.assembly import build
from runner.model.decision import Verdict
from runner.model.events import QuestionAsked
from runner.sandbox.local.sandbox import LocalSandbox
from runner.settings.loading import load
from runner.system.places import Places
from tests.gateway.stage import AGENT, ERAS, Address

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from mcp.client.client import Client
    from mcp_types import CallToolResult

    from runner.model.events import Event

pytestmark = pytest.mark.asyncio


@asynccontextmanager
async def house(root: Path) -> AsyncIterator[Address]:
    """Everything that is asked is approved."""
    places = Places.under(root / "home")
    settings = load(places, {"ASSENT_PORT": "0"})
    engine = build(places, settings, (LocalSandbox(root / "runs"),))

    def approve(event: Event) -> None:
        if isinstance(event, QuestionAsked):
            (question,) = [one for one in engine.desk.waiting() if one.request_id == event.request_id]
            loop = asyncio.get_running_loop()
            loop.call_soon(engine.answer, question.request_id, question.digest, Verdict.APPROVED, "")

    engine.listen(approve)
    await engine.start()
    try:
        yield Address(engine.parts.address, await engine.membership.add(AGENT))
    finally:
        await engine.close("the test is over")


async def called(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    return await client.call_tool(tool, arguments)


def facts(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result
    assert isinstance(result.structured_content, dict)
    found = result.structured_content["facts"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("era", ERAS, ids=["handshake era", "modern era"])
async def test_the_tools_do_what_they_say(tmp_path: Path, era: str) -> None:
    async with house(tmp_path) as there, there.client(era) as client:
        made = await called(client, "code_create_sandbox", language="python", max_disk_mb=5, title="sums")
        id = facts(made)["sandbox_id"]
        await called(client, "code_write_file", sandbox_id=id, file_path="a/in.txt", content="1\n2\n")
        code = "print(sum(map(int, open('a/in.txt'))))\nopen('out.bin', 'wb').write(b'\\xff\\x00')"
        ran = await called(client, "code_execute", language="python", code=code, sandbox_id=id)
        assert next(part.text for part in ran.content if part.type == "text").startswith("3"), ran
        listed = facts(await called(client, "code_list_files", sandbox_id=id))
        assert [(one["name"], one["kind"]) for one in listed["entries"]] == [("a", "folder"), ("out.bin", "file")]
        text = facts(await called(client, "code_read_file", sandbox_id=id, file_path="a/in.txt", offset=2, max_bytes=1))
        assert (text["content"], text["size"], text["encoding"]) == ("2", 4, "utf-8")
        binary = facts(await called(client, "code_read_file", sandbox_id=id, file_path="/workspace/out.bin"))
        assert (binary["content"], binary["encoding"]) == ("/wA=", "base64")
        gone = await called(client, "code_read_file", sandbox_id=id, file_path="nix")
        assert gone.is_error and gone.structured_content["error"].startswith("There is no file nix")  # type: ignore[index]
        assert facts(await called(client, "code_destroy_sandbox", sandbox_id=id))["removed"] is True
        after = await called(client, "code_execute", language="python", code="1", sandbox_id=id)
        assert after.is_error and "no sandbox" in after.structured_content["error"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("tool", "arguments", "word"),
    [
        ("code_create_sandbox", {}, "language"),
        ("code_create_sandbox", {"language": "perl"}, "perl"),
        ("code_create_sandbox", {"language": "python", "network_enabled": "yes"}, "network_enabled"),
        ("code_create_sandbox", {"language": "python", "allowed_domains": ["a.org"]}, "network_enabled"),
        (
            "code_create_sandbox",
            {"language": "python", "network_enabled": True, "allowed_domains": ["https://a.org/x"]},
            "without https:// and path",
        ),
        ("code_write_file", {"sandbox_id": "x", "file_path": "a", "content": "", "network_enabled": True}, "network"),
        ("code_write_file", {"file_path": "a", "content": ""}, "sandbox_id"),
        ("code_write_file", {"sandbox_id": "x", "file_path": "a", "content": "a\0b"}, "NUL"),
        ("code_write_file", {"sandbox_id": "x", "file_path": "a", "content": "", "executable": "yes"}, "executable"),
        ("code_read_file", {"sandbox_id": "x"}, "file_path"),
        ("code_read_file", {"sandbox_id": "x", "file_path": "a", "offset": -1}, "x"),
        ("code_read_file", {"sandbox_id": "x", "file_path": "a", "max_bytes": 1.5}, "max_bytes"),
        ("code_list_files", {"sandbox_id": 3}, "sandbox_id"),
        ("code_destroy_sandbox", {"sandbox_id": "\x1b[2J" * 50}, "no sandbox"),
    ],
)
async def test_wrong_arguments_are_refused_by_name(
    tmp_path: Path, tool: str, arguments: dict[str, object], word: str
) -> None:
    async with house(tmp_path) as there, there.client("auto") as client:
        answer = await called(client, tool, **arguments)
        assert answer.is_error
        text = "".join(part.text for part in answer.content if part.type == "text")
        assert text.startswith("Refused") and word in text, text
        assert "\x1b" not in text
