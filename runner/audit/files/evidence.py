"""Checks the files that runs left, artifacts and captured files, against the hashes in the ledger."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runner.audit.files.captures import SHA256
from runner.system.plain_file import open_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.system.places import Places

NAMED = 5
"""Most altered files that are named; further ones are counted."""


class Evidence:
    """The files of one installation. A missing file is valid: which files are stored is a setting."""

    def __init__(self, places: Places) -> None:
        self._artifacts = places.artifacts
        self._captures = places.captures
        self._seen: set[bytes] = set()
        """Captured files that were checked: the same content is stored once for many runs."""
        self._named: list[str] = []
        self._altered = 0

    def check(self, seq: int, body: Mapping[str, Any]) -> None:
        """Check the files of one finished run, of entry `seq`."""
        artifact, wanted = body.get("artifact"), body.get("artifact_sha256")
        if isinstance(artifact, str) and artifact and isinstance(wanted, str):
            # By its name alone: the folder may have been moved, and no ledger may point anywhere else.
            self._compare(seq, self._artifacts / Path(artifact).name, wanted)
        files = body.get("files")
        for file in files if isinstance(files, list) else ():
            name = file.get("sha256") if isinstance(file, dict) else None
            if not isinstance(name, str) or not SHA256.fullmatch(name) or bytes.fromhex(name) in self._seen:
                continue
            self._seen.add(bytes.fromhex(name))
            self._compare(seq, self._captures / name, name)

    @property
    def summary(self) -> str:
        """The altered files in a sentence; empty where there are none."""
        if not self._altered:
            return ""
        more = f" and {self._altered - NAMED:,} more" if self._altered > NAMED else ""
        return f"Files that runs left were altered after they were stored: {', '.join(self._named)}{more}."

    def _compare(self, seq: int, path: Path, wanted: str) -> None:
        try:
            intact = _fingerprint(path) == wanted
        except FileNotFoundError:
            return
        except OSError:
            intact = False
        if intact:
            return
        self._altered += 1
        if len(self._named) < NAMED:
            self._named.append(f"{path.name} (entry {seq:,})")


def _fingerprint(path: Path) -> str:
    """Return the SHA-256 of a plain file. Raises OSError, also for a link and for anything but a file."""
    with open(open_file(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
