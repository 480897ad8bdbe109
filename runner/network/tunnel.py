"""Bytes carried between the code and a host, both ways at once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from runner.model.network import UnusableHost, canonical_host, is_address
from runner.network.client_hello import ClientHello, NotTLS
from runner.network.refusals import UNRECOGNIZED_NAME, Blocked

if TYPE_CHECKING:
    from runner.network.dialing import Streams
    from runner.network.visit import Visit

PIECE_BYTES = 1 << 16
TLS_BYTE = b"\x16"


async def carry(visit: Visit, streams: Streams, first: bytes = b"", *, checked: bool = False) -> None:
    """Carry `first` and then everything, until both sides have ended. Raises OSError and Blocked.

    Unless `checked`, a greeting of TLS at the start must name the host that was asked for. What begins otherwise is
    carried unread, also where TLS begins later in it: which host it reaches is then a matter of the address alone,
    which the dialer has checked and which nothing in the bytes can change.
    """
    reader, writer = streams

    async def out() -> None:
        data = first or await visit.pipe.read()
        if not checked and data[:1] == TLS_BYTE:
            data = await greeting(visit, data)
        while data:
            await visit.sending(len(data))
            writer.write(data)
            await writer.drain()
            data = await visit.pipe.read()
        if writer.can_write_eof():
            writer.write_eof()

    async def back() -> None:
        while data := await reader.read(PIECE_BYTES):
            await visit.receiving(len(data))
            await visit.pipe.write(data)
        await visit.pipe.finish()

    async with asyncio.TaskGroup() as group:
        group.create_task(out(), name="gate: out")
        group.create_task(back(), name="gate: back")


async def greeting(visit: Visit, first: bytes) -> bytes:
    """Return the greeting of TLS, complete, once it names the host that was asked for. Raises Blocked."""
    hello = ClientHello()
    data = bytearray(first)
    try:
        async with visit.clock.timeout(visit.caps.head_seconds):
            complete = hello.feed(first) if first else False
            while not complete:
                more = await visit.pipe.read()
                data += more
                if not more or len(data) > visit.caps.head_bytes:
                    raise NotTLS("no complete greeting")
                complete = hello.feed(more)
    except (NotTLS, TimeoutError) as error:
        why = f"was asked for, and then something else than TLS came ({error or 'nothing in time'})"
        raise Blocked(why, alert=UNRECOGNIZED_NAME) from None
    if hello.hides_name:
        # Its name would be checked, and the host behind it would go by the encrypted one.
        why = "was asked for, but the TLS connection hides its server name (encrypted client hello)"
        raise Blocked(why, alert=UNRECOGNIZED_NAME)
    _check_name(hello.name or "", visit.host)
    return bytes(data)


def _check_name(name: str, host: str) -> None:
    """Raise Blocked where a greeting names another host than the code asked for, or none."""
    if not name and is_address(host):
        return
    try:
        same = canonical_host(name) == host
    except UnusableHost:
        same = False
    if not same:
        why = f"was asked for, but the TLS connection names {name or 'no host'}"
        raise Blocked(why, alert=UNRECOGNIZED_NAME)
