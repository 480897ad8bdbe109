"""The interface of every sandbox, with one result type and one conformance suite (spec X1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from runner.model.errors import KnownError
from runner.model.request import Isolation, KnownFile, Language, Limits, NetworkMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from runner.model.behaviour import Behaviour
    from runner.model.bundle import Bundle
    from runner.model.result import Result, Usage
    from runner.network.gate import Gate
    from runner.risk.inputs.imported import Import
    from runner.sandbox.output import OutputBudget, Transcript
    from runner.sandbox.workspace_copy import WorkspaceCopy


@dataclass(frozen=True, slots=True)
class ImportRule:
    """Which Python modules the code may import itself (spec R6).

    `allowed` None means every module that is not in `blocked`. What an allowed module imports is its own affair.
    """

    allowed: tuple[str, ...] | None = None
    blocked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much is collected of the files that a run created."""

    files: int = 100
    file_bytes: int = 16 << 20
    all_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class Collect:
    """Where files that a run created are put after its end, each under the SHA-256 of its content, and how much."""

    folder: Path
    bounds: Bounds = Bounds()


class NotPermitted(KnownError):
    """The approval of a run is no longer valid."""


def permitted() -> None:
    """Permit a run that needs no approval."""


def unheard(_behaviour: Behaviour) -> None:
    """Take what nobody follows while it happens."""


@dataclass(frozen=True, slots=True)
class Job:
    """One run for a sandbox: exactly what was approved."""

    id: str
    language: Language
    code: str
    limits: Limits = field(default_factory=Limits)
    context: str = "{}"
    """JSON object: variables for the code."""
    stdin: str = ""
    tables: bool = False
    """Whether the context holds tables of pandas for Python code, as the Python API hands them in; never an agent's."""
    imports: ImportRule = field(default_factory=ImportRule)
    imported: tuple[Import, ...] | None = None
    """The imports of the code, where they are known; with None the sandbox finds them."""
    own_modules: bool = True
    """Whether Python finds modules in the workspace, after all others; the code or a run before wrote them.

    With known files or packages JavaScript loads others only where it is true, too.
    """
    known: tuple[KnownFile, ...] = ()
    """Files that Python and JavaScript code gets in any case, from these texts."""
    bundle: Bundle | None = None
    """Packages that are unpacked into the workspace before the code starts."""
    packages: Mapping[str, str] | None = None
    """SHA-256 of each file of installed packages that may be imported, by its place; None without packages."""
    network: NetworkMode = NetworkMode.NONE
    gate: Gate | None = None
    """The only way out of a run with network; a run with network and without a gate does not start."""
    image: str = ""
    """Id of the container image that was approved; '' takes the one there is now."""
    agent: str = ""
    """Whose it is, where the sandbox costs something."""
    collect: Collect | None = None
    """Destination of created files; with None they are removed with the run."""
    budget: OutputBudget | None = None
    """Memory that this run's output shares with that of other runs."""
    permit: Callable[[], None] = permitted
    """Called on the loop after the sandbox's last await and before the code starts. Raises NotPermitted."""
    noticed: Callable[[Behaviour], None] = unheard
    """Called on the loop with all that the run has done by now, some times a second while there is news.

    Only where the sandbox sees it; the result has the whole.
    """


@dataclass(frozen=True, slots=True)
class Readiness:
    """The state of a working sandbox on this machine."""

    ready: bool
    protections: tuple[str, ...] = ()
    """Active protections in words."""
    missing: tuple[str, ...] = ()
    """Protections that are unavailable here, each with the reason."""
    versions: dict[str, str] = field(default_factory=dict)
    """`python`, `node`, `bash` and the sandbox's own tools, where found."""
    packages: str = ""
    """What Python code can import, in words."""
    problem: str = ""
    remedy: str = ""
    images: Mapping[Language, str] = field(default_factory=dict)
    """Ids of the container images that are there."""
    unanswered: bool = False
    """Whether an engine is there that takes calls without answering: nobody knows yet whether this would work."""


class Run(Protocol):
    """A run that has been started."""

    @property
    def transcript(self) -> Transcript:
        """Live output; safe to read from any thread."""
        ...

    async def finished(self) -> Result:
        """Wait for the end and everything after it: processes gone, files removed. Never raises for what code does."""
        ...

    def stop(self, why: str) -> None:
        """Kill the whole process tree; the result says `killed` and `why`. Returns at once; harmless when over.

        May be called on any thread.
        """
        ...


@runtime_checkable
class Haltable(Run, Protocol):
    """A run that can be paused, with its time limit. Both methods return at once."""

    def pause(self) -> None: ...

    def resume(self) -> None: ...


@runtime_checkable
class Killable(Run, Protocol):
    """A run whose `stop` needs the loop."""

    def kill_now(self) -> None:
        """Kill the process tree without the loop. Returns at once; may be called on any thread."""
        ...


class EntryKind(StrEnum):
    """What an entry of a folder is."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """One entry of a folder of the workspace."""

    name: str
    kind: EntryKind
    size: int
    """Bytes."""


@dataclass(frozen=True, slots=True)
class FolderListing:
    entries: tuple[FolderEntry, ...]
    left_out: int = 0
    """How many more there are."""


@dataclass(frozen=True, slots=True)
class FileSlice:
    """A part of a file, and the size of the whole in bytes."""

    data: bytes
    size: int


class Session(Protocol):
    """A sandbox that outlives its runs (spec X5): files stay, processes do not. One thing at a time happens in it.

    Paths are relative to the workspace, as `runner.model.workspace.inside` makes them; links are never followed.
    Everything raises KnownError when the sandbox is gone or the file cannot be used.
    """

    @property
    def alive(self) -> bool:
        """Whether it can still be used."""
        ...

    @property
    def protections(self) -> tuple[str, ...]:
        """Active protections of the runs in it, in words."""
        ...

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> Run:
        """As `Sandbox.start`; the limits on memory, processor, disk and processes are the session's own."""
        ...

    async def write(self, path: str, data: bytes, *, executable: bool) -> None:
        """Put `data` in place of the file at `path`, whole or not at all; folders above it are made."""
        ...

    async def read(self, path: str, offset: int, most: int) -> FileSlice:
        """Return at most `most` bytes from `offset` on."""
        ...

    async def files(self, path: str) -> FolderListing: ...

    async def copy(self, folder: Path, left: tuple[str, ...]) -> WorkspaceCopy:
        """Return a copy of the workspace without the folders `left` at its top; contents go to the disk of `folder`.

        Raises NotCopied.
        """
        ...

    async def put_back(self, copy: WorkspaceCopy, folder: Path, left: tuple[str, ...]) -> None:
        """Put a copy in place of all that is in the workspace but the folders `left`.

        Raises KnownError; only a copy made then says what is in the workspace.
        """
        ...

    async def close(self) -> None:
        """End what runs in it and remove every trace. Harmless when done before."""
        ...


@runtime_checkable
class Rented(Session, Protocol):
    """A kept sandbox that may cost by time."""

    rented_seconds: float
    """How long it lasted where that costs, once it is closed."""


class Sandbox(Protocol):
    @property
    def isolation(self) -> Isolation: ...

    async def check(self) -> Readiness:
        """Try what this sandbox needs, once; the answer is remembered."""
        ...

    async def start(self, job: Job, measured: Callable[[Usage], None]) -> Run:
        """Start `job`. `measured` is called on the loop, at 4 Hz or better.

        Raises KnownError when the sandbox itself does not work (not when the code fails).
        """
        ...

    async def sweep(self) -> tuple[str, ...]:
        """End and remove what a killed console left behind; the names of those runs."""
        ...

    async def close(self) -> None:
        """Stop every run and remove every trace."""
        ...


@runtime_checkable
class Lasting(Sandbox, Protocol):
    """A sandbox that can create kept sandboxes for agents."""

    async def open(self, language: Language, limits: Limits, image: str, agent: str = "") -> Session:
        """Create a kept sandbox for code in `language` and for shell code; `image` and `agent` as in a job.

        Raises KnownError.
        """
        ...


class Journey(Protocol):
    """How the files of a layer get to a sandbox of another machine, and back. Both methods block."""

    folder: Path
    """A folder of ours on the disk that the contents may take."""

    def pack(self) -> WorkspaceCopy:
        """Return what is sent, which is what was asked about. Raises KnownError."""
        ...

    def take_in(self, before: WorkspaceCopy, after: WorkspaceCopy) -> str:
        """Write what differs into the layer; return in words what was left out, '' for nothing. Raises KnownError."""
        ...


@dataclass(frozen=True, slots=True)
class ProjectLayer:
    """A project with the layer of a working copy over it, as the programs at work there see it."""

    path: str
    """Where it is, in its namespaces."""
    device: int
    inode: int
    """Of that folder: no code starts where the workspace is another one."""
    folder: int
    """Descriptor of it, by which this process gets there."""
    mounts: int | None = None
    """Descriptor of the mount namespace that has it; None where it is a plain folder of this machine."""
    users: int | None = None
    """Descriptor of the user namespace that this one belongs to; None for that of this process."""
    journey: Journey | None = None
    """For sandboxes of other machines; None for a layer that none of them gets."""


@runtime_checkable
class OverProject(Sandbox, Protocol):
    """A sandbox whose workspace may be a project with a layer over it: what the code writes lands there."""

    async def protections_over(self, *, mounted: bool) -> tuple[str, ...]:
        """Return what protects the machine then, in words; `mounted`: whether the layer is a mount of the session's.

        Raises KnownError where it cannot be done.
        """
        ...

    async def start_over(self, job: Job, layer: ProjectLayer, measured: Callable[[Usage], None]) -> Run:
        """As `start`. `layer` stays open until the run has finished. Raises KnownError."""
        ...


@runtime_checkable
class Losable(Sandbox, Protocol):
    """A sandbox in something that may go away while the console is open."""

    listeners: set[Callable[[], None]]
    """Called whenever what runs need did not answer, on the loop of the run or call that it failed."""
