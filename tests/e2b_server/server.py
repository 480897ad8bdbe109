"""E2B's control plane on loopback, and the way to the sandboxes; see each request that arrives.

By itself: python -m tests.e2b_server. It prints what to set.
"""

from __future__ import annotations

import contextlib
import http.client
import http.server
import json
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENVD = Path(__file__).with_name("envd.py")
KEY = "e2b_" + "0" * 40
TEMPLATE = "base"
BUILD = "8f1c5b9e-0000-4000-8000-000000000001"
ENVD_VERSION = "0.6.4"
START_SECONDS = 20.0
PAGE = 100
MOST_PIECES = 40
"""Of an answer without an end."""
ALL = "0.0.0.0/0"
ACCOUNTS = "0 0 65536"


@dataclass
class Box:
    """One sandbox."""

    id: str
    body: dict[str, Any]
    token: str
    folder: Path
    process: subprocess.Popen[bytes]
    timer: threading.Timer | None = None
    ends: float = 0.0

    @property
    def socket(self) -> str:
        return str(self.folder / "envd")


@dataclass(frozen=True)
class Seen:
    """A request that arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Fault:
    """What happens to the next `times` requests whose path has `part`."""

    part: str
    kind: str
    """A status, `rubbish`, `silent`, `cut`, `says` the text, `endless` in bytes or `drips` with that status."""
    times: int = 1_000_000
    text: str = ""
    wake: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    """Set once an answer without an end is over."""
    left: bool = False
    """Whether the client went away before."""


class Loopback:
    """The server, on a thread. Use it as a context."""

    def __init__(self, *, internet: bool = False) -> None:
        """With `internet` its sandboxes share this machine's network whatever is asked for: a broken promise."""
        self.internet = internet
        self.boxes: dict[str, Box] = {}
        self.seen: list[Seen] = []
        self.faults: list[Fault] = []
        self.build = BUILD
        self.most = 1000
        self.ahead = 0
        """Seconds by which its clock is ahead of ours."""
        self.lock = threading.RLock()
        self._emptied = threading.Condition()
        self.through: set[socket.socket] = set()
        """Connections of clients that are passed through to a sandbox."""
        self._root = Path(tempfile.mkdtemp(prefix="e2b-", dir="/tmp"))
        self._http = _Server(("127.0.0.1", 0), _Handler)
        self._http.loopback = self
        # Bubblewrap ends with the thread that has started it, so that is one that stays.
        self._starter = ThreadPoolExecutor(1)
        self._thread = threading.Thread(target=self._http.serve_forever, name="e2b loopback", daemon=True)

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for fault in self.faults:
            fault.wake.set()
        for id in list(self.boxes):
            self.kill(id)
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        self._starter.shutdown()
        shutil.rmtree(self._root, ignore_errors=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def environment(self) -> dict[str, str]:
        """What leads clients here."""
        return {"E2B_API_URL": self.url, "E2B_SANDBOX_URL": self.url, "E2B_API_KEY": KEY}

    def fail(self, part: str, kind: str, times: int = 1_000_000, text: str = "") -> Fault:
        fault = Fault(part, kind, times, text)
        self.faults.append(fault)
        return fault

    def mend(self) -> None:
        """End every fault."""
        for fault in self.faults:
            fault.wake.set()
        self.faults.clear()

    def cut(self) -> None:
        """Break every connection to a sandbox that is open now, as a network that fails; the sandboxes stay."""
        with self.lock:
            for connection in self.through:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def make(self, body: dict[str, Any]) -> Box:
        id = "i" + secrets.token_hex(9)
        folder = self._root / id
        folder.mkdir()
        network = body.get("network") or {}
        on = self.internet or (body.get("allow_internet_access", True) and ALL not in network.get("denyOut", []))
        token = secrets.token_hex(16)
        words = ["/usr/bin/python3", "-I", "/run/envd.py", "/run/e2b/envd", token]
        process = self._starter.submit(_started, [*_bubblewrap(folder, on=on), *words]).result()
        box = Box(id, body, token, folder, process)
        with self.lock:
            self.boxes[id] = box
        self.lives(box, float(body.get("timeout", 15)))
        end = time.monotonic() + START_SECONDS
        while not os.path.exists(box.socket) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        return box

    def lives(self, box: Box, seconds: float) -> None:
        """Have it end in so many seconds."""
        if box.timer is not None:
            box.timer.cancel()
        box.timer = threading.Timer(seconds, self.kill, [box.id])
        box.timer.daemon = True
        box.ends = time.time() + seconds
        box.timer.start()

    def kill(self, id: str) -> bool:
        with self.lock:
            box = self.boxes.pop(id, None)
        if box is None:
            return False
        if box.timer is not None:
            box.timer.cancel()
        box.process.kill()
        box.process.wait()
        shutil.rmtree(box.folder, ignore_errors=True)
        with self._emptied:
            self._emptied.notify_all()
        return True

    def emptied(self, seconds: float) -> bool:
        """Wait until there is no sandbox; whether that came in time."""
        with self._emptied:
            return self._emptied.wait_for(lambda: not self.boxes, seconds)


def _bubblewrap(folder: Path, *, on: bool) -> list[str]:
    words = ["bwrap", "--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    words += ["--tmpfs", "/dev/shm", "--dir", "/etc", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]
    words += ["--ro-bind-try", "/etc/ssl", "/etc/ssl", "--dir", "/home/user", "--dir", "/root"]
    for name in ("bin", "sbin", "lib", "lib64"):
        if os.path.islink(f"/{name}"):
            words += ["--symlink", f"usr/{name}", f"/{name}"]
    words += ["--ro-bind", str(ENVD), "/run/envd.py", "--bind", str(folder), "/run/e2b"]
    words += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--hostname", "e2b", "--as-pid-1", "--die-with-parent"]
    words += ["--cap-add", "ALL", "--clearenv", "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"]
    words += ["--unshare-user", "--uid", "0", "--gid", "0"]
    return words if on else [*words, "--unshare-net"]


def _started(words: list[str]) -> subprocess.Popen[bytes]:
    """Start bubblewrap; as root with all accounts, which are this sandbox's own.

    Else the processes of a user would be counted over all sandboxes, and one that has as many as it may would keep all
    others from starting any.
    """
    if os.geteuid():
        return subprocess.Popen(words, stdin=subprocess.DEVNULL)
    said, says = os.pipe()
    waits, wakes = os.pipe()
    words = [words[0], "--info-fd", str(says), "--userns-block-fd", str(waits), *words[1:]]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, pass_fds=(says, waits))
    os.close(says)
    os.close(waits)
    with open(said, "rb") as info, open(wakes, "wb") as wake:
        child = json.load(info)["child-pid"]
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{child}/{name}").write_text(ACCOUNTS)
        wake.write(b"1")
    return process


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 200
    loopback: Loopback

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that go away."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: Any) -> None:
        pass

    def date_time_string(self, timestamp: float | None = None) -> str:
        return super().date_time_string((time.time() if timestamp is None else timestamp) + self.server.loopback.ahead)

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PUT = do_DELETE = do_GET

    def _serve(self) -> None:
        home = self.server.loopback
        raw = self._body()
        where = urllib.parse.urlparse(self.path)
        with home.lock:
            home.seen.append(Seen(self.command, self.path, {k.lower(): v for k, v in self.headers.items()}, _body(raw)))
            fault = next((one for one in home.faults if one.part in self.path and one.times), None)
            if fault is not None:
                fault.times -= 1
        box = home.boxes.get(self.headers.get("E2b-Sandbox-Id", ""))
        if fault is not None and self._broken(fault, box, raw):
            return
        if "E2b-Sandbox-Id" in self.headers:
            self._in_sandbox(box, raw)
        elif self.headers.get("X-API-Key") != KEY:
            self._answer(401, {"code": 401, "message": "Invalid API key"})
        else:
            self._control(where, json.loads(raw) if raw else {})

    def _in_sandbox(self, box: Box | None, raw: bytes) -> None:
        if box is None:
            id = self.headers["E2b-Sandbox-Id"]
            self._answer(502, {"sandboxId": id, "message": "The sandbox was not found", "code": 502})
        else:
            self._through(box, raw)

    def _broken(self, fault: Fault, box: Box | None, raw: bytes) -> bool:
        """Do what is wrong; whether that was all."""
        home = self.server.loopback
        self.close_connection = True
        if fault.kind == "rubbish":
            self._answer(200, b"<html>welcome to the hotel</html>", "text/html")
        elif fault.kind == "silent":
            fault.wake.wait()
        elif fault.kind == "cut":
            if box is not None:
                self._through(box, raw, most=int(fault.text or 600))
        elif fault.kind == "says":
            self._answer(200, fault.text.encode())
        elif fault.kind in ("endless", "drips"):
            self._without_end(fault)
        elif fault.kind == "kill":  # what is asked for happens, and in the middle of it the sandbox is gone
            if box is not None:
                threading.Timer(float(fault.text or 0.5), home.kill, [box.id]).start()
            return False
        else:
            self._answer(int(fault.kind), {"code": int(fault.kind), "message": fault.text or "no"})
        return True

    def _without_end(self, fault: Fault) -> None:
        """Answer with the status that is the fault's text, and go on until the client has gone away."""
        self.send_response(int(fault.text))
        self.end_headers()
        try:
            for _ in range(MOST_PIECES):
                if fault.wake.wait(0.0 if fault.kind == "endless" else 0.05):
                    return
                self.wfile.write(b" " * (1 << 20 if fault.kind == "endless" else 1))
        except OSError:
            fault.left = True
        finally:
            fault.over.set()

    def _control(self, where: urllib.parse.ParseResult, body: dict[str, Any]) -> None:
        home = self.server.loopback
        parts = where.path.strip("/").split("/")
        query = {name: values[0] for name, values in urllib.parse.parse_qs(where.query).items()}
        if parts == ["templates"]:
            return self._answer(200, [_template(home.build)])
        if parts in (["v2", "sandboxes"], ["sandboxes"]):
            if self.command == "GET":
                return self._listed(query)
            if body.get("templateID") != TEMPLATE:
                return self._answer(404, {"code": 404, "message": f"template '{body.get('templateID')}' not found"})
            if len(home.boxes) >= home.most:
                text = f"You have reached the maximum number of concurrent E2B sandboxes ({home.most})"
                return self._answer(429, {"code": 429, "message": text})
            return self._answer(201, _said(home.make(body)))
        parts = parts[1:] if parts[0] == "v2" else parts
        box = home.boxes.get(parts[1] if len(parts) > 1 else "")
        if parts[0] != "sandboxes" or box is None:
            return self._answer(404, {"code": 404, "message": "not found"})
        if self.command == "DELETE":
            home.kill(box.id)
            return self._answer(204)
        match parts[2:]:
            case []:
                return self._answer(200, _listing(box, home.ahead))
            case ["timeout"]:
                home.lives(box, float(body["timeout"]))
                return self._answer(204)
            case ["metrics"]:
                return self._answer(200, [])
            case ["network"]:
                return self._answer(204)
            case ["connect"]:
                return self._answer(200, _said(box))
        return self._answer(404, {"code": 404, "message": where.path})

    def _listed(self, query: dict[str, str]) -> None:
        home = self.server.loopback
        once = urllib.parse.parse_qsl(query.get("metadata", ""))
        wanted = {urllib.parse.unquote(name): urllib.parse.unquote(value) for name, value in once}
        with home.lock:
            boxes = [box for box in home.boxes.values() if wanted.items() <= (box.body.get("metadata") or {}).items()]
        first, most = int(query.get("nextToken") or 0), int(query.get("limit") or PAGE)
        rest = first + most < len(boxes)
        more = {"X-Next-Token": str(first + most)} if rest else {}
        self._answer(200, [_listing(box, home.ahead) for box in boxes[first : first + most]], headers=more)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        out = b""
        while size := int(self.rfile.readline().strip(), 16):
            out += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return out

    def _through(self, box: Box, raw: bytes, most: int = -1) -> None:
        """Pass a request on to the sandbox, and back what comes of it, at most `most` bytes."""
        self.close_connection = True
        lines = [f"{self.command} {self.path} HTTP/1.1"]
        skipped = ("transfer-encoding", "content-length", "connection")
        lines += [f"{name}: {value}" for name, value in self.headers.items() if name.lower() not in skipped]
        head = "\r\n".join([*lines, f"Content-Length: {len(raw)}", "Connection: close", "", ""])
        home = self.server.loopback
        with home.lock:
            home.through.add(self.connection)
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(box.socket)
                connection.sendall(head.encode("latin-1") + raw)
                while most and (data := connection.recv(1 << 16)):
                    data = data if most < 0 else data[:most]
                    most = most if most < 0 else most - len(data)
                    self.wfile.write(data)
                    self.wfile.flush()
            except OSError:
                return
            finally:
                with home.lock:
                    home.through.discard(self.connection)

    def _answer(
        self, code: int, data: Any = None, kind: str = "application/json", headers: dict[str, str] | None = None
    ) -> None:
        raw = data if isinstance(data, bytes) else b"" if data is None else json.dumps(data).encode()
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        if code != http.client.NO_CONTENT:
            self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def _body(raw: bytes) -> Any:
    for text in (raw, raw[5:]):
        try:
            return json.loads(text)
        except ValueError:
            continue
    return raw


def _said(box: Box) -> dict[str, Any]:
    return {
        "templateID": TEMPLATE,
        "sandboxID": box.id,
        "clientID": "c",
        "envdVersion": ENVD_VERSION,
        "envdAccessToken": box.token,
    }


def _listing(box: Box, ahead: int) -> dict[str, Any]:
    started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + ahead))
    return {
        "templateID": TEMPLATE,
        "alias": TEMPLATE,
        "sandboxID": box.id,
        "clientID": "c",
        "startedAt": started,
        "endAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(box.ends + ahead)),
        "cpuCount": 2,
        "memoryMB": 512,
        "diskSizeMB": 1024,
        "metadata": box.body.get("metadata") or {},
        "state": "running",
        "envdVersion": ENVD_VERSION,
    }


def _template(build: str) -> dict[str, Any]:
    return {
        "templateID": "t0base",
        "buildID": build,
        "cpuCount": 2,
        "memoryMB": 512,
        "diskSizeMB": 1024,
        "public": True,
        "aliases": [TEMPLATE],
        "names": [TEMPLATE],
        "createdAt": "2026-01-01T00:00:00Z",
        "updatedAt": "2026-01-01T00:00:00Z",
        "createdBy": None,
        "lastSpawnedAt": None,
        "spawnCount": 0,
        "buildCount": 1,
        "envdVersion": ENVD_VERSION,
        "buildStatus": "ready",
    }
