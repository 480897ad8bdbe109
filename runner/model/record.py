"""What the parts around a request may write and say: implemented by `engine/recorder.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.model.events import Event


class Record(Protocol):
    """The ledger of the moment, the listeners, and the troubles that stand. Every call on the engine's loop."""

    @property
    def ledger(self) -> int:
        """Number of the ledger that is open; raised each time one is opened."""
        ...

    async def append(self, kind: str, request_id: str, body: Mapping[str, object]) -> None:
        """Write one entry; durable when this returns. Raises LedgerFailed, and reports that as trouble."""
        ...

    async def note(self, kind: str, request_id: str, body: Mapping[str, object] | None = None) -> None:
        """Write an entry on which nothing depends: a failure is reported as trouble, never raised."""
        ...

    def publish(self, event: Event) -> None:
        """Hand `event` to every listener."""
        ...

    def trouble(self, area: str, what: str, remedy: str) -> None:
        """Report that something does not work; published once, until it changes or is cleared."""
        ...

    def clear(self, area: str) -> None:
        """Report that `area` works again."""
        ...
