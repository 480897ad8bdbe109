"""Connects to one port of the loopback of another network and hands the sockets over; run with `-I -S -c`.

Usage: connecting.py NETWORK PORT; NETWORK is a descriptor of that network. Standard input is a socket to the console:
each byte that comes is answered by a connected socket, or by `n` where nothing takes the connection. It enters the
network once, so that what it connects to is in there, whoever asks for it. It runs nothing of what is inside.
"""

import ctypes
import fcntl
import os
import socket
import sys

NS_GET_USERNS = 0xB701
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PLACES = ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"))
"""Many servers listen on the second alone."""
CONNECT_SECONDS = 5.0
"""A server that takes no more connections must not keep others from theirs for ever."""


def main(network: int, port: int) -> None:
    # Not that of the process: bubblewrap makes a second one, which has no power over the network.
    owner = fcntl.ioctl(network, NS_GET_USERNS)
    if not os.path.samestat(os.fstat(owner), os.stat("/proc/self/ns/user")):
        enter(owner, CLONE_NEWUSER)
    enter(network, CLONE_NEWNET)
    os.close(owner)
    os.close(network)
    with socket.socket(fileno=0) as console:
        console.send(b"r")
        while console.recv(1):
            if (made := connected(port)) is None:
                console.send(b"n")
                continue
            with made:
                socket.send_fds(console, [b"y"], [made.fileno()])


def enter(namespace: int, kind: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, kind):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def connected(port: int) -> "socket.socket | None":
    for family, host in PLACES:
        try:
            made = socket.socket(family, socket.SOCK_STREAM)
        except OSError:
            continue
        try:
            made.settimeout(CONNECT_SECONDS)
            made.connect((host, port))
            made.setblocking(False)
            return made
        except OSError:
            made.close()
    return None


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]), int(sys.argv[2]))
    except OSError as error:
        sys.exit(str(error))
