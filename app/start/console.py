"""Builds what stands in the frame and, once that is painted, the engine behind it."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtGui import QPalette, QSessionManager

from app.agents.watch import FolderWatch
from app.chrome.pages import FIRST_STEPS
from app.chrome.window import Window
from app.link.background import Errands
from app.link.bridge import EngineLink
from app.look.look import Look, Motion, Theme
from app.look.mark import app_icon
from app.parts.notice import Tone
from app.start import language
from app.start.leave import Leave, end_at_once
from app.start.settling import SETTLED_MS, settle
from app.start.update import Update
from app.state.cards import Cards
from runner.engine.thread import EngineThread
from runner.identity.keyring_answer import begin_unasked
from runner.model.translation import tr

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from app.chrome.frame import Frame
    from app.chrome.window_state import Remembered
    from app.start.crash import Faults
    from runner.engine.engine import Engine
    from runner.settings.loading import Settings
    from runner.system.places import Places

log = logging.getLogger(__name__)

SWITCH_SECONDS = 0.0002
"""How long another thread may keep the interpreter when the window wants it; Python's own is 5 ms. Painting asks for it
about ten times: with 5 ms a key in the editor took 155 ms while the code was assessed, with 1 ms 13 (p95). While 100
callers keep five threads busy the window waits for each in turn, with 1 ms up to 100 ms in all; with this it is half of
that, for about a tenth more processor time while they do."""

RESTART = tr("Restart")
YES = "yes"
SCALES = ("1.00", "1.25", "1.50", "1.75", "2.00")


class Console(QObject):
    """Everything that lives as long as the window. The frame is on the screen already."""

    def __init__(self, app: QApplication, places: Places, faults: Faults, frame: Frame, remembered: Remembered) -> None:
        super().__init__()
        self._app = app
        self._places = places
        self._faults = faults
        self._remembered = remembered
        self.frame = frame
        self.look = Look(app, _theme(remembered.get("theme")), _scale(remembered.get("text")))
        # From here on the look decides; the frame had a color of its own so that it did not flash.
        frame.setPalette(QPalette())
        app.setWindowIcon(app_icon())
        new = not places.ledger.exists()
        if new:
            begin_unasked(places)
        self.cases = Cards(self)
        self.host = EngineThread(self._build, faults.engine_failed, self._engine_silent)
        self.bridge = EngineLink(self.host, faults.record, self)
        self.bridge.happened.connect(self.cases.take)
        self.window = Window(self.cases, self.bridge, self.look, places, frame)
        self.leave = Leave(self.cases, self.bridge, self.window.ask_to_quit, end_at_once, self, self._is_away)
        self._errands = Errands("start", self)
        self.update = Update(self._errands, parent=self)
        self.update.replaced.connect(self._tell_of_update)
        self._connect()
        if new and not places.agents.exists() and not places.settings.exists():
            self.window.vault.asking = True
            self.window.show_page(FIRST_STEPS)

    def tell_of_earlier(self, earlier: str) -> None:
        """Report what an earlier session left in the fault log, `earlier`."""
        from app.chrome.faultview import tell_of_earlier

        tell_of_earlier(self.window, earlier, self._faults.aside)

    def _connect(self) -> None:
        self.window.painted.connect(self._start)
        if self.frame.isMinimized():
            QTimer.singleShot(0, self.window, self.window.begin)  # nothing is painted of it
        self.frame.close_wanted.connect(self.leave.wish)
        self.leave.leaving.connect(self._vanish)
        self.window.pages.settings_taken_up.connect(self._look_at_settings)
        self._faults.happened.connect(self._fault)
        # Directly: the session manager waits for the slot, so it has to be over when everything is closed.
        self._app.commitDataRequest.connect(self._session_ends, Qt.ConnectionType.DirectConnection)

    @Slot()
    def _vanish(self) -> None:
        self._remembered.set("theme", self.look.theme.value)
        self._remembered.set("text", f"{self.look.next_scale:.2f}")
        self.frame.vanish()

    @Slot()
    def _start(self) -> None:
        """Load the heavy part, now that the window is on the screen."""
        sys.setswitchinterval(SWITCH_SECONDS)
        self.host.start()
        from app.look.motion import wanted_still
        from app.notify.desktop import Desktop
        from app.notify.notices import Notices
        from app.notify.tray import Tray
        from app.prompt.window import PromptWindow

        self.tray = Tray(self.cases, self.look, self.window, self)
        self.desktop = Desktop(self)
        self.prompt = PromptWindow(self.cases, self.bridge, self.look, self._may_prompt)
        self.prompt.review.connect(self.window.show_waiting)
        self.window.presence.changed.connect(self.prompt.refresh)
        self.leave.leaving.connect(self.prompt.close)
        self.notices = Notices(
            self.cases, self.window, self.desktop, self.bridge.sounds, prompted=self._may_prompt, parent=self
        )
        self.notices.fallback.connect(self.tray.say)
        self.leave.leaving.connect(self.desktop.close)
        self._errands.send(self._load_settings, self._settings_known, self._settings_unknown)
        self._errands.send(wanted_still, self.look.know_system_motion, self._settings_unknown)
        self.window.vault.look_again()
        self._agents_watch = FolderWatch(self._places.agents.parent, self)
        self._agents_watch.changed.connect(self.bridge.agents.look_again)
        self.cases.agents_known.connect(self._agents_watch.look_for_folder)
        self.update.begin()
        QTimer.singleShot(SETTLED_MS, self.cases, partial(settle, self.cases))

    def _is_away(self) -> bool:
        return self.window.presence.away

    def _may_prompt(self) -> bool:
        """Whether requests may come up as cards: wanted, not quiet, and not beside the column that has them already."""
        beside = self.window.docked and self.frame.isVisible() and not self.frame.isMinimized()
        return self.bridge.prompts() and self.window.presence.may_disturb and not beside

    def _build(self) -> Engine:
        """Return the engine, built in its own thread so that its imports do not delay the window."""
        from runner.assembly import open_engine

        engine = open_engine(self._places)
        engine.listen(self.bridge.hear)
        return engine

    def _engine_silent(self, seconds: float) -> None:
        """On the watchdog's thread; the object may be gone while the console closes."""
        with contextlib.suppress(RuntimeError):
            self.bridge.silent.emit(seconds)

    def _load_settings(self) -> Settings:
        from runner.settings.loading import load

        return load(self._places, os.environ).settings

    def _settings_known(self, settings: Settings) -> None:
        self.look.choose(Theme(settings.theme))
        self.look.choose_motion(Motion(settings.motion))
        self.look.next_scale = int(settings.text_size) / 100
        self._keep_for_next_start(settings)

    @Slot()
    def _look_at_settings(self) -> None:
        self._errands.send(self._load_settings, self._keep_for_next_start, self._settings_unknown)

    def _keep_for_next_start(self, settings: Settings) -> None:
        """Take up what counts from the next start of the window, or of the desktop."""
        if self._remembered.get(language.REMEMBERED) != settings.language:
            self._remembered.set(language.REMEMBERED, settings.language)
            self._remembered.save()
        self._start_at_login(settings)

    def _start_at_login(self, settings: Settings) -> None:
        """Have the desktop start Assent at login, or not, as the settings now ask for."""
        from app.start.login import file_for, keep
        from runner.gateway.own_command import own_program

        file, wanted = file_for(self._places), settings.start_at_login
        if file is None:
            return
        before = self._remembered.get("start_at_login") == YES

        def work() -> None:
            keep(file, own_program(), wanted=wanted, before=before, minimized=settings.start_minimized)

        def done(_: None) -> None:
            self._remembered.set("start_at_login", YES if wanted else "")
            self._remembered.save()
            self.window.banners.unsay("login")

        self._errands.send(work, done, self._login_failed)

    def _login_failed(self, error: Exception) -> None:
        self.window.banners.say("login", Tone.WARN, str(error))

    def _settings_unknown(self, error: Exception) -> None:
        self._faults.record(error, "while reading the settings")

    @Slot(str)
    def _fault(self, last_line: str) -> None:
        from app.chrome.faultview import tell_of_fault

        tell_of_fault(self.window, last_line, self._places.faults)

    @Slot(str)
    def _tell_of_update(self, version: str) -> None:
        shown_before = bool(self.window.banners.text("updated"))
        what = tr(
            "Assent was updated to {version}. This window still runs the version from before, until you restart it.",
            version=version,
        )
        notice = self.window.banners.say("updated", Tone.WARN, what, RESTART)
        log.info("Assent was updated to %s. The window says so.", version)
        if not shown_before:
            notice.acted.connect(self.leave.wish_again)

    @Slot(QSessionManager)
    def _session_ends(self, _manager: QSessionManager) -> None:
        self.leave.now()


def _scale(text: str) -> float:
    """Return what was remembered of the size of text; anything else is the usual one."""
    return float(text) if text in SCALES else 1.0


def _theme(name: str) -> Theme:
    return Theme(name) if name in list(Theme) else Theme.SYSTEM
