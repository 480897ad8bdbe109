"""MCP messages as the stdio bridge sees them: their era, their headers, their events. Standard library only."""

from __future__ import annotations

import base64
import json

from runner.gateway.exchange import MOST_BODY, BrokenExchange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

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
    """The data of each server-sent event that has any. Raises BrokenExchange."""
    data: list[str] = []
    size = 0
    for raw in response:
        line = raw.decode("utf-8").rstrip("\r\n")
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
            if (size := size + len(raw)) > MOST_BODY:
                raise BrokenExchange("an event of the response is longer than any of the console")
        elif not line and data:
            if text := "\n".join(data):
                yield text
            data, size = [], 0


def answers(text: str, request: Json) -> bool:
    """Return whether a message of the console is the answer to a request, and not on its own account.

    Raises BrokenExchange for what is neither. An error without an id may be about whatever it came for.
    """
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise BrokenExchange("what answers does not speak JSON-RPC")
    if "method" in said:
        return False
    given = said.get("id")
    if json.dumps(given) != json.dumps(request.get("id")) and not (given is None and "error" in said):
        raise BrokenExchange("the answer is to another request")
    return True


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
