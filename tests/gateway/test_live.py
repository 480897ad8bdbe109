"""Output on its way while the code still runs: new lines for models, every byte for programs that print it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.commands.run import RunClient
from runner.gateway import waiting
from runner.gateway.live import LivePiece, Received, packed, unpacked
from runner.sandbox.output import OutputPiece, Stream
from runner.system.tasks import spawn
from tests.gateway.stage import PRINT
from tests.gateway.test_mcp_calls import Progress, data, text

if TYPE_CHECKING:
    from tests.gateway.stage import Stage

AS_IT_IS = {"Assent-Output": "as-it-is"}
HOSTILE = b"\x1b[31mred\x1b[0m \x1b]0;x\x07\xff\n"


@pytest.mark.asyncio
async def test_a_program_gets_every_byte_before_the_answer(stage: Stage, era: str) -> None:
    progress, received, shown = Progress(), Received(), bytearray()
    async with stage.client(era, **AS_IT_IS) as client:
        answering = spawn("call", client.call_tool("code_execute", PRINT, progress_callback=progress))
        ticket = await stage.counter.question()
        stage.counter.approve(ticket)
        await progress.until("running now")
        stage.counter.print(ticket, "first\n")
        await progress.until(packed("", [OutputPiece(0, Stream.OUT, b"first\n")])[-20:])
        assert ticket.transcript is not None
        ticket.transcript.append(Stream.OUT, HOSTILE * 1000)
        stage.counter.finish(ticket.request_id, "the whole\n")
        result = await answering
    for _, _, message in progress.told:
        for piece in unpacked(message)[1]:
            shown += received.news(piece)
    assert bytes(shown) == b"first\n" + HOSTILE * 1000
    assert received.missing == 0
    assert data(result)["stdout"] == "the whole\n"


@pytest.mark.asyncio
async def test_a_model_gets_what_is_new_without_commands_for_terminals(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "PROGRESS_SECONDS", 0.02)
    progress = Progress()
    async with stage.client("auto") as client:
        answering = spawn("call", client.call_tool("code_execute", PRINT, progress_callback=progress))
        ticket = await stage.counter.question()
        stage.counter.approve(ticket)
        await progress.until("running now")
        stage.counter.print(ticket, "row 1\nrow 2\n\x1b[32mrow 3\x1b[0m\x07\n")
        assert (await progress.until("row 3")).endswith("row 1\nrow 2\nrow 3\\x07")
        stage.counter.print(ticket, "x" * 100_000)
        assert len(await progress.until("xxx")) < waiting.LONGEST_OUTPUT + 100
        stage.counter.finish(ticket.request_id)
        assert text(await answering) == "4"
    assert sum("row 3" in message for _, _, message in progress.told) == 1


def test_what_comes_twice_is_shown_once_and_what_is_missing_is_counted() -> None:
    received = Received()
    assert received.news(LivePiece(0, 1, b"abc")) == b"abc"
    assert received.news(LivePiece(0, 1, b"abcde")) == b"de"
    assert received.news(LivePiece(1, 1, b"b")) == b""
    assert received.news(LivePiece(9, 2, b"z")) == b"z"
    assert (received.position, received.missing) == (10, 4)


@pytest.mark.parametrize("message", ["", "waiting", "{", "[]", '{"state": "x"}', '{"state": "x", "output": [[1]]}'])
def test_a_message_that_holds_no_output_is_all_state(message: str) -> None:
    assert unpacked(message) == (message, [])


def test_the_command_prints_as_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    said: list[str] = []
    client = RunClient(said.append)
    whole = "Grüße\n".encode()
    pieces = [OutputPiece(0, Stream.OUT, whole[:3]), OutputPiece(3, Stream.OUT, whole[3:])]
    for one in (*pieces, OutputPiece(len(whole), Stream.ERR, b"oops\n")):
        client.show(packed("approved, running now.", [one]))
    assert capsys.readouterr() == ("Grüße\n", "oops\n")
    assert said == ["approved, running now."]
