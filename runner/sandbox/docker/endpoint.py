"""The address of the container engine, found as Docker's own tools find it.

Not by the SDK: its contexts know nothing of DOCKER_CONTEXT, need a config.json, and take one that does not say
whether certificates are to be verified for one that says they are not.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Mapping

STANDARD = "unix:///var/run/docker.sock"
SCHEMES = ("unix", "tcp", "http", "https", "ssh")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an engine is. `certificates` is a folder with `ca.pem`, `cert.pem` and `key.pem`, or '' without TLS."""

    url: str
    certificates: str = ""
    verify: bool = True

    @property
    def local(self) -> bool:
        """Whether the engine is on this machine, so that its processes can be looked at."""
        return self.url.startswith("unix://")

    def address(self) -> tuple[SplitResult, int | None]:
        """Return the address taken apart, and its port. Raises KnownError where it is none."""
        try:
            parts = urlsplit(self.url)
            port = parts.port
        except ValueError as error:
            raise self._no_address() from error
        if parts.scheme not in SCHEMES:
            raise self._no_address()
        return parts, port

    def certificate(self, name: str) -> str:
        """Return the path of a file of certificates, '' where there is none of that name."""
        path = Path(self.certificates, name) if self.certificates else None
        return str(path) if path is not None and path.exists() else ""

    def _no_address(self) -> KnownError:
        return KnownError(f"{self.url} is no address of a container engine.", "Correct DOCKER_HOST.")


def find(environment: Mapping[str, str] = os.environ, context: str = "") -> Endpoint:
    """Return the engine that `DOCKER_HOST`, `DOCKER_CONTEXT` or Docker's configuration names, else the standard socket.

    A `context` that is named counts before them, as for `docker --context`. Raises KnownError for one that cannot be
    read.
    """
    folder = Path(environment.get("DOCKER_CONFIG") or Path.home() / ".docker")
    if context and context != "default":
        return _of_context(context, folder)
    if url := environment.get("DOCKER_HOST"):
        return _named(url, environment, folder)
    context = environment.get("DOCKER_CONTEXT") or _current(folder)
    if context and context != "default":
        return _of_context(context, folder)
    own = f"{environment.get('XDG_RUNTIME_DIR', '')}/docker.sock"  # of an engine without root
    if not os.path.exists(urlsplit(STANDARD).path) and own.startswith("/") and os.path.exists(own):
        return Endpoint(f"unix://{own}")
    return Endpoint(STANDARD)


def elsewhere(context: str = "") -> str:
    """Return where the engine is, in a sentence that begins with a blank; '' where it is on this machine."""
    try:
        found = find(context=context)
    except KnownError:  # what does not work because of it says so
        return ""
    if found.local:
        return ""
    plain = ", without TLS" if found.url.startswith(("tcp:", "http:")) and not found.certificates else ""
    return f" The engine is on another machine: {found.url}{plain}."


def _named(url: str, environment: Mapping[str, str], folder: Path) -> Endpoint:
    wanted = environment.get("DOCKER_TLS_VERIFY") or environment.get("DOCKER_TLS")
    if not url.startswith("tcp://") or not wanted:
        return Endpoint(url)
    verify = bool(environment.get("DOCKER_TLS_VERIFY"))
    return Endpoint(url, environment.get("DOCKER_CERT_PATH") or str(folder), verify)


def _current(folder: Path) -> str:
    try:
        data = json.loads((folder / "config.json").read_text("utf-8"))
        return str(data.get("currentContext", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _of_context(name: str, folder: Path) -> Endpoint:
    """Return a context as `docker context` stores it: under the SHA-256 of its name. Raises KnownError."""
    key = hashlib.sha256(name.encode()).hexdigest()
    try:
        data = json.loads((folder / "contexts/meta" / key / "meta.json").read_text("utf-8"))["Endpoints"]["docker"]
        certificates = folder / "contexts/tls" / key / "docker"
        return Endpoint(
            str(data["Host"]), str(certificates) if certificates.is_dir() else "", not data.get("SkipTLSVerify")
        )
    except FileNotFoundError as error:
        raise KnownError(f"There is no Docker context {name!r}.", "See `docker context ls`.") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise KnownError(f"The Docker context {name!r} cannot be read: {error}.", "See `docker context ls`.") from error
