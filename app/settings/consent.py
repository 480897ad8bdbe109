"""Asks before settings are saved that say what may run or how it is approved, with what the person approves with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.link.page_tasks import PageTasks
from app.review.deliberate import DeliberateDialog
from runner.approval.deliberate import ApproveBy
from runner.model.errors import KnownError
from runner.model.translation import tr
from runner.settings.declared import WINDOW

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from PySide6.QtWidgets import QWidget

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.settings.form import Form
    from runner.settings.declaration import Declared

WHAT = tr("These settings say what may run, or how it is approved.")


class Consent(QObject):
    """Asks nothing where a key approves, and for settings of how the window looks."""

    def __init__(self, page: QWidget, bridge: EngineLink, look: Look) -> None:
        super().__init__(page)
        self._page = page
        self._bridge = bridge
        self._look = look
        self._tasks = PageTasks("consent", self)

    def ask(
        self, form: Form, changed: Iterable[Declared], save: Callable[[], None], refuse: Callable[[str], None]
    ) -> None:
        """Call `save` once the person consented; `refuse` with the reason where their PIN was not taken."""
        by = self._by(form)
        if by is ApproveBy.KEY or all(one.group == WINDOW and one.name != "approve_by" for one in changed):
            save()
            return

        def confirmed(pin: str) -> None:
            if by is ApproveBy.PIN:
                self._tasks.start("prove", self._prove(self._bridge.pin.prove(pin), save, refuse))
            else:
                save()

        DeliberateDialog(self._page.window(), tr("Save settings?"), WHAT, tr("Save"), confirmed, by, self._look).open()

    def _by(self, form: Form) -> ApproveBy:
        """Return what a person approves with; by the file as well, as the engine may not be there."""
        by = self._bridge.decisions.approve_by()
        return by if by is not ApproveBy.KEY else ApproveBy(str(form.in_force("approve_by")))

    async def _prove(self, answer: Awaitable[None], save: Callable[[], None], refuse: Callable[[str], None]) -> None:
        try:
            await answer
        except KnownError as error:
            refuse(tr("Not saved: {error}", error=error))
        else:
            save()
