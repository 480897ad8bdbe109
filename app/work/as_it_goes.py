"""Apply as it goes: a button that switches it on after asking, and the words that say that it is on."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app import phrases
from app.link.page_tasks import PageTasks
from app.parts.plain import plain_label, say
from app.review.deliberate import DeliberateDialog
from app.work import words
from runner.model.errors import KnownError
from runner.model.translation import to_translate, tr, translated

if TYPE_CHECKING:
    from app.link.bridge import EngineLink
    from app.look.look import Look
    from runner.model.work import WorkSession

ON, OFF = tr("Apply as it goes\N{HORIZONTAL ELLIPSIS}"), tr("Stop that")
ASKS = to_translate(
    "Whenever the program is quiet for some seconds, what it has changed is written into {project} by itself. Each"
    " time can be undone and is in the history. Not applied by itself: deletions, what is marked, merged or in"
    " conflict, folders of many changes, what has a finding of HIGH or CRITICAL in what it adds, what was not read for"
    " findings, pipes, and what other accounts could write to newly. It ends with the program, with Lockdown and with"
    " Stop all."
)
IS_ON = to_translate("Applies as it goes since {moment}.")
MEANS = tr(
    "What is not marked and has no finding of HIGH or CRITICAL is written into your folder by itself;"
    " deletions are left to you."
)


class AsItGoesSwitch(QWidget):
    """Shown while the program is at work. Off needs no question."""

    failed = Signal(str)
    """Why it could not be switched."""

    def __init__(self, look: Look, bridge: EngineLink, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._look = look
        self._bridge = bridge
        self._session: WorkSession | None = None
        self._tasks = PageTasks("applying as it goes", self)
        self._busy = False
        self.said = plain_label(role="warn", wrap=True)
        self.button = QPushButton(ON)
        self.button.setProperty("kind", "quiet")
        self.button.setAutoDefault(False)
        self.button.clicked.connect(self._press)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(look.px(6))
        row.addWidget(self.said, 1)
        row.addWidget(self.button)
        self.show_session(None)

    def show_session(self, session: WorkSession | None) -> None:
        """Show whether what this program changes is applied by itself."""
        self._session = session
        self.setVisible(session is not None and session.at_work)
        goes = session.as_it_goes if session is not None else None
        on = goes is not None and goes.on
        text = ""
        if goes is not None:
            why = tr("No longer applies as it goes: {why}", why=phrases.visible(goes.why)) if goes.why else ""
            text = translated(IS_ON, moment=words.moment(goes.at)) if on else why
        say(self.said, text, "warn")
        self.said.setVisible(bool(text))
        self.setToolTip(MEANS if on else "")
        self.button.setText(OFF if on else ON)
        self.button.setAccessibleName(tr("Stop applying as it goes") if on else tr("Apply as it goes"))
        self.button.setEnabled(not self._busy)

    @Slot()
    def _press(self) -> None:
        session = self._session
        if session is None:
            return
        if session.as_it_goes is not None and session.as_it_goes.on:
            self._switch(session.name, False, "")
            return
        by = self._bridge.decisions.approve_by()
        what = translated(ASKS, project=words.home_path(session.project))
        switch = partial(self._switch, session.name, True)
        DeliberateDialog(
            self.window(), tr("Apply as it goes?"), what, tr("Apply as it goes"), switch, by, self._look
        ).open()

    def _switch(self, name: str, on: bool, pin: str) -> None:
        if self._busy:
            return
        self._busy = True
        self.button.setEnabled(False)
        answer = self._bridge.work.as_it_goes(name, on=on, pin=pin)

        async def wait() -> None:
            try:
                await answer
            except KnownError as error:
                self.failed.emit(tr("Not switched: {error}", error=phrases.visible(str(error))))
            finally:
                self._busy = False
            self.show_session(self._session)

        self._tasks.start("switch", wait())
