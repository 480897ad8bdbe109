"""Makes sockets in the network of another process and hands them over; run by a fresh interpreter with `-I -S -c`.

Standard input is a socket. It brings one message, a descriptor of that network and the text HOST:PORT ..., where a PORT
of 53 is for datagrams; it gets all the sockets in one. A socket belongs to the network it was made in, whoever accepts
on it. Only a process with one thread may enter a user namespace, so the console cannot do this itself.
"""

import ctypes
import fcntl
import os
import socket
import sys

NS_GET_USERNS = 0xB701
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
IP_FREEBIND = 15
NAME_PORT = 53
BACKLOG = 64


MOST_BYTES = 1 << 16


def main(console: socket.socket) -> None:
    asked, files, _, _ = socket.recv_fds(console, MOST_BYTES, 1)
    if not asked:
        return  # nobody needs it after all
    (network,) = files
    # Not that of the process: bubblewrap makes a second one, which has no power over the network.
    owner = fcntl.ioctl(network, NS_GET_USERNS)
    if not os.path.samestat(os.fstat(owner), os.stat("/proc/self/ns/user")):
        enter(owner, CLONE_NEWUSER)
    enter(network, CLONE_NEWNET)
    made = [bound(*place.split(":")) for place in asked.decode().split()]
    socket.send_fds(console, [b"x"], [one.fileno() for one in made])


def enter(namespace: int, kind: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, kind):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def bound(host: str, number: str) -> socket.socket:
    port = int(number)
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if port == NAME_PORT else socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_IP, IP_FREEBIND, 1)  # the interface may not be up yet
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, port != NAME_PORT)
    made.bind((host, port))
    if port != NAME_PORT:
        made.listen(BACKLOG)
    return made


if __name__ == "__main__":
    try:
        main(socket.socket(fileno=0))
    except OSError as error:
        sys.exit(str(error))
