"""The button that goes back from a question without answering it."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton

from runner.model.translation import tr


def back_button(tool_tip: str = "") -> QPushButton:
    """Return a quiet button "Back"; `tool_tip` names its key where it has one."""
    button = QPushButton(tr("Back"))
    button.setProperty("kind", "quiet")
    button.setToolTip(tool_tip)
    button.setAutoDefault(False)
    return button
