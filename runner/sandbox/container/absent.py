"""Why an engine on another machine cannot be reached, in words."""

from __future__ import annotations

import os
import socket
import ssl

HUNG_UP = "it hangs up"


def why(error: BaseException) -> str:
    """A few words for what an attempt to speak to it came to."""
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
