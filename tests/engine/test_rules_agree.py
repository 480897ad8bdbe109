"""Worker processes that read the person's rules otherwise than the console does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runner.assembly import build
from runner.model.events import EngineTroubled, TroubleCleared
from runner.settings.loading import load
from runner.system.places import Places
from tests.doubles import HeldSandbox

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.asyncio
async def test_rules_that_are_never_read_alike_are_reported_and_not_read_for_ever(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = Places.under(home)
    engine = build(places, load(places, {}), (HeldSandbox(),))
    heard: list[object] = []
    engine.listen(heard.append)
    reloads: list[int] = []

    def reload() -> None:
        """A reload starts a worker, which reports what it reads."""
        reloads.append(1)
        assert len(reloads) < 5
        engine._compare_rules(("rules/mine.yaml: wrong.",))

    monkeypatch.setattr(engine.parts, "reload", reload)
    engine._compare_rules(("rules/mine.yaml: wrong.",))
    assert len(reloads) == 1
    (trouble,) = [event for event in heard if isinstance(event, EngineTroubled) and event.area == "rules"]
    assert "rules/mine.yaml: wrong." in trouble.what
    engine._compare_rules(())
    assert TroubleCleared("rules") in heard
    engine._compare_rules(("rules/mine.yaml: wrong.",))
    assert len(reloads) == 2, "they may differ again later"
