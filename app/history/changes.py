"""The changes of the history: who changed settings, agents, grants, the mode or the PIN, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QStackedWidget, QVBoxLayout, QWidget

from app import phrases
from app.history.work_words import work_words
from app.link.background import Errands
from app.parts.empty import EmptyState
from app.parts.narrowed import NarrowedRows
from app.parts.text.lines import Summary, list_view
from app.state.allowances import allowed
from runner.approval.modes import Mode
from runner.audit.history.changes import MOST, read_changes
from runner.model import engine_texts
from runner.model.errors import KnownError
from runner.model.request import Isolation
from runner.model.translation import numeral, to_translate, tr, translated
from runner.system.clock import LAST_TIME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from app.look.look import Look
    from runner.audit.history.changes import RecordedChange

YOU, AGENT, ASSENT, COMMAND = tr("by a person"), tr("by the agent"), tr("by Assent"), tr("by a command")
_DOT = " \N{MIDDLE DOT} "
_PIN = {
    "pin-set": to_translate("PIN set"),
    "pin-changed": to_translate("PIN changed"),
    "pin-removed": to_translate("PIN removed"),
}
_AGENT = {
    "agent-added": to_translate("Agent {name} added"),
    "agent-revoked": to_translate("Agent {name} revoked"),
    "agent-paused": to_translate("Agent {name} paused"),
    "agent-resumed": to_translate("Agent {name} resumed"),
    "agent-changed": to_translate("Agent {name} changed"),
}
LONGEST = 300
"""Characters of one value in a row."""


def change_line(change: RecordedChange) -> Summary:
    """Return one change in a row: what changed, when, and who did that."""
    what, who, ink = _words(change.kind, change.body)
    return Summary(what, phrases.when(change.at), who, ink)


def _words(kind: str, body: dict[str, Any]) -> tuple[str, str, str]:
    """Return what changed, who did that, and the ink for that."""
    if kind.startswith("agent-"):
        return _of_agent(kind, body)

    def said(name: str) -> str:
        return phrases.visible(str(body.get(name, ""))[:LONGEST])

    if kind.startswith("work-"):
        what, by_person = work_words(kind, body, said)
        return phrases.visible(what), YOU if by_person else ASSENT, "muted"
    match kind:
        case "pin-set" | "pin-changed" | "pin-removed":
            return translated(_PIN[kind]), YOU, "muted"
        case "pin-refused":
            return tr("Wrong PIN, {said} in a row", said=said("wrong")), tr("refused"), "high"
        case "grant-made":
            return (
                tr(
                    "Remembered for {said}: {said_2}",
                    said=said("agent") or tr("every agent"),
                    said_2=said("title") or said("pattern"),
                ),
                YOU,
                "muted",
            )
        case "grant-revoked":
            return _DOT.join(filter(None, (tr("No longer remembered"), said("grant"), _why(said)))), YOU, "muted"
        case "settings-changed":
            names = body.get("settings")
            changed = ", ".join(map(str, names)) if isinstance(names, list) else ""
            return (
                tr("Settings changed: {changed}", changed=phrases.visible(changed[:LONGEST])),
                tr("in the settings file"),
                "muted",
            )
        case "mode":
            whose = tr(" for {said}", said=said("agent")) if body.get("agent") else ""
            return (
                _DOT.join(filter(None, (tr("Mode: {mode}{whose}", mode=_mode(said("mode")), whose=whose), _why(said)))),
                (ASSENT if body.get("why") else YOU),
                "muted",
            )
        case "away":
            return (
                (tr("Away: requests wait") if body.get("away") else tr("Back: requests expire as always")),
                YOU,
                "muted",
            )
        case "isolation":
            return _sandbox_words(body, said)
        case _:
            return _of_history(kind, body, said)


def _of_history(kind: str, body: dict[str, Any], said: Callable[[str], str]) -> tuple[str, str, str]:
    """Return the same for what was done to the history itself."""
    if kind == "removed":
        rule = body.get("rule")
        by_settings = isinstance(rule, dict) and rule.get("by") == "setting"
        who = tr("in the settings") if by_settings else YOU
        return tr("Content removed from {said} requests", said=said("requests_removed")), who, "muted"
    words = tr("A new history was begun") if kind == "renewed" else tr("The history was opened again")
    return _DOT.join(filter(None, (words, said("why")))), ASSENT, "muted"


def _of_agent(kind: str, body: dict[str, Any]) -> tuple[str, str, str]:
    """Return what became of an agent, who did that, and the ink for that."""
    what, who, ink = _of_agent_here(kind, body)
    if body.get("by") != "command":
        return what, who, ink
    at = body.get("made")
    if not isinstance(at, int | float) or not 0 < at <= LAST_TIME:
        return what, COMMAND, ink
    # Perhaps long before it was recorded: no console was open.
    return _DOT.join((what, tr("made {when}", when=phrases.when(at)))), COMMAND, ink


def _of_agent_here(kind: str, body: dict[str, Any]) -> tuple[str, str, str]:
    name, new = (phrases.visible(str(body.get(key, ""))[:LONGEST]) for key in ("agent", "to"))
    match kind:
        case "agent-seen":
            return (
                _DOT.join((tr("First call of {name} since Assent was started", name=name), *_allowed(body))),
                AGENT,
                "muted",
            )
        case "agent-renamed":
            return tr("Agent {name} renamed to {new}", name=name, new=new), YOU, "muted"
        case _:
            return (
                _DOT.join(
                    (
                        translated(_AGENT.get(kind, _AGENT["agent-changed"]), name=name),
                        *_allowed(body),
                    )
                ),
                YOU,
                "muted",
            )


def _allowed(body: dict[str, Any]) -> tuple[str, ...]:
    """Return what an entry says was set for an agent, in words."""
    now = body.get("now")
    return tuple(allowed(name, value)[:LONGEST] for name, value in now.items()) if isinstance(now, dict) else ()


def _sandbox_words(body: dict[str, Any], said: Callable[[str], str]) -> tuple[str, str, str]:
    if "accepted" in body:
        return tr("Weaker sandbox accepted: {said}", said=_isolation(said("accepted"))), YOU, "muted"
    sandbox = _isolation(said("isolation") or said("not_accepted"))
    return (
        _DOT.join(filter(None, (tr("Sandbox for new runs: {sandbox}", sandbox=sandbox), _why(said)))),
        ASSENT,
        "muted",
    )


def _isolation(value: str) -> str:
    """Return the kind of a sandbox in words; as it was recorded where this version does not know it."""
    return next((phrases.isolation(one) for one in Isolation if one == value), value) or tr("none")


def _mode(value: str) -> str:
    return next((translated(one.value) for one in Mode if one == value), value)


def _why(said: Callable[[str], str]) -> str:
    """Return the reason that an entry has, in the language of the window where that knows it."""
    return engine_texts.in_words(said("why"))


class ChangesList(QFrame):
    """Reads the ledger on a thread of its own whenever it is shown or asked to."""

    read = Signal()
    """The changes have come in."""

    def __init__(self, path: Path, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._errands = Errands("changes", self)
        self.setProperty("card", True)
        self.model = NarrowedRows(self)
        self.view = list_view(look, self.model, tr("Changes"))
        self.view.setToolTip(tr("The newest {most} changes", most=numeral(MOST)))
        self.nothing = EmptyState(
            look, "history", tr("Nothing found"), tr("Settings, agents, grants and the PIN are listed.")
        )
        self.failure = EmptyState(look, "circle-alert", tr("The changes cannot be read"), "")
        self._pages = QStackedWidget()
        for page in (self.nothing, self.failure, self.view):
            self._pages.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, look.px(4), 1, look.px(4))
        column.addWidget(self._pages)
        self.destroyed.connect(self._errands.close)

    def refresh(self) -> None:
        """Read the changes again."""
        path = self._path
        self._errands.send(lambda: read_changes(path), self._take, self._failed)

    @Slot(str)
    def narrow(self, text: str) -> None:
        """List what holds every word of `text`."""
        self.model.narrow(text)
        self._show()

    def _take(self, changes: tuple[RecordedChange, ...]) -> None:
        self.model.take(map(change_line, changes))
        self._show()
        self.read.emit()

    def _show(self) -> None:
        if not self.model.rowCount():
            self._pages.setCurrentWidget(self.nothing)
            return
        self._pages.setCurrentWidget(self.view)
        self.view.setCurrentIndex(self.model.index(0, 0))

    def _failed(self, error: Exception) -> None:
        words = f"{error.what} {error.remedy}".strip() if isinstance(error, KnownError) else str(error)
        self.failure.say(tr("The changes cannot be read"), words)
        self._pages.setCurrentWidget(self.failure)
