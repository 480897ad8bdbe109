"""Where code may be rehearsed: every kind of sandbox has an answer."""

from __future__ import annotations

import pytest

from runner.approval.rehearsable import too_weak
from runner.model.rehearsal import RehearsalMode
from runner.model.request import ALL_LIMITS, Isolation
from runner.sandbox.local.group import GROUPED
from runner.sandbox.local.syscalls import FILTERED

STRONG = (ALL_LIMITS, FILTERED, GROUPED)
IN_GVISOR = {Isolation.GVISOR, Isolation.GVISOR_DIRECT}


@pytest.mark.parametrize("mode", [RehearsalMode.GVISOR, RehearsalMode.ANY])
def test_each_kind_has_its_answer(mode: RehearsalMode) -> None:
    strong = {one for one in Isolation if not too_weak(mode, one, STRONG)}
    anywhere = IN_GVISOR | {Isolation.DOCKER, Isolation.LOCAL}
    assert strong == (anywhere if mode is RehearsalMode.ANY else IN_GVISOR)
    bare = {one for one in Isolation if not too_weak(mode, one, ())}
    assert bare == ({Isolation.GVISOR, Isolation.DOCKER} if mode is RehearsalMode.ANY else {Isolation.GVISOR})
