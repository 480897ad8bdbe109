"""The client's MCP server in the outer ring: hands on its standard streams to the console's door.

Run by an interpreter with `-I -S`; its arguments are the path of the socket and the seconds that the client can wait.
"""

import os
import socket
import sys
import threading

MOST = 1 << 16


def main(place: str, hold: str) -> int:
    door = socket.socket(socket.AF_UNIX)
    try:
        door.connect(place)
        door.sendall(f"{hold}\n".encode())
    except OSError as error:
        sys.stderr.write(f"assent: the program at work has ended, so nobody can be asked: {error}\n")
        return 1
    threading.Thread(target=hand_on, args=(door,), daemon=True).start()
    while data := door.recv(MOST):
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(1, rest) :]
    return 0


def hand_on(door: socket.socket) -> None:
    """Hand on what the client says until it closes its stream."""
    while data := os.read(0, MOST):
        door.sendall(data)
    door.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    try:
        code = main(*sys.argv[1:])
    except OSError:
        code = 1
    sys.stdout.flush()
    # The other thread may still be reading.
    os._exit(code)
