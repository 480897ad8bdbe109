"""Builds the console: crash hooks first, then one window, and once that is painted the engine behind it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QIcon, QSessionManager
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from app.cases import Cases
from app.crash import Faults
from app.errands import Errands
from app.leave import Leave, end_at_once
from app.look import Look, Theme
from app.remembered import Remembered
from app.single import Single
from app.window import Window
from runner.errors import KnownError
from runner.host import EngineThread
from runner.places import Places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.engine import Engine
    from runner.settings import Settings

NAME = "Assent"
NO_DISPLAY = """\
assent: there is no display to open a window on.
Start it in a desktop session, or on a virtual screen: xvfb-run assent
To see what it does without one: make demo (or: assent demo)
Without a window, questions are asked on the terminal by: python -m runner
"""


class Console(QObject):
    """Everything that lives as long as the window. `app` and `faults` exist already."""

    def __init__(self, app: QApplication, places: Places, faults: Faults) -> None:
        super().__init__()
        self._app = app
        self._places = places
        self._faults = faults
        remembered = Remembered(places.state / "window.json")
        self.look = Look(app, _theme(remembered.get("theme")))
        app.setWindowIcon(QIcon(self.look.pixmap("shield-check", "accent", 64)))
        self.cases = Cases(self)
        self.host = EngineThread(self._build, faults.engine_failed)
        self.bridge = Bridge(self.host, self)
        self.bridge.happened.connect(self.cases.take)
        self.window = Window(self.cases, self.bridge, self.look, places, remembered)
        self.leave = Leave(self.cases, self.bridge, self.window.ask_to_quit, end_at_once, self)
        self._errands = Errands("start", self)
        self._connect()

    def show(self, earlier: str) -> None:
        """Open the window; `earlier` is what a session before left in the fault log."""
        self.window.show()
        if earlier:
            from app.faultview import tell_of_earlier

            tell_of_earlier(self.window, earlier, self._faults.aside)

    def _connect(self) -> None:
        self.window.painted.connect(self._start)
        self.window.close_wanted.connect(self.leave.wish)
        self.leave.leaving.connect(self.window.vanish)
        self.leave.gone.connect(self._app.quit)
        self._faults.happened.connect(self._fault)
        # Directly: the session manager waits for the slot, so it has to be over when everything is closed.
        self._app.commitDataRequest.connect(self._session_ends, Qt.ConnectionType.DirectConnection)

    @Slot()
    def _start(self) -> None:
        """The window is on the screen: now the heavy part."""
        self.host.start()
        from app.tray import Tray

        self.tray = Tray(self.cases, self.look, self.window, self)
        self._errands.send(self._load_settings, self._settings_known, self._settings_unknown)
        self.window.vault.look_again()

    def _build(self) -> Engine:
        """In the engine's thread: its imports do not hold up the window."""
        from runner.rooms import open_engine

        engine = open_engine(self._places)
        engine.listen(self.bridge.hear)
        return engine

    def _load_settings(self) -> Settings:
        from runner.settings import load

        return load(self._places, os.environ).settings

    def _settings_known(self, settings: Settings) -> None:
        self.look.choose(Theme(settings.theme))

    def _settings_unknown(self, error: Exception) -> None:
        self._faults.record(error, "while reading the settings")

    @Slot(str)
    def _fault(self, last_line: str) -> None:
        from app.faultview import tell_of_fault

        tell_of_fault(self.window, last_line, self._places.faults)

    @Slot(QSessionManager)
    def _session_ends(self, _manager: QSessionManager) -> None:
        self.leave.now()


def main() -> int:
    """Open the console, or raise the window of the one that is open."""
    if not has_display(os.environ):
        sys.stderr.write(NO_DISPLAY)
        return 1
    places = Places.standard()
    faults = Faults(places)
    faults.install()
    single = Single(places.socket)
    try:
        first = single.claim()
    except KnownError as error:
        sys.stderr.write(f"assent: {error}\n")
        return 1
    if not first:
        return _raise_first(single)
    earlier = faults.earlier()
    faults.watch()
    app = QApplication([sys.argv[0]])
    app.setApplicationName(NAME)
    app.setDesktopFileName("assent")
    app.setQuitOnLastWindowClosed(False)
    console = Console(app, places, faults)
    single.raise_window.connect(console.window.bring_to_front)
    single.watch()
    console.leave.listen_to_signals()
    console.show(earlier)
    code = app.exec()
    console.leave.stop_listening()
    single.release()
    faults.remove()
    return code


def has_display(environment: Mapping[str, str]) -> bool:
    """Whether a window can be shown; Qt itself would abort the process."""
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def _raise_first(single: Single) -> int:
    if single.call_first():
        return 0
    sys.stderr.write("assent: Assent is already open but does not answer. Wait a moment, or end its process.\n")
    return 1


def _theme(name: str) -> Theme:
    return Theme(name) if name in list(Theme) else Theme.SYSTEM

