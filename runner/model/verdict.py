"""What a request would do in one sentence, with the acts behind it and the one line to look at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from runner.model.span import Span  # noqa: TC001 - the codec resolves the annotations

LONGEST_SENTENCE = 200
"""Characters of a sentence; most have fewer than 140."""
LONGEST_TARGET = 80
MOST_ACTS = 40


class Verb(StrEnum):
    """What an act does, gravest first: the sentence is made in this order."""

    HIDES = "hides"
    """Code that is written so that it cannot be read."""
    DELETES = "deletes"
    DISCARDS = "discards"
    """Work in a repository that was not saved elsewhere: `git reset --hard`, `git push --force`."""
    CHANGES_DATA = "changes data"
    """Rows or tables of a database."""
    SENDS = "sends"
    READS_SECRETS = "reads credentials"
    RUNS_ON_START = "runs on start-up"
    """Writes where something else runs it later: hooks, cron, shell profiles, units."""
    RUNS_NAMED = "runs code named elsewhere"
    RUNS_TEXT = "runs code from a text"
    CHANGES_RIGHTS = "changes rights"
    STOPS = "stops"
    INSTALLS = "installs"
    CHANGES_SYSTEM = "changes the system"
    """Accounts, services, clusters, settings of tools."""
    REWRITES = "rewrites"
    """Changes the content of files in place."""
    MOVES = "moves"
    STARTS = "starts"
    LISTENS = "listens"
    CONNECTS = "connects"
    FETCHES = "fetches"
    WRITES = "writes"
    MAKES = "makes"
    """Folders, and files without content."""
    READS = "reads"
    LISTS = "looks through"
    CALLS = "calls"
    """Libraries whose functions are not known here."""


@dataclass(frozen=True, slots=True)
class VerdictAct:
    """One thing that the request does, as the sentence names it."""

    verb: Verb
    target: str = ""
    """To what, on one line, at most LONGEST_TARGET characters, each of them visible; '' where it is not known."""
    computed: bool = False
    """Whether the target is worked out at run time; `target` then holds the parts of it that are known."""
    line: int = 0
    """Line of the code, from 1; 0 for what belongs to none."""
    place: str = ""
    """The host or the path alone, where it is known whole: what facts about the sandbox are compared with."""


@dataclass(frozen=True, slots=True)
class RiskVerdict:
    """The verdict sentence. Empty in records of versions that had none."""

    sentence: str = ""
    """Plain text, at most LONGEST_SENTENCE characters, each of them visible. It never says more than was read."""
    look_at: Span | None = None
    """The line to look at first; None where no line matters more than another."""
    acts: tuple[VerdictAct, ...] = ()
    """The gravest first, at most MOST_ACTS."""


@dataclass(frozen=True, slots=True)
class Containment:
    """What is known of where code would run, as far as it can stand against what the code does."""

    network: bool = False
    """Whether it could reach anything but itself."""
    hosts: tuple[str, ...] = ()
    """The hosts that it could reach; empty for any, where there is a network."""
    files: frozenset[str] | None = None
    """Paths of the files that are there before the run, below its folder; None where that is not known."""


def conflicts(verdict: RiskVerdict, where: Containment) -> tuple[str, ...]:
    """Return what the code tries and cannot do there, in words: at most MOST_CONFLICTS clauses, none twice.

    Only for a sandbox that keeps code from network and files: plain processes refuse nothing.
    """
    found = (words for act in verdict.acts if (words := _conflict(act, verdict, where)))
    return tuple(dict.fromkeys(found))[:MOST_CONFLICTS]


MOST_CONFLICTS = 3
_NETWORK = frozenset({Verb.SENDS, Verb.CONNECTS, Verb.FETCHES})
_MAKING = frozenset({Verb.WRITES, Verb.MAKES, Verb.MOVES, Verb.RUNS_ON_START, Verb.REWRITES})


def _conflict(act: VerdictAct, verdict: RiskVerdict, where: Containment) -> str:
    if act.verb in _NETWORK and not _is_local(act.place):
        if not where.network:
            return f"tries {act.place or 'the network'}; there is no network"
        if where.hosts and act.place and not any(_allows(host, act.place) for host in where.hosts):
            return f"tries {act.place}, which is not allowed"
    if where.files is None:
        return ""
    if act.verb in (Verb.READS, Verb.DELETES, Verb.REWRITES) and _is_missing(act, verdict, where.files):
        verb = {Verb.READS: "reads", Verb.DELETES: "deletes"}.get(act.verb, "rewrites")
        return f"{verb} {act.target.removeprefix('the folder ')}, which is not in this sandbox"
    if act.verb is Verb.STARTS and act.place == "git" and not any(one.startswith(".git/") for one in where.files):
        makes = any(one.target in ("git init", "git clone") for one in verdict.acts)
        return "" if makes else "git finds no repository in this sandbox"
    return ""


def _is_missing(act: VerdictAct, verdict: RiskVerdict, files: frozenset[str]) -> bool:
    """Return whether a file is not there, and the code does not make it either."""
    path = act.place.removeprefix("./").rstrip("/")
    if not path or act.computed or path.startswith(("/", "~", "..")) or any(sign in path for sign in "*?[{$"):
        return False
    if path == "." or path in files or any(one.startswith(f"{path}/") for one in files):
        return False
    made = [one for one in verdict.acts if one.verb in _MAKING and one.line <= act.line]
    return not any(one.computed or path == one.place or path.startswith(f"{one.place}/") for one in made)


def _is_local(host: str) -> bool:
    return host in ("localhost", "[::1]", "0.0.0.0") or host.startswith("127.")


def _allows(allowed: str, host: str) -> bool:
    name = allowed.partition(":")[0] if not allowed.startswith("[") else allowed
    return host == name or (name.startswith("*.") and host.endswith(name[1:]))
