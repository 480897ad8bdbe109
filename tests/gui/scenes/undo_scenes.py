"""Pictures of the files of a kept sandbox: what its runs changed, and what undoing one would do."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QApplication

from app.undo.dialog import FilesDialog
from runner.model.events import SandboxesChanged
from runner.model.file_changes import (
    ChangedFile,
    ChangeKind,
    FileChanges,
    FileKind,
    FilePreview,
    RunChanges,
    UndoPlan,
)
from runner.model.kept_sandbox import Kept
from runner.model.request import Isolation, Language
from tests.gui import feed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.gui.scenes.shots import Scene

SANDBOX = "3f9c01d2ab77"
BEFORE = b"region,total\nnorth,1200\nsouth,800\neast,650\n"
AFTER = b"region,total\nnorth,1200\nsouth,840\neast,650\nwest,510\n"
CHANGED = FileChanges(
    (
        ChangedFile("charts/revenue by month.png", ChangeKind.ADDED, after=48_211),
        ChangedFile("data/totals.csv", ChangeKind.CHANGED, before=42, after=52),
        ChangedFile("latest", ChangeKind.CHANGED, FileKind.LINK),
        ChangedFile(r"old\u202egnp.exe", ChangeKind.REMOVED, before=4_096),
        ChangedFile("run.sh", ChangeKind.CHANGED, before=310, after=310, content=False),
    ),
    1,
    3,
    1,
)
BACK = FileChanges(
    (
        ChangedFile("charts/revenue by month.png", ChangeKind.REMOVED, before=48_211),
        ChangedFile("data/totals.csv", ChangeKind.CHANGED, before=52, after=42),
        ChangedFile(r"old\u202egnp.exe", ChangeKind.ADDED, after=4_096),
        ChangedFile("report.md", ChangeKind.REMOVED, before=2_900),
    ),
    1,
    1,
    2,
)


def runs(last: str) -> tuple[RunChanges, ...]:
    """Three runs, of which the request `last` is the second."""
    too_large = "There is no copy of the files: its files are larger than 64 MB."
    return (
        RunChanges(SANDBOX, 1, "r-first", "Unpack the archive", FileChanges(unknown=too_large), too_large),
        RunChanges(SANDBOX, 2, last, "Draw the charts of the quarterly report", CHANGED),
        RunChanges(SANDBOX, 3, "r-third", "Write the report", FileChanges(BACK.changes[3:], 1)),
    )


def keeping(last: str = "r-second") -> tuple[SandboxesChanged]:
    now = time.time()
    one = Kept(SANDBOX, "claude-code", Language.PYTHON, Isolation.GVISOR, now, title="Sales figures", uses=7,
               ends_at=now + 1500, runs=runs(last))  # fmt: skip
    return (SandboxesChanged((one,)),)


def plan() -> UndoPlan:
    _, second, third = runs("r-second")
    return UndoPlan(second, (third,), BACK, "state", (".packages",), 1)


def dialog(scene: Scene) -> FilesDialog:
    """The dialog, with the file that was changed before it and after it."""
    scene.hear(keeping())
    scene.window.show_page("Running")
    page: Any = scene.window.page("Running")
    page.kept.files.click()
    found = page.kept.findChild(FilesDialog)
    assert isinstance(found, FilesDialog)
    found.choose("r-second")
    found.changes.view.setCurrentIndex(found.changes.model.index(1, 0))
    scene.bridge.give("changed_file", FilePreview(BEFORE, AFTER), newest=True)
    while found.changes.text is not found.changes.shown:
        QApplication.processEvents()
    return found


def looked_at(scene: Scene) -> None:
    dialog(scene)


def asking(scene: Scene) -> None:
    found = dialog(scene)
    found.undo.click()
    scene.bridge.give("plan_undo", plan())


def too_large(scene: Scene) -> None:
    dialog(scene).choose("r-first")


def outcome(scene: Scene) -> None:
    """What became of a run, with what it changed, where it was decided."""
    one = feed.request("python3 charts.py\n", title="Draw the charts", language=Language.SHELL, sandbox=SANDBOX)
    scene.hear(feed.asked(one), feed.decided(one), feed.started(one), feed.finished(one))
    scene.hear(keeping(one.id))
    scene.window.aftermath.show_outcome(one.id)


SCENES: dict[str, Callable[[Scene], None]] = {
    "undo-files": looked_at,
    "undo-asking": asking,
    "undo-too-large": too_large,
    "undo-outcome": outcome,
}
