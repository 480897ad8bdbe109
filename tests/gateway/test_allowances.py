"""Limits of one agent at the gateway: calls a minute and requests at once, the sessions of a renamed agent, a pause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.gateway.limits import CallLimits
from runner.identity.allowance import Allowance
from runner.model.errors import Refused
from tests.gateway.counter import Terms
from tests.gateway.house import opened
from tests.gateway.stage import AGENT, PRINT

if TYPE_CHECKING:
    from pathlib import Path


HOLD = 50.0


def entered(limits: CallLimits, agent: str, times: int) -> int:
    """How many of so many calls at once are taken."""
    taken = 0
    for _ in range(times):
        try:
            with limits.entering(agent):
                limits.turn(agent, 0)
                taken += 1
        except Refused:
            break
    return taken


def test_the_lower_of_both_rates_counts_from_the_moment_on_when_it_is_set() -> None:
    terms, own = Terms(), {"codex": Allowance()}
    limits = CallLimits(terms, lambda _: 0, lambda agent: own.get(agent, Allowance()), lambda: 0.0)
    own["codex"] = Allowance(rate_per_minute=3)
    assert entered(limits, "codex", 100) == 3
    assert entered(limits, "claude", 100) == min(100, terms.burst)
    own["codex"] = Allowance(rate_per_minute=10**5)
    assert entered(limits, "codex", 100) == min(100, terms.burst), "never more than the settings allow"


def test_a_call_above_the_burst_gets_a_turn_and_no_more_calls_than_the_rate_has_one() -> None:
    now = [0.0]
    limits = CallLimits(Terms(rate_per_minute=60, burst=20), lambda _: 0, clock=lambda: now[0])
    turns = [limits.turn("codex", HOLD) for _ in range(30)]
    assert turns == [0.0] * 20 + [float(number) for number in range(1, 11)]
    for _ in range(100):
        with pytest.raises(Refused, match=r"20 are taken at once, and then 60 a minute.*\. Call again in 11 s"):
            limits.turn("codex", HOLD)
    now[0] = 1.0
    assert limits.turn("codex", HOLD) == 10.0, "what was refused has moved nobody's turn"
    # Whoever leaves makes room for one, whatever the others did.
    limits.forgo("codex")
    assert limits.turn("codex", HOLD) == 10.0
    now[0] = 60.0
    passed = [limits.turn("codex", HOLD) for _ in range(30)]
    assert passed.count(0.0) == 20, "in a minute as many pass as may"


def test_nobody_waits_longer_for_a_turn_than_the_caller_can() -> None:
    limits = CallLimits(Terms(rate_per_minute=60, burst=1), lambda _: 0, clock=lambda: 0.0)
    assert [limits.turn("codex", 2.5) for _ in range(3)] == [0.0, 1.0, 2.0]
    with pytest.raises(Refused):
        limits.turn("codex", 2.5)
    assert limits.turn("codex", HOLD) == 3.0


def test_the_lower_number_of_requests_at_once_counts() -> None:
    terms = Terms()
    for own, waiting, taken in ((2, 1, 1), (2, 2, 0), (10**4, terms.max_pending, 0), (0, terms.max_pending - 1, 1)):
        allowance, open_now = Allowance(max_pending=own), waiting
        limits = CallLimits(terms, lambda _, n=open_now: n, lambda _, a=allowance: a, lambda: 0.0)  # type: ignore[misc]
        assert entered(limits, "codex", 1) == taken


@pytest.mark.asyncio
async def test_a_paused_agent_is_told_so_and_can_still_fetch_and_a_renamed_one_keeps_its_session(
    tmp_path: Path, era: str
) -> None:
    async with opened(tmp_path, {"ASSENT_HOLD_SECONDS": "1"}) as house, house.client(era) as client:
        pending = await client.call_tool("code_execute", dict(PRINT))
        request_id = (pending.structured_content or {})["request_id"]
        await house.engine.membership.pause(AGENT)
        refused = await client.call_tool("code_execute", dict(PRINT))
        assert refused.is_error and "A person has paused this agent" in str(refused.content)
        info = await client.call_tool("code_sandbox_info", {})
        assert info.is_error and "paused" in str(info.content)
        hook = await client.call_tool("approve", {"tool_name": "Bash", "input": {"command": "ls"}})
        assert '"behavior": "deny"' in str(hook.content) and "paused" in str(hook.content)
        await house.run()
        house.sandbox.runs[-1].finish("4\n")
        fetched = await client.call_tool("code_result", {"id": request_id, "wait": 5})
        assert not fetched.is_error and "4" in str(fetched.content)
        await house.engine.membership.resume(AGENT)
        await house.engine.membership.rename(AGENT, "other")
        after = await client.call_tool("code_sandbox_info", {})
        assert not after.is_error
        lost = await client.call_tool("code_result", {"id": request_id})
        assert lost.is_error and "no request" in str(lost.content)
        assert house.records()[0].request.agent == "other"
