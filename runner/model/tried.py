"""The acts of code that was tried among decoys: they add to what was read, and prove nothing more."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from runner.model.assessment import Level
from runner.model.request import Isolation
from runner.model.shown import PLAIN, in_quotes

TRYING, TRIED, TRIAL_ENDED = "trying", "tried", "trial-ended"
"""Kinds of entries in the ledger. Each `trying` has its `tried` or `trial-ended`, unless Assent was killed; a `tried`
without one is that of the same code a moment ago."""
MOST_NAMED = 2
"""Acts that the sentence names; the rest is a number."""
MOST_SHOWN = 90
"""Characters of each name in the sentence."""


class TriedKind(StrEnum):
    """What was asked for."""

    DISCLOSE = "disclose"
    """The value of a decoy secret was in what is sent, looked up, handed over or printed."""
    DELETE_FOLDER = "delete folder"
    DELETE = "delete"
    RUN = "run"
    SEND = "send"
    CALL = "call"
    SET = "set"
    OVERWRITE = "overwrite"
    """The content of a file that was there."""
    WRITE = "write"
    MOVE = "move"
    RIGHTS = "rights"
    LINK = "link"
    KILL = "kill"
    NATIVE = "native"
    LISTEN = "listen"
    CONNECT = "connect"
    LOOK_UP = "look up"
    READ = "read"


PRINTED = "the agent, by printing it"
"""Where a decoy secret went that was printed."""
PLACES = {Isolation.LOCAL: "the local sandbox", Isolation.GVISOR_DIRECT: Isolation.GVISOR.label}
"""How the sentence names those whose label says too little, or more than it needs."""
BELOW, PROGRAM = "name servers, below ", "the program "
"""What stands before the name of where one went that was looked up, or handed to a program."""

WORDS = {
    TriedKind.DISCLOSE: "give the value of {data} to {target}",
    TriedKind.DELETE_FOLDER: "delete the folder {target}",
    TriedKind.MOVE: "move {target} to {data}",
    TriedKind.RIGHTS: "change the rights of {target}",
    TriedKind.LINK: "make {target} a link to {data}",
    TriedKind.SET: "set {target} to {data}",
    TriedKind.SEND: "send data to {target}",
    TriedKind.CONNECT: "connect to {target}",
    TriedKind.LISTEN: "listen on {target}",
    TriedKind.KILL: "end the process {target}",
    TriedKind.NATIVE: "use the native code {target}",
}
"""What was asked for, as it stands behind "it asked to"; of the other kinds their name stands before the target."""


@dataclass(frozen=True, slots=True)
class TriedAct:
    """One thing that was asked for."""

    kind: TriedKind
    target: str
    data: str = ""
    """The name of the secret, the new place of what is moved, the arguments of a call; else empty."""
    line: int = 0
    """Of the code, from 1; 0 where that is not known."""
    level: Level = Level.LOW
    unsaid: bool = False
    """Whether it is grave and reading had not said so."""

    @property
    def words(self) -> str:
        """What was asked for, as it stands behind "it asked to"; what the code says of it in quotes."""
        if self.kind is TriedKind.CALL:
            return f"call {_short(f'{self.target}({self.data})')}"
        return WORDS.get(self.kind, f"{self.kind.value} {{target}}").format_map(
            {
                "target": self._receiver() if self.kind is TriedKind.DISCLOSE else _short(self.target),
                "data": _short(self.data),
            }
        )

    def _receiver(self) -> str:
        if self.target == PRINTED:
            return PRINTED
        ours = next((one for one in (BELOW, PROGRAM) if self.target.startswith(one)), "")
        return ours + _short(self.target[len(ours) :])


@dataclass(frozen=True, slots=True)
class Tried:
    """The outcome of a trial: what was asked for, gravest first, and how far it came."""

    acts: tuple[TriedAct, ...] = ()
    left_out: int = 0
    """How many more acts there were."""
    ended: str = ""
    """Why it ended before its end, the code's words in quotes; empty where it did not."""
    ended_at: int = 0
    """Line of the code where it ended so; 0 where that is not known."""
    remarks: tuple[str, ...] = ()
    """What makes the record doubtful, in sentences."""
    seconds: float = 0.0
    where: Isolation | None = None
    """The sandbox; None in entries of earlier versions."""

    @property
    def unsaid(self) -> tuple[TriedAct, ...]:
        """What is grave and was not said by reading."""
        return tuple(act for act in self.acts if act.unsaid)

    @property
    def level(self) -> Level | None:
        """HIGH where anything grave was not said by reading, else None: a trial never lowers anything."""
        return Level.HIGH if self.unsaid else None

    @property
    def sentence(self) -> str:
        """What was asked for, in a sentence or a few."""
        return " ".join((self._asked(), *((self._end(),) if self.ended else ()), *self.remarks))

    def _asked(self) -> str:
        telling = [act for act in self.acts if act.unsaid] or list(self.acts)
        named = [act.words for act in telling[:MOST_NAMED]]
        more = len(self.acts) + self.left_out - len(named)
        place = "" if self.where is None else f"in {PLACES.get(self.where, self.where.label)} "
        begin = f"Tried {place}without network, it asked"
        suffix = ", which reading had not said" if self.unsaid else ""
        match named:
            case []:
                return f"{begin} for nothing that is recorded."
            case [one] if not more:
                return f"{begin} to {one}{suffix}."
            case [one]:
                return f"{begin} to {one}{suffix}, and for {more:,} more."
            case [one, other, *_] if not more:
                return f"{begin} to {one} and to {other}{suffix}."
            case [one, other, *_]:
                return f"{begin} to {one} and to {other}{suffix}, and for {more:,} more."
            case _:
                raise AssertionError(named)

    def _end(self) -> str:
        after = f"It ended after line {self.ended_at:,}" if self.ended_at else "It ended early"
        return f"{after}: {self.ended.rstrip('.')}; what follows was not tried."

    @property
    def lines(self) -> tuple[str, ...]:
        """All that was asked for, a line each."""
        found = [
            f"{f'line {act.line:,}: ' if act.line else ''}{act.words}{'  (not said by reading)' if act.unsaid else ''}"
            for act in self.acts
        ]
        return (*found, f"and {self.left_out:,} more") if self.left_out else tuple(found)


def _short(text: str) -> str:
    """Return a name on one line, its end cut where it is long, in quotes where it could be taken for our words."""
    line = " ".join(text.split())
    line = line if len(line) <= MOST_SHOWN else f"{line[: MOST_SHOWN - 1]}\N{HORIZONTAL ELLIPSIS}"
    return line if PLAIN.fullmatch(line) else in_quotes(line)
