"""A client made ready for `assent work`: how it is started, what it sees, whom it reaches, and what is kept of it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runner.clients import config_file, services
from runner.clients.at_work import AT_WORK
from runner.clients.client import ConfigScope, Setup
from runner.clients.entries import SERVER
from runner.clients.hook_token import token_of
from runner.clients.known import BY_ID
from runner.clients.settings_change import SYNTAXES, applied, own_edits, taken_back
from runner.gateway.snippets import LONG_HOLD
from runner.model.errors import KnownError
from runner.work.console_door import server
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
    token: str = field(repr=False)
    """Of the agent, for the door to the console; '' where the client is not connected."""


def prepare(
    client_id: str,
    words: Sequence[str],
    project: Path,
    home: Path,
    environment: Mapping[str, str],
    work: Path,
    interpreter: str,
) -> ClientReady:
    """Make a client that `words` start ready; `work` is the folder of the working copies.

    `interpreter` is the Python that the rings show. Raises KnownError and OSError.
    """
    client = BY_ID[client_id]
    facts = AT_WORK[client.id]
    read = {name: environment[name] for name in facts.read if environment.get(name)}
    settings, token = in_rings(client, project, home, environment, interpreter)
    layer = open_layer(work / FOLDER, facts, project, home, environment, settings)
    return ClientReady(
        facts,
        client.name,
        (words[0], *facts.started(words[1:])),
        layer,
        tuple(map(str, shown_for(words[0], home, environment.get("PATH", "")))),
        {**read, **facts.variables},
        services.of_service(facts, environment),
        services.named(facts, home, environment),
        services.quiet(facts),
        token,
    )


def in_rings(
    client: Client, project: Path, home: Path, environment: Mapping[str, str], interpreter: str
) -> tuple[dict[Path, bytes], str]:
    """Return the client's settings as they are in the rings, and the token of its agent; '' where it is not connected.

    What `assent connect` put there is not there: with the hook and no Assent to answer, the client would refuse each
    call. In place of the server it has the door of its session, with `interpreter`, and no token. A file that cannot be
    read is left as it is.
    """
    token = token_of(client.id, environment, home, str(project))
    found: dict[Path, bytes] = {}
    for scope in (ConfigScope.USER, ConfigScope.PROJECT) if client.entry.by_project else (ConfigScope.USER,):
        setup = _InRings("", home, environment, scope, project, client.hook is not None, interpreter=interpreter)
        for wanted in client.files(setup):
            with contextlib.suppress(KnownError):
                text = found[wanted.path].decode() if wanted.path in found else config_file.read(wanted.path).text
                syntax = SYNTAXES[wanted.path.suffix]
                values = syntax.read(text) if text.strip() else {}
                edits = wanted.edits(values)
                if made := own_edits(values, edits):
                    text = taken_back(syntax, text, made)
                    there = {one.path for one in made if not one.listed and one.path[-1] == SERVER}
                    if token:
                        text, _ = applied(syntax, text, [one for one in edits if one.path in there])
                    found[wanted.path] = text.encode()
    return found, token


@dataclass(frozen=True, slots=True)
class _InRings(Setup):
    """A connection by the door of the session."""

    interpreter: str = ""

    def bridge(self, hold: int = LONG_HOLD) -> dict[str, object]:
        program, *arguments = server(self.interpreter, hold)
        return {"command": program, "args": arguments, "env": {}}
