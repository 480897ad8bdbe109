"""Takes apart what the keeper in a container hands out: records and contents of files. All of it is untrusted."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, BinaryIO

from runner.sandbox.file_collector import FileCollector, LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runner.sandbox.contract import Collect

MOST_RECORDS = 2000
LONGEST_RECORD = 1 << 13
RECORDS = 1 << 23
"""Bytes of all records."""
CHUNK = 1 << 18
KINDS = {
    b"b": LeftOut.LARGE,
    b"c": LeftOut.CLOSED,
    b"d": LeftOut.DEEP,
    b"l": LeftOut.LINK,
    b"m": LeftOut.MANY,
    b"k": LeftOut.PACKAGES,
    b"r": LeftOut.REST,
    b"s": LeftOut.SPECIAL,
    b"t": LeftOut.FULL,
}
"""The first letter of a record, and why what it names is left out; `f` stands for a file that follows."""


BEGUN = b"o"
"""The first letter of the record that says when the run began."""
LONGEST_MOMENT = 32


class Spool:
    """Keeps what comes, on disk and no more than there may be, until it is taken apart."""

    def __init__(self, collect: Collect) -> None:
        """Raises OSError."""
        self._collect = collect
        self._file: BinaryIO = tempfile.TemporaryFile(dir=collect.folder)  # noqa: SIM115 - closed by `close`
        self._room = collect.bounds.all_bytes + RECORDS
        self._failure: OSError | None = None

    @property
    def full(self) -> bool:
        """Whether more came than there may be, or than could be stored."""
        return self._room < 0 or self._failure is not None

    def write(self, data: bytes) -> None:
        self._room -= len(data)
        if self.full:
            return
        try:
            self._file.write(data)
        except OSError as error:
            self._failure = error

    def unpack(self) -> FileCollector:
        """Put the files where they are wanted. Blocks."""
        collector = FileCollector(self._collect)
        try:
            if self._failure is not None:
                raise self._failure
            self._file.seek(0)
            for path, size, changed in self._records(collector):
                self._take(collector, path, size, changed)
        except OSError as error:
            collector.fail(error)
        return collector

    def close(self) -> None:
        self._file.close()

    def _records(self, collector: FileCollector) -> list[tuple[bytes, int, float | None]]:
        """Return the files whose contents follow, in their order; the file stands at the first of them."""
        coming: list[tuple[bytes, int, float | None]] = []
        for record in self._split():
            kind, (numbers, _, path) = record[:1], record[1:].partition(b" ")
            digits, _, changed = numbers.partition(b"@")
            size = int(digits) if digits.isdigit() and len(digits) < 20 else 0
            if kind == b"f":
                coming.append((path, size, _moment(changed)))
            elif kind == BEGUN:
                collector.began = _moment(path)
            elif kind in KINDS:
                collector.leave(path, KINDS[kind], size if kind == b"b" else 0)
        return coming

    def _split(self) -> Iterator[bytes]:
        """Records, up to the empty one. The file stands behind it then."""
        data, at = b"", 0
        for _ in range(MOST_RECORDS):
            end = data.find(b"\0", at)
            while end < 0 and len(data) - at < LONGEST_RECORD and (more := self._file.read(CHUNK)):
                data, at = data[at:] + more, 0
                end = data.find(b"\0")
            if end <= at or end - at > LONGEST_RECORD:
                break
            yield data[at:end]
            at = end + 1
        self._file.seek(at + 1 - len(data), os.SEEK_CUR)

    def _take(self, collector: FileCollector, path: bytes, size: int, changed: float | None) -> None:
        begin = self._file.tell()
        whole = os.fstat(self._file.fileno()).st_size
        if begin + size > whole:
            collector.leave(path, LeftOut.REST)
        elif not collector.refuses(path, size):
            collector.put(path, self._pieces(size), changed)
        self._file.seek(min(begin + size, whole))

    def _pieces(self, size: int) -> Iterator[bytes]:
        while size and (piece := self._file.read(min(CHUNK, size))):
            size -= len(piece)
            yield piece


def _moment(text: bytes) -> float | None:
    """Return seconds since the epoch; None where `text` is no such number."""
    # Bash writes the sign of its locale.
    whole, _, part = text.replace(b",", b".").partition(b".")
    if len(text) > LONGEST_MOMENT or not whole.isdigit() or (part and not part.isdigit()):
        return None
    return float(b"%s.%s" % (whole, part or b"0"))
