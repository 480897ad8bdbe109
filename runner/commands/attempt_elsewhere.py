"""`assent try --sandbox e2b`: the files of the project are sent to another machine, and what changed there comes back.

What leaves is said before the yes. What comes back lands in a working copy, as that of any command: nothing of it is in
the project before it is applied.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import shlex
import signal
import sys
import termios
from typing import TYPE_CHECKING

from runner.commands import changes_question, refused_hosts, view_arguments
from runner.commands.deeds import note_sent, require_word
from runner.commands.work_printing import change_line, print_line, say
from runner.model.amounts import readable_size
from runner.model.errors import KnownError
from runner.model.request import Language, Limits, NetworkMode
from runner.model.result import Outcome
from runner.model.sent_files import file_name
from runner.model.shown import visible
from runner.sandbox.available import e2b_sandbox
from runner.sandbox.contract import Job
from runner.sandbox.file_names import shown
from runner.sandbox.output import Stream
from runner.sandbox.remote.removal_after_kill import removed_after_kill
from runner.settings.loading import load
from runner.system.tasks import spawn
from runner.workspace import copied, sending
from runner.workspace.working_copy import WorkingCopy

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from runner.model.network import Contact
    from runner.model.result import Result
    from runner.model.sent_files import SentFiles
    from runner.sandbox.output import Transcript
    from runner.sandbox.remote.carried import CarriedRun
    from runner.sandbox.remote.sandbox import E2BSandbox
    from runner.sandbox.workspace_copy import WorkspaceCopy
    from runner.system.places import Places

NOT_STARTED, TIMED_OUT = 125, 124
MOST_NAMED = 20
MOST_LINES = 40
"""Of what would be sent, before the question."""
LIMITS = Limits(memory_mb=4096, cpu_cores=2.0, disk_mb=1024, seconds=3600.0, output_bytes=64 << 20, processes=256)
"""At most: a template has bounds of its own. An hour, as it costs meanwhile."""
LOOK_SECONDS = 0.1
MOST_LEFT = 100
"""Names at the top of the project that the service is asked to leave out of what it hands out."""
QUESTION = "[s]end it, [l]ist every name, or [n]othing is sent? "
NOBODY = "Nothing was sent: nobody can be asked here."
INTERRUPTED = "You interrupted it."


def attempt(arguments: argparse.Namespace, places: Places, project: Path, words: Sequence[str]) -> int:
    """Return the exit code of the command; 125 where it was not started. Raises KnownError."""
    if arguments.show:
        raise KnownError("Another machine sees nothing but what is sent to it.", "--show is for the other sandboxes.")
    if odd := [name for name in arguments.env if not name.isidentifier()]:
        raise KnownError(f"{odd[0]!a} cannot be handed on as a variable of a shell.")
    given = {name: view_arguments.variable_of(name) for name in arguments.env}
    hosts = tuple(view_arguments.host_of(text) for text in arguments.allow)
    sandbox = e2b_sandbox(load(places, os.environ).settings, places)
    sandbox.service.opening()  # without a key there is nothing to ask
    contacts: dict[tuple[str, int, bool | None], Contact] = {}
    exported = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in given.items())
    code = f"{exported}{shlex.join(words)}\n"
    job = Job("try", Language.SHELL, code, LIMITS)
    copy = WorkingCopy.make(places.work, project, words, way=copied.NAME, sandbox=_place(sandbox))
    trip: Trip | None = None
    try:
        with contextlib.ExitStack() as kept:
            kept.enter_context(copy.in_use())
            if hosts:
                from runner.network.gate import Gate

                gate = Gate(hosts, report=lambda one: contacts.__setitem__((one.host, one.port, one.allowed), one))
                kept.enter_context(contextlib.closing(gate))
                job = Job("try", Language.SHELL, code, LIMITS, network=NetworkMode.DOMAINS, gate=gate)
            sends = sending.planned(copy, [file_name(os.fsencode(path)) for path in arguments.include])
            with contextlib.redirect_stdout(sys.stderr):
                _tell(sends, sandbox.service.host, arguments, words)
                _require_yes(arguments, sends)
                require_word(places)
            files = kept.enter_context(contextlib.closing(sending.packed(copy, sends, copy.folder)))
            copy = copy.note_sandbox(f"{copy.sandbox}: {sends.words}")
            kept.enter_context(removed_after_kill(sandbox.service))
            note_sent(places, copy, sends)
            trip = Trip(sandbox, copy, files)
            result = trip.made(job)
            with contextlib.suppress(OSError):  # on a full disk its changes are worth more
                copy = copy.note_sandbox(f"{copy.sandbox}, {result.meta.rented_seconds:.0f} s")
                copy.note_end(_code(result))
    except BaseException as error:
        _give_up(places, copy, sent=trip is not None)
        if isinstance(error, OSError):
            raise KnownError(f"What was tried there is lost: {error}.", "The folder stays as it was.") from error
        raise
    assert trip is not None
    with contextlib.redirect_stdout(sys.stderr):
        return _decided(arguments, places, copy, trip, result, tuple(contacts.values()))


class Trip:
    """One way there and back."""

    def __init__(self, sandbox: E2BSandbox, copy: WorkingCopy, files: WorkspaceCopy) -> None:
        self.told = 0
        """The signal by which Assent itself was asked to end; 0 for none."""
        self.lost = ""
        """Why nothing came back, as a sentence."""
        self.remains = ""
        """A sentence about its sandbox, where that is still there."""
        self.left_out: tuple[tuple[bytes, str], ...] = ()
        """What came back and was not written, and why."""
        self._sandbox = sandbox
        self._copy = copy
        self._files = files
        self._run: CarriedRun | None = None
        self._printed = _Printed()

    def made(self, job: Job) -> Result:
        """Run `job` there, and write what came back into the working copy. Raises KnownError and OSError."""
        try:
            return asyncio.run(self._made(job))
        except asyncio.CancelledError as error:
            raise KnownError(INTERRUPTED, "The sandbox was removed, and the folder is as it was.") from error

    async def _made(self, job: Job) -> Result:
        with self._heard():
            try:
                return await self._there_and_back(job)
            finally:
                await self._sandbox.close()

    async def _there_and_back(self, job: Job) -> Result:
        ready = await self._sandbox.check()
        if not ready.ready:
            raise KnownError(ready.problem, ready.remedy)
        await self._sandbox.sweep()
        sent = self._printed.sent
        left = _not_sent(self._copy.shown, self._files)
        run = await self._sandbox.carried(job, self._files, self._copy.folder, left, lambda _usage: None, sent)
        self._run = run
        if self.told:
            run.stop(INTERRUPTED)
        waiting = spawn("the way back", run.finished())
        while not waiting.done():
            await asyncio.wait({waiting}, timeout=LOOK_SECONDS)
            self._printed.news(run.transcript)
        self.lost = run.lost
        self.remains = self._sandbox.remains if run.remains else ""
        if run.returned is not None:
            with contextlib.closing(run.returned) as returned:
                self.left_out = await asyncio.to_thread(self._copy.take_in, self._files.entries, returned)
        return waiting.result()

    @contextlib.contextmanager
    def _heard(self) -> Iterator[None]:
        """Hear signals that ask this to end: a run is stopped then, and what it has changed comes back."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def end(number: signal.Signals) -> None:
            if number is not signal.SIGINT:
                self.told = number
            if self._run is None:
                task.cancel()
            else:
                self._run.stop(INTERRUPTED)

        heard = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        for number in heard:
            loop.add_signal_handler(number, end, number)
        try:
            yield
        finally:
            for number in heard:
                loop.remove_signal_handler(number)


class _Printed:
    """What is printed of a trip meanwhile."""

    def __init__(self) -> None:
        self._at = 0
        self._decoders = {one: codecs.getincrementaldecoder("utf-8")("replace") for one in Stream}

    def sent(self, done: int, whole: int) -> None:
        if sys.stderr.isatty():
            end = "\r\x1b[K" if done >= whole else ""
            sys.stderr.write(f"\rassent try: {readable_size(done)} of {readable_size(whole)} sent\x1b[K{end}")
            sys.stderr.flush()

    def news(self, transcript: Transcript) -> None:
        """Print the output that is new: to a terminal without what would command it."""
        news = transcript.since(self._at)
        self._at = news.position
        if news.skipped:
            sys.stderr.write(f"assent try: {news.skipped:,} bytes came too fast and are not shown\n")
        for piece in news.pieces:
            stream = sys.stdout if piece.stream is Stream.OUT else sys.stderr
            text = self._decoders[piece.stream].decode(piece.data)
            stream.write(visible(text.replace("\r\n", "\n")) if stream.isatty() else text)
            stream.flush()


def _place(sandbox: E2BSandbox) -> str:
    return f"E2B at {sandbox.service.host}, promised by E2B"


def _not_sent(folder: Path, files: WorkspaceCopy) -> tuple[str, ...]:
    """Return what stands at the top of the project and was not sent: what comes back for it would not be written."""
    names = (name for name in sorted(os.listdir(folder)) if os.fsencode(name) not in files.entries)
    return tuple(name for name in names if name.isprintable())[:MOST_LEFT]


def _tell(sends: SentFiles, host: str, arguments: argparse.Namespace, words: Sequence[str]) -> None:
    say(f"{host} would get, as E2B's API has it, and what E2B promises is not checked:")
    say(f"  {sends.words}")
    lines = sends.text.split("\n")
    for line in lines[:MOST_LINES]:
        say(f"    {line}")
    if len(lines) > MOST_LINES:
        say(f"    ... and {len(lines) - MOST_LINES:,} more lines")
    say(f"  the command: {shlex.join(words)}")
    if arguments.env:
        say(f"  the variables {', '.join(arguments.env)}")
    if arguments.allow:
        say(f"  and what these hosts answer, through this machine: {', '.join(arguments.allow)}")
    if sends.behind:
        say("What stays behind as it may hold a secret is sent with --include PATH.")
    say("Not sent: .git, and what git ignores. What the command writes in place of that does not come back.")


def _require_yes(arguments: argparse.Namespace, sends: SentFiles) -> None:
    """Raise KnownError unless the person wants this to be sent."""
    if arguments.send:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise KnownError(NOBODY, "Add --send.")
    while True:
        # What was typed before the question could be seen is no answer to it.
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
        sys.stdout.write(QUESTION)
        sys.stdout.flush()
        answer = sys.stdin.readline()
        match answer.strip().lower() if answer else "n":
            case "s" | "send":
                return
            case "l" | "list":
                for line in sends.text.split("\n"):
                    print_line(visible(line))
            case "n" | "nothing":
                raise KnownError("Nothing was sent.")
            case _:
                continue


def _decided(
    arguments: argparse.Namespace,
    places: Places,
    copy: WorkingCopy,
    trip: Trip,
    result: Result,
    contacts: Sequence[Contact],
) -> int:
    """Say how it ended, and decide what becomes of its changes; return the exit code. Raises KnownError."""
    code = _code(result)
    ended_by_us = result.outcome not in (Outcome.OK, Outcome.FAILED)
    if ended_by_us and result.error:
        say(f"assent try: {result.error}")
    elif code:
        say(f"assent try: {copy.program[0]} ended with {code}.")
    refused_hosts.tell(contacts)
    if trip.remains:
        say(f"assent try: {trip.remains}")
    if trip.lost:
        _give_up(places, copy, sent=True)
        raise KnownError(trip.lost, "The folder stays as it was.")
    for path, why in trip.left_out[:MOST_NAMED]:
        change_line("?", shown(path), why)
    if len(trip.left_out) > MOST_NAMED:
        say(f"  ... and {len(trip.left_out) - MOST_NAMED:,} more that stay out")
    why = result.error if ended_by_us else ""
    changes_question.decide(arguments, places, copy, why=why, told=trip.told)
    return code


def _give_up(places: Places, copy: WorkingCopy, *, sent: bool) -> None:
    """Remove the working copy; the history has it where files may have left. Raises KnownError and OSError."""
    if not sent:
        copy.discard()
        return
    from runner.commands import work_changes

    with contextlib.redirect_stdout(sys.stderr):
        work_changes.discard(places, copy)


def _code(result: Result) -> int:
    """Return the exit code as a shell has it."""
    if result.outcome is Outcome.TIMED_OUT:
        return TIMED_OUT
    return result.exit_code if result.exit_code >= 0 else 1
