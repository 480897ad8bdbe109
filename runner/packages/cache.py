"""Keeps fetched files by the SHA-256 of their content, within a bound, between requests and starts."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import time
from typing import TYPE_CHECKING

from runner.system.private_folder import make_folder

if TYPE_CHECKING:
    from pathlib import Path

_NAME = re.compile(r"[0-9a-f]{64}")
_DRAFT = ".new-"
DRAFT_SECONDS = 3600.0
"""After which a file that is being written has been left by a console that is gone."""


class FileCache:
    """A private folder of files. Every method blocks and may be called on any thread."""

    def __init__(self, folder: Path, most: int) -> None:
        """`most` bounds the bytes of all files."""
        self._folder = folder
        self._most = most

    def find(self, sha256: str) -> bytes | None:
        """Return the content with that hash, None where it is not there. What has changed is removed."""
        path = self._path(sha256)
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                data = file.read()
        except OSError:
            return None
        if hashlib.sha256(data).hexdigest() != sha256:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # the one that was not used for longest goes first
        return data

    def put(self, data: bytes) -> str:
        """Keep `data` and return its hash. Raises OSError; a crash leaves the whole file or none."""
        sha256 = hashlib.sha256(data).hexdigest()
        make_folder(self._folder)
        draft = self._folder / f"{_DRAFT}{secrets.token_hex(8)}"
        try:
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(data)
            draft.rename(self._path(sha256))
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        self._trim(sha256)
        return sha256

    def _path(self, sha256: str) -> Path:
        assert _NAME.fullmatch(sha256), sha256
        return self._folder / sha256

    def _trim(self, fresh: str) -> None:
        """Remove the files that were not used for longest, until the rest is within the bound."""
        found = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    state = entry.stat(follow_symlinks=False)
                    if not entry.name.startswith(_DRAFT) or state.st_mtime < time.time() - DRAFT_SECONDS:
                        found.append((state.st_mtime, state.st_size, entry.name))
        total = sum(size for _, size, _ in found)
        for _, size, name in sorted(found):
            if total <= self._most:
                return
            if name != fresh:
                with contextlib.suppress(OSError):
                    (self._folder / name).unlink()
                total -= size
