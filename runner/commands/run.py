"""`assent run`: submits a file from a shell to the open console and waits for the answer (spec I7)."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from runner.gateway import catalog
from runner.gateway.bridge import StdioBridge
from runner.gateway.live import ERRORS, LivePiece, Received, unpacked
from runner.gateway.messages import MODERN, VERSION_KEY
from runner.gateway.stdio import StdioClient
from runner.model.answer import Status
from runner.model.errors import KnownError
from runner.model.languages import canonical
from runner.model.request import Language
from runner.model.shown import in_one_line, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from runner.system.places import Places

NOT_RUN = 125
"""Exit code when the code was not run, as `env` and `docker run` have it."""
PATIENCE = "3600"
"""Longest wait in seconds; a person at a shell can press Ctrl+C."""


class RunClient(StdioClient):
    """The receiver of messages: prints the state of the request and stores the answer."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__(io.BytesIO())
        self._say = say
        self._said = ""
        self._decoders = {one: codecs.getincrementaldecoder("utf-8")("replace") for one in (False, True)}
        self.received = Received()
        """What the code has printed so far; it was printed here as it came."""
        self.answer: dict[str, Any] = {}

    def send(self, message: str) -> None:
        data = json.loads(message)
        if data.get("method") == "notifications/progress":
            self.show(str(data["params"].get("message", "")))
        elif "result" in data or "error" in data:
            self.answer = data

    def show(self, progress: str) -> None:
        """Print the new output and the state in a progress message."""
        message, pieces = unpacked(progress)
        for piece in pieces:
            self._print_piece(piece)
        # The seconds left change with every message; the rest is printed once.
        if message and message.split(",")[0] != self._said:
            self._said = message.split(",")[0]
            self._say(message)

    def _print_piece(self, piece: LivePiece) -> None:
        errors = piece.stream == ERRORS
        stream = sys.stderr if errors else sys.stdout
        _print(self._decoders[errors].decode(self.received.news(piece)), stream)
        stream.flush()


def read_code(path: str) -> str:
    """Return the text of the file, '-' being standard input. Raises KnownError."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise KnownError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise KnownError(f"{path} is not UTF-8 text (byte {error.start}).", "Save it as UTF-8.") from error


def bring_languages(places: Places) -> None:
    """Load the languages of packages that the settings name. Raises KnownError for one that cannot be loaded."""
    from runner.settings.loading import load
    from runner.settings.package_languages import with_languages

    loaded = load(places, os.environ)
    if said := with_languages(loaded).problems[len(loaded.problems) :]:
        raise KnownError(said[0])


def language(named: str | None, path: str, code: str) -> Language:
    """Return the language of that name; without one, that of the file. Raises KnownError where it is not clear."""
    if named is None:
        return language_of(path, code)
    known = canonical(named)
    if known not in [*Language]:
        raise KnownError(f"{in_one_line(named)} is not a language here.", f"Take {'|'.join(Language)}.")
    return Language(known)


def language_of(path: str, code: str) -> Language:
    """Return the language by the file's name, else by its first line. Raises KnownError where neither shows it."""
    from runner.model.language_support import LANGUAGES

    if known := next((one for one, support in LANGUAGES.items() if Path(path).suffix in support.endings), None):
        return known
    first = code.partition("\n")[0]
    if first.startswith("#!"):
        words = [Path(word).name.rstrip("0123456789.") for word in first[2:].split()]
        for word in words:
            if known := next((one for one, support in LANGUAGES.items() if word in support.programs), None):
                return known
    raise KnownError(f"The language of {path} is not clear.", f"Say it: --language {'|'.join(Language)}.")


def submit(places: Places, token: str, arguments: dict[str, object], say: Callable[[str], None]) -> int:
    """Ask the console, wait, print the output of the code; return its exit code, or `NOT_RUN`.

    `arguments` are those of `code_execute`. Ctrl+C withdraws the request.
    """
    caller = RunClient(say)
    bridge = StdioBridge(places, token, PATIENCE, caller, {"Assent-Output": "as-it-is"})
    tool = catalog.CODE_EXECUTE
    while True:
        data = _call(bridge, caller, tool, arguments)
        if data.get("status") != "pending":
            return _told(caller.answer, data, caller.received)
        tool, arguments = catalog.CODE_RESULT, {"id": data["request_id"], "wait": float(PATIENCE)}


def _call(bridge: StdioBridge, caller: RunClient, tool: str, arguments: dict[str, object]) -> dict[str, Any]:
    meta = {
        VERSION_KEY: MODERN,
        "io.modelcontextprotocol/clientInfo": {"name": "assent run", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": "run",
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    # On a thread: a thread that waits for a socket would not see Ctrl+C.
    waiting = threading.Thread(target=bridge.carry, args=(message,), name="assent-run", daemon=True)
    waiting.start()
    try:
        while waiting.is_alive():
            waiting.join(0.2)
    except KeyboardInterrupt:
        bridge.leave()
        waiting.join(1)
        raise
    return dict(caller.answer.get("result", {}).get("structuredContent") or {})


def _told(answer: dict[str, Any], data: dict[str, Any], received: Received) -> int:
    if data.get("status") in (Status.FINISHED, Status.FAILED):
        if not received.position:
            _print(str(data.get("stdout", "")), sys.stdout)
            _print(str(data.get("stderr", "")), sys.stderr)
        if received.missing:
            sys.stderr.write(f"assent run: {received.missing:,} bytes came too fast and are not shown\n")
        if error := data.get("error"):
            sys.stderr.write(f"assent run: {in_one_line(str(error))}\n")
        code = int(data.get("exit_code", 0))
        if code == 0 and data.get("status") != Status.FINISHED:
            return 1
        return code if code >= 0 else 124
    sys.stderr.write(f"assent run: {visible(_words(answer))}\n")
    return NOT_RUN


def _print(text: str, stream: TextIO) -> None:
    """Write what a program printed: as it is into files and pipes, to a terminal with nothing that commands it."""
    stream.write(visible(text.replace("\r\n", "\n")) if stream.isatty() else text)


def _words(answer: dict[str, Any]) -> str:
    """Return why there is no result, as the answer says it."""
    if error := answer.get("error"):
        return str(error.get("message"))
    content = answer.get("result", {}).get("content") or [{}]
    return str(content[0].get("text", "There was no answer."))
