"""A client made ready for `assent work`: how it is started, what it sees, whom it reaches, and what is kept of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner.clients import config_file, services
from runner.clients.at_work import AT_WORK
from runner.clients.client import Setup
from runner.clients.known import BY_ID, CLIENTS
from runner.clients.settings_change import SYNTAXES, own_edits, taken_back
from runner.model.errors import KnownError
from runner.work.home import FOLDER, open_layer
from runner.work.installation import shown_for

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from runner.clients.client import Client
    from runner.model.network import Destination
    from runner.work.facts import WorkFacts
    from runner.work.home import HomeLayer


@dataclass(frozen=True, slots=True)
class ClientReady:
    """What the rings need to know of a client. `layer.finish` has to be called when it has ended."""

    facts: WorkFacts
    name: str
    program: tuple[str, ...]
    layer: HomeLayer
    shown: tuple[str, ...]
    variables: Mapping[str, str]
    service: tuple[Destination, ...]
    named: tuple[Destination, ...]
    quiet: tuple[Destination, ...]


def client_of(program: str) -> str:
    """Return the id of the client that a program belongs to; '' for any other."""
    name = os.path.basename(program)
    return next((one.id for one in CLIENTS if one.id in AT_WORK and name in one.programs), "")


def installed(program: str, home: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return what has to be shown so that a program starts."""
    return tuple(map(str, shown_for(program, home, environment.get("PATH", ""))))


def prepare(words: Sequence[str], project: Path, home: Path, environment: Mapping[str, str], work: Path) -> ClientReady:
    """Make the client that `words` start ready; `work` is the folder of the working copies.

    Raises KnownError and OSError.
    """
    client = BY_ID[client_of(words[0])]
    facts = AT_WORK[client.id]
    read = {name: environment[name] for name in facts.read if environment.get(name)}
    layer = open_layer(work / FOLDER, facts, project, home, environment, without_own(client, home, environment))
    return ClientReady(
        facts,
        client.name,
        (words[0], *facts.started(words[1:])),
        layer,
        installed(words[0], home, environment),
        {**read, **facts.variables},
        services.of_service(facts, environment),
        services.named(facts, home, environment),
        services.quiet(facts),
    )


def without_own(client: Client, home: Path, environment: Mapping[str, str]) -> dict[Path, bytes]:
    """Return the client's settings without what `assent connect` put there: nothing of it is there in the rings.

    With the hook in its settings and no Assent to answer, the client would refuse each call. A file that cannot be read
    is left as it is.
    """
    found = {}
    for wanted in client.files(Setup("none", home, environment, hook=client.hook is not None)):
        try:
            text = config_file.read(wanted.path).text
            syntax = SYNTAXES[wanted.path.suffix]
            values = syntax.read(text) if text.strip() else {}
            if made := own_edits(values, wanted.edits(values)):
                found[wanted.path] = taken_back(syntax, text, made).encode()
        except KnownError:
            continue
    return found
