"""MCP messages as the stdio bridge sees them: their era, their headers, their events. Standard library only."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Json = dict[str, Any]

MODERN = "2026-07-28"
"""The first protocol version without a handshake; each message then says which version it speaks."""
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
OWN_ERROR = -32000
"""JSON-RPC's code for errors of a server's own."""
LONGEST_REFUSAL = 400
"""Characters of a refusal that are handed on."""
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"


def asked_version(introduction: Json) -> str:
    """Return the protocol version that an `initialize` asks for; empty where it names none."""
    params = introduction.get("params")
    asked = params.get("protocolVersion") if isinstance(params, dict) else None
    return asked if isinstance(asked, str) else ""


def events(response: Iterable[bytes]) -> Iterator[str]:
    """The data of each server-sent event that has any."""
    data: list[str] = []
    for raw in response:
        line = raw.decode("utf-8").rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            if text := "\n".join(data):
                yield text
            data = []


def modern_version(message: Json) -> str:
    """Return the protocol version a message of the modern era names itself; else empty."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(VERSION_KEY) if isinstance(meta, dict) else None
    return header_text(version) if isinstance(version, str) else ""


def client_name(message: Json | None) -> str:
    """Return the name that a client gives itself, in `initialize` or in a message of the modern era; else empty."""
    params = message.get("params") if message is not None else None
    if not isinstance(params, dict):
        return ""
    meta = params.get("_meta")
    info = params.get("clientInfo") or (meta.get(CLIENT_KEY) if isinstance(meta, dict) else None)
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else ""


def speaks_modern(message: Json) -> bool:
    return bool(modern_version(message))


def modern(request: Json) -> Json:
    """Return the additional fields of results in the modern era."""
    return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if speaks_modern(request) else {}


def header_text(value: str) -> str:
    """Return a header value; text that is not plain ASCII is written as base64 between marks, as in the protocol."""
    if value.isascii() and value.isprintable() and value.strip() == value:
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'surrogatepass')).decode()}?="


def refusal_text(text: str) -> str:
    """Return why a message was refused: the console says it in JSON where it knows the id, else as plain text."""
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"Assent did not take this message: {text[:LONGEST_REFUSAL]}"
