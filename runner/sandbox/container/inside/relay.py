"""Beside the code in a container: carries its connections to the console, as frames on standard input and output.

Usage: relay.py FILE PORT ...; standard input begins with a length in eight hexadecimal digits, a line end, and that
many bytes for FILE (no file where there are none). Two doors: a proxy at 127.0.0.1:3128; and for programs that know
no proxy, a name server that answers each name with an address of 127.66.0.0/16 of its own, with listeners on the
PORTs of all of them. Not trusted: the code runs as the same user and may be anything that this program seems to be.

A frame is a stream (4 bytes), a kind (1), a length (4) and data. Kinds: `o` opens (data: name and port, or nothing for
the proxy; stream 0 says that all is ready), `d` data, `e` no more data, `w` so many bytes were taken (4 bytes),
`c` closed, and for stream 0 `l`: one more port to listen on (4 bytes). A stream's number is used once; its place is
free when the console has sent `c`, which this side need not answer.
"""

from __future__ import annotations

# Not `socket`, which takes longer to import than the interpreter to start.
import _socket as socket
import os
import select
import struct
import sys

HEAD = struct.Struct(">IcI")
COUNT = struct.Struct(">I")
WINDOW = 1 << 18
"""Bytes of one stream that may be under way to the console."""
WIDE_WINDOW = 1 << 20
"""The same from the console for a stream that carries much, held here until the code takes them."""
MOST_WIDE = 16
"""Streams that have it; those beyond have WINDOW, so that all of them fit into the memory of a small sandbox."""
PIECE = 1 << 16
MOST_STREAMS = 100
BACKLOG = 64
MOST_NAMES = 60_000
PROXY_PORT = 3128
NAME_PORT = 53
LONGEST_QUERY = 512
QUESTION = struct.Struct(">HH")
ADDRESS, INTERNET = 1, 1
LIFETIME = 5
"""Seconds that an answer of the name server may be remembered."""


class InventedNames:
    """Gives every name an address of its own; nobody is asked."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._places: dict[str, int] = {}

    def answer(self, query: bytes) -> bytes:
        """Return the answer to a query for a name; b'' for what is none."""
        labels, at = [], 12
        try:
            while query[at]:
                if query[at] > 63:  # a pointer: there is nothing before a question that it could lead to
                    return b""
                labels.append(query[at + 1 : at + 1 + query[at]].decode("ascii").lower())
                at += 1 + query[at]
            kind, family = QUESTION.unpack_from(query, at + 1)
        except (IndexError, UnicodeDecodeError, struct.error):
            return b""
        found = self._address(".".join(labels)) if (kind, family) == (ADDRESS, INTERNET) else b""
        # A name without the kind of address that is asked for exists all the same.
        head = query[:2] + b"\x81\x80\0\1" + (b"\0\1" if found else b"\0\0") + bytes(4)
        record = b"\xc0\x0c" + struct.pack(">HHIH", ADDRESS, INTERNET, LIFETIME, 4) + found if found else b""
        return head + query[12 : at + 5] + record

    def _address(self, name: str) -> bytes:
        """Return the four bytes of its address; b'' where there is no more."""
        if name == "localhost" or name.endswith(".localhost"):
            return bytes((127, 0, 0, 1))
        if name not in self._places:
            if len(self._names) >= MOST_NAMES or not 0 < len(name) <= 253:
                return b""
            self._places[name] = len(self._names)
            self._names.append(name)
        return struct.pack(">BBH", 127, 66, self._places[name] + 1)

    def name(self, address: str) -> str:
        """Return the name that has this address, '' where none has it."""
        network, place = struct.unpack(">HH", socket.inet_aton(address))
        return self._names[place - 1] if network == 127 << 8 | 66 and 0 < place <= len(self._names) else ""


class Listener:
    """A listener. Connections to `port` are for the name whose address they go to; 0 is the proxy's own."""

    def __init__(self, relay: Relay, host: str, listen: int, port: int) -> None:
        self._relay = relay
        self._listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((host, listen))
        self._listener.listen(BACKLOG)
        self._listener.setblocking(False)
        self._port = port

    def open(self, wanted: bool) -> None:
        """Take connections or let them wait."""
        self._relay.watch(self._listener.fileno(), self, select.EPOLLIN if wanted else 0)

    def ready(self, _events: int) -> None:
        try:
            file, _ = self._listener._accept()  # type: ignore[attr-defined] # which the typeshed does not know
        except OSError:  # it has gone already
            return
        connection, target = socket.socket(fileno=file), ""
        if self._port:
            name = self._relay.names.name(connection.getsockname()[0])
            if not name:
                connection.close()
                return
            target = f"{name}:{self._port}"
        self._relay.accepted(connection, target)


class NameServer:
    def __init__(self, names: InventedNames) -> None:
        self._names = names
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", NAME_PORT))
        self.socket.setblocking(False)

    def ready(self, _events: int) -> None:
        try:
            query, asker = self.socket.recvfrom(LONGEST_QUERY)
            if answer := self._names.answer(query):
                self.socket.sendto(answer, asker)
        except OSError:
            return


class CarriedStream:
    """One connection of the code."""

    def __init__(self, relay: Relay, number: int, connection: socket.socket) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._relay, self._number, self._connection = relay, number, connection
        self._credit = WINDOW
        self._window = WINDOW
        self._waiting = bytearray()
        self._taken = 0
        self._no_more_to_read = self._no_more_to_write = self._closing = False
        self.gone = False
        self._read()  # what it has sent already leaves with the message that it is open

    def _watch(self) -> None:
        reads = self._credit > 0 and not self._no_more_to_read
        events = (select.EPOLLIN if reads else 0) | (select.EPOLLOUT if self._waiting else 0)
        self._relay.watch(self._connection.fileno(), self, events)

    def ready(self, events: int) -> None:
        if events & select.EPOLLOUT:
            self._flush()
        if events & ~select.EPOLLOUT and not self.gone:
            self._read()

    def take(self, kind: bytes, data: bytes) -> None:
        """Do what the console's frame says."""
        if self.gone:
            return
        if kind == b"d":
            self._waiting += data
            self._flush()
        elif kind == b"e":
            self._no_more_to_write = True
            self._flush()
        elif kind == b"w":
            self._credit += COUNT.unpack(data)[0]
            self._watch()
        elif kind == b"c":
            self._closing = True  # what waits to be written goes first
            self._flush()

    def _read(self) -> None:
        try:
            data = self._connection.recv(min(PIECE, self._credit)) if self._credit > 0 else b""
        except BlockingIOError:
            self._watch()
            return
        except OSError:
            self._end()
            return
        if data:
            self._credit -= len(data)
            self._relay.send(self._number, b"d", data)
        elif self._credit > 0 and not self._no_more_to_read:
            self._no_more_to_read = True
            self._relay.send(self._number, b"e")
        elif self._no_more_to_read:  # woken without being asked to read: it was reset
            self._end()
            return
        self._watch()

    def _flush(self) -> None:
        try:
            while self._waiting:
                sent = self._connection.send(self._waiting)
                del self._waiting[:sent]
                self._taken += sent
        except BlockingIOError:
            pass
        except OSError:
            self._end()
            return
        if self._taken >= self._window // 4:  # less never leaves the console without credit, and every word costs
            more = self._relay.widen(self._number) - self._window
            self._window += more
            self._relay.send(self._number, b"w", COUNT.pack(self._taken + more))
            self._taken = 0
        if self._closing and not self._waiting:
            self._end()
            return
        if self._no_more_to_write and not self._waiting:
            try:
                self._connection.shutdown(socket.SHUT_WR)
            except OSError:
                self._end()
                return
        self._watch()

    def _end(self) -> None:
        self.gone = True
        self._relay.watch(self._connection.fileno(), self, 0)
        self._connection.close()
        if not self._closing:  # else the console knows, and each word wakes it
            self._relay.send(self._number, b"c")


class Relay:
    def __init__(self) -> None:
        self.names = InventedNames()
        self._epoll = select.epoll()
        self._watched: dict[int, tuple[Listener | NameServer | CarriedStream | Relay, int]] = {}
        self._streams: dict[int, CarriedStream] = {}
        self._wide: set[int] = set()
        self._number = 0
        self._buffer = bytearray()
        self._unsent = bytearray()
        self._doors: list[Listener] = []

    def watch(self, file: int, whose: Listener | NameServer | CarriedStream | Relay, events: int) -> None:
        """Call `whose.ready` when one of `events` has happened at `file`; not at all for none."""
        _, before = self._watched.get(file, (whose, 0))
        if not events:
            if self._watched.pop(file, None):
                self._epoll.unregister(file)
            return
        self._watched[file] = whose, events
        if not before:
            self._epoll.register(file, events)
        elif events != before:
            self._epoll.modify(file, events)

    def send(self, stream: int, kind: bytes, data: bytes = b"") -> None:
        """Write a frame, at the latest when all that has happened meanwhile is done."""
        self._unsent += HEAD.pack(stream, kind, len(data))
        self._unsent += data
        if len(self._unsent) >= PIECE:
            self._write()

    def _write(self) -> None:
        """Write what is unsent. It may block, as the console always reads."""
        with memoryview(self._unsent) as left:
            at = 0
            while at < len(left):
                at += os.write(1, left[at:])
        self._unsent.clear()

    def widen(self, number: int) -> int:
        """Return the window of a stream that carries much to the code."""
        if len(self._wide) < MOST_WIDE:
            self._wide.add(number)
        return WIDE_WINDOW if number in self._wide else WINDOW

    def accepted(self, connection: socket.socket, target: str) -> None:
        self._number += 1
        self.send(self._number, b"o", target.encode("ascii"))
        self._streams[self._number] = CarriedStream(self, self._number, connection)
        if len(self._streams) >= MOST_STREAMS:
            for door in self._doors:
                door.open(False)

    def ready(self, _events: int) -> None:
        """Do what the console's frames say."""
        data = os.read(0, WINDOW)
        if not data:
            os._exit(0)
        self._buffer += data
        at = 0
        while len(self._buffer) - at >= HEAD.size:
            number, kind, size = HEAD.unpack_from(self._buffer, at)
            end = at + HEAD.size + size
            if len(self._buffer) < end:
                break
            if kind == b"l":
                self._listen(*COUNT.unpack(self._buffer[at + HEAD.size : end]))
            elif stream := self._streams.get(number):
                stream.take(kind, bytes(self._buffer[at + HEAD.size : end]))
                if kind == b"c":
                    self._free(number, stream)
            at = end
        del self._buffer[:at]

    def _listen(self, port: int) -> None:
        """Open one more listener, where the code has taken no such port itself."""
        try:
            door = Listener(self, "0.0.0.0", port, port)
        except OSError:
            return
        self._doors.append(door)
        door.open(len(self._streams) < MOST_STREAMS)

    def _free(self, number: int, stream: CarriedStream) -> None:
        """Give the place of a stream to another; one that still writes needs none."""
        del self._streams[number]
        self._wide.discard(number)
        if len(self._streams) == MOST_STREAMS - 1:
            for door in self._doors:
                door.open(True)

    def run(self, ports: list[int]) -> None:
        server = NameServer(self.names)
        self._doors = [
            Listener(self, "127.0.0.1", PROXY_PORT, 0),
            *(Listener(self, "0.0.0.0", port, port) for port in ports),
        ]
        for door in self._doors:
            door.open(True)
        self.watch(server.socket.fileno(), server, select.EPOLLIN)
        self.watch(0, self, select.EPOLLIN)
        self.send(0, b"o")
        while True:
            self._write()
            for file, events in self._epoll.poll():
                if file in self._watched:  # else it has gone in the same round
                    self._watched[file][0].ready(events)


def exactly(count: int) -> bytes:
    """Return so many bytes of standard input; without them nobody wants this program any more."""
    data = b""
    while len(data) < count:
        piece = os.read(0, count - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return data


def put(data: bytes, path: str) -> None:
    """Write the file, in place of what a run before has left there."""
    if data:
        if os.path.lexists(path):
            os.unlink(path)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444), "wb") as file:
            file.write(data)


if __name__ == "__main__":
    put(exactly(int(exactly(9), 16)), sys.argv[1])
    Relay().run([int(word) for word in sys.argv[2:]])
