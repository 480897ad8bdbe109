"""TypeScript runs without its types; what was approved, and is kept, is what was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.model.request import Language, Tool
from runner.model.submission import Submission
from tests.stages.engine import Stage

if TYPE_CHECKING:
    from pathlib import Path

TYPED = "interface A { x: number }\nconst a: A = { x: 1 };\nconsole.log(a.x);\n"


@pytest.mark.asyncio
async def test_what_runs_has_no_types_and_the_same_lines(tmp_path: Path) -> None:
    async with Stage(tmp_path / "home").opened() as stage:
        asked = await stage.asked(Submission("claude", Tool.CODE_EXECUTE, Language.JAVASCRIPT, TYPED))
        assert not stage.approve(asked)
        await stage.until(lambda: len(stage.sandbox.runs) == 1)
        code = stage.sandbox.runs[0].job.code
        assert code.split("\n")[1].split() == ["const", "a", "=", "{", "x:", "1", "};"]
        assert "interface" not in code and code.count("\n") == TYPED.count("\n")
        assert asked.case.approved.code == TYPED
        stage.sandbox.runs[0].finish()
