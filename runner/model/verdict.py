"""The sentence on what a request would do, with the acts behind it and the one line to look at."""

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
    HANDS = "hands"
    """Gives something to a function or program of which nothing is known."""
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
    WORKS = "works"
    """Starts a program of which its words say what it does: it lists, checks, converts. Only sentences have it."""
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
    TESTS = "runs tests"
    PRINTS = "prints"


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
