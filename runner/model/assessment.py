"""The classifier's assessment of a request: a level, and findings tied to places in the code."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Self


class Level(IntEnum):
    """Risk levels of spec R1, in rising order, so that `max()` picks the worst."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the level called `name`, in any case. Raises KeyError for any other word."""
        return cls[name.strip().upper()]


class Capability(StrEnum):
    """What a finding would let the code do (spec R3)."""

    DESTROYS_FILES = "destroys files"
    READS_CREDENTIALS = "reads credentials"
    NETWORK = "network"
    STARTS_PROCESSES = "starts processes"
    PERSISTENCE = "persistence"
    PRIVILEGES = "privileges"
    OBFUSCATION = "obfuscation"
    EXFILTRATION = "exfiltration"
    EXHAUSTS_RESOURCES = "exhausts resources"
    RECONNAISSANCE = "reconnaissance"
    FILES = "files"
    PACKAGES = "packages"
    HIDDEN_TEXT = "hidden text"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Span:
    """A range in the code. Lines count from 1, columns from 0 in characters; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def place(self) -> str:
        """The line in words; empty where no line of the code is meant."""
        return "" if self == WHOLE else f"line {self.line}"


WHOLE = Span(1, 0, 1, 0)
"""Of what belongs to no line of the code."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the code does, where it does it, and why that matters."""

    id: str
    """Stable rule id, e.g. `python.subprocess`."""
    level: Level
    capability: Capability
    span: Span
    evidence: str
    """The piece of code that shows it, at most 200 characters, never rendered as rich text."""
    reason: str
    """One sentence in plain words."""
    reference: str = ""
    """ATT&CK technique (`T1059.004`) or weakness (`CWE-78`)."""


@dataclass(frozen=True, slots=True)
class Touch:
    """What the code could touch, for the summary beside it."""

    files: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    processes: tuple[str, ...] = ()
    credentials: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Assessment:
    """The verdict of the classifier on one request."""

    level: Level
    reasons: tuple[str, ...]
    """Reasons for the level, most important first; never empty."""
    findings: tuple[Finding, ...] = ()
    """The findings in order of place."""
    touch: Touch = field(default_factory=Touch)
