"""The seccomp profile that the settings name: checked once, and kept as it was checked."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runner.sandbox.seccomp import libseccomp, narrowed, profile
from runner.sandbox.seccomp.narrowed import WiderProfile
from runner.sandbox.seccomp.profile import MACHINES, REMEDY, UnusableProfile
from runner.system.plain_file import open_file

if TYPE_CHECKING:
    from collections.abc import Collection

    from runner.sandbox.seccomp.narrowed import SeccompFilter

MOST_BYTES = 256 << 10
"""Largest file; Docker's own profile has some 15 KB."""
ARCHITECTURES = tuple(libseccomps for _, libseccomps in MACHINES.values())
PROFILE = "system calls also filtered by your profile "
WIDENED = "system calls filtered by your profile "
"""Begins the protection in place of the one of Assent's own filter, where the profile allows more."""
STOPPED = "Nothing is run in the local sandbox and in Docker until it does."
COUNTS_LATER = "it counts from the next start, where it can be taken; until then the one that was checked does"


@dataclass(frozen=True, slots=True)
class CheckedProfile:
    """A profile that counts."""

    name: str
    sha256: str
    """Of the file."""
    filter: SeccompFilter
    unknown: tuple[str, ...] = ()
    """Calls that it allows by a name that is not known on this machine, so that they stay forbidden."""

    @property
    def text(self) -> str:
        """What a container engine gets, in Docker's JSON form."""
        return self.filter.text(ARCHITECTURES)

    @property
    def widened(self) -> tuple[str, ...]:
        return self.filter.widened

    def protections(self, filtered: str) -> tuple[str, ...]:
        """Return what it protects, in words; `filtered` are those of Assent's own filter, without a profile."""
        named = f"{self.name}, SHA-256 {self.sha256}"
        if self.widened:
            return (f"{WIDENED}{named}, which allows more than Assent's own: {', '.join(self.widened)}",)
        return (filtered, f"{PROFILE}{named}")


class OwnProfile:
    """The profile at `path`, which may allow the calls `agreed` beyond Assent's own filter."""

    def __init__(self, path: str, agreed: Collection[str] = ()) -> None:
        self._path = Path(os.path.expanduser(path))
        self._agreed = frozenset(agreed)
        self._lock = threading.Lock()
        self._checked: CheckedProfile | None = None

    @property
    def name(self) -> str:
        return self._path.name

    def checked(self) -> CheckedProfile:
        """Return it as it was when it was checked first. Blocks. Raises UnusableProfile: without it nothing is run."""
        with self._lock:
            if self._checked is None:
                try:
                    self._checked = check(self._path, self._agreed)
                except (UnusableProfile, WiderProfile) as error:
                    raise UnusableProfile(f"{error.what} {STOPPED}", error.remedy) from error
            return self._checked

    def news(self) -> str:
        """Return what has become of the file since it was checked, in words; '' for nothing. Blocks."""
        if (before := self._checked) is None:
            return ""
        try:
            now = hashlib.sha256(_contents(self._path)).hexdigest()
        except UnusableProfile as error:
            return f"your profile {before.name} as its file is now: {error.what} {COUNTS_LATER}"
        if now == before.sha256:
            return ""
        return f"your profile {before.name} as its file is now: it has changed since it was checked; {COUNTS_LATER}"


def check(path: Path, agreed: Collection[str]) -> CheckedProfile:
    """Return the profile at `path`. Blocks. Raises UnusableProfile, and WiderProfile for calls not `agreed` to."""
    data = _contents(path)
    table = libseccomp.CallNumbers()
    read = profile.read(data, path.name)
    made = narrowed.narrowed(read, path.name, agreed, table)
    unknown = tuple(sorted(call for call, said in read.calls.items() if said.action.allows and not table.knows(call)))
    return CheckedProfile(path.name, hashlib.sha256(data).hexdigest(), made, unknown)


def _contents(path: Path) -> bytes:
    """Return what is in the file: a plain one that nobody else can change. Raises UnusableProfile.

    Agents read it too where nothing runs for that reason, so it does not say where the file is.
    """
    if not path.is_absolute():
        raise UnusableProfile(
            f"The seccomp profile {path.name} does not count: it is not named from the root.", "Name it so."
        )
    try:
        with os.fdopen(open_file(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            about = os.fstat(file.fileno())
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        why = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror or str(error)
        raise UnusableProfile(f"The seccomp profile {path.name} cannot be read: {why}.", REMEDY) from error
    if about.st_uid not in (0, os.geteuid()) or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UnusableProfile(
            f"The seccomp profile {path.name} does not count: other accounts can change it.",
            "Take the right to write from them (chmod go-w).",
        )
    if len(data) > MOST_BYTES:
        raise UnusableProfile(
            f"The seccomp profile {path.name} does not count: it has more than {MOST_BYTES >> 10} KB."
        )
    return data
