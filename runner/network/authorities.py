"""Certificates that the package managers of this machine trust besides those of its system."""

from __future__ import annotations

import functools
import os
import ssl
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Authorities:
    """What vouches for a registry, as pip or npm is configured."""

    files: tuple[str, ...] = ()
    """Files in PEM, or folders of them as OpenSSL names these."""
    text: str = ""
    """Certificates in PEM that stand in the configuration itself."""

    def context(self) -> ssl.SSLContext:
        """Return how connections are made. Raises OSError and ssl.SSLError for what cannot be read. Blocks."""
        # What OpenSSL reads by itself counts, too: it trusts other files where these variables change.
        by_openssl = os.environ.get("SSL_CERT_FILE", ""), os.environ.get("SSL_CERT_DIR", "")
        return _made(self, tuple(os.stat(path).st_mtime_ns for path in self.files), by_openssl)


SYSTEM_ONLY = Authorities()
"""No others than those of the system."""


@functools.lru_cache(16)
def _made(authorities: Authorities, _changed: tuple[int, ...], _by_openssl: tuple[str, str]) -> ssl.SSLContext:
    # Reading the certificates takes some 20 ms; what they depend on is in the arguments.
    context = ssl.create_default_context()
    for path in authorities.files:
        if os.path.isdir(path):
            context.load_verify_locations(capath=path)
        else:
            context.load_verify_locations(path)
    if authorities.text:
        context.load_verify_locations(cadata=authorities.text)
    context.set_alpn_protocols(["http/1.1"])
    return context
