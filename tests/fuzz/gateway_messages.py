"""Raw and mutated messages to a real gateway: each is answered or dropped, none is a fault, none stops the next."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import random
import re
import tempfile
import time
import warnings
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from runner.gateway import body, connection
from tests.gateway.stage import PRINT, introduction, modern, posted, staged
from tests.patience import HANGS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.gateway.stage import Stage

AT_ONCE = 16
PATIENCE = 0.1
"""Seconds after which the gateway drops half a message here."""
ANSWER_SECONDS = HANGS
STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
TOOLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("code_execute", PRINT),
    ("code_execute", {**PRINT, "context": {"a": [1, {"b": None}]}, "stdin": "x", "timeout": 5, "title": "t"}),
    ("code_execute", {**PRINT, "network_enabled": True, "allowed_domains": ["example.com"], "max_memory_mb": 64}),
    ("code_result", {"id": "0" * 32, "wait": 0}),
    ("code_sandbox_info", {}),
    ("code_create_sandbox", {"language": "python"}),
    ("code_write_file", {"sandbox_id": "s", "file_path": "a/b", "content": "x"}),
    ("code_read_file", {"sandbox_id": "s", "file_path": "../b", "offset": -1}),
    ("approve", {}),
)
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**63,
    10**400,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "\0",
    "\ud800",
    "\u202e",
    "x" * 5000,
    [],
    {},
    [[[[[[]]]]]],
    {"": {"": {}}},
    [0] * 3000,
    "code_execute",
    "tools/call",
)
VERSIONS = ("2026-07-28", "2025-06-18", "2024-11-05", "2027-01-01", "", "x", None)
HEADERS: tuple[tuple[str, str | None], ...] = (
    ("Authorization", None),
    ("Authorization", "Bearer x"),
    ("Origin", "null"),
    ("Host", "x"),
    ("Accept", "text/html"),
    ("Accept", None),
    ("Content-Type", "text/plain"),
    ("Assent-Hold", "nan"),
    ("Assent-Hold", "-1e999"),
    ("Mcp-Name", "=?base64?!?="),
    ("Mcp-Method", "x" * 500),
    ("Mcp-Session-Id", "x"),
    ("Transfer-Encoding", "chunked"),
    ("Expect", "100-continue"),
    ("Upgrade", "websocket"),
    ("Last-Event-Id", "0"),
    ("Content-Length", "1"),
    ("Content-Length", "-1"),
)


def run(seconds: float, seed: int) -> int:
    """Send messages for `seconds` and return how many; the same seed makes the same ones.

    Raises AssertionError, with seed, number and message, for the first that the gateway took amiss.
    """
    with warnings.catch_warnings():
        # The protocol's library leaves streams to the collector where a caller goes away.
        warnings.filterwarnings("ignore", "Unclosed <MemoryObject", ResourceWarning)
        sent = asyncio.run(_run(seconds, seed))
        gc.collect()
    return sent


async def _run(seconds: float, seed: int) -> int:
    faults: list[str] = []
    listener = _Listener(faults)
    asyncio.get_running_loop().set_exception_handler(lambda _loop, fault: faults.append(str(fault)))
    logging.getLogger().addHandler(listener)
    sent = 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            async with staged(Path(folder)) as stage:
                stage.answers()
                made = _messages(stage, await stage.session(), random.Random(seed))
                end = time.monotonic() + seconds
                while time.monotonic() < end:
                    some = [next(made) for _ in range(AT_ONCE)]
                    replies = await asyncio.gather(*(_reply(stage, message) for message in some))
                    for number, (message, status) in enumerate(zip(some, replies, strict=True), sent):
                        where = f"seed {seed}, message {number}: {message[:2000]!r}"
                        assert not faults, f"{faults[0]}\n{where} or one of {AT_ONCE} around it"
                        assert status < 500, f"answered with {status}\n{where}"
                    sent += AT_ONCE
                await _is_well(stage)
    finally:
        logging.getLogger().removeHandler(listener)
    assert not faults, faults[0]
    return sent


class _Listener(logging.Handler):
    """Collects what is logged as an error."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._faults = faults

    def emit(self, record: logging.LogRecord) -> None:
        self._faults.append(self.format(record))


async def _is_well(stage: Stage) -> None:
    """An honest call is answered as ever."""
    async with stage.client("auto") as client:
        assert not (await client.call_tool("code_execute", PRINT)).is_error


async def _reply(stage: Stage, message: bytes) -> int:
    """The status of the answer; 0 where the connection was closed without one."""
    with patch.object(connection, "HEADER_SECONDS", PATIENCE), patch.object(body, "BODY_SECONDS", PATIENCE):
        try:
            async with stage.dialed() as (reader, writer), asyncio.timeout(ANSWER_SECONDS):
                writer.write(message)
                found = STATUS.match(await reader.read(1 << 16))
                return int(found[1]) if found else 0
        except ConnectionError:
            return 0


def _messages(stage: Stage, session: str, chance: random.Random) -> Iterator[bytes]:
    while True:
        message = _message(chance)
        content = _encoded(message, chance)
        headers = stage.headers(Host=stage.host, Connection="close")
        version = chance.choice(VERSIONS) if chance.random() < 0.5 else "2026-07-28"
        headers |= {"Mcp-Method": str(_of(message, "method")), "Mcp-Name": str(_of(_of(message, "params"), "name"))}
        headers = {name: value for name, value in headers.items() if value.isprintable() and value.isascii()}
        _set(headers, "MCP-Protocol-Version", version)
        if version != "2026-07-28" and chance.random() < 0.7:
            headers["Mcp-Session-Id"] = session
        while chance.random() < 0.3:
            _set(headers, *chance.choice(HEADERS))
        raw = posted(headers, content)
        if chance.random() < 0.1:
            # DELETE without the session that other messages use at the same time: the library logs an error then.
            others = (b"GET", b"PUT", b"HEAD", b"OPTIONS", b"\0")
            method = chance.choice(others if "Mcp-Session-Id" in headers else (b"DELETE", *others))
            raw = raw.replace(b"POST", method, 1)
        yield _garbled(raw, chance) if chance.random() < 0.25 else raw


def _message(chance: random.Random) -> Any:
    name, arguments = chance.choice(TOOLS)
    message: Any = chance.choice(
        (
            modern("tools/call", {"name": name, "arguments": json.loads(json.dumps(arguments))}),
            modern("tools/call", {"name": name, "arguments": json.loads(json.dumps(arguments))}),
            modern("tools/list"),
            introduction(),
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            {"jsonrpc": "2.0", "id": 1, "result": {}},
            [modern("tools/list")],
        )
    )
    while chance.random() < 0.6:
        _change(message, chance)
    return message


def _change(value: Any, chance: random.Random) -> None:
    """Replace, remove or add something somewhere inside `value`."""
    while isinstance(value, dict | list) and value:
        key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        inner = value[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.7:
            value = inner
            continue
        if isinstance(value, dict) and chance.random() < 0.2:
            del value[key]
        elif isinstance(value, dict) and chance.random() < 0.2:
            value[str(chance.choice(ODD))[:300]] = deepcopy(chance.choice(ODD))
        else:
            value[key] = deepcopy(chance.choice(ODD))
        return


def _encoded(message: Any, chance: random.Random) -> bytes:
    text = json.dumps(message)
    if chance.random() < 0.1:
        # The same names again, with other values.
        text = text.replace('"method"', '"method": "x", "method"').replace('"code"', '"code": 1, "code"')
    if chance.random() < 0.05:
        return text.encode(chance.choice(("utf-16", "utf-32", "utf-8-sig")))
    if chance.random() < 0.05:
        return chance.choice((b"[", b'{"a":')) * chance.choice((100, 1000, 30_000))
    return text.encode()


def _garbled(raw: bytes, chance: random.Random) -> bytes:
    changed = bytearray(raw)
    for _ in range(chance.randrange(1, 8)):
        place = chance.randrange(len(changed))
        match chance.randrange(4):
            case 0:
                changed[place] = chance.randrange(256)
            case 1:
                del changed[place : place + chance.randrange(1, 20)]
            case 2:
                changed[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 20)))
            case _:
                changed = changed[: max(place, 1)]
        if not changed:
            return raw
    return bytes(changed)


def _of(value: Any, name: str) -> Any:
    return value.get(name, "") if isinstance(value, dict) else ""


def _set(headers: dict[str, str], name: str, value: str | None) -> None:
    if value is None:
        headers.pop(name, None)
    else:
        headers[name] = value
