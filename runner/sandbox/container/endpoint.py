"""Finds the container engine as Docker's own tools do, and opens connections to it."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import shutil
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Mapping

STANDARD = "unix:///var/run/docker.sock"
BUFFER = 1 << 20
"""Bytes of output that wait in this process before the engine is made to wait."""
ENDED_SECONDS = 1.0
WORDS = 4096
"""Bytes of what ssh says of a failure."""


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

    async def connect(self) -> Line:
        """A new connection. Raises OSError where nobody answers and KnownError for an address that is none."""
        parts, port = self._parts()
        match parts.scheme:
            case "unix":
                return Line(*await asyncio.open_unix_connection(parts.path, limit=BUFFER))
            case "tcp" | "http" | "https":
                host, port = parts.hostname or "127.0.0.1", port or (2376 if self.certificates else 2375)
                secured = self._context() if self.certificates or parts.scheme == "https" else None
                return Line(*await asyncio.open_connection(host, port, ssl=secured, limit=BUFFER))
            case "ssh":
                return await _through_ssh(self.url)
        raise self._no_address()

    def _parts(self) -> tuple[SplitResult, int | None]:
        """The address taken apart, and its port. Raises KnownError."""
        try:
            parts = urlsplit(self.url)
            return parts, parts.port
        except ValueError as error:
            raise self._no_address() from error

    def _no_address(self) -> KnownError:
        return KnownError(f"{self.url} is no address of a container engine.", "Correct DOCKER_HOST.")

    def _context(self) -> ssl.SSLContext:
        folder = Path(self.certificates) if self.certificates else None
        authority = folder / "ca.pem" if folder is not None else None
        known = str(authority) if authority is not None and authority.exists() else None
        context = ssl.create_default_context(cafile=known)
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if folder is not None and (folder / "cert.pem").exists():
            context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        return context


class Line:
    """One connection. `helper` is the process that carries it, for ssh."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        helper: asyncio.subprocess.Process | None = None,
    ) -> None:
        self.reader = reader
        self.writer = writer
        self._helper = helper

    async def last_words(self) -> str:
        """What the helper says it failed for; '' without one."""
        if self._helper is None or self._helper.stderr is None:
            return ""
        self.writer.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ENDED_SECONDS):
                await self._helper.wait()
                lines = (await self._helper.stderr.read(WORDS)).decode("utf-8", "replace").split("\n")
                return next((line.strip().rstrip(".") for line in reversed(lines) if line.strip()), "")
        return ""

    async def close(self) -> None:
        self.writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            # Not wait_for: until Python 3.12 it may swallow that its caller is cancelled.
            async with asyncio.timeout(ENDED_SECONDS):
                await self.writer.wait_closed()
        if self._helper is not None and self._helper.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._helper.terminate()
            await self._helper.wait()


def find(environment: Mapping[str, str] = os.environ) -> Endpoint:
    """The engine that `DOCKER_HOST`, `DOCKER_CONTEXT` or Docker's configuration names, else the standard socket.

    Raises KnownError for a context that cannot be read.
    """
    folder = Path(environment.get("DOCKER_CONFIG") or Path.home() / ".docker")
    if url := environment.get("DOCKER_HOST"):
        return _named(url, environment, folder)
    context = environment.get("DOCKER_CONTEXT") or _current(folder)
    if context and context != "default":
        return _of_context(context, folder)
    own = f"{environment.get('XDG_RUNTIME_DIR', '')}/docker.sock"  # of an engine without root
    if not os.path.exists(urlsplit(STANDARD).path) and own.startswith("/") and os.path.exists(own):
        return Endpoint(f"unix://{own}")
    return Endpoint(STANDARD)


def _named(url: str, environment: Mapping[str, str], folder: Path) -> Endpoint:
    wanted = environment.get("DOCKER_TLS_VERIFY") or environment.get("DOCKER_TLS")
    if not url.startswith("tcp://") or not wanted:
        return Endpoint(url)
    verify = bool(environment.get("DOCKER_TLS_VERIFY"))
    return Endpoint(url, environment.get("DOCKER_CERT_PATH") or str(folder), verify)


def _current(folder: Path) -> str:
    try:
        told = json.loads((folder / "config.json").read_text("utf-8"))
        return str(told.get("currentContext", ""))
    except (OSError, ValueError, AttributeError):
        return ""


def _of_context(name: str, folder: Path) -> Endpoint:
    """A context as `docker context` stores it: under the SHA-256 of its name. Raises KnownError."""
    key = hashlib.sha256(name.encode()).hexdigest()
    try:
        told = json.loads((folder / "contexts/meta" / key / "meta.json").read_text("utf-8"))["Endpoints"]["docker"]
        certificates = folder / "contexts/tls" / key / "docker"
        return Endpoint(
            str(told["Host"]), str(certificates) if certificates.is_dir() else "", not told.get("SkipTLSVerify")
        )
    except FileNotFoundError as error:
        raise KnownError(f"There is no Docker context {name!r}.", "See `docker context ls`.") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise KnownError(f"The Docker context {name!r} cannot be read: {error}.", "See `docker context ls`.") from error


async def _through_ssh(url: str) -> Line:
    """Docker's own way to a far engine: its client there hands the connection on."""
    parts = urlsplit(url)
    if not parts.hostname or parts.hostname.startswith("-"):
        raise KnownError(f"{url} names no host.", "Correct DOCKER_HOST.")
    options = [*(("-p", str(parts.port)) if parts.port else ()), *(("-l", parts.username) if parts.username else ())]
    if shutil.which("ssh") is None:
        raise KnownError(f"There is no ssh here to reach {url}.", "Install an ssh client, or correct DOCKER_HOST.")
    process = await asyncio.create_subprocess_exec(
        *("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", *options, "--", parts.hostname),
        *("docker", "system", "dial-stdio"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        limit=BUFFER,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    return Line(process.stdout, process.stdin, process)
