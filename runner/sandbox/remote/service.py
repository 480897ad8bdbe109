"""The address of a service that speaks E2B's API, and what opens it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Callable

DOMAIN = "e2b.app"
PORT = 49983
"""Of what E2B runs in each sandbox."""


@dataclass(frozen=True, slots=True)
class Service:
    """A service, by its domain or by two addresses."""

    domain: str = DOMAIN
    api_url: str = ""
    """Of the control plane; '' is `https://api.` and the domain."""
    sandbox_url: str = ""
    """Of every sandbox; '' is `https://49983-`, its id, and the domain."""
    template: str = "base"
    key: str = field(default="", repr=False)
    find_key: Callable[[], str] | None = field(default=None, repr=False, compare=False)
    """Finds the key where it is not given; may take some seconds."""

    @property
    def api(self) -> str:
        return (self.api_url or f"https://api.{self.domain}").rstrip("/")

    @property
    def host(self) -> str:
        """Where code is sent, in a sentence."""
        address = urlsplit(self.sandbox_url or self.api_url)
        return address.netloc.rpartition("@")[2] or self.domain

    def sandbox(self, id: str, domain: str) -> str:
        """Return the address of a sandbox; `domain` is what the service says, '' for nothing.

        Raises KnownError for a domain that is not the person's: code would go to a host that nobody has named.
        """
        if self.sandbox_url:
            return self.sandbox_url.rstrip("/")
        domain = domain or self.domain
        if domain != self.domain and not domain.endswith(f".{self.domain}"):
            raise KnownError(
                f"The service at {self.host} wants code to be sent to {domain[:200]!a}.",
                "Set e2b.domain to that, if you mean it.",
            )
        return f"https://{PORT}-{id}.{domain}"

    def opening(self) -> str:
        """Return the key.

        Raises KnownError where this cannot be used: there is none, or the address is one over which anybody could read
        it.
        """
        key = self.key or ("" if self.find_key is None else self.find_key())
        if not key:
            raise KnownError("There is no key for E2B.", "Store one with: assent e2b-key, or set E2B_API_KEY.")
        if not key.isascii() or not key.isprintable() or " " in key:
            raise KnownError("The key for E2B has characters that no key has.", "Store it again with: assent e2b-key")
        for name, url in (("e2b.api_url", self.api), ("e2b.sandbox_url", self.sandbox_url)):
            if url and not _private(url):
                raise KnownError(
                    f"{name} is {url}: a key and code are sent by https:// alone, or to this machine.",
                    f"Correct {name} in the settings.",
                )
        return key


def _private(url: str) -> bool:
    """Return whether what is sent there can be read on the way by nobody."""
    address = urlsplit(url)
    if not address.hostname or address.username is not None or address.query or address.fragment:
        return False
    if address.scheme == "https":
        return True
    if address.scheme != "http":
        return False
    try:
        return ipaddress.ip_address(address.hostname).is_loopback
    except ValueError:
        return address.hostname == "localhost"
