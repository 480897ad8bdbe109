"""Where code may be rehearsed: every kind of sandbox has an answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from runner.approval.rehearsable import kept_from_rehearsal, too_weak
from runner.model.assessment import Assessment, Level
from runner.model.decision import Ask
from runner.model.rehearsal import RehearsalMode
from runner.model.request import ALL_LIMITS, Isolation, Language, Request, Tool, WorkPlace
from runner.sandbox.local.group import GROUPED
from runner.sandbox.local.syscalls import FILTERED

OVER = Request(
    "1", "claude", Tool.CODE_EXECUTE, 0.0, Language.PYTHON, "print(1)", work=WorkPlace("project-1", "/project")
)
STRONG = (ALL_LIMITS, FILTERED, GROUPED)
IN_GVISOR = {Isolation.GVISOR, Isolation.GVISOR_DIRECT}


@pytest.mark.parametrize("mode", [RehearsalMode.GVISOR, RehearsalMode.ANY])
def test_each_kind_has_its_answer(mode: RehearsalMode) -> None:
    strong = {one for one in Isolation if not too_weak(mode, one, STRONG)}
    anywhere = IN_GVISOR | {Isolation.DOCKER, Isolation.LOCAL}
    assert strong == (anywhere if mode is RehearsalMode.ANY else IN_GVISOR)
    bare = {one for one in Isolation if not too_weak(mode, one, ())}
    assert bare == ({Isolation.GVISOR, Isolation.DOCKER} if mode is RehearsalMode.ANY else {Isolation.GVISOR})
    asked = {one for one in Isolation if not too_weak(RehearsalMode.ANY, one, (FILTERED,), asked=True)}
    assert asked == anywhere


def test_what_is_for_a_working_copy_is_not_rehearsed() -> None:
    high = Assessment(Level.HIGH, ())
    assert kept_from_rehearsal(replace(OVER, work=None), high, Ask(60.0)) == ""
    assert "working copy" in kept_from_rehearsal(OVER, high, Ask(60.0))
