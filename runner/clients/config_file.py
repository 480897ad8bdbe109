"""Reads and replaces a configuration file of another program: whole or not at all, its mode and links as they were."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import time
from dataclasses import dataclass
from pathlib import Path

from runner.model.errors import KnownError
from runner.system.durable import flush_folder
from runner.system.plain_file import read_file
from runner.system.private_folder import make_folder

MOST_BYTES = 8 << 20
"""Largest file; a client that stores conversations in its configuration has a few MB."""
PRIVATE = 0o600
"""Mode of a file that is made here: it holds a token."""
BACKUP = ".before-assent-"
MOST_BACKUPS = 3
"""Copies of one file that stay beside it."""
ALONE = "Nothing was changed."
MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
"""Which some editors put at the beginning of a text."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file as it was read. `data` is None where there is none yet."""

    path: Path
    """As the client names it."""
    target: Path
    """Where a link leads."""
    data: bytes | None
    mode: int = PRIVATE
    group: int = -1

    @property
    def text(self) -> str:
        """Its text without a byte order mark. Raises KnownError."""
        try:
            return (self.data or b"").decode("utf-8").removeprefix(MARK)
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise KnownError(f"{self.path}, line {line}: not UTF-8 text. {ALONE}", "Correct the file.") from error

    def encoded(self, text: str) -> bytes:
        """Return `text` as it is to be written, with the byte order mark of before."""
        marked = (self.data or b"").startswith(MARK.encode())
        return ((MARK if marked else "") + text).encode("utf-8")


def read(path: Path) -> ConfigFile:
    """Return the file. Raises KnownError for what is no plain file, another account's, or too large."""
    try:
        target = Path(os.path.realpath(path, strict=False))
        status = target.stat()
    except FileNotFoundError:
        _check_folder(path, target)
        return ConfigFile(path, target, None)
    except OSError as error:
        raise _failed(path, "cannot be read", error) from error
    if not stat.S_ISREG(status.st_mode):
        raise KnownError(f"{path} is not a file. {ALONE}", "Move what stands there away.")
    if status.st_uid != os.getuid():
        raise KnownError(f"{path} belongs to another account. {ALONE}", f'Look at it: ls -l "{target}"')
    if status.st_nlink > 1:
        # Replacing it would leave the other names with the old content.
        raise KnownError(
            f"{path} is one of several names of a file (hard links). {ALONE}", "Make it a file of its own."
        )
    _check_folder(path, target)
    try:
        data = read_file(target, MOST_BYTES)
    except OSError as error:
        raise _failed(path, "cannot be read", error) from error
    return ConfigFile(path, target, data, stat.S_IMODE(status.st_mode), status.st_gid)


def write(file: ConfigFile, text: str) -> Path | None:
    """Replace the content; return the backup of what was there. Raises KnownError, also where it has changed since.

    The backup is made first. A crash leaves either the old file or the new one.
    """
    try:
        make_folder(file.target.parent)
        _check_unchanged(file)
        backup = None if file.data is None else _back_up(file)
        draft = _draft(file, file.encoded(text), f".{file.target.name}.{secrets.token_hex(8)}.new")
        try:
            _check_unchanged(file)
            os.replace(draft, file.target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        flush_folder(file.target.parent)
    except OSError as error:
        raise _failed(file.path, "cannot be written", error) from error
    return backup


def remove(file: ConfigFile) -> None:
    """Remove a file in which nothing is left. Raises KnownError, also where it has changed since."""
    try:
        _check_unchanged(file)
        file.target.unlink(missing_ok=True)
    except OSError as error:
        raise _failed(file.path, "cannot be removed", error) from error


def _check_folder(path: Path, target: Path) -> None:
    """Raise KnownError where the folder is another account's: whoever owns it can replace the file."""
    there = next(folder for folder in target.parents if folder.exists())
    status = there.stat()
    if status.st_uid not in (os.getuid(), 0) or not os.access(there, os.W_OK | os.X_OK):
        raise KnownError(f"{path} cannot be written: {there} belongs to another account. {ALONE}")


def _check_unchanged(file: ConfigFile) -> None:
    if read(file.path).data != file.data:
        raise KnownError(f"{file.path} was changed by another program meanwhile. {ALONE}", "Try again.")


def _back_up(file: ConfigFile) -> Path:
    """Copy the content beside the file, and remove the oldest copies. Raises OSError."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    name = f"{file.target.name}{BACKUP}{stamp}-{secrets.token_hex(2)}"
    assert file.data is not None
    made = _draft(file, file.data, name)
    beside = (one for one in file.target.parent.iterdir() if one.name.startswith(file.target.name + BACKUP))
    with contextlib.suppress(OSError):
        for old in sorted(beside, key=lambda one: (one == made, one.stat().st_mtime_ns))[:-MOST_BACKUPS]:
            old.unlink()
    return made


def _draft(file: ConfigFile, data: bytes, name: str) -> Path:
    """Write a new file with mode and group of `file` beside it. Raises OSError."""
    path = file.target.with_name(name)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, PRIVATE)
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            out.flush()
            if file.group >= 0 and file.group != os.fstat(out.fileno()).st_gid:
                with contextlib.suppress(PermissionError):
                    os.fchown(out.fileno(), -1, file.group)
            os.fchmod(out.fileno(), file.mode)
            os.fsync(out.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path


def _failed(path: Path, what: str, error: OSError) -> KnownError:
    return KnownError(f"{path} {what}: {error.strerror or error}. {ALONE}", "Look at the file and its folder.")
