"""Opens the console: crash hooks, the one window's frame, and once that is painted the loop and everything in it."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication

from app.chrome.frame import Frame
from app.chrome.window_state import WINDOW_STATE, Remembered
from app.look.tokens import DARK, LIGHT
from app.start import language
from app.start.crash import Faults
from app.start.pyside import prepare
from app.start.single import Single
from app.start.synthetic import SyntheticInput
from runner.model.errors import KnownError
from runner.system import installed
from runner.system.places import Places
from runner.system.private import keep_private

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from app.start.console import Console

NAME = "Assent"
NO_DISPLAY = """\
assent: there is no display to open a window on.
Start it in a desktop session, or on a virtual screen: xvfb-run {0}
Without a window, questions are asked on the terminal: {0} terminal
To see what it does, as pictures: {0} demo (needs the packages xvfb and xdotool)
"""


class Opening(QObject):
    """A frame in the right color, then the console in it, until that has been left.

    The frame is painted by Qt alone: the loop in which pages await the engine takes a while to load.
    """

    def __init__(
        self, app: QApplication, places: Places, faults: Faults, single: Single, *, minimized: bool = False
    ) -> None:
        super().__init__()
        self._app = app
        self._places = places
        self._faults = faults
        self._single = single
        self._remembered = Remembered(places.state / WINDOW_STATE)
        self._earlier = faults.earlier()
        faults.watch()
        self.console: Console | None = None
        self._logging = ExitStack()
        self._synthetic = SyntheticInput()
        app.installNativeEventFilter(self._synthetic)
        self.frame = Frame(self._remembered)
        self.frame.setPalette(_ground(app, self._remembered.get("theme")))
        self._painted = minimized
        """Or nothing of it will be, for now."""
        self.frame.painted.connect(self._know_painted)
        (self.frame.showMinimized if minimized else self.frame.show)()

    @Slot()
    def _know_painted(self) -> None:
        self._painted = True

    def run(self, opened: Callable[[Console], None] | None = None) -> None:
        """Stay open until the console has been left; `opened` is called once it is there."""
        if not self._painted:
            # Not quit: that would ask the frame to close.
            self.frame.painted.connect(self._app.exit)
            self._app.exec()
        if self._painted:
            from app.start.loop import run

            run(self._app, self._live(opened), self._faults.task_failed)

    async def _live(self, opened: Callable[[Console], None] | None) -> None:
        from asyncio import Event

        over = Event()
        console = self.furnish()
        console.leave.gone.connect(over.set)
        if opened is not None:
            opened(console)
        try:
            await over.wait()
        finally:
            # Also where something else has ended the loop.
            console.leave.now()

    def furnish(self) -> Console:
        """Put the console into the frame; within the window's loop."""
        from app.start.console import Console
        from runner.system.log import logged

        self._logging.enter_context(logged(self._places))
        self.console = Console(self._app, self._places, self._faults, self.frame, self._remembered)
        self.console.leave.listen_to_signals()
        self._single.raise_window.connect(self.frame.bring_to_front)
        self._single.watch()
        if self._earlier:
            self.console.tell_of_earlier(self._earlier)
        return self.console

    def close(self) -> None:
        """After the last event: nothing listens and nothing is logged any more."""
        self._app.removeNativeEventFilter(self._synthetic)
        if self.console is not None:
            self.console.leave.stop_listening()
        self._logging.close()


def application() -> QApplication:
    """Return the one application object."""
    app = QApplication([sys.argv[0]])
    app.setApplicationName(NAME)
    app.setDesktopFileName("assent")
    app.setQuitOnLastWindowClosed(False)
    language.dress(app)
    return app


def main(*, minimized: bool = False) -> int:
    """Open the console, or raise the window of the one that is open."""
    prepare()
    if not has_display(os.environ):
        from runner.gateway.own_command import typed_command

        sys.stderr.write(NO_DISPLAY.format(typed_command()))
        return 1
    keep_private()
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
    app = application()
    opening = Opening(app, places, faults, single, minimized=minimized)
    opening.run()
    again = opening.console is not None and opening.console.leave.again
    opening.close()
    single.release()
    faults.remove()
    if again and (command := installed.command()):
        # In place of this process: what started it sees no end, and signals keep their address.
        os.execv(command, [command])
    return 0


def has_display(environment: Mapping[str, str]) -> bool:
    """Return whether a window can be shown; Qt itself would abort the process."""
    return any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def _raise_first(single: Single) -> int:
    if single.call_first():
        return 0
    sys.stderr.write("assent: Assent is already open but does not answer. Wait a moment, or end its process.\n")
    return 1


def _ground(app: QApplication, theme: str) -> QPalette:
    """Return the color of an empty window, so that it does not flash in the wrong one before the look is loaded."""
    system_dark = app.styleHints().colorScheme() is Qt.ColorScheme.Dark
    tokens = DARK if theme == "dark" or (theme != "light" and system_dark) else LIGHT
    palette = QPalette()
    palette.setColor(QPalette.ColorRole.Window, QColor(tokens.background))
    return palette
