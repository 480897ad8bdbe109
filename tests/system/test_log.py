"""The log: JSON lines, its owner's alone, bounded, and never in the way."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest

from runner.system import log
from runner.system.places import Places

if TYPE_CHECKING:
    from pathlib import Path

told = logging.getLogger("assent.test")


@pytest.fixture
def places(home: Path) -> Places:
    return Places.under(home)


@pytest.mark.errors_expected
def test_each_line_is_one_object(places: Places, request: pytest.FixtureRequest) -> None:
    with log.logged(places):
        told.info("two\nlines of %s", "text")
        try:
            raise ValueError("odd \udce9")
        except ValueError:
            told.exception("failed")
    # What is no text cannot be handed from one test process to another.
    request.config.pluginmanager.getplugin("logging-plugin").report_handler.reset()
    first, second = (json.loads(line) for line in places.log.read_text().splitlines())
    assert (first["message"], first["level"], first["logger"]) == ("two\nlines of text", "info", "assent.test")
    assert "ValueError" in second["error"]
    assert places.log.stat().st_mode & 0o777 == 0o600


def test_it_stays_small(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "TURN_BYTES", 2_000)
    with log.logged(places):
        for number in range(200):
            told.info("line %d", number)
    files = sorted(places.log.parent.glob("assent.log*"))
    assert len(files) == 1 + log.TURNS
    assert all(file.stat().st_size <= 2_000 and file.stat().st_mode & 0o077 == 0 for file in files)
    assert "line 199" in places.log.read_text()


def test_a_folder_that_cannot_be_used_costs_the_log_only(places: Places) -> None:
    places.state.parent.mkdir(parents=True)
    places.state.write_text("in the way")
    with log.logged(places):
        told.info("nobody hears this")


def test_afterwards_nothing_is_logged(places: Places) -> None:
    with log.logged(places):
        told.info("heard")
    told.info("not heard")
    assert "not heard" not in places.log.read_text()
