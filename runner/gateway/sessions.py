"""Sessions of the handshake era: so many of each agent, of which the one unused for longest makes room."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runner.gateway.rejection import Rejected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_EACH = 50
"""Sessions of one agent. A client that is started again opens another and seldom ends the one before."""
MOST = 1000
"""Sessions of all agents: what the protocol's library refuses for everybody, so reached by 20 agents together."""


class Sessions:
    """The ids of the open sessions by agent, the one unused for longest first. Unknown ids are no business of this."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, None]] = {}
        self._in_use: Counter[str] = Counter()
        self._answering: dict[tuple[str, str, str], Callable[[], bool]] = {}
        """Agent, session and id of a request -> whether it is answered by now."""
        self._opening: Counter[str] = Counter()
        """Sessions that are being opened, by agent: they count already, however many are opened at once."""

    def superfluous(self, agent: str) -> str:
        """Return the session to end before `agent` opens the one that it is `at_work` with; '' where there is room.

        Raises Rejected where all of them are in use.
        """
        mine = self._open.get(agent, {})
        if len(mine) + self._opening[agent] <= MOST_EACH:
            return ""
        for session in mine:
            if not self._in_use[session]:
                return session
        raise Rejected(429, f"{MOST_EACH} sessions of yours are in use. End one, then connect again.", agent)

    def opened(self, agent: str, session: str) -> None:
        self._open.setdefault(agent, {})[session] = None

    def ended(self, agent: str, session: str) -> None:
        self._open.get(agent, {}).pop(session, None)

    def of_another(self, agent: str, session: str) -> bool:
        """Return whether `session` is open and not of `agent`."""
        return any(session in ids for owner, ids in self._open.items() if owner != agent)

    @contextmanager
    def at_work(self, agent: str, session: str, *, opens: bool) -> Iterator[None]:
        """Keep `session` from making room while one of its messages is answered, or count one that it `opens`."""
        if session:
            with self._used(agent, session):
                yield
        elif opens:
            self._opening[agent] += 1
            try:
                yield
            finally:
                self._opening[agent] -= 1
        else:
            yield

    @contextmanager
    def answering(
        self, agent: str, session: str, request_id: str | int | None, answered: Callable[[], bool]
    ) -> Iterator[None]:
        """Keep a second request of a session from having the id of one that is not answered yet. Raises Rejected.

        The protocol's library would answer the second in place of the first, which would then wait for ever. To it 1
        and "1" are the same.
        """
        key = None if request_id is None or not session else (agent, session, str(request_id))
        if key is None:
            yield
            return
        if (before := self._answering.get(key)) is not None and not before():
            text = "A request of this session with the same id is being answered already. Give each an id of its own."
            raise Rejected(400, text, agent, request_id=request_id)
        self._answering[key] = answered
        try:
            yield
        finally:
            if self._answering[key] is answered:
                del self._answering[key]

    @contextmanager
    def _used(self, agent: str, session: str) -> Iterator[None]:
        self._in_use[session] += 1
        try:
            yield
        finally:
            self._in_use[session] -= 1
            if not self._in_use[session]:
                del self._in_use[session]
            mine = self._open.get(agent, {})
            if session in mine:
                # To the end: it was used last.
                mine[session] = mine.pop(session)
