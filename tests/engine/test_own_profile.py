"""What a person approves includes the profile around the code: with another one nothing of it runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from runner.approval.rehearsable import too_weak
from runner.model.decision import Verdict
from runner.model.rehearsal import RehearsalMode
from runner.model.request import Isolation
from runner.sandbox.local.group import GROUPED
from runner.sandbox.local.syscalls import FILTERED
from runner.sandbox.seccomp.own import check
from tests.patience import HANGS
from tests.stages.engine import Stage

if TYPE_CHECKING:
    from pathlib import Path


def protections(folder: Path, forbidden: str, *allowed: str) -> tuple[str, ...]:
    path = folder / "own.json"
    rules: list[dict[str, object]] = [{"names": [forbidden], "action": "SCMP_ACT_ERRNO"}]
    rules += [{"names": [one], "action": "SCMP_ACT_ALLOW"} for one in allowed]
    path.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}))
    path.chmod(0o600)
    return check(path, allowed).protections(FILTERED)


@pytest.mark.asyncio
async def test_with_another_content_of_the_file_what_was_approved_is_not_run(tmp_path: Path) -> None:
    async with Stage(tmp_path / "home").opened() as stage:
        stage.sandbox.protections = protections(tmp_path, "mkdir")
        asked, approved = await stage.asked(), await stage.asked()
        digest = asked.case.request.digest
        assert asked.case.request.protections == stage.sandbox.protections, "shown in Details"
        stage.engine.answer(approved.request_id, approved.case.request.digest, Verdict.APPROVED, "")
        await stage.until(lambda: len(stage.sandbox.runs) == 1)
        stage.sandbox.runs[0].finish()
        stage.sandbox.protections = protections(tmp_path, "rmdir")
        stage.engine.answer(asked.request_id, digest, Verdict.APPROVED, "")
        answer = await asked.answered(HANGS)
        assert answer is not None and "What protected the machine when this was asked is gone" in answer.text()
        assert len(stage.sandbox.runs) == 1
        again = await stage.asked()
        assert again.case.request.digest != digest
        assert again.case.request.code == asked.case.request.code


@pytest.mark.parametrize("isolation", [Isolation.LOCAL, Isolation.DOCKER])
def test_nothing_is_tried_before_an_answer_where_a_profile_allows_more(tmp_path: Path, isolation: Isolation) -> None:
    for allowed, may in (((), True), (("ptrace",), False)):
        there = (*protections(tmp_path, "mkdir", *allowed), GROUPED)
        assert (too_weak(RehearsalMode.ANY, isolation, there) == "") is may
        assert (too_weak(RehearsalMode.ANY, isolation, there, asked=True) == "") is may
