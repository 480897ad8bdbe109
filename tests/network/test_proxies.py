"""The company's proxy: connections go to it by name, with a real one on this machine."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from runner.network.addresses import Reach
from runner.network.dialing import DirectDialer
from runner.network.proxies import CompanyProxy, ProxiedDialer, ProxySettings, dialer_of_this_machine
from runner.network.refusals import Blocked
from tests.network.stage import GOOD, PATIENCE, echo, free_port, served, staged

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from runner.network.dialing import Streams

pytestmark = pytest.mark.asyncio


@dataclass
class SmallProxy:
    """A proxy that connects every name to one port of this machine."""

    target: int = 0
    answer: bytes = b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\n"
    port: int = 0
    heads: list[bytes] = field(default_factory=list)

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self.answer)
        await writer.drain()
        if b" 200 " in self.answer:
            far, out = await asyncio.open_connection("127.0.0.1", self.target)
            try:
                out.write(await reader.read(1000))
                writer.write(await far.read(1000))
            finally:
                out.transport.abort()


@contextlib.asynccontextmanager
async def small_proxy(answer: bytes = SmallProxy.answer) -> AsyncIterator[SmallProxy]:
    proxy = SmallProxy(answer=answer)
    async with served(echo) as proxy.target, served(proxy) as proxy.port:
        yield proxy


def behind(proxy: SmallProxy, **more: str) -> ProxiedDialer:
    environ = {"HTTPS_PROXY": f"http://us%40er:pass@127.0.0.1:{proxy.port}", **more}
    return ProxiedDialer(ProxySettings.of(environ), seconds=PATIENCE)


async def said(streams: Streams, data: bytes) -> bytes:
    reader, writer = streams
    writer.write(data)
    async with asyncio.timeout(PATIENCE):
        found = await reader.read(1000)
    writer.transport.abort()
    return found


async def test_a_host_is_reached_by_name_through_the_proxy() -> None:
    async with small_proxy() as proxy:
        assert await said(await behind(proxy).open("a.example", 443, Reach.PUBLIC), b"hello") == b"hello"
        assert proxy.heads == [
            b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n"
            b"Proxy-Authorization: Basic dXNAZXI6cGFzcw==\r\n\r\n"
        ]
        assert not behind(proxy).pins_addresses


async def test_the_gate_goes_through_it() -> None:
    async with small_proxy() as proxy, staged(f"{GOOD}:7000", dialer=behind(proxy)) as stage:
        async with stage.code() as code:
            assert b" 200 " in await code.connected(GOOD, 7000)
            await code.say(b"hello")
            assert await code.reader.readexactly(5) == b"hello"
        async with stage.code() as code:
            assert b" 403 " in await code.connected("other.example", 7000)
        assert len(proxy.heads) == 1


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1"])
async def test_an_address_is_checked_before_it(address: str) -> None:
    async with small_proxy() as proxy:
        with pytest.raises(Blocked, match="private"):
            await behind(proxy).open(address, 443, Reach.PUBLIC)
        assert proxy.heads == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "answers 407 Proxy Authentication Required"),
        (b"HTTP/1.1 403 \x1b[31m\r\n\r\n", r"answers 403 \?\[31m"),
        (b"SSH-2.0-x\r\n\r\n", "does not speak HTTP"),
        (b"HTTP/1.1\r\n\r\n", "does not speak HTTP"),
        (b"x" * 300_000 + b"\r\n\r\n", "does not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000 + b"\r\n\r\n", "does not speak HTTP"),
        (b"", "ended the connection"),
    ],
)
async def test_a_proxy_that_refuses_is_named(answer: bytes, words: str) -> None:
    async with small_proxy(answer) as proxy:
        with pytest.raises(Blocked, match=words) as raised:
            await behind(proxy).open("a.example", 443, Reach.PUBLIC)
        assert raised.value.allowed is None


async def test_a_proxy_that_is_not_there_is_a_failure() -> None:
    dialer = ProxiedDialer(ProxySettings.of({"https_proxy": f"127.0.0.1:{free_port()}"}), seconds=PATIENCE)
    with pytest.raises(Blocked, match="cannot be reached"):
        await dialer.open("a.example", 443, Reach.PUBLIC)


async def test_a_proxy_that_says_nothing_is_given_up() -> None:
    async def wait(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with served(wait) as port:
        dialer = ProxiedDialer(ProxySettings.of({"https_proxy": f"http://127.0.0.1:{port}"}), seconds=0.3)
        with pytest.raises(Blocked, match="does not answer"):
            await dialer.open("a.example", 443, Reach.PUBLIC)


async def test_what_no_proxy_names_is_connected_to_directly() -> None:
    async with small_proxy() as proxy:
        direct = DirectDialer(lambda *_: ["10.0.0.1"])
        settings = ProxySettings.of({"HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}", "NO_PROXY": "a.example"})
        with pytest.raises(Blocked, match="private"):
            await ProxiedDialer(settings, direct).open("a.example", 443, Reach.PUBLIC)
        assert proxy.heads == []


@pytest.mark.parametrize(
    ("entry", "host", "port", "direct"),
    [
        ("*", "a.example", 443, True),
        ("a.example", "a.example", 443, True),
        ("a.example", "b.a.example", 443, True),
        (".a.example", "b.a.example", 443, True),
        ("*.a.example", "b.a.example", 443, True),
        ("a.example", "ba.example", 443, False),
        ("a.example:8443", "a.example", 443, False),
        ("a.example:443", "a.example", 443, True),
        ("10.0.0.0/8", "10.1.2.3", 443, True),
        ("10.0.0.0/8", "11.1.2.3", 443, False),
        ("10.0.0.0/8", "a.example", 443, False),
        ("10.1.2.3", "10.1.2.3", 443, True),
        ("::1", "::1", 443, True),
        ("fd00::/8", "fd00::1", 443, True),
        ("x, ,A.example", "a.example", 443, True),
    ],
)
async def test_entries_of_no_proxy(entry: str, host: str, port: int, *, direct: bool) -> None:
    settings = ProxySettings.of({"HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": entry})
    assert (settings.proxy_for(host, port) is None) is direct


async def test_plain_http_has_a_proxy_of_its_own() -> None:
    settings = ProxySettings.of({"HTTPS_PROXY": "http://s.example:1", "http_proxy": "http://p.example"})
    assert settings.proxy_for("a.example", 443) == CompanyProxy("http", "s.example", 1)
    assert settings.proxy_for("a.example", 80) == CompanyProxy("http", "p.example", 80)
    everything = ProxySettings.of({"ALL_PROXY": "https://p.example"})
    assert everything.proxy_for("a.example", 80) == everything.proxy_for("b.example", 22)
    assert everything.proxy_for("a.example", 80) == CompanyProxy("https", "p.example", 443)


@pytest.mark.parametrize("text", ["socks5://p.example:1", "http://", "http://a b", "http://p.example:99999", "::::"])
async def test_one_that_cannot_be_used_is_never_gone_past(text: str) -> None:
    settings = ProxySettings.of({"HTTPS_PROXY": text})
    assert settings.problem and settings.sentence.endswith("reaches nothing.")
    dialer = dialer_of_this_machine(environ={"HTTPS_PROXY": text})
    with pytest.raises(Blocked, match="proxy of this machine cannot be used"):
        await dialer.open("a.example", 443, Reach.PUBLIC)


async def test_without_a_proxy_addresses_are_pinned() -> None:
    assert isinstance(dialer_of_this_machine(environ={"NO_PROXY": "x"}), DirectDialer)
    assert dialer_of_this_machine(environ={}).pins_addresses
    assert not dialer_of_this_machine(environ={"ALL_PROXY": "http://p.example"}).pins_addresses
    assert ProxySettings.of({}).sentence == ""


async def test_credentials_are_never_shown() -> None:
    settings = ProxySettings.of({"HTTPS_PROXY": "http://user:secret@p.example:3128"})
    assert settings.secure is not None and settings.secure.authorization
    for text in (repr(settings), settings.sentence, settings.secure.name, str(settings.secure)):
        assert "secret" not in text and "user" not in text and "dXNlc" not in text
    assert "secret" not in ProxySettings.of({"HTTPS_PROXY": "socks5://user:secret@p.example"}).problem
