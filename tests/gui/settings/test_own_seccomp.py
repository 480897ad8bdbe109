"""A seccomp profile is checked before it is saved, and what it allows more than Assent's own is asked, call by call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from app.link.background import Errands
from app.parts.column import ScrollColumn
from app.parts.confirm import ConfirmDialog
from app.settings.panel import SettingsPanel
from runner.sandbox.seccomp import libseccomp
from runner.settings.loading import load
from tests.gui import feed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from app.look.look import Look
    from runner.system.places import Places

pytestmark = pytest.mark.skipif(libseccomp._library() is None, reason="libseccomp is not installed")


@pytest.fixture
def panel(qtbot: QtBot, look: Look, places: Places) -> Iterator[SettingsPanel]:
    made = SettingsPanel(feed.RecordingBridge(), look, places)
    qtbot.addWidget(made)
    made.resize(900, 600)
    with qtbot.waitActive(made):
        made.show()
    qtbot.waitUntil(lambda: made.form is not None)
    yield made
    for errands in made.findChildren(Errands):
        errands.close()


def put(folder: Path, name: str, *allowed: str) -> str:
    """A profile that forbids mkdir, and allows these calls."""
    rules: list[dict[str, Any]] = [{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO"}]
    rules += [{"names": [one], "action": "SCMP_ACT_ALLOW"} for one in allowed]
    path = folder / name
    path.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}))
    path.chmod(0o600)
    return str(path)


def type_path(panel: SettingsPanel, path: str) -> None:
    panel._typed("seccomp_profile", path)
    assert panel.save.isEnabled()


def in_file(places: Places) -> tuple[str, tuple[str, ...]]:
    settings = load(places, {}).settings
    return settings.seccomp_profile, settings.seccomp_allows


def question(qtbot: QtBot) -> ConfirmDialog:
    qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), ConfirmDialog))
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, ConfirmDialog)
    return dialog


def names(dialog: ConfirmDialog) -> str:
    """The calls that are asked for, one by one."""
    area = dialog.findChild(ScrollColumn)
    assert area is not None and area.isVisible()
    (label,) = area.findChildren(QLabel)
    return label.text()


def _refused(qtbot: QtBot, panel: SettingsPanel, words: str) -> None:
    qtbot.waitUntil(lambda: words in panel.notice.text)


def test_one_that_does_not_count_is_not_saved(
    qtbot: QtBot, panel: SettingsPanel, places: Places, tmp_path: Path
) -> None:
    good = put(tmp_path, "good.json")
    type_path(panel, good)
    with qtbot.waitSignal(panel.saved):
        panel.save.click()
    (tmp_path / "bad.json").write_text("{")
    for path, words in ((tmp_path / "bad.json", "not JSON"), (tmp_path / "gone.json", "No such file")):
        type_path(panel, str(path))
        panel.save.click()
        _refused(qtbot, panel, words)
        assert panel.notice.text.startswith("Not saved: The seccomp profile")
        assert in_file(places) == (good, ()), "the old one stays"


def test_what_allows_more_is_asked_by_name_and_saved_only_with_a_yes(
    qtbot: QtBot, panel: SettingsPanel, places: Places, tmp_path: Path
) -> None:
    wide = put(tmp_path, "wide.json", "ptrace", "bpf")
    type_path(panel, wide)
    panel.save.click()
    panel.save.click()
    dialog = question(qtbot)
    assert "2 system calls" in dialog.what and names(dialog) == "bpf, ptrace"
    with qtbot.waitSignal(dialog.finished):
        dialog.reject()
    assert in_file(places) == ("", ())
    assert panel.save.isEnabled(), "what was typed stays, and nothing was saved"
    panel.save.click()
    with qtbot.waitSignal(panel.saved):
        question(qtbot).accept()
    assert in_file(places) == (wide, ("bpf", "ptrace"))

    wider = put(tmp_path, "wider.json", "ptrace", "mount")
    type_path(panel, wider)
    panel.save.click()
    dialog = question(qtbot)
    assert names(dialog) == "mount, ptrace", "a yes to one file is none to another"
    with qtbot.waitSignal(panel.saved):
        dialog.accept()
    assert in_file(places) == (wider, ("mount", "ptrace"))

    panel._typed("seccomp_profile", "")
    with qtbot.waitSignal(panel.saved):
        panel.save.click()
    assert in_file(places) == ("", ())
