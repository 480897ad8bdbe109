"""Limits on how much of the network one run may use."""

from __future__ import annotations

from dataclasses import dataclass

MEBI = 1 << 20


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of a gate. What is over one of them is ended, and the run's contacts say why."""

    connections: int = 64
    """Open at once to other hosts; as many again may be on their way there."""
    sent: int = 256 * MEBI
    """Bytes to all hosts together."""
    received: int = 2048 * MEBI
    """Bytes from all hosts together."""
    seconds: float = 3600.0
    """Life of one connection."""
    idle_seconds: float = 300.0
    """Time in which nothing moves on a connection, in either direction."""
    head_bytes: int = 16 << 10
    """Size of a request's head, and of the greeting of TLS."""
    head_seconds: float = 10.0
    """Time that each of these may take."""
    connect_seconds: float = 10.0
    """Time to find a host's addresses, and as much again to connect to one of them."""
    refusals: int = 256
    """Refused connections after which each further one waits, so that a program cannot busy the console by trying."""
    resolutions: int = 8
    """Names that are looked up at once."""


STANDARD = Caps()
