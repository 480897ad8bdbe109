"""Which language the window speaks: the one that is set, else the desktop's, else English."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtCore import Qt

from app.chrome.window_state import WINDOW_STATE
from app.start.language import REMEMBERED, dress
from runner.model import translation
from runner.system.places import Places
from tests.languages.texts import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

SPEAK = "from app.start.language import speak; from runner.model.translation import chosen; speak(); print(chosen())"
DIALOG = (
    "from app.start.language import speak; speak(); from app.start.opening import application; app = application();"
    "print(app.translate('QPlatformTheme', 'Cancel'), app.layoutDirection().name)"
)


def said(home: Path, code: str, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LANG", "LC_"))}
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**kept, "ASSENT_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "de_DE.UTF-8"}, "de"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "fr_FR.UTF-8", "LANGUAGE": "fr:de"}, "de"),
        ({"LANG": "de_DE.UTF-8", "LANGUAGE": "en"}, "en"),
        ({"LANG": "de_DE.UTF-8", "ASSENT_LANGUAGE": "en"}, "en"),
        ({"LANG": "C.UTF-8", "ASSENT_LANGUAGE": "de"}, "de"),
        ({"LANG": "de_DE.UTF-8", "ASSENT_LANGUAGE": "system"}, "de"),
        ({"LANG": "C.UTF-8", "ASSENT_LANGUAGE": "../languages/de"}, "en"),
    ],
)
def test_the_desktop_says_it_unless_it_is_set(tmp_path: Path, environment: dict[str, str], language: str) -> None:
    assert said(tmp_path, SPEAK, **environment) == language


@pytest.mark.parametrize(
    ("kept", "language"), [("de", "de"), ("en", "en"), ("system", "de"), ("", "de"), ("xx", "en"), ("../de", "en")]
)
def test_what_was_set_counts_at_the_next_start(tmp_path: Path, kept: str, language: str) -> None:
    state = Places.under(tmp_path).state
    state.mkdir(parents=True)
    (state / WINDOW_STATE).write_text(json.dumps({REMEMBERED: kept}))
    assert said(tmp_path, SPEAK, LANG="de_DE.UTF-8") == language


def test_the_dialogs_of_qt_speak_it_too(tmp_path: Path) -> None:
    assert said(tmp_path, DIALOG, ASSENT_LANGUAGE="de") == "Abbrechen LeftToRight"
    assert said(tmp_path, DIALOG, ASSENT_LANGUAGE="en") == "Cancel LeftToRight"


def test_the_window_is_laid_out_in_the_direction_of_the_language(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen: Any = "ur"  # of which Qt has no words, so that none stay for other tests
    monkeypatch.setattr(translation, "chosen", lambda: chosen)
    try:
        dress(qapp)
        assert qapp.layoutDirection() is Qt.LayoutDirection.RightToLeft
    finally:
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
