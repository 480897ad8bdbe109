"""The server name in the greeting of TLS, read from what code sends: piece by piece, in bounded memory."""

from __future__ import annotations

import re

HANDSHAKE, CLIENT_HELLO, SERVER_NAME, HOST_NAME = 22, 1, 0, 0
HIDES_NAME = frozenset({0xFE0D, 0xFFCE})
"""Extensions that carry an encrypted server name: of the encrypted client hello (RFC 9849), and of its draft."""
MOST_RECORD_BYTES = (1 << 14) + 256
MOST_HELLO_BYTES = 1 << 16
_NAME = re.compile(rb"[\x21-\x7e]{1,255}")


class NotTLS(ValueError):
    """What was read is not the greeting of a TLS client, or not one that every server reads alike."""


class ClientHello:
    """A greeting as it arrives."""

    def __init__(self) -> None:
        self._record = bytearray()
        self._hello = bytearray()
        self.name: str | None = None
        """The server name; empty where the greeting has none; None until it is complete."""
        self.hides_name = False
        """Whether another name may be encrypted in it; then `name` is the outer one, which only the network goes by."""

    def feed(self, data: bytes) -> bool:
        """Take the next bytes and return whether the greeting is complete. Raises NotTLS."""
        self._record += data
        at = 0
        while self.name is None and len(self._record) - at >= 5:
            kind, major, size = self._record[at], self._record[at + 1], _number(self._record, at + 3, 2)
            if kind != HANDSHAKE or major != 3 or not 0 < size <= MOST_RECORD_BYTES:
                raise NotTLS("no record of a TLS handshake")
            if len(self._record) - at - 5 < size:
                break
            self._hello += self._record[at + 5 : at + 5 + size]
            at += 5 + size
            self._look()
        del self._record[:at]
        if self.name is None and self._record and self._record[0] != HANDSHAKE:
            raise NotTLS("no record of a TLS handshake")
        return self.name is not None

    def _look(self) -> None:
        if self._hello[0] != CLIENT_HELLO:
            raise NotTLS("no greeting of a client")
        if len(self._hello) < 4:
            return
        size = 4 + _number(self._hello, 1, 3)
        if size > MOST_HELLO_BYTES:
            raise NotTLS("too large a greeting")
        if len(self._hello) >= size:
            if len(self._hello) > size:
                raise NotTLS("something behind the greeting")
            extensions = _extensions(bytes(self._hello[4:]))
            self.hides_name = any(kind in HIDES_NAME for kind, _ in extensions)
            self.name = _server_name(extensions)


def _extensions(body: bytes) -> list[tuple[int, bytes]]:
    """Return the extensions of a complete greeting. Raises NotTLS."""
    at = 2 + 32
    _, at = _vector(body, at, 1)
    _, at = _vector(body, at, 2)
    _, at = _vector(body, at, 1)
    if at == len(body):
        return []
    listed, at = _vector(body, at, 2)
    if at != len(body):
        raise NotTLS("lengths that do not fit")
    found, at = list[tuple[int, bytes]](), 0
    while at < len(listed):
        kind = _number(listed, at, 2)
        content, at = _vector(listed, at + 2, 2)
        found.append((kind, content))
    return found


def _server_name(extensions: list[tuple[int, bytes]]) -> str:
    """Return the name, '' without one. Raises NotTLS."""
    names = [content for kind, content in extensions if kind == SERVER_NAME]
    if len(names) > 1:
        raise NotTLS("two server names")
    return _host_name(names[0]) if names else ""


def _host_name(extension: bytes) -> str:
    entries, end = _vector(extension, 0, 2)
    if end != len(extension):
        raise NotTLS("lengths that do not fit")
    kind = _number(entries, 0, 1)
    name, end = _vector(entries, 1, 2)
    if kind != HOST_NAME or end != len(entries) or not _NAME.fullmatch(name):
        raise NotTLS("no single server name")
    return name.decode("ascii")


def _vector(data: bytes, at: int, width: int) -> tuple[bytes, int]:
    """Return the content behind a length of `width` bytes, and where it ends. Raises NotTLS."""
    start = at + width
    end = start + _number(data, at, width)
    if end > len(data):
        raise NotTLS("lengths that do not fit")
    return data[start:end], end


def _number(data: bytes | bytearray, at: int, width: int) -> int:
    if at + width > len(data):
        raise NotTLS("lengths that do not fit")
    return int.from_bytes(data[at : at + width], "big")
