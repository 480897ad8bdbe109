"""The sockets that listen on a port of this machine, and whose they are. Standard library only, for the bridge."""

from __future__ import annotations

import socket
import struct
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Addresses are written in /proc/net/tcp as numbers of four bytes, in the machine's own order of bytes.
_LOOPBACK = f"{int.from_bytes(bytes((127, 0, 0, 1)), sys.byteorder):08X}"
_MAPPED = "0" * 16 + f"{int.from_bytes(bytes((0, 0, 255, 255)), sys.byteorder):08X}"
LOCAL = frozenset({_LOOPBACK, _MAPPED + _LOOPBACK})
EVERYWHERE = frozenset({"0" * 8, "0" * 32, _MAPPED + "0" * 8})
LISTENING = 10
"""State of a listening socket (include/net/tcp_states.h)."""
# include/uapi/linux/netlink.h, sock_diag.h, inet_diag.h
SOCK_DIAG, BY_FAMILY, REQUEST_DUMP, ERROR, DONE = 4, 20, 0x301, 2, 3
HEADER = struct.Struct("=IHHII")
ASKED = struct.Struct("=BBBBI48x")
MESSAGE = struct.Struct("=4x2s2x16s40xII")
"""Port, address, user and inode of a socket, in what the kernel answers."""
ANSWER_SECONDS = 1.0
MOST_BYTES = 1 << 16


class ListeningSocket:
    """A listening socket, as in /proc/net/tcp and tcp6."""

    __slots__ = ("address", "inode", "user")

    def __init__(self, address: str, user: int, inode: str) -> None:
        self.address, self.user, self.inode = address, user, inode


def on_port(port: int) -> list[ListeningSocket]:
    """Return the sockets that listen on `port`, at whatever address; none where the kernel does not say.

    The kernel is asked for listening sockets alone, in 0.04 ms: /proc/net/tcp goes through all connections that there
    could be, which takes milliseconds for each message of the bridge. It is read where the kernel cannot be asked.
    """
    try:
        return [listener for number, listener in _asked() if number == port]
    except (OSError, struct.error, AttributeError):
        return [listener for number, listener in _read() if number == port]


def reached(port: int) -> list[ListeningSocket]:
    """Return the listeners that get connections to 127.0.0.1:`port`: on that address, else on all addresses."""
    found = on_port(port)
    return [one for one in found if one.address in LOCAL] or [one for one in found if one.address in EVERYWHERE]


def _asked() -> Iterator[tuple[int, ListeningSocket]]:
    """Yield port and listener of each listening socket. Raises OSError, AttributeError where there is no such way."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, SOCK_DIAG) as kernel:
        kernel.settimeout(ANSWER_SECONDS)
        for family, length in ((socket.AF_INET, 4), (socket.AF_INET6, 16)):
            question = ASKED.pack(family, socket.IPPROTO_TCP, 0, 0, 1 << LISTENING)
            kernel.send(HEADER.pack(HEADER.size + len(question), BY_FAMILY, REQUEST_DUMP, 1, 0) + question)
            for message in _messages(kernel):
                number, address, user, inode = MESSAGE.unpack_from(message)
                words = struct.unpack(f"={length // 4}I", address[:length])
                shown = "".join(f"{word:08X}" for word in words)
                yield int.from_bytes(number, "big"), ListeningSocket(shown, user, str(inode))


def _messages(kernel: socket.socket) -> Iterator[bytes]:
    """Yield the messages of one answer. Raises OSError for an error."""
    while True:
        data, (sender, _groups) = kernel.recvfrom(MOST_BYTES)
        if sender != 0:  # not of the kernel
            continue
        at = 0
        while at < len(data):
            length, kind, *_ = HEADER.unpack_from(data, at)
            if kind == DONE:
                return
            if kind == ERROR or length < HEADER.size:
                raise OSError("the kernel does not say who listens")
            yield data[at + HEADER.size : at + length]
            at += length + 3 & ~3


def _read() -> Iterator[tuple[int, ListeningSocket]]:
    """Yield the same from /proc."""
    for table in ("tcp", "tcp6"):
        try:
            with open(f"/proc/net/{table}", encoding="ascii") as file:
                rows = file.read().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, rows):
            address, _, number = fields[1].rpartition(":")
            if int(fields[3], 16) == LISTENING:
                yield int(number, 16), ListeningSocket(address, int(fields[7]), fields[9])
