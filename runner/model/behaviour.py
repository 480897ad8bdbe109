"""The behaviour of a run as its sandbox saw it from outside: programs, connections, files, rights."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LONGEST = 300
"""Characters of one thing that a run did; what is longer is cut."""
LONGEST_NAME = 80
MOST_DEEDS = 250
"""Different things that are listed of one run."""
NOT_REPORTED = "This kind of sandbox does not report what code does."
"""Why there is nothing to see of a run in a sandbox without a feed."""
NEVER_REPORTED = "gVisor did not report what this run did."
A_NAME = "a host name (the sandbox does not report which)"
"""What was asked for where a program looks up a name."""
OWN_FILE = "./"
"""Begins the name of a program whose file is not in a folder of the system or of packages."""
UNIX = "unix:"
"""Begins the path of a socket in the file system of the sandbox."""


class DeedKind(StrEnum):
    """What a thing that a run did is about, gravest first."""

    PROGRAM = "program"
    CONNECTION = "connection"
    RIGHTS = "rights"
    FILE = "file"


@dataclass(frozen=True, slots=True)
class Deed:
    """All that a run did alike. Every text is the code's choice, on one line, with each of its characters visible."""

    kind: DeedKind
    what: str
    """A command line, an address, a path, or what was done to rights; at most LONGEST characters."""
    at: float = 0.0
    """When it was done first, in seconds since the code started."""
    times: int = 1
    name: str = ""
    """File name of a program, host of a connection; '' for the rest. OWN_FILE begins that of a file of the run's."""
    failed: int = 0
    """How many of them came to nothing, or ended with an error."""
    problem: str = ""
    """How the last of those ended, in a few words: `exit 1`, `not found`."""

    @property
    def claim(self) -> str:
        """What it is in a few words, as `Behaviour.unforeseen` names it; '' for what is never there."""
        match self.kind:
            case DeedKind.PROGRAM:
                return f"started {self.name[:LONGEST_NAME]}"
            case DeedKind.CONNECTION if self.what == A_NAME:
                return "asked for a host"
            case DeedKind.CONNECTION if self.name:
                return f"asked for {self.name[:LONGEST_NAME]}"
            case _:
                return ""

    @property
    def came(self) -> str:
        """What came of it in a few words: `3 times, 1 of them: exit 1`; '' where it was done once and worked."""
        times = f"{self.times:,} times" if self.times > 1 else ""
        if not self.failed:
            return times
        some = f"{self.failed:,} of them: " if self.failed < self.times else ""
        return ", ".join(filter(None, (times, some + self.problem)))


@dataclass(frozen=True, slots=True)
class Behaviour:
    """All that is known of what one run did, within bounds."""

    deeds: tuple[Deed, ...] = ()
    """In the order of their first time."""
    left_out: int = 0
    """How many further ones there were that are not listed."""
    lost: int = 0
    """Messages of the sandbox that came too fast and were dropped, or made no sense."""
    ended: int = 0
    """Processes that ended, besides the first."""
    gap: str = ""
    """Why it is not complete, in a sentence; '' where it is."""
    absent: str = ""
    """Why nothing is known at all, in a sentence; '' where something may be."""
    unforeseen: tuple[str, ...] = ()
    """What the assessment had not foreseen, in words."""
    files_left_out: int = 0
    """How many of those left out were files; none of them could have been unforeseen."""

    @property
    def complete(self) -> bool:
        """Whether there was nothing but what is listed."""
        return not (self.left_out or self.lost or self.gap or self.absent)

    def of(self, kind: DeedKind) -> tuple[Deed, ...]:
        return tuple(one for one in self.deeds if one.kind is kind)

    @property
    def reservation(self) -> str:
        """What the list leaves out, in words; '' where it is complete."""
        if self.absent or self.complete:
            return self.absent
        parts = [self.gap] if self.gap else []
        if self.left_out:
            parts.append(f"{self.left_out:,} further actions are not listed.")
        if self.lost:
            parts.append(f"{self.lost:,} messages of the sandbox were dropped.")
        return f"Not complete. {' '.join(parts)}"
