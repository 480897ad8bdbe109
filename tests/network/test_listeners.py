"""The two doors: as a proxy, and as the host itself, with TLS for real."""

from __future__ import annotations

import asyncio
import ssl
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest

from runner.model.network import NOT_LISTED, Contact
from tests.network.stage import EVIL, GOOD, PATIENCE, PUBLIC, Code, Stage, Web, certificate, echo, greeting, staged

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.asyncio
DENIED = b"\x15\x03\x03\x00\x02\x02\x31"
UNRECOGNIZED = b"\x15\x03\x03\x00\x02\x02\x70"


async def spoken(code: Code, context: ssl.SSLContext, name: str) -> bytes:
    """Speak TLS over the connection of the code, and return what an echo says."""
    async with asyncio.timeout(PATIENCE):
        await code.writer.start_tls(context, server_hostname=name)
        await code.say(b"hello")
        return await code.reader.readexactly(5)


async def secure_host(stage: Stage, folder: Path, *names: str) -> ssl.SSLContext:
    """Serve an echo behind TLS at port 443; return the context of a client that trusts it."""
    server, client = certificate(folder, *(names or (GOOD, EVIL)))
    stage.hosts.ports[443] = await stage.server(echo, server)
    return client


async def test_tls_passes_by_the_proxy_when_it_names_the_host(tmp_path: Path) -> None:
    async with staged(GOOD) as stage:
        client = await secure_host(stage, tmp_path)
        async with stage.code() as code:
            assert b" 200 " in await code.connected(GOOD.upper() + ".", 443)
            assert await spoken(code, client, GOOD) == b"hello"
        await stage.idle()
        (contact,) = stage.gate.contacts
        assert contact.allowed and contact.host == GOOD and contact.sent > 100 < contact.received


async def test_tls_passes_as_to_the_host_itself(tmp_path: Path) -> None:
    async with staged(GOOD) as stage:
        client = await secure_host(stage, tmp_path)
        async with stage.code(f"{GOOD}:443") as code:
            assert await spoken(code, client, GOOD) == b"hello"


async def test_as_the_host_itself_nothing_is_dialed_before_the_name_is_known() -> None:
    async with staged(GOOD) as stage:
        async with stage.code(f"{GOOD}:443") as code:
            assert await code.asked(greeting(EVIL)) == UNRECOGNIZED
        assert stage.hosts.looked_up == [] and stage.hosts.dialed == []
        (contact,) = stage.gate.contacts
        assert contact.why == f"was asked for, but the TLS connection names {EVIL}"
        assert not contact.can_be_allowed


async def test_a_refused_host_is_an_alert_for_tls_and_a_page_for_http() -> None:
    async with staged() as stage:
        async with stage.code(f"{GOOD}:443") as code:
            assert await code.asked(greeting(GOOD)) == DENIED
        async with stage.code(f"{GOOD}:80") as code:
            answer = await code.asked(f"GET / HTTP/1.1\r\nHost: {GOOD}\r\n\r\n")
        assert answer.startswith(f"HTTP/1.1 403 Blocked by Assent: {GOOD}:80 is not allowed".encode())
        assert stage.reports == [Contact(GOOD, port, False, NOT_LISTED) for port in (443, 80)]
        assert stage.hosts.looked_up == []


async def test_a_client_of_tls_reads_the_alert(tmp_path: Path) -> None:
    _, client = certificate(tmp_path, GOOD)
    async with staged() as stage, stage.code(f"{GOOD}:443") as code:
        with pytest.raises(ssl.SSLError, match=r"(?i)access.denied"):
            await spoken(code, client, GOOD)


async def test_a_host_that_cannot_be_reached_is_a_failure_at_both_doors() -> None:
    async with staged(GOOD, f"{GOOD}:80") as stage:
        stage.hosts.addresses[GOOD] = []
        async with stage.code(f"{GOOD}:443") as code:
            assert await code.asked(greeting(GOOD)) == b"\x15\x03\x03\x00\x02\x02\x50"
        async with stage.code(f"{GOOD}:80") as code:
            answer = await code.asked(f"GET / HTTP/1.1\r\nHost: {GOOD}\r\n\r\n")
        assert answer.startswith(f"HTTP/1.1 502 Assent: {GOOD}:80 has no address".encode())
        assert {contact.allowed for contact in stage.gate.contacts} == {None}


async def test_plain_http_as_to_the_host_itself_is_written_again() -> None:
    web = Web()
    async with staged(f"{GOOD}:80") as stage:
        stage.hosts.ports[80] = await stage.server(web)
        async with stage.code(f"{GOOD}:80") as code:
            answer = await code.asked(f"GET /a HTTP/1.1\r\nHost: {GOOD}:80\r\nConnection: keep-alive\r\n\r\n")
        assert answer.endswith(b"ok")
        assert web.requests == [f"GET /a HTTP/1.1\r\nHost: {GOOD}\r\nConnection: close\r\n\r\n".encode()]


@pytest.mark.parametrize("through", ["direct", "connect"])
@pytest.mark.parametrize("head", [f"GET / HTTP/1.1\r\nHost: {EVIL}\r\n", "GET / HTTP/1.0\r\n",
                                  f"GET http://{EVIL}/ HTTP/1.1\r\nHost: {GOOD}\r\n"])  # fmt: skip
async def test_plain_http_must_name_the_host_that_was_asked_for(through: str, head: str) -> None:
    web = Web()
    async with staged(f"{GOOD}:80") as stage:
        stage.hosts.ports[80] = await stage.server(web)
        async with stage.code(f"{GOOD}:80" if through == "direct" else "") as code:
            if through == "connect":
                await code.connected(GOOD, 80)
            answer = await code.asked(head + "\r\n")
        assert answer.startswith(f"HTTP/1.1 403 Blocked by Assent: {GOOD}:80 was asked for, but".encode())
        assert web.requests == []


async def test_other_ports_carry_anything_at_both_doors() -> None:
    async with staged(f"{GOOD}:7000") as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        async with stage.code(f"{GOOD}:7000") as code:
            await code.say(b"SSH-2.0-x\r\n")
            assert await code.reader.readexactly(11) == b"SSH-2.0-x\r\n"


async def test_a_server_that_speaks_first_is_heard() -> None:
    async def speaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 ready\r\n")
        await reader.read()

    async with staged(f"{GOOD}:7000") as stage:
        stage.hosts.ports[7000] = await stage.server(speaks)
        async with stage.code() as code:
            await code.connected(GOOD, 7000)
            assert await code.reader.readexactly(11) == b"220 ready\r\n"


async def test_tls_on_another_port_must_name_the_host_too() -> None:
    async with staged(f"{GOOD}:7000") as stage:
        stage.hosts.ports[7000] = await stage.server(echo)
        async with stage.code() as code:
            await code.connected(GOOD, 7000)
            assert await code.asked(greeting(EVIL)) == UNRECOGNIZED
        assert stage.gate.sent == 0


async def test_an_address_that_is_allowed_needs_no_name(tmp_path: Path) -> None:
    async with staged(PUBLIC) as stage:
        stage.hosts.addresses[PUBLIC] = [PUBLIC]
        client = await secure_host(stage, tmp_path, PUBLIC)
        async with stage.code() as code:
            await code.connected(PUBLIC, 443)
            assert await spoken(code, client, PUBLIC) == b"hello"
        async with stage.code() as code:
            await code.connected(PUBLIC, 443)
            assert await code.asked(greeting(EVIL)) == UNRECOGNIZED


async def test_urllib_shows_the_sentence() -> None:
    async with staged() as stage:
        proxies = dict.fromkeys(("http", "https"), f"http://127.0.0.1:{stage.proxy_port}")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
        sentence = f"Blocked by Assent: {GOOD}:443 is not allowed for this sandbox"
        with pytest.raises(urllib.error.URLError, match=sentence):
            await asyncio.to_thread(opener.open, f"https://{GOOD}/", timeout=PATIENCE)
        with pytest.raises(urllib.error.HTTPError, match=sentence.replace("443", "80")) as raised:
            await asyncio.to_thread(opener.open, f"http://{GOOD}/", timeout=PATIENCE)
        with raised.value as answer:
            assert b"A person can allow the host" in answer.read()


@pytest.mark.parametrize(
    "target", ["", "?", ":443", "x y:443", "a:b:c", "1.2.3.4:99999", "\udcff:443", "*.a.example:443"]
)
async def test_a_target_that_names_nothing_is_refused(target: str) -> None:
    async with staged(GOOD) as stage:
        async with stage.code(target or "-") as code:
            await code.say(b"hello\r\n\r\n")
            await code.rest()
        assert [contact.allowed for contact in stage.gate.contacts] == [False]
        assert stage.hosts.looked_up == []
