"""Searches that a person saved: a menu beside the filters, and the small file that holds them."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app import phrases
from runner.model.translation import tr
from runner.system.durable import replace_file
from runner.system.plain_file import read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from app.look.look import Look

MOST = 30
"""Saved searches; a further one takes the place of the oldest."""
MOST_BYTES = 1 << 18
LONGEST_NAME = 60
State = dict[str, Any]


class SavedSearches(QToolButton):
    """Offers to save the present search, and lists those that were saved, newest first."""

    chosen = Signal(object)
    """The state of a saved search, as `Filters.restore` takes it."""
    failed = Signal(str)
    """Why a search could not be saved, in a sentence."""

    def __init__(
        self,
        path: Path,
        look: Look,
        present: Callable[[], tuple[str, Mapping[str, object]]],
        parent: QWidget | None = None,
    ) -> None:
        """`present` gives name and state of the present search; the name is empty where everything is listed."""
        super().__init__(parent)
        self._path = path
        self._present = present
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setText(tr("Saved"))
        self.setToolTip(tr("Save this search, or take up one that was saved"))
        self.setAccessibleName(tr("Saved searches"))
        look.dress(self, "save", size=14)

    @property
    def searches(self) -> dict[str, State]:
        """The saved searches by name, oldest first; none where the file cannot be read."""
        try:
            data = json.loads(read_file(self._path, MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        found = data.items() if isinstance(data, dict) else ()
        return {name: state for name, state in found if isinstance(state, dict)}

    @Slot()
    def save_present(self) -> None:
        """Save what is searched for at present."""
        name, state = self._present()
        if not name:
            return
        searches = self.searches
        searches.pop(name, None)
        searches[name] = dict(state)
        self._write(dict(list(searches.items())[-MOST:]))

    def forget(self, name: str) -> None:
        """Remove a saved search."""
        self._write({one: state for one, state in self.searches.items() if one != name})

    def _write(self, searches: Mapping[str, State]) -> None:
        try:
            replace_file(self._path, json.dumps(searches, indent=1) + "\n")
        except OSError as error:
            self.failed.emit(
                tr(
                    "The search could not be saved in {path}: {strerror}.",
                    path=self._path,
                    strerror=error.strerror or error,
                )
            )

    @Slot()
    def _fill(self) -> None:
        self._menu.clear()
        name, _ = self._present()
        save = self._menu.addAction(
            tr("Save this search: {shown}", shown=_shown(name)) if name else tr("Save this search")
        )
        save.setEnabled(bool(name))
        save.triggered.connect(self.save_present)
        searches = self.searches
        if not searches:
            return
        self._menu.addSeparator()
        for one, state in reversed(searches.items()):
            self._menu.addAction(_shown(one), partial(self.chosen.emit, state))
        self._menu.addSeparator()
        remove = self._menu.addMenu(tr("Remove"))
        for one in reversed(searches):
            remove.addAction(_shown(one), partial(self.forget, one))


def _shown(name: str) -> str:
    """Return a name for a menu, where an ampersand would be taken for a mnemonic."""
    text = phrases.visible(name)
    short = text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}\N{HORIZONTAL ELLIPSIS}"
    return short.replace("&", "&&")
