"""Checks a seccomp profile before its setting is saved, and asks where it allows what Assent's own filter forbids."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app import phrases
from app.link.background import Errands
from app.parts.column import ScrollColumn
from app.parts.confirm import ConfirmDialog
from app.parts.plain import plain_label
from runner.model.errors import KnownError
from runner.model.translation import plural, tr
from runner.sandbox.seccomp.narrowed import WiderProfile
from runner.sandbox.seccomp.own import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from app.look.look import Look
    from app.settings.form import Form

PROFILE, ALLOWS = "seccomp_profile", "seccomp_allows"
FEW, FEW_HEIGHT, LINES_HEIGHT = 12, 60, 200
"""Names that have room in the smaller height, and the two heights in pixels."""
TITLE = tr("Allow what Assent's own filter forbids?")


class SeccompCheck(QObject):
    """One check at a time. What was agreed to for one file does not count for another that is chosen in its place."""

    def __init__(self, page: QWidget, look: Look) -> None:
        super().__init__(page)
        self._page = page
        self._look = look
        self._errands = Errands("seccomp profile", self)
        self._busy = False

    def ask(self, form: Form, save: Callable[[dict[str, object]], None], refuse: Callable[[str], None]) -> None:
        """Call `save` with what is to be saved, or `refuse` with the reason. Neither where the person says no."""
        changes = form.changes
        if self._busy or not {PROFILE, ALLOWS} & changes.keys():
            if not self._busy:
                save(changes)
            return
        path, agreed = str(form.value(PROFILE)), tuple(form.value(ALLOWS))
        another = PROFILE in changes and ALLOWS not in changes
        if another:
            agreed = ()
            if form.in_force(ALLOWS) and not form.fixed(ALLOWS):
                changes[ALLOWS] = None
        if not path:
            save(changes)
            return

        def checked(_: object) -> None:
            self._busy = False
            save(changes)

        def failed(error: Exception) -> None:
            self._busy = False
            if not isinstance(error, WiderProfile) or form.fixed(ALLOWS):
                what = str(error) if isinstance(error, KnownError) else f"{type(error).__name__}: {error}"
                refuse(tr("Not saved: {error}", error=what))
                return

            def answered(yes: bool) -> None:
                if yes:
                    save({**changes, ALLOWS: (*agreed, *error.calls)})

            dialog = ConfirmDialog(self._page.window(), TITLE, words(path, error.calls), tr("Allow them"), answered)
            dialog.put_above_buttons(_listed(error.calls, self._look))
            dialog.open()

        self._busy = True
        self._errands.send(lambda: check(Path(os.path.expanduser(path)), agreed), checked, failed)


def words(path: str, calls: tuple[str, ...]) -> str:
    """Return what the person reads before the answer; below it stands each call by its name."""
    name = phrases.visible(os.path.basename(path))
    return plural(
        "{name} lets code make {count} system call that Assent's own filter forbids. It reaches a part of this "
        "machine's kernel that is closed to code otherwise:",
        "{name} lets code make {count} system calls that Assent's own filter forbids. Each reaches a part of this "
        "machine's kernel that is closed to code otherwise:",
        len(calls),
        name=name,
    )


def _listed(calls: tuple[str, ...], look: Look) -> QWidget:
    """Return the names, which scroll where there are many."""
    names = plain_label(", ".join(calls), wrap=True)
    area = ScrollColumn(tr("System calls"))
    area.column.addWidget(names)
    area.setFixedHeight(look.px(LINES_HEIGHT if len(calls) > FEW else FEW_HEIGHT))
    return area
