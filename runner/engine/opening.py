"""Opens one part of the engine, and reports why it does not work."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.model.record import Record

OPENING = {
    "ledger": "opening the history",
    "sandbox": "finding a sandbox",
    "secrets": "finding the key that signs the history",
    "gateway": "opening the port for agents",
}
SEE_FAULTS = "The fault log has more. Repair the installation, then start Assent again."


async def attempt(record: Record, area: str, work: Callable[[], Awaitable[None]]) -> None:
    """Do `work`; report its failure as the trouble of `area`, else clear that. Never raises but for a cancellation."""
    try:
        await work()
    except KnownError as error:
        record.trouble(area, error.what, error.remedy)
    except Exception as error:
        # A bug or a broken installation: the other parts must open all the same, and the person has to see it.
        record.trouble(area, f"Assent itself failed at {OPENING[area]}: {fault_words(error)}", SEE_FAULTS)
        fault = {"message": f"while opening the {area}", "exception": error}
        asyncio.get_running_loop().call_exception_handler(fault)
    else:
        record.clear(area)


def fault_words(error: BaseException) -> str:
    """Return a sentence that describes an unexpected error."""
    return f"{type(error).__name__}: {error}".rstrip(".: ") + "."
