"""Grants: what a person chose to remember, each bounded, and which requests it covers (spec A6, R4)."""

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
from runner.model.request import Isolation, Language, Limits, NetworkMode, Tool, canonical

if TYPE_CHECKING:
    from runner.model.assessment import Assessment
    from runner.model.request import Request

NAME = re.compile(r"[A-Za-z0-9._-]{1,90}")
DIGEST = re.compile(r"[0-9a-f]{64}")
MOST_USES = 1000
MOST_USES_HIGH = 100
LONGEST = 366 * 86_400.0
LONGEST_HIGH = 3600.0
"""Seconds. HIGH is remembered for an hour at most, which is also the longest trust window (console.md, *Modes*)."""
LATEST = 1e11
"""Seconds since the epoch: a time beyond the year 5000 is none."""
LARGEST = 1e15
"""No limit is this large, whatever its unit."""
TOUCH_BOUND = 50
"""A touch summary lists no more than this of each kind: one that long may leave something out."""


Outline = Callable[["Request"], str]
"""The code of a request without what may be another; '' where every letter counts. The classifier knows it."""


def no_outline(_request: Request) -> str:
    """Nobody knows: every letter counts."""
    return ""


class Subject(StrEnum):
    """What a grant is about, narrowest first."""

    EXACT = "exact"
    """One digest: the same call by the same agent with the same limits in the same kind of sandbox."""
    TEXT = "text"
    """The same program, letter by letter, with no more resources than then."""
    SHAPE = "shape"
    """The same program but for texts and numbers that can only be data, reaching nothing that it did not reach then."""
    KIND = "kind"
    """The same tool and language, touching nothing that the request at hand does not touch."""
    FILES = "files"
    """The same tool in the same sandbox that is kept, for files of one folder and ending; never above MEDIUM."""


FILE_TOOLS = frozenset({Tool.CODE_READ_FILE, Tool.CODE_WRITE_FILE, Tool.CODE_LIST_FILES})


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person picks when something is to be remembered."""

    subject: Subject
    uses: int
    seconds: float | None = None
    """How long it counts; None for no end but the number of uses."""
    session: bool = False
    """Ends with this session of Assent, whatever else."""
    everyone: bool = False
    """For every agent, not only the one that asked."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Times are seconds since the epoch; 0 stands for never."""

    name: str
    made_at: float
    subject: Subject
    tool: Tool
    title: str
    """What the request was called from which it was made; the agent's words."""
    uses: int
    """How often it may be used at most."""
    level: Level
    """Nothing above this is covered."""
    agent: str = ""
    """Empty for every agent."""
    language: Language | None = None
    digest: str = ""
    """For EXACT the request's, for TEXT the program's, for SHAPE that of its outline."""
    found: tuple[str, ...] = ()
    """For SHAPE what was found then, by the ids of the rules."""
    sandbox: str = ""
    """For FILES the sandbox that is meant, which ends with its own end or with the session."""
    pattern: str = ""
    """For FILES the folder and `*` with the ending, as `pattern_of` makes it."""
    touch: Touch = field(default_factory=Touch)
    limits: Limits = field(default_factory=Limits)
    isolation: Isolation = Isolation.LOCAL
    """The weakest sandbox it counts for."""
    expires_at: float = 0.0
    session: str = ""
    """The session with which it ends; empty when it outlives one."""
    used: int = 0
    last_used: float = 0.0

    def live(self, now: float, session: str) -> bool:
        """Whether it counts at `now`. A clock that was set back to before it was made ends it for as long."""
        in_time = self.made_at <= now and (not self.expires_at or now < self.expires_at)
        return in_time and self.used < self.uses and self.session in ("", session)

    def covers(self, request: Request, assessment: Assessment, outline: Outline = no_outline) -> bool:
        """Whether `request` is what was meant; time and number of uses apart."""
        if assessment.level > self.level or assessment.level is Level.CRITICAL:
            return False
        if self.agent and self.agent != request.agent:
            return False
        if bool(request.sandbox) is not (self.subject is Subject.FILES):
            return False  # what lies in a sandbox that is kept may have changed since
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
                return same and assessment.level <= Level.MEDIUM and fits(self.pattern, "".join(request.files))

    def _no_more_than_then(self, request: Request) -> bool:
        now, then = request.limits, self.limits
        return (
            request.isolation.strength >= self.isolation.strength
            and now.memory_mb <= then.memory_mb
            and now.cpu_cores <= then.cpu_cores
            and now.disk_mb <= then.disk_mb
            and now.seconds <= then.seconds
            and now.output_bytes <= then.output_bytes
            and now.processes <= then.processes
        )

    def _same_shape(self, request: Request, assessment: Assessment, outline: Outline) -> bool:
        """What the literals of the new request make of it counts, not what those of the old one made."""
        if request.language is not self.language or not set(_found(assessment)) <= set(self.found):
            return False
        if not _within(replace(assessment.touch, files=()), self.touch):
            return False
        return _shape(request, outline) == self.digest

    def _same_kind(self, request: Request, touch: Touch) -> bool:
        if (request.tool, request.language, request.network) != (self.tool, self.language, NetworkMode.NONE):
            return False
        if request.files or request.packages:
            return False
        return _within(touch, self.touch)


def make(
    request: Request,
    assessment: Assessment,
    choice: Choice,
    now: float,
    session: str,
    outline: Outline = no_outline,
) -> Grant:
    """The grant that `choice` makes of `request`. Raises KnownError where that may not be remembered."""
    if request.sandbox and choice.subject not in offered(request, assessment.level):
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
        expires_at=0.0 if choice.seconds is None else now + choice.seconds,
        # A sandbox that is kept never outlives the session.
        session=session if choice.session or files else "",
        sandbox=request.sandbox if files else "",
        pattern=pattern_of(request) if files else "",
    )
    if choice.subject is Subject.SHAPE and not grant.digest:
        raise KnownError(
            "No text or number of this code can be left open: it has none, or it runs text or starts programs.",
            "Choose the same program.",
        )
    if why := forbidden(grant):
        raise KnownError(why, "Choose less, or approve it each time.")
    if not grant.covers(request, assessment, outline):
        raise KnownError(
            "What was chosen would not cover this request itself.", "It asks for network, files or packages, or more."
        )
    return grant


def forbidden(grant: Grant) -> str:
    """Why no such grant may be, in a sentence; empty when it may. Holds for those made and those read from the file."""
    if grant.level is Level.CRITICAL:
        return "CRITICAL requests are asked every time."
    if not NAME.fullmatch(grant.name):
        return "The name of a grant is not in order."
    if grant.subject is Subject.FILES:
        if grant.tool not in FILE_TOOLS or not (grant.sandbox and grant.pattern and grant.agent and grant.session):
            return "A grant for files needs its sandbox, its pattern and its agent."
    elif grant.subject is not Subject.KIND and not DIGEST.fullmatch(grant.digest):
        return "A grant for one program needs its digest."
    if grant.subject is Subject.EXACT and not grant.agent:
        return "An exact request is always one agent's."
    if not all(0 <= at < LATEST for at in (grant.made_at, grant.expires_at, grant.last_used)) or not grant.made_at:
        return "A time of a grant is not in order."
    if not all(0 < amount < LARGEST for amount in astuple(grant.limits)):
        return "A limit of a grant is not in order."
    if grant.level is Level.HIGH and grant.subject not in subjects(Level.HIGH):
        return "HIGH requests are remembered for the same program only."
    most = most_uses(grant.level)
    if not 1 <= grant.uses <= most or grant.used < 0:
        return f"{grant.level.name} is remembered for 1 to {most:,} uses."
    return _too_long(grant)


def _too_long(grant: Grant) -> str:
    longest = longest_for(grant.level)
    if not grant.expires_at and grant.level is Level.HIGH:
        return "HIGH is remembered until a time, an hour away at most."
    if grant.expires_at and not 0 < grant.expires_at - grant.made_at <= longest + 1:
        return f"{grant.level.name} is remembered for at most {longest / 3600:,.0f} hours."
    return ""


def subjects(level: Level) -> tuple[Subject, ...]:
    """What may be remembered of a request at `level`."""
    match level:
        case Level.CRITICAL:
            return ()
        case Level.HIGH:
            return (Subject.EXACT, Subject.TEXT, Subject.SHAPE)
        case Level.MEDIUM | Level.LOW:
            # Running code is never below HIGH, and only code has values.
            return (Subject.EXACT, Subject.TEXT, Subject.KIND)


def offered(request: Request, level: Level) -> tuple[Subject, ...]:
    """What may be remembered of `request` at `level`: of what is done in a sandbox that is kept, only its files."""
    if not request.sandbox:
        return subjects(level)
    plain = request.tool in FILE_TOOLS and not any("*" in path for path in request.files)
    return (Subject.FILES,) if plain and level <= Level.MEDIUM else ()


def pattern_of(request: Request) -> str:
    """Files beside the one of `request` with the same ending; for a listing the folder itself."""
    path = "".join(request.files)
    if request.tool is Tool.CODE_LIST_FILES:
        return path
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    # What begins with a dot is often read by programs as they start: it stands for itself alone.
    if name.startswith("."):
        return path
    return f"{folder}{slash}*{dot}{ending}" if stem else f"{folder}{slash}*"


def fits(pattern: str, path: str) -> bool:
    """Whether `path` is one that `pattern` means; `*` stands for a name without a dot at its beginning, no folder."""
    folder, _, name = path.rpartition("/")
    wanted_folder, _, wanted = pattern.rpartition("/")
    if not wanted.startswith("*"):
        return path == pattern
    if folder != wanted_folder or name.startswith("."):
        return False
    return name.endswith(wanted[1:]) and (wanted != "*" or "." not in name)


def most_uses(level: Level) -> int:
    return MOST_USES_HIGH if level is Level.HIGH else MOST_USES


def longest_for(level: Level) -> float:
    """Seconds."""
    return LONGEST_HIGH if level is Level.HIGH else LONGEST


@lru_cache(maxsize=4)
def program(request: Request) -> str:
    """SHA-256 (hex) over all that says what the program does, whoever sends it and with whatever limits."""
    # Kept for the latest: every grant for one program asks for it, and code may have a megabyte.
    deciding = request.deciding()
    for outside in ("agent", "limits", "isolation", "image"):
        del deciding[outside]
    return hashlib.sha256(canonical(deciding)).hexdigest()


def _name(request: Request, choice: Choice) -> str:
    """Never given twice, so that whoever revokes by name revokes that one."""
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
        case Subject.KIND | Subject.FILES:
            return ""


def _shape(request: Request, outline: Outline) -> str:
    """As `program`, over the outline of the code; '' where it has none."""
    code = outline(request)
    return program(replace(request, code=code)) if code else ""


def _touch(touch: Touch, subject: Subject) -> Touch:
    """What the touch of another request is held against: with other literals it may touch other files."""
    match subject:
        case Subject.KIND:
            return touch
        case Subject.SHAPE:
            return replace(touch, files=())
        case Subject.EXACT | Subject.TEXT | Subject.FILES:
            return Touch()


def _found(assessment: Assessment) -> tuple[str, ...]:
    return tuple(sorted({finding.id for finding in assessment.findings}))


def _within(now: Touch, then: Touch) -> bool:
    """Nothing is touched that was not then; a list that is full may leave something out."""
    return all(
        len(one) < TOUCH_BOUND and set(one) <= set(other) for one, other in zip(_kinds(now), _kinds(then), strict=True)
    )


def _kinds(touch: Touch) -> tuple[tuple[str, ...], ...]:
    return touch.files, touch.hosts, touch.processes, touch.credentials, touch.packages
