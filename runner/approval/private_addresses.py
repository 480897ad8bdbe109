"""Addresses inside the own network that a host leads to: a person allows them by a word of its own (spec N3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.network.addresses import Reach, listed, may_lead

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from runner.model.network import Destination


class PrivateAddress(KnownError):
    """A host leads to an address inside the own network, which a person has to allow by a word of its own."""

    def __init__(self, destination: Destination, address: str) -> None:
        what = f"{destination} leads to {address}, an address inside your own network."
        super().__init__(what, "Allow it only if you know what answers there.")
        self.address = address


async def private_addresses(
    look_up: Callable[[str, int], Awaitable[Sequence[str]]], destination: Destination, *, private: str
) -> str:
    """Return the private addresses that a host leads to and may; '' where none is known.

    Raises PrivateAddress where they are not those that the person was shown (`private`), and KnownError for what
    no word opens.
    """
    host = destination.host
    try:
        found = await look_up(host, destination.port)
    except (OSError, UnicodeError):
        return ""  # whatever it leads to later, the gate connects to public addresses only
    if never := next((one for one in found if not may_lead(host, one, Reach.PRIVATE)), ""):
        what = f"{destination} leads to {never}: this machine, or what is connected to it directly."
        raise KnownError(what, "No program is let there.")
    inside = listed(one for one in found if not may_lead(host, one, Reach.PUBLIC))
    if inside and inside != private:
        raise PrivateAddress(destination, inside)
    return inside
