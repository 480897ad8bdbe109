"""Orders of `assent work` to a program at work: hosts it may reach, answers to held commands, its end."""

from __future__ import annotations

import asyncio
import re
import sys
from typing import TYPE_CHECKING

from runner.approval.private_addresses import PrivateAddress, private_addresses
from runner.commands.deeds import note_order, ordered, require_terminal, require_word, switched
from runner.commands.work_printing import say, yes
from runner.commands.work_standing import session_of
from runner.engine.work.facts import LONGEST_REASON, cut
from runner.model.errors import KnownError
from runner.model.network import Destination, UnusableHost
from runner.model.work_entries import ANSWER, END, NOT_ANSWERED, NOT_OPENED, OPEN
from runner.network.dialing import look_up
from runner.work import project_hosts
from runner.work.control import order
from runner.workspace.working_copy import named

if TYPE_CHECKING:
    import argparse

    from runner.system.places import Places

PORTS = {"https": 443, "http": 80}


def allow_host(arguments: argparse.Namespace, places: Places) -> int:
    """Let a program at work reach a host. Raises KnownError."""
    copy = named(places.work, arguments.name)
    try:
        destination = _destination(arguments.host)
    except UnusableHost as error:
        raise KnownError(f"“{arguments.host}” cannot be allowed: {error}.", "Name a host.") from error
    require_word(places)
    private = _private(destination)
    kept = project_hosts.new(str(copy.project), destination, private) if arguments.always else None
    where: dict[str, object] = {"host": destination.host, "port": destination.port, "always": kept is not None}

    def do() -> None:
        # The program's own process asks the rules, and what its agent may do.
        order(places.runtime, copy.name, "open", private=private, **where)
        if kept is not None:
            try:
                project_hosts.add(places, kept)
            except OSError as error:
                raise KnownError(f"It is open, and cannot be kept: {error.strerror}.", "Free some space.") from error

    ordered(places, copy, (OPEN, NOT_OPENED), {**where, "address": private}, do)
    leads = f"at {private}" if private else "where it leads to a public address"
    later = " and later sessions of its project" if kept else ", until it ends"
    say(f"{destination.host} is open at port {destination.port} for {copy.name}{later}, {leads}.")
    if "://" in arguments.host:
        say("A host is allowed as a whole: every path of it, and no other port.")
    return 0


def _destination(text: str) -> Destination:
    """Return the host that is meant, also by a URL. Raises UnusableHost."""
    scheme, colon, rest = text.strip().partition("://")
    if not colon:
        return Destination.parse(text)
    if (port := PORTS.get(scheme.lower())) is None:
        raise UnusableHost("it is neither an https nor an http address")
    host = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    found = Destination.parse(host)
    named_port = re.search(r":\d+\Z", host)
    return found if named_port else Destination(found.host, port)


def _private(destination: Destination) -> str:
    """Return the addresses in the own network that a host leads to, once the person agreed. Raises KnownError."""
    try:
        return asyncio.run(private_addresses(look_up, destination, private=""))
    except PrivateAddress as asked:
        if not sys.stdin.isatty():
            raise KnownError(
                f"Nothing was allowed. {asked.what}", "Allow it on a terminal, or on the page Work."
            ) from None
        if not yes(f"{asked.what} Let it be reached?"):
            raise KnownError("Nothing was allowed.") from None
        return asyncio.run(private_addresses(look_up, destination, private=asked.address))


def answer_command(arguments: argparse.Namespace, places: Places) -> int:
    """Let a held command run, or not. Raises KnownError."""
    copy = named(places.work, arguments.name)
    if arguments.run:
        require_terminal("a held command is let run")
        require_word(places)
    held = next((one for one in session_of(copy).held if one.number == arguments.number), None)
    said = {} if held is None else {"sentence": cut(held.sentence), "level": held.level}
    why = "" if arguments.run else arguments.why[:LONGEST_REASON]
    what: dict[str, object] = {"number": arguments.number, "run": arguments.run, "why": why}
    ordered(
        places,
        copy,
        (ANSWER, NOT_ANSWERED),
        {**what, **said},
        lambda: order(places.runtime, copy.name, "answer", **what),
    )
    told = (
        f" The agent is told: {why}"
        if why
        else " The agent is told that it was refused, and not why: say that with --why."
    )
    say(f"Command {arguments.number} {'runs.' if arguments.run else f'was refused.{told}'}")
    return 0


def switch_as_it_goes(arguments: argparse.Namespace, places: Places) -> int:
    """Let what a program at work changes be applied by itself, or no longer. Raises KnownError."""
    copy = named(places.work, arguments.name)
    on = arguments.switch == "on"
    switched(places, copy, on=on, do=lambda: order(places.runtime, copy.name, "as_it_goes", on=on))
    now = f"is applied to {copy.project} by itself from now on" if on else "is not applied by itself any more"
    say(f"What {copy.name} changes {now}.")
    return 0


def end_program(arguments: argparse.Namespace, places: Places) -> int:
    """End a program at work. Raises KnownError."""
    copy = named(places.work, arguments.name)
    order(places.runtime, copy.name, "end")
    # Afterwards, as in the window: a full disk is not to keep anybody from ending a program.
    try:
        note_order(places, copy, END, {})
    except KnownError as error:
        raise KnownError(f"{copy.name} was ended. {error.what}", error.remedy) from error
    say(f"{copy.name} was ended. Its changes stay in the working copy.")
    return 0
