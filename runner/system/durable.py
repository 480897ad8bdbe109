"""Replaces a small file whole or not at all, readable by its owner alone."""

from __future__ import annotations

import os
from pathlib import Path

from runner.system.private_folder import make_folder


def replace_file(path: Path, text: str) -> None:
    """Write `text` to `path` so that a crash leaves either the old file or the new one. Mode 0600. Raises OSError.

    A symbolic link stays a link: some people store their settings elsewhere and link to them.
    """
    target = Path(os.path.realpath(path))
    make_folder(target.parent)
    _remove_drafts(target)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    flush_folder(target.parent)


def _remove_drafts(target: Path) -> None:
    """Remove what earlier writers of `target` left that were killed, and an earlier process of this number."""
    before, after = f".{target.name}.", ".new"
    with os.scandir(target.parent) as found:
        drafts = [one.name for one in found if one.name.startswith(before) and one.name.endswith(after)]
    for name in drafts:
        writer = name[len(before) : -len(after)]
        if writer.isdecimal() and (int(writer) == os.getpid() or not Path("/proc", writer).exists()):
            target.with_name(name).unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Make a new or changed name in `folder` survive a power cut. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
