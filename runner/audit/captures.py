"""Keeps the files that runs created, each under the SHA-256 of its content, and gives only what is unaltered (F2).

Files of runs whose artifact is kept stay; those of other runs go when the console closes, or when the next one opens.
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

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from runner.model.result import CapturedFile
    from runner.system.places import Places

SESSION = "session-"
LOCK = ".open"
SHA256 = re.compile(r"[0-9a-f]{64}")
"""What a captured file is called in the store."""


class Captures:
    """The store of one console. Everything here blocks for as long as the disk takes."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._session: Path | None = None
        self._lock = -1

    def begin(self) -> None:
        """Remove what consoles that are gone have left, and make room for this one. Raises OSError."""
        if self._session is not None:
            return
        folder = self._places.captures
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in folder.glob(f"{SESSION}*"):
            with contextlib.suppress(OSError):
                _remove_if_left(left)
        session = folder / f"{SESSION}{secrets.token_hex(6)}"
        session.mkdir(mode=0o700)
        self._lock = os.open(session / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._session = session

    def draft(self, request_id: str) -> Path:
        """A folder into which a sandbox may put what the run of `request_id` created. Raises OSError."""
        self.begin()
        assert self._session is not None
        draft = self._session / f"run-{hashlib.sha256(request_id.encode()).hexdigest()[:16]}"
        draft.mkdir(mode=0o700, exist_ok=True)
        return draft

    def keep(self, request_id: str, files: tuple[CapturedFile, ...], *, lasting: bool) -> None:
        """Move what was drafted to its place: for good, or until this console closes. Raises OSError."""
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

    def close(self) -> None:
        """Remove what does not last."""
        if self._session is not None:
            shutil.rmtree(self._session, ignore_errors=True)
            os.close(self._lock)
            self._session = None


def read(places: Places, file: CapturedFile) -> bytes:
    """The content of `file`, exactly as the run left it. Raises KnownError where it is gone or was altered."""
    for place in _places(places):
        try:
            with open(place / file.sha256, "rb") as stored:
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
        "This file is no longer there.", "Which files are kept is a setting: SANDBOX_STORE_CODE, under Code."
    )


def _places(places: Places) -> Iterator[Path]:
    yield places.captures
    yield from places.captures.glob(f"{SESSION}*")


def _remove_if_left(session: Path) -> None:
    """Raises OSError, also where its console is still open."""
    lock = os.open(session / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(session, ignore_errors=True)
    finally:
        os.close(lock)
