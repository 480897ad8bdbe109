"""Failures between us and the container engine, and the words for them."""

from __future__ import annotations

import os
import socket
import ssl

from runner.model.errors import KnownError

REMEDY = "Set SANDBOX_TYPE=local or start the Docker daemon."
FAR_REMEDY = "Look at DOCKER_HOST and the Docker context, or set SANDBOX_TYPE=local."
HUNG_UP = "it hangs up"


class EngineGone(KnownError):
    """The engine cannot be reached, does not answer, or went away."""


class EngineHangs(EngineGone):
    """The engine is there and takes calls, but does not answer them."""


class Denied(Exception):
    """The engine's answer to a call it does not carry out."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def gone(error: BaseException, url: str = "") -> EngineGone:
    """Return what to say of an engine that cannot be reached (spec S7); no `url`: a local one."""
    if isinstance(error, PermissionError):
        return EngineGone(
            "The Docker daemon does not let you in.", "Add yourself to the group docker, or set SANDBOX_TYPE=local."
        )
    if url and not url.startswith("unix://"):
        return EngineGone(f"Docker daemon not available at {url}: {why(error)}.", FAR_REMEDY)
    return EngineGone("Docker daemon not available.", REMEDY)


def hanging() -> EngineHangs:
    """Return what to say of an engine that takes a call and does not answer it in time."""
    return EngineHangs("The Docker daemon does not answer.", "Restart the Docker daemon, or set SANDBOX_TYPE=local.")


def why(error: BaseException) -> str:
    """Return a few words for why an engine on another machine cannot be reached."""
    match error:
        case ssl.SSLCertVerificationError():
            return f"its certificate is not accepted, {error.verify_message}"
        case ssl.SSLError():
            return f"TLS fails, {(error.reason or 'no reason given').replace('_', ' ').lower()}"
        case socket.gaierror():
            return "nobody knows that name"
        case EOFError():
            return str(error) or HUNG_UP
        case OSError():
            return os.strerror(error.errno).lower() if error.errno else HUNG_UP
        case _:
            return HUNG_UP
