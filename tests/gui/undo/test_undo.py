"""The dialog of a kept sandbox's files: what runs changed, and undoing one only when that was shown and asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.running.panel import RunningPanel
from app.undo import words
from app.undo.changes import GONE, lines_of
from app.undo.dialog import FilesDialog
from runner.model.difference import Side
from runner.model.errors import KnownError
from runner.model.events import SandboxesChanged
from runner.model.file_changes import ChangedFile, ChangeKind, FileChanges, FilePreview
from tests.gui.scenes import undo_scenes

if TYPE_CHECKING:
    from tests.gui.conftest import Desk


@pytest.fixture
def dialog(desk: Desk) -> FilesDialog:
    desk.window.show_page("Running")
    desk.hear(undo_scenes.keeping())
    page = desk.window.page("Running")
    assert isinstance(page, RunningPanel)
    page.kept.files.click()
    (found,) = page.kept.findChildren(FilesDialog)
    return found


def undone(desk: Desk) -> list[tuple[object, ...]]:
    return [call for call in desk.bridge.calls if call[0] == "undo"]


def test_what_a_run_changed_is_listed_and_looked_into(desk: Desk, dialog: FilesDialog) -> None:
    assert dialog.title.text() == "Write the report", "the newest run comes first"
    dialog.choose("r-second")
    assert [row.state for row in dialog.changes.model.rows] == ["added", "changed", "changed", "removed", "changed"]
    dialog.changes.view.setCurrentIndex(dialog.changes.model.index(1, 0))
    desk.bridge.give("changed_file", FilePreview(b"old\nsame", b"new\nsame"), newest=True)
    desk.qtbot.waitUntil(lambda: dialog.changes.shown is dialog.changes.text)
    assert dialog.changes.text.toPlainText().split() == ["-", "1", "old", "+", "1", "new", "2", "same"]
    dialog.resize(400, 640)
    assert dialog.width() == 400 and dialog.changes.text.width() > 300, "there is room to read what changed"
    dialog.changes.view.setCurrentIndex(dialog.changes.model.index(0, 0))
    assert dialog.changes.shown is dialog.changes.nothing, "what was read before is gone at once"
    desk.bridge.give("changed_file", FilePreview(None, b"\x89PNG\0"), newest=True)
    assert "not text (5 B)" in dialog.changes.nothing.accessibleName()
    dialog.choose("r-first")
    assert not dialog.undo.isEnabled() and "larger than 64 MB" in dialog.changes.summary.text()


@pytest.mark.parametrize(("old", "new"), [("", "a\n\nb\n"), ("a\n\nb\n", ""), ("", "a\n\nb"), ("", "")])
def test_a_file_that_is_only_on_one_side_has_no_line_on_the_other(old: str, new: str) -> None:
    lines = lines_of(old, new)
    assert [line.text for line in lines] == (["a", "", "b"] if old or new else [])
    assert all((line.side, line.old, line.new) == (Side.REMOVED, at, None) for at, line in enumerate(lines, 1) if old)
    assert all((line.side, line.old, line.new) == (Side.ADDED, None, at) for at, line in enumerate(lines, 1) if new)


def test_undo_shows_what_comes_back_and_asks(desk: Desk, dialog: FilesDialog) -> None:
    dialog.choose("r-second")
    dialog.undo.click()
    assert not undone(desk) and not dialog.sure.isVisible()
    desk.bridge.give("plan_undo", undo_scenes.plan())
    assert dialog.back.hasFocus() and dialog.title.text() == "Put the files back to what they were before run 2?"
    assert "1 later run (3) will be undone as well." in dialog.about.text()
    assert "1 file is restored, 1 file gets its earlier content, 2 files are removed." in dialog.about.text()
    assert [row.state for row in dialog.changes.model.rows] == ["removed", "as before", "restored", "removed"]
    dialog.back.click()
    assert not undone(desk) and dialog.undo.isVisible() and len(dialog.changes.model.rows) == 5
    dialog.undo.click()
    desk.bridge.give("plan_undo", undo_scenes.plan())
    dialog.sure.click()
    dialog.sure.click()
    assert undone(desk) == [("undo", undo_scenes.plan())], "pressed twice"
    desk.bridge.fail("undo", KnownError("The sandbox has changed since you looked.", "Look again."))
    assert dialog.message.text().startswith("Not put back: The sandbox has changed")
    assert dialog.undo.isVisible() and dialog.sure.isEnabled()


def test_a_question_goes_when_the_runs_change_and_with_the_sandbox(desk: Desk, dialog: FilesDialog) -> None:
    dialog.choose("r-second")
    dialog.undo.click()
    desk.bridge.give("plan_undo", undo_scenes.plan())
    desk.hear(undo_scenes.keeping("r-other"))
    assert not dialog.sure.isVisible(), "the run that was asked about is not there any more"
    desk.hear((SandboxesChanged(()),))
    assert "This sandbox is gone" in dialog.nothing.accessibleName() and not dialog.undo.isVisible()
    assert not undone(desk)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (FileChanges(), "It changed no file."),
        (FileChanges((ChangedFile("a", ChangeKind.ADDED),), 3), "Files: 3 added. 2 of them are not listed."),
        (FileChanges((), 0, 1, 2), "Files: 1 changed, 2 removed. 3 of them are not listed."),
        (FileChanges(unknown="Too \u202elarge."), "What it changed is not known. Too "),
    ],
)
def test_words(changes: FileChanges, said: str) -> None:
    assert words.sentence(changes).startswith(said)
    assert "\u202e" not in words.sentence(changes)
    assert "Running" in GONE
