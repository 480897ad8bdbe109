"""Many callers at once, each with its own connection: the load of `window`, run as a process of its own.

It says "ready" once each caller is connected and has had one answer, calls when a line comes, and then says "done".
"""

from __future__ import annotations

import asyncio
import sys

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client


async def _caller(address: str, token: str, calls: int, ready: asyncio.Barrier) -> None:
    http = create_mcp_http_client(headers={"Authorization": f"Bearer {token}"})
    async with http, Client(streamable_http_client(address, http_client=http), mode="auto") as client:
        await _call(client)
        await ready.wait()
        await ready.wait()
        for _ in range(calls):
            await _call(client)
        await ready.wait()


async def _call(client: Client) -> None:
    answer = await client.call_tool("code_sandbox_info", {})
    assert not answer.is_error, answer


async def _main(address: str, token: str, callers: int, calls: int) -> None:
    ready = asyncio.Barrier(callers + 1)
    async with asyncio.TaskGroup() as group:
        for number in range(callers):
            group.create_task(_caller(address, token, calls, ready), name=f"caller {number}")
        await ready.wait()
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await ready.wait()
        await ready.wait()
        print("done", flush=True)


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
