"""What PySide would do to a console, and no longer does."""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QWidget

from app.start import opening, selftest

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


def test_a_console_imports_without_qts_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    """It once broke an import that it looked into half-way, and no agent could reach the console."""
    python = builtins.__import__
    for start in (opening.main, selftest.main):
        with monkeypatch.context() as patched:
            patched.setattr(builtins, "__import__", vars(builtins)["__feature_import__"])
            patched.setattr(opening, "has_display", lambda _environment: False)
            patched.setattr("runner.commands.selftest.main", lambda _further: 0)
            start()
            assert builtins.__import__ is python
    assert python.__name__ != "__feature_import__"


class Faulty(QWidget):
    def sizeHint(self) -> QSize:
        return QSize(len(5), 1)  # type: ignore[arg-type]


def test_an_error_in_a_method_that_qt_calls_is_an_error_and_no_crash(qtbot: QtBot) -> None:
    """It ended the process: PySide 6.11 takes the text of what C code raised for an object before Python 3.12."""
    widget = Faulty()
    qtbot.addWidget(widget)
    with pytest.raises(TypeError, match="has no len"):
        widget.adjustSize()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="errors are objects from the beginning")
def test_classes_that_were_there_before_are_guarded() -> None:
    from app.chrome.frame import Frame

    assert hasattr(vars(Faulty)["sizeHint"], "_guarded")
    assert any(hasattr(method, "_guarded") for method in vars(Frame).values())
