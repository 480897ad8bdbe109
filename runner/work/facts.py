"""The facts about a client for work in the rings: its state, services, switches, its way to start a shell.

The values are in the registry of clients. Where a text says "below home", a variable may name another place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from runner.work import shell_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SLUG = "{slug}"
"""Stands for the project's path as a name of a folder: everything but letters and digits becomes a hyphen."""
PROJECT = "{project}"
"""Stands for the project's path."""


@dataclass(frozen=True, slots=True)
class MergedFile:
    """A JSON file with both settings of the person and state: it comes from outside, with some values of the layer."""

    path: str
    kept: tuple[tuple[str, ...], ...] = ()
    """Keys whose value in the layer stays where there is none outside."""
    by_project: str = ""
    """Key of an object by path of the project: those of other projects are left out."""


@dataclass(frozen=True, slots=True)
class CredentialFile:
    """A JSON file with a log-in, which the client renews by itself."""

    path: str
    renewed: tuple[str, ...]
    """Keys, at any depth, whose values a renewal changes. Where anything else differs, nothing is written back."""


@dataclass(frozen=True, slots=True)
class StatePlace:
    """A folder of a client's state, or a file, for which `path` in the entries is ''.

    Entries are paths below it; a component may be a pattern. What no entry names is neither shown nor kept.
    """

    default: str
    """Below home."""
    variable: str = ""
    """Names the folder in place of home, or of a folder below it."""
    rest: str = ""
    """What follows after the folder that the variable names."""
    fresh: tuple[str, ...] = ()
    """What the person set: taken from outside at each start, so that nothing that a session wrote there stays."""
    kept: tuple[str, ...] = ()
    """What one session leaves to the next. At first it comes from outside where its name tells the project."""
    merged: tuple[MergedFile, ...] = ()
    credentials: tuple[CredentialFile, ...] = ()
    shared: tuple[str, ...] = ()
    """Large folders that are shown read-only as they are outside."""
    shell: tuple[str, ...] = ()
    """Folders that its shell has to see, and may write."""

    def at(self, home: Path, environment: Mapping[str, str]) -> Path:
        """Return where it is."""
        named = environment.get(self.variable, "") if self.variable else ""
        return Path(named) / self.rest if named.startswith("/") else home / self.default


@dataclass(frozen=True, slots=True)
class WorkFacts:
    """The facts of one client."""

    client: str
    """Its id in the registry."""
    state: tuple[StatePlace, ...]
    hosts: tuple[str, ...] = ()
    """Hosts of its service: of the models, and of the log-in."""
    quiet: tuple[str, ...] = ()
    """Hosts that the client itself tries and does without: refused without asking. Not for what its shell runs."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Variable with a key -> host that it is for, or ''."""
    addresses: tuple[str, ...] = ()
    """Variables with the address of a service; also the names of such values in its settings."""
    settings: tuple[str, ...] = ()
    """Files of the state, below home, in which a person may have named such addresses."""
    passed: tuple[str, ...] = ()
    """Further variables that it reads: names of models, folders, regions."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Set for it: no sandbox of its own, no update of itself, no reports, no questions."""
    arguments: tuple[str, ...] = ()
    """The same by arguments."""
    unless: tuple[str, ...] = ()
    """Options with which the person says for themselves what `arguments` would; most can be given once only."""
    names_shell: bool = False
    """Whether it starts its shell by the name alone, which is then how the shell calls itself in its messages."""
    shell_tools: tuple[str, ...] = ()
    """What it calls the tool that runs a command, for rules that name it (`client_tool`)."""
    commands: tuple[str, ...] = ()
    """Its commands, as first words, that do not know `arguments`."""
    unwrapped: Callable[[Sequence[str]], str] = shell_words.unwrapped
    """Returns the command that a shell of the client was started for, as the model wrote it."""
    prepares: Callable[[Sequence[str]], bool] = shell_words.is_of_nobody
    """Returns whether it is started to learn what the person's shell is like: recorded, but never held."""

    @property
    def read(self) -> tuple[str, ...]:
        """The variables of the person that it gets."""
        places = (place.variable for place in self.state if place.variable)
        return tuple(dict.fromkeys((*self.keys, *self.addresses, *self.passed, *places)))

    def started(self, given: Sequence[str]) -> tuple[str, ...]:
        """Return the arguments to start it with, for those that the person gave."""
        theirs = {word.partition("=")[0] for word in given}
        if theirs & set(self.unless) or (given and given[0] in self.commands):
            return tuple(given)
        return (*self.arguments, *given)


def slug(project: str) -> str:
    """Return the name of a project's folder, as Claude Code and Qwen Code make it."""
    return re.sub(r"[^A-Za-z0-9]", "-", project)
