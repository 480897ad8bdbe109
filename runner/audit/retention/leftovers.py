"""Clears away what holds removed content outside of the entries: files of runs, the search index, the journal.

The list of leftovers is written with the removal, so that a process that was killed in between continues.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import PurePath
from typing import TYPE_CHECKING

from runner.audit.history.index import discard
from runner.audit.ledger.formats import version_of
from runner.audit.ledger.removal import SINCE
from runner.audit.ledger.removing import ARTIFACT, CAPTURE, INDEX, JOURNAL, Leftover, files_named
from runner.audit.ledger.tables import DAMAGE, connect_to_read, explained
from runner.system.durable import flush_folder

if TYPE_CHECKING:
    from pathlib import Path

    from runner.system.places import Places

_LISTED = "SELECT place, name FROM leftovers ORDER BY place, name"
_OTHERS = (
    "SELECT data FROM requests JOIN bodies ON bodies.seq = finished_seq"
    ' WHERE outcome IS NOT NULL AND instr(data, \'"sha256":"\')'
)
_OLDEST_OPEN = "SELECT min(arrived_at) FROM requests WHERE phase <> 'closed'"


class Leftovers:
    """The leftovers of one ledger."""

    def __init__(self, ledger: Path, places: Places) -> None:
        self._path = ledger
        self._places = places

    @staticmethod
    def size(places: Places, leftover: Leftover) -> int:
        """Return the bytes of a file; 0 where it is not there."""
        try:
            return _path(places, leftover).lstat().st_size
        except OSError:
            return 0

    def listed(self) -> tuple[Leftover, ...]:
        """Return what a removal left and nobody has cleared away. Blocks. Raises KnownError."""
        try:
            with closing(connect_to_read(self._path)) as connection:
                if version_of(connection) < SINCE:
                    return ()
                return tuple(connection.execute(_LISTED))
        except DAMAGE as error:
            raise explained(error, self._path) from error

    def clear(self) -> tuple[tuple[Leftover, ...], str]:
        """Remove index and files; return those that are gone, and what remains in a sentence. Blocks.

        The journal is emptied by whoever writes it. Raises KnownError.
        """
        gone: list[Leftover] = []
        kept = 0
        leftovers = self.listed()
        others, since = self._in_use([name for place, name in leftovers if place == CAPTURE])
        for leftover in leftovers:
            place, name = leftover
            if leftover == JOURNAL:
                continue
            try:
                if leftover == INDEX:
                    discard(self._path)
                elif place == CAPTURE and name in others:
                    pass  # another run left the same file, and its content stays
                elif not _remove(_path(self._places, leftover), since if place == CAPTURE else None):
                    kept += 1
                    continue
            except OSError:
                kept += 1
            else:
                gone.append(leftover)
        for folder in (self._places.artifacts, self._places.captures):
            if folder.is_dir():
                flush_folder(folder)
        words = f"{kept:,} files could not be removed yet; this is tried again at the next start." if kept else ""
        return tuple(gone), words

    def _in_use(self, names: list[str]) -> tuple[set[str], float | None]:
        """Return which captured files other requests name as well, and since when a run may be leaving more.

        A run stores its files shortly before the history names them.
        """
        if not names:
            return set(), None
        wanted, found = set(names), set[str]()
        try:
            with closing(connect_to_read(self._path)) as connection:
                for (data,) in connection.execute(_OTHERS):
                    found |= {name for place, name in files_named(data) if place == CAPTURE and name in wanted}
                (since,) = connection.execute(_OLDEST_OPEN).fetchone()
        except DAMAGE as error:
            raise explained(error, self._path) from error
        return found, since


def _path(places: Places, leftover: Leftover) -> Path:
    place, name = leftover
    return (places.artifacts if place == ARTIFACT else places.captures) / PurePath(name).name


def _remove(path: Path, since: float | None) -> bool:
    """Remove a file; return False where it is from after `since` and may belong to a run that is not recorded yet."""
    try:
        if since is not None and path.lstat().st_ctime >= since:
            return False
        path.unlink()
    except FileNotFoundError:
        pass
    return True
