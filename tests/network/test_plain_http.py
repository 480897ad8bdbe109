"""A plain request is taken apart and written again: the host reads what the gate has read, and nothing more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from runner.network.caps import STANDARD
from tests.network.stage import GOOD, Web, staged

if TYPE_CHECKING:
    import asyncio

pytestmark = pytest.mark.asyncio
FIRST = f"POST http://{GOOD}/p HTTP/1.1\r\nHost: {GOOD}\r\n"


async def exchanged(request: str, web: Web | None = None) -> tuple[bytes, list[bytes]]:
    """Send `request` by the proxy; return its answer, and what the host was sent."""
    web = web or Web()
    async with staged(f"{GOOD}:80") as stage:
        stage.hosts.ports[80] = await stage.server(web)
        async with stage.code() as code:
            return await code.asked(request), web.requests


async def test_a_body_of_a_known_length_travels() -> None:
    answer, sent = await exchanged(FIRST + "Content-Length: 5\r\n\r\nhello")
    assert answer.endswith(b"\r\n\r\nok")
    assert sent[0].endswith(b"\r\n\r\nhello")


async def test_a_chunked_body_is_chunked_again_without_its_extensions_and_trailers() -> None:
    body = "3;name=value\r\nhel\r\n2\r\nlo\r\n0\r\nX-Trailer: 1\r\n\r\n"
    _, sent = await exchanged(FIRST + "Transfer-Encoding: chunked\r\n\r\n" + body)
    head, _, rest = sent[0].partition(b"\r\n\r\n")
    assert b"name=value" not in rest and b"Trailer" not in rest
    assert rest.endswith(b"0\r\n\r\n") and b"hel" in rest
    assert head.lower().count(b"transfer-encoding: chunked") == 1


async def test_headers_for_the_next_host_alone_stay_here() -> None:
    more = (
        "Connection: X-Secret, close\r\nX-Secret: 1\r\nProxy-Authorization: Basic x\r\nUpgrade: websocket\r\n"
        "Keep-Alive: x\r\nTE: trailers\r\nProxy-Connection: keep-alive\r\nAccept: */*\r\n\r\n"
    )
    _, sent = await exchanged(f"GET http://{GOOD}/ HTTP/1.1\r\nHost: evil.example\r\n{more}")
    assert sent == [f"GET / HTTP/1.1\r\nHost: {GOOD}\r\nAccept: */*\r\nConnection: close\r\n\r\n".encode()]


async def test_an_upgrade_is_not_one() -> None:
    web = Web(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n")
    answer, _ = await exchanged(f"GET http://{GOOD}/ HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n", web)
    assert answer.startswith(f"HTTP/1.1 502 Assent: {GOOD}:80 answers something else than HTTP".encode())


async def test_one_that_waits_for_a_word_before_its_body_gets_it_here() -> None:
    web = Web()
    async with staged(f"{GOOD}:80") as stage:
        stage.hosts.ports[80] = await stage.server(web)
        async with stage.code() as code:
            await code.say(FIRST + "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            assert await code.head() == b"HTTP/1.1 100 Continue\r\n\r\n"
            assert (await code.asked("hi")).endswith(b"ok")
    assert b"expect" not in web.requests[0].lower()


async def test_a_second_request_on_the_connection_is_never_read() -> None:
    second = f"GET http://{GOOD}/second HTTP/1.1\r\nHost: {GOOD}\r\n\r\n"
    answer, sent = await exchanged(FIRST + "Content-Length: 0\r\n\r\n" + second)
    assert len(sent) == 1 and b"second" not in sent[0]
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in answer.lower()


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", b"2\r\nok\r\n0\r\n\r\n"),
        (b"HTTP/1.0 200 OK\r\n\r\nuntil the end", b"until the end"),
        (b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", b"ok"),
    ],
)
async def test_answers_of_every_kind_arrive(answer: bytes, body: bytes) -> None:
    found, _ = await exchanged(f"GET http://{GOOD}/ HTTP/1.1\r\nHost: x\r\n\r\n", Web(answer))
    head, _, rest = found.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 20")
    assert body in rest
    assert not (b"content-length" in head.lower() and b"transfer-encoding" in head.lower())


async def test_head_has_no_body() -> None:
    web = Web(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
    answer, _ = await exchanged(f"HEAD http://{GOOD}/ HTTP/1.1\r\nHost: x\r\n\r\n", web)
    assert b"content-length: 100" in answer.lower() and answer.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-x\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\nX",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000,
    ],
)
async def test_a_host_that_does_not_speak_http_is_a_failure(answer: bytes) -> None:
    found, _ = await exchanged(f"GET http://{GOOD}/ HTTP/1.1\r\nHost: x\r\n\r\n", Web(answer))
    assert found.startswith(f"HTTP/1.1 502 Assent: {GOOD}:80 ".encode())


async def test_an_answer_may_come_before_the_end_of_the_request() -> None:
    async def impatient(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    async with staged(f"{GOOD}:80") as stage:
        stage.hosts.ports[80] = await stage.server(impatient)
        async with stage.code() as code:
            answer = await code.asked(FIRST + "Content-Length: 1000000\r\n\r\n" + "x" * 1000)
    assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("body", ["zz\r\n", "5\r\nhel", "-1\r\nx\r\n", "1" * 30_000])
async def test_a_body_that_cannot_be_read_is_refused(body: str) -> None:
    async def patient(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with staged(f"{GOOD}:80") as stage:
        stage.hosts.ports[80] = await stage.server(patient)
        async with stage.code() as code:
            await code.say(FIRST + "Transfer-Encoding: chunked\r\n\r\n" + body)
            code.writer.write_eof()
            assert (await code.rest()).startswith(b"HTTP/1.1 400 ")


async def test_bytes_count_both_ways_and_over_the_cap_nothing_arrives() -> None:
    web = Web(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + bytes(100_000))
    async with staged(f"{GOOD}:80", caps=replace(STANDARD, received=50_000)) as stage:
        stage.hosts.ports[80] = await stage.server(web)
        async with stage.code() as code:
            assert len(await code.asked(f"GET http://{GOOD}/ HTTP/1.1\r\nHost: x\r\n\r\n")) <= 51_000
        ended = await stage.until(lambda contact: contact.allowed is None)
        assert "50,000 bytes that it may receive" in ended.why
        assert stage.gate.received <= 50_000
        assert stage.gate.sent == len(web.requests[0])
