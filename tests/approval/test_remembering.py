"""What is remembered, on the path of a request: used, counted, recorded, revoked; previewed and explained."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.audit.history.search import Filter, History
from runner.audit.ledger.chain import Chain
from runner.audit.ledger.verify import verify
from runner.model.decision import Decider, Verdict
from runner.model.errors import KnownError
from runner.model.events import EngineTroubled, GrantsChanged
from runner.model.request import Isolation, Language, Tool
from runner.model.submission import Submission
from runner.policy.grants import Choice, Subject
from tests.patience import HANGS
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from pathlib import Path

    from runner.approval.ticket import Ticket
    from runner.audit.ledger.entry import NewEntry
    from runner.model.answer import Answer
    from runner.policy.grants import Grant

pytestmark = pytest.mark.asyncio
EXACT = Choice(Subject.EXACT, uses=2, seconds=600)
TEXT = replace(EXACT, subject=Subject.TEXT)
SHAPE = Choice(Subject.SHAPE, uses=9, seconds=600)
READING = replace(HELLO, code="rows = open('data/jan.csv').read().split(';')\nprint(len(rows), 10)\n")


async def remember(stage: Stage, ticket: Ticket, choice: Choice = EXACT) -> Grant:
    request = ticket.case.request
    return await stage.engine.remembering.add(request.id, request.digest, choice)


async def denied(stage: Stage, submission: Submission = HELLO) -> Ticket:
    """Asked, and answered with no: over, and nothing ran."""
    ticket = await stage.asked(submission)
    stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.DENIED, "no")
    await ticket.answered(HANGS)
    return ticket


async def unasked(stage: Stage, submission: Submission = HELLO) -> Answer:
    """Submit what nobody is asked about; its answer."""
    before = len(stage.sandbox.runs)
    ticket = await stage.engine.submit(submission)
    await stage.until(lambda: len(stage.sandbox.runs) > before or stage.engine.desk.waiting())
    assert not stage.engine.desk.waiting(), "a person was asked"
    stage.sandbox.runs[-1].finish("done\n")
    answer = await ticket.answered(HANGS)
    assert answer is not None
    return answer


def kinds(stage: Stage) -> list[str]:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(stage.places.ledger)) as connection:
        return [kind for (kind,) in connection.execute("SELECT kind FROM entries WHERE kind LIKE 'grant-%'")]


async def test_what_is_remembered_runs_unasked_until_it_is_used_up(stage: Stage) -> None:
    grant = await remember(stage, await denied(stage))
    answer = await unasked(stage)
    assert answer.decision.by is Decider.GRANT and answer.decision.rule == grant.name
    assert f"remembered as {grant.name}, use 1 of 2" in answer.decision.reason
    assert stage.phases(answer.request_id)[:4] == ["arrived", "assessed", "grant-used", "approved"]
    await unasked(stage)
    await stage.asked()
    assert kinds(stage) == ["grant-made", "grant-used", "grant-used"]
    assert GrantsChanged() in stage.heard


async def test_what_is_remembered_flushes_the_history_once_before_it_runs_and_once_before_its_answer(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    await remember(stage, await denied(stage))
    monkeypatch.setattr("runner.audit.ledger.ledger.COMMIT_DELAY", 10 * HANGS)  # nothing is written by itself
    flushed: list[list[str]] = []
    write = Chain.write

    def counted(chain: Chain, drafts: list[NewEntry]) -> list[int | Exception]:
        flushed.append([draft.kind for draft in drafts])
        return write(chain, drafts)

    monkeypatch.setattr(Chain, "write", counted)
    await unasked(stage)
    assert flushed == [["arrived", "assessed", "grant-used", "approved", "running"], ["finished", "closed"]]


async def test_a_question_that_waits_stays_a_question(stage: Stage) -> None:
    ticket = await stage.asked()
    await remember(stage, ticket)
    assert stage.engine.desk.position(ticket.request_id) == 1 and stage.sandbox.runs == []


async def test_remembering_needs_the_digest_that_was_on_screen(stage: Stage) -> None:
    ticket = await stage.asked()
    with pytest.raises(KnownError, match="not this request"):
        await stage.engine.remembering.add(ticket.request_id, "0" * 64, EXACT)
    assert kinds(stage) == []


async def test_the_same_code_with_other_values_runs_unasked_and_is_previewed(stage: Stage) -> None:
    ticket = await denied(stage, READING)
    other = replace(READING, code=READING.code.replace("jan", "feb").replace("10", "20"))
    await denied(stage, other)
    preview = await stage.engine.hindsight.preview(ticket.request_id, SHAPE)
    assert (preview.looked_at, len(preview.covered)) == (2, 2)
    assert preview.code == READING.code and preview.differs is not None
    values = ("'data/jan.csv'", "10")
    other_values = tuple(one.replace("jan", "feb").replace("10", "20") for one in values)
    assert preview.differs.rows == (values, other_values, values)
    assert [one.values for one in preview.covered] == [other_values, values]
    exact = await stage.engine.hindsight.preview(ticket.request_id, EXACT)
    assert exact.differs is None and exact.code == ""
    grant = await remember(stage, ticket, SHAPE)
    stage.engine.parts.configuration.grants.read()
    assert (await unasked(stage, other)).decision.rule == grant.name
    await stage.asked(replace(other, code=other.code.replace("rows", "lines")))


@pytest.mark.parametrize(
    ("what", "instead"),
    [
        ("data/jan.csv", "~/.ssh/id_rsa"),  # raises the level
        ("data/jan.csv", "/etc/shadow"),
        ("';'", "f'{1}'"),
        ("data/jan.csv", "json.py"),
    ],
)
async def test_other_values_that_reach_further_are_asked(stage: Stage, what: str, instead: str) -> None:
    await remember(stage, await denied(stage, READING), SHAPE)
    await stage.asked(replace(READING, code=READING.code.replace(what, instead)))


async def test_code_that_runs_text_cannot_be_left_open(stage: Stage) -> None:
    for code, language in (("exec('print(1)')", Language.PYTHON), ("bash -c 'ls'", Language.SHELL)):
        ticket = await denied(stage, replace(HELLO, code=code, language=language))
        with pytest.raises(KnownError, match=r"starts programs|CRITICAL"):
            await remember(stage, ticket, SHAPE)


async def test_critical_is_never_remembered(stage: Stage) -> None:
    ticket = await stage.asked(replace(HELLO, network_enabled=True, allowed_domains=("example.org",)))
    with pytest.raises(KnownError, match="CRITICAL requests are asked every time"):
        await remember(stage, ticket)


async def test_what_would_never_count_is_not_made(stage: Stage) -> None:
    ticket = await denied(stage)
    (stage.places.config / "rules.yaml").write_text("{")
    stage.engine.reload()
    with pytest.raises(KnownError, match="cannot be read"):
        await remember(stage, ticket)
    assert kinds(stage) == []


async def test_revoked_is_asked_again_and_the_ledger_is_whole(stage: Stage) -> None:
    grant = await remember(stage, await denied(stage))
    await unasked(stage)
    await stage.engine.remembering.revoke((grant.name,), "Revoked by a person.")
    await stage.asked()
    assert kinds(stage) == ["grant-made", "grant-used", "grant-revoked"]
    await stage.engine.close("to verify")
    assert verify(stage.places.ledger).ok
    history = History(stage.places.ledger)
    rows = history.page(Filter(verdict=Verdict.APPROVED))
    history.close()
    assert [(row.decider, row.rule) for row in rows] == [(Decider.GRANT, grant.name)]


async def test_another_program_another_agent_and_more_memory_are_asked(stage: Stage) -> None:
    await remember(stage, await denied(stage), TEXT)
    for other in (replace(HELLO, code="print('hello' )"), replace(HELLO, agent="x"), replace(HELLO, memory_mb=513)):
        await stage.asked(other)
    assert stage.sandbox.runs == []


async def test_a_rule_that_denies_beats_what_is_remembered(stage: Stage) -> None:
    await remember(stage, await denied(stage))
    (stage.places.config / "rules.yaml").write_text("rules: [{name: stop, action: deny}]")
    stage.engine.reload()
    ticket = await stage.engine.submit(HELLO)
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.decision.rule == "stop"
    (stage.places.config / "rules.yaml").write_text("rules: [{name: worse, level: CRITICAL}]")
    stage.engine.reload()
    await stage.asked()
    assert kinds(stage) == ["grant-made"]


@pytest.mark.parametrize("file", ["rules.yaml", "grants.json"])
async def test_while_a_file_cannot_be_read_everything_is_asked(tmp_path: Path, file: str) -> None:
    first = Stage(tmp_path)
    await first.engine.start(gateway=False)
    await remember(first, await denied(first))
    await first.engine.close("the next one starts")
    place = first.places.config / file
    place.write_text("{")
    place.chmod(0o600)
    stage = Stage(tmp_path)
    await stage.engine.start(gateway=False)
    try:
        await stage.asked()
        await stage.asked(Submission("claude", Tool.CODE_SANDBOX_INFO))
        assert [grant.used for grant in stage.engine.parts.configuration.grants.all()] == [0] * (file == "rules.yaml")
        await stage.engine.modes.trust("claude", 60)
        await stage.asked()
        await stage.engine.modes.guard()
        rooms = [event.area for event in stage.heard if isinstance(event, EngineTroubled)]
        assert rooms == ["grants" if file == "grants.json" else "settings"]
        if file == "grants.json":
            await stage.engine.remembering.start_again()
            answer = await (await stage.engine.submit(Submission("claude", Tool.CODE_SANDBOX_INFO))).answered(HANGS)
            assert answer is not None and answer.decision.by is Decider.RULE
    finally:
        await stage.engine.close("over")


async def test_it_outlives_a_restart_but_not_beyond_its_session(tmp_path: Path) -> None:
    first = Stage(tmp_path)
    await first.engine.start(gateway=False)
    ticket = await denied(first)
    kept = await remember(first, ticket)
    await remember(first, ticket, replace(TEXT, session=True))
    await first.engine.close("the next one starts")
    stage = Stage(tmp_path)
    await stage.engine.start(gateway=False)
    try:
        assert [grant.name for grant in stage.engine.parts.configuration.grants.all()] == [kept.name]
        await unasked(stage)
    finally:
        await stage.engine.close("over")


async def test_what_ran_behind_bubblewrap_is_asked_at_a_start_without_it(tmp_path: Path) -> None:
    first = Stage(tmp_path)
    await first.engine.start(gateway=False)
    await remember(first, await denied(first))
    await unasked(first)
    await first.engine.close("bubblewrap is removed")
    stage = Stage(tmp_path)
    stage.sandbox.isolation = Isolation.PROCESS
    await stage.engine.start(gateway=False)
    try:
        ticket = await stage.asked()
        refusal = stage.engine.answer(ticket.request_id, ticket.case.request.digest, Verdict.APPROVED, "")
        assert "your policy asks for local or stronger" in refusal
        assert stage.sandbox.runs == []
    finally:
        await stage.engine.close("over")


async def test_a_revoked_agent_takes_its_grants_along(stage: Stage) -> None:
    await stage.engine.membership.add("claude")
    await remember(stage, await denied(stage))
    await stage.engine.membership.revoke("claude")
    assert stage.engine.parts.configuration.grants.all() == ()


async def test_an_entry_that_cannot_be_written_makes_nothing_count(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    from runner.audit.ledger.ledger import LedgerFailed

    ticket = await denied(stage)

    async def fail(*_: object, **_how: bool) -> int:
        raise LedgerFailed("The disk is full.", "Free some.")

    with monkeypatch.context() as patched:
        patched.setattr(stage.engine.parts.ledger.writer, "append", fail)
        with pytest.raises(LedgerFailed):
            await remember(stage, ticket)
    assert stage.engine.parts.configuration.grants.all() == ()


async def test_the_preview_lists_what_would_have_been_covered(stage: Stage) -> None:
    ids = [(await denied(stage)).request_id for _ in range(2)]
    await denied(stage, replace(HELLO, code="print('other')"))
    ticket = await denied(stage, replace(HELLO, agent="codex"))
    found = await stage.engine.hindsight.preview(ids[0], TEXT)
    assert [past.id for past in found.covered] == ids[::-1] and found.looked_at == 4
    assert {past.verdict for past in found.covered} == {Verdict.DENIED}
    found = await stage.engine.hindsight.preview(ids[0], replace(TEXT, everyone=True))
    assert [past.id for past in found.covered] == [ticket.request_id, *ids[::-1]]
    assert stage.engine.parts.configuration.grants.all() == () and kinds(stage) == []


async def test_the_dry_run_says_what_then_happens(stage: Stage) -> None:
    ticket = await denied(stage)
    hindsight = stage.engine.hindsight
    before = await hindsight.explain_past(ticket.request_id)
    assert before.verdict is None
    assert [step.name for step in before.steps] == ["Level", "Rules", "Remembered", "Then"]
    await remember(stage, ticket)
    assert (await hindsight.explain_past(ticket.request_id)).verdict is Verdict.APPROVED
    pasted = await hindsight.explain_program(replace(HELLO, code="import subprocess; subprocess.run(['ls'])"))
    assert pasted.verdict is None and "Nothing that you remembered" in pasted.steps[2].said
    assert stage.engine.parts.configuration.grants.all()[0].used == 0
    (stage.places.config / "rules.yaml").write_text("rules: [{name: stop, action: deny}]")
    stage.engine.reload()
    refused = await hindsight.explain_past(ticket.request_id)
    assert refused.verdict is Verdict.DENIED and "stop" in refused.steps[-1].said


async def test_the_dry_run_knows_the_mode(stage: Stage) -> None:
    hindsight = stage.engine.hindsight
    await remember(stage, await denied(stage))
    await stage.engine.modes.lock()
    locked = await hindsight.explain_program(HELLO)
    assert locked.verdict is Verdict.DENIED and [step.name for step in locked.steps] == ["Mode"]
    await stage.engine.modes.trust("claude", 60)
    trusted = await hindsight.explain_program(replace(HELLO, code="print(2)"))
    assert trusted.verdict is Verdict.APPROVED and trusted.steps[-1].name == "Mode"
    assert (
        await hindsight.explain_program(replace(HELLO, network_enabled=True, allowed_domains=("example.org",)))
    ).verdict is None
