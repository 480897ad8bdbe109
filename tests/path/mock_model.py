"""A model on loopback that agent programs can be pointed at: it asks for one run of code, then repeats what came back.

Speaks as much of the Anthropic Messages and the OpenAI Responses interfaces (both streaming) as Claude Code
and Codex need. What it makes an agent say ends with the output of the tool, so a test can look for it there.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]
Events = list[Json]

TOOL = "code_execute"
SAID = "The tool said: "
RUN, SEARCH = "toolu_run", "toolu_search"
"""Ids of the two calls that Claude Code is made to do."""
NO_TOOL = "There is no tool to run code with."


@dataclass
class Model:
    """`arguments` go to the tool. `address` is the root of both interfaces, without `/v1`."""

    arguments: Json
    tool: str = TOOL
    """End of the name of the tool that is used."""
    address: str = ""
    offered: set[str] = field(default_factory=set)
    """Names of all tools that an agent has offered."""

    def claude(self, asked: Json) -> Events:
        """The events of one answer to a message of the Anthropic interface."""
        names = [str(tool["name"]) for tool in asked.get("tools", ())]
        self.offered.update(names)
        results = {
            str(block["tool_use_id"]): block["content"]
            for message in asked["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
            if block.get("type") == "tool_result"
        }
        if RUN in results:
            return _claude_text(SAID + _text(results[RUN]))
        if tool := next((name for name in names if name.endswith(self.tool)), ""):
            return _claude_call(RUN, tool, self.arguments)
        if "ToolSearch" in names and SEARCH not in results:
            # Claude Code shows the tools of MCP servers only to a model that looks for them.
            return _claude_call(SEARCH, "ToolSearch", {"query": f"+assent {self.tool}", "max_results": 1})
        return _claude_text(NO_TOOL)

    def codex(self, asked: Json) -> Events:
        """The same for the OpenAI interface."""
        tools = dict(_codex_tools(asked.get("tools", ())))
        self.offered.update(tools)
        results = [item for item in asked["input"] if item.get("type") == "function_call_output"]
        tool = next((name for name in tools if name.endswith(self.tool)), "")
        if results:
            return _codex_reply(_codex_text(SAID + _text(results[-1]["output"])))
        return _codex_reply(_codex_call(tools[tool], self.arguments) if tool else _codex_text(NO_TOOL))


@contextmanager
def serving(arguments: Json, tool: str = TOOL) -> Iterator[Model]:
    """A model that answers for as long as the context lasts."""
    model = Model(arguments, tool)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            path = self.path.split("?")[0]
            if path == "/v1/messages":
                self._stream(model.claude(asked))
            elif path == "/v1/responses":
                self._stream(model.codex(asked))
            else:
                self.send_error(404)

        def do_GET(self) -> None:
            self.send_error(404)

        def do_HEAD(self) -> None:
            self.send_error(404)

        def _stream(self, events: Events) -> None:
            body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, name="mock model")
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _text(content: object) -> str:
    """The words of a tool's result, however the client wraps them."""
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return "".join(str(part.get("text", "")) for part in content)


# ---- Anthropic ----


def _claude_text(text: str) -> Events:
    return _claude_reply({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn")


def _claude_call(call: str, tool: str, arguments: Json) -> Events:
    block = {"type": "tool_use", "id": call, "name": tool, "input": {}}
    return _claude_reply(block, {"type": "input_json_delta", "partial_json": json.dumps(arguments)}, "tool_use")


def _claude_reply(block: Json, delta: Json, why: str) -> Events:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: Json = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "mock",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]


# ---- OpenAI ----


def _codex_tools(tools: list[Json]) -> Iterator[tuple[str, Json]]:
    """Whole name -> how a call names the tool; tools of MCP servers come in namespaces."""
    for tool in tools:
        if tool["type"] == "function":
            yield tool["name"], {"name": tool["name"]}
        elif tool["type"] == "namespace":
            for inner in tool["tools"]:
                yield f"{tool['name']}/{inner['name']}", {"name": inner["name"], "namespace": tool["name"]}


def _codex_text(text: str) -> Json:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


def _codex_call(tool: Json, arguments: Json) -> Json:
    call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "arguments": json.dumps(arguments)}
    return call | tool


def _codex_reply(item: Json) -> Events:
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "output": [item], "usage": usage}},
    ]
