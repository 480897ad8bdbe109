"""Acts that code tries and cannot do where it would run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.model.verdict import Verb

if TYPE_CHECKING:
    from runner.model.verdict import RiskVerdict, VerdictAct


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


def unreachable(verdict: RiskVerdict, where: Containment) -> tuple[str, ...]:
    """Return the hosts that the code tries and cannot reach there, each once; '' for one that is not known."""
    return tuple(dict.fromkeys(act.place for act in verdict.acts if _cannot_reach(act, where)))


def absences(verdict: RiskVerdict, where: Containment) -> tuple[str, ...]:
    """Return the rest of the same clauses: what the code wants of files that are not there."""
    found = (words for act in verdict.acts if (words := _absence(act, verdict, where)))
    return tuple(dict.fromkeys(found))[:MOST_CONFLICTS]


MOST_CONFLICTS = 3
_NETWORK = frozenset({Verb.SENDS, Verb.CONNECTS, Verb.FETCHES})
_MAKING = frozenset({Verb.WRITES, Verb.MAKES, Verb.MOVES, Verb.RUNS_ON_START, Verb.REWRITES})


def _conflict(act: VerdictAct, verdict: RiskVerdict, where: Containment) -> str:
    if _cannot_reach(act, where):
        if where.network:
            return f"tries {act.place}, which is not allowed"
        return f"tries {act.place or 'the network'}; there is no network"
    return _absence(act, verdict, where)


def _cannot_reach(act: VerdictAct, where: Containment) -> bool:
    if act.verb not in _NETWORK or _is_local(act.place):
        return False
    if not where.network:
        return True
    return bool(where.hosts and act.place) and not any(_allows(host, act.place) for host in where.hosts)


def _absence(act: VerdictAct, verdict: RiskVerdict, where: Containment) -> str:
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
