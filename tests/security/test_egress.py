"""What code may try to get out of its sandbox by the network: each way that was found in others' gates, and ours.

Real sockets on both sides. Hosts of the Internet are servers of this machine that the dialer connects to; the checks
on names and addresses before that are the real ones.
"""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.model.network import Destination
from runner.network.caps import STANDARD
from runner.network.contacts import MOST_CONTACTS
from runner.network.names import Names
from tests.network.stage import EVIL, GOOD, PUBLIC, Hosts, Web, certificate, echo, greeting, hiding, staged
from tests.network.test_names import query

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Collection
    from pathlib import Path

    from runner.network.addresses import Reach
    from runner.network.dialing import Streams
    from tests.network.stage import Stage

pytestmark = pytest.mark.asyncio
UNRECOGNIZED = b"\x15\x03\x03\x00\x02\x02\x70"
METADATA = "169.254.169.254"


@contextlib.asynccontextmanager
async def everything_listens(*allowed: str, **more: object) -> AsyncIterator[tuple[Stage, list[bytes]]]:
    """A stage on which every dialed connection reaches a server; with what that was sent."""
    sent: list[bytes] = []

    async def listening(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            sent.append(data)

    async with staged(*allowed, **more) as stage:  # type: ignore[arg-type]
        port = await stage.server(listening)
        stage.hosts.ports |= dict.fromkeys((22, 80, 443, 7000), port)
        yield stage, sent


async def refused(stage: Stage, request: str, target: str = "") -> bytes:
    """Send `request`; fail unless it is refused without a lookup or a connection, in one answer."""
    async with stage.code(target) as code:
        answer = await code.asked(request)
    assert answer.startswith((b"HTTP/1.1 403 Blocked by Assent: ", b"HTTP/1.1 400 Blocked by Assent: ")), answer
    assert answer.count(b"HTTP/1.1 ") == 1
    assert stage.hosts.looked_up == []
    assert stage.hosts.dialed == []
    return answer


def connect(authority: str, more: str = "") -> str:
    return f"CONNECT {authority} HTTP/1.1\r\nHost: x\r\n\r\n{more}"


def get(target: str, more: str = "") -> str:
    return f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n{more}"


# ---- an allow-list that is empty, or changes ----


@pytest.mark.parametrize("request_", [connect(f"{GOOD}:443"), connect(f"{GOOD}:22"), get(f"http://{GOOD}/")])
async def test_an_empty_list_means_nothing(request_: str) -> None:
    async with staged() as stage:
        await refused(stage, request_)


@pytest.mark.parametrize("port", [80, 443, 7000])
async def test_an_empty_list_means_nothing_for_programs_that_know_no_proxy(port: int) -> None:
    async with staged() as stage, stage.code(f"{GOOD}:{port}") as code:
        await code.asked(greeting(GOOD))
        assert stage.hosts.looked_up == []
        assert [contact.allowed for contact in stage.gate.contacts] == [False]


async def test_a_list_that_becomes_empty_while_the_run_goes_on_means_nothing() -> None:
    async with everything_listens(GOOD, f"{GOOD}:80") as (stage, _):
        stage.gate.withdraw(Destination(GOOD))
        stage.gate.withdraw(Destination(GOOD, 80))
        for request_ in (connect(f"{GOOD}:443"), get(f"http://{GOOD}/")):
            await refused(stage, request_)
        await refused(stage, get("/"), f"{GOOD}:80")


async def test_each_change_of_the_list_counts_at_both_doors() -> None:
    async with everything_listens() as (stage, _):
        for _ in range(3):
            stage.gate.allow(Destination(GOOD, 7000))
            async with stage.code() as code:
                assert b" 200 " in await code.connected(GOOD, 7000)
            async with stage.code(f"{GOOD}:7000") as code:
                await code.say("x")
                code.writer.write_eof()
                await code.rest()
            assert len(stage.hosts.dialed) == 2
            stage.hosts.dialed.clear()
            stage.hosts.looked_up.clear()
            stage.gate.withdraw(Destination(GOOD, 7000))
            await refused(stage, connect(f"{GOOD}:7000"))


async def test_a_rule_that_goes_while_its_host_is_dialed_lets_nothing_through() -> None:
    async with everything_listens(f"{GOOD}:7000") as (stage, sent):
        plain = stage.hosts.resolve

        def withdrawing(host: str, port: int) -> list[str]:
            stage.gate.withdraw(Destination(GOOD, 7000))
            return plain(host, port)

        stage.gate._dialer._resolve = withdrawing  # type: ignore[attr-defined]
        async with stage.code() as code:
            assert b" 200 " not in await code.asked(connect(f"{GOOD}:7000", "secret"))
        await stage.idle()
        assert sent == []


async def test_a_rule_that_goes_with_the_last_step_of_dialing_lets_nothing_through() -> None:
    hosts = Hosts({GOOD: [PUBLIC]})
    plain = hosts.dialer()

    class Late:
        """Connects, and the rule goes before anybody learns that it is connected."""

        pins_addresses = True

        async def open(self, host: str, port: int, reach: Reach, _inside: Collection[str] = ()) -> Streams:
            streams = await plain.open(host, port, reach)
            stage.gate.withdraw(Destination(GOOD, 7000))
            return streams

    async with staged(f"{GOOD}:7000", dialer=Late()) as stage:
        hosts.ports[7000] = await stage.server(echo)
        async with stage.code() as code:
            assert b" 200 " not in await code.asked(connect(f"{GOOD}:7000", "secret"))
        await stage.idle()
        assert stage.gate.sent == stage.gate.connections == 0


# ---- names that are read in two ways ----


@pytest.mark.parametrize(
    "authority",
    [
        f"{EVIL}\0.{GOOD}:443",
        f"{EVIL}%00.{GOOD}:443",
        f"{GOOD}\0:443",
        f"{GOOD}.{EVIL}:443",
        f"x{GOOD}:443",
        f"{EVIL}#.{GOOD}:443",
        f"{EVIL}/.{GOOD}:443",
        f"{GOOD}@{EVIL}:443",
        f"{GOOD}:443@{EVIL}:443",
        f"{GOOD}:443:22",
        f"{GOOD},{EVIL}:443",
        "g\u0585\u0585d.example:443",
        f"*.{GOOD}:443",
    ],
)
async def test_a_name_that_two_parsers_read_as_two_hosts_is_none(authority: str) -> None:
    async with staged(GOOD) as stage:
        await refused(stage, connect(authority.encode("utf-8").decode("latin-1")))


@pytest.mark.parametrize("port", [22, 80, 25, 8443, 444, 4430])
async def test_an_allowed_name_is_allowed_at_its_port_only(port: int) -> None:
    async with staged(GOOD) as stage:
        await refused(stage, connect(f"{GOOD}:{port}"))
        await refused(stage, get(f"http://{GOOD}:{port}/"))


async def test_a_wildcard_ends_at_a_dot() -> None:
    async with staged(f"*.{GOOD}") as stage:
        for name in (GOOD, f"x{GOOD}", f"{GOOD}.{EVIL}"):
            await refused(stage, connect(f"{name}:443"))


# ---- addresses in place of names ----

LITERALS = (
    METADATA,
    "127.0.0.1",
    "10.0.0.1",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[::ffff:127.0.0.1]",
    f"[::ffff:{METADATA}]",
    "[64:ff9b::a9fe:a9fe]",
    "[2002:a9fe:a9fe::]",
    "168.63.129.16",
    PUBLIC,
    "[2606:2800:220:1::1]",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    "127.0.0.1.",
    "127.0.0.01",
    "1",
    "host.docker.internal",
    "metadata.google.internal",
    "localhost",
)


@pytest.mark.parametrize("literal", LITERALS)
async def test_an_address_in_any_notation_is_no_allowed_name(literal: str) -> None:
    async with staged(GOOD, f"{GOOD}:80", f"*.{GOOD}") as stage:
        await refused(stage, connect(f"{literal}:443"))
        await refused(stage, connect(f"{literal}:80"))
        await refused(stage, get(f"http://{literal}/latest/meta-data/"))


@pytest.mark.parametrize("address", [METADATA, "127.0.0.1", "10.1.2.3", "::1", "fd00::1", "168.63.129.16", "localhost"])
async def test_even_one_that_is_listed_leads_nowhere_private(address: str) -> None:
    async with everything_listens(str(Destination(address, 7000))) as (stage, sent):
        stage.hosts.addresses |= {address: [address], "localhost": ["127.0.0.1"]}
        async with stage.code() as code:
            assert b" 403 " in await code.connected(f"[{address}]" if ":" in address else address, 7000)
        assert stage.hosts.dialed == [] and sent == []
        (contact,) = stage.gate.contacts
        assert contact.allowed is False and contact.private


# ---- names that lead to private addresses ----


@pytest.mark.parametrize(
    "bad",
    [METADATA, "127.0.0.1", "10.0.0.1", "100.64.0.1", "::1", "fe80::1%eth0", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
     "2002:a00:1::", "168.63.129.16", "0.0.0.0", "224.0.0.1", "fd00::1"],
)  # fmt: skip
async def test_an_allowed_name_that_leads_to_a_private_address_is_refused(bad: str) -> None:
    for addresses in ([bad], [PUBLIC, bad], [bad, PUBLIC]):
        async with everything_listens(f"{GOOD}:7000", GOOD) as (stage, sent):
            stage.hosts.addresses[GOOD] = addresses
            async with stage.code() as code:
                answer = await code.asked(connect(f"{GOOD}:7000", "secret"))
            assert answer.startswith(f"HTTP/1.1 403 Blocked by Assent: {GOOD}:7000 leads to a private addr".encode())
            assert bad.encode() not in answer
            async with stage.code(f"{GOOD}:443") as code:
                assert (await code.asked(greeting(GOOD)))[:1] == b"\x15"
            assert stage.hosts.dialed == [] and sent == []
            assert {contact.private for contact in stage.gate.contacts} == {bad}


async def test_a_name_that_is_rebound_is_looked_up_once_for_each_connection() -> None:
    async with everything_listens(f"{GOOD}:7000") as (stage, _):
        answers = iter([[PUBLIC], ["127.0.0.1"], [PUBLIC]])
        stage.gate._dialer._resolve = lambda *_: next(answers)  # type: ignore[attr-defined]
        found = []
        for _ in range(3):
            async with stage.code() as code:
                found.append((await code.connected(GOOD, 7000)).split(b" ")[1])
        assert found == [b"200", b"403", b"200"]
        assert stage.hosts.dialed == [(PUBLIC, 7000)] * 2


async def test_a_persons_word_for_private_addresses_opens_private_networks_and_not_this_machine() -> None:
    async with everything_listens() as (stage, _):
        stage.gate.allow(Destination(GOOD, 7000), private="10.1.2.3, 127.0.0.1")
        for address, allowed in (
            ("10.1.2.3", True),
            ("10.1.2.4", False),
            ("127.0.0.1", False),
            (METADATA, False),
            ("fe80::1", False),
        ):
            stage.hosts.addresses[GOOD] = [address]
            async with stage.code() as code:
                assert (b" 200 " in await code.connected(GOOD, 7000)) is allowed


# ---- nothing is looked up before it is allowed; DNS carries nothing ----


async def test_names_carry_nothing_out() -> None:
    async with staged(GOOD) as stage:
        for part in range(20):
            name = f"secret{part:04}.{EVIL}"
            await refused(stage, connect(f"{name}:443"))
            await refused(stage, get(f"http://{name}/"))
            async with stage.code(f"{name}:443") as code:
                await code.asked(greeting(name))
        assert stage.hosts.looked_up == []


async def test_dns_inside_answers_from_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def leaving(*_: object, **__: object) -> None:
        raise AssertionError("a lookup")

    monkeypatch.setattr("socket.getaddrinfo", leaving)
    names = Names()
    for part in range(10_000):
        assert names.answer(query(f"secret{part}.{EVIL}", random.choice((1, 28, 16)))) is not None
    assert len(names._names) <= 4096


# ---- another name within an allowed connection ----


async def test_another_server_name_than_was_asked_for(tmp_path: Path) -> None:
    async with everything_listens(GOOD) as (stage, sent):
        for name in (EVIL, None, f"x.{GOOD}"):
            async with stage.code() as code:
                assert b" 200 " in await code.connected(GOOD, 443)
                assert await code.asked(greeting(name)) == UNRECOGNIZED
            async with stage.code(f"{GOOD}:443") as code:
                assert await code.asked(greeting(name)) == UNRECOGNIZED
        assert sent == []
        assert [contact.allowed for contact in stage.gate.contacts] == [False]


async def test_a_greeting_that_hides_its_name_is_refused_at_every_port_and_door() -> None:
    why = "was asked for, but the TLS connection hides its server name (encrypted client hello)"
    for port in (443, 7000):
        async with everything_listens(f"{GOOD}:{port}") as (stage, sent):
            async with stage.code() as code:
                assert b" 200 " in await code.connected(GOOD, port)
                assert await code.asked(hiding(GOOD)) == UNRECOGNIZED
            async with stage.code(f"{GOOD}:{port}") as code:
                assert await code.asked(hiding(GOOD)) == UNRECOGNIZED
            assert sent == []
            assert {contact.why for contact in stage.gate.contacts if not contact.allowed} == {why}


@pytest.mark.parametrize("first", [b"", b"x", b"\0", b"\x15\x03\x03\0\x02\1\0"])
async def test_a_greeting_behind_other_bytes_reaches_the_checked_address_alone(first: bytes) -> None:
    async with everything_listens(f"{GOOD}:7000") as (stage, _):
        stage.hosts.addresses[EVIL] = ["192.0.2.1"]
        for target in ("", f"{GOOD}:7000"):
            async with stage.code(target) as code:
                if not target:
                    await code.connected(GOOD, 7000)
                await code.say(first + greeting(EVIL))
                code.writer.write_eof()
                await code.rest()
        assert set(stage.hosts.looked_up) == {GOOD} and set(stage.hosts.dialed) == {(PUBLIC, 7000)}


@pytest.mark.parametrize("said", [b"SSH-2.0-x\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 30_000, b"\x16\x03\x01"])
async def test_something_else_than_tls_where_tls_belongs(said: bytes) -> None:
    async with everything_listens(GOOD) as (stage, sent):
        async with stage.code() as code:
            await code.connected(GOOD, 443)
            await code.say(said)
            code.writer.write_eof()
            assert await code.rest() == UNRECOGNIZED
        assert sent == []


async def test_a_greeting_that_never_ends() -> None:
    async with everything_listens(GOOD, caps=replace(STANDARD, head_seconds=0.3)) as (stage, sent):
        async with stage.code() as code:
            await code.connected(GOOD, 443)
            assert await code.asked(greeting(GOOD)[:100]) == UNRECOGNIZED
        async with stage.code() as code:
            await code.connected(GOOD, 443)
            # 16 KiB in records of one byte each.
            record = b"\x16\x03\x01\x00\x01\x01"
            assert await code.asked(record + record.replace(b"\x01\x01", b"\x01\0") * 5000) == UNRECOGNIZED
        assert sent == []


async def test_code_never_chooses_an_address() -> None:
    """A program that dials an address itself, with the name of an allowed host in its greeting."""
    async with everything_listens(GOOD, f"*.{GOOD}") as (stage, sent):
        for address in (PUBLIC, "127.66.0.9", "[::1]"):
            async with stage.code(f"{address}:443") as code:
                assert (await code.asked(greeting(GOOD)))[:1] == b"\x15"
        assert stage.hosts.looked_up == [] and sent == []


async def test_the_host_of_a_plain_request_is_the_name_that_was_asked_for() -> None:
    web = Web()
    async with staged(f"{GOOD}:80") as stage:
        stage.hosts.ports[80] = await stage.server(web)
        async with stage.code() as code:
            await code.asked(f"GET http://{GOOD}/ HTTP/1.1\r\nHost: {EVIL}\r\n\r\n")
        assert f"Host: {GOOD}\r\n".encode() in web.requests[0] and EVIL.encode() not in web.requests[0]
        async with stage.code(f"{GOOD}:80") as code:
            assert b" 403 " in await code.asked(f"GET / HTTP/1.1\r\nHost: {EVIL}\r\n\r\n")
        assert len(web.requests) == 1


# ---- requests that are read in two ways ----

HEAD = f"POST http://{GOOD}/ HTTP/1.1\r\nHost: {GOOD}\r\n"
SMUGGLED = f"GET http://{EVIL}/ HTTP/1.1\r\nHost: {EVIL}\r\n\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        HEAD + f"Content-Length: 0\r\nContent-Length: {len(SMUGGLED)}\r\n\r\n" + SMUGGLED,
        HEAD + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        HEAD + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        HEAD + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" + SMUGGLED,
        HEAD + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + SMUGGLED,
        HEAD + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        HEAD + "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        HEAD + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        HEAD + "X: y\r\n Content-Length: 5\r\n\r\nhello",
        HEAD + "X: y\nContent-Length: 5\r\n\r\nhello",
        HEAD + "X: y\rContent-Length: 5\r\n\r\nhello",
        HEAD + f"Host: {EVIL}\r\n\r\n",
        f"GET http://{GOOD}/ HTTP/1.1\nHost: {GOOD}\n\n\r\n\r\n",
        f"GET http://{GOOD}/ HTTP/1.1 \r\nHost: x\r\n\r\n",
        f"GET  http://{GOOD}/ HTTP/1.1\r\nHost: x\r\n\r\n",
        f"GET http://{GOOD}\\@{EVIL}/ HTTP/1.1\r\nHost: x\r\n\r\n",
        f"GET http://{EVIL}@{GOOD}/ HTTP/1.1\r\nHost: x\r\n\r\n",
        f"GET https://{GOOD}/ HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
async def test_a_request_that_two_servers_read_as_two_reaches_none(request_: str) -> None:
    async with everything_listens(GOOD, f"{GOOD}:80") as (stage, sent):
        await refused(stage, request_)
        assert sent == []


async def test_a_request_behind_a_refused_one_is_dropped() -> None:
    async with everything_listens(f"{GOOD}:80") as (stage, sent):
        await refused(stage, connect(f"{EVIL}:443", get(f"http://{GOOD}/")))
        await refused(stage, get(f"http://{EVIL}/", get(f"http://{GOOD}/")))
        await refused(stage, "nonsense \r\n\r\n" + get(f"http://{GOOD}/"))
        await stage.idle()
        assert sent == []


async def test_one_connection_carries_one_request() -> None:
    web = Web()
    async with staged(f"{GOOD}:80") as stage:
        stage.hosts.ports[80] = await stage.server(web)
        for first in (get(f"http://{GOOD}/"), HEAD + "Content-Length: 0\r\n\r\n"):
            async with stage.code() as code:
                answer = await code.asked(first + get(f"http://{EVIL}/") + connect(f"{EVIL}:22"))
            assert answer.count(b"HTTP/1.1 ") == 1
        assert [EVIL.encode() in one for one in web.requests] == [False, False]


async def test_no_connection_becomes_another_protocol() -> None:
    web = Web(b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
    async with staged(f"{GOOD}:80") as stage:
        stage.hosts.ports[80] = await stage.server(web)
        async with stage.code() as code:
            upgrade = f"GET http://{GOOD}/ HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
            assert (await code.asked(upgrade)).startswith(b"HTTP/1.1 502 ")
        assert b"upgrade" not in web.requests[0].lower()


# ---- what is sent is garbage, or too much ----


async def test_garbage_at_both_doors_is_refused_and_the_next_is_served() -> None:
    source = random.Random(7)
    async with everything_listens(GOOD, f"{GOOD}:7000") as (stage, sent):
        for _ in range(40):
            data = source.randbytes(source.randint(1, 3000))
            for target in ("", f"{EVIL}:80", f"{EVIL}:443", f"{GOOD}:443"):
                async with stage.code(target) as code:
                    with contextlib.suppress(OSError):
                        await code.say(data)
                        code.writer.write_eof()
                    await code.rest()
        assert stage.hosts.dialed == [] and sent == []
        async with stage.code() as code:
            assert b" 200 " in await code.connected(GOOD, 7000)


async def test_invented_names_fill_neither_memory_nor_the_record() -> None:
    async with everything_listens(f"{GOOD}:7000") as (stage, _):
        for number in range(MOST_CONTACTS + 50):
            async with stage.code() as code:
                await code.connected(f"n{number}.example", 443)
        async with stage.code() as code:
            await code.connected(GOOD, 7000)
        assert len(stage.gate.contacts) <= MOST_CONTACTS
        assert stage.gate.contacts_left_out > 0
        assert any(contact.host == GOOD and contact.allowed for contact in stage.gate.contacts)


async def test_what_a_run_may_send_is_bounded_over_all_its_connections() -> None:
    async with everything_listens(f"{GOOD}:7000", caps=replace(STANDARD, sent=100_000)) as (stage, sent):
        for _ in range(4):
            async with stage.code() as code:
                await code.connected(GOOD, 7000)
                with contextlib.suppress(OSError):
                    await code.say(bytes(40_000))
                    code.writer.write_eof()
                await code.rest()
        await stage.idle()
        assert stage.gate.sent <= 100_000
        assert sum(map(len, sent)) <= 100_000


async def test_a_certificate_for_another_name_is_the_codes_own_business(tmp_path: Path) -> None:
    """The gate never ends TLS itself: whom the code trusts is checked by the code."""
    server, client = certificate(tmp_path, EVIL)
    async with staged(GOOD) as stage:
        stage.hosts.ports[443] = await stage.server(echo, server)
        async with stage.code() as code:
            await code.connected(GOOD, 443)
            with pytest.raises(OSError, match=r"(?i)certificate verify failed"):
                await code.writer.start_tls(client, server_hostname=GOOD)
