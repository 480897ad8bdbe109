"""Serve until interrupted; prints the variables that lead clients here."""

import signal

from tests.e2b_server.server import Loopback

with Loopback() as server:
    print(*(f"export {name}={value}" for name, value in server.environment.items()), sep="\n", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})
