"""Made-up DNS: every name has an address of the loopback network, and nobody is ever asked."""

from __future__ import annotations

import ipaddress
import threading

from runner.model.network import UnusableHost, canonical_host, is_address
from runner.network.addresses import LOCAL_NAME

NETWORK = ipaddress.IPv4Network("127.66.0.0/16")
MOST_NAMES = 4096
SHORTEST, LONGEST = 17, 1232
"""Bytes of a query: a header with the shortest question, and what is not cut on its way."""
_SECONDS = 5
_A, _ANY, _INTERNET = 1, 255, 1
_NO_ERROR, _FORMAT_ERROR, _FAILURE, _NO_NAME, _NOT_IMPLEMENTED = 0, 1, 2, 3, 4
_ANSWER, _RECURSION, _AVAILABLE = 0x8000, 0x0100, 0x0080
_OPCODE = 0x7800


class Names:
    """The names that one run asked for, and their addresses. May be used on any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[str, int] = {}
        self._names: list[str] = []

    def answer(self, query: bytes) -> bytes | None:
        """Return the answer to a DNS message; None for what deserves none."""
        if not SHORTEST - 5 <= len(query) <= LONGEST:
            return None
        flags = int.from_bytes(query[2:4], "big")
        if flags & _ANSWER:
            return None
        if flags & _OPCODE:
            return _reply(query, _NOT_IMPLEMENTED)
        question = _question(query)
        if question is None:
            return _reply(query, _FORMAT_ERROR)
        name, kind, family, end = question
        if family != _INTERNET:
            return _reply(query, _NO_ERROR, query[12:end])
        try:
            host = canonical_host(name)
            if is_address(host):
                raise UnusableHost("it is an address")
        except UnusableHost:
            return _reply(query, _NO_NAME, query[12:end])
        if kind not in (_A, _ANY):
            return _reply(query, _NO_ERROR, query[12:end])
        address = self.address_of(host)
        if address is None:
            return _reply(query, _FAILURE, query[12:end])
        return _reply(query, _NO_ERROR, query[12:end], address)

    def address_of(self, host: str) -> ipaddress.IPv4Address | None:
        """Return the address of a canonical name; None where there are too many names."""
        if host == LOCAL_NAME or host.endswith(f".{LOCAL_NAME}"):
            return ipaddress.IPv4Address("127.0.0.1")
        with self._lock:
            place = self._places.get(host)
            if place is None:
                if len(self._names) >= MOST_NAMES:
                    return None
                self._names.append(host)
                place = self._places[host] = len(self._names)
        return NETWORK[place]

    def name_of(self, address: str) -> str:
        """Return the name that has `address`; the address itself where none has."""
        try:
            place = int(ipaddress.IPv4Address(address)) - int(NETWORK.network_address)
        except ValueError:
            return address
        with self._lock:
            return self._names[place - 1] if 0 < place <= len(self._names) else address


def _question(query: bytes) -> tuple[str, int, int, int] | None:
    """Return name, type, class and end of the one question; None where it cannot be read."""
    if int.from_bytes(query[4:6], "big") != 1:
        return None
    labels, at, length = [], 12, 0
    while at < len(query) and query[at]:
        size = query[at]
        # Longer ones are pointers: in a first question there is nothing to point to.
        if size > 63 or at + 1 + size >= len(query) or length + size + 1 > 254:
            return None
        labels.append(query[at + 1 : at + 1 + size])
        length += size + 1
        at += 1 + size
    end = at + 5
    if not labels or end > len(query):
        return None
    # A dot within a label would be read as two labels by whoever prints it.
    if any(b"." in label for label in labels):
        return None
    name = b".".join(labels).decode("latin-1")
    return name, int.from_bytes(query[at + 1 : at + 3], "big"), int.from_bytes(query[at + 3 : at + 5], "big"), end


def _reply(query: bytes, code: int, question: bytes = b"", address: ipaddress.IPv4Address | None = None) -> bytes:
    asked = int.from_bytes(query[2:4], "big") & _RECURSION
    flags = _ANSWER | asked | _AVAILABLE | code
    counts = (1 if question else 0, 1 if address else 0, 0, 0)
    head = query[:2] + flags.to_bytes(2, "big") + b"".join(count.to_bytes(2, "big") for count in counts)
    if address is None:
        return head + question
    fields = (0xC00C, 2), (_A, 2), (_INTERNET, 2), (_SECONDS, 4), (4, 2)
    return head + question + b"".join(value.to_bytes(size, "big") for value, size in fields) + address.packed
