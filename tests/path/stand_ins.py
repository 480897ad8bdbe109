"""What the story of a plot takes from outside: a registry with a small package, and two hosts behind a proxy."""

from __future__ import annotations

import socketserver
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.packages.registry import LoopbackRegistry, served

if TYPE_CHECKING:
    from collections.abc import Iterator

CHART, TABLES = "chart", "tables"
ALLOWED, REFUSED = "pages.example:80", "other.example:80"
INK = "#c81e8c"
"""Of every picture that the package draws: no part of the window has this color."""
DATA = "day,visitors\n" + "".join(f"{day},{100 + day * 7 % 41 * 3}\n" for day in range(1, 29))
PLOT = f"""\
import chart, tables

open("visitors.csv", "w").write({DATA!r})
table = tables.read_csv("visitors.csv")
chart.plot(table, "visitors.png")
print(len(table), "days plotted")
"""
REAL_PLOT = f"""\
import pandas, matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt

open("visitors.csv", "w").write({DATA!r})
table = pandas.read_csv("visitors.csv")
print(table.describe())
table.plot(x="day", y="visitors", title="Visitors per day")
plt.savefig("visitors.png", dpi=80)
print(len(table), "days plotted")
"""
_TABLES = """\
import csv

def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))
"""
_CHART = f"""\
import struct, zlib

def _chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

def plot(table, path):
    width, height = 400, 300
    row = b"\\0" + bytes.fromhex({INK[1:]!r}) * width
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(row * height)), (b"IEND", b"")
    with open(path, "wb") as file:
        file.write(b"\\x89PNG\\r\\n\\x1a\\n" + b"".join(_chunk(*part) for part in parts))
"""


class _Proxy(socketserver.StreamRequestHandler):
    """Answers each request behind CONNECT itself: the hosts of a test exist nowhere else."""

    def handle(self) -> None:
        name = self._head().split(" ")[1]
        self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        if self._head():
            body = f"the page of {name}".encode()
            self.wfile.write(
                b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
            )

    def _head(self) -> str:
        first = self.rfile.readline().decode()
        while self.rfile.readline().strip():
            pass
        return first


@contextmanager
def registry_and_hosts() -> Iterator[dict[str, str]]:
    """Serve both; the variables by which a console finds them."""
    with served(LoopbackRegistry()) as registry, socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Proxy) as proxy:
        registry.add(TABLES, "2.0", files={"tables.py": _TABLES})
        registry.add(CHART, "1.5", files={"chart.py": _CHART}, needs=[f"{TABLES}<3"])
        thread = threading.Thread(target=proxy.serve_forever, args=(0.05,), name="proxy of a test")
        thread.start()
        try:
            yield {
                "PIP_INDEX_URL": registry.url,
                "NPM_CONFIG_REGISTRY": f"{registry.root}/",
                "http_proxy": f"http://127.0.0.1:{proxy.server_address[1]}",
                "no_proxy": "127.0.0.1,localhost",
            }
        finally:
            proxy.shutdown()
            thread.join()
