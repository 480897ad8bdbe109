"""The hosts that a request may reach, what each entry means, and what may leave by them: a section of the review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.network import words
from app.parts.plain import plain_label
from app.parts.sections import Section, wrapped_label
from runner.model.request import MOST_HOSTS_BESIDE, NetworkMode
from runner.model.translation import translated

if TYPE_CHECKING:
    from app.look.look import Look
    from runner.model.kept_sandbox import Kept
    from runner.model.request import Request


class ReachSection(Section):
    """Hidden where the request has no network. Everything in it is plain text."""

    def __init__(self, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(look, "", parent)
        self._look = look
        self._rows: list[_HostRow] = []
        self._hosts = QVBoxLayout()
        self._hosts.setSpacing(look.px(4))
        holder = QWidget()
        holder.setLayout(self._hosts)
        self._hosts.setContentsMargins(0, 0, 0, 0)
        self.none = plain_label(words.NO_HOSTS, wrap=True)
        self.leave = wrapped_label(look)
        self.leave.setProperty("role", "warn")
        self.keeps = wrapped_label(look)
        self.keeps.setProperty("role", "warn")
        for widget in (holder, self.none, self.leave, self.keeps):
            self.add(widget)
        self.hide()

    def show_request(self, request: Request, kept: tuple[Kept, ...] = ()) -> None:
        """Show the network of a request; `kept` are the sandboxes that agents keep."""
        networked = request.network is not NetworkMode.NONE
        self.setVisible(networked)
        if not networked:
            return
        self.rename(words.heading(request))
        hosts = request.domains[:MOST_HOSTS_BESIDE]
        entries = [words.entry(text, text in request.granted) for text in hosts]
        while len(self._rows) < len(entries):
            self._rows.append(_HostRow(self._look))
            self._hosts.addWidget(self._rows[-1])
        for number, row in enumerate(self._rows):
            row.setVisible(number < len(entries))
            if number < len(entries):
                row.show_entry(entries[number])
        more = len(request.domains) - len(hosts)
        self.none.setText(translated(words.MORE_HOSTS, more=more) if more else words.NO_HOSTS)
        self.none.setVisible(bool(more) or not entries)
        self.leave.setText(words.may_leave(request, kept))
        self.leave.setVisible(bool(entries))
        self.keeps.setText(words.keeps(request, kept))
        self.keeps.setVisible(bool(self.keeps.text()))

    @property
    def lines(self) -> list[str]:
        """What is shown of the hosts, a line each."""
        return [row.text for row in self._rows if not row.isHidden()]


class _HostRow(QWidget):
    """A host, and below it what that means where it is more than the name."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._name: QLabel = wrapped_label(look)
        self._name.setProperty("role", "strong")
        self._meaning: QLabel = wrapped_label(look)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._name)
        column.addWidget(self._meaning)

    def show_entry(self, entry: words.ListedHost) -> None:
        self._name.setText(words.breakable(entry.name))
        self._meaning.setText(entry.meaning)
        self._meaning.setVisible(bool(entry.meaning))
        self._meaning.setProperty("role", "warn" if entry.unusual else "small")
        self._meaning.style().unpolish(self._meaning)
        self._meaning.style().polish(self._meaning)

    @property
    def text(self) -> str:
        name = self._name.text().replace("\u200b", "")
        return f"{name}: {self._meaning.text()}" if self._meaning.text() else name
