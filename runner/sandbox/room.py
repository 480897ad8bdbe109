"""Room for the files of a run beside its workspace: bytes, and number of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner.model.request import Limits

TEMPORARY_MB = 64
"""Most that /tmp and /dev/shm hold each, beside the workspace and within its limit; what is large belongs in there."""
TEMPORARY_BYTES = TEMPORARY_MB << 20
FILES_LEAST = 16_384
FILES_PER_MB = 64
"""Files per MB, about as many as file systems on disk have inodes for."""


def most_files(limits: Limits) -> int:
    """Files, folders and links a run may have at once, empty ones too: each takes memory of the kernel's own."""
    return max(FILES_LEAST, FILES_PER_MB * limits.disk_mb)
