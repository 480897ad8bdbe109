"""The answer to a program whose connection does not go through."""

from __future__ import annotations

import re

from runner.model.network import NOT_LISTED, Destination

HINT = (
    "This is the console's decision and not a fault of the network. A person can allow the host; "
    "do not try to reach it by other means.\n"
)
"""What helps where a host is not allowed yet."""
ACCESS_DENIED, INTERNAL_ERROR, UNRECOGNIZED_NAME = 49, 80, 112
"""TLS alerts (RFC 8446, 6; RFC 6066)."""
_UNSAFE = re.compile(r"[^\x20-\x7e]")


class Blocked(Exception):
    """A connection that does not go through. Its text ends a sentence that begins with the host."""

    def __init__(
        self,
        why: str = NOT_LISTED,
        *,
        status: int = 403,
        allowed: bool | None = False,
        address: str = "",
        alert: int = ACCESS_DENIED,
    ) -> None:
        """`allowed` is None where the host is allowed and cannot be reached; `address` is for the person alone."""
        super().__init__(why)
        self.why = why
        self.status = status
        self.allowed = allowed
        self.address = address
        self.alert = alert

    @property
    def can_be_allowed(self) -> bool:
        """Whether a person's word lets the next connection through."""
        return self.why == NOT_LISTED or bool(self.address)


def unreachable(why: str, status: int = 502) -> Blocked:
    """Return the failure of a connection that is allowed."""
    return Blocked(why, status=status, allowed=None, alert=INTERNAL_ERROR)


def reason(blocked: Blocked, host: str, port: int) -> str:
    """Return the sentence for the code."""
    where = Destination(host, port).with_port if port else "This connection"
    begin = "Blocked by Assent: " if blocked.allowed is False else "Assent: "
    return _UNSAFE.sub("?", f"{begin}{where} {blocked.why}")


def http_answer(blocked: Blocked, host: str, port: int) -> bytes:
    """Return an HTTP response with the sentence as its reason phrase too, which is all that many clients show."""
    line = reason(blocked, host, port)
    body = f"{line}\n{HINT if blocked.can_be_allowed else ''}".encode()
    head = (
        f"HTTP/1.1 {blocked.status} {line}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def tls_answer(blocked: Blocked) -> bytes:
    """Return a fatal TLS alert in a record of its own."""
    return bytes((0x15, 3, 3, 0, 2, 2, blocked.alert))
