"""What a person sets for one agent, while its requests wait, run, or are let through without asking."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.audit.history.changes import read_changes
from runner.identity.agents import Agents
from runner.identity.allowance import Allowance
from runner.model.answer import Status
from runner.model.decision import Decider
from runner.model.errors import KnownError, Refused
from runner.model.request import ClientTool, Language, Tool
from runner.model.submission import Submission
from runner.policy.grants import Choice, Subject
from tests.patience import HANGS
from tests.stages.engine import HELLO, Stage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


pytestmark = pytest.mark.asyncio
FETCH = Submission("claude", Tool.CLIENT_FETCH, client=ClientTool("WebFetch", "/home/me"))
COMMAND = Submission("claude", Tool.CLIENT_SHELL, Language.SHELL, "ls", client=ClientTool("Bash", "/home/me"))


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Stage(tmp_path).opened() as stage:
        await stage.engine.membership.add("claude")
        yield stage


async def changes(stage: Stage, count: int) -> list[tuple[str, dict[str, object]]]:
    """The changes of agents in the ledger, oldest first, once there are `count`."""

    def found() -> list[tuple[str, dict[str, object]]]:
        all_ = ((one.kind, one.body) for one in reversed(read_changes(stage.places.ledger)))
        return [(kind, body) for kind, body in all_ if kind.startswith("agent-") and kind != "agent-added"]

    await stage.until(lambda: len(found()) >= count)
    return found()


@pytest.mark.parametrize("asked", [HELLO, COMMAND, FETCH, Submission("claude", Tool.CODE_SANDBOX_INFO)])
async def test_every_call_of_a_paused_agent_is_refused_and_those_of_others_are_not(
    stage: Stage, asked: Submission
) -> None:
    await stage.engine.membership.pause("claude")
    with pytest.raises(KnownError, match="paused") as refused:
        await stage.engine.submit(asked)
    assert not isinstance(refused.value, Refused), "it is no mistake of the agent"
    await stage.engine.submit(replace(asked, agent="codex"))
    await stage.engine.membership.resume("claude")
    await stage.engine.submit(asked)
    assert [kind for kind, _ in await changes(stage, 2)] == ["agent-paused", "agent-resumed"]


async def test_what_waits_when_an_agent_is_paused_may_still_be_answered_and_what_runs_continues(stage: Stage) -> None:
    running, waiting = await stage.approved(), await stage.asked(replace(HELLO, title="second"))
    await stage.engine.membership.pause("claude")
    assert stage.approve(waiting) == ""
    await stage.until(lambda: len(stage.sandbox.runs) == 2)
    for run in stage.sandbox.runs:
        run.finish("done\n")
    for ticket in (running, waiting):
        answer = await ticket.answered(HANGS)
        assert answer is not None and answer.result is not None and answer.result.stdout == "done\n"


@pytest.mark.parametrize("by", ["trust", "grant"])
async def test_nothing_of_a_paused_agent_starts_unasked(stage: Stage, by: str) -> None:
    """It was let through, and the agent is paused before it starts."""
    if by == "trust":
        await stage.engine.modes.trust("claude", 60)
    else:
        first = await stage.asked()
        choice = Choice(Subject.TEXT, uses=5, seconds=600)
        await stage.engine.remembering.add(first.request_id, first.case.request.digest, choice)
        stage.approve(first)
        await stage.until(lambda: stage.sandbox.runs)
        stage.sandbox.runs.pop().finish()
        await first.answered(HANGS)
    ticket = await stage.engine.submit(HELLO)
    stage.engine.parts.agents.pause("claude")
    answer = await ticket.answered(HANGS)
    assert answer is not None and answer.status is Status.DENIED
    assert "paused this agent" in answer.decision.reason and answer.decision.by is Decider.ENGINE
    assert stage.sandbox.runs == []


async def test_a_console_notices_that_a_command_has_paused_an_agent(stage: Stage) -> None:
    Agents(stage.places).pause("claude")
    stage.engine.membership.look_again()
    with pytest.raises(KnownError, match="paused"):
        await stage.engine.submit(HELLO)
    ((kind, body),) = await changes(stage, 1)
    assert kind == "agent-paused" and body["agent"] == "claude" and body["by"] == "command"


@pytest.mark.parametrize(
    ("allowance", "asked", "words"),
    [
        (Allowance(languages=("shell",)), HELLO, "use shell only, not python"),
        (Allowance(network=False), FETCH, "ask for network"),
        (Allowance(network=False), replace(HELLO, network_enabled=True, allowed_domains=("example.com",)), "network"),
        (Allowance(packages=False), replace(HELLO, packages=("six",)), "packages"),
        (Allowance(seconds=5), replace(HELLO, timeout=6), "timeout is 6; it must be above 0 and at most 5"),
        (Allowance(memory_mb=64), replace(HELLO, memory_mb=65), "max_memory_mb is 65"),
    ],
)
async def test_what_an_agent_may_not_ask_for_never_becomes_a_request(
    stage: Stage, allowance: Allowance, asked: Submission, words: str
) -> None:
    await stage.engine.membership.allow("claude", allowance)
    with pytest.raises(Refused, match=words):
        await stage.engine.submit(asked)
    assert not stage.engine.desk.waiting()


async def test_limits_that_an_agent_does_not_name_are_its_own(stage: Stage) -> None:
    await stage.engine.membership.allow("claude", Allowance(seconds=5, memory_mb=64))
    limits = (await stage.asked()).case.request.limits
    assert (limits.seconds, limits.memory_mb) == (5, 64)


async def test_open_questions_that_are_not_allowed_any_more_are_denied_and_others_stay(stage: Stage) -> None:
    python = await stage.asked()
    shell = await stage.asked(replace(HELLO, language=Language.SHELL, code="echo hello"))
    await stage.engine.membership.allow("claude", Allowance(languages=("shell",)))
    answer = await python.answered(HANGS)
    assert answer is not None and answer.status is Status.DENIED
    assert answer.decision.reason == "The person lets this agent use shell only, not python."
    assert stage.approve(shell) == ""
    await stage.until(lambda: stage.sandbox.runs)
    assert (await changes(stage, 1)) == [("agent-changed", {"agent": "claude", "now": {"languages": ["shell"]}})]


async def test_an_approval_that_comes_after_a_limit_does_not_count(stage: Stage) -> None:
    ticket = await stage.asked()
    Agents(stage.places).allow("claude", Allowance(languages=("shell",)))
    assert "use shell only" in stage.approve(ticket)
    assert stage.sandbox.runs == []


async def test_what_would_happen_says_what_the_agent_may_not_do(stage: Stage) -> None:
    ticket = await stage.approved()
    stage.sandbox.runs[0].finish()
    await ticket.answered(HANGS)
    await stage.engine.membership.allow("claude", Allowance(languages=("shell",)))
    told = await stage.engine.hindsight.explain_past(ticket.request_id)
    assert "use shell only" in " ".join(step.said for step in told.steps)


async def test_a_renamed_agent_leaves_everything_behind_but_its_token(stage: Stage) -> None:
    engine, token = stage.engine, await stage.engine.membership.add("codex")
    mine = replace(HELLO, agent="codex")
    waiting, running = await stage.asked(mine), await stage.approved(replace(mine, title="runs"))
    choice = Choice(Subject.TEXT, uses=5, seconds=600)
    await engine.remembering.add(waiting.request_id, waiting.case.request.digest, choice)
    await engine.modes.trust("codex", 60)
    await engine.membership.rename("codex", "codex-work")
    with pytest.raises(KnownError, match="renamed to codex-work"):
        await engine.submit(mine)
    answers = [await ticket.answered(HANGS) for ticket in (waiting, running)]
    assert answers[0] is not None and answers[0].status is Status.WITHDRAWN
    assert answers[0].decision.reason == "The agent was renamed to codex-work."
    assert not engine.parts.configuration.grants.all() and not engine.modes.now.agent
    agent = engine.parts.agents.recognize(token)
    assert agent is not None and agent.name == "codex-work"
    again = await engine.submit(replace(mine, agent="codex-work"))
    await stage.until(lambda: engine.desk.position(again.request_id))
    await engine.membership.add("codex")
    for name in ("codex", "codex-work"):
        assert engine.ticket(name, waiting.request_id) is None
        assert await engine.recall(name, waiting.request_id) is None
    late = await engine.submit(mine)  # of the new one of that name
    await stage.until(lambda: engine.desk.position(late.request_id))
    renamed = [body for kind, body in await changes(stage, 1) if kind == "agent-renamed"]
    assert renamed == [{"agent": "codex", "to": "codex-work"}]


async def test_what_is_still_under_way_under_the_old_name_is_not_approved(stage: Stage) -> None:
    ticket = await stage.asked()
    Agents(stage.places).rename("claude", "claude-2")
    assert "renamed to claude-2" in stage.approve(ticket)
    await stage.until(lambda: ticket.case.answer.done())
    await stage.until(lambda: ("agent-renamed", "claude", "command") in told(stage))
    assert [body["to"] for kind, body in _agents(stage) if kind == "agent-renamed"] == ["claude-2"]


def told(stage: Stage) -> list[tuple[str, object, object]]:
    """Who changed which agent, oldest first."""
    found = [(kind, body["agent"], body.get("by")) for kind, body in reversed(_agents(stage)) if "agent" in body]
    return [one for one in found if one[0].startswith("agent-")]


async def test_what_commands_change_is_recorded_with_its_time_and_once(tmp_path: Path) -> None:
    """While no console is open, and while one is; also what is taken back at once."""
    stage = Stage(tmp_path)
    command = Agents(stage.places, clock=lambda: 1000.0)
    command.add("codex")
    command.pause("codex")
    command.resume("codex")
    command.allow("codex", Allowance(seconds=5, languages=("shell",)))
    command.paint("codex", 3)
    command.add("old")
    command.rename("old", "new")
    command.revoke("new")
    await stage.engine.start(gateway=False)
    expected = [
        *(("agent-added", "codex"), ("agent-paused", "codex"), ("agent-resumed", "codex"), ("agent-changed", "codex")),
        *(("agent-changed", "codex"), ("agent-added", "old"), ("agent-renamed", "old"), ("agent-revoked", "new")),
    ]
    assert told(stage) == [(kind, name, "command") for kind, name in expected]
    bodies = [body for kind, body in reversed(_agents(stage)) if kind.startswith("agent-")]
    assert all(body["made"] == 1000.0 for body in bodies)
    assert bodies[3]["now"] == {"seconds": 5, "languages": ["shell"]} and bodies[4]["now"] == {"ink": 3}
    command.pause("codex")
    command.resume("codex")
    command.pause("codex")
    stage.engine.membership.look_again()
    await stage.until(lambda: len(told(stage)) == len(expected) + 3)
    await stage.until(lambda: not Agents(stage.places).unrecorded)
    stage.engine.membership.look_again()
    await stage.engine.membership.resume("codex")
    assert [kind for kind, *_ in told(stage)[len(expected) :]] == [
        *("agent-paused", "agent-resumed", "agent-paused", "agent-resumed")
    ]
    assert told(stage)[-1] == ("agent-resumed", "codex", None), "by the person at the console"
    await stage.engine.close("the test is over")


async def test_a_change_that_no_note_tells_of_is_recorded_as_it_is_seen(stage: Stage) -> None:
    """By hand, with a note of something else."""
    file = stage.places.agents
    data = json.loads(file.read_text())
    data["agents"][0]["paused_at"] = 5.0
    data["changes"] = [{"at": 5.0, "kind": "agent-resumed", "agent": "claude"}, {"kind": "mode"}, 7]
    file.write_text(json.dumps(data))
    stage.engine.membership.look_again()
    await stage.until(lambda: len(told(stage)) >= 3)
    assert {(kind, by) for kind, name, by in told(stage) if name == "claude"} >= {
        *(("agent-paused", None), ("agent-resumed", "command"))
    }


async def test_what_the_history_does_not_take_stays_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(tmp_path)
    Agents(stage.places).add("codex")
    await stage.engine.start(gateway=False)
    with monkeypatch.context() as broken:
        broken.setattr(type(stage.engine.membership._record), "append", failing)
        Agents(stage.places).pause("codex")
        stage.engine.membership.look_again()
        await stage.engine.membership.take_up()
    assert [one.kind for one in Agents(stage.places).unrecorded] == ["agent-paused"]
    await stage.engine.close("the test is over")


async def failing(*_: object) -> None:
    raise KnownError("The disk is full.")


def _agents(stage: Stage) -> list[tuple[str, dict[str, object]]]:
    return [(one.kind, one.body) for one in read_changes(stage.places.ledger)]
