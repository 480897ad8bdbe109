"""Removing content from the page of the history: figures first, a question, and what came of it."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import pytest

from app.history.panel import HistoryPanel
from app.review.deliberate import DeliberateDialog
from app.settings.removing import LOOKING, OldContentDialog
from runner.audit.retention import Pruned, RetentionPlan, RetentionRule
from runner.model.errors import KnownError
from tests.gui.record import ledger, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.system.places import Places
    from tests.gui.conftest import Desk


@pytest.fixture
def panel(desk: Desk, places: Places) -> Iterator[HistoryPanel]:
    ledger(places.ledger, many(3))
    desk.window.show_page("History")
    panel = desk.window.page("History")
    assert isinstance(panel, HistoryPanel)
    desk.qtbot.waitUntil(lambda: panel.list.model.rowCount() == 3)
    yield panel
    panel._reader.close()
    panel.list._reader.close()


def asked(desk: Desk) -> DeliberateDialog:
    found = [one for one in desk.window.window().findChildren(DeliberateDialog) if one.isVisible()]
    return found[-1]


def test_old_content_is_removed_after_its_figures_were_seen(desk: Desk, panel: HistoryPanel) -> None:
    panel.removal.old.trigger()
    (dialog,) = desk.window.window().findChildren(OldContentDialog)
    assert (dialog.figures.text(), dialog.remove.isEnabled()) == (LOOKING, False)
    plan = RetentionPlan(RetentionRule(90.0), array("q", [4, 12]), array("q", [1_000_000, 500_000]))
    desk.give("plan", plan)
    assert dialog.figures.text() == "Would remove the content of 2 requests, 1.5 MB: older than 90 days."
    assert ("plan", RetentionRule(90.0)) in desk.bridge.calls
    dialog.remove.click()
    question = asked(desk)
    assert "cannot be brought back" in question.accessibleDescription()
    question.yes.click()
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("carry_out"))
    assert [call[1] for call in desk.bridge.calls if call[0] == "carry_out"] == [plan]
    desk.give("carry_out", Pruned(2, 1_500_000))
    desk.qtbot.waitUntil(lambda: "was removed" in panel.removal.notice.text)
    assert panel.removal.notice.text == "The content of 2 requests was removed, 1.5 MB."


def test_figures_of_another_choice_do_not_count(desk: Desk, panel: HistoryPanel) -> None:
    panel.removal.old.trigger()
    (dialog,) = desk.window.window().findChildren(OldContentDialog)
    desk.qtbot.waitUntil(lambda: desk.bridge.waits("plan"))
    dialog.by_size.setChecked(True)
    desk.give("plan", RetentionPlan(RetentionRule(90.0), array("q", [4]), array("q", [1])))
    assert (dialog.figures.text(), dialog.remove.isEnabled()) == (LOOKING, False)
    desk.give("plan", RetentionPlan(RetentionRule(keep_bytes=10**9)))
    assert dialog.figures.text().startswith("Nothing to remove")
    assert not dialog.remove.isEnabled()
    dialog.reject()


def test_one_request_and_a_no_of_the_engine(desk: Desk, panel: HistoryPanel) -> None:
    panel._fetch("m0001")
    panel.removal.one.trigger()
    asked(desk).no.click()
    assert not [call for call in desk.bridge.calls if call[0] == "remove_content"]
    panel.removal.one.trigger()
    asked(desk).yes.click()
    desk.give("remove_content", KnownError("This request is still open.", "Answer or stop it first."))
    desk.qtbot.waitUntil(lambda: "still open" in panel.removal.notice.text)
