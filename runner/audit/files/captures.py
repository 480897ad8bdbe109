"""Stores the files that runs created under the SHA-256 of their content, and returns only unaltered ones (spec F2).

Files of runs with a stored artifact stay; others are removed when the console closes, or when the next one opens.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import secrets
import shutil
from typing import TYPE_CHECKING

from runner.model.errors import KnownError
from runner.system.plain_file import open_file
from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.model.result import CapturedFile
    from runner.system.places import Places

SESSION = "session-"
DRAFT = "run-"
"""How the folder of files begins that are in no history yet."""
LOCK = ".open"
SHA256 = re.compile(r"[0-9a-f]{64}")
"""Name of a captured file in the store."""


class Captures:
    """The store of one console. Every method blocks while the disk works."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._session: Path | None = None
        self._lock = -1

    def begin(self) -> None:
        """Remove leftovers of consoles that have ended, and create the folder of this one. Raises OSError."""
        if self._session is not None:
            return
        folder = self._places.captures
        make_folder(folder)
        for left in folder.glob(f"{SESSION}*"):
            with contextlib.suppress(OSError):
                _remove_if_left(left)
        session = folder / f"{SESSION}{secrets.token_hex(6)}"
        session.mkdir(mode=0o700)
        self._lock = os.open(session / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._session = session

    def draft(self, request_id: str) -> Path:
        """Create and return a folder for the files of the run of `request_id`. Raises OSError."""
        self.begin()
        draft = self._draft(request_id)
        draft.mkdir(mode=0o700, exist_ok=True)
        return draft

    def _draft(self, request_id: str) -> Path:
        assert self._session is not None
        return self._session / f"{DRAFT}{hashlib.sha256(request_id.encode()).hexdigest()[:16]}"

    def keep(self, request_id: str, files: tuple[CapturedFile, ...], *, lasting: bool) -> None:
        """Move the files of a run to the store: permanently, or until this console closes. Raises OSError."""
        if self._session is None:
            return
        draft = self.draft(request_id)
        place = self._places.captures if lasting else self._session
        try:
            for name in {file.sha256 for file in files}:
                with contextlib.suppress(FileNotFoundError):
                    (draft / name).replace(place / name)
        finally:
            shutil.rmtree(draft, ignore_errors=True)

    def drop(self, request_id: str) -> None:
        """Remove the files of a run that are in nobody's history. Harmless where there are none."""
        if self._session is not None:
            shutil.rmtree(self._draft(request_id), ignore_errors=True)

    def close(self) -> None:
        """Remove the files that are not permanent."""
        if self._session is not None:
            shutil.rmtree(self._session, ignore_errors=True)
            os.close(self._lock)
            self._session = None


def read(places: Places, file: CapturedFile) -> bytes:
    """Return the content of `file` as the run left it. Raises KnownError where it is missing or was altered."""
    for place in _places(places):
        try:
            with os.fdopen(open_file(place / file.sha256, os.O_RDONLY), "rb") as stored:
                data = stored.read(file.size + 1)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise KnownError(f"The file cannot be read: {error.strerror}.", "Check the folder of artifacts.") from error
        if len(data) == file.size and hashlib.sha256(data).hexdigest() == file.sha256:
            return data
        raise KnownError(
            "This file was altered after it was collected. It is not shown.", "Run the code again for a new one."
        )
    raise KnownError(
        "This file is no longer there.", "Which files are kept says Keep artifacts, under Code in Settings."
    )


def _places(places: Places) -> Iterator[Path]:
    yield places.captures
    yield from places.captures.glob(f"{SESSION}*")
    # Those of rehearsals, which are in no history before they are handed over.
    yield from places.captures.glob(f"{SESSION}*/{DRAFT}*")


def _remove_if_left(session: Path) -> None:
    """Remove the folder of a console that has ended. Raises OSError, also where that console is open."""
    lock = os.open(session / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(session, ignore_errors=True)
    finally:
        os.close(lock)
