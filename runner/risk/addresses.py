"""Web addresses as the programs of agents read them: by the URL standard of browsers, not by their look."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple

import ada_url

from runner.model.expression import expression

BLANKS = expression("[\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
"""What `\\s` is in JavaScript: Gemini CLI splits its prompt there."""
WEB = ("http:", "https:")
PLAIN = expression(r"(?i:https?)://(?P<host>[^/?#\\@\s]+)(?:[/?#]|\Z)")
MAYBE = expression(r"(?i)https?:|//")
USUAL = {"http:": "80", "https:": "443"}
RAW = "raw.githubusercontent.com"
"""Where Gemini CLI gets the files of github.com from."""


class Address(NamedTuple):
    """An address: as it was written, and as it is read. All but `written` are '' where it is not read."""

    written: str
    href: str = ""
    scheme: str = ""
    host: str = ""
    port: str = ""
    rest: str = ""
    """Path, query and fragment."""
    has_login: bool = False

    @property
    def is_web(self) -> bool:
        return self.scheme in WEB and bool(self.host)

    @property
    def is_plain(self) -> bool:
        """Whether it is written as it is read, so that whoever looks at it sees the host."""
        found = PLAIN.match(self.written)
        if not self.is_web or found is None or not self.written.isprintable():
            return False
        host = found["host"].lower()
        return host.removesuffix(f":{self.port or USUAL[self.scheme]}") == self.host

    @property
    def place(self) -> str:
        """The host as rules name it, with a port that is not the usual one; '' where there is none."""
        return f"{self.host}:{self.port}" if self.port and self.port != "443" else self.host.strip("[]")

    @property
    def is_here(self) -> bool:
        """Whether it is this machine itself, however it is written."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        number = ip(self.host)
        return number is not None and (number.is_loopback or number.is_unspecified)


def ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the number that a host is; None for a name. One in the dress of IPv6 is given as IPv4."""
    try:
        number = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None
    return (number.ipv4_mapped or number) if isinstance(number, ipaddress.IPv6Address) else number


def read_address(written: str) -> Address:
    """Return an address as a client reads the whole of `written`."""
    try:
        url = ada_url.URL(written)
    except ValueError:
        # UnicodeEncodeError is one.
        return Address(written)
    rest = url.pathname + url.search + url.hash
    return Address(
        written, url.href, url.protocol, url.hostname, url.port, rest, has_login=bool(url.username or url.password)
    )


def addresses_in(text: str) -> tuple[Address, ...]:
    """Return the addresses in a text for a model, which a client splits at blanks."""
    words = (word for word in BLANKS.split(text) if MAYBE.search(word))
    return tuple(map(read_address, dict.fromkeys(words)))


def hosts_of(address: Address, *, raw: bool = False) -> tuple[str, ...]:
    """Return what is asked for the address; with `raw` as Gemini CLI does for a file of GitHub."""
    more = (RAW,) if raw and address.host == "github.com" and "/blob/" in address.rest else ()
    return (address.place, *more) if address.is_web else ()
