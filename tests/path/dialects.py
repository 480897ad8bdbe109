"""The interfaces of models that agent programs speak, as far as they need them: Anthropic, OpenAI and Gemini.

Each reads what an agent has sent, and writes the model's turn as a stream of events.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Json = dict[str, Any]
Events = list[Json]

RUN, SEARCH = "run", "search"
"""How the ids of calls begin; the number of the call follows. `SEARCH` looks for a tool that is not offered yet."""


class Made(NamedTuple):
    """A call that the model makes. `tool` is the whole name of a tool that was offered."""

    id: str
    tool: str
    arguments: Json


Turn = str | list[Made]
"""What the model does: it says something, which ends the agent's work, or calls tools at once."""


class Brought(NamedTuple):
    """What an agent has brought back from a call, as the model reads it."""

    text: str
    pictures: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """What an agent has sent to its model."""

    offered: Mapping[str, Json]
    """Whole name of a tool -> how a call names it."""
    results: Mapping[str, Brought] = field(default_factory=dict)
    """By the id of the call."""


class Dialect(Protocol):
    """One interface."""

    def read(self, message: Json) -> Asked: ...
    def write(self, turn: Turn, asked: Asked) -> str:
        """Return the body of a stream of events."""
        ...


def dialect(path: str) -> Dialect | None:
    """Return the interface to which the path of a request belongs; None for other paths."""
    if path.endswith(":streamGenerateContent"):
        return Gemini()
    spoken: dict[str, Dialect] = {
        "/v1/messages": Claude(),
        "/v1/responses": Codex(),
        "/v1/chat/completions": Chat(),
    }
    return spoken.get(path)


def _named(events: Events) -> str:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def _brought(content: object) -> Brought:
    """Return a tool's result, however the client wraps it."""
    if isinstance(content, str):
        return Brought(content)
    assert isinstance(content, list)
    pictures = sum(str(part.get("type", "")).endswith("image") for part in content)
    return Brought("".join(str(part.get("text", "")) for part in content), pictures)


class Claude:
    """The Anthropic Messages interface."""

    BEFORE = "toolu_"

    def read(self, message: Json) -> Asked:
        names = [str(tool["name"]) for tool in message.get("tools", ())]
        blocks = [block for one in message["messages"] if isinstance(one["content"], list) for block in one["content"]]
        results = {
            str(block["tool_use_id"]).removeprefix(self.BEFORE): _brought(block["content"])
            for block in blocks
            if block.get("type") == "tool_result"
        }
        return Asked({name: {"name": name} for name in names}, results)

    def write(self, turn: Turn, asked: Asked) -> str:
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
        events: Events = [{"type": "message_start", "message": message}]
        for index, (block, delta) in enumerate(self._blocks(turn)):
            events += [
                {"type": "content_block_start", "index": index, "content_block": block},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        why = "end_turn" if isinstance(turn, str) else "tool_use"
        end = {"type": "message_delta", "delta": {"stop_reason": why, "stop_sequence": None}, "usage": usage}
        return _named([*events, end, {"type": "message_stop"}])

    def _blocks(self, turn: Turn) -> Iterator[tuple[Json, Json]]:
        if isinstance(turn, str):
            yield {"type": "text", "text": ""}, {"type": "text_delta", "text": turn}
            return
        for call in turn:
            block = {"type": "tool_use", "id": self.BEFORE + call.id, "name": call.tool, "input": {}}
            yield block, {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}


class Codex:
    """The OpenAI Responses interface."""

    BEFORE = "call_"

    def read(self, message: Json) -> Asked:
        results = {
            str(item["call_id"]).removeprefix(self.BEFORE): _brought(item["output"])
            for item in message["input"]
            if item.get("type") == "function_call_output"
        }
        return Asked(dict(self._tools(message.get("tools", ()))), results)

    def _tools(self, tools: Sequence[Json]) -> Iterator[tuple[str, Json]]:
        """Tools of MCP servers come in namespaces."""
        for tool in tools:
            if tool["type"] == "function":
                yield tool["name"], {"name": tool["name"]}
            elif tool["type"] == "namespace":
                for inner in tool["tools"]:
                    yield f"{tool['name']}/{inner['name']}", {"name": inner["name"], "namespace": tool["name"]}

    def write(self, turn: Turn, asked: Asked) -> str:
        usage = {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        }
        items = list(self._items(turn, asked))
        done = [
            {"type": "response.output_item.done", "output_index": index, "item": item}
            for index, item in enumerate(items)
        ]
        whole = {"id": "resp_1", "output": items, "usage": usage}
        return _named(
            [
                {"type": "response.created", "response": {"id": "resp_1"}},
                *done,
                {"type": "response.completed", "response": whole},
            ]
        )

    def _items(self, turn: Turn, asked: Asked) -> Iterator[Json]:
        if isinstance(turn, str):
            content = [{"type": "output_text", "text": turn, "annotations": []}]
            yield {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
            return
        for call in turn:
            ids = {"id": f"fc_{call.id}", "call_id": self.BEFORE + call.id}
            item = {"type": "function_call", "arguments": json.dumps(call.arguments)}
            yield {**item, **ids, **asked.offered[call.tool]}


class Chat:
    """The OpenAI Chat Completions interface."""

    BEFORE = "call_"

    def read(self, message: Json) -> Asked:
        names = [str(tool["function"]["name"]) for tool in message.get("tools", ())]
        results = {
            str(one["tool_call_id"]).removeprefix(self.BEFORE): _brought(one["content"])
            for one in message["messages"]
            if one["role"] == "tool"
        }
        return Asked({name: {"name": name} for name in names}, results)

    def write(self, turn: Turn, _asked: Asked) -> str:
        said: Json = {"role": "assistant", "content": turn if isinstance(turn, str) else None}
        if not isinstance(turn, str):
            said["tool_calls"] = [
                {
                    "index": index,
                    "id": self.BEFORE + call.id,
                    "type": "function",
                    "function": {"name": call.tool, "arguments": json.dumps(call.arguments)},
                }
                for index, call in enumerate(turn)
            ]
        why = "stop" if isinstance(turn, str) else "tool_calls"
        same = {"id": "chat_1", "object": "chat.completion.chunk", "created": 0, "model": "mock"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        chunks = [
            {**same, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
            {**same, "choices": [{"index": 0, "delta": {}, "finish_reason": why}]},
            {**same, "choices": [], "usage": usage},
        ]
        return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


class Gemini:
    """The Gemini interface."""

    def read(self, message: Json) -> Asked:
        declared = [one for tool in message.get("tools", ()) for one in tool.get("functionDeclarations", ())]
        results: dict[str, Brought] = {}
        for content in message["contents"]:
            parts = content.get("parts", ())
            beside = sum("inlineData" in part for part in parts)
            for part in parts:
                if (answer := part.get("functionResponse")) is not None:
                    inside = sum("inlineData" in one for one in answer.get("parts", ()))
                    results[str(answer.get("id"))] = Brought(_gemini_text(answer["response"]), inside + beside)
        return Asked({one["name"]: {"name": one["name"]} for one in declared}, results)

    def write(self, turn: Turn, asked: Asked) -> str:
        parts: list[Json] = []
        if isinstance(turn, str):
            parts.append({"text": turn})
        else:
            parts += [{"functionCall": {"id": one.id, "name": one.tool, "args": one.arguments}} for one in turn]
        reply = {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
            "modelVersion": "mock",
        }
        return f"data: {json.dumps(reply)}\n\n"


def _gemini_text(response: Json) -> str:
    return "".join(value if isinstance(value, str) else json.dumps(value) for value in response.values())
