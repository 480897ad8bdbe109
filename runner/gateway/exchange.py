"""One exchange of HTTP/1.1 with the console, on this machine. Standard library only, and little of it.

`http.client` reads heads as mail and loads TLS: that takes longer than all else that a hook or the bridge does. The
console sends bodies of a known length, in chunks, or to the end of the connection (RFC 9112).
"""

from __future__ import annotations

import contextlib
import re
import socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = "/mcp"
CONNECT_SECONDS = 5.0
MOST_LINE = 1 << 16
MOST_HEADERS = 100
MOST_BODY = 64 << 20
"""Bytes of a body that is read whole. The console sends at most the output of one run, and pictures."""
MOST_DIGITS = 16
DECIMAL, HEXADECIMAL = b"0123456789", b"0123456789abcdefABCDEF"
PIECE = 1 << 16
NO_BODY = (204, 304)
UNFIT = re.compile(r"[\x00-\x1f\x7f]")
"""What may not stand in a header: the end of a line would begin another one."""
STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})(?: |\Z)")


class BrokenExchange(OSError):
    """The response is not whole, or none."""


class HttpResponse:
    """The response: its head was read, its body is read once, by `read` or line by line."""

    def __init__(self, connection: socket.socket) -> None:
        """Read the head. Raises OSError."""
        self._stream = connection.makefile("rb")
        found = STATUS.match(self._line())
        if found is None:
            raise BrokenExchange("what answers does not speak HTTP/1.1")
        self.status = int(found[1])
        self._headers: dict[str, str] = {}
        for line in self._fields():
            name, colon, value = line.decode("latin-1").partition(":")
            if not colon:
                raise BrokenExchange("the head of the response cannot be read")
            self._headers[name.lower()] = value.strip(" \t")

    def getheader(self, name: str) -> str:
        """Return a header by its name in lower case; '' where it is not there."""
        return self._headers.get(name, "")

    def read(self) -> bytes:
        """Return the whole body. Raises OSError."""
        pieces: list[bytes] = []
        size = 0
        for piece in self._pieces():
            pieces.append(piece)
            if (size := size + len(piece)) > MOST_BODY:
                raise BrokenExchange("the response is larger than any of the console")
        return b"".join(pieces)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines of the body, each as soon as it is there. Raises OSError."""
        held: list[bytes] = []
        size = 0
        for piece in self._pieces():
            *lines, rest = piece.split(b"\n")
            for line in lines:
                yield b"".join((*held, line, b"\n"))
                held, size = [], 0
            held.append(rest)
            if (size := size + len(rest)) > MOST_BODY:
                raise BrokenExchange("a line of the response is longer than any of the console")
        if size:
            yield b"".join(held)

    def close(self) -> None:
        self._stream.close()

    def _pieces(self) -> Iterator[bytes]:
        if self.status in NO_BODY:
            return
        if "chunked" in self.getheader("transfer-encoding").lower():
            while size := self._number(self._line().partition(b";")[0], 16):
                yield from self._exactly(size)
                if self._line():
                    raise BrokenExchange("a chunk of the response is longer than it says")
            for _ in self._fields():
                pass
        elif length := self.getheader("content-length"):
            yield from self._exactly(self._number(length.encode(), 10))
        else:
            while piece := self._stream.read1(PIECE):
                yield piece

    def _exactly(self, size: int) -> Iterator[bytes]:
        while size:
            piece = self._stream.read1(min(size, PIECE))
            if not piece:
                raise BrokenExchange("the response breaks off")
            size -= len(piece)
            yield piece

    def _fields(self) -> Iterator[bytes]:
        """Yield the lines of a head, or of what follows the last chunk, up to the empty one."""
        for _ in range(MOST_HEADERS + 1):
            if not (line := self._line()):
                return
            yield line
        raise BrokenExchange("the response has more headers than can be read")

    def _line(self) -> bytes:
        line = self._stream.readline(MOST_LINE + 1)
        if not line.endswith(b"\n"):
            raise BrokenExchange("the response breaks off")
        return line.rstrip(b"\r\n")

    def _number(self, text: bytes, base: int) -> int:
        text = text.strip()
        # int() takes signs, underscores and 0x as well.
        if not text or len(text) > MOST_DIGITS or text.translate(None, DECIMAL if base == 10 else HEXADECIMAL):
            raise BrokenExchange("the length of the response cannot be read")
        return int(text, base)


class Exchange:
    """One exchange that another thread can break off."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._socket: socket.socket | None = None
        self._response: HttpResponse | None = None
        self.cut_off = False

    def open(self, method: str, body: bytes, headers: dict[str, str], seconds: float | None = None) -> HttpResponse:
        """Send and wait for the head of the response, for `seconds` or however long that takes.

        Raises OSError, and ValueError for a header that cannot be sent.
        """
        host = f"[{self._host}]" if ":" in self._host else self._host
        lengths = {"Host": f"{host}:{self._port}", "Content-Length": str(len(body))}
        lines = [f"{name}: {value}" for name, value in (lengths | headers).items()]
        if any(UNFIT.search(line) for line in lines):
            raise ValueError("a header has characters that no header can have")
        head = "\r\n".join((f"{method} {PATH} HTTP/1.1", *lines, "", "")).encode("latin-1")
        connection = socket.create_connection((self._host, self._port), CONNECT_SECONDS)
        self._socket = connection
        if self.cut_off:  # meanwhile
            raise BrokenExchange("it was broken off")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(seconds)
        connection.sendall(head + body)
        self._response = HttpResponse(connection)
        return self._response

    def cut(self) -> None:
        self.cut_off = True
        if self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._response is not None:
            self._response.close()
        if self._socket is not None:
            self._socket.close()
