"""`assent agents`: registers, lists, changes and revokes agents. An open console follows at once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from runner.identity.agents import Agent
    from runner.identity.allowance import Allowance
    from runner.system.places import Places

LIMITS = {
    "rate": ("rate_per_minute", int, "CALLS", "most calls in a minute"),
    "waiting": ("max_pending", int, "REQUESTS", "most requests that wait or run at once"),
    "seconds": ("seconds", float, "SECONDS", "longest time that a run may ask for"),
    "memory": ("memory_mb", int, "MB", "most memory that a run may ask for"),
}
"""Options of `set` with the field, type, unit and meaning of each."""


def add_actions(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `agents` with its actions."""
    agents = commands.add_parser("agents", help="register, list, change and revoke agents").add_subparsers(
        metavar="ACTION", required=True
    )
    add = agents.add_parser("add", help="register an agent; shows its token once, and what to configure")
    add.add_argument("name")
    add.set_defaults(command=_add)
    revoke = agents.add_parser("revoke", help="end the validity of its token")
    revoke.add_argument("name")
    revoke.set_defaults(command=_revoke)
    rename = agents.add_parser(
        "rename",
        help="give it another name",
        description="Its token stays valid. What it asked is withdrawn, its kept sandboxes are removed, and what was"
        " remembered for it ends; rules that name it stay as they are.",
    )
    rename.add_argument("name")
    rename.add_argument("new", help="the new name")
    rename.set_defaults(command=_rename)
    pause = agents.add_parser("pause", help="refuse its calls; what waits stays open, what runs continues")
    pause.add_argument("name")
    pause.set_defaults(command=_pause)
    resume = agents.add_parser("resume", help="take its calls again")
    resume.add_argument("name")
    resume.set_defaults(command=_resume)
    agents.add_parser("list", help="all, with when they were last seen").set_defaults(command=_list)
    _add_set(agents.add_parser("set", help="limit what it may ask for, or show what is set"))


def _add_set(chosen: argparse.ArgumentParser) -> None:
    """Add the arguments of `set`."""
    chosen.description = "Nothing here allows more than the settings do. Without options it shows what is set."
    chosen.add_argument("name")
    for option, (field, kind, unit, words) in LIMITS.items():
        chosen.add_argument(f"--{option}", dest=field, type=kind, metavar=unit, help=f"{words}; 0: as in the settings")
    chosen.add_argument(
        "--languages", metavar="LIST", help="what it may use in a sandbox, such as python,shell; `all` for all"
    )
    for name in ("network", "packages"):
        chosen.add_argument(f"--{name}", choices=("yes", "no"), help=f"whether it may ask for {name}")
    chosen.add_argument(
        "--try",
        dest="rehearse",
        choices=("no", "gvisor", "any"),
        help="try its code without network before you decide, in gVisor only or in any isolated sandbox, "
        "and offer to hand over the outcome",
    )
    chosen.add_argument("--ink", type=int, metavar="NUMBER", help="its color in the window, 0 to 9")
    chosen.set_defaults(command=_set)


def _add(arguments: argparse.Namespace, places: Places) -> int:
    import os

    from runner.commands import run_token
    from runner.gateway import address_file
    from runner.gateway.own_command import own_command
    from runner.gateway.snippets import configurations
    from runner.identity.agents import Agents
    from runner.identity.secrets import Secrets
    from runner.settings.loading import load
    from runner.system.places import variables

    settings, agents = load(places, os.environ).settings, Agents(places)
    # The agent of `assent run`: added by name, it is to run again.
    own = arguments.name == run_token.AGENT
    token = run_token.add(places, agents, Secrets(places, settings)) if own else agents.add(arguments.name)
    console = address_file.running(places)
    port = settings.port if console is None else console.port
    print(f"Token of {arguments.name}, shown this once:\n\n    {token}\n")
    address = f"http://127.0.0.1:{port}/mcp"
    for snippet in configurations(arguments.name, token, address, own_command(), variables(os.environ)):
        where = f"put into {snippet.file}" if snippet.file else "run"
        note = f"{snippet.note}\n" if snippet.note else ""
        print(f"--- {snippet.client}: {where}\n{note}{snippet.text.rstrip()}\n")
    return 0


def _revoke(arguments: argparse.Namespace, places: Places) -> int:
    from runner.identity.agents import Agents

    Agents(places).revoke(arguments.name)
    print(f"{arguments.name} is revoked. What it asked before stays in the history.")
    return 0


def _rename(arguments: argparse.Namespace, places: Places) -> int:
    import os

    from runner.identity.agents import Agents
    from runner.policy.rulefile import read
    from runner.settings.loading import load

    Agents(places).rename(arguments.name, arguments.new)
    print(f"{arguments.name} is called {arguments.new} from now on. Its token stays valid.")
    if rules := read(places, load(places, os.environ).rules).naming(arguments.name):
        print(f"These rules name {arguments.name} and do not count for {arguments.new}: {', '.join(rules)}.")
    return 0


def _pause(arguments: argparse.Namespace, places: Places) -> int:
    from runner.identity.agents import Agents

    Agents(places).pause(arguments.name)
    print(f"{arguments.name} is paused: its calls are refused, also new commands at work. What waits stays open.")
    return 0


def _resume(arguments: argparse.Namespace, places: Places) -> int:
    from runner.identity.agents import Agents

    Agents(places).resume(arguments.name)
    print(f"The calls of {arguments.name} are taken again.")
    return 0


def _set(arguments: argparse.Namespace, places: Places) -> int:
    from dataclasses import asdict

    from runner.identity.agents import Agents
    from runner.identity.allowance import Allowance
    from runner.model.errors import KnownError

    agents = Agents(places)
    agent = agents.found(arguments.name)
    if agents.problem or agent is None or agent.revoked:
        raise KnownError(
            agents.problem or f"There is no agent called {arguments.name[:60]}.", "See: assent agents list"
        )
    given: dict[str, object] = {
        field: value for field, *_ in LIMITS.values() if (value := getattr(arguments, field)) is not None
    }
    if arguments.languages is not None:
        named = () if arguments.languages == "all" else arguments.languages.split(",")
        given["languages"] = [name.strip().lower() for name in named]
    given |= {name: value == "yes" for name in ("network", "packages") if (value := getattr(arguments, name))}
    if arguments.rehearse is not None:
        given["rehearse"] = "" if arguments.rehearse == "no" else arguments.rehearse
    try:
        allowance = Allowance.parse(asdict(agent.allowance) | given)
    except (ValueError, TypeError) as error:
        raise KnownError(f"This cannot be set: {error}.", "Nothing was changed.") from None
    if given:
        _require_within(allowance, places)
        agents.allow(agent.name, allowance)
    if arguments.ink is not None:
        agents.paint(agent.name, arguments.ink)
    for name, value in asdict(allowance).items():
        print(f"{name:<16}  {_shown(value)}")
    return 0


def _require_within(allowance: Allowance, places: Places) -> None:
    """Raise KnownError for a limit above that of the settings, which would count in its place."""
    import os

    from runner.identity.allowance import most_of
    from runner.model.errors import KnownError
    from runner.settings.loading import load

    most = most_of(load(places, os.environ).settings)
    for option, (field, *_) in LIMITS.items():
        if (value := getattr(allowance, field)) > most[field]:
            raise KnownError(
                f"--{option} {value:g} is above what the settings allow all agents, {most[field]:g}.",
                "Nothing was changed.",
            )


def _shown(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case tuple():
            return ", ".join(value) or "all"
        case "":
            return "no"
        case str():
            return value
        case 0:
            return "as in the settings"
        case _:
            return f"{value:g}"


def _list(_arguments: argparse.Namespace, places: Places) -> int:
    from runner.identity.agents import Agents

    agents = Agents(places)
    if agents.problem:
        print(agents.problem, file=sys.stderr)
        return 1
    for agent in agents.all():
        print(f"{agent.name:<40}  {_state(agent)}")
    if not agents.all():
        print("None is registered yet. Add one: assent agents add NAME")
    return 0


def _state(agent: Agent) -> str:
    """Return how things stand with an agent, in words."""
    if agent.renamed_to:
        return f"renamed to {agent.renamed_to}"
    if agent.revoked:
        return "revoked"
    return f"paused, {last_call(agent)}" if agent.paused else last_call(agent)


def last_call(agent: Agent) -> str:
    """Return when an agent was last seen, in words."""
    import time

    seen = agent.last_seen
    return time.strftime("last seen %Y-%m-%d %H:%M", time.localtime(seen)) if seen else "no call yet"
