"""The result of a run: one type for every sandbox (spec X8)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum

from runner.model.behaviour import Behaviour  # noqa: TC001 - the codec resolves the annotations
from runner.model.network import Contact  # noqa: TC001
from runner.model.request import Isolation, Limits


class Outcome(StrEnum):
    """How a run ended (spec, *Life of a request*)."""

    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed out"
    OUT_OF_MEMORY = "out of memory"
    OUT_OF_DISK = "out of disk"
    OUTPUT_LIMIT = "output limit"
    KILLED = "killed"
    ENGINE_LOST = "engine lost"


@dataclass(frozen=True, slots=True)
class Usage:
    """One reading of what a run uses. `None` means the sandbox cannot tell."""

    at: float
    """Seconds since the run started."""
    cpu_percent: float | None = None
    """100 is one core busy."""
    memory_bytes: int | None = None
    disk_bytes: int | None = None
    """Of the workspace; with those of /tmp and /dev/shm in a container that this account may not look into."""
    processes: int | None = None
    sent: int | None = None
    """Bytes sent to other hosts so far; None where the run has no network."""
    received: int | None = None
    """Bytes received from other hosts so far."""
    connections: int | None = None
    """Connections to other hosts that are open."""
    stdout_bytes: int | None = None
    """Bytes of standard output so far; None where nobody noted it."""
    stderr_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Meta:
    """What is known about a run besides its output."""

    runtime: str = ""
    """`process`, `local`, `docker`, `gvisor-direct`, `gvisor`, `e2b` or `plugin`: the isolation actually used."""
    versions: dict[str, str] = field(default_factory=dict)
    image: str = ""
    limits: Limits = field(default_factory=Limits)
    isolation: Isolation = Isolation.LOCAL
    protections: tuple[str, ...] = ()
    """What was active, in words, e.g. `no network (namespace)`."""
    truncated: bool = False
    timed_out: bool = False
    blocked_imports: tuple[str, ...] = ()
    dropped_stdout: int = 0
    """Bytes of output left out between head and tail."""
    dropped_stderr: int = 0
    rented_seconds: float = 0.0
    """How long a sandbox lasted that costs by time; 0.0 for those of this machine."""
    rehearsed: bool = False
    """Whether it ran without network before a person decided, and was handed over as it was shown."""

    # A result may be asked as a dictionary is.

    @property
    def resource_limits(self) -> dict[str, object]:
        """The limits by name."""
        return asdict(self.limits)

    def keys(self) -> tuple[str, ...]:
        return (*(one.name for one in fields(self)), "resource_limits")

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, name: str) -> object:
        if name not in self.keys():
            raise KeyError(name)
        found: object = getattr(self, name)
        return found


@dataclass(frozen=True, slots=True)
class CapturedFile:
    """A file that a run created and that was collected after its end."""

    path: str
    """Relative to the workspace. What is no text or cannot be printed is written as an escape."""
    size: int
    sha256: str
    at: float | None = None
    """When it was changed last, in seconds since the run started; None where the sandbox cannot see it."""


@dataclass(frozen=True, slots=True)
class OutputOrder:
    """In which order the lines of a run's two streams ended, as they arrived."""

    turns: tuple[int, ...]
    """Whole lines of standard output, of standard error, of standard output and so on, in turn; within bounds."""
    whole: bool
    """Whether every whole line is in it that the code printed. If not, it ends where the order was not kept."""

    def within(self, out_lines: int | None, err_lines: int | None) -> OutputOrder:
        """Return as much of it as needs no more lines of a stream than given; None for all that there are."""
        left = [out_lines, err_lines]
        kept: list[int] = []
        for number, lines in enumerate(self.turns):
            here = left[number % 2]
            kept.append(lines if here is None else min(lines, here))
            if here is not None:
                if lines > here:
                    return OutputOrder(tuple(kept), whole=False)
                left[number % 2] = here - lines
        return OutputOrder(tuple(kept), self.whole and out_lines is None and err_lines is None)


@dataclass(frozen=True, slots=True)
class Result:
    """What a run produced. Text is UTF-8 with undecodable bytes replaced."""

    outcome: Outcome
    stdout: str
    stderr: str
    exit_code: int
    """0 for success, -1 on timeout, 128 + signal when killed by one."""
    duration: float
    """Seconds of running; time spent waiting for a person is never in it."""
    value: object = None
    """What the code left in `result`, as JSON data (Python only)."""
    error: str = ""
    """How the run ended, in words for a person; empty for `ok`."""
    peak_memory: int | None = None
    """Bytes."""
    meta: Meta = field(default_factory=Meta)
    curve: tuple[Usage, ...] = ()
    """Readings over the run, thinned to at most 600."""
    files: tuple[CapturedFile, ...] = ()
    """Files that the run created, within bounds."""
    files_left_out: str = ""
    """Files that were not collected, in words."""
    contacts: tuple[Contact, ...] = ()
    """Hosts that the code tried to reach, refused ones first, within bounds."""
    contacts_left_out: int = 0
    """How many more hosts it tried to reach."""
    order: OutputOrder | None = None
    """None where one stream has all of it, and in records of versions that kept no order."""
    observed: Behaviour | None = None
    """What the code did, as the sandbox saw it; None in records of versions that had none, and where no code ran."""
