"""Floods a port of this machine: `python flood.py PORT` sends what it is given on standard input, in base64 by lines.

Standard library only, so that it starts at once. Ends when it is ended.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import sys

EACH = 6
"""Connections for each message."""
SILENT = 600
"""Connections on which nothing is sent."""
IN_A_ROW = 10
READ_SECONDS = 0.3


async def flood(port: int, message: bytes) -> None:
    """Send one message again and again, some on each connection, without waiting for all answers."""
    while True:
        with contextlib.suppress(OSError, TimeoutError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                for _ in range(IN_A_ROW):
                    writer.write(message)
                    await writer.drain()
                async with asyncio.timeout(READ_SECONDS):
                    while await reader.read(1 << 16):
                        pass
            finally:
                writer.transport.abort()


async def say_nothing(port: int) -> None:
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await reader.read()
            writer.close()


async def main(port: int, messages: list[bytes]) -> None:
    async with asyncio.TaskGroup() as group:
        for message in messages:
            for _ in range(EACH):
                group.create_task(flood(port, message))
        for _ in range(SILENT):
            group.create_task(say_nothing(port))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), [base64.b64decode(line) for line in sys.stdin]))
