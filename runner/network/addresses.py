"""Classes of addresses: which are public, and which of them a destination may lead to."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# Public by the registries' tables, and yet no other host: where Azure's machines find their metadata and name server,
# and the relays of 6to4.
_AZURE = ipaddress.IPv4Address("168.63.129.16")
_RELAYS = ipaddress.IPv4Network("192.88.99.0/24")
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
# Deprecated forms that nothing on the Internet answers at: IPv4-compatible, site-local, and the old test network.
_DEAD = tuple(ipaddress.IPv6Network(net) for net in ("::/96", "fec0::/10", "5f00::/8", "3ffe::/16"))
_NOBODYS = {socket.AF_INET: "240.0.0.1", socket.AF_INET6: "100::1"}
"""Addresses that no interface has: reserved (RFC 1112), and for discarding (RFC 6666)."""
LOCAL_NAME = "localhost"


class Reach(IntEnum):
    """How far the addresses of a destination may lie from the Internet."""

    PUBLIC = 0
    PRIVATE = 1
    """Into private networks too, by a person's word; never to this machine or its link."""
    CONFIGURED = 2
    """Likewise, and to this machine where the destination itself says so: for what this machine is configured with."""


def parsed(address: str) -> IPAddress:
    """Return `address` without its scope. Raises ValueError."""
    return ipaddress.ip_address(address.partition("%")[0])


def embedded(address: IPAddress) -> list[IPAddress]:
    """Return `address` and the IPv4 addresses that it carries: mapped, 6to4, Teredo and NAT64."""
    found: list[IPAddress] = [address]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            # The mapped form is the IPv4 address itself; as an IPv6 address it is none that could be public.
            return [address.ipv4_mapped]
        if address.sixtofour:
            found.append(address.sixtofour)
        if address.teredo:
            found += address.teredo
        if any(address in network for network in _NAT64):
            found.append(ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF))
    return found


def is_public(address: IPAddress) -> bool:
    """Return whether `address`, and each that it carries, is one of the Internet's."""
    return all(_is_public(one) for one in embedded(address))


def _is_public(address: IPAddress) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        # What NAT64 carries is looked at by itself; the prefix for local use counts as private in the tables.
        if any(address in network for network in _NAT64):
            return True
        if any(address in network for network in _DEAD):
            return False
    elif address == _AZURE or address in _RELAYS:
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def is_own(address: IPAddress) -> bool:
    """Return whether `address` is this machine's, of its link (metadata services too), or nobody's."""
    return any(
        one.is_loopback or one.is_link_local or one.is_unspecified or one.is_multicast or one == _AZURE
        for one in embedded(address)
    )


def listed(addresses: Iterable[str]) -> str:
    """Return addresses as one text, for a person and for `members`."""
    return ", ".join(sorted(set(addresses)))


def members(text: str) -> frozenset[str]:
    """Return the addresses that `listed` put into a text."""
    return frozenset(filter(None, text.split(", ")))


def is_assigned_here(address: IPAddress) -> bool:
    """Return whether `address` is one of this machine's own interfaces, at which its services answer too.

    Asks the operating system and sends nothing.
    """
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((str(address), 9))
        if probe.getsockname()[0] == str(address):
            return True
    # The second address of an interface is not where connections to it come from, but it can be bound to. That says
    # nothing where the machine may bind to everything (ip_nonlocal_bind).
    return _can_bind(family, str(address)) and not _can_bind(family, _NOBODYS[family])


def _can_bind(family: int, address: str) -> bool:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def may_lead(host: str, address: str, reach: Reach, inside: Collection[str] = ()) -> bool:
    """Return whether a destination for `host`, which was found at `address`, may be connected to there.

    `inside` are the private addresses that a person allowed: a word about one is none about another.
    """
    try:
        found = parsed(address)
    except ValueError:
        return False
    if not is_own(found) and any(map(is_assigned_here, embedded(found))):
        return reach is Reach.CONFIGURED
    if is_public(found):
        return True
    if not is_own(found):
        return reach >= Reach.PRIVATE and (not inside or address in inside)
    named = host == str(found) or (host == LOCAL_NAME and found.is_loopback)
    return reach is Reach.CONFIGURED and named and not found.is_unspecified
