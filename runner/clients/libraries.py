"""Snippets by which Python programs use Assent's tools, for the libraries that agents are built with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from runner.gateway.snippets import LONG_HOLD

if TYPE_CHECKING:
    from runner.clients.client import Setup

SECONDS = LONG_HOLD + 20
"""Time limit of a call in the library, above what Assent holds it for."""

LANGCHAIN = """\
# pip install langchain-mcp-adapters
import asyncio

from langchain_mcp_adapters.client import MultiServerMCPClient

client = MultiServerMCPClient({{"assent": {{"transport": "stdio", **{server}}}}})
tools = asyncio.run(client.get_tools())  # hand these to the agent
"""
OPENAI_AGENTS = """\
# pip install openai-agents
from agents import Agent
from agents.mcp import MCPServerStdio

# Without the time limit a call fails after 5 s, long before a person has decided.
server = MCPServerStdio(params={server}, client_session_timeout_seconds={seconds}, cache_tools_list=True)


async def main() -> None:
    async with server:
        agent = Agent(name="assistant", mcp_servers=[server])
        ...  # Runner.run(agent, ...)
"""
FASTMCP = """\
# pip install fastmcp
from fastmcp import Client

client = Client({{"mcpServers": {{"assent": {server}}}}}, timeout={seconds})


async def main() -> None:
    async with client:
        print(await client.call_tool("code_execute", {{"language": "python", "code": "print(6 * 7)"}}))
"""


class Library(NamedTuple):
    """A library, and the text that connects a program written with it."""

    id: str
    name: str
    text: str

    def snippet(self, setup: Setup) -> str:
        """Return the text with the bridge of `setup`; it holds the token."""
        return self.text.format(server=json.dumps(setup.bridge(), ensure_ascii=False), seconds=SECONDS)


LIBRARIES = {
    one.id: one
    for one in (
        Library("langchain", "LangChain", LANGCHAIN),
        Library("openai-agents", "OpenAI Agents", OPENAI_AGENTS),
        Library("fastmcp", "FastMCP", FASTMCP),
    )
}
