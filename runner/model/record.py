"""The protocol by which other packages write entries and publish events; `engine/recorder.py` implements it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.events import Event


class Record(Protocol):
    """The open ledger, the listeners and the present troubles. Every method is called on the engine's loop."""

    @property
    def ledger(self) -> int:
        """Number of the ledger that is open; raised each time one is opened."""
        ...

    async def append(self, kind: str, request_id: str, body: Mapping[str, object], *, can_wait: bool = False) -> None:
        """Write one entry; durable when this returns. Raises LedgerFailed, and reports that as trouble.

        One that `can_wait` is written together with the next one that cannot, or a moment later.
        """
        ...

    async def note(self, kind: str, request_id: str, body: Mapping[str, object] | None = None) -> None:
        """Write an entry that nothing depends on: a failure is reported as trouble, never raised."""
        ...

    async def keep_noting(self, kind: str, request_id: str, body: Mapping[str, object]) -> None:
        """Write an entry that must not be lost: retried until it is written or the ledger is closed."""
        ...

    def publish(self, event: Event) -> None:
        """Call every listener with `event`."""
        ...

    def trouble(self, area: str, what: str, remedy: str) -> None:
        """Report that something does not work; published once, until it changes or is cleared."""
        ...

    def clear(self, area: str) -> None:
        """Report that `area` works again."""
        ...
