"""What a reply says of the output it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from runner.gateway.replies import answered
from runner.model.answer import Answer
from runner.model.decision import Decider, Decision, Verdict
from runner.model.result import Outcome, Result

if TYPE_CHECKING:
    from collections.abc import Mapping


def meta(**result: object) -> Mapping[str, Any]:
    whole = {"stdout": "", "stderr": "", "exit_code": 0, "duration": 0.1, **result}
    answer = Answer("r", Decision(Verdict.APPROVED, Decider.PERSON, ""), Result(Outcome.OK, **whole))  # type: ignore[arg-type]
    reply = answered(answer, 10)
    assert ("output truncated" in reply.text) is bool(result)
    return cast("Mapping[str, Any]", reply.details)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_output_cut_for_the_reply_is_said_to_be(stream: str) -> None:
    found = meta(**{stream: "x" * 50_000})
    assert found["truncated"]
    assert found[f"dropped_{stream}"] >= 39_000


def test_a_value_cut_for_the_reply_is_said_to_be() -> None:
    assert meta(value=list(range(2000)))["truncated"]


def test_what_is_whole_is_not() -> None:
    assert not meta()["truncated"]
