"""The hosts that a run tried to reach as rows: what came of each, how often and how many bytes went which way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.network import words
from app.parts.empty import EmptyState
from app.parts.plain import plain_label, tip
from app.parts.text.lines import SUMMARY, Summary, list_view
from runner.model.translation import tr

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtCore import QObject

    from app.look.look import Look
    from runner.model.network import Contact

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
NO_NETWORK = (tr("No network"), tr("This run has no network, and tried none."))
NOTHING_YET = (tr("No host yet"), tr("Hosts that the code tries to reach are listed here at once."))
NOTHING = (tr("No host"), tr("The code tried to reach none."))


class ContactsModel(QAbstractTableModel):
    """One column, in the order in which the hosts came."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.contacts: tuple[Contact, ...] = ()

    def show(self, contacts: Iterable[Contact]) -> None:
        """Show other contacts; those that come after what is shown are added, so that the choice stays."""
        before, now = self.contacts, tuple(contacts)
        if before == now:
            return
        kept = len(before)
        if list(map(_key, now[:kept])) != list(map(_key, before)):
            self.beginResetModel()
            self.contacts = now
            self.endResetModel()
            return
        if len(now) > kept:
            self.beginInsertRows(_NOWHERE, kept, len(now) - 1)
            self.contacts = now
            self.endInsertRows()
        self.contacts = now
        if kept:
            self.dataChanged.emit(self.index(0, 0), self.index(kept - 1, 0))

    def contact(self, row: int) -> Contact | None:
        return self.contacts[row] if 0 <= row < len(self.contacts) else None

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else len(self.contacts)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        return 0 if parent.isValid() else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        contact = self.contact(index.row())
        if contact is None:
            return None
        if role == SUMMARY:
            below = words.below(contact)
            # The end of a name says whose it is; its beginning is what its owner likes.
            middle = Qt.TextElideMode.ElideMiddle
            return Summary(words.place(contact), below, words.outcome(contact), words.ink(contact), elide=middle)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return words.spoken(contact)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(words.spoken(contact))
        return None


class ContactsView(QWidget):
    """A list of hosts, or a sentence where there are none. Everything in it is plain text."""

    chosen = Signal()
    """Another host is the current one, or something about it has changed."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = ContactsModel(self)
        self.view = list_view(look, self.model, tr("Hosts that the code tried to reach"))
        self.left_out = plain_label(role="muted", wrap=True)
        self.none = EmptyState(look, "network", *NOTHING)
        self._place = QStackedWidget()
        self._place.addWidget(self.none)
        self._place.addWidget(self.view)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, look.px(8), 0, 0)
        self.column.setSpacing(look.px(4))
        self.column.addWidget(self._place, 1)
        self.column.addWidget(self.left_out)
        self.view.selectionModel().currentChanged.connect(self._moved)
        self.left_out.hide()

    def show_contacts(self, contacts: Iterable[Contact], left_out: int = 0, none: tuple[str, str] = NOTHING) -> None:
        """Show contacts, and how many more there were; `none` is said where there are none."""
        current = self.current
        self.model.show(contacts)
        self.none.say(*none)
        self._place.setCurrentWidget(self.view if self.model.contacts else self.none)
        self.left_out.setText(words.more(left_out))
        self.left_out.setVisible(bool(left_out))
        if current is not None and self.current is None:
            self._choose(current)
        self.chosen.emit()

    @property
    def current(self) -> Contact | None:
        return self.model.contact(self.view.currentIndex().row())

    @property
    def title(self) -> str:
        """For a tab: `Network`, with the number of hosts that were refused."""
        refused = sum(one.allowed is False for one in self.model.contacts)
        return tr("Network ({refused} refused)", refused=refused) if refused else tr("Network")

    def _choose(self, wanted: Contact) -> None:
        """Choose the row of the same host again after the rows have come in another order."""
        row = next((row for row, one in enumerate(self.model.contacts) if _key(one) == _key(wanted)), -1)
        if row >= 0:
            self.view.setCurrentIndex(self.model.index(row, 0))

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, _current: QModelIndex, _before: QModelIndex) -> None:
        self.chosen.emit()


def _key(contact: Contact) -> tuple[str, int, bool | None]:
    return contact.host, contact.port, contact.allowed
