"""An engine that is far away: through TLS, and through ssh as Docker's own client does it."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import ipaddress
import socket
import ssl
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from runner.model.errors import KnownError
from runner.model.request import Isolation, Language
from runner.model.result import Outcome
from runner.sandbox.available import OWN_IMAGES
from runner.sandbox.container.sandbox import ContainerSandbox
from runner.sandbox.docker.client import EngineClient
from runner.sandbox.docker.endpoint import Endpoint, find
from tests import container_engine as engine
from tests.contract.conftest import job

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = pytest.mark.asyncio


@pytest.fixture
def path() -> str:
    """The socket of the engine, which stands for the far machine."""
    return engine.client().endpoint.url.removeprefix("unix://")


def certified(folder: Path) -> ssl.SSLContext:
    """Certificates as Docker wants them in `folder`, and a server's context that asks for the client's."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(1).not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    made = made.add_extension(address, False).add_extension(x509.BasicConstraints(True, None), True)
    pem = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    for file, content in (("ca.pem", pem), ("cert.pem", pem), ("key.pem", secret)):
        (folder / file).write_bytes(content)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / "ca.pem"))
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


@contextlib.asynccontextmanager
async def secured(path: str, folder: Path) -> AsyncIterator[Endpoint]:
    """The engine behind a TLS port."""
    tasks: set[asyncio.Task[None]] = set()

    async def carry(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.CancelledError):
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
        sink.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())  # type: ignore[arg-type]
        inner_reader, inner_writer = await asyncio.open_unix_connection(path)
        await asyncio.gather(carry(reader, inner_writer), carry(inner_reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=certified(folder))
    try:
        yield Endpoint(f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}", str(folder))
    finally:
        server.close()
        await asyncio.gather(*tasks, return_exceptions=True)


async def works(endpoint: Endpoint) -> None:
    """Input to its end, output, a result, and usage from the engine itself."""
    assert not endpoint.local
    sandbox = ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, EngineClient(endpoint))
    code = "import sys, time\nprint(sys.stdin.read()[::-1])\nx = bytearray(30 << 20)\ntime.sleep(2.5)\nresult = 1"
    result = await (await sandbox.start(job(code, stdin="abc"), lambda _usage: None)).finished()
    assert (result.outcome, result.stdout, result.value) == (Outcome.OK, "cba\n", 1), result
    assert max(usage.memory_bytes or 0 for usage in result.curve) > 30 << 20
    for language in (Language.JAVASCRIPT, Language.SHELL):
        code = {Language.SHELL: "cat"}.get(language, "process.stdin.pipe(process.stdout)")
        run = await sandbox.start(job(code, language, stdin="Zoë"), lambda _usage: None)
        assert (await run.finished()).stdout == "Zoë"
    await sandbox.close()


async def test_through_tls(path: str, tmp_path: Path) -> None:
    async with secured(path, tmp_path) as endpoint:
        await works(endpoint)


async def test_through_ssh(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ssh` is a stand-in that stays on this machine; what it is told to start there is the real thing."""
    script = tmp_path / "ssh"
    script.write_text(
        f'#!/bin/sh\nwhile [ "$1" != docker ]; do shift; done\nexport DOCKER_HOST=unix://{path}\nexec "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    await works(Endpoint("ssh://me@far:2222"))


async def problem(endpoint: Endpoint) -> str:
    ready = await ContainerSandbox(Isolation.DOCKER, OWN_IMAGES, EngineClient(endpoint)).check()
    assert not ready.ready
    assert ready.remedy
    return ready.problem


async def test_certificates_that_are_not_accepted_are_reported(path: str, tmp_path: Path) -> None:
    own, other, half = (tmp_path / name for name in ("own", "other", "half"))
    for folder in (own, other, half):
        folder.mkdir()
    certified(other)
    async with secured(path, own) as endpoint:
        (half / "ca.pem").write_bytes((own / "ca.pem").read_bytes())
        begins = f"Docker daemon not available at {endpoint.url}: "
        stranger = await problem(Endpoint(endpoint.url, str(other)))
        assert stranger == f"{begins}its certificate is not accepted, self-signed certificate."
        assert (await problem(Endpoint(endpoint.url, str(half)))).startswith(begins)  # or hung up before it is told


@pytest.mark.parametrize(
    ("said", "status", "told"),
    [("me@far: Permission denied (publickey).", 255, "me@far: Permission denied (publickey)"), ("", 0, "it hangs up")],
)
async def test_what_ssh_says_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, status: int, told: str
) -> None:
    script = tmp_path / "ssh"
    script.write_text(f"#!/bin/sh\necho '{said}' >&2\nexit {status}\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert await problem(Endpoint("ssh://me@far")) == f"Docker daemon not available at ssh://me@far: {told}."


async def test_addresses_where_nobody_can_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        assert await problem(Endpoint(url)) == f"Docker daemon not available at {url}: connection refused."
    assert await problem(Endpoint("tcp://far:many")) == "tcp://far:many is no address of a container engine."
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await problem(Endpoint("ssh://far")) == "There is no ssh here to reach ssh://far."
    with pytest.raises(KnownError, match=r"There is no Docker context 'other'\. See `docker context ls`\."):
        find({"DOCKER_CONFIG": str(tmp_path), "DOCKER_CONTEXT": "other"})
