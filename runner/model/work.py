"""A program at work: what it did over its working copy, as it reports it, and as the console shows it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner.model.network import Contact  # noqa: TC001 - the codec reads it

if TYPE_CHECKING:
    from collections.abc import Callable


BY_A_PERSON = "by a person"
"""Why a held command was not run, where that person gave no reason."""
GIVEN_UP = "Whoever started it has ended it."
"""The same, where the program did not wait for an answer."""
UNANSWERED = "the program ended before anybody answered"
"""The same, where it still waited at the end."""


@dataclass(frozen=True, slots=True)
class WorkStarted:
    """The program has started. The first event of each working copy that has a program at work."""

    at: float
    """Seconds since the epoch, as in all events."""
    program: tuple[str, ...]
    project: str
    client: str = ""
    """Id of the client (`claude-code`); '' for any other program."""
    hosts: tuple[str, ...] = ()
    """Hosts that it may reach from the start, as `Destination` writes them."""
    memory_bytes: int = 0
    """Its limit; 0 for none."""


@dataclass(frozen=True, slots=True)
class CommandSeen:
    """The program's shell runs a command, or wants to."""

    at: float
    number: int
    """Counts from 1."""
    text: str
    """The command as the shell is given it, without what the client wraps around it."""
    folder: str
    sentence: str = ""
    """What it does, as the classifier says it; '' where it was not assessed."""
    level: str = ""
    """Name of the risk level; '' where it was not assessed."""
    reasons: tuple[str, ...] = ()
    held: bool = False
    """Whether it waits for a person's answer."""
    refused: str = ""
    """Why it was not run, at once (a rule, nobody can be asked) or once it was held; '' where it runs or waits."""
    sandbox: str = ""
    """That the person's policy wants a stronger sandbox for what is held; '' where it does not."""


@dataclass(frozen=True, slots=True)
class CommandAnswered:
    """A held command was answered, or is no longer there."""

    at: float
    number: int
    run: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class StandingSeen:
    """Whose program it is, and whether its commands are taken. Told at the start and whenever that changes."""

    at: float
    agent: str
    """The agent that it belongs to; the client or the program where it belongs to none."""
    refused: str = ""
    """Why every command is refused at present, as that of a paused agent; '' where they are taken."""


@dataclass(frozen=True, slots=True)
class HostSeen:
    """A host was tried: the contact as it is now replaces an earlier one of the same host, port and outcome."""

    at: float
    contact: Contact
    quiet: bool = False
    """Whether it is one that the client tries by itself at each start and does without."""


@dataclass(frozen=True, slots=True)
class HostOpened:
    """A person let a host be reached."""

    at: float
    host: str
    port: int
    always: bool = False
    """Whether for the next sessions of this project as well."""


@dataclass(frozen=True, slots=True)
class AsItGoes:
    """What is changed is applied by itself from now on, or is not any more."""

    at: float
    on: bool
    why: str = ""
    """Why it was switched off, where nobody did it."""


@dataclass(frozen=True, slots=True)
class PortsSeen:
    """The ports on which something inside listens, each with the address outside by which it is carried, or ''."""

    at: float
    ports: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class WorkEnded:
    """The program has ended, and everything that it started."""

    at: float
    code: int
    """As a shell says it."""
    why: str = ""
    """Why Assent ended it; '' where it ended by itself."""


@dataclass(frozen=True, slots=True)
class WorkDone:
    """Something was done on a terminal with the changes of a working copy."""

    at: float
    kind: str
    """Of the entry in the ledger that says so (`runner.model.work_entries`)."""
    body: dict[str, object]
    """What that entry says."""


WorkEvent = (
    WorkStarted
    | StandingSeen
    | CommandSeen
    | CommandAnswered
    | HostSeen
    | HostOpened
    | AsItGoes
    | PortsSeen
    | WorkEnded
    | WorkDone
)


@dataclass(frozen=True, slots=True)
class WorkUsage:
    """What a program at work and all that it started use now."""

    memory_bytes: int
    cpu_seconds: float
    processes: int


@dataclass(frozen=True, slots=True)
class WorkSession:
    """A working copy with the program that worked over it, as it stands now."""

    name: str
    """Of the working copy."""
    project: str
    program: tuple[str, ...]
    started_at: float
    client: str = ""
    sandbox: str = ""
    """Where the program runs, in a word for a person; '' for bubblewrap."""
    hosts: tuple[str, ...] = ()
    commands: tuple[CommandSeen, ...] = ()
    """The last ones, the newest last."""
    command_count: int = 0
    held: tuple[CommandSeen, ...] = ()
    """Commands that wait for an answer."""
    let_run: int = 0
    turned_down: int = 0
    """Held commands, by a person's answer."""
    not_run: int = 0
    """Commands that were refused without one, or of which whoever started them has ended the wait."""
    contacts: tuple[HostSeen, ...] = ()
    """The last ones, the newest last."""
    opened: tuple[HostOpened, ...] = ()
    ports: tuple[tuple[int, str], ...] = ()
    agent: str = ""
    """The agent that it belongs to; '' where that was not told."""
    refused: str = ""
    """Why every command of it is refused at present."""
    memory_bytes: int = 0
    as_it_goes: AsItGoes | None = None
    """Whether what it changes is applied by itself, and since when; None where that was never switched on."""
    recorded: bool = False
    """Whether its start was written down: of what `assent try` runs nothing is but its end."""
    at_work: bool = False
    """Whether its process is there now."""
    ended: WorkEnded | None = None
    """None while it is at work, and where it was ended from outside without a word (`kill -9`, a power cut)."""
    can_undo: bool = False
    undone_in_part: bool = False
    """Some of what was applied was taken back, and some was not."""
    last_write: str = ""
    """Number of the Apply or Undo that wrote into the project last; '' where none has."""
    readable: str = ""
    """Why the working copy cannot be used; '' where it can."""


MOST_COMMANDS = 500
"""Commands that a `WorkSession` holds."""
MOST_CONTACTS = 200
"""Hosts that it holds: a program may try as many as it likes."""


def after(session: WorkSession, event: WorkEvent) -> WorkSession:
    """Return the session as it is after one more event."""
    return _AFTER[type(event)](session, event)


def _started(session: WorkSession, event: WorkStarted) -> WorkSession:
    return replace(
        session,
        program=event.program,
        started_at=event.at,
        client=event.client,
        hosts=event.hosts,
        memory_bytes=event.memory_bytes,
        recorded=True,
    )


def _command(session: WorkSession, event: CommandSeen) -> WorkSession:
    held = (*session.held, event) if event.held else session.held
    commands = (*session.commands, event)[-MOST_COMMANDS:]
    not_run = session.not_run + bool(event.refused)
    return replace(session, commands=commands, command_count=session.command_count + 1, held=held, not_run=not_run)


def _answered(session: WorkSession, event: CommandAnswered) -> WorkSession:
    held = tuple(one for one in session.held if one.number != event.number)
    if event.run:
        return replace(session, held=held, let_run=session.let_run + 1)
    commands = _not_run(session, {event.number}, event.why or BY_A_PERSON)
    if event.why == GIVEN_UP:
        return replace(session, held=held, commands=commands, not_run=session.not_run + 1)
    return replace(session, held=held, commands=commands, turned_down=session.turned_down + 1)


def _not_run(session: WorkSession, numbers: set[int], why: str) -> tuple[CommandSeen, ...]:
    return tuple(replace(one, refused=why) if one.number in numbers else one for one in session.commands)


def _host(session: WorkSession, event: HostSeen) -> WorkSession:
    new = event.contact

    def is_other(one: HostSeen) -> bool:
        old = one.contact
        return (old.host, old.port, old.allowed, old.why) != (new.host, new.port, new.allowed, new.why)

    contacts = (*filter(is_other, session.contacts), event)
    return replace(session, contacts=contacts[-MOST_CONTACTS:])


def _opened(session: WorkSession, event: HostOpened) -> WorkSession:
    return replace(session, opened=(*session.opened, event))


def _standing(session: WorkSession, event: StandingSeen) -> WorkSession:
    return replace(session, agent=event.agent, refused=event.refused)


def _ports(session: WorkSession, event: PortsSeen) -> WorkSession:
    return replace(session, ports=event.ports)


def _ended(session: WorkSession, event: WorkEnded) -> WorkSession:
    goes = session.as_it_goes
    off = replace(goes, on=False) if goes is not None else None
    return replace(
        session,
        ended=event,
        held=(),
        commands=_not_run(session, {one.number for one in session.held}, UNANSWERED),
        not_run=session.not_run + len(session.held),
        ports=(),
        as_it_goes=off,
        refused="",
    )


_AFTER: dict[type, Callable[..., WorkSession]] = {
    WorkStarted: _started,
    StandingSeen: _standing,
    CommandSeen: _command,
    CommandAnswered: _answered,
    HostSeen: _host,
    HostOpened: _opened,
    AsItGoes: lambda session, event: replace(session, as_it_goes=event),
    PortsSeen: _ports,
    WorkEnded: _ended,
    WorkDone: lambda session, _event: session,
}
