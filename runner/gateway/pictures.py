"""The pictures of a run that its agent gets to see: few, small, and of a kind and size that is looked up in them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from runner.gateway.replies import AttachedPicture
from runner.model.errors import KnownError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runner.model.result import CapturedFile, Result

MOST = 3
LARGEST = 1 << 20
"""Bytes of one picture: a chart has some 50 KB, and models take no more than about 5 MB in all."""
LONGEST_SIDE = 8_000
"""Pixels. A larger one is refused by models, and costs whoever unpacks it hundreds of megabytes."""
SUFFIXES = (".png", ".jpg", ".jpeg")
PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff"
SIZED = frozenset({*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)})
"""Markers of the JPEG segments that begin with the size (ITU T.81, table B.1: SOF0 to SOF15 without DHT, JPG, DAC)."""


async def of_run(
    result: Result, read: Callable[[CapturedFile], Awaitable[bytes]]
) -> tuple[tuple[CapturedFile, AttachedPicture], ...]:
    """Return the first pictures among the files of a run. `read` raises KnownError for a file that is gone."""
    found: list[tuple[CapturedFile, AttachedPicture]] = []
    seen: set[str] = set()
    for file in result.files:
        if not file.path.lower().endswith(SUFFIXES) or not 0 < file.size <= LARGEST or file.sha256 in seen:
            continue
        seen.add(file.sha256)
        if len(seen) > 2 * MOST:  # a run may leave thousands that are none
            break
        try:
            data = await read(file)
        except KnownError:
            continue
        if (kind := kind_of(data)) and len(found) < MOST:
            found.append((file, AttachedPicture(kind, data)))
    return tuple(found)


def kind_of(data: bytes) -> str:
    """Return the media type of a picture within bounds; empty for whatever else it is."""
    width, height, kind = 0, 0, ""
    if data.startswith(PNG) and data[12:16] == b"IHDR" and len(data) >= 24:
        (width, height), kind = struct.unpack_from(">II", data, 16), "image/png"
    elif data.startswith(JPEG):
        (width, height), kind = _jpeg_size(data), "image/jpeg"
    return kind if 0 < width <= LONGEST_SIDE and 0 < height <= LONGEST_SIDE else ""


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Return width and height as the first segment with a size has them; zeros without one."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4])
        if marker in SIZED:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        if length < 2:
            break
        at += 2 + length
    return 0, 0
