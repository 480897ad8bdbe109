"""The acts of a program, named alike for every language: rules match on them."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from runner.risk.model.bounds import CUT, excerpt
from runner.risk.model.outline_data import words
from runner.risk.model.standing import moved, placed, through
from runner.risk.model.temporary import OwnFiles
from runner.risk.model.value import HOLE, UNKNOWN, Value, either, is_absent, text

if TYPE_CHECKING:
    from collections.abc import Iterator

Place = tuple[int, int, int, int]
"""Line (from 1), byte column, end line, end byte column: as parsers give them."""


KINDS = frozenset(
    [
        "accept",
        "answer",
        "append",
        "archive",
        "assemble",
        "bound",
        "builtins-by-class",
        "by-data",
        "capture",
        "checked",
        "chmod",
        "chown",
        "clipboard-write",
        "command",
        "compare",
        "conditioned",
        "configure",
        "connect",
        "connect-shell",
        "console",
        "container",
        "copy",
        "credentials",
        "crumbs",
        "cut",
        "database",
        "decodes",
        "decrypt",
        "delete",
        "destroy",
        "discard",
        "encrypt",
        "enumerated",
        "environment-change",
        "escaped",
        "evaluates",
        "execute",
        "extract",
        "fetch",
        "flood",
        "forever",
        "fork",
        "fork-bomb",
        "hand",
        "identity",
        "identity-change",
        "import",
        "install",
        "kill",
        "left-out",
        "link",
        "listen",
        "listen-shell",
        "lookup",
        "make",
        "mangled",
        "member",
        "mention",
        "module",
        "move",
        "native",
        "open",
        "package-setup",
        "pipe",
        "pipe-to",
        "print",
        "probe",
        "processes",
        "programs",
        "query",
        "quietly",
        "read",
        "receive",
        "recoded",
        "record",
        "redirect",
        "reduce",
        "registry",
        "remote-run",
        "repaired",
        "replaced-code",
        "run",
        "schedule",
        "search",
        "search-environment",
        "send",
        "server",
        "shell",
        "start",
        "starts",
        "steer",
        "stops",
        "store",
        "swell",
        "tamper",
        "terminal",
        "too-deep",
        "trap",
        "tunnel",
        "unfollowed",
        "unparsed",
        "unpickle",
        "uploads",
        "use",
        "variable",
        "walk",
        "weakens",
        "windows-object",
        "worker",
        "write",
        "written-secret",
    ]
)
"""Every kind of act. A rule about another one would never find anything, and nobody would know."""


class TooMuch(Exception):
    """The code needs more steps than the classifier takes."""


LOOK = 1_000
"""Steps between two looks at the clock."""


class Budget:
    """How much an assessment may take in all, nested code included: steps, and seconds of this thread's processor time.

    Steps are what usually counts, so that the same code gets the same answer; time is for what costs more per step.
    """

    __slots__ = ("_look", "_until", "left")

    def __init__(self, steps: int, seconds: float) -> None:
        self.left = steps
        self._look = steps - LOOK
        self._until = time.thread_time() + seconds

    def spend(self, steps: int = 1) -> None:
        """Spend steps of the budget. Raises TooMuch when none are left."""
        self.left -= steps
        if self.left < self._look:
            self._look = self.left - LOOK
            if self.left < 0 or time.thread_time() > self._until:
                raise TooMuch


@dataclass(slots=True)
class Act:
    """One thing done: `delete` with a `path`, `send` with a `host` and `data`, ..."""

    kind: str
    name: str
    """The call or command that does it, resolved."""
    fields: dict[str, Value]
    place: Place
    labels: frozenset[str] = frozenset()
    """Of the name itself: `assembled` when the code hides what it calls."""
    evidence: str = ""
    """The inner code, when the place is only where it was embedded."""
    language: str = ""
    order: int = 0

    def get(self, name: str) -> Value:
        return self.fields.get(name, UNKNOWN)


class Source(StrEnum):
    """Labels that say where a value comes from."""

    DOWNLOADED = "downloaded"
    DECODED = "decoded"
    SECRET = "secret"
    FILE = "file"
    HOST_INFO = "host-info"
    ENVIRONMENT = "environment"
    ENVIRONMENT_NAMES = "environment-names"
    """Of the variables, without their values."""
    REMOTE = "remote"
    ASSEMBLED = "assembled"
    WHO = "who"
    """Which machine or user it runs as."""
    CLOCK = "clock"
    """The time of day or the date."""
    MOMENT = "moment"
    """A time or date that is written down."""
    FILE_TIME = "file-time"
    """When a file was changed, read or made."""


VALUE_OF = "env:"
"""Begins the label of the value of one environment variable; its name follows."""
THING = "thing:"
"""Begins the label of what stands for a thing at a service: its kind follows, and, after `=`, its name if known."""
GRAVE = frozenset({"grave"})
"""The label of an act of kind `cut` where what was left out may do harm."""
OF_FILES = ("path", "source")
"""Fields of an act that hold the path of a file."""
OF_PLACES = words(
    "append archive chmod chown copy delete discard extract link make move open read search start use walk write"
)
"""Kinds of acts that are done in the folder that the program stands in."""
WORKS_ON = ("path", "source", "command", "code", "sql", "url", "host")
"""Fields of an act that say what it is done to."""
DEEDS = words(
    "append archive chmod chown configure connect container copy delete destroy discard execute extract fetch kill "
    "link lookup move native open query read record run schedule send start tamper tunnel unpickle use write"
)
"""Kinds of acts that may do harm, by what they are done to."""
REPEATED = frozenset({"repeated"})
"""The label of what is done in a loop."""
PICKED = "picked"
"""The label of what is found, or done in a loop to it, where only what meets a condition is taken."""
TEST_ROWS = frozenset({"test-rows"})
"""The label of what a test does to rows that are put back when it is over."""
PICKED_BY_AGE = "picked-by-age"
"""The same, where the condition is an age, or a name that is left out."""
CONTAINER = "container "
"""Begins the name of what is no machine but a container."""
ON_MACHINE = "on:"
"""Begins the label of what is done on another machine; its name follows, where it is known."""
NOT_REACHED = "not-reached"
"""The label of what stands in a branch that is not taken as the code stands."""
WAY_BACK = "way-back"
"""The label of what a migration of a database does only where it is taken back."""
LOCAL_SERVICE = "local-service"
"""The label of a client of a service that is on this machine, in the place of a cloud."""
OFFLINE = "offline"
"""The label of a request by HTTP that a test answers itself, with the network switched off for the whole program."""
MILDER = frozenset({WAY_BACK, LOCAL_SERVICE, OFFLINE})
"""Labels of what is done to services, and does no lasting harm there as the code stands."""
ASSUMED = frozenset({"assumed"})
"""The label of what is done only if a function that is handed on is called with what is handed on beside it."""
DEEPEST_NESTING = 6
"""Texts run as code inside each other that are followed; one more is a finding."""


@dataclass(slots=True)
class Trail:
    """Everything done so far, in order, across nested languages."""

    budget: Budget
    acts: list[Act] = field(default_factory=list)
    written: dict[str, set[str]] = field(default_factory=dict)
    """Paths written so far and the labels of what was written there."""
    contents: dict[str, Value] = field(default_factory=dict)
    """Paths written so far and the text written there, where it is known."""
    place: Place | None = None
    """Where nested code stands in the outer code; its acts are reported there."""
    evidence: str = ""
    depth: int = 0
    language: str = ""
    called: set[str] = field(default_factory=set)
    """Functions without a meaning here that were called."""
    given: dict[str, list[tuple[Value, ...]]] = field(default_factory=dict)
    """What each of these was given, call by call, in the order in which they are called first."""
    called_at: dict[str, Place] = field(default_factory=dict)
    """Where each of these is called first."""
    clients: set[str] = field(default_factory=set)
    """Libraries that are clients of services elsewhere."""
    followed: dict[str, None] = field(default_factory=dict)
    """Names of functions of the program that it calls itself, in their order."""
    tested: tuple[str, ...] = ()
    """Functions and classes of a program of Python that are tried by tests which it runs."""
    evaluated: int = 0
    """How many texts deep, run as code where they stand, the program is."""
    around: frozenset[str] = frozenset()
    """Labels of all that is done at present."""
    folder: Value | None = None
    """The folder that the program stands in, once it has left the one where it began."""
    links: dict[str, Value] = field(default_factory=dict)
    """Links that the program has made, and where they lead."""
    own: OwnFiles = field(default_factory=OwnFiles)
    """The temporary files that the program has made."""
    keeps_surroundings: bool = False
    """Whether no word of the program can change variables of the environment, or where temporary folders are."""
    _cut: dict[str, bool] = field(default_factory=dict)
    """Sentences on what a bound has left out, each once, and whether one of them was grave."""

    def add(
        self, kind: str, name: str, fields: dict[str, Value], place: Place, labels: frozenset[str] = frozenset()
    ) -> Act:
        self.budget.spend()
        if self.evaluated:
            labels |= {"evaluated"}
        labels |= self.around
        for part in OF_FILES:
            if self.folder is not None and kind in OF_PLACES and part in fields:
                fields[part] = placed(fields[part], self.folder)
            if self.links and kind in OF_PLACES and part in fields:
                fields[part] = through(fields[part], self.links)
            if (path := fields.get(part)) is not None and (path.labels or path.fields is not None):
                fields[part] = self.own.only(path)
        act = Act(kind, name, fields, self.place or place, labels, self.evidence, self.language, len(self.acts))
        self.acts.append(act)
        if any(CUT in value.labels for value in fields.values()) and kind != "cut":
            self._done_to_some(act)
        return act

    def _done_to_some(self, act: Act) -> None:
        """Note that an act is done to more than what is known of its target."""
        targets = [act.get(name) for name in WORKS_ON]
        if any(CUT in one.labels and one.texts and set(one.texts) != {HOLE} for one in targets):
            what = f"Looks at no more than some of what {excerpt(act.name, 40) or act.kind} may be given."
            self.cut_off(what, grave=act.kind in DEEDS)

    def is_too_deep(self, name: str, place: Place) -> bool:
        """Return whether code at `place` is nested too deeply to be followed, and note it if so."""
        if self.depth < DEEPEST_NESTING:
            return False
        self.add("too-deep", name, {}, place)
        return True

    def cut_off(self, what: str, *, grave: bool = True) -> None:
        """Note that a bound has left something out; `grave` says that it may have been anything."""
        known = self._cut.get(what)
        if known is None or grave > known:
            self._cut[what] = grave
            place = self.acts[-1].place if self.acts else (1, 0, 1, 0)
            self.add("cut", "", {"what": text(what)}, place, GRAVE if grave else frozenset())

    def go(self, folder: Value, *, surely: bool = True) -> None:
        """Note that the program stands in another folder from here on, or may do so."""
        then = moved(self.folder, folder)
        self.folder = then if surely else either((then, text(".") if self.folder is None else self.folder))

    @contextmanager
    def standing(self, folder: Value) -> Iterator[None]:
        """While what is followed has a folder of its own."""
        kept = self.folder
        if not is_absent(folder) and folder.name not in ("None", "undefined"):
            self.go(folder)
        try:
            yield
        finally:
            self.folder = kept

    @contextmanager
    def again(self) -> Iterator[None]:
        """While the body of a loop is looked at."""
        kept, self.around = self.around, self.around | REPEATED
        try:
            yield
        finally:
            self.around = kept

    @contextmanager
    def on_machine(self, host: Value, kind: str = "") -> Iterator[None]:
        """While commands are looked at that another machine runs, or one of a `kind` of its own."""
        kept = self.around
        known = (host.exact or "").rpartition("@")[2]
        self.around |= {f"{ON_MACHINE}{kind}{excerpt(known, 60)}"}
        try:
            yield
        finally:
            self.around = kept

    def picked(self) -> None:
        """Note that what follows in the turn of a loop is done only to what meets a condition."""
        if self.around and self.around >= REPEATED:
            self.around |= {PICKED}

    @contextmanager
    def assumed(self) -> Iterator[None]:
        """While what is looked at may be done in another way, with something else."""
        kept, self.around = self.around, self.around | ASSUMED
        try:
            yield
        finally:
            self.around = kept

    @contextmanager
    def around_with(self, label: str) -> Iterator[None]:
        """While what is looked at is done as `label` says: NOT_REACHED, WAY_BACK."""
        kept, self.around = self.around, self.around | {label}
        try:
            yield
        finally:
            self.around = kept

    @contextmanager
    def inside(self, place: Place, evidence: str, language: str) -> Iterator[None]:
        """While nested code is looked at: its acts stand at `place` of the outer code."""
        kept = self.place, self.evidence, self.language
        self.place, self.evidence, self.language = self.place or place, evidence, language
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1
            self.place, self.evidence, self.language = kept
