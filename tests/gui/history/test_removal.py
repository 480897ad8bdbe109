"""Removing content from the page of the history: figures first, a question, and what came of it."""

from __future__ import annotations

import sqlite3
from array import array
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QLabel

from app.history.panel import HistoryPanel
from app.history.removed_content import TITLE, removal
from app.review.deliberate import DeliberateDialog
from app.settings.removing import LOOKING, OldContentDialog
from runner.audit.ledger.removal import ContentRemoved, RemovedContent
from runner.audit.ledger.row import Row
from runner.audit.ledger.seal import Seal
from runner.audit.retention.retention import Pruned, RetentionPlan, RetentionRule
from runner.model.errors import KnownError
from runner.model.lifecycle import Phase
from runner.model.request import Tool
from tests.audit.story import KEY, remove
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


def test_what_is_left_of_a_removed_request_is_shown(desk: Desk, places: Places) -> None:
    ledger(places.ledger, many(3), KEY)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(remove, places.ledger, "m0001").result()
    desk.window.show_page("History")
    panel = desk.window.page("History")
    assert isinstance(panel, HistoryPanel)
    desk.qtbot.waitUntil(lambda: panel.list.model.rowCount() == 3)
    panel._fetch("m0002")
    desk.qtbot.waitUntil(lambda: panel.detail.record is not None)
    panel._fetch("m0001")
    desk.qtbot.waitUntil(panel.detail.gone.isVisible)
    texts = {one.text() for one in panel.detail.gone.findChildren(QLabel) if one.isVisible()}
    # A hash has a space in its middle, where its line may break.
    shown = texts | {text.replace(" ", "") for text in texts}
    assert {TITLE, "agent-1", "code_execute", "Python", "MEDIUM", "Approved", "You", "2.5 s", "Ended well"} <= shown
    assert {"You, or somebody with your account", "This request was selected by hand"} <= shown
    assert f"key{Seal(KEY).public}" in shown
    with closing(sqlite3.connect(places.ledger)) as connection:
        of_it = "SELECT seq, body_sha256 FROM entries WHERE request_id = 'm0001'"
        hashes = dict(connection.execute(of_it).fetchall())
        (removing,) = connection.execute("SELECT seq FROM entries WHERE kind = 'removed'").fetchone()
    assert len(hashes) == 7 and str(removing) in shown
    assert {f"Entry {seq}" for seq in hashes} <= shown
    assert all(any(text.endswith(digest) for text in shown) for digest in hashes.values())
    assert panel.detail.record is None, "what is copied would be that of another request"
    panel._fetch("m0002")
    desk.qtbot.waitUntil(lambda: panel.detail.record is not None)
    assert not panel.detail.gone.isVisible()
    panel._reader.close()
    panel.list._reader.close()


@pytest.mark.parametrize(
    ("rule", "by", "why"),
    [
        ({"by": "setting", "older_than_days": 90.0}, "The settings", "Content older than 90 days (history.keep_days)"),
        ({"by": "setting", "keep_bytes": 2 * 10**9}, "The settings", "Content beyond the newest 2.0 GB (history.keep"),
        ({"by": "person", "older_than_days": 1.5}, "You", "Content older than 1.5 days"),
        ({"older_than_days": "many"}, "You", "This request was selected by hand"),
    ],
)
def test_who_removed_it_by_which_rule(rule: dict[str, object], by: str, why: str) -> None:
    row = Row(1, "r1", "claude", Tool.CODE_EXECUTE, None, "", "d" * 64, Phase.CLOSED, 1e9)
    said = dict(removal(ContentRemoved(RemovedContent(9, 1e9, rule, 4, "k" * 64), row, ())))
    assert said["By"].startswith(by) and said["Rule"].startswith(why)
    assert (said["Together with"], said["Entry"]) == ("3 more", "9")
