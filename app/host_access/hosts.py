"""The person's answers on the refused hosts of each run, and how the engine took them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app import phrases
from app.host_access.dialog import AllowDialog
from app.link.page_tasks import PageTasks
from app.network import words
from runner.approval.deliberate import ApproveBy
from runner.approval.private_addresses import PrivateAddress
from runner.model.errors import KnownError
from runner.model.translation import to_translate, tr, translated

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from app.link.bridge import EngineLink
    from app.look.look import Look
    from app.state.cards import Card
    from runner.model.network import Contact
    from runner.policy.grants import Grant

ASKING = tr("Asking\N{HORIZONTAL ELLIPSIS}")
FOR_RUN = tr("allowed for this run")
ALWAYS = tr("allowed for this agent")
INSIDE = to_translate(
    "leads to {address}, an address inside your own network. Allow it only if you know what answers there."
)
LEAVES = tr("Whatever the code has read may leave by this host. It is recorded as your decision.")
_MOST = 2000
"""Words of this start that are remembered; the oldest go first."""

_Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class HostWord:
    """What has become of a person's word about one host of one run."""

    words: str
    ink: str
    open: bool = False
    """Whether it can be said again: it was refused, or was not said at all."""


UNSAID = HostWord("", "muted", open=True)


class HostDecisions(QObject):
    """Belongs to the page that shows the run. Nothing here is decided without a press of a person."""

    changed = Signal()

    def __init__(self, bridge: EngineLink, look: Look, page: QWidget) -> None:
        super().__init__(page)
        self._bridge = bridge
        self._look = look
        self._page = page
        self._tasks = PageTasks("hosts", self)
        self._said: dict[_Key, HostWord] = {}

    def said(self, card: Card, contact: Contact) -> HostWord:
        """Return what was said about a host of a run."""
        return self._said.get((card.id, contact.host, contact.port), UNSAID)

    # ---- for this run ----

    def allow(self, card: Card, contact: Contact) -> None:
        """Let the run reach a refused host; asks again where the host leads into the own network."""
        if contact.private:
            self._ask_private(card, contact, contact.private)
        elif self._bridge.decisions.approve_by() in (ApproveBy.WORD, ApproveBy.PIN):
            title = tr("Allow {place} for this run?", place=words.place(contact))
            self._open(title, ((LEAVES, ""),), tr("Allow"), lambda _end, pin: self._allow(card, contact, pin=pin))
        else:
            self._allow(card, contact)

    def _allow(self, card: Card, contact: Contact, private: str = "", pin: str = "") -> None:
        self._say(card, contact, HostWord(ASKING, "muted"))
        answer = self._bridge.runs.allow_host(card.id, contact.host, contact.port, private=private, pin=pin)
        self._tasks.start("allow", self._allowed(card, contact, answer))

    async def _allowed(self, card: Card, contact: Contact, answer: Future[str]) -> None:
        try:
            why = await answer
        except PrivateAddress as inside:
            self._say(card, contact, UNSAID)
            self._ask_private(card, contact, inside.address)
        except KnownError as error:
            self._say(card, contact, _refused(str(error)))
        else:
            self._say(card, contact, _refused(why) if why else HostWord(FOR_RUN, "low"))

    def _ask_private(self, card: Card, contact: Contact, address: str) -> None:
        place = words.place(contact)
        lines = ((f"{place} {translated(INSIDE, address=phrases.visible(address))}", "warn"), (LEAVES, ""))
        yes = tr("Allow {address} for this run", address=phrases.visible(address))
        title = tr("Allow {place} for this run?", place=place)
        self._open(title, lines, yes, lambda _end, pin: self._allow(card, contact, private=address, pin=pin))

    # ---- for its agent ----

    def always(self, card: Card, contact: Contact, private: str = "") -> None:
        """Ask for how long the agent of a run may reach a refused host."""
        private = private or contact.private
        place, agent = words.place(contact), phrases.visible(card.request.agent)
        inside = ((f"{place} {translated(INSIDE, address=phrases.visible(private))}", "warn"),) if private else ()
        covers = tr(
            "Every networked run of {agent} may reach {place}, and no other name or port, until "
            "it ends or you revoke it under Rules. Each run is still asked about.",
            agent=agent,
            place=place,
        )
        self._open(
            tr("Always allow {place} for {agent}?", place=place, agent=agent),
            ((covers, ""), *inside, (LEAVES, "muted")),
            tr("Allow"),
            lambda end, pin: self._always(card, contact, end, private=private, pin=pin),
            ends=True,
        )

    def _always(self, card: Card, contact: Contact, seconds: float, *, private: str, pin: str) -> None:
        self._say(card, contact, HostWord(ASKING, "muted"))
        place = (contact.host, contact.port)
        answer = self._bridge.runs.always_allow_host(card.id, *place, seconds, private=private, pin=pin)
        self._tasks.start("always", self._granted(card, contact, answer))

    async def _granted(self, card: Card, contact: Contact, answer: Future[Grant]) -> None:
        try:
            grant = await answer
        except PrivateAddress as inside:
            self._say(card, contact, UNSAID)
            self.always(card, contact, inside.address)
        except KnownError as error:
            self._say(card, contact, _refused(str(error)))
        else:
            until = tr(" until {when}", when=phrases.when(grant.expires_at)) if grant.expires_at else ""
            self._say(card, contact, HostWord(f"{ALWAYS}{until}", "low"))

    # ---- both ----

    def _open(
        self,
        title: str,
        lines: tuple[tuple[str, str], ...],
        yes: str,
        allowed: Callable[[float, str], None],
        *,
        ends: bool = False,
    ) -> None:
        by = self._bridge.decisions.approve_by()
        AllowDialog(self._page, self._look, by, title, lines, yes, allowed, ends).open()

    def _say(self, card: Card, contact: Contact, said: HostWord) -> None:
        key = (card.id, contact.host, contact.port)
        self._said.pop(key, None)
        if said is not UNSAID:
            self._said[key] = said
        while len(self._said) > _MOST:
            del self._said[next(iter(self._said))]
        self.changed.emit()


def _refused(why: str) -> HostWord:
    return HostWord(phrases.visible(why), "high", open=True)
