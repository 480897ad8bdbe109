"""Opens one part of the engine at a time; what keeps a part from opening is reported and never raised."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.audit.ledger.tables import LedgerDamaged
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.engine.foundation.bulletin import Bulletin

OPENING = {
    "ledger": "opening the history",
    "sandbox": "finding a sandbox",
    "secrets": "finding the key that signs the history",
    "gateway": "opening the port for agents",
}
MOVED = (
    "Those that assent connect has set up find it by themselves. One that is configured with HTTP and that number "
    "sends its token to the other program: revoke it, or give it the new address. The usual port is tried again at "
    "the next start; another one can be chosen in Settings."
)
"""What follows from another port than the usual one."""
SEE_FAULTS = "The fault log has more. Repair the installation, then start Assent again."


class Opener:
    """Reports for each area whether it could be opened."""

    def __init__(self, bulletin: Bulletin) -> None:
        self._bulletin = bulletin
        self._logged: dict[str, str] = {}
        """For each area that fails, its last error: it is tried again every few seconds, and logged once."""

    async def open(self, area: str, opened: Callable[[], Awaitable[None]]) -> bool:
        """Await `opened()` and return whether it worked; otherwise its error is the trouble of `area`."""
        try:
            await opened()
        except KnownError as error:
            self._bulletin.trouble(area, error.what, error.remedy, damaged=isinstance(error, LedgerDamaged))
        except Exception as error:
            # A bug or a broken installation: the other parts must open all the same, and the person has to see it.
            words = fault_words(error)
            self._bulletin.trouble(area, f"Assent itself failed at {OPENING[area]}: {words}", SEE_FAULTS)
            if self._logged.get(area) == words:
                return False
            self._logged[area] = words
            fault = {"message": f"while opening the {area}", "exception": error}
            asyncio.get_running_loop().call_exception_handler(fault)
        else:
            self._logged.pop(area, None)
            self._bulletin.clear(area)
            return True
        return False


def fault_words(error: BaseException) -> str:
    """Return a sentence that describes an unexpected error."""
    return f"{type(error).__name__}: {error}".rstrip(".: ") + "."
