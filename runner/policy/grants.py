"""Grants: approvals that a person gives in advance, each bounded, and which requests they cover (spec A6, R4)."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable
from dataclasses import astuple, dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from runner.model.assessment import Level, Touch
from runner.model.errors import KnownError
from runner.model.network import Destination, UnusableHost
from runner.model.request import Isolation, Language, Limits, NetworkMode, Tool, canonical
from runner.model.tool_facts import CLIENT_TOOLS, FACTS
from runner.policy.file_patterns import fits, pattern_of
from runner.policy.touches import within
from runner.risk.recipes.tool_files import is_data_file

if TYPE_CHECKING:
    from runner.model.assessment import Assessment
    from runner.model.request import Request

NAME = re.compile(r"[A-Za-z0-9._-]{1,90}")
DIGEST = re.compile(r"[0-9a-f]{64}")
MOST_USES = 1000
MOST_USES_HIGH = 100
LONGEST = 366 * 86_400.0
LONGEST_HIGH = 3600.0
"""Longest time of a grant for HIGH in seconds, the same as the longest trust window (spec D7)."""
LATEST = 1e11
"""Latest valid time, in seconds since the epoch: about the year 5000."""
LARGEST = 1e15
"""Larger than any valid limit, whatever its unit."""


Outline = Callable[["Request"], str]
"""Returns the code of a request without the literals that may differ; '' where the whole text counts."""


def no_outline(_request: Request) -> str:
    """Return no outline: the whole text counts."""
    return ""


class Subject(StrEnum):
    """The kinds of grants, narrowest first."""

    EXACT = "exact"
    """One digest: the same call by the same agent with the same limits in the same kind of sandbox."""
    TEXT = "text"
    """The same text of the program, with at most the same resources."""
    SHAPE = "shape"
    """The same program except for strings and numbers that can only be data, touching nothing else than before."""
    KIND = "kind"
    """The same tool and language, touching nothing that the present request does not touch."""
    FILES = "files"
    """The same file tool in the same kept sandbox, for files of one folder and extension; never above MEDIUM."""
    HOST = "host"
    """A host that networked runs of one agent reach besides those that they ask for; it approves no request."""
    PACKAGES = "packages"
    """Exactly the same files of packages, by the same agent, in any sandbox of its own that is no weaker."""


IN_KEPT = frozenset({Subject.FILES, Subject.PACKAGES})
"""Kinds of grants for what an agent does in a sandbox that it keeps."""
# With another value a tool of an agent's own program does another thing to real files.
OF_CLIENTS = (Subject.EXACT, Subject.TEXT)


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person chooses for a new grant."""

    subject: Subject
    uses: int
    seconds: float | None = None
    """How long it is valid; None where only the number of uses ends it."""
    session: bool = False
    """Whether it ends with this session of Assent at the latest."""
    everyone: bool = False
    """Whether it is for every agent, not only the one that asked."""


@dataclass(frozen=True, slots=True)
class Grant:
    """One grant. Times are seconds since the epoch; 0 means never."""

    name: str
    made_at: float
    subject: Subject
    tool: Tool
    title: str
    """Title of the request for which it was made; the agent's text."""
    uses: int
    """The number of times that it may be used."""
    level: Level
    """The highest level that it covers."""
    agent: str = ""
    """Empty for every agent."""
    language: Language | None = None
    digest: str = ""
    """For EXACT the digest of the request, for TEXT of the program, for SHAPE of its outline."""
    found: tuple[str, ...] = ()
    """For SHAPE the findings at that time, by the ids of the rules."""
    sandbox: str = ""
    """For FILES the id of the kept sandbox; the grant ends with it or with the session."""
    pattern: str = ""
    """For FILES the folder and `*` with the extension, as `pattern_of` makes it; for HOST the destination."""
    private: str = ""
    """For HOST the addresses inside the own network to which it may lead."""
    touch: Touch = field(default_factory=Touch)
    limits: Limits = field(default_factory=Limits)
    isolation: Isolation = Isolation.LOCAL
    """The weakest isolation that it covers."""
    protections: tuple[str, ...] = ()
    """The protections at that time, which a sandbox of the same kind must have for it to count."""
    expires_at: float = 0.0
    session: str = ""
    """The session with which it ends; empty where it does not end with one."""
    used: int = 0
    last_used: float = 0.0

    def live(self, now: float, session: str) -> bool:
        """Return whether it is valid at `now`. A clock set back to before it was made suspends it."""
        in_time = self.made_at <= now and (not self.expires_at or now < self.expires_at)
        return in_time and self.used < self.uses and self.session in ("", session)

    def covers(self, request: Request, assessment: Assessment, outline: Outline = no_outline) -> bool:
        """Return whether it covers `request`, not regarding time and number of uses."""
        if assessment.level > self.level or assessment.level is Level.CRITICAL:
            return False
        if self.agent and self.agent != request.agent:
            return False
        # Files in a kept sandbox may have changed since; so may those of a working copy.
        if request.work is not None or bool(request.sandbox) is not (self.subject in IN_KEPT):
            return False
        if request.tool in CLIENT_TOOLS and self.subject not in OF_CLIENTS:
            return False
        match self.subject:
            case Subject.EXACT:
                return request.digest == self.digest
            case Subject.TEXT:
                return self._no_more_than_then(request) and program(request) == self.digest
            case Subject.SHAPE:
                return self._no_more_than_then(request) and self._same_shape(request, assessment, outline)
            case Subject.KIND:
                return self._no_more_than_then(request) and self._same_kind(request, assessment.touch)
            case Subject.FILES:
                same = (request.tool, request.sandbox) == (self.tool, self.sandbox)
                return same and assessment.level <= Level.MEDIUM and self._fits("".join(request.files))
            case Subject.PACKAGES:
                same = (
                    request.tool is self.tool and request.plan is not None and request.plan.fingerprint == self.digest
                )
                return same and self._no_weaker_than_then(request)
            case Subject.HOST:
                return False

    def _fits(self, path: str) -> bool:
        """Return whether the pattern stands for `path`; what a tool may run is written under its own name only."""
        writes = self.tool is Tool.CODE_WRITE_FILE
        return fits(self.pattern, path) and (self.pattern == path or not writes or is_data_file(path))

    def _no_more_than_then(self, request: Request) -> bool:
        now, then = request.limits, self.limits
        return (
            self._no_weaker_than_then(request)
            and now.memory_mb <= then.memory_mb
            and now.cpu_cores <= then.cpu_cores
            and now.disk_mb <= then.disk_mb
            and now.seconds <= then.seconds
            and now.output_bytes <= then.output_bytes
            and now.processes <= then.processes
        )

    def _no_weaker_than_then(self, request: Request) -> bool:
        if request.isolation is not self.isolation:
            # Whatever was approved for a place that was tried here is not approved for one that others promise.
            return not request.isolation.is_promised and request.isolation.strength > self.isolation.strength
        # A grant of before protections were recorded has none: what they were then is not known.
        return set(self.protections) <= set(request.protections) and bool(self.protections or not request.protections)

    def _same_shape(self, request: Request, assessment: Assessment, outline: Outline) -> bool:
        """Return whether `request` has the same outline; findings and touch are those of the new literals."""
        if not assessment.whole:
            return False  # what was not found in other values may stand in what was not read
        if request.language is not self.language or not set(_found(assessment)) <= set(self.found):
            return False
        if not within(replace(assessment.touch, files=()), self.touch):
            return False
        return _shape(request, outline) == self.digest

    def _same_kind(self, request: Request, touch: Touch) -> bool:
        if (request.tool, request.language, request.network) != (self.tool, self.language, NetworkMode.NONE):
            return False
        if request.files or request.packages:
            return False
        return within(touch, self.touch)


def make(
    request: Request,
    assessment: Assessment,
    choice: Choice,
    now: float,
    session: str,
    outline: Outline = no_outline,
) -> Grant:
    """Return the grant that `choice` makes of `request`. Raises KnownError where it is not allowed."""
    if request.has_files and choice.subject not in offered(request, assessment.level):
        raise KnownError(
            "What an agent runs in a sandbox it keeps is not remembered: what lies in there may have changed.",
            "Approve it each time, or trust the agent for a while.",
        )
    files = choice.subject is Subject.FILES
    grant = Grant(
        name=_name(request, choice),
        made_at=now,
        subject=choice.subject,
        tool=request.tool,
        title=request.title,
        uses=choice.uses,
        level=assessment.level,
        agent="" if choice.everyone else request.agent,
        language=request.language,
        digest=_digest(request, choice.subject, outline),
        found=_found(assessment) if choice.subject is Subject.SHAPE else (),
        touch=_touch(assessment.touch, choice.subject),
        limits=request.limits,
        isolation=request.isolation,
        protections=request.protections,
        expires_at=0.0 if choice.seconds is None else now + choice.seconds,
        # A kept sandbox never outlives the session.
        session=session if choice.session or files else "",
        sandbox=request.sandbox if files else "",
        pattern=pattern_of(request) if files else "",
    )
    if choice.subject is Subject.SHAPE and not (grant.digest and assessment.whole):
        nothing = "this code starts programs or has nothing that could vary."
        why = nothing if assessment.whole else assessment.not_whole
        raise KnownError(f"Not available: {why}", "Choose the same program.")
    if why := forbidden(grant):
        raise KnownError(why, "Choose less, or approve it each time.")
    if not grant.covers(request, assessment, outline):
        raise KnownError(
            "What was chosen would not cover this request itself.", "It asks for network, files or packages, or more."
        )
    return grant


def forbidden(grant: Grant) -> str:
    """Return why such a grant is not allowed, in a sentence; empty where it is allowed.

    Applies to new grants and to those read from the file.
    """
    if grant.level is Level.CRITICAL:
        return "CRITICAL requests are asked every time."
    if not NAME.fullmatch(grant.name):
        return "The name of a grant is not in order."
    if why := _misses(grant):
        return why
    if grant.subject in (Subject.EXACT, Subject.PACKAGES) and not grant.agent:
        return "An exact request, or exactly these packages, is always one agent's."
    if (grant.subject is Subject.PACKAGES) is not (grant.tool is Tool.CODE_INSTALL_PACKAGE):
        return "Packages are remembered for installing them, and for nothing else."
    if not all(0 <= at < LATEST for at in (grant.made_at, grant.expires_at, grant.last_used)) or not grant.made_at:
        return "A time of a grant is not in order."
    if not all(0 < amount < LARGEST for amount in astuple(grant.limits)):
        return "A limit of a grant is not in order."
    if grant.level is Level.HIGH and grant.subject not in (*subjects(Level.HIGH), Subject.PACKAGES):
        return "HIGH requests are remembered for the same program only."
    most = most_uses(grant.level)
    if not 1 <= grant.uses <= most or grant.used < 0:
        return f"{grant.level.name} is remembered for 1 to {most:,} uses."
    return _too_long(grant)


def _misses(grant: Grant) -> str:
    """Return what a grant of this kind needs and does not have."""
    match grant.subject:
        case Subject.HOST:
            return "" if _names_a_host(grant) else "A grant for a host needs exactly one host, its agent and an end."
        case Subject.FILES:
            whole = (
                grant.tool is not None
                and FACTS[grant.tool].files
                and grant.sandbox
                and grant.pattern
                and grant.agent
                and grant.session
            )
            return "" if whole else "A grant for files needs its sandbox, its pattern and its agent."
        case Subject.KIND:
            return ""
        case Subject.EXACT | Subject.TEXT | Subject.SHAPE | Subject.PACKAGES:
            return "" if DIGEST.fullmatch(grant.digest) else "A grant for one program needs its digest."


def _names_a_host(grant: Grant) -> bool:
    """Return whether a grant for a host is for one host of one agent, until a time, and covers nothing else."""
    try:
        named = Destination.parse(grant.pattern)
    except UnusableHost:
        return False
    exact = str(named) == grant.pattern and not named.is_wildcard
    return exact and bool(grant.agent and grant.expires_at) and grant.level is Level.LOW


def _too_long(grant: Grant) -> str:
    longest = longest_for(grant.level)
    if not grant.expires_at and grant.level is Level.HIGH:
        return "HIGH is remembered until a time, an hour away at most."
    if grant.expires_at and not 0 < grant.expires_at - grant.made_at <= longest + 1:
        return f"{grant.level.name} is remembered for at most {longest / 3600:,.0f} hours."
    return ""


def subjects(level: Level) -> tuple[Subject, ...]:
    """Return the kinds of grants that are allowed at `level`."""
    match level:
        case Level.CRITICAL:
            return ()
        case Level.HIGH:
            return (Subject.EXACT, Subject.TEXT, Subject.SHAPE)
        case Level.MEDIUM | Level.LOW:
            # Running code is never below HIGH, and only code has values.
            return (Subject.EXACT, Subject.TEXT, Subject.KIND)


def offered(request: Request, level: Level) -> tuple[Subject, ...]:
    """Return the kinds of grants that `request` allows at `level`; in a kept sandbox those for files and packages."""
    if request.tool in CLIENT_TOOLS:
        return tuple(one for one in subjects(level) if one in OF_CLIENTS)
    if request.work is not None:
        return ()
    if not request.sandbox:
        return subjects(level)
    if request.tool is Tool.CODE_INSTALL_PACKAGE:
        return (Subject.PACKAGES,) if request.plan is not None and level <= Level.HIGH else ()
    plain = FACTS[request.tool].files and not any("*" in path for path in request.files)
    return (Subject.FILES,) if plain and level <= Level.MEDIUM else ()


def most_uses(level: Level) -> int:
    return MOST_USES_HIGH if level is Level.HIGH else MOST_USES


def longest_for(level: Level) -> float:
    """Return the longest time of a grant at `level`, in seconds."""
    return LONGEST_HIGH if level is Level.HIGH else LONGEST


@lru_cache(maxsize=4)
def program(request: Request) -> str:
    """Return the SHA-256 (hex) over all that determines what the program does, without agent and limits."""
    # Cached: each grant for one program asks for it, and code may have a megabyte.
    deciding = request.deciding()
    for outside in ("agent", "limits", "isolation", "image", "protections"):
        deciding.pop(outside, None)
    return hashlib.sha256(canonical(deciding)).hexdigest()


def _name(request: Request, choice: Choice) -> str:
    """Return a new name, never used twice, so that a name identifies one grant."""
    whose = "all" if choice.everyone else re.sub(r"[^A-Za-z0-9._-]", "-", request.agent)[:40]
    return f"{whose}-{choice.subject}-{secrets.token_hex(4)}"


def _digest(request: Request, subject: Subject, outline: Outline) -> str:
    match subject:
        case Subject.EXACT:
            return request.digest
        case Subject.TEXT:
            return program(request)
        case Subject.SHAPE:
            return _shape(request, outline)
        case Subject.PACKAGES:
            return "" if request.plan is None else request.plan.fingerprint
        case Subject.KIND | Subject.FILES | Subject.HOST:
            return ""


def _shape(request: Request, outline: Outline) -> str:
    """Return the same as `program`, over the outline of the code; '' where it has none."""
    code = outline(request)
    return program(replace(request, code=code)) if code else ""


def _touch(touch: Touch, subject: Subject) -> Touch:
    """Return the touch that another request is compared with: with other literals it may touch other files."""
    match subject:
        case Subject.KIND:
            return touch
        case Subject.SHAPE:
            return replace(touch, files=())
        case Subject.EXACT | Subject.TEXT | Subject.FILES | Subject.HOST | Subject.PACKAGES:
            return Touch()


def _found(assessment: Assessment) -> tuple[str, ...]:
    return tuple(sorted({finding.id for finding in assessment.findings}))
