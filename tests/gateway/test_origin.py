"""What a program says of itself: bounded, harmless on screen, recorded with the request and outside of the digest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from mcp_types import Implementation

from runner.engine.request.admission import _request
from runner.gateway import origin
from runner.gateway.origin import LONGEST_NAME, LONGEST_VERSION, MOST_SESSIONS, SessionNumbers
from runner.model.codec import decode, encode
from runner.model.request import Isolation, Request, Tool
from runner.model.submission import Submission
from runner.requests.network import Offered
from tests.gateway.counter import Terms
from tests.gateway.stage import AGENT, Stage

if TYPE_CHECKING:
    from mcp.client.client import Client


def claim(name: str, version: str = "1") -> str:
    return origin.program(Implementation(name=name, version=version))


@pytest.mark.parametrize(
    ("name", "version", "shown"),
    [
        ("claude-code", "2.1.329", "claude-code 2.1.329"),
        ("unknown", "0", ""),
        ("", "", ""),
        ("a\u202eb\x1b[2Jc\nd\te", "1", "a\\u202eb\\x1b[2Jc d e 1"),
        ('x" approved by "Assent', "\u201d\uff02", "x' approved by 'Assent ''"),
        ("\ud800", "1", "? 1"),
    ],
)
def test_a_claim_is_one_line_of_what_can_be_seen(name: str, version: str, shown: str) -> None:
    made = Implementation.model_construct(name=name, version=version)
    assert origin.program(made) == shown


@pytest.mark.parametrize("letter", ["a", "\u202e", "\x1b"])
def test_a_claim_of_a_megabyte_is_short(letter: str) -> None:
    assert len(claim(letter * (1 << 20), letter * (1 << 20))) <= LONGEST_NAME + 1 + LONGEST_VERSION


def test_nothing_said_is_no_claim() -> None:
    assert origin.program(None) == ""


def test_sessions_are_counted_by_agent_and_keep_their_numbers() -> None:
    numbers = SessionNumbers()
    asked = [("a", "x"), ("a", "y"), ("b", "x"), ("a", "x"), ("a", "")]
    assert [numbers.number(*one) for one in asked] == [1, 2, 1, 1, 0]


def test_a_million_sessions_are_not_remembered() -> None:
    numbers = SessionNumbers()
    for number in range(3 * MOST_SESSIONS):
        numbers.number("a", str(number))
        assert numbers.number("a", "first") in (1, 2), "what is in use keeps its number"
    assert len(numbers._numbers["a"]) == MOST_SESSIONS


def test_the_request_has_the_claim_outside_of_its_digest() -> None:
    made = [
        _request(
            Submission(AGENT, Tool.CODE_CREATE_SANDBOX, **one),
            Terms(),  # type: ignore[arg-type]
            Isolation.LOCAL,
            "",
            None,
            (),
            Offered(),
        )
        for one in ({"language": "python"}, {"language": "python", "program": "codex 1", "session": 3})
    ]
    assert (made[1].program, made[1].session) == ("codex 1", 3)
    assert made[0].digest == made[1].digest


def test_a_request_of_an_older_ledger_has_no_claim() -> None:
    body = encode(Request("1", AGENT, Tool.CODE_EXECUTE, 1.0))
    del body["program"], body["session"]
    assert decode(Request, body).program == ""


@pytest.mark.asyncio
async def test_each_session_says_what_it_is(stage: Stage, era: str) -> None:
    seen: list[Submission] = []
    submit = stage.counter.submit

    async def noted(submission: Submission) -> Any:
        seen.append(submission)
        return await submit(submission)

    stage.counter.submit = noted  # type: ignore[method-assign]

    async def call(client: Client) -> None:
        await client.call_tool("code_sandbox_info", {})

    header = {"Assent-Session": "bridge"} if era == "auto" else {}
    async with stage.client(era, **header) as first:
        await call(first)
        await call(first)
    async with stage.client(era, **dict.fromkeys(header, "other")) as second:
        await call(second)
    assert [one.session for one in seen] == [1, 1, 2]
    assert all(one.program.startswith("mcp ") for one in seen), seen
