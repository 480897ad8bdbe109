"""A request: one tool call by an agent, immutable, with the digest that a decision is bound to."""

from __future__ import annotations

import json
import posixpath
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from runner.model.shown import cut_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runner.model.bundle import Installed
    from runner.model.plan import Plan
    from runner.model.sent_files import SentFiles


def annotated() -> dict[str, type]:
    """Return what annotations name here that is only loaded where a request has it: few are about packages."""
    from runner.model.bundle import Installed
    from runner.model.plan import Plan
    from runner.model.sent_files import SentFiles

    return {"Installed": Installed, "Plan": Plan, "SentFiles": SentFiles}


class Tool(StrEnum):
    """Tools that make a request. Their names are given (spec E3)."""

    CODE_EXECUTE = "code_execute"
    CODE_CREATE_SANDBOX = "code_create_sandbox"
    CODE_WRITE_FILE = "code_write_file"
    CODE_READ_FILE = "code_read_file"
    CODE_LIST_FILES = "code_list_files"
    CODE_DESTROY_SANDBOX = "code_destroy_sandbox"
    CODE_SANDBOX_INFO = "code_sandbox_info"
    CODE_INSTALL_PACKAGE = "code_install_package"
    CLIENT_SHELL = "client_shell"
    """A command line that the agent's own program would run, as with the other three: Assent only decides."""
    CLIENT_EDIT = "client_edit"
    CLIENT_FETCH = "client_fetch"
    CLIENT_TOOL = "client_tool"


class Language(StrEnum):
    PYTHON = "python"
    JAVASCRIPT = "javascript"
    SHELL = "shell"
    GO = "go"
    RUST = "rust"
    JAVA = "java"

    @classmethod
    def _missing_(cls, value: object) -> Language | None:
        return _looked_for(value) if isinstance(value, str) else None


_looked_for: Callable[[str], Language | None] = lambda _name: None  # noqa: E731 # replaced by `look_for_languages`


def look_for_languages(finder: Callable[[str], Language | None]) -> None:
    """Have `finder` called for each name that is no language here, where a process has to know those of another one."""
    global _looked_for
    _looked_for = finder


class NetworkMode(StrEnum):
    """The network of a run: none unless asked for (spec N1)."""

    NONE = "none"
    REGISTRIES = "registries"
    DOMAINS = "domains"


ALL_LIMITS = "time, memory, processor, process and output limits"
"""The protection of a sandbox that binds every resource by itself."""


class Isolation(StrEnum):
    """Where code can run, weakest first (spec X1)."""

    PROCESS = "process"
    """Plain processes of this account: limits, but no protection of files and network."""
    LOCAL = "local"
    """Processes in bubblewrap."""
    DOCKER = "docker"
    GVISOR_DIRECT = "gvisor-direct"
    """gVisor that Assent starts itself, without a container engine."""
    GVISOR = "gvisor"
    """gVisor as a runtime of a container engine."""
    E2B = "e2b"
    """A sandbox of a service that speaks E2B's API, on another machine."""
    PLUGIN = "plugin"
    """One that an installed package brings; its name, and the package's, are among its protections."""

    @property
    def is_promised(self) -> bool:
        """Whether others promise what it protects, and nobody here has found it.

        Such a sandbox is taken only where the settings name it; what was remembered elsewhere does not count there;
        and how good it is, for the minimum sandboxes, is for the person to say.
        """
        return self in (Isolation.E2B, Isolation.PLUGIN)

    @property
    def strength(self) -> int:
        return list(Isolation).index(self)

    @property
    def label(self) -> str:
        """Its name in a sentence."""
        return _LABELS.get(self.value, self.value)

    @property
    def is_container(self) -> bool:
        """Whether code starts from an image, with a root file system of its own."""
        return self in (Isolation.DOCKER, Isolation.GVISOR_DIRECT, Isolation.GVISOR, Isolation.E2B)

    @property
    def is_gvisor(self) -> bool:
        """Whether code has gVisor's kernel and not this machine's."""
        return self in (Isolation.GVISOR_DIRECT, Isolation.GVISOR)

    @property
    def limits_cpu(self) -> bool:
        """Whether it can limit the share of the processor, as containers here can; a request says whether one does."""
        return self not in (Isolation.PROCESS, Isolation.LOCAL, Isolation.E2B, Isolation.PLUGIN)

    @property
    def files_are_memory(self) -> bool:
        """Whether files count against the limit on memory, so that no more of them can be written than that."""
        return self.is_container


_LABELS = {
    "e2b": "E2B",
    "docker": "Docker",
    "gvisor": "gVisor",
    "gvisor-direct": "gVisor without Docker",
    "plugin": "a package's sandbox",
}


PROMISED = "machine of its own, promised by E2B at "
"""Begins the protection of a sandbox on another machine; its host follows. Nobody here has found that it is true."""
BROUGHT = "not checked by Assent: "
"""Begins the first protection of a sandbox of an installed package; its name, and the package's, follow."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use. The defaults are those of spec X4."""

    memory_mb: int = 512
    cpu_cores: float = 0.5
    disk_mb: int = 1024
    seconds: float = 30.0
    output_bytes: int = 1_048_576
    processes: int = 64


@dataclass(frozen=True, slots=True)
class Part:
    """One text of a request that determines what would happen."""

    name: str
    text: str

    @property
    def is_shown_whole(self) -> bool:
        """Whether every line is shown to its end."""
        return next(cut_lines(self.text), None) is None


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file of a kept sandbox that the code starts or imports, as an approved `code_write_file` wrote it."""

    path: str
    """Below the workspace."""
    text: str

    @property
    def sha256(self) -> str:
        import hashlib  # which takes longer to load than all of the model

        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a file is that a client's tool names, as the disk said when the console looked."""

    named: str
    real: str
    link: bool = False
    """Whether links lead there."""


@dataclass(frozen=True, slots=True)
class ClientTool:
    """A tool of the agent's own program, which asks before it uses it."""

    name: str
    """As the program calls it."""
    folder: str
    """Where the program works."""
    replaced: str = ""
    """For a change of a file the text that would go."""
    more: str = ""
    """The rest of what the tool is called with, as JSON."""
    input_sha256: str = ""
    """Of all that the tool is called with: what is shown of it leaves out how it was written."""
    base: str = ""
    """The folder below which relative names are meant, where that is not `folder`."""
    root: str = ""
    """`folder` without links; '' where the disk was not asked."""
    places: tuple[Place, ...] = ()
    """Where the files are that the tool names. The request's `files` are these, each once."""

    @property
    def links(self) -> tuple[str, ...]:
        """The files that are elsewhere than their names say, in words."""
        return tuple(f"{one.named} is a link to {one.real}" for one in self.places if one.link)

    def absolute(self, path: str) -> str:
        """Return the path from the root, without `..` and the like; the disk is not asked."""
        return posixpath.normpath(posixpath.join("/", self.base or self.folder, path))

    def below(self, path: str) -> str:
        """Return the path below the folder that the program works in; '' where it is outside."""
        path = self.absolute(path)
        for folder in (self.root, posixpath.normpath(self.folder) if self.folder else ""):
            if folder.strip("/") and path.startswith(folder + "/"):
                return path[len(folder) + 1 :]
        return ""


@dataclass(frozen=True, slots=True)
class WorkPlace:
    """The working copy in whose rings the agent's program is: its project, as seen there, is the workspace."""

    name: str
    project: str
    """Path of the project, which itself stays as it is."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What an agent says about why it asks, each in one short line. It is not verified and decides nothing."""

    reason: str = ""
    project: str = ""
    """Which project it works on."""
    task: str = ""
    """What it was asked to do there."""

    @property
    def said(self) -> tuple[tuple[str, str], ...]:
        """What it says, by name; nothing for what it leaves open."""
        named = (("Reason", self.reason), ("Project", self.project), ("Task", self.task))
        return tuple((name, text) for name, text in named if text)


REPLACED, MORE = "Replaces", "Also given"
CODE, VARIABLES, INPUT, PACKAGES, HOSTS, SENT = "Code", "Variables", "Input", "Packages", "Hosts", "Files to send"
PARTS = (CODE, VARIABLES, INPUT, PACKAGES, HOSTS, SENT, REPLACED, MORE)
"""Names of the parts, but for those of files and programs."""
MOST_HOSTS_BESIDE = 8
"""Hosts that are shown beside the parts; more of them are a part, so that none goes unseen."""

BESIDE_THE_DIGEST = ("id", "received_at", "title", "program", "session", "claim")
"""Fields of a request that the digest does not cover."""
# Left out where they say nothing, so that requests of before these fields keep their digests.
ONLY_WHERE_SET = frozenset(
    {
        "sandbox",
        "executable",
        "offset",
        "most_bytes",
        "protections",
        "known",
        "installed",
        "plan",
        "granted",
        "client",
        "work",
        "sends",
    }
)
"""Fields that the digest covers only where they say something."""


@dataclass(frozen=True)
class Request:
    """One tool call: everything that determines what would happen, plus the agent and the time.

    `context` are the variables handed to the code (JSON text), part of what decides.
    `title` and `received_at` (seconds since the epoch) do not decide and are not in the digest.
    For a tool that is about a file, `files` names it and `code` is what it would hold.
    """

    id: str
    agent: str
    tool: Tool
    received_at: float
    language: Language | None = None
    code: str = ""
    context: str = "{}"
    stdin: str = ""
    files: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    network: NetworkMode = NetworkMode.NONE
    domains: tuple[str, ...] = ()
    """All that it may reach, each as `Destination` writes it, sorted, whatever the mode."""
    granted: tuple[str, ...] = ()
    """Those of `domains` that the agent did not ask for: a person granted them to it."""
    limits: Limits = field(default_factory=Limits)
    isolation: Isolation = Isolation.LOCAL
    image: str = ""
    title: str = ""
    sandbox: str = ""
    """Id of the kept sandbox that it uses; '' for one that is made for this run alone."""
    executable: bool = False
    """Whether the file to be written may be started as a program."""
    offset: int = 0
    """Where in the file reading begins, in bytes."""
    most_bytes: int = 0
    """Most bytes to be read of the file; 0 for the tools that do not read."""
    protections: tuple[str, ...] = ()
    """What protects the machine from the code where it would run, in the words of the sandbox."""
    known: tuple[KnownFile, ...] = ()
    """Files of the kept sandbox that the code starts or imports; it does not run where one has another content."""
    installed: Installed | None = None
    """Packages of the kept sandbox, which Python code in it may import."""
    plan: Plan | None = None
    """The files of `packages` and of all that they need: these are installed and nothing else."""
    client: ClientTool | None = None
    """Which tool of the agent's own program is meant; None where Assent does what is asked for."""
    work: WorkPlace | None = None
    """The working copy that it runs over; None for a workspace of its own."""
    sends: SentFiles | None = None
    """The files of the project that are sent to another machine; None where none are."""
    program: str = ""
    """What the agent's program says that it is, its own claim; '' for nothing. Neither this nor `session` decides."""
    session: int = 0
    claim: Claim = field(default_factory=Claim)
    """What the agent says about why it asks. It does not decide."""
    """Which session of the agent sent it, counted since the start of the console; 0 where that is not known."""

    @property
    def has_files(self) -> bool:
        """Whether files are in its workspace before it begins, which are not read with it."""
        return bool(self.sandbox) or self.work is not None

    @property
    def sent_to(self) -> str:
        """The host on which it would run, where that is not this machine; '' where it is, or is not known."""
        return next((one.removeprefix(PROMISED) for one in self.protections if one.startswith(PROMISED)), "")

    @property
    def files_sent(self) -> str:
        """Which files of a project would be sent to that host, in words; '' for none."""
        return "" if self.sends is None else self.sends.words

    @property
    def brought_by(self) -> str:
        """The sandbox of an installed package in which it would run, by name; '' for those of Assent."""
        if self.isolation is not Isolation.PLUGIN:
            return ""
        return next((one.removeprefix(BROUGHT) for one in self.protections if one.startswith(BROUGHT)), "a package")

    @property
    def limits_cpu(self) -> bool:
        """Whether its share of the processor is limited where it would run."""
        direct = self.isolation is Isolation.GVISOR_DIRECT  # bound by a control group, where there is one
        return self.isolation.limits_cpu and (not direct or ALL_LIMITS in self.protections)

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) over canonical JSON of all that decides (spec, *Words*)."""
        import hashlib

        return hashlib.sha256(canonical(self.deciding())).hexdigest()

    @property
    def parts(self) -> tuple[Part, ...]:
        """Every text in the digest; a person has seen each to its end before the request is approved.

        The rest of `deciding` is a few words each, shown beside them: `beside`, limits and sandbox.
        """
        variables = "" if self.context == "{}" else self.context
        files = ((f"File {one.path}", one.text) for one in self.known)
        plan = "" if self.plan is None else self.plan.text
        hosts = "\n".join(self.domains) if len(self.domains) > MOST_HOSTS_BESIDE else ""
        handed = ((VARIABLES, variables), (INPUT, self.stdin))
        own = () if self.client is None else ((REPLACED, self.client.replaced), (MORE, self.client.more))
        programs = ((one.name, one.text) for one in self.programs)
        sent = "" if self.sends is None else self.sends.text
        last = (PACKAGES, plan), *programs, (HOSTS, hosts), (SENT, sent)
        named = ((CODE, self.code), *own, *handed, *files, *last)
        return tuple(Part(name, text) for name, text in named if text)

    @property
    def builds(self) -> bool:
        """Whether programs of packages run while these are installed."""
        return self.plan is not None and bool(self.plan.built)

    @property
    def programs(self) -> tuple[Part, ...]:
        """The programs of packages that run while these are installed, but for what stands in the plan itself."""
        if self.plan is None:
            return ()
        from runner.model.plan import part_name

        pairs = ((one, program) for one in self.plan.built for program in one.programs)
        return tuple(Part(part_name(one, program), program.text) for one, program in pairs if not program.is_short)

    @property
    def beside(self) -> tuple[Part, ...]:
        """The short values in the digest that say what would be done and to what, where they say anything."""
        named = (
            ("Tool of its own", "" if self.client is None else self.client.name),
            ("In the folder", "" if self.client is None else self.client.folder),
            ("File", ", ".join(self.files)),
            ("Links", ", ".join(() if self.client is None else self.client.links)),
            ("May be started as a program", "yes" if self.executable else ""),
            ("Kept sandbox", self.sandbox),
            ("Working copy", "" if self.work is None else f"{self.work.name}, over {self.work.project}"),
            ("Installed in it", "" if self.installed is None else ", ".join(self.installed.packages)),
            ("Packages asked for", ", ".join(self.packages)),
            ("Domains", ", ".join(self.domains)),
            ("Of these by your grant", ", ".join(self.granted)),
        )
        return tuple(Part(name, text) for name, text in named if text)

    def deciding(self) -> dict[str, object]:
        """Return all values that the digest covers, by name."""
        whole: dict[str, Any] = {one.name: _copied(getattr(self, one.name)) for one in fields(self)}
        for name in BESIDE_THE_DIGEST:
            del whole[name]
        for name in ONLY_WHERE_SET:
            if not whole[name]:
                del whole[name]
        # What came later counts only where it is set, so that what was recorded before keeps its digest.
        _drop_empty(whole.get("client") or {}, "input_sha256", "base", "root", "places")
        plan = whole.get("plan", {})
        _drop_empty(plan, "indexes")
        for package in plan.get("packages", ()):
            for file in package["build_files"]:
                _drop_empty(file, "index", "also_in")
            _drop_empty(package, "programs", "build_files", "optional", "also_in")
        return whole


def _drop_empty(values: dict[str, Any], *names: str) -> None:
    for name in names:
        if not values.get(name, True):
            del values[name]


def _copied(value: Any) -> object:
    """Return what `asdict` makes of the value of a field, in a third of the time: most are texts and numbers."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, tuple):
        return tuple(map(_copied, value))
    return asdict(value)


def canonical(value: Mapping[str, object]) -> bytes:
    """Return JSON with sorted keys, no spaces and ASCII only: the same value gives the same bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii")
