"""Which addresses are public, and which a destination may lead to."""

from __future__ import annotations

import ipaddress
from enum import IntEnum

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# Public by the registries' tables, and yet no other host: where Azure's machines find their metadata and name server,
# and the relays of 6to4.
_AZURE = ipaddress.IPv4Address("168.63.129.16")
_RELAYS = ipaddress.IPv4Network("192.88.99.0/24")
_NAT64 = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
# Deprecated forms that nothing on the Internet answers at: IPv4-compatible, site-local, and the old test network.
_DEAD = tuple(ipaddress.IPv6Network(net) for net in ("::/96", "fec0::/10", "5f00::/8", "3ffe::/16"))
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


def may_lead(host: str, address: str, reach: Reach) -> bool:
    """Return whether a destination for `host`, which was found at `address`, may be connected to there."""
    try:
        found = parsed(address)
    except ValueError:
        return False
    if is_public(found):
        return True
    if not is_own(found):
        return reach >= Reach.PRIVATE
    named = host == str(found) or (host == LOCAL_NAME and found.is_loopback)
    return reach is Reach.CONFIGURED and named and not found.is_unspecified
