"""The file that an export is written to: under another name until it is complete."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from typing import TYPE_CHECKING

from runner.audit.export.begun import new_draft, noted, sweep_folder
from runner.model.errors import KnownError
from runner.system.durable import flush_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

BUFFER = 1 << 20
_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


@contextlib.contextmanager
def exported_file(path: Path, ledger: Path, *, replace: bool = False, notes: Path | None = None) -> Iterator[IO[str]]:
    """Give a text file that is called `path` once the block has ended well; otherwise nothing of it is left.

    Mode 0600. What a process leaves that is killed meanwhile is removed by the next export into the same folder, and
    by the next start of the console that looks at `notes`. Raises KnownError where something has that name already
    (`replace` permits a plain file), where it is beside the ledger, and where it cannot be written.
    """
    path = path.absolute()
    draft = new_draft(path)
    try:
        _check(path, ledger, replace=replace)
        sweep_folder(path.parent)
    except OSError as error:
        raise not_written(path, error) from error
    with noted(draft, notes):
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            # Held until it is closed, by this process alone: who cannot take it leaves the file where it is.
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise not_written(path, error) from error
        try:
            with os.fdopen(descriptor, "w", BUFFER, encoding="utf-8", errors="backslashreplace", newline="") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _publish(draft, path, ledger, replace=replace)
        except OSError as error:
            raise not_written(path, error) from error
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)


def not_written(path: Path, error: OSError) -> KnownError:
    """Return the error to raise for one of the file system."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        what = f"The disk is full: {path} was not written."
        return KnownError(what, f"Free some space on the disk that holds {path.parent}.")
    what = f"{path} cannot be written: {error.strerror or error}."
    return KnownError(what, "Choose a folder that exists and that you may write to.")


def _check(path: Path, ledger: Path, *, replace: bool) -> None:
    """Raise KnownError unless `path` may become the file. Raises OSError."""
    if path.parent.resolve() == ledger.parent.resolve():
        # Replacing the ledger, its journal or a key there would destroy what is exported.
        raise KnownError(f"{path.parent} holds the history itself.", "Choose another folder for the export.")
    try:
        there = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(there.st_mode):
        raise KnownError(f"{path} is not a plain file.", "Choose another name.")
    if not replace:
        raise KnownError(f"{path} exists already.", "Choose another name, or add --force to replace it.")


def _publish(draft: Path, path: Path, ledger: Path, *, replace: bool) -> None:
    """Give `draft` its name. Checked again: writing may have taken minutes."""
    _check(path, ledger, replace=replace)
    if replace:
        draft.replace(path)
    else:
        try:
            # Fails where somebody has taken the name meanwhile; a rename would replace that file.
            os.link(draft, path, follow_symlinks=False)
        except FileExistsError:
            _check(path, ledger, replace=False)
            raise
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            draft.rename(path)
    flush_folder(path.parent)
