"""The surroundings of a run with a network: variables that name the proxy, and certificates of this machine."""

from __future__ import annotations

import asyncio
import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.model.request import NetworkMode
from runner.network.loop import NetworkLoop

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.network.gate import Gate
    from runner.sandbox.contract import Job

PROXY_PORT = 3128
NAME_PORT = 53
WEB_PORTS = (80, 443)
PROTECTION = "network only through the gate, to approved hosts"
NO_PROXY = "localhost,127.0.0.1,::1"
MOST_PORTS = 30
"""Besides those of the web. By the proxy every allowed port can be reached."""
_PROXY = f"http://127.0.0.1:{PROXY_PORT}"
_VARIABLES = {
    "HTTP_PROXY": _PROXY,
    "HTTPS_PROXY": _PROXY,
    "NO_PROXY": NO_PROXY,
    # With no retry at all pip does not say why it has found nothing.
    "PIP_RETRIES": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    # From Node.js 22.21 and 24 on; earlier ones do not know it and come by the second door.
    "NODE_USE_ENV_PROXY": "1",
}
_CERTIFICATE_VARIABLES = (
    "SSL_CERT_FILE",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "NODE_EXTRA_CA_CERTS",
    "GIT_SSL_CAINFO",
)
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
"""Where Linux distributions have it."""
WITHOUT = "Run the code without network."
MOST_CERTIFICATES = 4 << 20
"""Bytes of a bundle; usual ones have 200 kB."""


def variables(certificates: str) -> dict[str, str]:
    """Return what leads programs to the proxy, and to `certificates`, a path in the sandbox ('' for none)."""
    found = {**_VARIABLES}
    found |= {name.lower(): found[name] for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")}
    return {**found, **dict.fromkeys(_CERTIFICATE_VARIABLES, certificates)} if certificates else found


def bundle(environment: Mapping[str, str] = os.environ) -> bytes:
    """Return the authorities that this machine trusts, as programs here are configured; b'' where none are found.

    What a company's proxy signs is accepted in the sandbox too, as it is outside. Private keys are never handed in.
    """
    paths = ssl.get_default_verify_paths()
    named = [environment.get(name, "") for name in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")]
    for path in filter(None, (*named, paths.cafile, paths.openssl_cafile, *_BUNDLES)):
        try:
            data = Path(path).read_bytes()[: MOST_CERTIFICATES + 1]
        except OSError:
            continue
        whole = len(data) <= MOST_CERTIFICATES and b"-----BEGIN CERTIFICATE-----" in data
        if whole and b"PRIVATE KEY-----" not in data:
            return data
    return b""


def ports(gate: Gate) -> tuple[int, ...]:
    """Return the ports at which programs that know no proxy find a listener: those of the web, and of allowed hosts."""
    others = [one for one in gate.ports if one not in (*WEB_PORTS, PROXY_PORT, NAME_PORT)]
    return (*WEB_PORTS, *others[:MOST_PORTS])


class OpenPorts:
    """The ports at which a run has listeners; grows within bounds while it is active."""

    def __init__(self, gate: Gate) -> None:
        self.first = ports(gate)
        self._all = {PROXY_PORT, NAME_PORT, *self.first}

    def add(self, port: int) -> bool:
        """Return whether a listener is to be opened at `port`: there is none, and room for one more."""
        if port in self._all or len(self._all) >= MOST_PORTS + len(WEB_PORTS) + 2:
            return False
        self._all.add(port)
        return True


def failure(why: str) -> KnownError:
    """Return what to say where the way to the gate could not be made."""
    return KnownError(f"The network of this run could not be set up: {why.strip().rstrip('.')}.", WITHOUT)


def check(job: Job) -> None:
    """Raise KnownError for a job that is to have a network and has no gate to it."""
    if job.network is not NetworkMode.NONE and job.gate is None:
        raise KnownError("There is no gate for the network of this run.", WITHOUT)


def protections(active: tuple[str, ...], job: Job, none: str) -> tuple[str, ...]:
    """Return the `active` protections of `job`; `none` is the one that says that there is no network."""
    return active if job.gate is None else tuple(PROTECTION if one == none else one for one in active)


async def ended(network: NetworkLoop) -> NetworkLoop:
    """End the thread of a sandbox, where it was started, and return one that was not."""
    await asyncio.to_thread(network.close)
    return NetworkLoop()
