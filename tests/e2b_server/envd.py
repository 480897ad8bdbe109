"""What E2B runs in each sandbox: files and processes by HTTP. Started as the first process in bubblewrap.

Written from the descriptors of the SDK `e2b` 2.63.0. Usage: envd.py SOCKET TOKEN
"""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import os
import shutil
import signal
import socketserver
import struct
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path
from typing import Any

CHUNK = 1 << 16
SIGNALS = {"SIGNAL_SIGTERM": signal.SIGTERM, "SIGNAL_SIGKILL": signal.SIGKILL, 15: signal.SIGTERM, 9: signal.SIGKILL}
ACCOUNTS = {"root": 0, "user": 1000}
REAP_SECONDS = 0.2
TOKEN = sys.argv[2] if len(sys.argv) > 2 else ""
RUNNING: dict[int, Process] = {}
LOCK = threading.Lock()


class NotFound(Exception):
    """There is no such process or file."""


class Process:
    """A process with its listeners; its output goes to all that are connected, and is lost where nobody is."""

    def __init__(self, wanted: dict[str, Any], account: str, stdin: bool) -> None:
        self.config = wanted
        self.listeners: list[Stream] = []
        self.over = threading.Event()
        self.end: dict[str, Any] = {}
        with LOCK:
            self.popen = subprocess.Popen(
                [wanted["cmd"], *wanted.get("args", [])],
                cwd=wanted.get("cwd") or "/",
                env={"PATH": os.environ["PATH"], "E2B_SANDBOX": "true", **wanted.get("envs", {})},
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                **_account(account),
            )
            RUNNING[self.popen.pid] = self

    def follow(self) -> None:
        """Pass output on to the end."""
        pumps = [
            threading.Thread(target=self._pump, args=(name, getattr(self.popen, name)), daemon=True)
            for name in ("stdout", "stderr")
        ]
        for pump in pumps:
            pump.start()
        for pump in pumps:
            pump.join()
        code = self.popen.wait()
        with LOCK:
            RUNNING.pop(self.popen.pid, None)
        name = "" if code >= 0 else signal.Signals(-code).name
        status = f"exit status {code}" if code >= 0 else f"signal: {SAYS.get(name, name.lower())}"
        self.end = {"exitCode": max(code, -1), "exited": code >= 0, "status": status}
        if code == 0:  # as JSON of protocol buffers leaves out what is 0
            del self.end["exitCode"]
        self.over.set()

    def _pump(self, name: str, pipe: Any) -> None:
        while data := os.read(pipe.fileno(), CHUNK):
            message = {"event": {"data": {name: base64.b64encode(data).decode()}}}
            for listener in list(self.listeners):
                listener.send(message)
        pipe.close()


SAYS = {"SIGKILL": "killed", "SIGTERM": "terminated", "SIGABRT": "aborted", "SIGSEGV": "segmentation fault"}


class Stream:
    """One answer that goes on until a process has ended."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._lock = threading.Lock()

    def send(self, message: dict[str, Any], flag: int = 0) -> None:
        raw = json.dumps(message).encode()
        part = struct.pack(">BI", flag, len(raw)) + raw
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._file.write(b"%x\r\n%s\r\n" % (len(part), part))
            self._file.flush()

    def finish(self) -> None:
        self.send({}, 2)
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._file.write(b"0\r\n\r\n")
            self._file.flush()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def address_string(self) -> str:
        return "loopback"

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _serve(self, body: bytes) -> None:
        self.close_connection = True
        where = urllib.parse.urlparse(self.path)
        query = {name: values[0] for name, values in urllib.parse.parse_qs(where.query).items()}
        if where.path == "/health":
            return self._answer(204)
        if TOKEN and self.headers.get("X-Access-Token") != TOKEN:
            return self._answer(401, {"code": "unauthenticated", "message": "no valid access token"})
        try:
            if where.path == "/files":
                return self._files(query, body)
            name = where.path.rpartition("/")[2]
            if name in ("Start", "Connect"):
                return self._stream(name, json.loads(body[5:]))
            return self._answer(200, CALLS[name](json.loads(body)))
        except (NotFound, FileNotFoundError, ProcessLookupError, KeyError) as error:
            self._answer(404, {"code": "not_found", "message": str(error)})
        except FileExistsError as error:
            self._answer(409, {"code": "already_exists", "message": str(error)})
        except OSError as error:
            self._answer(500, {"code": "internal", "message": str(error)})

    def _files(self, query: dict[str, str], body: bytes) -> None:
        path = Path("/home/user", query["path"])
        if self.command == "GET":
            return self._answer(200, path.read_bytes(), "application/octet-stream")
        kind = self.headers["Content-Type"]
        if "boundary=" in kind:
            mark = b"--" + kind.split("boundary=")[1].strip('"').encode()
            body = body.split(mark)[1].split(b"\r\n\r\n", 1)[1][:-2]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)
        return self._answer(200, [{"name": path.name, "type": "file", "path": str(path)}])

    def _stream(self, name: str, wanted: dict[str, Any]) -> None:
        if name == "Start":
            given = base64.b64decode(self.headers.get("Authorization", "").rpartition(" ")[2]).decode()
            process = Process(wanted["process"], given.partition(":")[0] or "user", wanted.get("stdin", True))
        else:
            process = _found(wanted)
        self.send_response(200)
        self.send_header("Content-Type", "application/connect+json")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        stream = Stream(self.wfile)
        stream.send({"event": {"start": {"pid": process.popen.pid}}})
        process.listeners.append(stream)
        if name == "Start":
            process.follow()
        process.over.wait()
        stream.send({"event": {"end": process.end}})
        stream.finish()

    def _answer(self, code: int, data: Any = None, kind: str = "application/json") -> None:
        raw = data if isinstance(data, bytes) else b"" if data is None else json.dumps(data).encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Connection", "close")
        if code != 204:
            self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)


def _account(name: str) -> dict[str, Any]:
    number = ACCOUNTS.get(name, 1000)
    others = Path("/proc/self/uid_map").read_text().split()[2] != "1"
    return {"user": number, "group": number, "extra_groups": []} if number and others else {}


def _found(wanted: dict[str, Any]) -> Process:
    pid = int(wanted["process"]["pid"])
    with LOCK:
        if pid not in RUNNING:
            raise NotFound(f"process with pid {pid} not found")
        return RUNNING[pid]


def _send_signal(wanted: dict[str, Any]) -> dict[str, Any]:
    os.kill(_found(wanted).popen.pid, SIGNALS[wanted["signal"]])
    return {}


def _send_input(wanted: dict[str, Any]) -> dict[str, Any]:
    pipe = _found(wanted).popen.stdin
    if pipe is None:
        raise NotFound("its standard input is closed")
    pipe.write(base64.b64decode(wanted["input"]["stdin"]))
    pipe.flush()
    return {}


def _close_stdin(wanted: dict[str, Any]) -> dict[str, Any]:
    pipe = _found(wanted).popen.stdin
    if pipe is not None:
        pipe.close()
    return {}


def _list(_: dict[str, Any]) -> dict[str, Any]:
    with LOCK:
        return {"processes": [{"pid": pid, "config": one.config} for pid, one in RUNNING.items()]}


def _entry(path: Path) -> dict[str, Any]:
    kind = "FILE_TYPE_DIRECTORY" if path.is_dir() else "FILE_TYPE_FILE"
    return {"name": path.name, "type": kind, "path": str(path), "size": str(path.stat().st_size)}


def _path(text: str) -> Path:
    return Path("/home/user", text)


def _stat(wanted: dict[str, Any]) -> dict[str, Any]:
    return {"entry": _entry(_path(wanted["path"]))}


def _make_dir(wanted: dict[str, Any]) -> dict[str, Any]:
    path = _path(wanted["path"])
    path.mkdir(parents=True)
    return {"entry": _entry(path)}


def _list_dir(wanted: dict[str, Any]) -> dict[str, Any]:
    return {"entries": [_entry(one) for one in sorted(_path(wanted["path"]).iterdir())]}


def _move(wanted: dict[str, Any]) -> dict[str, Any]:
    target = _path(wanted["destination"])
    _path(wanted["source"]).rename(target)
    return {"entry": _entry(target)}


def _remove(wanted: dict[str, Any]) -> dict[str, Any]:
    path = _path(wanted["path"])
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    return {}


CALLS = {
    "SendSignal": _send_signal,
    "SendInput": _send_input,
    "CloseStdin": _close_stdin,
    "List": _list,
    "Stat": _stat,
    "MakeDir": _make_dir,
    "ListDir": _list_dir,
    "Move": _move,
    "Remove": _remove,
}


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 100


def _reap() -> None:
    """Take in the processes whose parents have ended, as the first process has to."""
    while True:
        time.sleep(REAP_SECONDS)
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), LOCK:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
                if fields[0] == "Z" and int(entry) not in RUNNING:
                    os.waitpid(int(entry), os.WNOHANG)


def main() -> None:
    for name in ("/home/user", "/tmp"):
        os.makedirs(name, exist_ok=True)
    os.chmod("/tmp", 0o1777)
    threading.Thread(target=_reap, daemon=True).start()
    # Its name appears when it listens: whoever sees it may connect.
    with Server(f"{sys.argv[1]}.new", Handler) as server:
        os.rename(f"{sys.argv[1]}.new", sys.argv[1])
        server.serve_forever()


if __name__ == "__main__":
    main()
