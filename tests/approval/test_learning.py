"""Offers made of answers: of what a person approved often with the same bounds, replayed, no wider than by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.approval.learning import OFTEN
from runner.approval.outlines import Outlines
from runner.audit.history.search import CaseStep
from runner.model.decision import Decider
from runner.model.errors import KnownError
from runner.model.file_changes import FILES_CHANGED
from runner.model.request import Isolation, Language, Tool
from runner.model.submission import Submission
from runner.policy.grants import Choice, Subject
from tests.approval.test_remembering import READING, denied, kinds, remember, unasked
from tests.gui.feed import finding
from tests.patience import HANGS
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from runner.approval.learning import Learned, Offer
    from runner.approval.ticket import Ticket
    from runner.audit.history.search import CaseRecord

pytestmark = pytest.mark.asyncio
LIST = Submission("claude", Tool.CODE_EXECUTE, Language.SHELL, "ls")
MONTHS = ("jan", "feb", "mar", "apr", "may")


def of_month(month: str) -> Submission:
    return replace(READING, code=READING.code.replace("jan", month))


async def approve(stage: Stage, submission: Submission = HELLO) -> Ticket:
    ticket = await stage.approved(submission)
    stage.sandbox.runs[-1].finish("x")
    await ticket.answered(HANGS)
    return ticket


async def learned(stage: Stage) -> Learned:
    return await stage.engine.hindsight.learned()


async def looked(stage: Stage, records: list[CaseRecord]) -> Learned:
    hindsight = stage.engine.hindsight
    outline = Outlines(hindsight._assessor)
    found = hindsight._learning.look(records, (), outline)
    while await outline.learn():
        found = hindsight._learning.look(records, (), outline)
    return found


async def offered(stage: Stage) -> Offer:
    (found,) = (await learned(stage)).offers
    return found


async def test_the_same_request_is_offered_as_just_this_request(stage: Stage) -> None:
    for number in range(OFTEN):
        assert (await learned(stage)).offers == (), number
        ticket = await approve(stage)
    found = await offered(stage)
    assert (found.choice.subject, found.approved, found.latest.id) == (Subject.EXACT, OFTEN, ticket.request_id)
    assert found.choice.uses == OFTEN and found.choice.seconds == 3600.0


async def test_the_same_code_with_other_values_is_one_shape_and_is_replayed(stage: Stage) -> None:
    for month in MONTHS:
        await approve(stage, of_month(month))
    await denied(stage, of_month("dec"))
    await denied(stage, LIST)
    all_of_it = await learned(stage)
    (found,) = all_of_it.offers
    assert (found.choice.subject, found.approved) == (Subject.SHAPE, len(MONTHS))
    assert [one.code for one in found.refused] == [of_month("dec").code]
    assert len(found.covered) == len(MONTHS) + 1 and len(all_of_it.looked_at) == len(MONTHS) + 2
    assert (all_of_it.alike, all_of_it.answered) == (len(MONTHS), len(MONTHS) + 2)


async def test_an_offer_is_accepted_by_hand_and_in_the_ledger_and_is_then_offered_no_more(stage: Stage) -> None:
    for month in MONTHS[:OFTEN]:
        await approve(stage, of_month(month))
    found = await offered(stage)
    assert kinds(stage) == [] and stage.engine.parts.configuration.grants.all() == ()
    grant = await stage.engine.remembering.add(found.latest.id, found.latest.digest, found.choice)
    assert replace(grant, name="", made_at=0.0, expires_at=0.0) == replace(
        found.grant, name="", made_at=0.0, expires_at=0.0
    )
    assert kinds(stage) == ["grant-made"]
    assert (await learned(stage)).offers == ()
    assert (await unasked(stage, of_month("dec"))).decision.by is Decider.GRANT


async def test_many_harmless_ones_are_no_reason_to_offer_what_one_other_needs(stage: Stage) -> None:
    """It has the same outline and was approved, but what was found in it is in no bounds of the others."""
    stage.sandbox.isolation = Isolation.DOCKER  # where CRITICAL may be approved
    for month in MONTHS:
        await approve(stage, of_month(month))
    other = await approve(stage, of_month("de\u202ec"))
    assert other.case.assessment is not None and other.case.assessment.findings
    found = await offered(stage)
    assert found.approved == len(MONTHS) and not found.grant.found
    assert other.request_id not in {one.id for one in found.covered}
    await stage.engine.remembering.add(found.latest.id, found.latest.digest, found.choice)
    await stage.asked(of_month("no\u202ev"))


async def test_what_more_was_found_in_is_counted_apart(stage: Stage) -> None:
    """So that one with a finding makes no wider offer of many without."""
    for month in MONTHS:
        await approve(stage, of_month(month))
    newest, *others = stage.engine.hindsight._latest()
    assert newest.assessment is not None
    worse = replace(newest, assessment=replace(newest.assessment, findings=(finding(1, "Reads much"),)))
    (found,) = (await looked(stage, [worse, *others])).offers
    assert found.approved == len(MONTHS) - 1 and found.grant.found == ()
    assert [one.id for one in found.covered] == [one.row.id for one in others]


async def test_what_did_the_unforeseen_is_not_offered(stage: Stage) -> None:
    for _ in range(OFTEN):
        await approve(stage)
    newest, *others = stage.engine.hindsight._latest()
    removed = CaseStep(replace(newest.steps[-1].entry, kind=FILES_CHANGED), {"unforeseen": ["removed a.csv"]})
    assert (await looked(stage, [newest, *others])).offers
    assert (await looked(stage, [replace(newest, steps=(*newest.steps, removed)), *others])).offers == ()


async def test_what_asks_for_more_is_no_evidence_for_the_rest(stage: Stage) -> None:
    for month in MONTHS[: OFTEN - 1]:
        await approve(stage, of_month(month))
    await approve(stage, replace(of_month("dec"), memory_mb=1024))
    assert (await learned(stage)).offers == ()


async def test_what_was_approved_only_in_another_version_is_not_offered(stage: Stage) -> None:
    editing = stage.engine.editing
    for _ in range(OFTEN):
        ticket = await stage.asked()
        draft = await editing.draft(ticket.request_id, "print('better')")
        runs = len(stage.sandbox.runs)
        edited = draft.request.digest
        assert await editing.approve(ticket.request_id, ticket.case.request.digest, "print('better')", edited) == ""
        await stage.until(lambda runs=runs: len(stage.sandbox.runs) > runs)
        stage.sandbox.runs[-1].finish("x")
        await ticket.answered(HANGS)
    assert (await learned(stage)).offers == ()


async def test_what_passed_unasked_is_no_evidence(stage: Stage) -> None:
    ticket = await denied(stage)
    grant = await remember(stage, ticket, Choice(Subject.EXACT, uses=9, seconds=600))
    for _ in range(OFTEN):
        await unasked(stage)
    await stage.engine.remembering.revoke((grant.name,), "no more")
    assert (await learned(stage)).offers == ()


async def test_what_is_critical_or_closed_by_rules_is_never_offered(stage: Stage) -> None:
    for _ in range(OFTEN):
        await approve(stage)
    assert (await learned(stage)).offers
    (stage.places.config / "rules.yaml").write_text("rules: [{name: grave, action: ask, level: CRITICAL}]")
    stage.engine.reload()
    assert (await learned(stage)).offers == ()


async def test_no_offer_is_wider_than_what_may_be_remembered_by_hand(stage: Stage) -> None:
    for month in MONTHS:
        await approve(stage, of_month(month))
    found = await offered(stage)
    assert found.choice.subject in found.may and not found.choice.everyone
    preview = await stage.engine.hindsight.preview(found.latest.id, found.choice)
    assert [one.id for one in preview.covered] == [one.id for one in found.covered]
    with pytest.raises(KnownError):
        await stage.engine.hindsight.preview(found.latest.id, replace(found.choice, uses=101))


async def test_an_earlier_agent_of_the_same_name_says_nothing_of_this_one(stage: Stage) -> None:
    for _ in range(OFTEN):
        await approve(stage)
    assert (await learned(stage)).offers
    await stage.engine.membership.add("claude")
    assert (await learned(stage)).looked_at == ()
