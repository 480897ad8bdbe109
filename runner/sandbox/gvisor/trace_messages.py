"""Decodes what gVisor's kernel reports of the code in it: messages whose texts the code chooses.

The form is that of gVisor's `pkg/sentry/seccheck`: a header, then a message in the encoding of protocol buffers. Only
what is used here is read; everything is bounded, and whatever makes no sense raises BadMessage.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.behaviour import LONGEST, UNIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LARGEST = 1 << 16
"""Bytes of one message; the rest of a longer one is lost."""
HANDSHAKE = b"\x08\x01"
"""What both sides send first: that they speak version 1."""
MOST_WORDS = 40
"""Words of a command line that are read from its beginning, and two from its end."""
MOST_BYTES = 4 * LONGEST
"""Of each text."""
PATH_BYTES = 4096
_HEADER = struct.Struct("<HHI")
_LEAST_HEADER = 8
_START = 1
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_CONTEXT = 1
_PROCESS, _FOLDER = 4, 8
INET, INET6 = 2, 10
LOCAL = 1
Field = tuple[int, int | bytes]


class BadMessage(ValueError):
    """Bytes that are no message of gVisor."""


@dataclass(frozen=True, slots=True)
class Cloned:
    """A process started another one, or a thread."""

    process: int
    child: int


@dataclass(frozen=True, slots=True)
class Executed:
    """A process became a program, or tried to where `error` is not 0."""

    process: int
    path: bytes
    words: tuple[bytes, ...]
    """Those of the command line that were read."""
    last: tuple[bytes, bytes]
    """The last two words."""
    more: bool = False
    """Whether there are words that were not read."""
    error: int = 0


@dataclass(frozen=True, slots=True)
class Exited:
    """A process ended."""

    process: int
    status: int
    """As wait(2) has it."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file was opened, or was to be where `error` is not 0."""

    process: int
    folder: bytes
    """What a path that is not absolute begins at."""
    path: bytes
    flags: int
    error: int


@dataclass(frozen=True, slots=True)
class Reached:
    """A connection was asked for."""

    process: int
    host: str
    """An address, or the path of a socket in the file system."""
    port: int
    """0 for a socket in the file system."""


@dataclass(frozen=True, slots=True)
class Called:
    """A system call of which only the registers are known."""

    process: int
    number: int
    arguments: tuple[int, int, int, int]


Message = Cloned | Executed | Exited | Opened | Reached | Called


def container_of(data: bytes) -> str:
    """Return the container that starts, of the first message of a kernel that others share. Raises BadMessage."""
    kind, rest, _ = _opened_up(data)
    if kind != _START:
        raise BadMessage
    name = next((_bytes(value) for number, value in _fields(rest) if number == 2), b"")
    if not name.isalnum():
        raise BadMessage
    return name.decode("ascii", "replace")


def decoded(data: bytes) -> tuple[Message | None, int]:
    """Return a message, None for one that is not used, and how many were dropped before. Raises BadMessage."""
    kind, rest, dropped = _opened_up(data)
    read = _READERS.get(kind)
    return None if read is None else read(rest), dropped


def _opened_up(data: bytes) -> tuple[int, bytes, int]:
    """Return a message's kind, what it says, and how many were dropped before. Raises BadMessage."""
    if not _LEAST_HEADER <= len(data) <= LARGEST:
        raise BadMessage
    size, kind, dropped = _HEADER.unpack_from(data)
    if not _LEAST_HEADER <= size <= len(data):
        raise BadMessage
    return kind, data[size:], dropped


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise BadMessage
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7


def _fields(data: bytes) -> Iterator[Field]:
    """Yield number and value of each field that is a whole number or bytes. Raises BadMessage."""
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        wire = key & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
        elif wire == _BYTES:
            size, at = _varint(data, at)
            if size > end - at:
                raise BadMessage
            yield key >> 3, data[at : at + size]
            at += size
        elif wire in (_FIXED64, _FIXED32):
            at += 8 if wire == _FIXED64 else 4
            if at > end:
                raise BadMessage
        else:
            raise BadMessage


def _number(value: int | bytes) -> int:
    """Return a field as a number with a sign, as gVisor's are. Raises BadMessage."""
    if isinstance(value, bytes):
        raise BadMessage
    return value - (1 << 64) if value >> 63 else value


def _bytes(value: int | bytes, most: int = MOST_BYTES) -> bytes:
    """Return a field as bytes, cut. Raises BadMessage."""
    if not isinstance(value, bytes):
        raise BadMessage
    return value[:most]


def _context(value: int | bytes) -> tuple[int, bytes]:
    """Return the process that a message is about, and its folder. Raises BadMessage."""
    process, folder = 0, b""
    for number, one in _fields(_bytes(value, LARGEST)):
        if number == _PROCESS:
            process = _number(one)
        elif number == _FOLDER:
            folder = _bytes(one, PATH_BYTES)
    return process, folder


def _error(value: int | bytes) -> int:
    """Return the error in the outcome of a call, 0 for none. Raises BadMessage."""
    return next((_number(one) for number, one in _fields(_bytes(value, LARGEST)) if number == 2), 0)


def _cloned(data: bytes) -> Cloned:
    return Cloned(*_process_and_number(data, 4))


def _ended(data: bytes) -> Exited:
    return Exited(*_process_and_number(data, 2))


def _process_and_number(data: bytes, wanted: int) -> tuple[int, int]:
    """Return the process of a message and its field `wanted`, 0 for what is missing. Raises BadMessage."""
    process = found = 0
    for number, value in _fields(data):
        if number == _CONTEXT:
            process, _ = _context(value)
        elif number == wanted:
            found = _number(value)
    return process, found


def _executed(data: bytes) -> Executed:
    return _command(data, 2, 3)


def _tried(data: bytes) -> Executed | None:
    """Return a try in vain; one that was not is a message of its own."""
    found = _command(data, 6, 7)
    return found if found.error else None


def _command(data: bytes, path_at: int, words_at: int) -> Executed:
    process, error, count = 0, 0, 0
    path = before = last = b""
    words: list[bytes] = []
    for number, value in _fields(data):
        if number == words_at:
            count += 1
            if count <= MOST_WORDS:
                words.append(_bytes(value))
            before, last = last, _bytes(value)
        elif number == _CONTEXT:
            process, _ = _context(value)
        elif number == path_at:
            path = _bytes(value, PATH_BYTES)
        elif number == 2 and path_at != 2:
            error = _error(value)
    return Executed(process, path, tuple(words), (before, last), count > MOST_WORDS, error)


def _opened(data: bytes) -> Opened:
    process = flags = error = 0
    folder = above = path = b""
    for number, value in _fields(data):
        if number == _CONTEXT:
            process, folder = _context(value)
        elif number == 2:
            error = _error(value)
        elif number == 5:
            above = _bytes(value, PATH_BYTES)
        elif number == 6:
            path = _bytes(value, PATH_BYTES)
        elif number == 7:
            flags = _number(value)
    return Opened(process, above or folder, path, flags, error)


def _connected(data: bytes) -> Reached:
    process, address = 0, b""
    for number, value in _fields(data):
        if number == _CONTEXT:
            process, _ = _context(value)
        elif number == 6:
            address = _bytes(value)
    return Reached(process, *_address(address))


def _address(data: bytes) -> tuple[str, int]:
    """Return host and port of what the code handed over as an address, which may be anything."""
    family = int.from_bytes(data[:2], "little")
    if family == INET and len(data) >= 8:
        return socket.inet_ntop(socket.AF_INET, data[4:8]), int.from_bytes(data[2:4], "big")
    if family == INET6 and len(data) >= 24:
        return socket.inet_ntop(socket.AF_INET6, data[8:24]), int.from_bytes(data[2:4], "big")
    if family == LOCAL:
        path = data[2:]
        text = b"@" + path[1:] if path.startswith(b"\0") else path.split(b"\0", 1)[0]
        return UNIX + text.decode("utf-8", "backslashreplace"), 0
    return f"address of family {family}", 0


def _called(data: bytes) -> Called:
    process = call = 0
    arguments = [0, 0, 0, 0]
    for number, value in _fields(data):
        if number == _CONTEXT:
            process, _ = _context(value)
        elif number == 4:
            call = _number(value)
        elif 5 <= number <= 8:
            arguments[number - 5] = _number(value)
    first, second, third, fourth = arguments
    return Called(process, call, (first, second, third, fourth))


_READERS: dict[int, Callable[[bytes], Message | None]] = {
    2: _cloned,
    3: _executed,
    4: _ended,
    6: _called,
    7: _opened,
    10: _connected,
    11: _tried,
}
"""By the number of the kind (`MessageType` in points/common.proto)."""
