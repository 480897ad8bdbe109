"""Chooses the language of the window, before any of its texts is made."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator

from app.chrome.window_state import WINDOW_STATE, Remembered
from runner.model import translation
from runner.system.places import Places, resources

if TYPE_CHECKING:
    from PySide6.QtGui import QGuiApplication

VARIABLE = "ASSENT_LANGUAGE"
"""The variable of the setting `language`."""
REMEMBERED = "language"
SYSTEM = "system"


def speak() -> None:
    """Have this process speak the language that is set, else that of the desktop, else English.

    The setting is remembered beside the size of the window: its file is read here already, the other takes a while.
    """
    wanted = os.environ.get(VARIABLE) or Remembered(Places.standard().state / WINDOW_STATE).get(REMEMBERED)
    translation.choose(_known(wanted) if wanted and wanted != SYSTEM else of_desktop(), resources() / "languages")


def of_desktop() -> str:
    """Return the first language of the desktop that there is a catalogue for; English where it is none of them."""
    there = translation.available(resources() / "languages")
    wanted = (one.replace("-", "_") for one in QLocale.system().uiLanguages())
    return next((one for one in wanted if one in there), translation.ENGLISH)


def dress(app: QGuiApplication) -> None:
    """Have Qt speak the same language in its own dialogs and menus, and lay the window out in its direction."""
    language = translation.chosen()
    if language == translation.ENGLISH:
        return
    locale = QLocale(language)
    words = QTranslator(app)
    if words.load(locale, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(words)
    app.setLayoutDirection(locale.textDirection())


def _known(wanted: str) -> str:
    there = translation.available(resources() / "languages")
    return wanted if wanted in there else translation.ENGLISH
