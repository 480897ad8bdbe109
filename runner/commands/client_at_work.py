"""A client that Assent knows, as `assent work` starts it: its agent, and what its rings show and let through."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from runner.clients.agent_at_work import agent_of
from runner.clients.at_work import AT_WORK
from runner.clients.prepared import prepare
from runner.sandbox.local.contained import Bind
from runner.work.console_door import ConsoleDoor
from runner.work.in_force import InForce
from runner.work.rings import interpreter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runner.system.places import Places
    from runner.work.facts import WorkFacts
    from runner.work.rings import InRings
    from runner.work.session import Edge


def is_known(client: str) -> bool:
    """Return whether it is known how a client is at work."""
    return client in AT_WORK


def in_force_of(client: str, project: Path, places: Places) -> InForce:
    """Return what counts for a client."""
    found = partial(agent_of, client, places=places, project=project, environment=os.environ)
    return InForce(places, client, found, AT_WORK[client].shell_tools)


@contextlib.contextmanager
def ready(
    client: str, what: InRings, edge: Edge, places: Places, key: str, tell: Callable[[str], object]
) -> Iterator[tuple[InRings, Edge, WorkFacts]]:
    """Give what the rings show and let through, and what is known of the client. Raises KnownError and OSError.

    A client that is connected reaches the console by a door, which says of its calls whose they are by `key`.
    `tell` is called with what a person has to know at its end.
    """
    home = Path(os.path.expanduser("~"))
    made = prepare(client, what.program, what.copy.project, home, os.environ, places.work, interpreter()[0])
    door = None
    try:
        if made.token:
            from runner.gateway import session_bridge
            from runner.gateway.limits import largest_message
            from runner.settings.loading import load

            serve = partial(session_bridge.serve, places, made.token, what.copy.name, key)
            longest = largest_message(load(places, os.environ).settings.max_code_kb)
            door = ConsoleDoor(what.copy.folder, serve, longest)
        what = replace(
            what,
            program=made.program,
            state=(
                *(Bind(str(one.source), str(one.target), not one.read_only) for one in made.layer.binds),
                *(() if door is None else (door.bind,)),
            ),
            shown=(*made.shown, *what.shown),
            shared=tuple(str(one.target) for one in made.layer.shell_binds),
            variables={**made.variables, **(what.variables or {})},
            secret=tuple(made.facts.keys),
            names_shell=made.facts.names_shell,
        )
        yield (
            what,
            replace(edge, service=(*made.service, *made.named), private=made.named, quiet=made.quiet),
            made.facts,
        )
    finally:
        if door is not None:
            door.close()
        for written in made.layer.finish():
            tell(f"the log-in that {made.name} has renewed is in {written}.")
