"""Waits in a container for code on standard input. Appended to the text of `sandbox/inside/python.py`.

What the code finds on standard input comes with it: not every connection to an engine can end one direction alone.
"""

import marshal
import os
import posix
import resource
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.sandbox.inside.python import start  # noqa: TC004 - not there under this name at run time

WORKSPACE = "/workspace"


def wait(mark: bytes, path: str) -> None:
    """Say that the interpreter is ready, take orders, and start the code."""
    mark += _exactly(17)[:16] + b":"
    version = b"%d.%d.%d" % sys.version_info[:3]
    posix.write(2, mark + b"R%08x\n" % len(version) + version)
    orders = marshal.loads(_exactly(int(_exactly(9), 16)))
    memory = orders.pop("memory")
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    if orders.pop("reserved"):
        most = memory + _mapped()
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    if orders["bundle"] is not None:
        orders["bundle"]["source"] = posix.dup(0)
    _give_input(orders.pop("stdin"))
    os.environ.update(orders.pop("guards"))
    with open(path, "wb") as file:
        file.write(orders.pop("code"))
    orders.update(
        main=path,
        workspace=WORKSPACE,
        report=posix.dup(2),
        mark=mark,
        identity=None,
        path=list(sys.path),
        prefix=sys.prefix,
        executable=sys.executable,
        trusted=orders["trusted"] + [folder + "/" for folder in {sys.prefix, sys.base_prefix, "/usr", *sys.path}],
    )
    start(orders)


def _mapped() -> int:
    """Bytes that the interpreter itself has mapped."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _give_input(data: bytes) -> None:
    file = posix.memfd_create("stdin") if data else posix.open("/dev/null", posix.O_RDONLY)
    left = memoryview(data)
    while left:
        left = left[posix.write(file, left) :]
    if data:
        posix.lseek(file, 0, 0)
    posix.dup2(file, 0)
    posix.close(file)


def _exactly(count: int) -> bytes:
    data = bytearray()  # tables may be large
    while len(data) < count:
        piece = posix.read(0, count - len(data))
        if not piece:
            posix._exit(0)  # nobody wants it any more
        data += piece
    return bytes(data)


wait(sys.argv[1].encode(), sys.argv[2])
