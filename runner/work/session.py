"""One program at work, from its start to its end: rings, gates, commands, orders from outside, and what is reported.

The process on the terminal does all of it. A console that is open follows the events and gives orders; nothing here
waits for one.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from runner.model.errors import KnownError
from runner.model.network import Destination, UnusableHost
from runner.model.work import (
    GIVEN_UP,
    AsItGoes,
    CommandAnswered,
    CommandSeen,
    HostOpened,
    HostSeen,
    PortsSeen,
    StandingSeen,
    WorkEnded,
    WorkStarted,
)
from runner.network.gate import Gate
from runner.network.loop import NetworkLoop
from runner.sandbox import networked
from runner.sandbox.local import carry, contained, tree
from runner.work import control, rings, shell_words
from runner.work.control import ControlSocket
from runner.work.log import WorkLog
from runner.work.session_layer import SessionLayer
from runner.work.shells import ShellDoor
from runner.workspace.working_copy import RUNS_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from runner.model.network import Contact
    from runner.model.work import WorkEvent
    from runner.network.dialing import Dialer
    from runner.sandbox.local.contained import ProgramEnd
    from runner.sandbox.local.listeners import LocalDoors
    from runner.work.as_it_goes import ApplyingAsItGoes
    from runner.work.control import Orders
    from runner.work.in_force import InForce
    from runner.work.judging import CommandVerdict
    from runner.work.rings import InRings
    from runner.work.shells import ShellCommand, WaitingShell

    Going = Callable[[Callable[[bool, str], object]], ApplyingAsItGoes]

NOT_RUN = "Assent: this command was not run."
NOT_RECORDED = "Assent: this command could not be recorded, so it was not run. The disk or the record may be full."
REFUSED = "Assent: a person refused this command."
ENDED = "A person ended it from Assent."
LOOK_SECONDS = 1.0
"""Between two looks at whether a held command still waits."""
LONGEST_TEXT = 20_000
"""Characters of a command that are kept in the log, and of the folder that it is for."""
TOO_LONG = "It would be held, and is too long to be shown whole. Run it in parts."
WAITS = (
    "Assent: this command waits until a person answers it: on the page Work, or by `assent work run {name} {number}` or"
    " `assent work refuse {name} {number}`."
)
MOST_HELD = "{} commands of this agent wait for an answer already, and a person lets at most {} do so. Wait for one."


def _nothing() -> None:
    """Do nothing when it has begun."""


class Judge(Protocol):
    """Says what a command does, whether it may run, and whether it is held. Called on any thread."""

    def __call__(self, text: str, folder: str, *, prepares: bool = False) -> CommandVerdict: ...


@dataclass(frozen=True, slots=True)
class Edge:
    """What the program reaches without asking, and what it tries by itself."""

    service: tuple[Destination, ...] = ()
    """Its own service: for the program, not for its shells."""
    private: tuple[Destination, ...] = ()
    """Those of them that the person's own configuration names, which may be on this machine."""
    opened: tuple[Destination, ...] = ()
    """What a person opened for this session beforehand: for both."""
    kept: tuple[tuple[Destination, str], ...] = ()
    """What a person opened for this project earlier, each with the addresses of the own network that it may lead to."""
    quiet: tuple[Destination, ...] = ()
    """What the program tries at each start and does without."""


class WorkRun:
    """A program at work. `run` blocks the main thread until it has ended; the rest is called on other threads."""

    def __init__(
        self,
        what: InRings,
        edge: Edge,
        runtime: Path,
        *,
        client: str = "",
        judge: Judge | None = None,
        in_force: InForce | None = None,
        unwrapped: Callable[[tuple[str, ...]], str],
        prepares: Callable[[tuple[str, ...]], bool] = shell_words.is_of_nobody,
        going: Going | None = None,
        dialer: Dialer | None = None,
        key: str = "",
        begun: Callable[[], object] = _nothing,
    ) -> None:
        """`runtime` is the folder for sockets; `judge` says what a command does, None where it is only recorded.

        `in_force` says what counts for the program, None for nothing; `unwrapped` returns a command without what the
        client wraps around it, `prepares` whether it is none but the client's own look at the shell; `going` makes what
        applies as it goes, None where nothing may; `dialer` is a test's. Whoever asks the console for this program
        names `key`; with '' nobody does. `begun` is called once the program runs.
        """
        self._what = what
        self._edge = edge
        self._runtime = runtime
        self._client = client
        self._judge = judge
        self._in_force = in_force
        self._over = threading.Event()
        self._watching = threading.Thread(target=self._watch, name="standing of the program", daemon=True)
        self._unwrapped = unwrapped
        self._prepares = prepares
        self._log = WorkLog(what.copy.folder)
        self._lock = threading.Lock()
        self._commands = 0
        self._held: dict[int, _Held] = {}
        self._key = key
        self._begun = begun
        self._layer = SessionLayer(what.copy)
        self._root = 0
        self._why = ""
        self._is_closed = False
        self._going = None if going is None else going(lambda on, why: self._say(AsItGoes(time.time(), on, why)))
        self._quiet = {(one.host, one.port) for one in edge.quiet}
        hosts = (*edge.service, *edge.opened)
        self._gates = (
            Gate(hosts, private=edge.private, report=self._contact, dialer=dialer),
            Gate(edge.opened, report=self._contact_of_shells, dialer=dialer),
        )
        for destination, private in edge.kept:
            for gate in self._gates:
                gate.allow(destination, private=private)
        self._carrying = Carrying(self._gates[1], lambda ports: self._say(PortsSeen(time.time(), ports)))

    def run(self, *, as_it_goes: bool = False) -> ProgramEnd:
        """Run the program to its end, with what a console runs over its working copy.

        With `as_it_goes` what it changes is applied by itself from the start. Raises KnownError and OSError.
        """
        ended = self._run(as_it_goes=as_it_goes)
        try:
            with self._what.copy.without_runs(RUNS_SECONDS):
                return ended
        except KnownError as error:
            return replace(ended, why=f"{ended.why} {error}".strip())

    def _run(self, *, as_it_goes: bool) -> ProgramEnd:
        with contextlib.ExitStack() as kept:
            kept.callback(self._close)
            for gate in self._gates:
                kept.callback(gate.close)
            of_shells = contained.open_doors(self._gates[1], kept)
            what = rings.contained(self._what, self._gates[0], lambda inner: self._entered(inner, of_shells), kept)
            what = replace(what, began=self._noting(what.began))
            kept.callback(self._release_all)
            door = ShellDoor(self._what.copy.folder, self._command, self._refused)
            kept.callback(door.close)
            kept.callback(self._carrying.close)
            orders: Orders = {
                "open": self.open,
                "answer": self.answer,
                "end": self.end,
                "usage": self.usage,
                "carry": self.carry,
                "as_it_goes": self.as_it_goes,
                "asked": self.asked,
                "layer": self.layer,
            }
            listening = ControlSocket(control.place(self._runtime, self._what.copy.name), orders)
            kept.callback(listening.close)
            hosts = tuple(
                str(one) for one in (*self._edge.service, *self._edge.opened, *(kept for kept, _ in self._edge.kept))
            )
            project = str(self._what.copy.project)
            self._say(WorkStarted(time.time(), self._what.program, project, self._client, hosts, self._what.memory))
            self._watching.start()
            kept.callback(self._watch_no_more)
            ended: ProgramEnd | None = None
            try:
                if as_it_goes:
                    self.as_it_goes(on=True)
                ended = contained.run(what, self._what.copy.command)
                ended = replace(ended, why=self._why or ended.why)
            finally:
                if self._going is not None:
                    self._going.close()
                code, why = (contained.NOT_STARTED, "It was not started.") if ended is None else (ended.code, ended.why)
                self._say(WorkEnded(time.time(), code, why))
        return ended

    # ---- orders ----

    def open(self, host: str, port: int, private: str = "", *, always: bool = False) -> Mapping[str, object]:
        """Let a host be reached from now on. Raises KnownError."""
        try:
            destination = Destination.parse(f"{host}:{port}")
        except UnusableHost as error:
            raise KnownError(f"{host} cannot be opened: {error}.") from error
        if self._in_force is not None and (why := self._in_force.refuses_host(destination)):
            raise KnownError(why, "Nothing was allowed.")
        for gate in self._gates:
            gate.allow(destination, private=private)
        self._say(HostOpened(time.time(), destination.host, destination.port, always))
        return {}

    def answer(self, number: int, *, run: bool, why: str = "") -> Mapping[str, object]:
        """Let a held command run, or not. Raises KnownError, also where a rule denies it by now: then it still waits.

        Where its agent was paused meanwhile it may run: what waits stays open for a person.
        """
        with self._lock:
            waiting = self._held.get(number)
        if run and waiting is not None and (why_not := self._denied(waiting)):
            raise KnownError(why_not, "Change the rule, or refuse the command.")
        with self._lock:
            held = self._held.pop(number, None)
        if held is None:
            raise KnownError("This command is not waiting any more.")
        if not self._say(CommandAnswered(time.time(), number, run, why)) and run:
            held.answer(NOT_RECORDED)
            raise KnownError("It could not be recorded, so it was not run.", "Free some space.")
        held.answer("" if run else f"{REFUSED} {why}".strip())
        return {}

    def end(self, why: str = ENDED) -> Mapping[str, object]:
        """End the program and all that it started. Raises KnownError."""
        with self._lock:
            root, self._why = self._root, self._why or why
        if not root:
            raise KnownError("It has not begun yet.")
        if self._going is not None:
            self._going.switch(on=False)
        with contextlib.suppress(ProcessLookupError):
            os.kill(root, signal.SIGKILL)
        return {}

    def as_it_goes(self, *, on: bool) -> Mapping[str, object]:
        """Apply what is changed by itself from now on, or not any more. Raises KnownError."""
        if self._going is None:
            raise KnownError("Nothing is applied as it goes here.")
        self._going.switch(on=on)
        return {}

    def carry(self, port: int) -> Mapping[str, object]:
        """Carry a port of the inner ring outside, for a browser. Raises KnownError."""
        return {"address": self._carrying.carry(port)}

    def asked(self, key: str) -> Mapping[str, object]:
        """Return the project, for a call to the console that names `key`. Raises KnownError where it is another's."""
        if not self._key or not secrets.compare_digest(key.encode(), self._key.encode()):
            raise KnownError("This call does not come from that program at work.")
        return {"project": str(self._what.copy.project)}

    def layer(self) -> Mapping[str, object]:
        """Return where the project is as the program sees it, for a run of the console. Raises KnownError."""
        with self._lock:
            root = self._root
        return {"root": root, **self._layer.said()}

    def usage(self) -> Mapping[str, object]:
        """Return memory, processor time and processes of all that runs inside."""
        used = tree.read([self._root, *tree.descendants(self._root)])
        return {"memory_bytes": used.memory, "cpu_seconds": used.cpu_seconds, "processes": used.processes}

    # ---- what happens inside ----

    def _noting(self, began: Callable[[int], None]) -> Callable[[int], None]:
        def both(root: int) -> None:
            with self._lock:
                self._root = root
            began(root)
            self._begun()

        return both

    def _entered(self, inner: int, doors: LocalDoors) -> None:
        self._layer.look(self._root, inner)
        doors.open(inner)
        self._carrying.begin(inner)

    def _denied(self, held: _Held) -> str:
        in_force = self._in_force
        return "" if in_force is None else in_force.ended() or in_force.denied(held.text, held.folder)

    def _command(self, command: ShellCommand, waiting: WaitingShell) -> str:
        """Return why a command may not run; '' where it may. Waits for a person where it is held."""
        whole = self._unwrapped(command.words)
        prepares = self._prepares(command.words)
        judged = None if self._judge is None else self._judge(whole, command.folder, prepares=prepares)
        seen = self._seen(whole, command.folder)
        number = seen.number
        if judged is not None:
            seen = replace(
                seen,
                sentence=judged.sentence,
                level=judged.level,
                reasons=judged.reasons,
                held=judged.held,
                refused=judged.refused,
                sandbox=judged.sandbox,
            )
        if seen.held and seen.text != whole:
            seen = replace(seen, held=False, refused=TOO_LONG)
        held = _Held(whole, command.folder)
        if seen.held and (why := self._hold(number, held)):
            seen = replace(seen, held=False, refused=why)
        if not seen.held:
            return self._settled(seen)
        if self._say(seen):
            waiting.tell(WAITS.format(name=self._what.copy.name, number=number))
            why = held.wait(waiting.is_gone)
        else:
            why = NOT_RECORDED
        with self._lock:
            left = self._held.pop(number, None)
        if left is not None:
            self._say(CommandAnswered(time.time(), number, run=False, why=GIVEN_UP))
        return why

    def _refused(self, command: ShellCommand, why: str) -> str:
        """Note that a command is refused without being judged; return what its shell is told."""
        return self._settled(replace(self._seen(self._unwrapped(command.words), command.folder), refused=why))

    def _seen(self, whole: str, folder: str) -> CommandSeen:
        with self._lock:
            self._commands += 1
            number = self._commands
        return CommandSeen(time.time(), number, _shown(whole), _shown(folder))

    def _settled(self, seen: CommandSeen) -> str:
        """Report a command that waits for nobody; return why it may not run."""
        if not self._say(seen):
            return NOT_RECORDED
        return f"{NOT_RUN} {seen.refused}" if seen.refused else ""

    def _hold(self, number: int, held: _Held) -> str:
        """Put a command among those that wait; return why that may not be: a person allows no more to wait."""
        most = 0 if self._in_force is None else self._in_force.allowance.max_pending
        with self._lock:
            if most and len(self._held) >= most:
                return MOST_HELD.format(len(self._held), most)
            self._held[number] = held
        return ""

    # ---- whose program it is ----

    def _watch(self) -> None:
        """Tell how its agent stands, and end the program where that was revoked."""
        in_force, told = self._in_force, ("", "")
        while in_force is not None and not self._over.is_set():
            now = in_force.agent, in_force.standing()
            if now != told and self._say(StandingSeen(time.time(), *now)):
                told = now
            if why := in_force.ended():
                with contextlib.suppress(KnownError):
                    self.end(why)
            self._over.wait(LOOK_SECONDS)

    def _watch_no_more(self) -> None:
        self._over.set()
        if self._in_force is not None:
            self._in_force.close()
        self._watching.join()

    def _release_all(self) -> None:
        with self._lock:
            held, self._held = dict(self._held), {}
        for each in held.values():
            each.answer(REFUSED)

    def _contact(self, contact: Contact) -> None:
        self._say(HostSeen(time.time(), contact, (contact.host, contact.port) in self._quiet))

    def _contact_of_shells(self, contact: Contact) -> None:
        self._say(HostSeen(time.time(), contact))

    def _say(self, event: WorkEvent) -> bool:
        """Report what happens; return whether it is recorded."""
        with self._lock, contextlib.suppress(OSError):
            return not self._is_closed and self._log.add(event)
        return False

    def _close(self) -> None:
        with self._lock:
            self._is_closed = True
            self._log.close()


def _shown(text: str) -> str:
    """Return what is kept of a text, which says so where that is not all."""
    more = len(text) - LONGEST_TEXT
    return text if more <= 0 else f"{text[:LONGEST_TEXT]}\n[assent: {more:,} more characters are not shown]"


class Carrying:
    """The ports on which something in the inner ring listens, and those that are carried outside."""

    def __init__(self, gate: Gate, tell: Callable[[tuple[tuple[int, str], ...]], object]) -> None:
        """`tell` is called with the ports and their addresses outside, each time they change."""
        self._gate = gate
        self._tell = tell
        self._process = 0
        self._address = carry.new_address()
        self._network = NetworkLoop()
        self._carried: dict[int, carry.CarriedPort] = {}
        self._told: tuple[tuple[int, str], ...] = ()
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="ports of the program", daemon=True)

    def begin(self, process: int) -> None:
        """Look at the network that `process` is in, until `close`."""
        self._process = process
        self._thread.start()

    def carry(self, port: int) -> str:
        """Return where a port is outside; it is carried there from now on. Raises KnownError."""
        with self._lock:
            if port not in self._listening():
                raise KnownError(f"Nothing inside listens on port {port}.")
            carried = self._carried.get(port)
            if carried is None or not carried.is_open:
                carried = carry.CarriedPort(self._process, port, self._network, self._address)
                carried.open()
                self._carried[port] = carried
        self._look()
        return f"{carried.address}:{carried.port}"

    def close(self) -> None:
        """Carry nothing more."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        for each in self._carried.values():
            each.close()
        self._network.close()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            self._look()

    def _look(self) -> None:
        with self._lock:
            ports = tuple((port, self._outside(port)) for port in sorted(self._listening()))
            if ports == self._told:
                return
            self._told = ports
        self._tell(ports)

    def _listening(self) -> set[int]:
        own = {networked.PROXY_PORT, networked.NAME_PORT, *networked.OpenPorts(self._gate).first, *self._gate.ports}
        return carry.listening(self._process, own) if self._process else set()

    def _outside(self, port: int) -> str:
        carried = self._carried.get(port)
        return f"{carried.address}:{carried.port}" if carried is not None and carried.is_open else ""


class _Held:
    """A command that waits for a person's word."""

    def __init__(self, text: str, folder: str) -> None:
        self.text = text
        """All of it."""
        self.folder = folder
        self._answered = threading.Event()
        self._why = ""

    def answer(self, why: str) -> None:
        self._why = why
        self._answered.set()

    def wait(self, is_gone: Callable[[], bool]) -> str:
        while not self._answered.wait(LOOK_SECONDS):
            if is_gone():
                return REFUSED
        return self._why
