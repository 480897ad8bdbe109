"""Hosts that code may reach, and those that it tried to reach (spec N1 to N3)."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from runner.model.expression import expression

HTTPS_PORT = 443
LONGEST_HOST = 253
"""Characters of a host name, as DNS bounds it (RFC 1035)."""
NOT_LISTED = "is not allowed for this sandbox"
"""Why a host is refused that no rule names."""
_LABEL = expression(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_PORT = expression(r"[0-9]{1,5}")
_WILDCARD = "*."


class UnusableHost(ValueError):
    """A text that names no host, or that two programs might read as two different hosts. Its text is the reason."""


def canonical_host(text: str) -> str:
    """Return a host name in lower case without its final dot, or an IP address in its usual form.

    Raises UnusableHost for everything that another parser might read as another host: characters besides letters,
    digits, `-`, `_` and dots (a NUL, `%00`), and numbers that `getaddrinfo` takes for an address (`2130706433`,
    `0x7f.1`, `127.1`).
    """
    host = text.lower().removesuffix(".")
    if "%" in host:
        # A zone of this machine's links, which `ip_address` takes as a part of an address.
        raise UnusableHost("it is not a host name")
    bracketed = host.startswith("[") and host.endswith("]")
    try:
        return str(ipaddress.ip_address(host[1:-1] if bracketed else host))
    except ValueError:
        pass
    labels = host.split(".")
    if len(host) > LONGEST_HOST or not all(_LABEL.fullmatch(label) for label in labels):
        raise UnusableHost("it is not a host name")
    if labels[-1].isdigit() or labels[-1].startswith("0x"):
        raise UnusableHost("it is a number and not a host name")
    return host


def is_address(host: str) -> bool:
    """Return whether a canonical host is an IP address."""
    return ":" in host or host.rpartition(".")[2].isdigit()


@dataclass(frozen=True, slots=True, order=True)
class Destination:
    """A host and a port that may be reached. `host` is canonical; `*.name` stands for every name below `name`."""

    host: str
    port: int = HTTPS_PORT

    @classmethod
    def parse(cls, text: str) -> Destination:
        """Return the destination that `name`, `name:port` or `*.name` stands for. Raises UnusableHost."""
        host, colon, number = text.strip().rpartition(":")
        if not colon or text.endswith("]") or ("[" not in text and text.count(":") > 1):
            host, number = text.strip(), str(HTTPS_PORT)
        if not _PORT.fullmatch(number) or not 0 < int(number) < 65_536:
            raise UnusableHost("its port is not a number from 1 to 65535")
        if not host.startswith(_WILDCARD):
            return cls(canonical_host(host), int(number))
        below = canonical_host(host.removeprefix(_WILDCARD))
        if is_address(below) or "." not in below:
            raise UnusableHost("a wildcard needs a name of at least two parts, such as *.example.com")
        return cls(_WILDCARD + below, int(number))

    @property
    def is_wildcard(self) -> bool:
        return self.host.startswith(_WILDCARD)

    def fits(self, host: str, port: int) -> bool:
        """Return whether the canonical `host` at `port` is meant; a wildcard does not mean its own name."""
        if port != self.port:
            return False
        return host.endswith(self.host[1:]) if self.is_wildcard else host == self.host

    @property
    def with_port(self) -> str:
        """Host and port, also where the port is that of HTTPS."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def __str__(self) -> str:
        return self.with_port.removesuffix(f":{HTTPS_PORT}") if self.port == HTTPS_PORT else self.with_port


@dataclass(frozen=True, slots=True)
class Contact:
    """All connections of a run to one host and port with the same outcome."""

    host: str
    """As the code named it, canonical; what it sent in place of a name where that was none, cut and printable."""
    port: int
    allowed: bool | None
    """None where it was allowed and still could not be reached, or was ended before its time."""
    why: str = ""
    """Why it was refused or could not be reached, as the end of a sentence that begins with the host."""
    times: int = 1
    sent: int = 0
    """Bytes from the code to the host."""
    received: int = 0
    private: str = ""
    """The private address that the host leads to, where that is all that is refused."""

    @property
    def name(self) -> str:
        """Host and port in words; the port only where it is not that of HTTPS, or where there is none."""
        return str(Destination(self.host, self.port)) if self.port else self.host

    @property
    def can_be_allowed(self) -> bool:
        """Whether a person's word lets the next connection through: its host and port are all that is refused."""
        return self.allowed is False and (self.why == NOT_LISTED or bool(self.private))
