"""The notice where requests are answered that commands of programs at work wait too, with the way to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot

from app.parts.notice import Notice, Tone
from runner.model.translation import plural, tr

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.look.look import Look
    from app.state.work_cards import WorkCards


class HeldAtWork(Notice):
    """On screen as long as a command of a program at work waits for an answer."""

    wanted = Signal(str)
    """Name of the working copy whose held command waits longest."""

    def __init__(self, look: Look, work: WorkCards, parent: QWidget | None = None) -> None:
        super().__init__(look, Tone.WARN, "", tr("Show"), parent=parent)
        self._work = work
        self.hide()
        self.acted.connect(self._show_it)
        work.moved.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Say how many wait."""
        held = self._work.count_held()
        if held and (words := said(held)) != self.text:
            self.say(Tone.WARN, words, tr("Show"))
        self.setVisible(bool(held))

    @Slot()
    def _show_it(self) -> None:
        if name := self._work.first_held():
            self.wanted.emit(name)


def said(held: int) -> str:
    """Return the sentence for held commands."""
    return plural(
        "{count} command at work waits for you",
        "{count} commands at work wait for you",
        held,
    )
