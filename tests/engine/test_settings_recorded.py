"""A changed setting is in the history by its name, and never with its value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.audit.history.changes import read_changes
from tests.stages.engine import Stage

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.asyncio
async def test_what_changed_is_named_once(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    await stage.engine.start(gateway=False)
    stage.engine.reload()
    (stage.places.config / "assent.yaml").write_text("window:\n  approve_by: mouse\n")
    stage.engine.reload()
    stage.engine.reload()
    await stage.engine.close("over")
    assert not stage.engine.parts.configuration.problems
    changed = [one for one in read_changes(stage.places.ledger) if one.kind == "settings-changed"]
    assert [one.body["settings"] for one in changed] == [["approve_by"]]
    assert "mouse" not in str(changed)
