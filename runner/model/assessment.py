"""The classifier's assessment of a request: a level, and findings tied to places in the code."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Self

from runner.model.span import WHOLE, Span
from runner.model.verdict import RiskVerdict

if TYPE_CHECKING:
    from collections.abc import Iterable


NO_FINDINGS = "No findings"
NOTHING_STANDS_OUT = "Nothing stands out"
"""There are findings, and each of them is LOW."""


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
    verdict: RiskVerdict = field(default_factory=RiskVerdict)
    base: Level | None = None
    """The class of this kind of request by itself, whatever is found; None where that is not known."""
    unread: tuple[str, ...] | None = None
    """What could not be read of it, in sentences: none where it was read whole; None where nobody looked."""

    @property
    def whole(self) -> bool:
        """Whether all that it does was read. "Nothing found" counts only then."""
        return self.unread == ()

    @property
    def not_whole(self) -> str:
        """Why it was not read whole, in words; empty where it was."""
        if self.whole:
            return ""
        return f"Not read whole: {(self.unread or ('nobody looked.',))[0]}"

    @property
    def attention(self) -> Level | None:
        """The level of the worst finding; None where nothing stands out.

        It says what is worth a look, while `level` says which rules and windows apply: any code is at least HIGH.
        """
        worst = max((finding.level for finding in self.findings), default=Level.LOW)
        return None if worst is Level.LOW else worst


def attention_words(worst: Level | None, found: bool) -> str:
    """Return the attention `worst` in a word or two; `found` tells whether there is any finding."""
    return worst.name if worst is not None else NOTHING_STANDS_OUT if found else NO_FINDINGS


def combined(base: Level, findings: Iterable[Finding]) -> Level:
    """Return the class of a request that has `base` by itself and in which `findings` were found."""
    return max((base, *(finding.level for finding in findings)))


__all__ = [
    "NOTHING_STANDS_OUT",
    "NO_FINDINGS",
    "WHOLE",
    "Assessment",
    "Capability",
    "Finding",
    "Level",
    "Span",
    "Touch",
    "attention_words",
    "combined",
]
