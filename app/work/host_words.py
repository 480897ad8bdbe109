"""The person's answers on the refused hosts of programs at work, and how the engine took them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app import phrases
from app.host_access.dialog import AllowDialog
from app.host_access.hosts import ASKING, INSIDE, UNSAID, HostWord
from app.link.page_tasks import PageTasks
from app.network import words as network_words
from app.work import words
from runner.approval.deliberate import ApproveBy
from runner.approval.private_addresses import PrivateAddress
from runner.model.errors import KnownError
from runner.model.translation import tr, translated

if TYPE_CHECKING:
    from asyncio import Future

    from PySide6.QtWidgets import QWidget

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from runner.model.network import Contact
    from runner.model.work import WorkSession

LEAVES = tr("Whatever the program has read may leave by this host. It is recorded as your decision.")
_MOST = 2000


class WorkHosts(QObject):
    """Belongs to the page. Nothing here is decided without a press of a person."""

    changed = Signal()

    def __init__(self, bridge: EngineLink, look: Look, page: QWidget) -> None:
        super().__init__(page)
        self._bridge = bridge
        self._look = look
        self._page = page
        self._tasks = PageTasks("hosts of work", self)
        self._said: dict[tuple[str, str, int], HostWord] = {}

    def said(self, session: WorkSession, contact: Contact) -> HostWord:
        """Return what was said about a host of a program."""
        return self._said.get((session.name, contact.host, contact.port), UNSAID)

    def allow(self, session: WorkSession, contact: Contact, *, always: bool) -> None:
        """Let a program reach a host; asks first where that is for later sessions too, or into the own network."""
        by = self._bridge.decisions.approve_by()
        if always or contact.private or by in (ApproveBy.WORD, ApproveBy.PIN):
            self._ask(session, contact, contact.private, always=always)
        else:
            self._open(session, contact, "", "", always=always)

    def _ask(self, session: WorkSession, contact: Contact, private: str, *, always: bool) -> None:
        place = network_words.place(contact)
        covers = (
            tr(
                "Programs that you start with assent work in {project} may reach {place}, and no "
                "other name or port, now and in later sessions, until you take that back under "
                "Allowed hosts.",
                project=words.home_path(session.project),
                place=place,
            )
            if always
            else tr("This program may reach {place}, and no other name or port, until it ends.", place=place)
        )
        lines = [(covers, "")]
        if private:
            lines.append((f"{place} {translated(INSIDE, address=phrases.visible(private))}", "warn"))
        lines.append((LEAVES, "muted"))
        title = tr("Allow {place} for this {rest}?", place=place, rest=tr("project") if always else tr("session"))
        AllowDialog(
            self._page,
            self._look,
            self._bridge.decisions.approve_by(),
            title,
            lines,
            tr("Allow {private}", private=phrases.visible(private)) if private else tr("Allow"),
            lambda _end, pin: self._open(session, contact, private, pin, always=always),
        ).open()

    def _open(self, session: WorkSession, contact: Contact, private: str, pin: str, *, always: bool) -> None:
        self._say(session, contact, HostWord(ASKING, "muted"))
        place = (contact.host, contact.port)
        answer = self._bridge.work.open_host(session.name, *place, always=always, private=private, pin=pin)
        self._tasks.start("open", self._opened(session, contact, answer, always=always))

    async def _opened(self, session: WorkSession, contact: Contact, answer: Future[None], *, always: bool) -> None:
        try:
            await answer
        except PrivateAddress as inside:
            self._say(session, contact, UNSAID)
            self._ask(session, contact, inside.address, always=always)
        except KnownError as error:
            self._say(
                session,
                contact,
                HostWord(tr("not allowed: {error}", error=phrases.visible(str(error))), "high", open=True),
            )
        else:
            self._say(
                session,
                contact,
                HostWord(tr("allowed for this {rest}", rest=tr("project") if always else tr("session")), "low"),
            )

    def _say(self, session: WorkSession, contact: Contact, said: HostWord) -> None:
        key = (session.name, contact.host, contact.port)
        self._said.pop(key, None)
        if said is not UNSAID:
            self._said[key] = said
        while len(self._said) > _MOST:
            del self._said[next(iter(self._said))]
        self.changed.emit()
