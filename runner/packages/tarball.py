"""Reads a tarball of npm, or a source archive, without running anything of it, and refuses one that is not plain."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zlib
from typing import TYPE_CHECKING, Any

from runner.model.bundle import Member
from runner.packages.failures import Unusable
from runner.packages.places import MOST_FILES, TakenPlaces, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_UNPACKED = 1 << 29
"""Bytes of a tarball when unpacked."""
CHUNK = 1 << 20
MOST_MANIFEST = 4 << 20


class Tarball:
    """A tarball in gzip. `data` is known to have the announced hash."""

    def __init__(self, data: bytes) -> None:
        """Raises Unusable."""
        self._data = _inflated(data)
        self._entries = tuple(self._read())

    def manifest(self) -> dict[str, Any]:
        """Return its `package.json`. Raises Unusable."""
        text = self.text("package.json", MOST_MANIFEST)
        if text is None:
            raise Unusable("it has not the one package.json that a package has")
        try:
            said = json.loads(text.removeprefix("\ufeff"))
        except (ValueError, RecursionError) as error:
            raise Unusable("its package.json cannot be read") from error
        if not isinstance(said, dict):
            raise Unusable("its package.json cannot be read")
        return said

    @property
    def paths(self) -> tuple[str, ...]:
        """Its files, below its folder."""
        return tuple("/".join(parts) for parts, *_ in self._entries)

    def text(self, path: str, most: int) -> str | None:
        """Return a file of it as text; None where it has none of that name, or several. Raises Unusable."""
        found = [(offset, size) for parts, _, offset, size in self._entries if "/".join(parts) == path]
        if len(found) != 1:
            return None
        offset, size = found[0]
        if size > most:
            raise Unusable(f"{path[-60:]!a} in it is too long")
        try:
            return self._data[offset : offset + size].decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unusable(f"{path[-60:]!a} in it is not text") from error

    def files(self) -> Iterator[tuple[str, bool, bytes]]:
        """Yield each file: its path below its folder, whether it is a program, and what it holds. Raises Unusable."""
        taken = TakenPlaces()
        for parts, executable, offset, size in self._entries:
            path = "/".join(parts)
            taken.take(path)
            yield path, executable, self._data[offset : offset + size]

    def members(self, place: str) -> tuple[Member, ...]:
        """Return its files for the folder `place`. Raises Unusable."""
        taken, found = TakenPlaces(), []
        for parts, executable, offset, size in self._entries:
            below = "/".join(parts)
            taken.take(below)
            data = self._data[offset : offset + size]
            member = Member(below, f"{place}/{below}", hashlib.sha256(data).hexdigest(), executable, offset, size)
            found.append(member)
        return tuple(found)

    def _read(self) -> Iterator[tuple[tuple[str, ...], bool, int, int]]:
        """Yield the path below the first folder, whether it is a program, and where its content is. Raises Unusable."""
        count = 0
        try:
            with tarfile.open(fileobj=io.BytesIO(self._data), mode="r:") as tar:
                for entry in tar:
                    count += 1
                    if count > 2 * MOST_FILES:
                        raise Unusable(f"it holds more than {MOST_FILES:,} files")
                    parts = parts_of(entry.name.rstrip("/"))
                    if entry.isdir():
                        continue
                    # Sparse files and links are what a plain reader of the same archive would see otherwise.
                    if entry.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or entry.sparse is not None:
                        raise Unusable(f"it holds a link or a device: {entry.name[:100]!a}")
                    if len(parts) < 2:
                        raise Unusable(f"it holds a file outside its folder: {entry.name[:100]!a}")
                    if entry.offset_data + entry.size > len(self._data):
                        raise Unusable("it is damaged")
                    yield parts[1:], bool(entry.mode & 0o111), entry.offset_data, entry.size
        except (tarfile.TarError, OSError, EOFError, ValueError) as error:
            raise Unusable("it is damaged") from error


def _inflated(data: bytes) -> bytes:
    """Return what is compressed with gzip. Raises Unusable."""
    pieces, size = [], 0
    inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        while data and not inflate.eof:
            piece = inflate.decompress(data, CHUNK)
            data = inflate.unconsumed_tail
            pieces.append(piece)
            size += len(piece)
            if size > MOST_UNPACKED:
                raise Unusable(f"it would unpack to more than {MOST_UNPACKED >> 20:,} MB")
            if not piece and not data:
                break
    except zlib.error as error:
        raise Unusable("it is damaged") from error
    if not inflate.eof:
        raise Unusable("it is damaged")
    return b"".join(pieces)
