"""`assent connect CLIENT`: shows what would change in a client's configuration, asks, writes it, waits for a call."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from runner.clients.client import ConfigScope
from runner.clients.connection import ClientConnections
from runner.clients.differences import MASKED
from runner.clients.known import BY_ID
from runner.clients.libraries import LIBRARIES
from runner.clients.managed import advice, here
from runner.gateway import address_file
from runner.gateway.own_command import typed_command
from runner.identity.agents import Agents
from runner.model.errors import KnownError
from runner.model.shown import visible

if TYPE_CHECKING:
    import argparse

    from runner.clients.client import Client, Setup
    from runner.clients.connection import ConnectionPlan
    from runner.system.places import Places

NAMES = (*BY_ID, *LIBRARIES)
LOOK_SECONDS = 0.5
"""How often the time of the last call is looked at."""
SCOPES = tuple(scope.value for scope in ConfigScope)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = (
        "Shows what it would change in the program's configuration, asks, writes it, and waits for the first call."
        " For langchain, openai-agents and fastmcp it registers an agent and prints the lines of a program."
    )
    parser.add_argument("-h", "--help", action="help", help="show this help message and exit")
    parser.add_argument("client", choices=NAMES, metavar="CLIENT", help=", ".join(NAMES))
    parser.add_argument("--scope", choices=SCOPES, default="user", help="default: user, for every project of yours")
    parser.add_argument("--folder", help="the project; default: the present folder")
    parser.add_argument("--agent", default="", metavar="NAME", help="name of the agent; default: that of the client")
    parser.add_argument("--hook", action="store_true", help="ask here before the client's own shell and edits, too")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--no-wait", action="store_true", help="do not wait for the first call")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", help="show what would change, and change nothing")
    what.add_argument("--remove", action="store_true", help="take back what was put in, and revoke the agent")


def connect(arguments: argparse.Namespace, places: Places) -> int:
    """Return the exit code: 0 done, 1 not done. Raises KnownError."""
    agents = Agents(places)
    connections = ClientConnections(places, agents, os.environ)
    folder = Path(arguments.folder or os.getcwd())
    setup = connections.setup(ConfigScope(arguments.scope), folder, hook=arguments.hook)
    if (library := LIBRARIES.get(arguments.client)) is not None:
        return _library(arguments, library.id, setup, agents)
    client = BY_ID[arguments.client]
    if arguments.hook and client.hook is None:
        raise KnownError(
            f"{client.name} has no hook that says no reliably, as far as Assent knows.", "Leave --hook out."
        )
    if arguments.remove:
        return _remove(arguments, connections, connections.removal(client, setup), agents)
    plan = connections.plan(client, setup, arguments.agent)
    if arguments.show:
        _print(plan.difference or f"{client.name} is connected as {plan.agent}; nothing would change.")
        return 0
    present = connections.connected(client, setup)
    if present is not None and present.outdated and not arguments.hook:
        print(f"{present.outdated} This renews it: {typed_command()} connect {client.id} --hook")
    if not plan.needed:
        print(f"{client.name} is connected as {plan.agent} already.")
    else:
        _print(plan.difference)
        if not _agreed(arguments, f"Write this, as agent {plan.agent}?"):
            print("Nothing was changed.")
            return 1
        connections.connect(plan, agents.add)
        _say_written(client, plan)
    if arguments.hook and client.hook is not None:
        _print(advice(client.hook))
        if found := here(client.hook, folder, setup.home):
            _print(f"Look at this project: {found}.")
    if not arguments.no_wait and sys.stdin.isatty():
        _wait(places, client, plan.agent)
    return 0


def _say_written(client: Client, plan: ConnectionPlan) -> None:
    for change in plan.needed:
        beside = "" if change.file.data is None else " What was there before is beside it."
        print(f"Written: {visible(str(change.file.path))}.{beside}")
    print(f"{client.name} is set up as agent {plan.agent}. {client.after}")
    if client.hook and not plan.setup.hook:
        guarding = f"{typed_command()} connect {client.id} --hook"
        print(f"Its own shell and edits are not asked for. To have them asked for as well: {guarding}")


def _remove(arguments: argparse.Namespace, connections: ClientConnections, plan: ConnectionPlan, agents: Agents) -> int:
    if not plan.needed:
        print(f"{plan.client.name} is not connected.")
        return 0
    _print(plan.difference)
    end = f", and agent {plan.agent} is revoked" if plan.agent else ""
    if not _agreed(arguments, f"Take this back{end}?"):
        print("Nothing was changed.")
        return 1
    connections.disconnect(plan, agents.revoke)
    print(f"{plan.client.name} is not connected any more. {plan.client.after}")
    return 0


def _library(arguments: argparse.Namespace, library: str, setup: Setup, agents: Agents) -> int:
    """Print the text for a library: with a token of its own, or with --show without one."""
    from dataclasses import replace

    chosen = LIBRARIES[library]
    if arguments.remove:
        raise KnownError(
            f"Assent wrote no file for {chosen.name}.", f"Revoke the agent: assent agents revoke {library}"
        )
    if arguments.show:
        print(chosen.snippet(replace(setup, token=MASKED)), end="")
        return 0
    name = arguments.agent or library
    token = agents.add(name)
    print(f"Agent {name} is registered. Its token is in this text and is shown this once:\n", file=sys.stderr)
    print(chosen.snippet(replace(setup, token=token)), end="")
    return 0


def _agreed(arguments: argparse.Namespace, question: str) -> bool:
    """Return whether the person says yes. Raises KnownError where nobody can be asked."""
    if arguments.yes:
        return True
    if not sys.stdin.isatty():
        raise KnownError("Nobody can be asked here. Nothing was changed.", "Add --yes, or --show to look at it.")
    try:
        return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _wait(places: Places, client: Client, name: str) -> None:
    """Wait until the agent has called, or the person stops it."""
    if address_file.read(places) is None:
        print("Assent's console is not open; start it with: assent")
    print(f"Waiting for the first call of {client.name}. Ctrl+C stops waiting; what was written stays.")
    began = time.time()
    try:
        while not any(agent.name == name and agent.last_seen >= began - 1 for agent in Agents(places).all()):
            time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        print("\nNot waiting any more.")
        return
    print(f"{client.name} has called. It is connected.")


def _print(text: str) -> None:
    print(visible(text))
