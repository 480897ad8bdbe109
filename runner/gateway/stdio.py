"""The client's side of the stdio bridge. Standard library only."""

from __future__ import annotations

import json
import threading

from runner.gateway.messages import OWN_ERROR, modern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

    from runner.gateway.messages import Json


class StdioClient:
    """The client at the standard streams. Messages are written whole, one per line."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._lock = threading.Lock()

    def send(self, message: str) -> None:
        with self._lock:
            self._out.write(message.encode() + b"\n")
            self._out.flush()

    def result(self, request: Json, result: Json) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "id": request.get("id"), "result": result}))

    def error(self, request_id: object, code: int, text: str) -> None:
        error = {"code": code, "message": text}
        self.send(json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}))

    def fail(self, request: Json, text: str) -> None:
        """Answer a request that got no answer; a tool call in a form that the model can read."""
        if "id" not in request or "method" not in request:
            return
        if request["method"] != "tools/call":
            self.error(request["id"], OWN_ERROR, text)
            return
        content = [{"type": "text", "text": text}]
        data = {"status": "unavailable", "error": text}
        self.result(request, {"content": content, "structuredContent": data, "isError": True, **modern(request)})
